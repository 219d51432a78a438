// SPDX-License-Identifier: Apache-2.0
// See lines_file.h.
#include "lines_file.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "contender.h"

namespace bench {

namespace {

// Rolled files sort in the order of rolling; the live one comes last.
std::vector<std::string> files_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<std::string> found;
  for (const auto& file : fs::directory_iterator(fs::path(path).parent_path())) {
    if (file.path().string().starts_with(path + ".")) found.push_back(file.path());
  }
  std::sort(found.begin(), found.end());
  if (fs::exists(path)) found.push_back(path);
  return found;
}

std::string wrong(std::string_view what, const std::string& file, std::string_view line) {
  return std::string(what) + " in " + file + ": " + std::string(line);
}

}  // namespace

std::string check_lines(const std::string& path, int producers, int lines_each, int* files) {
  std::vector<int> next(static_cast<std::size_t>(producers), 0);
  std::string line;
  std::vector<std::string> names = files_of(path);
  *files = static_cast<int>(names.size());
  for (const std::string& name : names) {
    std::ifstream file(name);
    while (std::getline(file, line)) {
      constexpr std::string_view kBefore = "> req done id=";
      std::size_t at = line.find(kBefore);
      if (at == std::string::npos) return wrong("a line that is none of the producers'", name, line);
      int id = -1;
      const char* end = line.data() + line.size();
      auto [after, error] = std::from_chars(line.data() + at + kBefore.size(), end, id);
      std::string rest = " host=" + std::string(host(id)) + " took=";
      std::size_t producer = static_cast<std::size_t>(id >> kProducerShift);
      if (error != std::errc() || producer >= next.size() || !std::string_view(after, static_cast<std::size_t>(end - after)).starts_with(rest)) {
        return wrong("a line that is not whole", name, line);
      }
      if (int number = id & ((1 << kProducerShift) - 1); number != next[producer]++) {
        return wrong("line " + std::to_string(number) + " of producer " + std::to_string(producer) + " instead of " +
                         std::to_string(next[producer] - 1), name, line);
      }
    }
  }
  for (int lines : next) {
    if (lines != lines_each) return std::to_string(lines) + " lines of a producer instead of " + std::to_string(lines_each);
  }
  return {};
}

void remove_lines(const std::string& path) {
  for (const std::string& name : files_of(path)) std::filesystem::remove(name);
}

}  // namespace bench
