// SPDX-License-Identifier: Apache-2.0
// A site's line, made from what is known of the site, is the line that is made from scratch.
#include <catch2/catch.hpp>

#include <limits>
#include <string>
#include <utility>

#include "lib/diag/src/site_line.h"
#include "record_bytes.h"

using namespace telltale::diag;

namespace {

void check_same(const LineHead& head, ShowLocation show, const RecordBytes& record, RecordHeader header) {
  LineWriter writer;
  RecordReader arguments(record.data(), header);
  std::string from_scratch;
  const std::string_view text = writer.text(head.origin.format, arguments);
  writer.append(from_scratch, head, show, text, writer.lines_bytes());
  TextBuffer out;
  SiteLine(head.origin, head.level, show).append(out, writer, head, RecordReader(record.data(), header));
  CHECK(out.view() == from_scratch);
}

struct Dump {};

}  // namespace

template <>
struct fmt::formatter<Dump> : fmt::formatter<std::string_view> {
  auto format(const Dump&, format_context& c) const { return fmt::format_to(c.out(), "a: 1\nb: \x01"); }
};
template <>
inline constexpr bool telltale::diag::is_lines<Dump> = true;

TEST_CASE("SiteLine: a record of several lines is as from scratch", "[diag][line]") {
  LineHead head;
  head.thread = "worker-0";
  for (std::string_view format : {"{}", "dump {}", "{:>9}"}) {
    head.origin = {"http_hdrs", format, "a.cc", "run", 95};
    RecordBytes record(Dump{}, field("why", "x\ny"));
    check_same(head, ShowLocation::kDebugLines, record, record.header());
  }
}

TEST_CASE("SiteLine: every part, there or not, plain or not, is as in a line made from scratch", "[diag][line]") {
  RecordBytes record(7, "host\n", 0.25, field("status", 200));
  for (std::string_view format : {"id={} host={} took={}", "{2} {0}", "{}", "{", "", "\xc3{}"}) {
    for (unsigned parts = 0; parts < 256; ++parts) {
      auto part = [parts](unsigned bit, std::string_view text) { return (parts >> bit & 1) != 0 ? text : std::string_view(); };
      LineHead head;
      head.wall_ns = 1'796'032'800'123'456'789;
      head.thread = part(0, "worker-0");
      head.origin = {part(1, "http"), format, part(2, "http1/\xffsession.cc"), part(3, "on_request"), 95};
      head.connection = (parts & 16) != 0 ? 12 : 0;
      head.transaction = (parts & 32) != 0 ? ~std::uint64_t{0} : 0;
      head.plugin = part(6, "header\tnote");
      head.level = (parts & 128) != 0 ? Level::kError : Level::kDebug;
      for (ShowLocation show : {ShowLocation::kDebugLines, ShowLocation::kAllLines, ShowLocation::kNever}) {
        check_same(head, show, record, record.header());
      }
    }
  }
}

TEST_CASE("SiteLine: knows which lines it is for", "[diag][line]") {
  SiteLine line({"http", "text", "a.cc", "run", 1}, Level::kDebug, ShowLocation::kNever);
  CHECK(line.is_for(Level::kDebug, ShowLocation::kNever));
  CHECK_FALSE(line.is_for(Level::kNote, ShowLocation::kNever));
  CHECK_FALSE(line.is_for(Level::kDebug, ShowLocation::kAllLines));
}

TEST_CASE("line: the time goes on over seconds, and over the epoch", "[diag][line]") {
  LineWriter writer;
  for (auto [ns, text] : {std::pair{1'000'000'999L, "1970-01-01T00:00:01.000000Z"}, std::pair{1'999'999'999L, "1970-01-01T00:00:01.999999Z"},
                          std::pair{2'000'001'000L, "1970-01-01T00:00:02.000001Z"}, std::pair{0L, "1970-01-01T00:00:00.000000Z"},
                          std::pair{-1L, "1969-12-31T23:59:59.999999Z"}, std::pair{-1'000'000'000L, "1969-12-31T23:59:59.000000Z"},
                          std::pair{std::numeric_limits<long>::max(), "2262-04-11T23:47:16.854775Z"},
                          std::pair{std::numeric_limits<long>::min(), "1677-09-21T00:12:44.145224Z"},
                          std::pair{0L, "1970-01-01T00:00:00.000000Z"}}) {
    std::string out;
    writer.append_time(out, ns);
    CHECK(out == text);
  }
}
