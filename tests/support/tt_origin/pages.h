// SPDX-License-Identifier: Apache-2.0
#pragma once
// What tt-origin answers: a pure step from a request to a reply. Reading and sending are connection.h's.
//
// **Thread safety:** Pages is thread-safe; Reply is thread-compatible.
// **Source:** the paths are explained by the page "/" itself (kIndex in pages.cc).
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "hits.h"
#include "request.h"

namespace tt_origin {

struct Reply {
  unsigned status = 200;
  Pairs fields;  // without Date, Server and framing
  // The content is one of these three; content_bytes is its length.
  enum class Source { kText, kPattern, kFile } source = Source::kText;
  std::string text;
  std::filesystem::path file;
  std::uint64_t content_bytes = 0;
  bool chunked = false;
  std::chrono::milliseconds delay{0};
};

class Pages {
 public:
  // `files` is the folder below /files/; empty: there is none. Errors: throws when it is not a folder.
  explicit Pages(const std::filesystem::path& files);

  Reply answer(const Request& request);

 private:
  Reply page(const Request& request) const;
  Reply stored_file(std::string_view below_files) const;

  std::filesystem::path root_;  // canonical, constant after construction
  Hits hits_;
};

// Byte `offset` of the content of /bytes/N and /chunked/N: printable, with a period that is a prime, so
// that a block that is moved, doubled or lost shows.
inline constexpr unsigned kPatternPeriod = 89;
constexpr char pattern_byte(std::uint64_t offset) {
  return static_cast<char>(33 + offset % kPatternPeriod);
}

}  // namespace tt_origin
