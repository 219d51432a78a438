// SPDX-License-Identifier: Apache-2.0
// See contender.h.
#include <array>
#include <cstdio>

#include "contender.h"

namespace bench {

namespace {

struct Hosts {
  std::array<char[24], kHosts> text{};
  Hosts() {
    for (int i = 0; i < kHosts; ++i) std::snprintf(text[static_cast<std::size_t>(i)], 24, "host-%03d.example.com", i);
  }
};
const Hosts hosts;

}  // namespace

std::string_view host(int id) noexcept { return {hosts.text[static_cast<std::size_t>(id) % kHosts], 20}; }

}  // namespace bench
