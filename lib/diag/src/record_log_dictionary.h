// SPDX-License-Identifier: Apache-2.0
#pragma once
// LogDictionary: what a record log has said so far of its process, sites, threads, plugins and clocks.
//
// Fed with frames, asked about records. A RecordLogReader has one of its own. A recorder's dictionary is read with
// take() alone; event() then tells of each record found in a ring:
//
//     LogDictionary dictionary;
//     for (std::string_view rest = bytes; take_frame(rest, frame) == FrameIs::kWhole;) dictionary.take(frame);
//     if (auto wrong = dictionary.event(record, bytes_left, "worker-0", event)) ...
//
// Trusts no byte: each text and number is checked against the frame or record it is in.
//
// **Thread safety:** thread-compatible.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "record_log.h"
#include "record_log_event.h"

namespace telltale::diag {

// A frame as it lies in a log: its header is plausible, its content is not looked at yet.
struct Frame {
  FrameHeader header{};
  std::string_view content;  // behind the header
};
enum class FrameIs : std::uint8_t {
  kWhole,
  kCut,  // more bytes are needed
  kBad,  // its header is none
};
// The frame at the beginning of `rest`, which is moved behind it if it is whole.
FrameIs take_frame(std::string_view& rest, Frame& frame) noexcept;

constexpr bool tells_an_event(FrameKind kind) noexcept {
  return kind == FrameKind::kRecord || kind == FrameKind::kLoss || kind == FrameKind::kNotice || kind == FrameKind::kStep;
}

inline constexpr std::size_t kLogSitesMax = 262'144, kLogPluginsMax = 65'536;
inline constexpr std::size_t kLogClocksMax = 1024;  // the newest are kept

class LogDictionary {
 public:
  // Takes in what the frame says, if it is of a kind that does (not a record, loss, notice or step).
  // Returns what is wrong with it; nothing of it is taken in then.
  std::optional<std::string> take(const Frame& frame);

  // Of a frame that is a record, loss, notice or step. Views of `event` live as long as the frame's bytes and
  // until the next take(). Returns what is wrong with it.
  std::optional<std::string> event(const Frame& frame, LogEvent& event) const;
  // Of a record as it lies in a ring, with at most `bytes` readable behind `record`, which is aligned to 8. Its time
  // of day is reckoned by clock(). Views live as long as those bytes, `thread`, and until the next take().
  std::optional<std::string> event(const char* record, std::size_t bytes, std::string_view thread, LogEvent& event) const;

  const std::optional<LogStart>& start() const noexcept { return start_; }
  std::int64_t wall_ns(std::uint64_t ticks) const noexcept;  // 0: no clock is known
  std::uint64_t process() const noexcept { return process_; }
  std::string_view thread(std::uint16_t number) const noexcept;  // empty: not announced
  std::uint32_t thread_id(std::uint16_t number) const noexcept;  // the kernel's; 0: not known

 private:
  struct Site {
    std::uint32_t line;
    std::string tag, format, file, function, module;
  };
  std::optional<std::string> take_start(std::string_view content);
  std::optional<std::string> take_site(std::string_view content);
  std::optional<std::string> describe(const char* record, std::size_t bytes, LogEvent& event) const;

  std::optional<LogStart> start_;
  std::uint64_t process_ = 0;
  ShowLocation show_location_ = ShowLocation::kDebugLines;
  std::unordered_map<std::uint32_t, Site> sites_;
  std::unordered_map<std::uint32_t, std::string> plugins_;
  struct Thread {
    std::string name;
    std::uint32_t kernel_id = 0;
  };
  std::unordered_map<std::uint16_t, Thread> threads_;
  std::deque<ClockContent> clocks_;
};

}  // namespace telltale::diag
