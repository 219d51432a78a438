// SPDX-License-Identifier: Apache-2.0
#pragma once
// How often operator new was called on this thread. A source of its own replaces it: where a compiler can see into
// the replacement it warns of freeing what new returned.

#include <cstddef>

namespace telltale::http2::test {

std::size_t new_count();

}  // namespace telltale::http2::test
