// SPDX-License-Identifier: Apache-2.0
// See contender.h.
#include <cstdio>

#include "contender.h"

namespace bench {

namespace {

using Hosts = std::array<char[kHostBytes + 1], kHosts>;

const Hosts& made() {
  static Hosts all;
  for (int i = 0; i < kHosts; ++i) std::snprintf(all[static_cast<std::size_t>(i)], kHostBytes + 1, "host-%03u.example.com", static_cast<unsigned>(i) % 1000);
  return all;
}

}  // namespace

const Hosts& hosts = made();

}  // namespace bench
