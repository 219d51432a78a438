// SPDX-License-Identifier: Apache-2.0
#pragma once
// Output: the backend thread that turns records into lines, and where the lines go.
//
// One thread drains every ring, in order of time, formats, escapes control bytes in one place, and hands
// each line to the sinks its level is routed to. Nothing else writes. A sink that is slow, full or dead
// holds up this thread only; rings then fill, and what does not fit is dropped, counted, and shown in the
// output where the gap is.
//
// Line: [2026-11-30T10:00:00.123456Z] [worker-0] DEBUG (http) <http1/session.cc:95 (on_request)> {c12 t345 header_note} text
//
// **Thread safety:** thread-safe.

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include <telltale/diag/entry.h>
#include <telltale/diag/export.h>
#include <telltale/diag/record.h>

namespace telltale::diag {

// Where lines can go. Called by the backend only, one call at a time; may block, must not throw.
// A sink that writes lines itself feeds itself; the library bounds that only by its rings.
// What takes a record's parts, not its line, is an EntrySink (entry.h).
class TELLTALE_EXPORT Sink {
 public:
  virtual ~Sink() = default;
  // Whole lines, each ended by '\n'. False: some were not taken; they are counted as lost.
  virtual bool write(std::string_view lines) noexcept = 0;
};

// One bit per sink a level goes to.
enum Route : std::uint16_t {
  kToStdout = 1,
  kToStderr = 2,
  kToLogFile = 4,
  kToExtra = 8,
  kToBinary = 16,
  kToJson = 32,
  kToSyslog = 64,
  kToJournald = 128,
};
using RouteBits = std::uint16_t;
// As operators say them; kToExtra has none.
struct RouteName {
  Route route;
  std::string_view name;
};
inline constexpr RouteName kRouteNames[] = {{kToStdout, "stdout"}, {kToStderr, "stderr"}, {kToLogFile, "text"},     {kToBinary, "binary"},
                                            {kToJson, "json"},     {kToSyslog, "syslog"}, {kToJournald, "journald"}};
using Routes = std::array<RouteBits, kLevels>;  // by Level
// Before anything is configured: all to stderr.
inline constexpr Routes kRoutesToStderr{kToStderr, kToStderr, kToStderr, kToStderr,
                                        kToStderr, kToStderr, kToStderr, kToStderr};

enum class ShowLocation : std::uint8_t { kNever = 0, kDebugLines = 1, kAllLines = 2 };

// When the log file is rolled (moved to a name with time and number, and begun anew), and what becomes of
// rolled files. 0 is never, or no limit. Regular files only: a log file that is a pipe, a device, a symbolic
// link, or stdout or stderr at the same time is not rolled, and one line says so.
struct RollSettings {
  std::uint64_t size_bytes = 0;      // before the file would grow beyond it
  std::chrono::seconds interval{0};  // when a multiple of it passes, in UTC; a file without entries is not rolled
  std::uint32_t min_count = 0;       // the newest rolled files, which age_max leaves
  std::chrono::seconds age_max{0};   // rolled files that were last written to longer ago are deleted
  std::uint64_t space_bytes_max = 0; // of all files of the log; the oldest rolled ones are deleted, never the live one
  bool compress = false;             // rolled files, with zstd, in a thread that runs when nothing else does
  bool operator==(const RollSettings&) const = default;
};

inline constexpr std::string_view kStdout = "stdout", kStderr = "stderr";

struct OutputConfig {
  Routes routes = kRoutesToStderr;
  ShowLocation show_location = ShowLocation::kDebugLines;
  std::string log_file;  // path of diags.log; empty = none. Appended to, created with mode 0600.
  // Path of the binary log, diags.blog: records unformatted, for `ttctl debug cat`. A regular file; empty = none.
  // One that was there before is rolled. What goes there alone is not formatted here.
  std::string binary_file;
  // Path of the JSON lines, diags.json, or one of kStdout and kStderr; empty = none.
  std::string json_file;
  std::string syslog_socket = "/dev/log";
  std::string journald_socket = "/run/systemd/journal/socket";
  // Where stderr is a stream to the journal (JOURNAL_STREAM says so and it is true) and journald is there, what is for
  // stderr goes to journald, with its fields. What else is written to stderr goes there as ever.
  bool stderr_to_journal = false;
  std::string identifier;  // whose records they are, for syslog and journald; empty: the program's name
  unsigned facility = 3;   // likewise; RFC 5424's number, 3 is daemons
  RollSettings roll;       // of all files
  RouteBits also = 0;      // outputs that no level leads to but leases may (LeaseRequest::to)
};

// Starts the backend if it is not running, and applies the configuration: lines written before the call
// go where the former one said, lines after it go by the new one. The first configuration of a process
// also takes the lines that have waited for it. Does not wait for sinks. Routes that lead to the same
// file are written once. A log file that is the present one is opened anew, under its name. Errors: the log file cannot be opened (path and errno text), a route leads to it
// and there is none, or a sink has blocked the backend for many changes; nothing is changed then.
TELLTALE_EXPORT tl::expected<void, std::string> configure_output(const OutputConfig& config);
// A sink of the embedding program's own (kToExtra); null = none. Replaces the former one, which may still
// be handed lines written before the call; it is released when they are out.
TELLTALE_EXPORT void set_extra_sink(std::shared_ptr<Sink> sink);
TELLTALE_EXPORT void set_extra_sink(std::shared_ptr<EntrySink> sink);
TELLTALE_EXPORT void set_extra_sink(std::nullptr_t);

// Capacity of rings made from now on: a power of two, 64 KiB to 16 MiB; other values are refused (false).
TELLTALE_EXPORT bool set_ring_bytes(std::size_t bytes) noexcept;
inline constexpr std::size_t kRingBytesDefault = 256 * 1024;
inline constexpr std::size_t kRingsMax = 64;  // alive at once; rings of ended threads are used again

// Names the calling thread in its lines; at most 15 bytes are kept.
TELLTALE_EXPORT void set_thread_name(std::string_view name) noexcept;

// All records published before the call are with their sinks when it returns true (or, where a sink
// refused them, are counted as lost); false: the deadline passed first, or the backend does not run and
// records wait. Wakes the backend. A sink that calls it gets false.
TELLTALE_EXPORT bool flush_output(std::chrono::milliseconds deadline) noexcept;
// All changes asked for before the call are in force when it returns true: what was to be closed is closed.
// What output_status() says of the sinks is then how they are now. False: the deadline passed first, or the
// backend does not run. A sink that calls it gets false.
TELLTALE_EXPORT bool settle_output(std::chrono::milliseconds deadline) noexcept;
// Drains what was published before the call, then ends the backend. Later records stay in the rings.
// False: the deadline passed, because a sink blocks; the backend ends once it can.
TELLTALE_EXPORT bool stop_output(std::chrono::milliseconds deadline) noexcept;

struct ThreadOutput {
  std::string thread;
  std::uint64_t written;  // records published
  std::uint64_t dropped;  // records that did not fit
};

// Records of a thread that did not fit, or lines of it that a sink did not take. Of ended threads all that did not
// fit are counted together.
struct DropState {
  std::string thread;
  std::string level, tag;  // the tag is empty where it is not known
  std::string reason;      // why it did not fit; of a sink its name
  std::uint64_t count;
};

// A file that is rolled.
struct FileState {
  std::string path;
  bool open = false;
  std::uint64_t bytes = 0;
  std::string not_rolled;   // why not; empty: it is, as far as the settings say
  std::uint64_t rolls = 0, roll_errors = 0, reopens = 0;  // since the process began
  std::uint64_t compressed = 0, compress_errors = 0, deleted = 0;
  bool compressing = false;
  std::uint64_t rolled_files = 0, rolled_bytes = 0;  // there are, when it was last looked
};
// One place lines go to.
struct SinkState {
  std::string name;        // "stderr", a path
  std::uint64_t lines = 0; // taken
  std::uint64_t lost = 0;  // lines not taken
  std::uint64_t errors = 0;  // writes not taken whole
  std::string last_error;  // of these; empty: there was none
  bool failing = false;    // the last write was one of them
  std::optional<FileState> file;
  std::vector<SinkCount> counts;  // of its own kind
};
struct OutputStatus {
  std::uint64_t records_written = 0;  // published, all threads, ended ones included
  std::uint64_t records_dropped = 0;  // that did not fit, likewise: written + dropped = sent
  std::uint64_t lines_written = 0;    // handed to sinks, those that tell of a loss included
  std::uint64_t lines_lost = 0;       // of these, not taken by a sink; counted per sink
  std::uint64_t sink_errors = 0;      // writes a sink did not take whole
  std::vector<ThreadOutput> threads;  // that have a ring now
  std::vector<DropState> drops;       // by thread, level, tag and reason: the sum is records_dropped
  std::vector<DropState> sink_losses; // by thread, level, tag and sink: the sum is that of `lost` of the sinks
  std::vector<SinkState> sinks;       // that are in use, or were; as of 0.2 s ago
};
TELLTALE_EXPORT OutputStatus output_status();

}  // namespace telltale::diag
