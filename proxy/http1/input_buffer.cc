// SPDX-License-Identifier: Apache-2.0
#include "http1/input_buffer.h"

#include <cstring>

namespace telltale::http1 {

std::span<char> InputBuffer::room() {
  if (!block_) {
    block_ = pool_.take();
    capacity_ = pool_.block_bytes();
  }
  if (begin_ == end_) {
    begin_ = end_ = pinned_;
  } else if (end_ == capacity_ && begin_ > pinned_) {
    std::memmove(block_.get() + pinned_, block_.get() + begin_, end_ - begin_);
    end_ -= begin_ - pinned_;
    begin_ = pinned_;
  }
  return {block_.get() + end_, capacity_ - end_};
}

void InputBuffer::unpin() {
  pinned_ = 0;
  if (begin_ < BlockPool::kContentRoom / 2 || begin_ == end_) return;
  std::memmove(block_.get(), block_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
}

}  // namespace telltale::http1
