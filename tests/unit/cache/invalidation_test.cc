// SPDX-License-Identifier: Apache-2.0
#include "cache/invalidation.h"

#include <catch2/catch.hpp>
#include <string>

namespace telltale::cache {
namespace {

std::string resolved(std::string_view reference, std::string_view base = "/a/b/c?q") {
  const auto r = resolve_reference(reference, base);
  if (!r) return "none";
  return (r->authority.empty() ? "" : std::string(r->authority.host()) + ":" + std::to_string(r->authority.port())) + r->target;
}

TEST_CASE("Invalidation: references are resolved as RFC 3986 says", "[cache][invalidation]") {
  CHECK(resolved("/x?y#z") == "/x?y");
  CHECK(resolved("x") == "/a/b/x");
  CHECK(resolved("./x") == "/a/b/x");
  CHECK(resolved("../x") == "/a/x");
  CHECK(resolved("../../../x") == "/x");
  CHECK(resolved("..") == "/a/");
  CHECK(resolved(".") == "/a/b/");
  CHECK(resolved("x/../y/./z") == "/a/b/y/z");
  CHECK(resolved("?n") == "/a/b/c?n");
  CHECK(resolved("") == "/a/b/c?q");
  CHECK(resolved("#f") == "/a/b/c?q");
  CHECK(resolved("x:y/z") == "none");
  CHECK(resolved("./x:y") == "/a/b/x:y");
  CHECK(resolved("x?a=b:c") == "/a/b/x?a=b:c");
}

TEST_CASE("Invalidation: absolute references keep their authority", "[cache][invalidation]") {
  CHECK(resolved("http://H.test/x?y") == "h.test:80/x?y");
  CHECK(resolved("HTTP://h.test:8080") == "h.test:8080/");
  CHECK(resolved("http://h.test?y") == "h.test:80/?y");
  CHECK(resolved("//h.test/x") == "h.test:80/x");
  CHECK(resolved("http://[::1]:81/x") == "::1:81/x");
}

TEST_CASE("Invalidation: what is of another scheme or cannot be read names nothing", "[cache][invalidation]") {
  for (const char* reference : {"https://h.test/x", "ftp://h/x", "http:/x", "http:x", "http://user@h/x", "http:///x", "http://h:0x/", "/a b",
                                "/a\tb", "/\x80", "mailto:x@y"}) {
    INFO(reference);
    CHECK(resolved(reference) == "none");
  }
}

}  // namespace
}  // namespace telltale::cache
