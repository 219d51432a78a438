// SPDX-License-Identifier: Apache-2.0
#include "net/endpoint.h"

#include <catch2/catch.hpp>
#include <netinet/in.h>

namespace telltale::net {
namespace {

std::string text(const Endpoint& endpoint) {
  return fmt::format("{}", endpoint);
}

TEST_CASE("Endpoint: what parse reads, the formatter writes", "[net][endpoint]") {
  for (const char* at : {"127.0.0.1:80", "0.0.0.0:0", "255.255.255.255:65535", "[::]:8080", "[2001:db8::1]:443"}) {
    const auto endpoint = Endpoint::parse(at);
    REQUIRE(endpoint);
    CHECK(text(*endpoint) == at);
  }
  CHECK(text(*Endpoint::parse("[2001:DB8:0:0:0:0:0:1]:1")) == "[2001:db8::1]:1");
}

TEST_CASE("Endpoint: the longest text fits", "[net][endpoint]") {
  const auto endpoint = Endpoint::parse("[1234:5678:9abc:def0:1234:5678:9abc:def0]:65535");
  REQUIRE(endpoint);
  CHECK(text(*endpoint) == "[1234:5678:9abc:def0:1234:5678:9abc:def0]:65535");
}

TEST_CASE("Endpoint: a v4-mapped address is the IPv4 address", "[net][endpoint]") {
  const auto mapped = Endpoint::parse("[::ffff:192.0.2.7]:80");
  REQUIRE(mapped);
  CHECK(*mapped == *Endpoint::parse("192.0.2.7:80"));
  CHECK(mapped->is_v4());
  CHECK(text(*mapped) == "192.0.2.7:80");
  CHECK(mapped->address_bytes() ==
        std::array<std::uint8_t, 16>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 7});
}

TEST_CASE("Endpoint: what is not address and port is refused with what was expected", "[net][endpoint]") {
  for (const char* bad : {"",
                          ":",
                          "80",
                          "127.0.0.1",
                          "127.0.0.1:",
                          "127.0.0.1:65536",
                          "127.0.0.1:-1",
                          "127.0.0.1:+1",
                          "127.0.0.1: 80",
                          "127.0.0.1:80x",
                          "127.0.0:80",
                          "0127.0.0.1:80",
                          "::1:80",
                          "[::1]",
                          "[::1]80",
                          "[::1:80",
                          "[127.0.0.1]:80",
                          "[]:80",
                          "localhost:80",
                          "[::1]:"}) {
    INFO(bad);
    const auto endpoint = Endpoint::parse(bad);
    REQUIRE_FALSE(endpoint);
    CHECK(endpoint.error().find(bad) != std::string::npos);
  }
  CHECK_FALSE(Endpoint::parse(std::string_view("127.0.0.1\0:80", 13)));
}

TEST_CASE("Endpoint: a literal is an address with or without brackets, never a name", "[net][endpoint]") {
  CHECK(text(*Endpoint::from_literal("::1", 1)) == "[::1]:1");
  CHECK(text(*Endpoint::from_literal("[::1]", 1)) == "[::1]:1");
  CHECK(text(*Endpoint::from_literal("10.0.0.1", 1)) == "10.0.0.1:1");
  CHECK_FALSE(Endpoint::from_literal("localhost", 1));
  CHECK_FALSE(Endpoint::from_literal("[10.0.0.1]", 1));
  CHECK_FALSE(Endpoint::from_literal("[", 1));
  CHECK_FALSE(Endpoint::from_literal(std::string(100, '1'), 1));
}

TEST_CASE("Endpoint: sockaddr and back is the same endpoint", "[net][endpoint]") {
  for (const char* at : {"127.0.0.1:80", "[2001:db8::1]:443"}) {
    const Endpoint endpoint = *Endpoint::parse(at);
    sockaddr_storage address;
    const socklen_t length = endpoint.to_sockaddr(address);
    CHECK(address.ss_family == endpoint.family());
    CHECK(length == (endpoint.is_v4() ? sizeof(sockaddr_in) : sizeof(sockaddr_in6)));
    CHECK(Endpoint::from_sockaddr(address) == endpoint);
  }
  sockaddr_storage unix_address{};
  unix_address.ss_family = AF_UNIX;
  CHECK_FALSE(Endpoint::from_sockaddr(unix_address));
}

TEST_CASE("Endpoint: any and default", "[net][endpoint]") {
  CHECK(text(Endpoint{}) == "0.0.0.0:0");
  CHECK(Endpoint{}.is_any());
  CHECK(Endpoint::parse("[::]:1")->is_any());
  CHECK_FALSE(Endpoint::parse("127.0.0.1:1")->is_any());
  CHECK(text(Endpoint::parse("127.0.0.1:1")->with_port(9)) == "127.0.0.1:9");
}

}  // namespace
}  // namespace telltale::net
