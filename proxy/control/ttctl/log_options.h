// SPDX-License-Identifier: Apache-2.0
#pragma once
// The options of commands that show records (debug cat, recorder dump): which of them, and how.
//
// **Thread safety:** thread-compatible.

#include <string>

#include <CLI/CLI.hpp>

#include "record_log_view.h"

namespace telltale::control {

class LogOptions {
 public:
  // Outlives the parse, which refuses what view() could not make anything of.
  void add_to(CLI::App& app);
  // After the parse. `json`: --json was given, which is an option of all of ttctl.
  [[nodiscard]] diag::LogView view(bool json) const;
  [[nodiscard]] CLI::Option* group() const { return group_option_; }

 private:
  std::string tags_, transaction_, level_, since_, until_, location_;
  bool group_ = false;
  CLI::Option* group_option_ = nullptr;
};

// What was lost while one transaction's lines are shown; empty: nothing.
[[nodiscard]] std::string lost_elsewhere_note(std::uint64_t lines);

}  // namespace telltale::control
