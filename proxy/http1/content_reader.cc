// SPDX-License-Identifier: Apache-2.0
#include "http1/content_reader.h"

#include <algorithm>

#include "net/worker.h"

namespace telltale::http1 {

using http::Content;
using http::Framing;

void ContentReader::start(Framing framing) {
  framing_ = framing;
  remaining_ = framing.kind == Framing::kLength ? framing.length : 0;
  bytes_ = 0;
  handed_out_ = 0;
  why_ = {};
  chunks_.reset();
  bool none = framing.kind == Framing::kNone || (framing.kind == Framing::kLength && remaining_ == 0);
  state_ = none ? Content::kEnd : Content::kData;
}

Content ContentReader::end(Content::State state, std::string_view why) {
  state_ = state;
  why_ = why;
  return {state, why};
}

bool ContentReader::take(Content& out) {
  std::string_view data = input_.data();
  switch (framing_.kind) {
    case Framing::kNone:
      out = end(Content::kEnd);
      return true;
    case Framing::kLength:
      if (remaining_ == 0) {
        out = end(Content::kEnd);
        return true;
      }
      if (data.empty()) return false;
      out = {Content::kData, data.substr(0, std::min<std::uint64_t>(remaining_, data.size()))};
      remaining_ -= out.data.size();
      handed_out_ = out.data.size();
      break;
    case Framing::kUntilClose:
      if (data.empty()) return false;
      out = {Content::kData, data};
      handed_out_ = data.size();
      break;
    case Framing::kChunked: {
      ChunkDecoder::Result result = chunks_.decode(data);
      if (result.state == ChunkDecoder::State::kBad) {
        out = end(Content::kMalformed, chunks_.error());
        return true;
      }
      if (result.content.empty()) {
        input_.consume(result.consumed);
        if (result.state != ChunkDecoder::State::kDone) return false;
        out = end(Content::kEnd);
        return true;
      }
      out = {Content::kData, result.content};
      handed_out_ = result.consumed;
      break;
    }
  }
  bytes_ += out.data.size();
  return true;
}

net::Task<Content> ContentReader::next(std::chrono::seconds inactivity_max) {
  input_.consume(handed_out_);
  handed_out_ = 0;
  Content piece{state_, why_};
  if (state_ != Content::kData || take(piece)) co_return piece;

  for (;;) {
    stream_.set_deadline(stream_.worker().now() + inactivity_max);
    net::Wake wake = co_await stream_.readable();
    if (wake == net::Wake::kTimeout) co_return end(Content::kTimeout);
    if (wake == net::Wake::kShutdown) co_return end(Content::kShutdown);
    std::span<char> room = input_.room();
    if (room.empty()) co_return end(Content::kMalformed, "the head left no room for content");  // limits were changed
    net::Io io = stream_.recv(room);
    if (io.state == net::Io::kOk) {
      input_.commit(io.bytes);
      if (take(piece)) co_return piece;
    } else if (io.state == net::Io::kClosed && framing_.kind == Framing::kUntilClose) {
      co_return end(Content::kEnd);
    } else if (io.state == net::Io::kClosed || io.state == net::Io::kError) {
      co_return end(Content::kBroken);
    }
  }
}

}  // namespace telltale::http1
