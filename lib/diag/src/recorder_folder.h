// SPDX-License-Identifier: Apache-2.0
#pragma once
// The folder above the recorder's directories: makes the one of this process, keeps the newest of former ones.
//
// A directory is a living process's while its dictionary is locked (flock(2), which the kernel drops with the
// process); such a one is never touched.
//
// **Thread safety:** thread-safe; processes that share a folder take turns by a lock on it.

#include <string>

#include <tl/expected.hpp>

#include <telltale/diag/recorder.h>

namespace telltale::diag {

inline constexpr const char* kRecorderCurrent = "current";
inline constexpr const char* kRecorderDictionary = "dictionary";
inline constexpr const char* kRecorderClocks = "clocks";
// A number for tags in the dictionary's site frames: sites have smaller ones. Only the tag is given there.
inline constexpr unsigned kRecorderTagNumbers = 0x4000'0000;

struct FreshDirectory {
  int directory_fd;   // the caller's, as is the next
  int dictionary_fd;  // empty, locked, appends
};
// Errors: a sentence that names the folder and what is wrong with it.
tl::expected<FreshDirectory, std::string> make_recorder_directory(const RecorderConfig& config);

}  // namespace telltale::diag
