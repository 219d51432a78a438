// SPDX-License-Identifier: Apache-2.0
// What a change of what is on costs. In a process of its own: tags and sites of other tests would be matched too.
#include <telltale/diag/debug_control.h>
#include <telltale/diag/site.h>

#include <time.h>

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/diag/made_module.h"

namespace telltale::diag {

TEST_CASE("Rules: 5,000 sites and 600 tags are evaluated anew in at most 1 ms of CPU", "[diag][rule]") {
  MadeModule module;
  std::vector<std::string> text;
  text.reserve(30'000);
  auto keep = [&](std::string made) { return text.emplace_back(std::move(made)).c_str(); };
  for (unsigned i = 0; i < 5000; ++i) {
    module.add({keep("cost." + std::to_string(i % 600)), keep("line " + std::to_string(i) + " of {}"),
                keep("cost/file_" + std::to_string(i % 120) + ".cc"), keep("function_" + std::to_string(i % 1500)), i + 1, false});
  }
  module.load(&text);
  auto cpu_ns = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
  };
  auto cheapest = [&](const std::string& tags, const std::string& rules) {
    long long best = 1'000'000'000;
    for (int i = 0; i < 15; ++i) {
      REQUIRE(set_base({Mode::kOn, "off_again", ""}));
      long long before = cpu_ns();
      REQUIRE(set_base({Mode::kOn, tags, "", rules}));
      best = std::min(best, cpu_ns() - before);
    }
    return best / 1000;
  };
  long long by_tag = cheapest("cost.1|cost.2", ""), by_file = cheapest("nothing", "file=file_1*.cc; -function=function_3"),
            by_all = cheapest("cost", "-file=file_2.cc; function=function_77; -line=100-200; -text=777");
  CAPTURE(by_tag, by_file, by_all);
  CHECK(by_tag <= 1000);
  CHECK(by_file <= 1000);
  CHECK(by_all <= 1000);
  // What it left is right.
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < 5000; ++i) {
    bool text_777 = std::to_string(i).find("777") != std::string::npos;
    bool expected = i % 120 != 2 || i % 1500 == 77;
    if (i + 1 >= 100 && i + 1 <= 200) expected = false;
    if (text_777) expected = false;
    wrong += (module.hot(i) != 0) != expected;
  }
  CHECK(wrong == 0);
}

}  // namespace telltale::diag
