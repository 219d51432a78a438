// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names behind plugin_number() (record.h). Immortal; a plugin keeps its number when it is loaded again.
//
// **Thread safety:** thread-safe; takes a lock.

#include <cstdint>
#include <string>

namespace telltale::diag {

// Empty: no such number. Number 0 is the core, which has no name.
std::string plugin_name(std::uint32_t number);

void tell_plugins_to_recorder();

void lock_plugin_names() noexcept;  // around fork()
void unlock_plugin_names() noexcept;

}  // namespace telltale::diag
