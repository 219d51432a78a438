// SPDX-License-Identifier: Apache-2.0
#include "control/default_path.h"

namespace telltale::control {

namespace {
std::string below(std::string_view folder, std::string_view name) {
  std::string path(folder.empty() ? std::string_view(".") : folder);
  if (path.back() != '/') path += '/';
  return path += name;
}
}  // namespace

std::string default_runtime_dir(std::string_view config_dir) { return below(config_dir, "var"); }
std::string default_control_path(std::string_view runtime_dir) { return below(runtime_dir, "control.sock"); }

}  // namespace telltale::control
