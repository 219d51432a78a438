// SPDX-License-Identifier: Apache-2.0
#pragma once
// An argument of a record as fmt takes it.
//
// **Thread safety:** immutable. Of a string, the result is a view.

#include <fmt/format.h>

#include "record_reader.h"

namespace telltale::diag {

// fmt keeps values of the basic types in the argument itself; only strings must outlive the call.
template <class T>
fmt::basic_format_arg<fmt::format_context> format_value(const T& value) {
  return fmt::format_args(fmt::make_format_args(value)).get(0);
}

// Without what a string has lost.
inline fmt::basic_format_arg<fmt::format_context> format_argument(const Argument& a) {
  switch (a.kind) {
    case Kind::kSigned: return format_value(a.as_signed);
    case Kind::kUnsigned: return format_value(a.as_unsigned);
    case Kind::kFloat: return format_value(a.as_float);
    case Kind::kBool: return format_value(a.as_bool);
    case Kind::kChar: return format_value(a.as_char);
    case Kind::kPointer: return format_value(a.as_pointer);
    default: return format_value(a.as_string);
  }
}

}  // namespace telltale::diag
