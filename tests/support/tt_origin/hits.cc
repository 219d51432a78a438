// SPDX-License-Identifier: Apache-2.0
#include "hits.h"

#include <fmt/format.h>

namespace tt_origin {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

void Hits::count(const std::string& path) {
  const std::lock_guard lock(mutex_);
  ++total_;
  if (const auto it = paths_.find(path); it != paths_.end()) {
    ++it->second;
  } else if (paths_.size() < kPathsMax) {
    paths_.emplace(path, 1);
  } else {
    ++other_;
  }
}

std::string Hits::json() const {
  const std::lock_guard lock(mutex_);
  std::string out = fmt::format("{{\"total\": {}, \"paths\": {{", total_);
  const char* separator = "";
  for (const auto& [path, count] : paths_) {
    out += fmt::format("{}{}: {}", separator, quoted(path), count);
    separator = ", ";
  }
  return out + fmt::format("}}, \"other\": {}}}\n", other_);
}

}  // namespace tt_origin
