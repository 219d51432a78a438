// SPDX-License-Identifier: Apache-2.0
#pragma once
// The flight recorder: the last records of every thread, readable after any death of the process.
//
// The rings of a process that asks for it lie in files of a directory on tmpfs, so what a thread has published
// is there whatever happens to the process in the next instruction. Beside them lie a dictionary of sites,
// plugins and clocks, so that the directory alone (also a copy on another host) is enough to print it:
// `ttctl recorder dump`. Records stay in a ring until newer ones overwrite them, written out or not.
//
// What set_recorder_tags() names is recorded without output: into a second ring of each thread, which
// nobody drains and whose oldest records give way to the newest, so none is ever refused for lack of room. A
// line that is on for output too goes there alone: its ring is in the directory as well.
//
//   directory of a process      FOLDER/current
//   of former ones, newest N    FOLDER/TIME-PID (when they started, UTC)
//
// **Thread safety:** thread-safe.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include <telltale/diag/export.h>
#include <telltale/diag/refusal.h>

namespace telltale::diag {

inline constexpr unsigned kRecorderKeepDefault = 3;
inline constexpr unsigned kRecorderKeepMost = 100;

struct RecorderConfig {
  std::string folder;                    // made, closed to others, where it is missing; should be on tmpfs
  unsigned keep = kRecorderKeepDefault;  // directories of former processes; older ones are removed
};

// Puts the rings of threads to come into files. Threads that have a ring already get another: the caller at
// once, others when they have written a block (4 KiB) more. To be called once a process; not for a forked
// child, whose rings are private until it calls this itself.
// Returns the directory. Errors: the folder cannot be used (whose it is, who uses it, errno's text), or
// the recorder is on already; rings then stay in private memory.
// A ring that finds no room later is private too; the backend writes a warning that says so.
TELLTALE_EXPORT tl::expected<std::string, std::string> configure_recorder(const RecorderConfig& config);

// The directory; empty: the recorder is off.
TELLTALE_EXPORT std::string recorder_directory();

struct RecorderState {
  std::string directory;             // empty: off
  std::size_t rings = 0;             // in files of the directory, those of ended threads included
  std::size_t recorder_rings = 0;    // of these, for what is recorded without output
  std::size_t private_rings = 0;     // that threads have in the process's own memory, where no other process finds them
  std::uint64_t bytes = 0;           // of the directory's files
  std::uint64_t records = 0;         // ever recorded without output
  std::uint64_t dropped = 0;         // that were to be: larger than a ring, or inside another
};
TELLTALE_EXPORT RecorderState recorder_state();

// Arms the sites, controls and string tags whose tag the pattern matches; empty: none. In force for every thread
// when the call returns. Without configure_recorder() too, but then only a core file has them.
// Errors: as set_base().
TELLTALE_EXPORT tl::expected<void, Refusal> set_recorder_tags(std::string_view tags);
TELLTALE_EXPORT std::string recorder_tags();

}  // namespace telltale::diag
