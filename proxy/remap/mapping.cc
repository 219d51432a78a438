// SPDX-License-Identifier: Apache-2.0
#include "remap/mapping.h"

namespace telltale::remap {
namespace {

// Where the target is empty, as in "http://host", its path is "/" (RFC 9110 section 4.2.3); where it
// begins with a query, that follows.
bool lacks_path(std::string_view target) { return target.empty() || target.front() == '?'; }

}  // namespace

bool Mapping::takes_path(std::string_view target) const {
  if (lacks_path(target)) return from.path == "/";
  if (!target.starts_with(from.path)) return false;
  if (from.path.back() == '/' || target.size() == from.path.size()) return true;
  const char next = target[from.path.size()];
  return next == '/' || next == '?';
}

Mapping::OriginTarget Mapping::origin_target(std::string_view target) const {
  std::string_view rest = lacks_path(target) ? target : target.substr(from.path.size());
  const bool slash_taken = from.path.back() == '/' && !lacks_path(target);  // the one that ended the rule's path
  if (slash_taken && to.path.back() != '/' && !lacks_path(rest)) return {to.path, "/", rest};
  if (!slash_taken && to.path.back() == '/' && rest.starts_with('/')) rest.remove_prefix(1);
  return {to.path, {}, rest};
}

}  // namespace telltale::remap
