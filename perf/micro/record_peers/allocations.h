// SPDX-License-Identifier: Apache-2.0
#pragma once
// How often operator new served the calling thread. The program replaces it, for its shared libraries too.
#include <cstdint>

namespace bench {

std::uint64_t allocations_of_this_thread() noexcept;

}  // namespace bench
