// SPDX-License-Identifier: Apache-2.0
// The one thread-local of the library's scope; see scope.h.
#include <telltale/diag/scope.h>

namespace telltale::diag {

constinit thread_local const Context* tl_context = nullptr;

}  // namespace telltale::diag
