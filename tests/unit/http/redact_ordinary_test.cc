// SPDX-License-Identifier: Apache-2.0
//
// R14: what is not sensitive is printed byte for byte. 200 fields as browsers, proxies, CDNs and servers send them.
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <string_view>

#include "http/print.h"

using namespace telltale::http;

namespace {

constexpr std::string_view kOrdinary[] = {
#include "ordinary_fields.inc"
};

}  // namespace

TEST_CASE("Redact: R14 200 ordinary fields are printed byte for byte", "[http][redact][R14]") {
  std::set<std::string_view> different;
  Fields all;
  std::string expected;
  for (std::string_view line : kOrdinary) {
    const std::size_t colon = line.find(": ");
    REQUIRE(colon != std::string_view::npos);
    const std::string_view name = line.substr(0, colon);
    REQUIRE(is_token(name));
    const Field field{field_id(name), name, line.substr(colon + 2)};
    CHECK(fmt::format("{}", print_field(field)) == line);
    different.insert(line);
    all.add(field);
    if (!expected.empty()) expected += " | ";
    expected += line;
  }
  CHECK(different.size() >= 200);
  CHECK(fmt::format("{}", print_fields(all)) == expected);
}
