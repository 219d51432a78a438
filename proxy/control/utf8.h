// SPDX-License-Identifier: Apache-2.0
#pragma once
// UTF-8, as far as JSON needs it: JSON text is UTF-8, while paths, patterns and names are bytes.
//
// **Thread safety:** thread-safe.
// **Source:** RFC 3629, section 4.

#include <cstddef>
#include <string>
#include <string_view>

namespace telltale::control {

// Length of the well-formed sequence that `text` begins with, 1 to 4; 0: it is malformed, cut or empty.
[[nodiscard]] std::size_t utf8_sequence_bytes(std::string_view text) noexcept;

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

// Each byte that belongs to no well-formed sequence becomes U+FFFD.
[[nodiscard]] std::string to_utf8(std::string_view bytes);

}  // namespace telltale::control
