// SPDX-License-Identifier: Apache-2.0
#pragma once
// CleanDebug: a test starts and ends with debug off and no lease. Debug lines in between are thrown away.
//
// **Thread safety:** thread-compatible; one at a time.

#include <chrono>
#include <string_view>

#include <telltale/diag/debug_control.h>
#include <telltale/diag/output.h>

namespace telltale::diag {

class CleanDebug {
 public:
  CleanDebug() {
    OutputConfig quiet;
    quiet.routes[static_cast<std::size_t>(Level::kDebug)] = 0;
    (void)configure_output(quiet);
    reset();
  }
  ~CleanDebug() {
    reset();
    flush_output(std::chrono::seconds(10));
    (void)configure_output({});
  }
  CleanDebug(const CleanDebug&) = delete;
  CleanDebug& operator=(const CleanDebug&) = delete;

 private:
  static void reset() {
    end_leases();
    (void)set_base({});
  }
};

// The state of one tag, all zero if there is none of that name.
inline TagState tag_state(std::string_view name) {
  for (TagState& state : tags()) {
    if (state.name == name) return state;
  }
  return {};
}

}  // namespace telltale::diag
