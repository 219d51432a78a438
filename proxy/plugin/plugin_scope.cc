// SPDX-License-Identifier: Apache-2.0
#include "plugin/plugin_scope.h"

#include <deque>
#include <mutex>

#include <telltale/diag/record.h>

namespace telltale::plugin {
namespace {

constinit thread_local const Plugin* tl_plugin = nullptr;

struct Plugins {
  std::mutex mutex;
  std::deque<Plugin> all;  // guarded by mutex
};
Plugins& plugins() {
  static Plugins* immortal = new Plugins;
  return *immortal;
}

diag::Context context_of(const Plugin* plugin) noexcept {
  diag::Context context = diag::current_context() != nullptr ? *diag::current_context() : diag::Context{};
  if (plugin != nullptr) context.plugin = plugin->number;
  return context;
}

}  // namespace

const Plugin& plugin_of(std::string_view name) {
  std::uint32_t number = diag::plugin_number(name);  // takes a lock of its own
  Plugins& known = plugins();
  std::lock_guard lock(known.mutex);
  for (const Plugin& plugin : known.all) {
    if (plugin.name == name) return plugin;
  }
  return known.all.emplace_back(Plugin{std::string(name), number});
}

const Plugin* current_plugin() noexcept { return tl_plugin; }

WorkingFor::WorkingFor(const Plugin* plugin) noexcept : former_(tl_plugin) {
  if (plugin != nullptr) tl_plugin = plugin;
}
WorkingFor::~WorkingFor() { tl_plugin = former_; }

PluginScope::PluginScope(const Plugin* plugin) noexcept
    : working_for_(plugin), context_(context_of(plugin)), scope_(&context_) {}

}  // namespace telltale::plugin
