// SPDX-License-Identifier: Apache-2.0
// begin_record() and end_record(): what an enabled site costs. One thread-local load, two compares, the
// header, the stamp. The stamp is taken after the room is, so that a thread's stamps never go back.
#include <telltale/diag/record.h>
#include <telltale/diag/scope.h>

#include "backend_wake.h"
#include "ring_table.h"
#include "route.h"
#include "tag_table.h"
#include "ticks.h"

namespace telltale::diag {

namespace {

// Set while a ring is being mapped: an allocator or interposed function that writes a line meanwhile loses it.
constinit thread_local bool tl_taking __attribute__((tls_model("initial-exec"))) = false;

[[gnu::noinline, gnu::cold]] Ring* take_ring(DropKey key) noexcept {
  RingTable& table = ring_table();
  if (!tl_taking && table.may_have_one()) {
    tl_taking = true;
    Ring* ring = table.take();
    tl_taking = false;
    if (ring != nullptr) return ring;
  }
  key.reason = DropReason::kNoRing;
  table.homeless().add_shared(key);
  return nullptr;
}

}  // namespace

char* begin_record(std::uint32_t site, std::uint32_t tag, Level level, std::size_t room_bytes) noexcept {
  if ((site & kForRecorder) != 0) [[unlikely]] return nullptr;
  Ring* ring = tl_ring;
  if (ring == nullptr) [[unlikely]] {
    ring = take_ring({tag, level});
    if (ring == nullptr) return nullptr;
  }
  std::size_t bytes = (sizeof(RecordHeader) + room_bytes + 7) & ~std::size_t{7};
  char* at = ring->reserve(bytes, {tag, level});
  if (at == nullptr) [[unlikely]] return nullptr;
  auto* header = reinterpret_cast<RecordHeader*>(at);
  header->site = site;
  header->level = level;
  header->reserved = 0;
  if (const Context* context = tl_context) {
    header->connection = context->connection;
    header->transaction = context->transaction;
    header->plugin = context->plugin;
  } else {
    header->connection = 0;
    header->transaction = 0;
    header->plugin = 0;
  }
  header->ticks = ticks_now();
  return at + sizeof(RecordHeader);
}

char* begin_located(std::string_view tag, Level level, std::size_t room_bytes) noexcept {
  const Tag* known = tag.empty() ? nullptr : find_tag(tag);
  return begin_record(0, known == nullptr ? 0 : known->number, level, room_bytes);
}

void end_record(char* end, std::uint8_t argument_count) noexcept {
  Ring* ring = tl_ring;
  char* start = ring->open_record();
  std::size_t bytes = (static_cast<std::size_t>(end - start) + 7) & ~std::size_t{7};
  auto* header = reinterpret_cast<RecordHeader*>(start);
  header->size_bytes = static_cast<std::uint32_t>(bytes);
  header->argument_count = argument_count;
  if (ring->publish(bytes)) [[unlikely]] wake_backend();
}

}  // namespace telltale::diag
