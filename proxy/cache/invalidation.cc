// SPDX-License-Identifier: Apache-2.0
#include "cache/invalidation.h"

#include <algorithm>

#include "http/token.h"

namespace telltale::cache {
namespace {

// RFC 3986, 5.2.4, for a path that begins with a slash.
std::string without_dot_segments(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/', 1), path.size());
    const std::string_view segment = path.substr(0, end);  // with its leading slash
    path.remove_prefix(end);
    if (segment == "/." || segment == "/..") {
      if (segment == "/..") out.resize(out.rfind('/') == std::string::npos ? 0 : out.rfind('/'));
      if (path.empty()) out.push_back('/');
    } else {
      out.append(segment);
    }
  }
  return out;
}

bool acceptable(char c) { return c > ' ' && c < 0x7f; }

}  // namespace

std::optional<ResolvedReference> resolve_reference(std::string_view reference, std::string_view base_target) {
  reference = reference.substr(0, reference.find('#'));
  if (!std::all_of(reference.begin(), reference.end(), acceptable)) return std::nullopt;
  ResolvedReference resolved;
  const std::size_t colon = reference.find(':');
  if (colon != std::string_view::npos && colon < reference.find_first_of("/?")) {
    if (!http::equal_nocase(reference.substr(0, colon), "http")) return std::nullopt;
    reference.remove_prefix(colon + 1);
    if (!reference.starts_with("//")) return std::nullopt;
  }
  if (reference.starts_with("//")) {
    const std::size_t end = std::min(reference.find_first_of("/?", 2), reference.size());
    if (!resolved.authority.parse(reference.substr(2, end - 2))) return std::nullopt;
    reference.remove_prefix(end);
    if (!reference.starts_with('/')) {
      resolved.target = "/";
      resolved.target.append(reference);
      return resolved;
    }
  }
  const std::string_view base_path = base_target.substr(0, base_target.find('?'));
  const std::size_t query = std::min(reference.find('?'), reference.size());
  if (reference.empty()) {
    resolved.target = base_target;
  } else if (query == 0) {
    resolved.target.append(base_path).append(reference);
  } else {
    std::string path;
    if (!reference.starts_with('/')) path.append(base_path.substr(0, base_path.rfind('/') + 1));
    path.append(reference.substr(0, query));
    if (!path.starts_with('/')) return std::nullopt;
    resolved.target = without_dot_segments(path);
    resolved.target.append(reference.substr(query));
  }
  return resolved;
}

}  // namespace telltale::cache
