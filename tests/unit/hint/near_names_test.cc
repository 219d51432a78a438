// SPDX-License-Identifier: Apache-2.0
#include "hint/near_names.h"

#include <catch2/catch.hpp>

using namespace telltale::hint;
using Names = std::vector<std::string>;

TEST_CASE("edit_distance: counts inserts, deletes, replacements and swaps", "[hint][near]") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("http", "") == 4);
  CHECK(edit_distance("http", "http") == 0);
  CHECK(edit_distance("htpp", "http") == 1);
  CHECK(edit_distance("htt", "http") == 1);
  CHECK(edit_distance("hxttp", "http") == 1);
  CHECK(edit_distance("hhtp", "http") == 1);
  CHECK(edit_distance("dns", "http") == 4);
}

TEST_CASE("near_pattern: misspelt, differently cased and contained tags are found, nearest first", "[hint][near]") {
  Names tags{"cache", "dns", "header_note", "http", "http_hdrs", "splitdns"};
  CHECK(near_pattern("htpp", tags) == Names{"http"});
  CHECK(near_pattern("htp", tags) == Names{"http"});
  CHECK(near_pattern("HTTP", tags) == Names{"http", "http_hdrs"});
  CHECK(near_pattern("header-note", tags) == Names{"header_note"});
  CHECK(near_pattern("hdrs.*", tags) == Names{"http_hdrs"});
  CHECK(near_pattern("cahce|^dnz$", tags) == Names{"cache", "dns"});
  CHECK(near_pattern("websocket", tags).empty());
  CHECK(near_pattern(".*", tags).empty());
}

TEST_CASE("near_names: a record is found by its spelling, a part of it, or its last word in another section", "[hint][near]") {
  Names records{"cache.ram_cache.size", "diags.debug.client_ip", "diags.debug.enabled", "diags.debug.tags", "http.server_ports"};
  CHECK(near_names("diags.debug.tag", records).front() == "diags.debug.tags");
  CHECK(near_names("server_ports", records) == Names{"http.server_ports"});
  CHECK(near_names("diags.client_ip", records).front() == "diags.debug.client_ip");
  CHECK(near_names("ssl.enabled", records).empty());
  CHECK(near_names("ssl.server.cert.path", records).empty());
}

TEST_CASE("near_names: at most three names, texts of 128 bytes and sixteen alternatives are looked at", "[hint][near]") {
  Names tags;
  for (char c = 'a'; c <= 'j'; ++c) tags.push_back(std::string("http") + c);
  CHECK(near_names("http", tags) == Names(tags.begin(), tags.begin() + kNearNamesMax));

  std::string pattern;
  for (std::size_t i = 1; i < kNearAlternativesMax; ++i) pattern += "zzzzzz|";
  CHECK(near_pattern(pattern + "dnss", {"dns"}) == Names{"dns"});
  CHECK(near_pattern("zzzzzz|" + pattern + "dnss", {"dns"}).empty());

  std::string longest(kNearTextBytesMax, 'x');
  CHECK(near_names(longest, {longest}) == Names{longest});
  CHECK(near_names(longest + 'x', {longest}).empty());
  CHECK(near_names(longest, {longest + 'x'}).empty());
  CHECK(near_pattern(longest + 'x', {longest}).empty());
}

TEST_CASE("did_you_mean: is a sentence of one, two or three names", "[hint][near]") {
  CHECK(did_you_mean({}).empty());
  CHECK(did_you_mean({"a"}) == "did you mean a?");
  CHECK(did_you_mean({"a", "b"}) == "did you mean a or b?");
  CHECK(did_you_mean({"a", "b", "c"}) == "did you mean a, b or c?");
}
