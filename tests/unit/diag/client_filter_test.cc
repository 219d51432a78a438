// SPDX-License-Identifier: Apache-2.0
#include <telltale/diag/debug_control.h>
#include <telltale/diag/scope.h>

#include <arpa/inet.h>

#include <random>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/diag/debug_state.h"

namespace telltale::diag {
namespace {

std::array<std::uint8_t, 16> address(const std::string& text) {
  std::array<std::uint8_t, 16> bytes{};
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return bytes;
  bytes[10] = bytes[11] = 0xff;
  REQUIRE(inet_pton(AF_INET, text.c_str(), bytes.data() + 12) == 1);
  return bytes;
}

bool on_for(const RuntimeControl& control, const std::array<std::uint8_t, 16>& bytes) {
  Client client{bytes};
  Context context{.client = &client};
  Scope scope(&context);
  return control.on();
}
bool on_for(const RuntimeControl& control, const std::string& text) { return on_for(control, address(text)); }

// The slow obvious version: bit by bit.
bool same_prefix(const std::array<std::uint8_t, 16>& a, const std::array<std::uint8_t, 16>& b, unsigned bits) {
  for (unsigned i = 0; i < bits; ++i) {
    if (((a[i / 8] ^ b[i / 8]) >> (7 - i % 8) & 1) != 0) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("Clients: addresses, blocks and lists of them are taken", "[diag][client_filter]") {
  for (const char* list : {"", "1.2.3.4", "10.0.0.0/8", "::1", "2001:db8::/32", "1.2.3.4, 5.6.7.8 ,::1", "0.0.0.0/0", "::/0", "1.2.3.4/32",
                           "::ffff:127.0.0.1", "::ffff:10.0.0.0/104"}) {
    CAPTURE(list);
    auto refusal = check_client_list(list);
    CHECK((refusal ? refusal->what : "") == "");
  }
}

TEST_CASE("Clients: what is no address is refused, with the offset of the item", "[diag][client_filter]") {
  struct Bad {
    const char* list;
    std::size_t offset;
    const char* reason;
  };
  for (const Bad& bad : {Bad{"1.2.3", 0, "not an address"}, {"10.0.0.0/33", 0, "0 to 32"}, {"::1/129", 0, "0 to 128"}, {"1.2.3.4,", 8, "empty"},
                         {",1.2.3.4", 0, "empty"}, {"::1, localhost", 5, "not an address"}, {"1.2.3.4;5.6.7.8", 0, "not an address"},
                         {"10.1.2.3/8", 0, "10.0.0.0/8"}, {"::1,2001:db8::1/32", 4, "2001:db8::/32"}, {"10.0.0.0/", 0, "prefix"},
                         {"10.0.0.0/-1", 0, "prefix"}, {"10.0.0.0/8x", 0, "prefix"}, {"10.0.0.0/99999999999", 0, "prefix"},
                         {"1.2.3.4.5", 0, "not an address"}, {"256.1.1.1", 0, "not an address"}, {"fe80::1%lo", 0, "not an address"},
                         {"1.2.3.4:80", 0, "not an address"}, {"1.2.3.4 5.6.7.8", 0, "not an address"}}) {
    CAPTURE(bad.list);
    auto refusal = check_client_list(bad.list);
    REQUIRE(refusal);
    CHECK(refusal->offset == bad.offset);
    CHECK_THAT(refusal->what, Catch::Contains(bad.reason));
  }
}

TEST_CASE("Clients: an IPv4 address and its IPv6 spelling are equal", "[diag][client_filter]") {
  CleanDebug clean;
  RuntimeControl control("test_client");
  REQUIRE(set_base({Mode::kOnForClients, "test_client", "::ffff:127.0.0.1,10.0.0.0/8"}));
  CHECK(on_for(control, "127.0.0.1"));
  CHECK(on_for(control, "::ffff:127.0.0.1"));
  CHECK(on_for(control, "10.255.0.1"));
  CHECK_FALSE(on_for(control, "127.0.0.2"));
  CHECK_FALSE(on_for(control, "11.0.0.0"));
  CHECK_FALSE(on_for(control, "::127.0.0.1"));
  REQUIRE(set_base({Mode::kOnForClients, "test_client", "::/0"}));
  CHECK(on_for(control, "127.0.0.1"));
  REQUIRE(set_base({Mode::kOnForClients, "test_client", "0.0.0.0/0"}));
  CHECK(on_for(control, "127.0.0.1"));
  CHECK_FALSE(on_for(control, "::1"));
}

TEST_CASE("Clients: blocks match as comparing bit by bit does", "[diag][client_filter]") {
  CleanDebug clean;
  RuntimeControl control("test_client");
  std::mt19937 random(20261130);
  for (int round = 0; round < 300; ++round) {
    std::array<std::uint8_t, 16> network{}, client{};
    for (std::uint8_t& byte : network) byte = static_cast<std::uint8_t>(random());
    unsigned bits = random() % 129;
    for (unsigned i = bits; i < 128; ++i) network[i / 8] = static_cast<std::uint8_t>(network[i / 8] & ~(0x80u >> i % 8));
    client = network;
    unsigned flipped = random() % 128;
    client[flipped / 8] = static_cast<std::uint8_t>(client[flipped / 8] ^ 0x80u >> flipped % 8);
    char text[INET6_ADDRSTRLEN];
    inet_ntop(AF_INET6, network.data(), text, sizeof text);
    std::string list = std::string(text) + "/" + std::to_string(bits);
    CAPTURE(list, flipped);
    REQUIRE(set_base({Mode::kOnForClients, "test_client", list}));
    CHECK(on_for(control, network));
    CHECK(on_for(control, client) == same_prefix(network, client, bits));
  }
}

TEST_CASE("Clients: 1,024 addresses are taken, over base and leases together, and not one more", "[diag][client_filter]") {
  CleanDebug clean;
  auto list = [](int from, int count) {
    std::string text;
    for (int i = from; i < from + count; ++i) text += (text.empty() ? "10.0." : ",10.0.") + std::to_string(i / 256) + "." + std::to_string(i % 256);
    return text;
  };
  RuntimeControl control("test_client");
  CHECK_FALSE(check_client_list(list(0, 1024)));
  CHECK(check_client_list(list(0, 1025)));
  REQUIRE(set_base({Mode::kOnForClients, "test_client", list(0, 1000)}));
  REQUIRE(open_lease({"test_client", list(1000, 24), true}));
  CHECK(on_for(control, "10.0.3.255"));
  auto refused = open_lease({"test_client", "192.0.2.1", true});
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().what, Catch::Contains("1024"));
  CHECK_FALSE(on_for(control, "192.0.2.1"));
  REQUIRE(open_lease({"test_client", "192.0.2.1", false}));
  CHECK(on_for(control, "192.0.2.1"));
  CHECK_FALSE(on_for(control, "10.0.3.255"));
}

TEST_CASE("Clients: a client's verdict follows every change, for all threads that serve it", "[diag][client_filter]") {
  CleanDebug clean;
  RuntimeControl control("test_client");
  Client client{address("192.0.2.1")};
  Context context{.client = &client};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      Scope scope(&context);
      while (!stop.load()) (void)control.on();
    });
  }
  int wrong = 0;
  {
    Scope scope(&context);
    for (int i = 0; i < 2000; ++i) {
      bool listed = i % 2 == 0;
      if (!set_base({Mode::kOnForClients, "test_client", listed ? "192.0.2.0/24" : "198.51.100.0/24"})) ++wrong;
      if (control.on() != listed) ++wrong;
    }
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

}  // namespace telltale::diag
