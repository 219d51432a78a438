// SPDX-License-Identifier: Apache-2.0
// Which events of a record log are shown, and in which order.
#include <catch2/catch.hpp>

#include "lib/diag/src/record_log_reader.h"
#include "lib/diag/src/record_log_view.h"
#include "tests/unit/diag/made_log.h"

namespace telltale::diag {
namespace {

struct Printed {
  std::string text;  // the lines' texts, each with a blank behind it; a blank line is "/"
  std::uint64_t lost_elsewhere = 0;
};

Printed print(const std::string& bytes, LogView view) {
  Printed printed;
  std::string all;
  LogPrinter printer(std::move(view), [&](std::string_view lines) {
    all += lines;
    return true;
  });
  RecordLogReader reader;
  reader.feed(bytes);
  for (LogEvent event; reader.next(event) == RecordLogReader::Got::kEvent;) REQUIRE(printer.take(event));
  REQUIRE(printer.end());
  for (std::size_t at = 0, end; at < all.size(); at = end + 1) {
    end = all.find('\n', at);
    std::string line = all.substr(at, end - at);
    printed.text += line.empty() ? "/ " : line.substr(line.rfind(' ') + 1) + ' ';
  }
  printed.lost_elsewhere = printer.lost_elsewhere();
  return printed;
}

std::string shown(const MadeLog& log, const LogView& view) { return print(log.bytes, view).text; }

LogLoss loss(Level level, std::string_view tag, std::uint8_t reason = 0, bool other = false) {
  return {kMadeWallNs, 0, 2, level, reason, other, "worker-0", tag, "why"};
}

}  // namespace

TEST_CASE("LogView: tag, transaction, level and time narrow what is shown", "[diag][record_log]") {
  MadeLog log;
  log.line({.text = "a", .second = 1, .connection = 1, .transaction = 10, .site = 1})
      .line({.text = "b", .second = 2, .connection = 1, .transaction = 11, .site = 2})
      .line({.text = "c", .second = 3, .site = 3})
      .line({.text = "d", .second = 4, .site = 1, .level = Level::kError});
  LogView view;
  CHECK(shown(log, view) == "a b c d ");
  view.tags = Pattern::compile("cac|dns").value();
  CHECK(shown(log, view) == "b c ");
  view = {};
  view.transaction = 11;
  CHECK(shown(log, view) == "b ");
  view = {};
  view.least = Level::kWarning;
  CHECK(shown(log, view) == "d ");
  view = {};
  view.since_ns = kMadeWallNs + 2'000'000'000;
  CHECK(shown(log, view) == "b c d ");
  view.until_ns = kMadeWallNs + 3'000'000'000;
  CHECK(shown(log, view) == "b c ");
}

TEST_CASE("LogView: a loss is shown by what was lost", "[diag][record_log]") {
  MadeLog log;
  log.loss(loss(Level::kDebug, "http")).loss(loss(Level::kError, "cache"));
  LogView tags, level, txn;
  tags.tags = Pattern::compile("http").value();
  level.least = Level::kWarning;
  txn.transaction = 5;
  CHECK(print(log.bytes, tags).text == "full ");
  CHECK(print(log.bytes, level).text == "full ");
  CHECK(print(log.bytes, txn).text.empty());
  CHECK(print(log.bytes, txn).lost_elsewhere == 4);
  CHECK(print(log.bytes, tags).lost_elsewhere == 0);

  // Of these nobody knows the tag or level.
  MadeLog any;
  any.loss(loss(Level::kDebug, "", 0, true)).loss(loss(Level::kDebug, "", kLostBySink));
  CHECK(print(any.bytes, tags).text == "full why ");
  CHECK(print(any.bytes, level).text == "full why ");
}

TEST_CASE("LogView: grouped, a transaction that goes from thread to thread stays whole", "[diag][record_log]") {
  MadeLog log;
  log.line({.text = "one"})
      .line({.text = "two"})
      .line({.text = "c1-open", .connection = 1})
      .line({.text = "t10-a", .connection = 1, .transaction = 10, .thread = 0})
      .line({.text = "t20-a", .connection = 2, .transaction = 20, .thread = 1})
      .line({.text = "t10-b", .connection = 1, .transaction = 10, .thread = 1})
      .line({.text = "three"})
      .line({.text = "t20-b", .connection = 2, .transaction = 20, .thread = 0})
      .line({.text = "c1-close", .connection = 1})
      .line({.text = "four"});
  LogView view;
  view.group = true;
  CHECK(shown(log, view) == "one two / c1-open c1-close / t10-a t10-b / t20-a t20-b / three four ");
  view.tags = Pattern::compile("nothing").value();
  CHECK(shown(log, view).empty());
}

TEST_CASE("LogView: grouped, the same number in another process is another transaction", "[diag][record_log]") {
  MadeLog one(1), other(2);
  one.line({.text = "a", .transaction = 10});
  other.line({.text = "b", .transaction = 10});
  std::string again = one.roll();
  one.line({.text = "c", .transaction = 10});  // rolled: the same process
  LogView view;
  view.group = true;
  CHECK(print(again + other.bytes + one.bytes, view).text == "a c / b ");
}

TEST_CASE("LogView: JSON has no blank lines between groups", "[diag][record_log]") {
  MadeLog log;
  log.line({.text = "a", .transaction = 10}).line({.text = "b"});
  LogView view;
  view.group = view.json = true;
  CHECK(shown(log, view).find('/') == std::string::npos);
}

TEST_CASE("LogPrinter: ends when nobody reads any more", "[diag][record_log]") {
  MadeLog log;
  for (int i = 0; i < 3; ++i) log.line({.text = "line"});
  RecordLogReader reader;
  reader.feed(log.bytes);
  int written = 0;
  LogPrinter printer({}, [&](std::string_view) { return ++written > 1; });
  LogEvent event;
  REQUIRE(reader.next(event) == RecordLogReader::Got::kEvent);
  CHECK(printer.take(event));
  CHECK_FALSE(printer.flush());
  REQUIRE(reader.next(event) == RecordLogReader::Got::kEvent);
  CHECK_FALSE(printer.take(event));
  CHECK_FALSE(printer.end());
  CHECK(written == 1);
}

}  // namespace telltale::diag
