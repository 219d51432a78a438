// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bytes an HTTP/2 client sends first, and whether a connection begins with them. A clear port has no other way
// to tell the protocols apart: HTTP/1.1 has no request that begins like this.
//
// **Thread safety:** immutable.
// **Source:** RFC 9113 sections 3.3 and 3.4.

#include <cstdint>
#include <string_view>

namespace telltale::http {

inline constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

enum class Preface : std::uint8_t {
  kNo,     // HTTP/1.1, or nothing we know
  kPart,   // as far as it goes; also for no bytes at all
  kWhole,  // HTTP/2; more may follow
};

// `received`: everything that came on the connection. Cost: the first byte decides nearly always.
constexpr Preface match_preface(std::string_view received) {
  if (received.size() >= kHttp2Preface.size()) {
    return received.substr(0, kHttp2Preface.size()) == kHttp2Preface ? Preface::kWhole : Preface::kNo;
  }
  return kHttp2Preface.substr(0, received.size()) == received ? Preface::kPart : Preface::kNo;
}

}  // namespace telltale::http
