// SPDX-License-Identifier: Apache-2.0
#include "txn/cache_status.h"

#include <iterator>

#include <fmt/format.h>

namespace telltale::txn {

std::string cache_status(const CacheStatus& status) {
  std::string text = "telltale";
  auto out = std::back_inserter(text);
  // A collapsed request missed first; what it was answered from then is not its own hit.
  if (status.outcome == Lookup::kHit && !status.collapsed) {
    text += "; hit";
  } else {
    fmt::format_to(out, "; fwd={}", status.outcome == Lookup::kHit ? "miss" : outcome_token(status.outcome));
    if (status.origin_status != 0) fmt::format_to(out, "; fwd-status={}", status.origin_status);
    if (status.stored) text += "; stored";
    if (status.collapsed) text += "; collapsed";
  }
  if (status.used != nullptr) fmt::format_to(out, "; ttl={}", (status.used->lifetime - status.age).count());
  return text;
}

}  // namespace telltale::txn
