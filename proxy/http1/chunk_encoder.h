// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bytes around content in the chunked transfer coding. The caller sends header, content and kChunkEnd
// as three pieces of one write; content is never copied here.
//
// **Thread safety:** immutable.
// **Source:** RFC 9112 section 7.1.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace telltale::http1 {

inline constexpr std::size_t kChunkHeaderMax = 18;  // 16 digits, CRLF
inline constexpr std::string_view kChunkEnd = "\r\n";
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

// Writes the size line of a chunk of `size` bytes and returns it, a view of `out`.
// REQUIRES: size > 0, because a chunk of size 0 ends the content.
std::string_view chunk_header(std::uint64_t size, char (&out)[kChunkHeaderMax]);

}  // namespace telltale::http1
