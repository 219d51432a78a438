// SPDX-License-Identifier: Apache-2.0
// What an enabled site asks, and the ways into a ring for all that it does not write by itself (dbg.h). The stamp is
// taken after the room is, so that a thread's stamps never go back.
#include <telltale/diag/record.h>

#include <utility>

#include <telltale/diag/scope.h>
#include <telltale/diag/site.h>

#include "backend_wake.h"
#include "client_names.h"
#include "plain_site.h"
#include "ring_table.h"
#include "route.h"
#include "secret_values.h"
#include "tag_table.h"
#include "throttle.h"
#include "ticks.h"

namespace telltale::diag {

namespace {

// Set while a ring is being mapped: an allocator or interposed function that writes a line meanwhile loses it.
constinit thread_local bool tl_taking __attribute__((tls_model("initial-exec"))) = false;

// The one whose record is open, or was last.
constinit thread_local Ring* tl_open_ring __attribute__((tls_model("initial-exec"))) = nullptr;

[[gnu::noinline, gnu::cold]] Ring* take_ring(DropKey key, Ring* (RingTable::*take)() noexcept) noexcept {
  RingTable& table = ring_table();
  const bool in_recorder = tl_recorder_ring != nullptr && tl_recorder_ring->is_open();
  if (!tl_taking && !in_recorder && table.may_have_one()) {
    tl_taking = true;
    Ring* ring = (table.*take)();
    tl_taking = false;
    if (ring != nullptr) return ring;
  }
  key.reason = in_recorder ? DropReason::kNested : DropReason::kNoRing;
  table.homeless().add_shared(key);
  return nullptr;
}

// The record's header, at its place. The ring is the thread's open one.
inline char* begin_in(Ring* ring, char* at, std::uint32_t site, Level level) noexcept {
  tl_open_ring = ring;
  auto* header = reinterpret_cast<RecordHeader*>(at);
  header->site = site & ~kRouteBits;
  header->level = level;
  header->flags = flags_of_route(site);
  if (const Context* context = tl_context) {
    header->connection = context->connection;
    header->transaction = context->transaction;
    header->plugin = context->plugin;
    if (context->followed != 0) header->flags |= kRecordFollowed;
  } else {
    header->connection = 0;
    header->transaction = 0;
    header->plugin = 0;
  }
  header->ticks = ticks_now();
  return at + sizeof(RecordHeader);
}

// The ring was retired: the thread goes on in another.
[[gnu::noinline, gnu::cold]] Ring* replace_ring(RingUse use, DropKey key, Ring* (RingTable::*take)() noexcept) noexcept {
  ring_table().give_back(own_ring(use));
  return take_ring(key, take);
}

// For the flight recorder alone. While its record is open the other ring is held, so that a record written
// into either is nested.
[[gnu::noinline]] char* begin_for_recorder(std::uint32_t site, DropKey key, std::size_t bytes) noexcept {
  if (Ring* other = own_ring(); other != nullptr && other->is_open()) {
    other->count_nested(key);
    return nullptr;
  }
  Ring* ring = tl_recorder_ring;
  if (ring == nullptr) [[unlikely]] ring = take_ring(key, &RingTable::take_for_recorder);
  if (ring != nullptr && ring->retired() && !ring->is_open()) [[unlikely]] {
    ring = replace_ring(RingUse::kRecorder, key, &RingTable::take_for_recorder);
  }
  if (ring == nullptr) return nullptr;
  char* at = ring->reserve(bytes, key);
  if (at == nullptr) return nullptr;
  if (Ring* other = own_ring()) other->hold();
  return begin_in(ring, at, site, key.level);
}

// Before the first line of a connection that somebody wants with its client.
[[gnu::noinline, gnu::cold]] void tell_client(Ring& ring, const Context& context) noexcept {
  const std::uint32_t asked = clients_asked();
  if (asked != 0 && context.connection != 0 && !ring.tell_client(context.connection, context.client->address)) return;
  context.client->told.store(asked, std::memory_order_relaxed);
}

constexpr std::size_t whole(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

// This thread's sites may decide and write by themselves, as far as they can. The lock is held while a change is
// made: it has taken the word from all rings before, and gives none itself. So do secret values, which end_record()
// looks for, and outputs that show clients, which begin_record() tells.
void let_sites_write() noexcept {
  Ring* ring = own_ring();
  if (ring == nullptr || ring->plain() != 0 || !ticks_are_tsc) return;
  Registry& all = registry();
  if (!all.lock.try_lock()) return;
  if (!secret_values_armed.load(std::memory_order_relaxed) && clients_asked() == 0) {
    ring->set_plain(plain_word(all.verdicts.epoch()));
  }
  all.lock.unlock();
}

void said_yes(const Site& site, std::uint32_t number) noexcept {
  tl_records.asked = &site;
  tl_records.asked_number = number;
}

[[gnu::noinline]] bool wanted_when_asked(const Site& site, bool flag) noexcept {
  SiteEntry* entry = site.entry.load(std::memory_order_acquire);
  if (entry == nullptr) return false;
  const Context* context = current_context();
  flag = entry->specific && (flag || (context != nullptr && context->locked_on));
  Registry& all = registry();
  Decision wanted = all.verdicts.decide(entry->matches, Flavour::kControl, flag, context);
  if (wanted.count != 0) entry->history->counted.fetch_add(1, std::memory_order_relaxed);
  const Charge charged = wanted.print == 0 ? Charge{} : all.meters.charge(wanted.print);
  if (!charged.good) {
    if (wanted.record == 0) return false;
    said_yes(site, entry->number | kForRecorder);
    return true;
  }
  said_yes(site, entry->number | charged.route);
  return true;
}

}  // namespace

bool site_wanted(const Site& site, bool flag) noexcept {
  let_sites_write();
  return wanted_when_asked(site, flag);
}

std::uint32_t site_number(const Site& site) noexcept {
  SiteEntry* entry = site.entry.load(std::memory_order_acquire);
  if (entry == nullptr) return 0;
  if (tl_records.asked == &site) [[likely]] return tl_records.asked_number;
  return entry->number | route_again(entry->matches);
}

std::uint32_t site_tag_number(const Site& site) noexcept {
  SiteEntry* entry = site.entry.load(std::memory_order_acquire);
  return entry == nullptr ? 0 : entry->tag_number;
}

// The backend counts the hits of those that are written.
char* begin_site_record(const Site& site, std::size_t room_bytes) noexcept {
  SiteEntry* entry = site.entry.load(std::memory_order_acquire);
  if (entry == nullptr) return nullptr;
  const std::uint32_t number = site_number(site);
  char* at = begin_record(number, entry->tag_number, Level::kDebug, room_bytes);
  if (at == nullptr && (number & kForRecorder) == 0) entry->history->hits.fetch_add(1, std::memory_order_relaxed);
  return at;
}

void ring_reached() noexcept {
  if (tl_records.ring->crossed_half()) wake_backend();
}

char* begin_record(std::uint32_t site, std::uint32_t tag, Level level, std::size_t room_bytes) noexcept {
  const std::size_t bytes = whole(sizeof(RecordHeader) + room_bytes);
  if ((site & kForRecorder) != 0) [[unlikely]] return begin_for_recorder(site & ~kForRecorder, {tag, level}, bytes);
  Ring* ring = own_ring();
  if (ring == nullptr) [[unlikely]] {
    ring = take_ring({tag, level}, &RingTable::take);
    if (ring == nullptr) return nullptr;
  }
  if (const Context* context = tl_context; context != nullptr && context->client != nullptr &&
                                           context->client->told.load(std::memory_order_relaxed) != clients_asked()) [[unlikely]] {
    tell_client(*ring, *context);
  }
  char* at = ring->reserve(bytes, {tag, level});
  if (at == nullptr) [[unlikely]] {
    if (!ring->retired() || ring->is_open()) return nullptr;
    ring = replace_ring(RingUse::kOutput, {tag, level}, &RingTable::take);
    if (ring == nullptr || (at = ring->reserve(bytes, {tag, level})) == nullptr) return nullptr;
  }
  return begin_in(ring, at, site, level);
}

char* begin_located(std::string_view tag, Level level, std::size_t room_bytes) noexcept {
  const Tag* known = tag.empty() ? nullptr : find_tag(tag);
  const std::uint32_t number = known == nullptr ? 0 : known->number;
  std::uint32_t bits = 0;
  if (level == Level::kDebug) {
    const std::uint32_t route = std::exchange(tl_route, 0);
    if ((route & ~kRouteBits) == (number | kByTag)) {
      bits = route & kRouteBits;
    } else if (known != nullptr) {
      bits = route_again(known->matches);
    }
  }
  return begin_record(bits, number, level, room_bytes);
}

void end_record(char* end, std::uint8_t argument_count) noexcept {
  Ring* ring = tl_open_ring;
  if (secret_values_armed.load(std::memory_order_relaxed)) [[unlikely]] {
    end = mask_open_record(*ring, end, argument_count);
    if (end == nullptr) {
      if (Ring* own = own_ring(); ring != own && own != nullptr) own->let_go();
      return;
    }
  }
  char* start = ring->open_record();
  std::size_t bytes = whole(static_cast<std::size_t>(end - start));
  auto* header = reinterpret_cast<RecordHeader*>(start);
  header->size_bytes = static_cast<std::uint32_t>(bytes);
  header->argument_count = argument_count;
  if (Ring* own = own_ring(); ring != own && own != nullptr) [[unlikely]] own->let_go();
  if (header->site == 0 && is_throttled(header->level) &&
      !throttle_admits(*header, start + sizeof(RecordHeader), end)) [[unlikely]] {
    ring->cancel();
    return;
  }
  if (ring->publish(bytes)) [[unlikely]] wake_backend();
}

}  // namespace telltale::diag
