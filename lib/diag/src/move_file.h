// SPDX-License-Identifier: Apache-2.0
#pragma once
// Renaming that never replaces what is there.
//
// **Thread safety:** pure functions on the file system.

#include <string>

namespace telltale::diag {

// 0, or an errno: EEXIST if `to` exists, whatever it is. Where the file system cannot do it in one step
// (NFS), a second name is made and the first one removed.
int move_to_free_name(const std::string& from, const std::string& to) noexcept;
bool exists(const std::string& path) noexcept;  // also a link to nowhere
std::string error_text(int error);              // of an errno

}  // namespace telltale::diag
