// SPDX-License-Identifier: Apache-2.0
// See argument_text.h; tested in split_format_test.cc, against fmt.
#include "argument_text.h"

#include <charconv>
#include <cstdint>

#include "double_text.h"
#include "escape.h"

namespace telltale::diag {

namespace {

template <class Number>
char* put_number(char* at, Number number, int base = 10) noexcept {
  return std::to_chars(at, at + kPlainArgumentBytesMax - 2, number, base).ptr;
}

char* put_text(char* at, std::string_view text) noexcept { return at + text.copy(at, text.size()); }

}  // namespace

char* put_plain_argument(char* at, const Argument& a) noexcept {
  switch (a.kind) {
    case Kind::kSigned: return put_number(at, a.as_signed);
    case Kind::kUnsigned: return put_number(at, a.as_unsigned);
    case Kind::kFloat: return put_double(at, a.as_float);
    case Kind::kBool: return put_text(at, a.as_bool ? "true" : "false");
    default: return put_number(put_text(at, "0x"), reinterpret_cast<std::uintptr_t>(a.as_pointer), 16);
  }
}

void append_argument(TextBuffer& out, const Argument& a) {
  if (a.kind == Kind::kString || a.kind == Kind::kLines) {
    append_escaped(out, a.as_string);
    if (a.lost_bytes == 0) return;
    char* at = out.room(kPlainArgumentBytesMax + 16);
    out.end_at(put_text(put_number(put_text(at, "...[+"), a.lost_bytes), " bytes]"));
  } else if (a.kind == Kind::kChar) {
    append_escaped(out, std::string_view(&a.as_char, 1));
  } else {
    out.end_at(put_plain_argument(out.room(kPlainArgumentBytesMax), a));
  }
}

}  // namespace telltale::diag
