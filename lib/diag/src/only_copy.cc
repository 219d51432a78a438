// SPDX-License-Identifier: Apache-2.0
//
// One registry serves the program and every plugin, so the library may be in a process once. A plugin that
// was linked against a copy of its own (statically, or under another path) would have sites that follow no
// configuration, without a word. Its copy finds the first one here, says so, and ends the process: dlopen()
// has no way to fail by then, and plugins are loaded at start.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>

#include <telltale/diag/export.h>
#include <telltale/diag/level.h>

namespace {

const char this_copy = 0;

const char* file_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "?";
}

}  // namespace

// Where a copy lives. Found by name, so that this copy gets the first one's.
extern "C" TELLTALE_EXPORT const void* telltale_diag_copy() noexcept { return &this_copy; }

namespace {

__attribute__((constructor(101))) void refuse_second_copy() {
  auto first = reinterpret_cast<const void* (*)() noexcept>(dlsym(RTLD_DEFAULT, "telltale_diag_copy"));
  if (first == nullptr || first() == &this_copy) return;
  char text[1024];
  int size =
      std::snprintf(text, sizeof text,
                    "telltale: %s brings a second copy of libtelltale-diag into a process that has %s; link it against "
                    "the shared library\n",
                    file_of(&this_copy), file_of(first()));
  if (size > 0) [[maybe_unused]]
    auto written =
        ::write(2, text, size < static_cast<int>(sizeof text) ? static_cast<std::size_t>(size) : sizeof text - 1);
  ::_exit(telltale::diag::exit_status(telltale::diag::Level::kEmergency));
}

}  // namespace
