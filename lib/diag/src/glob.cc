// SPDX-License-Identifier: Apache-2.0
// Greedy, with one place to come back to: the last '*'. An earlier one never has to be tried again, since
// what stands between two of them was found at the first place where it fits.
#include "glob.h"

#include <cstddef>

namespace telltale::diag {

bool glob_matches(std::string_view glob, std::string_view subject) noexcept {
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t g = 0, s = 0, star = kNone, star_subject = 0;
  while (s < subject.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      star_subject = s;
      continue;
    }
    if (g < glob.size()) {
      bool literal = glob[g] == '\\' && g + 1 < glob.size();
      char wanted = glob[literal ? g + 1 : g];
      if ((!literal && wanted == '?') || wanted == subject[s]) {
        g += literal ? 2 : 1;
        ++s;
        continue;
      }
    }
    if (star == kNone) return false;
    g = star + 1;
    s = ++star_subject;
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

bool file_glob_matches(std::string_view glob, std::string_view path) noexcept {
  if (glob.find('/') == std::string_view::npos) path = path.substr(path.rfind('/') + 1);
  return glob_matches(glob, path);
}

}  // namespace telltale::diag
