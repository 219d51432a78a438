// SPDX-License-Identifier: Apache-2.0
#pragma once
// RecordBytes: a record made by the encoders of argument.h, without a ring, for tests of what reads it.
//
// **Thread safety:** thread-compatible.

#include <cstring>
#include <string>
#include <vector>

#include <telltale/diag/argument.h>
#include <telltale/diag/record.h>

namespace telltale::diag {

class RecordBytes {
 public:
  // The arguments as a call would pass them, fields included.
  template <class... A>
  explicit RecordBytes(const A&... a) : bytes_(sizeof(RecordHeader)) {
    header_.size_bytes = sizeof(RecordHeader);
    (add(a), ...);
  }
  template <class A>
  void add(const A& a) {
    bytes_.resize(used_ + room(stored(a)) + 8);
    used_ = static_cast<std::size_t>(put(bytes_.data() + used_, stored(a)) - bytes_.data());
    ++header_.argument_count;
    header_.size_bytes = static_cast<std::uint32_t>((used_ + 7) & ~std::size_t{7});
    bytes_.resize(header_.size_bytes);
  }
  const char* data() const { return bytes_.data(); }
  RecordHeader& header() { return header_; }
  const RecordHeader& header() const { return header_; }
  std::size_t used_bytes() const { return used_; }  // without what rounds it up

 private:
  RecordHeader header_{};
  std::vector<char> bytes_;
  std::size_t used_ = sizeof(RecordHeader);
};

}  // namespace telltale::diag
