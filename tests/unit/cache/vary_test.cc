// SPDX-License-Identifier: Apache-2.0
#include "cache/vary.h"

#include <catch2/catch.hpp>
#include <string>

#include <fmt/format.h>

#include "tests/unit/cache/responses.h"

namespace telltale::cache {
namespace {

using test::fields_of;
using List = std::initializer_list<std::pair<const char*, const char*>>;

std::string stored_for(const char* vary, List request) {
  return selecting_text(fields_of({{"Vary", vary}}), fields_of(request)).value_or("never");
}
// Stored by one request; chosen by another?
bool chosen(const char* vary, List first, List second) {
  const std::string selecting = stored_for(vary, first);
  const bool same = selected_by(selecting, fields_of(second));
  // The two ways to the answer agree.
  CHECK(same == (selecting_text_like(selecting, fields_of(second)) == selecting));
  return same;
}

TEST_CASE("Vary: a response without it has no selecting text, which every request matches", "[cache][vary]") {
  CHECK(selecting_text(fields_of({{"ETag", "x"}}), fields_of({{"Accept", "a"}})) == "");
  CHECK(selected_by("", fields_of({{"Accept", "b"}})));
}

TEST_CASE("Vary: each field it names must have the same value", "[cache][vary][rfc9111]") {
  // Cases B146 and B152.
  CHECK(chosen("Accept-Encoding", {{"Accept-Encoding", "gzip"}}, {{"Accept-Encoding", "gzip"}, {"Accept", "x"}}));
  CHECK_FALSE(chosen("Accept-Encoding", {{"Accept-Encoding", "gzip"}}, {{"Accept-Encoding", "br"}}));
  CHECK_FALSE(chosen("Accept-Encoding", {{"Accept-Encoding", "gzip"}}, {{"Accept-Encoding", "gzi"}}));
  CHECK_FALSE(chosen("Accept-Encoding", {{"Accept-Encoding", "gzip"}}, {{"Accept-Encoding", "gzipp"}}));
  CHECK_FALSE(chosen("Accept-Encoding", {{"Accept-Encoding", "gzip,br"}}, {{"Accept-Encoding", "gzip"}}));
  CHECK_FALSE(chosen("Accept-Encoding", {{"Accept-Encoding", "gzip"}}, {}));
  CHECK_FALSE(chosen("Accept-Encoding", {}, {{"Accept-Encoding", "gzip"}}));
  CHECK(chosen("Accept-Encoding", {}, {{"Accept", "x"}}));
  CHECK_FALSE(chosen("Accept, Accept-Language", {{"Accept", "a"}, {"Accept-Language", "de"}}, {{"Accept", "a"}, {"Accept-Language", "en"}}));
  CHECK(chosen("Accept, Accept-Language", {{"Accept", "a"}, {"Accept-Language", "de"}}, {{"Accept-Language", "de"}, {"Accept", "a"}}));
  CHECK_FALSE(chosen("X-Any", {{"X-Any", "1"}}, {{"X-Any", "2"}}));
  CHECK(chosen("x-any", {{"X-Any", "1"}}, {{"X-ANY", "1"}}));
  CHECK_FALSE(chosen("Cookie", {{"Cookie", "a=1"}}, {{"Cookie", "a=2"}}));
}

TEST_CASE("Vary: white space around commas and the lines of a list make no difference, all else does", "[cache][vary][rfc9111]") {
  const List one = {{"Accept-Encoding", "gzip, br"}};
  CHECK(chosen("Accept-Encoding", one, {{"Accept-Encoding", "gzip,br"}}));
  CHECK(chosen("Accept-Encoding", one, {{"Accept-Encoding", "gzip \t,\t br"}}));
  CHECK(chosen("Accept-Encoding", one, {{"Accept-Encoding", "gzip"}, {"Accept-Encoding", "br"}}));
  CHECK(chosen("Accept-Encoding", {{"Accept-Encoding", "gzip"}, {"Accept-Encoding", "br"}}, one));
  CHECK_FALSE(chosen("Accept-Encoding", one, {{"Accept-Encoding", "br, gzip"}}));
  CHECK_FALSE(chosen("Accept-Encoding", one, {{"Accept-Encoding", "GZIP, br"}}));
  CHECK_FALSE(chosen("Accept-Encoding", one, {{"Accept-Encoding", "gzip;q=1, br"}}));
  CHECK_FALSE(chosen("User-Agent", {{"User-Agent", "a b"}}, {{"User-Agent", "a  b"}}));
  CHECK_FALSE(chosen("X-A", {{"X-A", "\"a, b\""}}, {{"X-A", "\"a,b\""}}));  // within quotes it is content
  CHECK_FALSE(chosen("X-A", {{"X-A", "\"a\\\", b\""}}, {{"X-A", "\"a\\\",b\""}}));
}

TEST_CASE("Vary: an absent field, an empty one and one that looks like the mark for absent are three", "[cache][vary]") {
  CHECK_FALSE(chosen("X-A", {}, {{"X-A", ""}}));
  CHECK_FALSE(chosen("X-A", {{"X-A", ""}}, {}));
  CHECK_FALSE(chosen("X-A", {}, {{"X-A", "-"}}));
  CHECK_FALSE(chosen("X-A", {{"X-A", "-"}}, {}));
  CHECK(chosen("X-A", {{"X-A", ""}}, {{"X-A", ""}}));
}

TEST_CASE("Vary: the order, the case and the repetition of its members make no difference", "[cache][vary]") {
  const http::Fields request = fields_of({{"Accept", "a"}, {"X-B", "b"}});
  const std::string text = "accept\n=a\nx-b\n=b\n";
  CHECK(selecting_text(fields_of({{"Vary", "X-B, Accept"}}), request) == text);
  CHECK(selecting_text(fields_of({{"Vary", "accept"}, {"Vary", "x-b,ACCEPT,,"}}), request) == text);
}

TEST_CASE("Vary: a field that the origin does not get counts as absent", "[cache][vary]") {
  // Else a client could fill the cache with what the origin said to a request without the field.
  CHECK(chosen("X-A", {{"X-A", "1"}, {"Connection", "close, x-a"}}, {}));
  CHECK_FALSE(chosen("X-A", {{"X-A", "1"}, {"Connection", "x-a"}}, {{"X-A", "1"}}));
  CHECK(chosen("Upgrade", {{"Upgrade", "x"}}, {}));
  CHECK_FALSE(chosen("Cookie", {{"Cookie", "1"}, {"Connection", "cookie"}}, {}));  // that one is not taken away
}

TEST_CASE("Vary: * and what is no field name match no request", "[cache][vary][rfc9111]") {
  for (const char* vary : {"*", "Accept, *", "*, Accept", "Accept Encoding", "Accept;x", "\"Accept\""}) {
    INFO(vary);
    CHECK(stored_for(vary, {{"Accept", "a"}}) == "never");
  }
}

TEST_CASE("Vary: so many members as the limit are compared, one more matches nothing", "[cache][vary]") {
  std::string vary;
  for (std::size_t i = 0; i < kVaryFieldsMax; ++i) vary += fmt::format("X-{},", i);
  CHECK(stored_for(vary.c_str(), {{"X-15", "1"}}).find("x-15\n=1\n") != std::string::npos);
  CHECK(stored_for((vary + "X-3").c_str(), {}) != "never");  // named before
  CHECK(stored_for((vary + "X-16").c_str(), {}) == "never");
}

}  // namespace
}  // namespace telltale::cache
