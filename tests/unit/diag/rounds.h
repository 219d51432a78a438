// SPDX-License-Identifier: Apache-2.0
#pragma once
// How often a test on random input goes round that has one thread, or is with another process: ThreadSanitizer sees
// nothing there, and makes each round ten times as long.

namespace telltale::diag {

constexpr int rounds(int n) {
#if defined(__SANITIZE_THREAD__)
  return n < 10 ? 1 : n / 10;
#else
  return n;
#endif
}

}  // namespace telltale::diag
