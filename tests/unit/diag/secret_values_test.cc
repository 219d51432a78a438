// SPDX-License-Identifier: Apache-2.0
// R12: registered values never reach a record, whatever kind of call writes it.
#include <catch2/catch.hpp>

#include <string>
#include <thread>
#include <vector>

#include <telltale/diag/dbg.h>
#include <telltale/diag/level.h>
#include <telltale/diag/printf.h>
#include <telltale/diag/secret_values.h>

#include "allocation_counter.h"
#include "debug_state.h"
#include "output_capture.h"

using namespace telltale::diag;

namespace {

constexpr DbgCtl secret_dbg{"secret_values"};

struct Registered {
  explicit Registered(std::vector<std::string> values) { REQUIRE(set_secret_values(values)); }
  ~Registered() { (void)set_secret_values({}); }
};

struct Appended {
  std::string_view first, second;
};

void say(const char* format, ...) {
  std::va_list list;
  va_start(list, format);
  write_printf({Level::kDebug, "secret_values", "file.cc", "f", 1, format}, list);
  va_end(list);
}

}  // namespace

template <>
struct fmt::formatter<Appended> : fmt::formatter<std::string_view> {
  auto format(const Appended& a, format_context& c) const { return fmt::format_to(fmt::format_to(c.out(), "{}", a.first), "{}", a.second); }
};

TEST_CASE("Secret values: R12 whatever writes a record, values in it are masked", "[diag][secret][R12]") {
  const CleanDebug debug;
  REQUIRE(set_base({.mode = Mode::kOn, .tags = "secret_values"}));
  Capture capture(ShowLocation::kNever);
  Registered registered({"hunter2", "correct horse battery"});
  const std::string text = "hunter2";
  Dbg(secret_dbg, "core {} and {} of {}", "a hunter2 b", text, 7);
  Dbg(secret_dbg, "split {}{}{}", "hun", 't', "er2");
  Dbg(secret_dbg, "appended {}", Appended{"x hunt", "er2 y"});
  Dbg(secret_dbg, "field", field("password", text), field("status", 200), field("also", "correct%20horse%20battery"));
  say("plugin %s and %.*s, %d", "hunter2", 7, "hunter2 tail", 5);
  say("a plugin's own hunter2 text\n");
  note("level {}", "aHVudGVyMg==");
  const std::vector<std::string> lines = capture.lines();
  REQUIRE(lines.size() == 7);
  CHECK_THAT(lines[0], Catch::EndsWith("core a [redacted] b and [redacted] of 7"));
  CHECK_THAT(lines[1], Catch::EndsWith("split [redacted]*"));
  CHECK_THAT(lines[2], Catch::EndsWith("appended x [redacted] y"));
  CHECK_THAT(lines[3], Catch::EndsWith("field password=[redacted] status=200 also=[redacted]"));
  CHECK_THAT(lines[4], Catch::EndsWith("plugin [redacted] and [redacted], 5"));
  CHECK_THAT(lines[5], Catch::EndsWith("a plugin's own [redacted] text"));
  CHECK_THAT(lines[6], Catch::EndsWith("level [redacted]=="));
}

TEST_CASE("Secret values: R13 a string that is cut inside a value does not show its beginning", "[diag][secret][R13]") {
  const CleanDebug debug;
  REQUIRE(set_base({.mode = Mode::kOn, .tags = "secret_values"}));
  Capture capture(ShowLocation::kNever);
  Registered registered({"hunter2hunter2"});
  for (std::size_t shown = 1; shown < 14; ++shown) {
    const std::string text = std::string(kStringBytesMax - shown, 'g') + "hunter2hunter2";
    Dbg(secret_dbg, "{}", text);
    CHECK_THAT(capture.text(), Catch::EndsWith("g[redacted]...[+" + std::to_string(14 - shown) + " bytes]\n"));
  }
}

TEST_CASE("Secret values: a record that grows is whole, also where its ring wraps", "[diag][secret]") {
  const CleanDebug debug;
  REQUIRE(set_base({.mode = Mode::kOn, .tags = "secret_values"}));
  Capture capture(ShowLocation::kNever);
  Registered registered({"12345"});
  std::string text, expected;
  for (int i = 0; i < 60; ++i) {
    text += "12345 ";
    expected += "[redacted] ";
  }
  std::thread([&] {
    for (int round = 0; round < 200; ++round) {
      for (int i = 0; i < 10; ++i) Dbg(secret_dbg, "{}{}|{}", text, round, i);
      const std::vector<std::string> lines = capture.lines();
      REQUIRE(lines.size() == 10);
      for (int i = 0; i < 10; ++i) REQUIRE_THAT(lines[i], Catch::EndsWith(expected + std::to_string(round) + "|" + std::to_string(i)));
    }
  }).join();
}

TEST_CASE("Secret values: short, long and too many values are refused with the reason, and nothing is changed", "[diag][secret][R12]") {
  Registered registered({"hunter2"});
  CHECK(add_secret_value("1234").error() == "it has 4 bytes; a secret value has at least 5");
  CHECK(add_secret_value("").error() == "it has 0 bytes; a secret value has at least 5");
  CHECK(add_secret_value(std::string(kSecretBytesMax + 1, 'x')).error() == "it has 4097 bytes; a secret value has at most 4096");
  CHECK(add_secret_value(std::string(kSecretBytesMax, 'x')));
  CHECK(add_secret_value("12345"));
  CHECK(add_secret_value("12345"));
  CHECK(secret_value_count() == 3);
  auto refused = set_secret_values(std::vector<std::string>{"good one", "bad"});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().index == 1);
  CHECK(refused.error().what == "it has 3 bytes; a secret value has at least 5");
  CHECK(secret_value_count() == 3);
  std::vector<std::string> many;
  for (std::size_t i = 0; i < kSecretValuesMax; ++i) many.push_back("value " + std::to_string(i));
  CHECK(set_secret_values(many));
  CHECK(add_secret_value("one more").error() == "there may be at most 1000");
  CHECK(without_secret_values("is value 77 or value 1") == "is [redacted] or [redacted]");
}

TEST_CASE("Secret values: masking a record does not allocate", "[diag][secret][alloc]") {
  const CleanDebug debug;
  REQUIRE(set_base({.mode = Mode::kOn, .tags = "secret_values"}));
  Capture capture;
  Registered registered({"hunter2"});
  std::size_t during = 0;
  for (int round = 0; round < 3; ++round) {
    const std::size_t before = allocations_of_this_thread();
    Dbg(secret_dbg, "{} {}", "hunter2", "plain");
    during = allocations_of_this_thread() - before;
  }
  CHECK(during == 0);
}

TEST_CASE("Secret values: values come and go while records are written", "[diag][secret][stress]") {
  const CleanDebug debug;
  REQUIRE(set_base({.mode = Mode::kOn, .tags = "secret_values"}));
  Capture capture;
  std::vector<std::thread> writers;
  std::atomic<bool> stop{false};
  for (int i = 0; i < 2; ++i) {
    writers.emplace_back([&] {
      while (!stop) Dbg(secret_dbg, "{} always", "never-shown");
    });
  }
  for (int i = 0; i < 200; ++i) {
    std::vector<std::string> values{"never-shown"};
    if (i % 2 == 0) values.push_back("another one " + std::to_string(i));
    REQUIRE(set_secret_values(values));
    if (i == 0) (void)capture.text();  // of the time before the first
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
  const std::string text = capture.text();
  CHECK(text.find("never-shown always") == std::string::npos);
  (void)set_secret_values({});
}
