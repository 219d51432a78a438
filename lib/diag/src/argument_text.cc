// SPDX-License-Identifier: Apache-2.0
// See argument_text.h; tested in split_format_test.cc.
#include "argument_text.h"

#include <charconv>
#include <cstdint>

#include <fmt/compile.h>

#include "escape.h"

namespace telltale::diag {

namespace {

constexpr std::size_t kNumberBytesMax = 32;  // of an integer, an address, a double that is printed as it is

template <class Number>
void append_number(TextBuffer& out, Number number) {
  char* at = out.room(kNumberBytesMax);
  out.end_at(std::to_chars(at, at + kNumberBytesMax, number).ptr);
}

void append_address(TextBuffer& out, const void* address) {
  char* at = out.room(kNumberBytesMax);
  char* const end = at + kNumberBytesMax;
  *at++ = '0';
  *at++ = 'x';
  out.end_at(std::to_chars(at, end, reinterpret_cast<std::uintptr_t>(address), 16).ptr);
}

void append_lost(TextBuffer& out, std::uint32_t bytes) {
  out += "...[+";
  append_number(out, bytes);
  out += " bytes]";
}

}  // namespace

void append_argument(TextBuffer& out, const Argument& a) {
  switch (a.kind) {
    case Kind::kSigned: append_number(out, a.as_signed); return;
    case Kind::kUnsigned: append_number(out, a.as_unsigned); return;
    case Kind::kFloat: out.end_at(fmt::format_to(out.room(kNumberBytesMax), FMT_COMPILE("{}"), a.as_float)); return;
    case Kind::kBool: out += a.as_bool ? std::string_view("true") : std::string_view("false"); return;
    case Kind::kChar: append_escaped(out, std::string_view(&a.as_char, 1)); return;
    case Kind::kPointer: append_address(out, a.as_pointer); return;
    default: break;
  }
  append_escaped(out, a.as_string);
  if (a.lost_bytes != 0) append_lost(out, a.lost_bytes);
}

}  // namespace telltale::diag
