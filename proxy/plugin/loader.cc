// SPDX-License-Identifier: Apache-2.0
#include "plugin/loader.h"

#include <cstring>
#include <memory>

#include <dlfcn.h>

#include <fmt/format.h>

#include <telltale/diag/dbg.h>
#include <telltale/diag/level.h>

#define TELLTALE_SITES  // the core's debug family, not the plugins'

#include "plugin/continuation.h"
#include "plugin/plugin_scope.h"
#include "ts/ts.h"

namespace telltale::plugin {
namespace {

constexpr DbgCtl plugin_dbg{"plugin"};

using config::Problem;

struct Loading {
  txn::HookTable& hooks;
  bool registered = false;
};
constinit thread_local Loading* tl_loading = nullptr;

std::string& folder() {
  static auto* immortal = new std::string;  // plugins keep pointers into it
  return *immortal;
}

Problem problem(const PluginLine& line, std::string what, std::string expected) {
  return {"plugin.config", line.line, 1, fmt::format("plugin {}: {}", line.name, what), std::move(expected)};
}

// The loader's sentence is "PATH: undefined symbol: TSFoo"; other causes are handed on as they are.
Problem load_problem(const PluginLine& line, std::string_view error) {
  constexpr std::string_view kUndefined = "undefined symbol: ";
  std::size_t at = error.find(kUndefined);
  if (at == std::string_view::npos) return problem(line, std::string(error), "a plugin built for this proxy");
  std::string_view symbol = error.substr(at + kUndefined.size());
  symbol = symbol.substr(0, symbol.find_first_of(" ,("));
  return problem(line, fmt::format("it needs {}, which is not offered", symbol), "a plugin that uses what ts/ts.h declares");
}

using Init = void (*)(int, const char**);

// What TSPluginInit() is called with. Plugins keep pointers into their arguments, so they stay.
struct Call {
  Init init;
  std::vector<std::string> words;
  std::vector<const char*> argv;
};

struct Open {
  const char* path;
  void* module = nullptr;
};

config::Problems load(const PluginLine& line, txn::HookTable& hooks) {
  PluginScope scope(&plugin_of(line.name));
  Dbg(plugin_dbg, "loading {}", line.path);
  Open open{line.path.c_str()};
  bool opened = contained(
      "a static initialiser",
      [](void* given) {
        Open& o = *static_cast<Open*>(given);
        o.module = dlopen(o.path, RTLD_NOW | RTLD_LOCAL);
      },
      &open);
  if (!opened) return {problem(line, "an exception came out of a static initialiser", "none")};
  void* const module = open.module;
  if (module == nullptr) return {load_problem(line, dlerror())};
  auto init = reinterpret_cast<Init>(dlsym(module, "TSPluginInit"));
  if (init == nullptr) return {problem(line, "it has no TSPluginInit", "void TSPluginInit(int argc, const char *argv[]) with C linkage")};

  auto* call = new Call{init, {line.path}, {}};
  call->words.insert(call->words.end(), line.arguments.begin(), line.arguments.end());
  for (const std::string& word : call->words) call->argv.push_back(word.c_str());
  call->argv.push_back(nullptr);
  Loading loading{hooks};
  tl_loading = &loading;
  bool done = contained(
      "TSPluginInit",
      [](void* given) {
        Call& c = *static_cast<Call*>(given);
        c.init(static_cast<int>(c.words.size()), c.argv.data());
      },
      call);
  tl_loading = nullptr;
  if (!done) return {problem(line, "an exception came out of TSPluginInit", "none")};
  if (!loading.registered) return {problem(line, "it did not call TSPluginRegister", "a plugin that says who it is")};
  diag::note("plugin {} loaded from {}", line.name, line.path);
  return {};
}

}  // namespace

config::Problems load_plugins(const std::vector<PluginLine>& lines, const std::filesystem::path& plugin_dir, txn::HookTable& hooks) {
  folder() = plugin_dir.string();
  for (const PluginLine& line : lines) {
    config::Problems problems = load(line, hooks);
    if (!problems.empty()) return problems;
  }
  return {};
}

txn::HookTable* hooks_being_loaded() noexcept { return tl_loading == nullptr ? nullptr : &tl_loading->hooks; }

}  // namespace telltale::plugin

using namespace telltale::plugin;
namespace diag = telltale::diag;

// At global scope: there they are what ts/ts.h declares, and exported.
extern "C" {

TSReturnCode TSPluginRegister(const TSPluginRegistrationInfo* info) {
  if (tl_loading == nullptr) {
    diag::error("TSPluginRegister: called by TSPluginInit() only");
    return TS_ERROR;
  }
  if (info == nullptr || info->plugin_name == nullptr || info->vendor_name == nullptr || info->support_email == nullptr) {
    diag::error("TSPluginRegister: plugin_name, vendor_name and support_email must be given");
    return TS_ERROR;
  }
  tl_loading->registered = true;
  Dbg(plugin_dbg, "registered as {} by {}, {}", info->plugin_name, info->vendor_name, info->support_email);
  return TS_SUCCESS;
}

const char* TSTrafficServerVersionGet() { return "Telltale/" TELLTALE_VERSION; }
const char* TSPluginDirGet() { return folder().c_str(); }

}  // extern "C"
