// SPDX-License-Identifier: Apache-2.0
#pragma once

// Takes the chunked transfer coding off, piece by piece and strictly: one to sixteen hexadecimal digits
// for a size, CRLF only, no control byte in an extension. Extensions and trailer fields are checked,
// counted and dropped; they are never forwarded. Content is not copied: pieces are views into the input.
//
// | decode() says | content            | then                                                        |
// |---------------|--------------------|-------------------------------------------------------------|
// | kNeedMore     | empty or a piece   | all input is used: read more                                |
// | kContent      | a piece            | decode() the rest                                           |
// | kDone         | empty              | what follows `consumed` belongs to the next message         |
// | kBad          | empty              | error() says why; close the connection                      |
//
// **Thread safety:** thread-compatible.
// **Source:** RFC 9112 section 7.1.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace telltale::http1 {

struct ChunkLimits {
  std::size_t extension_bytes_max = 1024;         // of one chunk
  std::size_t extension_bytes_total_max = 16384;  // of all chunks of a message
  std::size_t trailer_bytes_max = 8192;           // all trailer fields with their line ends
};

class ChunkDecoder {
 public:
  static constexpr unsigned kSizeDigitsMax = 16;

  enum class State : std::uint8_t { kNeedMore, kContent, kDone, kBad };

  struct Result {
    State state;
    std::size_t consumed;      // bytes of the input that are done with, `content` included
    std::string_view content;  // a view into the input
  };

  explicit ChunkDecoder(ChunkLimits limits = {}) : limits_(limits) {}

  void reset();

  // Decodes up to and including the next piece of content. After kDone or kBad it repeats itself and
  // consumes nothing until reset().
  [[nodiscard]] Result decode(std::string_view in);

  bool done() const { return step_ == Step::kEnd; }
  // After kBad: why, as a fixed sentence; else empty.
  std::string_view error() const { return error_; }
  std::uint64_t content_bytes() const { return content_bytes_; }
  std::size_t trailer_fields() const { return trailer_fields_; }  // dropped
  std::size_t extension_bytes() const { return extension_total_; }  // dropped

 private:
  enum class Step : std::uint8_t {
    kSize, kSizeSpace, kExtension, kSizeLf, kContent, kContentCr, kContentLf,
    kTrailerStart, kTrailerName, kTrailerValue, kTrailerLf, kEndLf, kEnd, kFailed
  };

  bool step(char c);  // one byte of framing; false: failed
  bool fail(std::string_view why);
  bool extension_byte(char c);
  bool trailer_byte();

  ChunkLimits limits_;
  Step step_ = Step::kSize;
  unsigned digits_ = 0;
  std::uint64_t remaining_ = 0;  // of the chunk: its size while that is read, then its bytes to come
  std::size_t extension_bytes_ = 0;
  std::size_t extension_total_ = 0;
  std::size_t trailer_bytes_ = 0;
  std::size_t trailer_fields_ = 0;
  std::uint64_t content_bytes_ = 0;
  std::string_view error_;
};

}  // namespace telltale::http1
