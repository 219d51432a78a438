// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads a message's content from a connection, as its framing says: of a request from a client, of a response
// from an origin. Pieces are views into the input buffer; nothing is copied.
//
// **Thread safety:** loop-bound. **Source:** RFC 9112, sections 6 and 7.

#include <chrono>
#include <cstdint>

#include "http/exchange.h"
#include "http/framing.h"
#include "http1/chunk_decoder.h"
#include "http1/input_buffer.h"
#include "net/stream.h"

namespace telltale::http1 {

class ContentReader {
 public:
  ContentReader(net::Stream& stream, InputBuffer& input) : stream_(stream), input_(input) {}

  // Begins a message whose head is pinned in the input buffer.
  void start(http::Framing framing);

  // The next piece. Waits for the peer at most `inactivity_max`, by the stream's deadline. After anything but
  // kData it says the same again. Cost: no system call while bytes are buffered.
  net::Task<http::Content> next(std::chrono::seconds inactivity_max);

  bool complete() const noexcept { return state_ == http::Content::kEnd; }
  // It ended otherwise: broken, late, malformed.
  bool failed() const noexcept { return state_ != http::Content::kEnd && state_ != http::Content::kData; }
  // Bytes are buffered: the next call will not wait.
  bool buffered() const noexcept { return !input_.empty() || state_ != http::Content::kData; }
  std::uint64_t bytes() const noexcept { return bytes_; }  // handed out so far

 private:
  bool take(http::Content& out);  // from the buffer; false: more is needed
  http::Content end(http::Content::State state, std::string_view why = {});

  net::Stream& stream_;
  InputBuffer& input_;
  http::Framing framing_;
  ChunkDecoder chunks_;
  std::uint64_t remaining_ = 0;
  std::uint64_t bytes_ = 0;
  std::size_t handed_out_ = 0;  // bytes of the input that the last piece refers to
  http::Content::State state_ = http::Content::kEnd;
  std::string_view why_;
};

}  // namespace telltale::http1
