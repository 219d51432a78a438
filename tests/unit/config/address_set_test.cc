// SPDX-License-Identifier: Apache-2.0
#include "config/address_set.h"

#include <catch2/catch.hpp>

#include <random>

using namespace telltale::config;

namespace {

bool has(const std::string& set, const std::string& address) {
  return AddressSet::parse(set).value().contains(parse_address(address).value());
}

}  // namespace

TEST_CASE("AddressSet: holds the addresses it was given and no others", "[config][address_set]") {
  CHECK(has("127.0.0.2", "127.0.0.2"));
  CHECK_FALSE(has("127.0.0.2", "127.0.0.1"));
  CHECK(has(" 10.0.0.1 , ::1", "10.0.0.1"));
  CHECK(has("10.0.0.1,::1", "::1"));
  CHECK_FALSE(has("10.0.0.1,::1", "::2"));
}

TEST_CASE("AddressSet: the empty text holds nobody", "[config][address_set]") {
  CHECK(AddressSet::parse("").value().empty());
  CHECK(AddressSet::parse("  ").value().empty());
  CHECK_FALSE(has("", "127.0.0.1"));
}

TEST_CASE("AddressSet: an IPv4-mapped address is the IPv4 address", "[config][address_set]") {
  CHECK(has("127.0.0.2", "::ffff:127.0.0.2"));
  CHECK(has("::ffff:127.0.0.2", "127.0.0.2"));
  CHECK(has("::ffff:127.0.0.0/104", "127.9.9.9"));
  CHECK(mapped({127, 0, 0, 2}) == parse_address("127.0.0.2").value());
}

TEST_CASE("AddressSet: a prefix holds exactly what shares its bits", "[config][address_set]") {
  CHECK(has("10.0.0.0/8", "10.255.255.255"));
  CHECK_FALSE(has("10.0.0.0/8", "11.0.0.0"));
  CHECK(has("192.168.4.0/22", "192.168.7.255"));
  CHECK_FALSE(has("192.168.4.0/22", "192.168.8.0"));
  CHECK(has("10.0.0.1/32", "10.0.0.1"));
  CHECK_FALSE(has("10.0.0.1/32", "10.0.0.0"));
  CHECK(has("2001:db8::/33", "2001:db8:7fff::1"));
  CHECK_FALSE(has("2001:db8::/33", "2001:db8:8000::"));
}

TEST_CASE("AddressSet: the whole of one family holds nothing of the other", "[config][address_set]") {
  CHECK(has("0.0.0.0/0", "8.8.8.8"));
  CHECK_FALSE(has("0.0.0.0/0", "2001:db8::1"));
  CHECK(has("::/0", "2001:db8::1"));
  CHECK_FALSE(has("::/0", "8.8.8.8"));
}

TEST_CASE("AddressSet: prefixes agree with comparing bit by bit, on random addresses",
          "[config][address_set]") {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const int bits = static_cast<int>(random() % 33);
    const std::uint32_t network = bits == 0 ? 0 : random() & (~0u << (32 - bits));
    // Flip one bit, so that about as many addresses are in as out.
    const int flipped = static_cast<int>(random() % 32);
    const std::uint32_t address = network ^ (1u << (31 - flipped));
    const auto dotted = [](std::uint32_t a) {
      return std::to_string(a >> 24) + "." + std::to_string(a >> 16 & 255) + "." +
             std::to_string(a >> 8 & 255) + "." + std::to_string(a & 255);
    };
    INFO(dotted(network) << "/" << bits << " " << dotted(address));
    CHECK(has(dotted(network) + "/" + std::to_string(bits), dotted(address)) == (flipped >= bits));
  }
}

TEST_CASE("AddressSet: bad values are refused with a reason", "[config][address_set]") {
  const std::pair<std::string, std::string> rows[] = {
      {"localhost", "\"localhost\" is not a numeric address"},
      {"127.0.0", "\"127.0.0\" is not a numeric address"},
      {"127.0.0.256", "\"127.0.0.256\" is not a numeric address"},
      {"127.0.0.01", "\"127.0.0.01\" is not a numeric address"},
      {"[::1]", "\"[::1]\" is not a numeric address"},
      {"fe80::1%eth0", "\"fe80::1%eth0\" is not a numeric address"},
      {"127.0.0.1:80", "\"127.0.0.1:80\" is not a numeric address"},
      {"127.0.0.1 127.0.0.2", "\"127.0.0.1 127.0.0.2\" is not a numeric address"},
      {std::string("127.0.0.1\0x", 11), "\"127.0.0.1\\x00x\" is not a numeric address"},
      {",", "an empty address in the list"},
      {"127.0.0.1,", "an empty address in the list"},
      {"127.0.0.1,,::1", "an empty address in the list"},
      {"127.0.0.1/", "\"127.0.0.1/\" needs 0 to 32 bits after the slash"},
      {"127.0.0.1/33", "\"127.0.0.1/33\" needs 0 to 32 bits after the slash"},
      {"127.0.0.0/08", "\"127.0.0.0/08\" needs 0 to 32 bits after the slash"},
      {"127.0.0.0/-1", "\"127.0.0.0/-1\" needs 0 to 32 bits after the slash"},
      {"127.0.0.0/255.0.0.0", "\"127.0.0.0/255.0.0.0\" needs 0 to 32 bits after the slash"},
      {"::/129", "\"::/129\" needs 0 to 128 bits after the slash"},
      {"10.1.2.3/8", "\"10.1.2.3/8\" has bits set behind its first 8"},
      {"2001:db8::1/64", "\"2001:db8::1/64\" has bits set behind its first 64"},
  };
  for (const auto& [text, fault] : rows) {
    INFO(text);
    const auto set = AddressSet::parse(text);
    REQUIRE_FALSE(set);
    CHECK(set.error() == fault);
  }
}

TEST_CASE("AddressSet: 64 addresses are taken, 65 are not", "[config][address_set]") {
  std::string text = "10.0.0.1";
  for (int i = 2; i <= 64; ++i)
    text += ",10.0.0." + std::to_string(i);
  CHECK(AddressSet::parse(text));
  CHECK(AddressSet::parse(text + ",10.0.0.65").error() == "more than 64 addresses");
}
