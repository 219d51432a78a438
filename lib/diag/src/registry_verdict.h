// SPDX-License-Identifier: Apache-2.0
#pragma once
// Verdicts: is this line wanted, for this client, right now? Answered without a lock, never half-changed.
//
// What can turn a line on are sources: the base (number 0), leases (1 to 62) and, without output, the flight
// recorder's tags (63). Each has rules, and a client list or none. So a site's state is one word, the sources whose rules have it on, and a few words
// say what a source does: on for all controls, for all string-tag calls, for its clients, for one in so
// many transactions, for those that are followed. Calls that are no sites have the word of their tag, or where the rules name places, that of
// an entry made for the place at its first call.
//
// All of that exists twice. A change writes the copy that is not in force and then moves the epoch, whose
// low bit says which copy counts: one store switches every tag, source and client list at once. A reader
// takes the epoch, reads that copy, and reads the epoch again; if it moved, it starts over, so it repeats
// only when a whole change came in between. Every load of a copy acquires and every store releases, so a
// reader that saw a newer value also sees the epoch that moved before it.
//
// **Thread safety:** reading is lock-free; stage() and switch_epoch() are called under the registry's lock.

#include <array>
#include <atomic>
#include <cstdint>

#include <telltale/diag/scope.h>

#include "client_filter_table.h"
#include "source_bits.h"

namespace telltale::diag {

inline constexpr unsigned kRecorderSource = 63;

// Sets of sources, one bit each.
struct SourceSets {
  std::uint64_t for_controls = 0;  // on for all, static and run-time controls
  std::uint64_t for_strings = 0;   // on for all, string-tag calls
  std::uint64_t for_clients = 0;   // on for the source's clients only
  std::uint64_t for_followed = 0;  // on for contexts that carry the source's lease
  std::uint64_t count_only = 0;    // of the above: matching calls are counted, nothing prints
  std::uint64_t sampled = 0;       // of for_controls, for_strings and for_clients: on for some transactions only
  std::uint64_t for_recorder = 0;  // none of the above: into the flight recorder, in every mode and for all clients
  std::array<std::uint64_t, kSourcesMax> lease{};   // ids, of for_followed
  std::array<std::uint32_t, kSourcesMax> sample{};  // one in so many, of `sampled`
};

// Which sources want a line, which only count it, and which only record it.
struct Decision {
  std::uint64_t print = 0;
  std::uint64_t count = 0;
  std::uint64_t record = 0;
};

enum class Flavour : std::uint8_t { kControl, kString };

class Verdicts {
 public:
  // `flag`: the Specific form with its flag set, on wherever debug is on at all.
  Decision decide(const SourceBits& matches, Flavour flavour, bool flag, const Context* context) const noexcept;

  // The hot byte of a site; a run-time control, which can be asked either way, has both.
  static std::uint8_t hot_bits(const SourceSets& in_force, std::uint64_t matches, bool specific) noexcept;
  bool strings_may_be_on() const noexcept;
  std::uint64_t now(const SourceBits& bits) const noexcept { return bits.at(epoch()); }
  SourceSets sets() const noexcept;
  std::uint64_t epoch() const noexcept { return epoch_.load(std::memory_order_acquire); }

  // The next epoch's copies; not in force before switch_epoch().
  void stage(const SourceSets& sets) noexcept;
  void stage(SourceBits& bits, std::uint64_t matches) noexcept {
    bits.of_epoch[in_force() ^ 1].store(matches, std::memory_order_release);
  }
  ClientFilterTable& next_clients() noexcept { return clients_[in_force() ^ 1]; }
  void switch_epoch() noexcept { epoch_.store(epoch() + 1, std::memory_order_release); }
  // Of a tag or site that nobody can see yet.
  void set_new(SourceBits& bits, std::uint64_t matches) noexcept {
    bits.of_epoch[in_force()].store(matches, std::memory_order_relaxed);
  }

 private:
  struct AtomicSets {
    std::atomic<std::uint64_t> for_controls{0};
    std::atomic<std::uint64_t> for_strings{0};
    std::atomic<std::uint64_t> for_clients{0};
    std::atomic<std::uint64_t> for_followed{0};
    std::atomic<std::uint64_t> count_only{0};
    std::atomic<std::uint64_t> sampled{0};
    std::atomic<std::uint64_t> for_recorder{0};
    std::array<std::atomic<std::uint64_t>, kSourcesMax> lease{};
    std::array<std::atomic<std::uint32_t>, kSourcesMax> sample{};
  };
  std::size_t in_force() const noexcept { return epoch() & 1; }
  static std::uint64_t followed_by(const AtomicSets& sets, std::uint64_t sources, std::uint64_t lease) noexcept;
  static std::uint64_t sampled_of(const AtomicSets& sets, std::uint64_t sources, const Context* context) noexcept;
  std::uint64_t filters_of(const Client& client, std::uint64_t epoch) const noexcept;

  std::atomic<std::uint64_t> epoch_{2};  // above any Client's first generation, 0
  std::array<AtomicSets, 2> sets_{};
  std::array<ClientFilterTable, 2> clients_{};
};

}  // namespace telltale::diag
