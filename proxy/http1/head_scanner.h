// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the end of an HTTP/1 head in a buffer that grows, and refuses early what must never reach the
// parser: bare LF, folded lines, too many bytes or lines. Looks at each byte once, whatever the sizes of
// the reads. Used by the head parsers only, which then read the whole head in one piece and never resume.
// A request that arrives whole, as nearly all do, is read without it.
//
// **Thread safety:** thread-compatible.
// **Source:** RFC 9112 sections 2.2 and 5.2.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace telltale::http1 {

struct HeadLimits {
  std::size_t bytes_max = 32 * 1024;  // from the first byte of the start line to the empty line
  std::size_t fields_max = 100;
};

class HeadScanner {
 public:
  enum class Found : std::uint8_t { kNotYet, kHead, kBareLf, kFold, kEmptyLines, kTooManyBytes, kTooManyFields };

  // Empty lines before a request line that are skipped; one more is kEmptyLines.
  static constexpr unsigned kEmptyLinesMax = 4;

  explicit HeadScanner(HeadLimits limits) : limits_(limits) {}

  void reset() { start_ = line_ = scanned_ = lines_ = 0, empty_lines_ = 0; }
  void set_limits(HeadLimits limits) { limits_ = limits; }  // between heads
  const HeadLimits& limits() const { return limits_; }

  bool fresh() const { return scanned_ == 0; }  // has seen no byte of this head
  // The head begins at the buffer's first byte and ends here: found without scan().
  void set_end(std::size_t end) { scanned_ = end; }

  // `buffer` must begin with the bytes given before. After an error the scanner must be reset.
  Found scan(std::string_view buffer, bool skip_empty_lines);

  std::size_t start() const { return start_; }        // of the start line
  std::size_t end() const { return scanned_; }        // after the empty line, with kHead
  bool in_start_line() const { return lines_ == 0; }  // the start line has not ended yet
  std::size_t line() const { return line_; }          // where the line begins that is read next or is wrong

 private:
  HeadLimits limits_;
  std::size_t start_ = 0;
  std::size_t line_ = 0;
  std::size_t scanned_ = 0;
  std::size_t lines_ = 0;  // complete lines of the head
  unsigned empty_lines_ = 0;
};

}  // namespace telltale::http1
