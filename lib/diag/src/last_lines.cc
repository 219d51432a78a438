// SPDX-License-Identifier: Apache-2.0
#include "last_lines.h"

#include <mutex>
#include <vector>

namespace telltale::diag {
namespace {

struct Lines {
  std::mutex mutex;
  std::vector<std::string> by_history;  // guarded by mutex; number - 1
};
Lines& lines() {
  static Lines* all = new Lines;
  return *all;
}

}  // namespace

void keep_last_line(std::uint32_t history, std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  Lines& all = lines();
  std::lock_guard guard(all.mutex);
  if (all.by_history.size() < history) all.by_history.resize(history);
  std::string& kept = all.by_history[history - 1];
  if (line.size() > kLastLineBytesMax) {
    // Not inside a UTF-8 sequence.
    std::size_t end = kLastLineBytesMax;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
    kept.assign(line.substr(0, end));
    kept += "...";
  } else {
    kept.assign(line);
  }
}

std::string last_line(std::uint32_t history) {
  Lines& all = lines();
  std::lock_guard guard(all.mutex);
  return history == 0 || history > all.by_history.size() ? std::string() : all.by_history[history - 1];
}

void lock_last_lines() noexcept { lines().mutex.lock(); }
void unlock_last_lines() noexcept { lines().mutex.unlock(); }

}  // namespace telltale::diag
