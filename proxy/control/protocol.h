// SPDX-License-Identifier: Apache-2.0
#pragma once
// What both ends of the control socket must agree on.
//
// **Thread safety:** immutable.
// **Source:** docs/control.md.

namespace telltale::control {

// Member "version" of every answer. A change that an old client would misread raises it.
inline constexpr int kProtocolVersion = 1;

}  // namespace telltale::control
