// SPDX-License-Identifier: Apache-2.0
#pragma once
// For which plugin this thread is working: set while one is loaded, in its callbacks and in its threads.
//
// **Thread safety:** a scope belongs to its thread; a Plugin is immutable and never freed.

#include <cstdint>
#include <string>
#include <string_view>

#include <telltale/diag/scope.h>

namespace telltale::plugin {

struct Plugin {
  std::string name;      // "header_note"
  std::uint32_t number;  // of the diag library
};

// Same name, same plugin.
const Plugin& plugin_of(std::string_view name);

// Null: none that we know of.
const Plugin* current_plugin() noexcept;

// What is created is the plugin's; the thread's scope stays. Null changes nothing.
class WorkingFor {
 public:
  explicit WorkingFor(const Plugin* plugin) noexcept;
  ~WorkingFor();
  WorkingFor(const WorkingFor&) = delete;
  WorkingFor& operator=(const WorkingFor&) = delete;

 private:
  const Plugin* former_;
};

// The thread's lines carry the plugin's name too. Null changes nothing.
class PluginScope {
 public:
  explicit PluginScope(const Plugin* plugin) noexcept;

 private:
  WorkingFor working_for_;
  diag::Context context_;
  diag::Scope scope_;
};

}  // namespace telltale::plugin
