// SPDX-License-Identifier: Apache-2.0
//
// A state machine over bytes for the framing, because every byte of it has to be judged, and one view for the
// content between. Nothing is kept but numbers, so a message may be split anywhere; the test splits it everywhere.
#include "http1/chunk_decoder.h"

#include "http/token.h"

namespace telltale::http1 {

void ChunkDecoder::reset() {
  const ChunkLimits limits = limits_;
  *this = ChunkDecoder(limits);
}

bool ChunkDecoder::fail(std::string_view why) {
  error_ = why;
  step_ = Step::kFailed;
  return false;
}

bool ChunkDecoder::extension_byte(char c) {
  if (http::is_control(c)) return fail("a chunk extension holds a control byte");
  ++extension_bytes_;
  ++extension_total_;
  if (extension_bytes_ > limits_.extension_bytes_max || extension_total_ > limits_.extension_bytes_total_max) {
    return fail("the chunk extensions are too long");
  }
  return true;
}

bool ChunkDecoder::trailer_byte() {
  if (++trailer_bytes_ > limits_.trailer_bytes_max) return fail("the trailer section is too long");
  return true;
}

bool ChunkDecoder::step(char c) {
  switch (step_) {
    case Step::kSize: {
      const int digit = http::hex_value(c);
      if (digit >= 0) {
        if (++digits_ > kSizeDigitsMax) return fail("a chunk size has too many digits");
        remaining_ = remaining_ * 16 + static_cast<std::uint64_t>(digit);
        return true;
      }
      if (digits_ == 0) return fail("a chunk size is not a hexadecimal number");
      if (c == '\r') {
        step_ = Step::kSizeLf;
        return true;
      }
      if (c == ';') {
        step_ = Step::kExtension;
        return extension_byte(c);
      }
      if (http::is_ows(c)) {
        step_ = Step::kSizeSpace;
        return extension_byte(c);
      }
      return fail("a chunk size is not a hexadecimal number");
    }
    case Step::kSizeSpace:  // "bad white space" is allowed before an extension, and nowhere else
      if (c == ';') step_ = Step::kExtension;
      if (c != ';' && !http::is_ows(c)) return fail("a chunk size is not a hexadecimal number");
      return extension_byte(c);
    case Step::kExtension:
      if (c == '\r') {
        step_ = Step::kSizeLf;
        return true;
      }
      return extension_byte(c);
    case Step::kSizeLf:
      if (c != '\n') return fail("a chunk size line does not end in CR LF");
      step_ = remaining_ != 0 ? Step::kContent : Step::kTrailerStart;
      return true;
    case Step::kContentCr:
      if (c != '\r') return fail("a chunk is longer than its size");
      step_ = Step::kContentLf;
      return true;
    case Step::kContentLf:
      if (c != '\n') return fail("a chunk does not end in CR LF");
      step_ = Step::kSize;
      digits_ = 0;
      extension_bytes_ = 0;
      return true;
    case Step::kTrailerStart:
      if (c == '\r') {
        step_ = Step::kEndLf;
        return true;
      }
      step_ = Step::kTrailerName;
      if (!http::is_tchar(c)) return fail("a trailer field has no valid name");
      return trailer_byte();
    case Step::kTrailerName:
      if (c == ':') {
        step_ = Step::kTrailerValue;
      } else if (!http::is_tchar(c)) {
        return fail("a trailer field has no valid name");
      }
      return trailer_byte();
    case Step::kTrailerValue:
      if (c == '\r') {
        step_ = Step::kTrailerLf;
      } else if (http::is_control(c)) {
        return fail("a trailer field holds a control byte");
      }
      return trailer_byte();
    case Step::kTrailerLf:
      if (c != '\n') return fail("a trailer field does not end in CR LF");
      ++trailer_fields_;
      step_ = Step::kTrailerStart;
      return trailer_byte();
    case Step::kEndLf:
      if (c != '\n') return fail("the last chunk does not end in CR LF");
      step_ = Step::kEnd;
      return true;
    case Step::kContent:
    case Step::kEnd:
    case Step::kFailed:
      break;
  }
  return true;
}

ChunkDecoder::Result ChunkDecoder::decode(std::string_view in) {
  std::size_t at = 0;
  while (true) {
    if (step_ == Step::kEnd) return {State::kDone, at, {}};
    if (step_ == Step::kFailed) return {State::kBad, at, {}};
    if (at == in.size()) return {State::kNeedMore, at, {}};
    if (step_ == Step::kContent) {
      const std::size_t left = in.size() - at;
      const std::size_t size = remaining_ < left ? static_cast<std::size_t>(remaining_) : left;
      remaining_ -= size;
      content_bytes_ += size;
      if (remaining_ == 0) step_ = Step::kContentCr;
      const std::string_view content = in.substr(at, size);
      at += size;
      return {at == in.size() ? State::kNeedMore : State::kContent, at, content};
    }
    step(in[at++]);
  }
}

}  // namespace telltale::http1
