// SPDX-License-Identifier: Apache-2.0
#include "http/target.h"

#include <catch2/catch.hpp>
#include <string>

#include "http/authority.h"

using namespace telltale::http;

TEST_CASE("Target: origin-form is split at the first question mark", "[http][target]") {
  const Target plain = parse_target(Method::kGet, "/a/b");
  CHECK(plain.ok());
  CHECK(plain.form == TargetForm::kOrigin);
  CHECK(plain.path == "/a/b");
  CHECK(plain.query.empty());
  const Target with_query = parse_target(Method::kGet, "/a?b=c?d");
  CHECK(with_query.path == "/a");
  CHECK(with_query.query == "b=c?d");
  CHECK(parse_target(Method::kGet, "/?").ok());
}

TEST_CASE("Target: B150 nothing is normalised, what is accepted is accepted byte for byte", "[http][target][B150]") {
  for (const char* text : {"/\\", "/%5C", "//", "/./", "/a/../", "/%2e", "/A", "/a", "/|{}^`\"<>", "/%zz", "/%"}) {
    const Target target = parse_target(Method::kGet, text);
    INFO(text);
    CHECK(target.ok());
    CHECK(target.path == text);
  }
  const Target fragment = parse_target(Method::kGet, "/#f");
  CHECK(fragment.status == 400);
  CHECK(parse_target(Method::kGet, "/ ").status == 400);
}

TEST_CASE("Target: of 256 bytes the controls, space, # and all above 7F are refused, anywhere", "[http][target]") {
  for (int c = 0; c < 256; ++c) {
    const bool allowed = c > 0x20 && c < 0x7f && c != '#';
    for (const std::string& text : {std::string("/") + static_cast<char>(c), std::string("/a") + static_cast<char>(c) + "b",
                                   std::string("/?") + static_cast<char>(c) + "x"}) {
      if (parse_target(Method::kGet, text).ok() != allowed) FAIL("byte " << c);
    }
  }
  SUCCEED();
}

TEST_CASE("Target: asterisk-form goes with OPTIONS only", "[http][target]") {
  CHECK(parse_target(Method::kOptions, "*").form == TargetForm::kAsterisk);
  CHECK(parse_target(Method::kOptions, "*").ok());
  CHECK(parse_target(Method::kOptions, "/x").ok());
  CHECK(parse_target(Method::kGet, "*").status == 400);
  CHECK(parse_target(Method::kOptions, "**").status == 400);
}

TEST_CASE("Target: an absolute-form is taken apart at its scheme and its authority", "[http][target]") {
  const auto parts = [](std::string_view text) {
    const auto target = split_absolute_target(text);
    return target ? std::string(target->scheme) + "|" + std::string(target->authority) + "|" + std::string(target->rest) : "none";
  };
  CHECK(parts("http://a:80/b?c=http://d/") == "http|a:80|/b?c=http://d/");
  CHECK(parts("X+y.1-z://u@[::1]?q") == "X+y.1-z|u@[::1]|?q");
  CHECK(parts("http://a") == "http|a|");
  CHECK(parts("http://a#f") == "http|a|#f");
  CHECK(parts("http:///b") == "http||/b");
  CHECK(parts("/http://a/") == "none");
  CHECK(parts("://a/") == "none");
  CHECK(parts("http:/a") == "none");
  CHECK(parts("1http://a") == "none");
  CHECK(parts("") == "none");
}

TEST_CASE("Target: absolute-form, authority-form and CONNECT are refused, each with its reason", "[http][target]") {
  const Target absolute = parse_target(Method::kGet, "http://u:S3CR3T@h/x");
  CHECK(absolute.form == TargetForm::kAbsolute);
  CHECK(absolute.status == 400);
  const Target authority = parse_target(Method::kGet, "h:80");
  CHECK(authority.form == TargetForm::kAuthority);
  CHECK(authority.status == 400);
  const Target connect = parse_target(Method::kConnect, "h:443");
  CHECK(connect.status == 405);
  CHECK(parse_target(Method::kGet, "").status == 400);
  CHECK(parse_target(Method::kGet, "://x").form == TargetForm::kAuthority);
  for (const Target& target : {absolute, authority, connect}) {
    CHECK_FALSE(target.reason.empty());
    CHECK(target.reason.find("S3CR3T") == std::string_view::npos);  // B67
  }
}

namespace {
std::string read(std::string_view text) {
  Authority authority;
  if (!authority.parse(text)) {
    CHECK(authority.empty());
    return "refused";
  }
  return std::string(authority.host()) + (authority.is_ipv6() ? " v6 " : " ") + std::to_string(authority.port());
}
}  // namespace

TEST_CASE("Authority: hosts are lowered and ports default to 80", "[http][authority]") {
  CHECK(read("Example.ORG") == "example.org 80");
  CHECK(read("a:8080") == "a 8080");
  CHECK(read("a:") == "a 80");
  CHECK(read("127.0.0.1:1") == "127.0.0.1 1");
  CHECK(read("a:65535") == "a 65535");
  CHECK(read("a:00080") == "a 80");
  CHECK(read("my_host.") == "my_host. 80");
  CHECK(read("[::1]") == "::1 v6 80");
  CHECK(read("[2001:DB8::A]:8080") == "2001:db8::a v6 8080");
}

TEST_CASE("Authority: B126 what is not exactly host and port is refused", "[http][authority][B126]") {
  for (const char* text :
       {"", ":", ":80", "a b", "a/b", "u@a", "u:p@a", "a:0", "a:65536", "a:123456", "a:8o", "a:80:80", "a?", "a#", "a,b",
        "a%41", "[::1", "::1", "[]", "[::1]x", "[::1]:x", "[::g]", "[fe80::1%25eth0]", "[1.2.3.4]", "[v1.a]", "a\t", " a",
        "a\\b", "a;b", "\xc3\xa4", "a:+1", "a:-1", "[::1]:0", "a]"}) {
    INFO(text);
    CHECK(read(text) == "refused");
  }
  CHECK(read(std::string_view("a\0b", 3)) == "refused");
}

TEST_CASE("Authority: a host may have 255 bytes and not 256", "[http][authority]") {
  CHECK(read(std::string(255, 'a')) == std::string(255, 'a') + " 80");
  CHECK(read(std::string(256, 'a')) == "refused");
}

TEST_CASE("Authority: two spellings of one place are equal", "[http][authority]") {
  Authority a, b, c;
  REQUIRE(a.parse("EXAMPLE.org"));
  REQUIRE(b.parse("example.org:80"));
  REQUIRE(c.parse("example.org:81"));
  CHECK(a == b);
  CHECK_FALSE(a == c);
}
