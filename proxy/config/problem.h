// SPDX-License-Identifier: Apache-2.0
//
// One error value for every configuration file and for every value an operator hands in: where it is,
// what is wrong, what was expected. It is made for people, carries no error code, and is collected, so
// that one run names everything that is wrong. Used by config/, remap/, the command line and control.
//
// **Thread safety:** thread-compatible.
// **Source:** the file:line:column form of the GNU coding standards, so that editors can jump to it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace telltale::config {

struct Problem {
  std::string file;      // as the operator knows it: "records.yaml", "--set"; empty = the value alone
  int line = 0;          // from 1; 0 = none
  int column = 0;        // from 1, in bytes; 0 = none
  std::string what;      // "proxy.config.x.y: \"abc\" is not an integer"
  std::string expected;  // "seconds, 1 to 3600"; may be empty
};

using Problems = std::vector<Problem>;

// One line without a line end: `records.yaml:12:5: WHAT; expected EXPECTED`, parts that are empty left out.
std::string to_string(const Problem& problem);

// `text` in double quotes, fit for a message: control bytes and quotes escaped, cut after
// kQuotedBytesMax bytes with "..." after the closing quote.
std::string quote(std::string_view text);
inline constexpr std::size_t kQuotedBytesMax = 80;

// Collects what is wrong with one file, up to kProblemsMax; what comes after is counted.
class ProblemList {
 public:
  static constexpr std::size_t kProblemsMax = 100;

  explicit ProblemList(std::string file) : file_(std::move(file)) {}

  // Adds a problem of this list's file.
  void add(int line, int column, std::string what, std::string expected = {});

  bool empty() const { return problems_.empty(); }
  const std::string& file() const { return file_; }

  // In order of line and column; the last one says how many are not shown, if any.
  Problems take();

 private:
  std::string file_;
  Problems problems_;
  std::size_t not_shown_ = 0;
};

}  // namespace telltale::config
