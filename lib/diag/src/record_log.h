// SPDX-License-Identifier: Apache-2.0
#pragma once
// The record log: records unformatted in a file that stands alone. The binary sink writes it, `ttctl debug cat`
// reads it; no process and no dictionary but its own is needed.
//
// It is a run of frames. A frame begins at a multiple of 8, has a FrameHeader, and is padded with zeros to a
// multiple of 8. Numbers are in the writer's byte order, which the start frame names; text is a u32 of bytes and
// then the bytes, without a terminator.
//
//   frame    `thread` of its header  content                                               texts behind it
//   start    0                       StartContent                                          boot id, host, program
//   site     0                       SiteContent                                           tag, format, file, function, module
//   thread   its number              u32 id of the kernel (0: unknown), u32 0              name
//   plugin   0                       u32 number, u32 0                                     name
//   clock    0                       ClockContent
//   record   who wrote it            i64 time of day in ns since 1970, then the record as it lay in the ring (record.h)
//   loss     0                       LossContent                                           thread, tag, detail
//   notice   0                       NoticeContent                                         thread, text
//   step     0                       StepContent
//   shown    0                       u32 ShowLocation, u32 0
//
// A start frame begins every file and everything anew: what was said of sites, threads, plugins and clocks before
// holds no longer. One that does not come first (a log that is opened again) repeats the file's id. That id is
// random, so a reader that met damage can look for the next start frame without being led to one that a client
// has sent as part of a text. A site, thread or plugin is announced before the first record that names it, and
// again when its name has changed; the last word counts. What follows the last whole frame is an end.
//
// The flight recorder's dictionary is such a run too, without records: a start frame, then sites, plugins,
// threads and clocks as they become known. Its rings hold records as they are, for which the dictionary, not a
// frame, gives the time of day: see LogDictionary (record_log_dictionary.h). What it appends: the append_*_frame()
// functions below; several processes' dictionaries are told apart by their start frames.
//
// RecordLogWriter appends to a buffer and announces by itself; RecordLogReader trusts no byte.
//
// **Thread safety:** immutable.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <telltale/diag/output.h>
#include <telltale/diag/record.h>

#include "ring_drops.h"

namespace telltale::diag {

enum class FrameKind : std::uint16_t { kStart = 1, kSite, kThread, kPlugin, kClock, kRecord, kLoss, kNotice, kStep, kShown };

struct FrameHeader {
  std::uint32_t bytes;  // of the frame with this header; a multiple of 8, at most kFrameBytesMax
  FrameKind kind;
  std::uint16_t thread;
};
static_assert(sizeof(FrameHeader) == 8);

inline constexpr char kRecordLogMagic[8] = {'T', 'e', 'l', 'l', 't', 'a', 'l', 'e'};
inline constexpr std::uint32_t kRecordLogVersion = 1;
inline constexpr std::uint32_t kRecordLogByteOrder = 0x01020304;
inline constexpr std::size_t kFrameBytesMax = 128 * 1024;

struct LogId {
  std::uint64_t words[2] = {};
  bool operator==(const LogId&) const = default;
};

struct StartContent {
  char magic[8];
  std::uint32_t version;
  std::uint32_t byte_order;
  LogId id;                      // the file's
  std::int64_t wall_ns;          // now
  std::int64_t began_wall_ns;    // the writing process: with pid and boot id, it is told from every other one
  std::uint32_t pid;
  std::uint32_t show_location;   // of lines: ShowLocation
};
struct SiteFrameContent {
  std::uint64_t id;      // SiteState::id (site_list.h)
  std::uint32_t number;  // RecordHeader::site
  std::uint32_t line;
};
// The clocks at one moment. A stamp's time of day is reckoned from the last of these that is not behind it.
struct ClockContent {
  std::uint64_t ticks;
  std::int64_t monotonic_ns;
  std::int64_t wall_ns;
  double ns_per_tick;
};
// Why lines are missing: DropReason, or a sink that did not take them.
inline constexpr std::uint8_t kLostBySink = 0xFF;
struct LossContent {
  std::int64_t wall_ns;
  std::uint64_t ticks;
  std::uint64_t count;
  Level level;
  std::uint8_t reason;      // DropReason or kLostBySink
  std::uint8_t other_tags;  // 1: of several tags and levels
  std::uint8_t reserved[5];
};
// A line of the library's own.
struct NoticeContent {
  std::int64_t wall_ns;
  std::uint64_t ticks;
  Level level;
  std::uint8_t reserved[7];
};
// The wall clock was stepped.
struct StepContent {
  std::int64_t wall_ns;
  std::uint64_t ticks;
  std::int64_t step_ns;
};

// The same, with what the texts say. Views are the caller's.
struct LogStart {
  LogId id;
  std::int64_t wall_ns = 0, began_wall_ns = 0;
  std::uint32_t pid = 0;
  ShowLocation show_location = ShowLocation::kDebugLines;
  std::string boot_id, host, program;
};
struct LogSite {
  std::uint64_t id = 0;
  std::uint32_t number = 0, line = 0;
  std::string_view tag, format, file, function, module;
};
struct LogLoss {
  std::int64_t wall_ns = 0;
  std::uint64_t ticks = 0, count = 0;
  Level level = Level::kDebug;
  std::uint8_t reason = 0;
  bool other_tags = false;
  std::string_view thread, tag;  // tag: empty: none known
  std::string_view detail;       // which sink, and its reason
};
struct LogNotice {
  std::int64_t wall_ns = 0;
  std::uint64_t ticks = 0;
  Level level = Level::kWarning;
  std::string_view thread, text;
};

LogId new_log_id();
// What the start frame says of this process, with a new id. `began_wall_ns`: first_sample().
LogStart log_start_of_this_process(std::int64_t began_wall_ns);

// Append one frame. Texts beyond what a frame may hold are cut.
void append_start_frame(std::string& out, const LogStart& start);
void append_site_frame(std::string& out, const LogSite& site);
void append_thread_frame(std::string& out, std::uint16_t number, std::uint32_t kernel_id, std::string_view name);
void append_plugin_frame(std::string& out, std::uint32_t number, std::string_view name);
void append_clock_frame(std::string& out, const ClockContent& clock);
// `record`: header.size_bytes bytes, as they lie in the ring.
void append_record_frame(std::string& out, std::uint16_t thread, const RecordHeader& header, const char* record,
                         std::int64_t wall_ns);
void append_loss_frame(std::string& out, const LogLoss& loss);
void append_notice_frame(std::string& out, const LogNotice& notice);
void append_step_frame(std::string& out, const StepContent& step);
void append_shown_frame(std::string& out, ShowLocation show);

inline constexpr std::size_t kRecordFrameHeadBytes = sizeof(FrameHeader) + sizeof(std::int64_t);
static_assert(kRecordBytesMax + kRecordFrameHeadBytes <= kFrameBytesMax);

}  // namespace telltale::diag
