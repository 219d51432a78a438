// SPDX-License-Identifier: Apache-2.0
#include "cache/reuse.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>

#include <fmt/format.h>

#include "tests/unit/cache/responses.h"

namespace telltale::cache {
namespace {

using std::chrono::seconds;
using test::fields_of;

Reuse::State of(const char* demands, int age, int lifetime = 60, bool never_stale = false, bool always_validate = false) {
  StoredResponse stored;
  stored.lifetime = seconds{lifetime};
  stored.never_stale = never_stale;
  stored.always_validate = always_validate;
  const Reuse reuse = judge(stored, client_demands(fields_of({{"Cache-Control", demands}})), seconds{age});
  CHECK(reuse.why.empty() == (reuse.state == Reuse::kFresh));
  return reuse.state;
}

TEST_CASE("Reuse: fresh is used, stale is validated", "[cache][reuse][rfc9111]") {
  CHECK(of("", 59) == Reuse::kFresh);
  CHECK(of("", 60) == Reuse::kTooOld);
  CHECK(of("", 0, 0) == Reuse::kTooOld);
  CHECK(of("", 0, 60, true) == Reuse::kFresh);
  CHECK(of("", 0, 60, false, true) == Reuse::kTooOld);
}

TEST_CASE("Reuse: what the client demands is met at its limit and not one past it", "[cache][reuse][rfc9111]") {
  CHECK(of("no-cache", 0) == Reuse::kRefused);
  CHECK(of("max-age=10", 10) == Reuse::kFresh);
  CHECK(of("max-age=10", 11) == Reuse::kRefused);
  CHECK(of("max-age=0", 0) == Reuse::kFresh);  // its age is not greater
  CHECK(of("min-fresh=20", 40) == Reuse::kFresh);
  CHECK(of("min-fresh=20", 41) == Reuse::kRefused);
  CHECK(of("max-stale=5", 65) == Reuse::kStale);
  CHECK(of("max-stale=5", 66) == Reuse::kTooOld);
  CHECK(of("max-stale", 100000) == Reuse::kStale);
  CHECK(of("max-stale=x", 60) == Reuse::kStale);  // read as 0: not longer than no time
  CHECK(of("max-stale=x", 61) == Reuse::kTooOld);
  CHECK(of("max-age=x", 1) == Reuse::kRefused);   // read as 0
  CHECK(of("min-fresh=x", 0) == Reuse::kRefused); // read as for ever
  CHECK(of("max-age=10, max-stale", 11) == Reuse::kRefused);
}

TEST_CASE("Reuse: must-revalidate forbids what max-stale allows, no-cache too", "[cache][reuse][rfc9111]") {
  CHECK(of("max-stale", 61, 60, true) == Reuse::kTooOld);
  CHECK(of("max-stale", 61, 60, false, true) == Reuse::kTooOld);
}

TEST_CASE("Reuse: Pragma: no-cache counts where there is no Cache-Control", "[cache][reuse][rfc9111]") {
  CHECK(client_demands(fields_of({{"Pragma", "no-cache"}})).no_cache);
  CHECK(client_demands(fields_of({{"Pragma", "x, No-Cache"}})).no_cache);
  CHECK_FALSE(client_demands(fields_of({{"Pragma", "x"}})).no_cache);
  CHECK_FALSE(client_demands(fields_of({{"Pragma", "no-cache"}, {"Cache-Control", "max-stale"}})).no_cache);
}

// The sentences of RFC 9111, one after another, in plain numbers.
bool reference(int age, int lifetime, bool never_stale, bool always_validate, bool no_cache, int max_age, int min_fresh, int max_stale) {
  constexpr int kAbsent = -1, kAny = -2;
  if (always_validate) return false;                                  // 5.2.2.4
  if (no_cache) return false;                                         // 5.2.1.4
  if (max_age != kAbsent && age > max_age) return false;              // 5.2.1.1
  if (min_fresh != kAbsent && lifetime < age + min_fresh) return false;  // 5.2.1.3
  const bool fresh = lifetime > age;                                  // 4.2
  if (fresh) return true;
  if (never_stale) return false;                                      // 5.2.2.2, 5.2.2.8, 5.2.2.10
  if (max_stale == kAny) return true;                                 // 5.2.1.2
  return max_stale != kAbsent && age - lifetime <= max_stale;
}

TEST_CASE("Reuse: agrees with the sentences of RFC 9111 on random input", "[cache][reuse][rfc9111]") {
  std::mt19937 random(9111);
  auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  int used = 0;
  for (int i = 0; i < 50000; ++i) {
    const int age = below(12), lifetime = below(12);
    const bool never_stale = below(4) == 0, always_validate = below(8) == 0, no_cache = below(8) == 0;
    const int max_age = below(3) == 0 ? below(12) : -1, min_fresh = below(3) == 0 ? below(6) : -1;
    const int max_stale = below(3) == 0 ? below(8) - 2 : -1;
    std::string demands = no_cache ? "no-cache" : "x";
    if (max_age >= 0) demands += fmt::format(", max-age={}", max_age);
    if (min_fresh >= 0) demands += fmt::format(", min-fresh={}", min_fresh);
    if (max_stale >= 0) demands += fmt::format(", max-stale={}", max_stale);
    if (max_stale == -2) demands += ", max-stale";
    INFO(demands << " age " << age << " lifetime " << lifetime << (never_stale ? " never stale" : "") << (always_validate ? " no-cache" : ""));
    const Reuse::State state = of(demands.c_str(), age, lifetime, never_stale, always_validate);
    REQUIRE((state <= Reuse::kStale) == reference(age, lifetime, never_stale, always_validate, no_cache, max_age, min_fresh, max_stale));
    used += state <= Reuse::kStale;
  }
  CHECK(used > 5000);
  CHECK(used < 45000);
}

}  // namespace
}  // namespace telltale::cache
