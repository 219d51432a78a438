// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lines whose format is printf's, as C code and plugins write them. They take the way of every other
// line: the arguments are copied, unformatted, into the calling thread's ring.
//
// The format becomes one of fmt's and is copied into the record, so it need not be a literal nor outlive
// the call. What fmt has no word for is formatted at the call: one directive (an integer's precision, %a, %#g,
// the flags ' and I) or, for wide characters, numbered arguments, more than kPrintfArgumentsMax of them or a
// very long format, the whole text. %s with a precision reads at most that many bytes and needs no NUL;
// a null string prints "(null)"; %m is errno's text. %n is refused, as is a directive nobody knows: the
// line then shows the format and reads no argument. One line end at the end of the format is dropped.
//
// **Thread safety:** thread-safe. **Source:** the printf page of POSIX.1-2017 and of glibc for %m, ' and I.

#include <cstdarg>
#include <cstddef>

#include <telltale/diag/export.h>
#include <telltale/diag/record.h>

namespace telltale::diag {

inline constexpr std::size_t kPrintfArgumentsMax = 20;
inline constexpr int kPrintfWidthMax = 1024;  // and precision, of anything but %s; wider ones are taken for this

// `origin.format` is printf's. A record is written even where no debug is on: ask first.
// Cost: one walk over the format; no lock, no allocation.
TELLTALE_EXPORT void write_printf(const Located& origin, std::va_list arguments) noexcept;

}  // namespace telltale::diag
