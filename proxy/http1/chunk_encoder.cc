// SPDX-License-Identifier: Apache-2.0
#include "http1/chunk_encoder.h"

namespace telltale::http1 {

std::string_view chunk_header(std::uint64_t size, char (&out)[kChunkHeaderMax]) {
  std::size_t begin = kChunkHeaderMax - 2;
  out[begin] = '\r';
  out[begin + 1] = '\n';
  do {
    out[--begin] = "0123456789abcdef"[size & 15];
    size >>= 4;
  } while (size != 0);
  return {out + begin, kChunkHeaderMax - begin};
}

}  // namespace telltale::http1
