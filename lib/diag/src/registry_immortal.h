// SPDX-License-Identifier: Apache-2.0
#pragma once
// A static object that is there before the first constructor and after the last destructor.
//
// Constant-initialised, so no static constructor can come before it; never destroyed, so neither a
// static destructor, an atexit handler nor a detached thread can come after it.
//
//   constinit Immortal<Thing> thing;      // thing.value

namespace telltale::diag {

template <class T>
union Immortal {
  T value;
  constexpr Immortal() : value() {}
  constexpr ~Immortal() {}
};

}  // namespace telltale::diag
