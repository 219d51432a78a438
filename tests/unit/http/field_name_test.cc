// SPDX-License-Identifier: Apache-2.0
#include "http/field_name.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>

using namespace telltale::http;

namespace {

constexpr int kIds = static_cast<int>(FieldId::kCount);

// The slow and obvious version: compare with every name.
FieldId slow_field_id(std::string_view name) {
  for (int i = 1; i < kIds; ++i) {
    if (equal_nocase(field_name(static_cast<FieldId>(i)), name)) return static_cast<FieldId>(i);
  }
  return FieldId::kOther;
}

}  // namespace

TEST_CASE("FieldId: the enum and the table of names agree", "[http][field]") {
  CHECK(field_name(FieldId::kOther).empty());
  CHECK(field_name(FieldId::kCount).empty());
  CHECK(field_name(FieldId::kHost) == "Host");
  CHECK(field_name(FieldId::kContentLength) == "Content-Length");
  CHECK(field_name(FieldId::kTransferEncoding) == "Transfer-Encoding");
  CHECK(field_name(FieldId::kEtag) == "ETag");
  CHECK(field_name(FieldId::kXForwardedFor) == "X-Forwarded-For");
  CHECK(field_name(FieldId::kTraceparent) == "Traceparent");
}

TEST_CASE("FieldId: every name is found, however it is spelled", "[http][field]") {
  for (int i = 1; i < kIds; ++i) {
    const auto id = static_cast<FieldId>(i);
    std::string name(field_name(id));
    REQUIRE(is_token(name));
    CHECK(field_id(name) == id);
    for (char& c : name) c = lower(c);
    CHECK(field_id(name) == id);
    for (char& c : name) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
    }
    CHECK(field_id(name) == id);
  }
}

TEST_CASE("FieldId: the fast look-up agrees with comparing every name, on random names", "[http][field]") {
  std::mt19937 random(20261130);
  for (int round = 0; round < 200000; ++round) {
    std::string name(field_name(static_cast<FieldId>(random() % kIds)));
    // Zero to two changes: another byte, one byte more, one byte less.
    for (unsigned changes = random() % 3; changes > 0; --changes) {
      const std::size_t at = name.empty() ? 0 : random() % name.size();
      switch (random() % 3) {
        case 0:
          if (!name.empty()) name[at] = static_cast<char>(random() % 2 == 0 ? name[at] ^ 0x20 : random() % 256);
          break;
        case 1:
          name.insert(at, 1, static_cast<char>(random() % 256));
          break;
        default:
          if (!name.empty()) name.erase(at, 1);
          break;
      }
    }
    if (field_id(name) != slow_field_id(name)) FAIL("they differ for: " << name);
  }
  SUCCEED();
}

TEST_CASE("FieldId: bytes that differ in the case bit only are not letters of the same name", "[http][field]") {
  CHECK(field_id("Host") == FieldId::kHost);
  CHECK(field_id("Content\rLength") == FieldId::kOther);   // '-' with the case bit flipped
  CHECK_FALSE(equal_nocase("a^b", "a~b"));
  CHECK_FALSE(equal_nocase("a@b", "a`b"));
}

TEST_CASE("FieldId: names that are empty or longer than any known one are kOther", "[http][field]") {
  CHECK(field_id("") == FieldId::kOther);
  CHECK(field_id(std::string(25, 'x')) == FieldId::kOther);
  CHECK(field_id(std::string(26, 'x')) == FieldId::kOther);
  CHECK(field_id(std::string(70000, 'x')) == FieldId::kOther);
}

TEST_CASE("FieldId: hop-by-hop fields are those of RFC 9110 7.6.1 and what the next hop alone may read", "[http][field][B124]") {
  for (std::string_view name : {"Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding",
                                "Upgrade", "HTTP2-Settings", "Proxy-Authenticate", "Proxy-Authorization"}) {
    CHECK(is_hop_by_hop(field_id(name)));
  }
  for (std::string_view name : {"Host", "Content-Length", "Via", "Authorization", "Cache-Control", "X-Any"}) {
    CHECK_FALSE(is_hop_by_hop(field_id(name)));
  }
}

TEST_CASE("FieldId: framing, routing and identity fields are guarded against Connection", "[http][field][B124]") {
  for (std::string_view name : {"Host", "Content-Length", "X-Forwarded-For", "X-Forwarded-Anything", "x-forwarded-port",
                                "Authorization", "Cookie", "Cache-Control", "Via"}) {
    CHECK(is_guarded(field_id(name), name));
  }
  for (std::string_view name : {"X-Hop", "X-Forwarded-", "X-Forward", "Accept"}) {
    CHECK_FALSE(is_guarded(field_id(name), name));
  }
}

TEST_CASE("Token: list items come trimmed and without the empty ones", "[http][token]") {
  std::string_view rest = " a ,,\t, b\t,c";
  CHECK(next_item(rest) == "a");
  CHECK(next_item(rest) == "b");
  CHECK(next_item(rest) == "c");
  CHECK(next_item(rest).empty());
  CHECK(rest.empty());
}

TEST_CASE("Token: exactly the 77 tchars of RFC 9110 are tchars", "[http][token][B110]") {
  const std::string_view all = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  int count = 0;
  for (int c = 0; c < 256; ++c) {
    const bool expected = all.find(static_cast<char>(c)) != std::string_view::npos;
    if (is_tchar(static_cast<char>(c)) != expected) FAIL("byte " << c);
    count += expected;
  }
  CHECK(count == 77);
  CHECK_FALSE(is_token(""));
}
