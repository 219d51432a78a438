// SPDX-License-Identifier: Apache-2.0
#include "cache/range.h"

#include <catch2/catch.hpp>
#include <string>

#include <fmt/format.h>

#include "tests/unit/cache/responses.h"

namespace telltale::cache {
namespace {

using test::fields_of;

StoredResponse ten() {
  StoredResponse stored;
  stored.set_content("0123456789");
  stored.fields = fields_of({{"ETag", "\"v1\""},
                             {"Date", "Mon, 30 Nov 2026 10:00:00 GMT"},
                             {"Last-Modified", "Mon, 30 Nov 2026 09:59:00 GMT"}});
  return stored;
}

std::string text_of(const Range& range, const StoredResponse& stored) {
  if (range.kind == Range::kUnsatisfiable) return "416";
  if (range.kind == Range::kWhole) return "whole";
  return std::string(stored.content.substr(range.begin, range.end - range.begin));
}
std::string of(const char* range, const StoredResponse& stored = ten()) {
  return text_of(wanted_range(fields_of({{"Range", range}}), stored), stored);
}

TEST_CASE("Range: one range of bytes is a part", "[cache][range][rfc9110]") {
  // Case B144.
  CHECK(of("bytes=0-3") == "0123");
  CHECK(of("bytes=0-0") == "0");
  CHECK(of("bytes=4-") == "456789");
  CHECK(of("bytes=9-") == "9");
  CHECK(of("bytes=-4") == "6789");
  CHECK(of("bytes=-1") == "9");
  CHECK(of("bytes=0-9") == "0123456789");
  CHECK(of("bytes=0-10") == "0123456789");
  CHECK(of("bytes=5-99999999999999999999999") == "56789");
  CHECK(of("bytes=-11") == "0123456789");
  CHECK(of("bytes=-99999999999999999999999") == "0123456789");
  CHECK(of("Bytes=0-3") == "0123");
}

TEST_CASE("Range: what begins behind the end, and the last no bytes, cannot be satisfied", "[cache][range][rfc9110]") {
  CHECK(of("bytes=10-") == "416");
  CHECK(of("bytes=99-") == "416");
  CHECK(of("bytes=10-20") == "416");
  CHECK(of("bytes=99999999999999999999999-") == "416");
  CHECK(of("bytes=-0") == "416");
  StoredResponse empty;
  empty.set_content("");
  CHECK(of("bytes=0-0", empty) == "416");
  CHECK(of("bytes=-1", empty) == "416");
}

TEST_CASE("Range: several ranges, other units and what cannot be read get the whole", "[cache][range][rfc9110]") {
  for (const char* range : {"bytes=0-0,-1", "bytes=0-1, 4-5", "bytes=3-2", "bytes=-", "bytes=", "bytes", "bytes=a-b", "bytes=1-b",
                            "bytes=1", "bytes=--1", "bytes=1--2", "bytes 0-3", "lines=0-3", "bytes=0x1-3", "bytes= 0 - 3", "", "=0-3"}) {
    INFO(range);
    CHECK(of(range) == "whole");
  }
  const StoredResponse stored = ten();
  CHECK(text_of(wanted_range(fields_of({}), stored), stored) == "whole");
  CHECK(text_of(wanted_range(fields_of({{"Range", "bytes=0-1"}, {"Range", "bytes=0-2"}}), stored), stored) == "whole");
}

TEST_CASE("Range: only a stored 200 has parts", "[cache][range]") {
  StoredResponse stored = ten();
  for (int status : {203, 404, 410}) {
    stored.status = static_cast<std::uint16_t>(status);
    CHECK(of("bytes=0-3", stored) == "whole");
  }
}

TEST_CASE("Range: If-Range voids it unless the validator is strong and the same", "[cache][range][rfc9110]") {
  const auto with = [](const char* if_range, const StoredResponse& stored = ten()) {
    return text_of(wanted_range(fields_of({{"Range", "bytes=0-3"}, {"If-Range", if_range}}), stored), stored);
  };
  CHECK(with("\"v1\"") == "0123");
  CHECK(with("\"v0\"") == "whole");
  CHECK(with("W/\"v1\"") == "whole");
  CHECK(with("v1") == "whole");
  CHECK(with("Mon, 30 Nov 2026 09:59:00 GMT") == "0123");
  CHECK(with("Mon, 30 Nov 2026 10:00:00 GMT") == "whole");
  CHECK(with("Mon, 30 Nov 2026 09:58:00 GMT") == "whole");
  StoredResponse weak = ten();
  weak.fields = fields_of({{"ETag", "W/\"v1\""}});
  CHECK(with("W/\"v1\"", weak) == "whole");
  CHECK(with("\"v1\"", weak) == "whole");
  StoredResponse young = ten();  // modified within the minute before it was sent: another change may hide in it
  young.fields = fields_of({{"Date", "Mon, 30 Nov 2026 10:00:00 GMT"}, {"Last-Modified", "Mon, 30 Nov 2026 09:59:01 GMT"}});
  CHECK(with("Mon, 30 Nov 2026 09:59:01 GMT", young) == "whole");
}

TEST_CASE("Range: agrees with the grammar read slowly, for all small ranges", "[cache][range]") {
  const StoredResponse stored = ten();
  const std::string all(stored.content);
  for (int first = -1; first < 13; ++first) {
    for (int last = -1; last < 13; ++last) {
      const std::string text = fmt::format("bytes={}-{}", first < 0 ? "" : std::to_string(first), last < 0 ? "" : std::to_string(last));
      std::string expected;
      if (first < 0 && last < 0) expected = "whole";
      else if (first < 0) expected = last == 0 ? "416" : all.substr(static_cast<std::size_t>(last >= 10 ? 0 : 10 - last));
      else if (last >= 0 && last < first) expected = "whole";
      else if (first >= 10) expected = "416";
      else
        for (int i = first; i <= (last < 0 ? 9 : std::min(last, 9)); ++i) expected += all[static_cast<std::size_t>(i)];
      INFO(text);
      CHECK(of(text.c_str()) == expected);
    }
  }
}

}  // namespace
}  // namespace telltale::cache
