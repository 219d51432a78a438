// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loads plugins: dlopen, then TSPluginInit(), in the plugin's scope, so that lines of its static initialisers carry
// its name and follow what is on.
//
// A plugin is never unloaded: threads of its own may run in it until the process ends.
//
// **Thread safety:** called on the main thread before workers run.

#include <string>
#include <vector>

#include "config/problem.h"
#include "plugin/plugin_config.h"
#include "txn/hooks.h"

namespace telltale::plugin {

// Stops at the first plugin that fails. Errors: it cannot be loaded (a function of the interface that is not offered
// is named), has no TSPluginInit(), did not register, or let an exception out.
config::Problems load_plugins(const std::vector<PluginLine>& lines, const std::filesystem::path& plugin_dir, txn::HookTable& hooks);

// Where TSHttpHookAdd() adds to; null: this thread is in no TSPluginInit().
txn::HookTable* hooks_being_loaded() noexcept;

}  // namespace telltale::plugin
