// SPDX-License-Identifier: Apache-2.0
#include "http/preface.h"

#include <catch2/catch.hpp>
#include <string>

using namespace telltale::http;

TEST_CASE("match_preface: every beginning of the preface is a part of it, the preface and more is whole",
          "[http][preface]") {
  for (std::size_t n = 0; n < kHttp2Preface.size(); ++n)
    CHECK(match_preface(kHttp2Preface.substr(0, n)) == Preface::kPart);
  CHECK(match_preface(kHttp2Preface) == Preface::kWhole);
  CHECK(match_preface(std::string(kHttp2Preface) + "more") == Preface::kWhole);
}

TEST_CASE("match_preface: one other byte anywhere is no preface", "[http][preface]") {
  for (std::size_t at = 0; at < kHttp2Preface.size(); ++at) {
    std::string bytes(kHttp2Preface);
    bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
    CHECK(match_preface(bytes) == Preface::kNo);
    CHECK(match_preface(bytes.substr(0, at + 1)) == Preface::kNo);
  }
}
