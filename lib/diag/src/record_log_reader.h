// SPDX-License-Identifier: Apache-2.0
#pragma once
// RecordLogReader: a record log's bytes in, events out. Bytes may come in pieces of any size, and later more.
//
//   next()     whole frames are there            none is                    damage
//              kEvent, or the next one is taken  kNeedsBytes: feed() more   kBad: error() says what and where
//
// Behind a bad frame whose length can be believed the next one is read; else the reader goes on at the next start
// frame that has the file's id. What does not begin with a start frame is refused for good.
//
// **Thread safety:** thread-compatible. Memory: the bytes fed and not read, at most a frame more; the dictionary.

#include <cstdint>
#include <string>
#include <string_view>

#include "record_log_dictionary.h"

namespace telltale::diag {

struct LogError {
  std::uint64_t offset = 0;  // of the frame, in all that was fed
  std::string what;
};

class RecordLogReader {
 public:
  enum class Got : std::uint8_t { kEvent, kNeedsBytes, kBad };

  void feed(std::string_view bytes);
  // Views of `event` are valid until the next feed() or next().
  Got next(LogEvent& event);
  // Takes the start frame, if that has not been done. False: it is not there whole, or is none; next() tells.
  bool begin();
  const LogError& error() const noexcept { return error_; }  // of the last kBad

  const LogDictionary& dictionary() const noexcept { return dictionary_; }
  // Bytes fed that no frame has been made of. Not 0 at the end of a file: its last frame is cut.
  std::size_t bytes_left() const noexcept { return buffer_.size() - at_; }
  std::uint64_t offset() const noexcept { return offset_; }  // of the next frame
  bool refused() const noexcept { return refused_; }

 private:
  Got bad(std::uint64_t offset, std::string what);
  Got next_whole(const Frame& frame, std::uint64_t offset, LogEvent& event, bool& again);
  bool find_start();

  std::string buffer_;
  std::size_t at_ = 0;
  std::uint64_t offset_ = 0;
  LogDictionary dictionary_;
  LogError error_;
  bool lost_ = false;     // looking for a start frame
  bool refused_ = false;
};

}  // namespace telltale::diag
