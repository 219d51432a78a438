// SPDX-License-Identifier: Apache-2.0
// See record_log_reader.h; tested in record_log_damage_test.cc.
#include "record_log_reader.h"

#include <cstddef>
#include <cstring>

#include <fmt/format.h>

namespace telltale::diag {

void RecordLogReader::feed(std::string_view bytes) {
  buffer_.erase(0, at_);
  at_ = 0;
  if (!refused_) buffer_.append(bytes);
}

RecordLogReader::Got RecordLogReader::bad(std::uint64_t offset, std::string what) {
  error_ = {offset, std::move(what)};
  if (!dictionary_.start()) {
    refused_ = true;
    at_ = buffer_.size();
  }
  return Got::kBad;
}

// Moves to the next start frame of this file. False: it is not in what has been fed.
bool RecordLogReader::find_start() {
  constexpr std::size_t kIdAt = offsetof(StartContent, id);
  for (;;) {
    std::size_t magic = std::string_view(buffer_).find(std::string_view(kRecordLogMagic, sizeof kRecordLogMagic),
                                                       at_ + sizeof(FrameHeader));
    std::size_t behind = kIdAt + sizeof(LogId);
    if (magic == std::string::npos || buffer_.size() - magic < behind) {
      // Keep what may be the beginning of one.
      std::size_t keep = sizeof(FrameHeader) + behind;
      std::size_t to = magic != std::string::npos ? magic - sizeof(FrameHeader)
                       : buffer_.size() - at_ > keep ? buffer_.size() - keep
                                                     : at_;
      offset_ += to - at_;
      at_ = to;
      return false;
    }
    LogId id;
    std::memcpy(&id, buffer_.data() + magic + kIdAt, sizeof id);
    offset_ += magic - sizeof(FrameHeader) - at_;
    at_ = magic - sizeof(FrameHeader);
    if (id == dictionary_.start()->id) return true;
    ++offset_;
    ++at_;
  }
}

RecordLogReader::Got RecordLogReader::next_whole(const Frame& frame, std::uint64_t offset, LogEvent& event, bool& again) {
  bool event_frame = tells_an_event(frame.header.kind);
  std::optional<std::string> wrong = event_frame ? dictionary_.event(frame, event) : dictionary_.take(frame);
  again = !wrong && !event_frame;
  return wrong ? bad(offset, std::move(*wrong)) : Got::kEvent;
}

bool RecordLogReader::begin() {
  if (dictionary_.start()) return true;
  std::string_view rest = std::string_view(buffer_).substr(at_);
  Frame frame;
  if (take_frame(rest, frame) != FrameIs::kWhole || frame.header.kind != FrameKind::kStart || dictionary_.take(frame)) {
    return false;
  }
  at_ = buffer_.size() - rest.size();
  offset_ += frame.header.bytes;
  return true;
}

RecordLogReader::Got RecordLogReader::next(LogEvent& event) {
  if (refused_) return Got::kNeedsBytes;
  for (;;) {
    if (lost_ && !find_start()) return Got::kNeedsBytes;
    lost_ = false;
    std::string_view rest = std::string_view(buffer_).substr(at_);
    Frame frame;
    switch (take_frame(rest, frame)) {
      case FrameIs::kCut: return Got::kNeedsBytes;
      case FrameIs::kBad: {
        std::uint64_t offset = offset_++;
        ++at_;
        lost_ = true;
        return bad(offset, dictionary_.start() ? fmt::format("no frame ({} bytes, kind {}), expected a multiple of 8 up to {} and kind 1 to {}",
                                                             frame.header.bytes, static_cast<unsigned>(frame.header.kind),
                                                             kFrameBytesMax, static_cast<unsigned>(FrameKind::kShown))
                                               : std::string("no record log, expected a start frame"));
      }
      case FrameIs::kWhole: break;
    }
    std::uint64_t offset = offset_;
    at_ = buffer_.size() - rest.size();
    offset_ += frame.header.bytes;
    bool again;
    Got got = next_whole(frame, offset, event, again);
    if (!again) return got;
  }
}

}  // namespace telltale::diag
