// SPDX-License-Identifier: Apache-2.0
// A plugin that cannot be used, in one of several ways.
#include <stdexcept>

#include <ts/ts.h>

#ifdef BAD_undefined_symbol
extern "C" void* TSTransformCreate(TSEventFunc, TSHttpTxn);  // Traffic Server's, not offered here
#endif

#ifdef BAD_throws_at_load
static const int thrown = [] {
  throw std::runtime_error("no licence");
  return 0;
}();
#endif

#ifndef BAD_no_init
void TSPluginInit(int, const char*[]) {
#ifdef BAD_throws_at_start
  throw std::runtime_error("no licence");
#endif
#ifdef BAD_undefined_symbol
  TSTransformCreate(nullptr, nullptr);
#endif
}
#endif
