// SPDX-License-Identifier: Apache-2.0
#pragma once
// RecordReader: the arguments of a record, one by one, as argument.h wrote them.
//
// Trusts no length: a record that ends inside an argument ends the walk, so bytes from a damaged or
// foreign buffer cannot be read past their end.
//
// **Thread safety:** thread-compatible. Views point into the record.

#include <cstdint>
#include <cstring>
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
  bool at_end() const noexcept { return left_ == 0; }
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

// Inline: the backend reads millions of arguments a second.

inline bool RecordReader::take(void* to, std::size_t bytes) noexcept {
  if (static_cast<std::size_t>(end_ - at_) < bytes) return false;
  std::memcpy(to, at_, bytes);
  at_ += bytes;
  return true;
}

inline bool RecordReader::take(std::string_view& text, std::size_t bytes) noexcept {
  if (static_cast<std::size_t>(end_ - at_) < bytes) return false;
  text = {at_, bytes};
  at_ += bytes;
  return true;
}

inline bool RecordReader::take_value(Kind kind, Argument& a) noexcept {
  a.kind = kind;
  switch (kind) {
    case Kind::kSigned: return take(&a.as_signed, sizeof a.as_signed);
    case Kind::kUnsigned: return take(&a.as_unsigned, sizeof a.as_unsigned);
    case Kind::kFloat: return take(&a.as_float, sizeof a.as_float);
    case Kind::kPointer: return take(&a.as_pointer, sizeof a.as_pointer);
    case Kind::kChar: return take(&a.as_char, 1);
    case Kind::kBool: {
      char byte;
      if (!take(&byte, 1)) return false;
      a.as_bool = byte != 0;
      return true;
    }
    case Kind::kString:
    case Kind::kLines: {
      std::uint32_t kept;
      return take(&kept, 4) && take(&a.lost_bytes, 4) && take(a.as_string, kept);
    }
    case Kind::kField: break;
  }
  return false;
}

inline bool RecordReader::next(Argument& argument) noexcept {
  argument = Argument{};
  std::uint8_t kind, name_bytes;
  if (left_ == 0 || !take(&kind, 1)) return false;
  if (static_cast<Kind>(kind) == Kind::kField &&
      !(take(&name_bytes, 1) && take(argument.name, name_bytes) && take(&kind, 1))) {
    left_ = 0;
    return false;
  }
  if (!take_value(static_cast<Kind>(kind), argument)) {
    left_ = 0;
    return false;
  }
  --left_;
  return true;
}

}  // namespace telltale::diag
