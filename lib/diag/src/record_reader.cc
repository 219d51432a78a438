// SPDX-License-Identifier: Apache-2.0
// See record_reader.h.
#include "record_reader.h"

#include <cstring>

namespace telltale::diag {

bool RecordReader::take(void* to, std::size_t bytes) noexcept {
  if (static_cast<std::size_t>(end_ - at_) < bytes) return false;
  std::memcpy(to, at_, bytes);
  at_ += bytes;
  return true;
}

bool RecordReader::take(std::string_view& text, std::size_t bytes) noexcept {
  if (static_cast<std::size_t>(end_ - at_) < bytes) return false;
  text = {at_, bytes};
  at_ += bytes;
  return true;
}

bool RecordReader::take_value(Kind kind, Argument& a) noexcept {
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
    case Kind::kString: {
      std::uint32_t kept;
      return take(&kept, 4) && take(&a.lost_bytes, 4) && take(a.as_string, kept);
    }
    case Kind::kField: break;
  }
  return false;
}

bool RecordReader::next(Argument& argument) noexcept {
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
