// SPDX-License-Identifier: Apache-2.0
// See evict.h.
#include "evict.h"

#include <emmintrin.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace bench {

namespace {

struct Range {
  std::uintptr_t begin, end;
};

std::vector<Range> mappings() {
  std::vector<Range> all;
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return all;
  char line[512];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    Range r;
    char access[5];
    if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &r.begin, &r.end, access) != 3) continue;
    if (access[0] != 'r' || r.end - r.begin > (std::uintptr_t{64} << 20)) continue;
    if (std::strstr(line, "[v") != nullptr) continue;  // vdso, vvar, vsyscall
    all.push_back(r);
  }
  std::fclose(maps);
  return all;
}

}  // namespace

void evict_caches() {
  static const std::vector<Range> all = mappings();
  for (const Range& r : all) {
    for (std::uintptr_t at = r.begin; at < r.end; at += 64) _mm_clflush(reinterpret_cast<const void*>(at));
  }
  _mm_mfence();
}

}  // namespace bench
