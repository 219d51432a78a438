// SPDX-License-Identifier: Apache-2.0
// Transactions whose end decides whether their lines are seen.
#include <telltale/diag/capture.h>
#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/lease.h>
#include <telltale/diag/level.h>
#include <telltale/diag/scope.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/diag/debug_state.h"
#include "tests/unit/diag/output_capture.h"

namespace telltale::diag {
namespace {

using namespace std::chrono_literals;

constexpr DbgCtl held_dbg{"held_a"};

// A lease that follows, and whose lines are held.
struct Follows {
  CleanDebug clean;
  Capture capture;
  std::uint64_t lease = 0;

  explicit Follows(std::chrono::milliseconds for_at_most = 1h, std::string tags = "held_") {
    clear_capture();
    hold_begin(for_at_most);
    auto opened = open_lease({.tags = std::move(tags), .kind = LeaseKind::kFollow, .held = true});
    REQUIRE(opened);
    lease = opened->lease.id;
  }
  ~Follows() {
    hold_end();
    clear_capture();
  }
  Context context(std::uint64_t transaction) const {
    Context context;
    context.transaction = transaction;
    context.followed = lease;
    return context;
  }
  void line(std::uint64_t transaction, std::string_view text) const {
    const Context of = context(transaction);
    const Scope scope(&of);
    Dbg(held_dbg, "{}", text);
  }
  Captured taken() const {
    flush_output(kLongEnough);
    REQUIRE(flush_held(kLongEnough));
    return take_captured();
  }
};

int lines_in(const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

}  // namespace

TEST_CASE("Held: a transaction's lines are shown or dropped by its end, and go nowhere else", "[diag][capture]") {
  Follows follows;
  follows.line(1, "one a");
  follows.line(2, "two a");
  follows.line(1, "one b");
  CHECK(follows.taken().lines.empty());
  release_held(2, false);
  follows.line(3, "three a");
  release_held(1, true);
  Captured captured = follows.taken();
  CHECK(lines_in(captured.lines) == 2);
  CHECK_THAT(captured.lines, Catch::Contains("DEBUG (held_a)") && Catch::Contains("{t1} one a\n") && Catch::Contains("{t1} one b\n"));
  CHECK(captured.lines_lost == 0);
  CHECK(held_counts().transactions == 3);
  CHECK(held_counts().transactions_shown == 1);
  release_held(3, false);
  CHECK(follows.taken().lines.empty());
  CHECK(held_counts().bytes == 0);
  CHECK(follows.capture.text().empty());
}

TEST_CASE("Held: what others ask for too goes where it always goes, and is held besides", "[diag][capture]") {
  Follows follows;
  REQUIRE(open_lease({.tags = "held_", .append = true}));
  follows.line(1, "both");
  const Context of = follows.context(1);
  {
    const Scope scope(&of);
    warning("beware of {}", 1);
  }
  follows.line(0, "no transaction's");
  CHECK(lines_in(follows.capture.text()) == 3);
  release_held(1, true);
  const std::string held = follows.taken().lines;
  CHECK_THAT(held, Catch::Contains("both\n") && Catch::Contains("WARNING {t1} beware of 1\n"));
  CHECK(lines_in(held) == 2);
}

TEST_CASE("Held: calls that name their tag by a string are held as sites are", "[diag][capture]") {
  Follows follows;
  const Context of = follows.context(4);
  {
    const Scope scope(&of);
    const Place place{.file = "x.cc", .function = "f", .format = "text {}", .line = 3};
    if (string_tag_wanted_at("held_string", place, false)) {
      write_located(Located{Level::kDebug, "held_string", "x.cc", "f", 3, "text {}"}, 5LL);
    }
  }
  release_held(4, true);
  CHECK_THAT(follows.taken().lines, Catch::Contains("DEBUG (held_string) <x.cc:3 (f)> {t4} text 5\n"));
  CHECK(follows.capture.text().empty());
}

TEST_CASE("Held: a transaction has its limit, and what is beyond it is counted", "[diag][capture]") {
  Follows follows;
  const std::string text(1000, 'x');
  for (int i = 0; i < 100; ++i) follows.line(1, text);
  release_held(1, true);
  Captured captured = follows.taken();
  const int kept = lines_in(captured.lines);
  CHECK(kept + static_cast<int>(captured.lines_lost) == 100);
  CHECK(kept >= 55);
  CHECK(kept < 65);
}

TEST_CASE("Held: all of them together have a limit, and it is given back", "[diag][capture]") {
  Follows follows;
  const std::string text(1000, 'x');
  constexpr std::uint64_t kTransactions = 300;  // of 60 kB each: more than all may have
  for (std::uint64_t t = 1; t <= kTransactions; ++t) {
    for (int i = 0; i < 58; ++i) follows.line(t, text);
    if (t % 3 == 0) flush_output(kLongEnough);  // so that no ring is full
  }
  flush_output(kLongEnough);
  CHECK(held_counts().bytes <= kHeldBytesMax);
  CHECK(held_counts().bytes > kHeldBytesMax - 2000);
  release_held(kTransactions, true);
  Captured last = follows.taken();
  CHECK(lines_in(last.lines) + static_cast<int>(last.lines_lost) == 58);
  CHECK(last.lines_lost > 0);
  for (std::uint64_t t = 1; t < kTransactions; ++t) release_held(t, false);
  (void)follows.taken();
  CHECK(held_counts().bytes == 0);
  follows.line(1000, "again");
  release_held(1000, true);
  CHECK(lines_in(follows.taken().lines) == 1);
}

TEST_CASE("Held: of too many transactions the oldest goes", "[diag][capture]") {
  Follows follows;
  for (std::uint64_t t = 1; t <= kHeldTransactionsMax + 1; ++t) {
    follows.line(t, "a line");
    if (t % 512 == 0) flush_output(kLongEnough);
  }
  flush_output(kLongEnough);
  CHECK(held_counts().transactions == kHeldTransactionsMax + 1);
  CHECK(held_counts().transactions_given_up >= 1);
  release_held(1, true);
  CHECK(follows.taken().lines.empty());
  release_held(kHeldTransactionsMax + 1, true);
  CHECK(lines_in(follows.taken().lines) == 1);
}

TEST_CASE("Held: a transaction that does not end grows too old", "[diag][capture]") {
  Follows follows(1ms);
  follows.line(1, "a line");
  const auto late = std::chrono::steady_clock::now() + kLongEnough;
  while (held_counts().transactions_given_up == 0 && std::chrono::steady_clock::now() < late) flush_output(kLongEnough);
  CHECK(held_counts().transactions_given_up == 1);
  CHECK(held_counts().bytes == 0);
}

TEST_CASE("Held: nothing is held before the beginning and after the end, and no line of such a lease gets out", "[diag][capture]") {
  Follows follows;
  follows.line(1, "a line");
  hold_end();
  follows.line(1, "after it");
  release_held(1, true);
  CHECK(follows.taken().lines.empty());
  CHECK(held_counts().transactions == 0);
  CHECK(follows.capture.text().empty());
}

TEST_CASE("Held: transactions of many threads are each shown whole, by their ends alone", "[diag][capture]") {
  Follows follows;
  constexpr std::uint64_t kThreads = 4, kEach = 300;
  std::vector<std::thread> threads;
  for (std::uint64_t n = 0; n < kThreads; ++n) {
    threads.emplace_back([&, n] {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        const std::uint64_t t = 1 + n * kEach + i;
        for (int line = 0; line < 5; ++line) follows.line(t, "a line");
        release_held(t, t % 10 == 0);
        if (i % 50 == 0) flush_output(kLongEnough);  // so that no ring is full, also if the threads share one in turn
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Captured captured = follows.taken();
  CHECK(lines_in(captured.lines) == 5 * static_cast<int>(kThreads * kEach / 10));
  for (std::uint64_t t = 10; t <= kThreads * kEach; t += 10) {
    const std::string id = "{t" + std::to_string(t) + "}";
    int found = 0;
    for (std::size_t at = captured.lines.find(id); at != std::string::npos; at = captured.lines.find(id, at + 1)) ++found;
    CHECK(found == 5);
  }
  CHECK(held_counts().bytes == 0);
}

}  // namespace telltale::diag
