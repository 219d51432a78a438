// SPDX-License-Identifier: Apache-2.0
#include <telltale/diag/debug_control.h>

#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

namespace telltale::diag {
namespace {

std::string name(std::size_t i) { return "string_" + std::to_string(i) + (i % 2 == 0 ? "_even" : "_odd"); }

}  // namespace

TEST_CASE("String tags: 4,096 are cached; further ones are matched at each call, and counted", "[diag][string_tag]") {
  const std::uint64_t before = control_counters().string_tags_uncached;
  auto uncached = [before] { return control_counters().string_tags_uncached - before; };
  REQUIRE(set_base({Mode::kOn, "string_\\d+_even", ""}));
  for (std::size_t i = 0; i < kStringTagsMax; ++i) CHECK(string_tag_wanted(name(i), false) == (i % 2 == 0));
  CHECK(uncached() == 0);
  CHECK(tags().size() == kStringTagsMax);

  CHECK(string_tag_wanted(name(kStringTagsMax), false));
  CHECK_FALSE(string_tag_wanted(name(kStringTagsMax + 1), false));
  CHECK(uncached() == 2);
  CHECK(tags().size() == kStringTagsMax);
  CHECK(string_tag_wanted(name(0), false));
  CHECK(uncached() == 2);

  SECTION("an uncached tag follows changes, modes and the flag as others do") {
    std::string further = name(kStringTagsMax + 2);
    REQUIRE(set_base({Mode::kOn, "other", ""}));
    CHECK_FALSE(string_tag_wanted(further, false));
    CHECK(string_tag_wanted(further, true));
    REQUIRE(set_base({Mode::kOnControlsOnly, "string", ""}));
    CHECK_FALSE(string_tag_wanted(further, true));
    REQUIRE(open_lease({further, ""}));
    CHECK(string_tag_wanted(further, false));
    CHECK(end_leases() == 1);
    CHECK_FALSE(string_tag_wanted(further, false));
  }
  SECTION("threads may ask while the patterns change") {
    std::vector<std::thread> askers;
    for (int t = 0; t < 3; ++t) {
      askers.emplace_back([t] {
        for (std::size_t i = 0; i < 2000; ++i) string_tag_wanted(name(kStringTagsMax - 1000 + i * 3 + static_cast<std::size_t>(t)), false);
      });
    }
    for (int i = 0; i < 50; ++i) CHECK(set_base({Mode::kOn, i % 2 == 0 ? "string" : "other", ""}));
    for (std::thread& asker : askers) asker.join();
    CHECK(tags().size() == kStringTagsMax);
  }
}

}  // namespace telltale::diag
