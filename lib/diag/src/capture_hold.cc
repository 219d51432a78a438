// SPDX-License-Identifier: Apache-2.0
// See capture_hold.h; tested in capture_test.cc.
#include "capture_hold.h"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend_wake.h"
#include "capture_line.h"
#include "ticks.h"

namespace telltale::diag {
namespace {

using std::chrono::steady_clock;

constinit std::atomic<bool> is_holding{false};

struct Released {
  std::uint64_t transaction = 0;
  bool show = false;
  std::uint64_t ticks = 0;
};

// Records one behind the other, each with its thread's name in front: one byte of length, the name, the record.
struct Transaction {
  std::string records;
  std::uint64_t lost = 0;
  steady_clock::time_point began{};
};

struct Held {
  std::mutex mutex;
  std::condition_variable settled;
  // Guarded by mutex.
  std::uint64_t round = 0;             // of hold_begin() and hold_end()
  std::chrono::milliseconds for_at_most{0};
  std::vector<Released> released;      // since take_released()
  std::vector<Released> taken;
  std::unordered_map<std::uint64_t, Transaction> open;
  std::deque<std::uint64_t> by_age;    // keys of `open`, and of some that are gone
  HeldCounts counts;

  void forget() {
    released.clear();
    taken.clear();
    open.clear();
    by_age.clear();
    counts = {};
    ++round;
    settled.notify_all();
  }
  void drop(std::unordered_map<std::uint64_t, Transaction>::iterator at) {
    counts.bytes -= at->second.records.size();
    open.erase(at);
  }
  // What is too old, and the oldest if there are too many.
  void give_up(steady_clock::time_point now) {
    while (!by_age.empty()) {
      auto oldest = open.find(by_age.front());
      if (oldest != open.end()) {
        if (open.size() < kHeldTransactionsMax && now - oldest->second.began < for_at_most) return;
        ++counts.transactions_given_up;
        drop(oldest);
      }
      by_age.pop_front();
    }
  }
  // Where the oldest lasts, those behind it come and go.
  void tidy() {
    if (by_age.size() > 2 * kHeldTransactionsMax) std::erase_if(by_age, [this](std::uint64_t key) { return !open.contains(key); });
  }
};
Held& held() {
  static Held* one = new Held;
  return *one;
}

}  // namespace

void hold_begin(std::chrono::milliseconds for_at_most) {
  Held& all = held();
  std::lock_guard guard(all.mutex);
  all.forget();
  all.for_at_most = for_at_most;
  is_holding.store(true, std::memory_order_relaxed);
}

void hold_end() {
  Held& all = held();
  std::lock_guard guard(all.mutex);
  is_holding.store(false, std::memory_order_relaxed);
  all.forget();
}

bool holding() noexcept { return is_holding.load(std::memory_order_relaxed); }

// The stamp comes after those of the transaction's records, as far as this thread wrote them.
void release_held(std::uint64_t transaction, bool show) noexcept {
  if (!holding()) return;
  Held& all = held();
  std::lock_guard guard(all.mutex);
  if (!holding()) return;
  try {
    all.released.push_back({transaction, show, ticks_now()});
  } catch (const std::bad_alloc&) {  // it grows too old, then
  }
}

bool flush_held(std::chrono::milliseconds deadline) noexcept {
  Held& all = held();
  std::unique_lock lock(all.mutex);
  if (all.released.empty() && all.taken.empty()) return true;
  wake_backend_surely();
  return all.settled.wait_for(lock, deadline, [&] { return all.released.empty() && all.taken.empty(); });
}

HeldCounts held_counts() {
  std::lock_guard guard(held().mutex);
  return held().counts;
}

void hold_record(const RecordHeader& header, const char* record, std::string_view thread) {
  Held& all = held();
  std::lock_guard guard(all.mutex);
  if (!holding()) return;
  if (all.open.size() == kHeldTransactionsMax && !all.open.contains(header.transaction)) all.give_up(steady_clock::now());
  auto [at, fresh] = all.open.try_emplace(header.transaction);
  if (fresh) {
    at->second.began = steady_clock::now();
    all.by_age.push_back(header.transaction);
    ++all.counts.transactions;
  }
  Transaction& one = at->second;
  const std::size_t bytes = 1 + thread.size() + header.size_bytes;
  if (one.records.size() + bytes > kHeldBytesPerTransaction || all.counts.bytes + bytes > kHeldBytesMax) {
    ++one.lost;
    return;
  }
  one.records += static_cast<char>(thread.size());
  one.records += thread;
  one.records.append(record, header.size_bytes);
  all.counts.bytes += bytes;
}

void take_released() {
  if (!holding()) return;
  Held& all = held();
  std::lock_guard guard(all.mutex);
  if (!holding()) return;
  all.give_up(steady_clock::now());
  all.tidy();
  all.taken.insert(all.taken.end(), all.released.begin(), all.released.end());
  all.released.clear();
}

void settle_held(std::uint64_t read_to, const LineOf& line_of) {
  if (!holding()) return;
  Held& all = held();
  std::vector<Transaction> shown;  // lines are made without the lock: workers wait for it
  std::uint64_t round = 0;
  {
    std::lock_guard guard(all.mutex);
    round = all.round;
    std::erase_if(all.taken, [&](const Released& one) {
      if (one.ticks > read_to) return false;
      auto at = all.open.find(one.transaction);
      if (at == all.open.end()) return true;
      if (one.show) {
        ++all.counts.transactions_shown;
        all.counts.bytes -= at->second.records.size();
        shown.push_back(std::move(at->second));
        at->second.records.clear();
      }
      all.drop(at);
      return true;
    });
    if (shown.empty()) {
      if (all.taken.empty() && all.released.empty()) all.settled.notify_all();
      return;
    }
    all.taken.push_back({0, false, ~std::uint64_t{0}});  // flush_held() waits for the lines
  }
  for (const Transaction& one : shown) {
    for (std::size_t at = 0; at < one.records.size();) {
      const auto name_bytes = static_cast<std::size_t>(static_cast<unsigned char>(one.records[at]));
      std::string_view thread(one.records.data() + at + 1, name_bytes);
      at += 1 + name_bytes;
      RecordHeader header;
      std::memcpy(&header, one.records.data() + at, sizeof header);
      capture_line(line_of(thread, header, one.records.data() + at));
      at += header.size_bytes;
    }
    capture_lost(one.lost);
  }
  std::lock_guard guard(all.mutex);
  if (all.round != round) return;
  std::erase_if(all.taken, [](const Released& one) { return one.transaction == 0; });
  if (all.taken.empty() && all.released.empty()) all.settled.notify_all();
}

void lock_held() noexcept { held().mutex.lock(); }
void unlock_held() noexcept { held().mutex.unlock(); }

}  // namespace telltale::diag
