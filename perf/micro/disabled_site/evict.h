// SPDX-License-Identifier: Apache-2.0
#pragma once
// evict_caches(): takes everything this process can touch out of the processor's caches, code and data:
// each line of each mapping up to 64 MiB is flushed. A walk through a buffer larger than the last level
// would need longer and would leave that to the processor's mood.
//
// Cost: milliseconds. x86-64 only.

namespace bench {

void evict_caches();

}  // namespace bench
