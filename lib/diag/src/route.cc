// SPDX-License-Identifier: Apache-2.0
#include "route.h"

#include <telltale/diag/scope.h>

#include "registry.h"

namespace telltale::diag {

constinit thread_local std::uint32_t tl_route __attribute__((tls_model("initial-exec"))) = 0;

std::uint32_t route_again(const SourceBits& matches) noexcept {
  Decision wanted = registry().verdicts.decide(matches, Flavour::kControl, false, current_context());
  return wanted.print == 0 ? (wanted.record != 0 ? kForRecorder : 0) : registry().meters.route(wanted.print);
}

}  // namespace telltale::diag
