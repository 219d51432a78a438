// SPDX-License-Identifier: Apache-2.0
// The reference loop. See contender.h.
//
// A ring of one producer and one consumer, as large as the library's by default. A record is its size, the number of
// its site and a stamp, then its arguments as they are, a string behind its length; all of it inline at the call.
#include <x86intrin.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "contender.h"

namespace bench {

namespace {

constexpr std::uint64_t kCapacity = 256 * 1024;

struct Head {
  std::uint32_t bytes;
  std::uint32_t site;  // 0: only fills the ring's end
  std::uint64_t stamp;
};

struct alignas(64) ReferenceRing {
  // The producer's.
  std::uint64_t write = 0, limit = kCapacity, lost = 0;
  alignas(64) std::atomic<std::uint64_t> published{0};  // release by the producer, acquire by the consumer
  alignas(64) std::atomic<std::uint64_t> read{0};       // the other way round
  alignas(64) char data[kCapacity];
};
ReferenceRing ring;

std::size_t room(std::string_view text) { return 2 + text.size(); }
template <class T>
std::size_t room(T) { return sizeof(T); }

char* put(char* at, std::string_view text) {
  auto bytes = static_cast<std::uint16_t>(text.size());
  std::memcpy(at, &bytes, 2);
  std::memcpy(at + 2, text.data(), text.size());
  return at + 2 + text.size();
}
template <class T>
char* put(char* at, T value) {
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

// Looks what was read meanwhile, and goes on at the ring's beginning where a record does not fit before its end.
[[gnu::noinline, gnu::cold]] bool make_room(std::size_t bytes) {
  ring.limit = ring.read.load(std::memory_order_acquire) + kCapacity;
  std::uint64_t left = kCapacity - ring.write % kCapacity;
  if (bytes > left) {
    if (ring.write + left + bytes > ring.limit) return false;
    Head pad{static_cast<std::uint32_t>(left), 0, 0};
    std::memcpy(ring.data + ring.write % kCapacity, &pad, left < sizeof pad ? left : sizeof pad);
    ring.write += left;
  }
  return ring.write + bytes <= ring.limit;
}

template <class... A>
[[gnu::always_inline]] inline void record(std::uint32_t site, A... a) {
  std::size_t bytes = (sizeof(Head) + (room(a) + ...) + 7) & ~std::size_t{7};
  if (ring.write + bytes > ring.limit || ring.write % kCapacity + bytes > kCapacity) [[unlikely]] {
    if (!make_room(bytes)) {
      ++ring.lost;
      return;
    }
  }
  char* at = ring.data + ring.write % kCapacity;
  Head head{static_cast<std::uint32_t>(bytes), site, __rdtsc()};
  std::memcpy(at, &head, sizeof head);
  at += sizeof head;
  ((at = put(at, a)), ...);
  ring.write += bytes;
  ring.published.store(ring.write, std::memory_order_release);
}

[[gnu::noinline]] void write_batch(int id) {
  for (int i = 0; i < kBatch; ++i, ++id) record(1, id, host(id), took(id));
}

std::atomic<bool> over{false};
std::thread consumer;

void consume() {
  std::uint64_t position = 0;
  volatile char sum = 0;
  while (!over.load(std::memory_order_relaxed)) {
    std::uint64_t published = ring.published.load(std::memory_order_acquire);
    for (; position < published; position += 64) sum = static_cast<char>(sum + ring.data[position % kCapacity]);
    position = published;
    ring.read.store(position, std::memory_order_release);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void open(const std::string&) { consumer = std::thread(consume); }

void close() {
  over = true;
  consumer.join();
}

std::uint64_t lost() { return ring.lost; }

}  // namespace

Contender reference_lines() { return {"reference", open, write_batch, nullptr, close, lost}; }

}  // namespace bench
