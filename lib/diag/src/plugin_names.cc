// SPDX-License-Identifier: Apache-2.0
// See plugin_names.h.
#include "plugin_names.h"

#include <mutex>
#include <vector>

#include <telltale/diag/record.h>

#include "recorder_files.h"

namespace telltale::diag {

namespace {
struct Names {
  std::mutex mutex;
  std::vector<std::string> by_number;  // guarded by mutex; [0] is plugin 1
};
Names& names() {
  static Names* all = new Names;
  return *all;
}
}  // namespace

std::uint32_t plugin_number(std::string_view name) {
  Names& all = names();
  std::lock_guard lock(all.mutex);
  for (std::size_t i = 0; i < all.by_number.size(); ++i) {
    if (all.by_number[i] == name) return static_cast<std::uint32_t>(i + 1);
  }
  all.by_number.emplace_back(name);
  auto number = static_cast<std::uint32_t>(all.by_number.size());
  recorder_files().knows_plugin(number, name);
  return number;
}

void tell_plugins_to_recorder() {
  Names& all = names();
  std::lock_guard lock(all.mutex);
  for (std::size_t i = 0; i < all.by_number.size(); ++i) {
    recorder_files().knows_plugin(static_cast<std::uint32_t>(i + 1), all.by_number[i]);
  }
}

std::string plugin_name(std::uint32_t number) {
  Names& all = names();
  std::lock_guard lock(all.mutex);
  return number == 0 || number > all.by_number.size() ? std::string() : all.by_number[number - 1];
}

void lock_plugin_names() noexcept { names().mutex.lock(); }
void unlock_plugin_names() noexcept { names().mutex.unlock(); }

}  // namespace telltale::diag
