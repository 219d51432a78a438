// SPDX-License-Identifier: Apache-2.0
#pragma once
// RecordReader: the arguments of a record, one by one, as argument.h wrote them.
//
// Trusts no length: a record that ends inside an argument ends the walk, so bytes from a damaged or
// foreign buffer cannot be read past their end.
//
// **Thread safety:** thread-compatible. Views point into the record.

#include <cstdint>
#include <string_view>

#include <telltale/diag/argument.h>
#include <telltale/diag/record.h>

namespace telltale::diag {

struct Argument {
  Kind kind = Kind::kSigned;  // never kField
  std::string_view name;      // of a field(), else empty
  union {
    long long as_signed = 0;
    unsigned long long as_unsigned;
    double as_float;
    bool as_bool;
    char as_char;
    const void* as_pointer;
  };
  std::string_view as_string;
  std::uint32_t lost_bytes = 0;  // of the string, cut off when it was stored
};

class RecordReader {
 public:
  // `record`: the whole record, header included.
  RecordReader(const char* record, const RecordHeader& header) noexcept
      : at_(record + sizeof(RecordHeader)), end_(record + header.size_bytes), left_(header.argument_count) {}

  // False: no further argument.
  bool next(Argument& argument) noexcept;
  // Behind the arguments read so far.
  const char* position() const noexcept { return at_; }

 private:
  bool take(void* to, std::size_t bytes) noexcept;
  bool take(std::string_view& text, std::size_t bytes) noexcept;
  bool take_value(Kind kind, Argument& argument) noexcept;

  const char* at_;
  const char* end_;
  unsigned left_;
};

}  // namespace telltale::diag
