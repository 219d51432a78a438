// SPDX-License-Identifier: Apache-2.0
// A plugin with TELLTALE_SITES: the core's debug family behind ts/ts.h.
#include <ts/ts.h>

namespace {
constexpr DbgCtl on_dbg{"flavour.on"};
constexpr DbgCtl other_dbg{"flavours_not"};
int evaluated = 0;
}  // namespace

extern "C" {
__attribute__((visibility("default"))) int run_dbg(bool other) {
  if (other) Dbg(other_dbg, "dbg {}", ++evaluated);
  else Dbg(on_dbg, "dbg {}", ++evaluated);
  return evaluated;
}
__attribute__((visibility("default"))) int run_specific_dbg(bool other, bool flag) {
  if (other) SpecificDbg(flag, other_dbg, "specific {}", ++evaluated);
  else SpecificDbg(flag, on_dbg, "specific {}", ++evaluated);
  return evaluated;
}
}
