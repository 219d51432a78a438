// SPDX-License-Identifier: Apache-2.0
#include "registry_verdict.h"

#include <bit>

#include <telltale/diag/lease.h>
#include <telltale/diag/site.h>

namespace telltale::diag {

Decision Verdicts::decide(const SourceBits& all_matches, Flavour flavour, bool flag, const Context* context) const noexcept {
  for (;;) {
    std::uint64_t epoch = epoch_.load(std::memory_order_acquire);
    // Most calls that ask are off, and nothing else can turn them on.
    if (!flag && all_matches.at(epoch) == 0) {
      if (epoch_.load(std::memory_order_relaxed) == epoch) return {};
      continue;
    }
    const AtomicSets& sets = sets_[epoch & 1];
    // The flag stands for a match: the rest of the table of modes is the same for both.
    std::uint64_t matches = flag ? ~std::uint64_t{0} : all_matches.at(epoch);
    const auto& for_all = flavour == Flavour::kControl ? sets.for_controls : sets.for_strings;
    std::uint64_t on = matches & for_all.load(std::memory_order_acquire);
    std::uint64_t filtered = matches & sets.for_clients.load(std::memory_order_acquire);
    if (filtered != 0 && context != nullptr && context->client != nullptr) on |= filtered & filters_of(*context->client, epoch);
    std::uint64_t sampled = on & sets.sampled.load(std::memory_order_acquire);
    // Who asks for this transaction by the flag asks for all of it.
    if (sampled != 0 && !flag) on &= ~sampled | sampled_of(sets, sampled, context);
    std::uint64_t following = matches & sets.for_followed.load(std::memory_order_acquire);
    if (following != 0 && context != nullptr && context->followed != 0) on |= followed_by(sets, following, context->followed);
    std::uint64_t count_only = sets.count_only.load(std::memory_order_acquire);
    std::uint64_t record = all_matches.at(epoch) & sets.for_recorder.load(std::memory_order_acquire);
    if (epoch_.load(std::memory_order_relaxed) == epoch) {
      return {on & ~count_only, on & count_only, record};
    }
  }
}

std::uint64_t Verdicts::followed_by(const AtomicSets& sets, std::uint64_t sources, std::uint64_t lease) noexcept {
  std::uint64_t on = 0;
  for (; sources != 0; sources &= sources - 1) {
    auto i = static_cast<unsigned>(std::countr_zero(sources));
    if (sets.lease[i].load(std::memory_order_acquire) == lease) on |= std::uint64_t{1} << i;
  }
  return on;
}

// Whoever has no transaction is in no sample.
std::uint64_t Verdicts::sampled_of(const AtomicSets& sets, std::uint64_t sources, const Context* context) noexcept {
  std::uint64_t on = 0;
  if (context == nullptr || context->transaction == 0) return on;
  for (; sources != 0; sources &= sources - 1) {
    auto i = static_cast<unsigned>(std::countr_zero(sources));
    if (in_sample(context->transaction, sets.sample[i].load(std::memory_order_acquire))) on |= std::uint64_t{1} << i;
  }
  return on;
}

// A Client may be shared by threads, and its verdict is two words. Whoever writes them first makes the
// generation kBusy; a reader believes the second word only if the generation was the same before and
// after. Who finds it busy uses what it computed and leaves the cache alone.
std::uint64_t Verdicts::filters_of(const Client& client, std::uint64_t epoch) const noexcept {
  constexpr std::uint64_t kBusy = ~std::uint64_t{0};
  std::uint64_t generation = client.generation.load(std::memory_order_acquire);
  if (generation == epoch) {
    std::uint64_t known = client.matched.load(std::memory_order_acquire);
    if (client.generation.load(std::memory_order_relaxed) == epoch) return known;
    generation = client.generation.load(std::memory_order_relaxed);
  }
  std::uint64_t matched = clients_[epoch & 1].match(client.address);
  bool still_true = epoch_.load(std::memory_order_relaxed) == epoch;  // else the table was being rewritten
  if (still_true && generation != kBusy &&
      client.generation.compare_exchange_strong(generation, kBusy, std::memory_order_acq_rel)) {
    client.matched.store(matched, std::memory_order_release);
    client.generation.store(epoch, std::memory_order_release);
  }
  return matched;
}

SourceSets Verdicts::sets() const noexcept {
  const AtomicSets& sets = sets_[in_force()];
  return {sets.for_controls.load(std::memory_order_acquire), sets.for_strings.load(std::memory_order_acquire),
          sets.for_clients.load(std::memory_order_acquire),  sets.for_followed.load(std::memory_order_acquire),
          sets.count_only.load(std::memory_order_acquire),   sets.sampled.load(std::memory_order_acquire),
          sets.for_recorder.load(std::memory_order_acquire),
          {},
          {}};
}

void Verdicts::stage(const SourceSets& sets) noexcept {
  AtomicSets& next = sets_[in_force() ^ 1];
  next.for_controls.store(sets.for_controls, std::memory_order_release);
  next.for_strings.store(sets.for_strings, std::memory_order_release);
  next.for_clients.store(sets.for_clients, std::memory_order_release);
  next.for_followed.store(sets.for_followed, std::memory_order_release);
  next.count_only.store(sets.count_only, std::memory_order_release);
  next.sampled.store(sets.sampled, std::memory_order_release);
  next.for_recorder.store(sets.for_recorder, std::memory_order_release);
  for (unsigned i = 0; i < kSourcesMax; ++i) {
    next.lease[i].store(sets.lease[i], std::memory_order_release);
    next.sample[i].store(sets.sample[i], std::memory_order_release);
  }
}

std::uint8_t Verdicts::hot_bits(const SourceSets& in_force, std::uint64_t matched, bool specific) noexcept {
  unsigned bits = 0;
  // A source that is off may have a sample: it is none of the sets it is masked with here.
  const std::uint64_t for_some = (in_force.for_clients | (in_force.for_controls & in_force.sampled)) & ~in_force.count_only;
  if ((matched & in_force.for_controls & ~in_force.count_only & ~in_force.sampled) != 0) bits |= kSiteOnForAll;
  if ((matched & (for_some | in_force.for_followed)) != 0) bits |= kSiteAsksContext;
  if ((matched & in_force.count_only) != 0) bits |= kSiteCounts;
  if ((matched & in_force.for_recorder) != 0) bits |= kSiteRecords;
  if (specific && (in_force.for_controls | in_force.for_clients | in_force.for_followed) != 0) bits |= kSiteAsksFlag;
  return static_cast<std::uint8_t>(bits);
}

bool Verdicts::strings_may_be_on() const noexcept {
  SourceSets in_force = sets();
  return (in_force.for_strings | in_force.for_clients | in_force.for_followed | in_force.for_recorder) != 0;
}

}  // namespace telltale::diag
