// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the HTTP/2 sessions of one worker share, so that an idle connection holds next to nothing: the buffers that
// are in use only while one session works, without suspending, and streams kept for reuse.
//
// **Thread safety:** loop-bound.

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include <nghttp2/nghttp2.h>

#include "http2/memory_pool.h"
#include "http2/stream.h"

namespace telltale::http2 {

struct WorkerPart {
  static constexpr std::size_t kInBytes = 16 * 1024;    // received, and worked on, in one turn of a connection
  static constexpr std::size_t kOutBytes = 64 * 1024;   // packed before it is sent
  static constexpr std::size_t kFrameRoom = 20 * 1024;  // for the frame that passes kOutBytes
  static constexpr std::size_t kStreamsKept = 256;

  std::unique_ptr<Stream> take_stream() {
    if (streams.empty()) return std::make_unique<Stream>();
    std::unique_ptr<Stream> stream = std::move(streams.back());
    streams.pop_back();
    return stream;
  }
  void give_stream(std::unique_ptr<Stream> stream) {
    if (streams.size() < kStreamsKept) streams.push_back(std::move(stream));
  }

  MemoryPool memory;  // nghttp2's; the streams below may hold some of it
  std::array<char, kInBytes> in;
  std::array<char, kOutBytes + kFrameRoom> out;
  std::vector<nghttp2_nv> fields;  // of the head that is being submitted
  std::vector<std::unique_ptr<Stream>> streams;
};

}  // namespace telltale::http2
