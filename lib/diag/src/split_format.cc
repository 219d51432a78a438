// SPDX-License-Identifier: Apache-2.0
// See split_format.h; tested in split_format_test.cc, against fmt.
//
// Escaping part by part gives what escaping the whole gives as long as no UTF-8 sequence reaches over a border. A
// format whose text is such a part is refused. Two strings that meet without text between them are looked at when
// they do.
#include "split_format.h"

#include <algorithm>
#include <exception>
#include <optional>

#include <fmt/format.h>

#include "argument_text.h"
#include "escape.h"
#include "format_argument.h"

namespace telltale::diag {

namespace {

// With it, all arguments once and all fields stay below kTextBytesMax, so nothing has to be cut.
constexpr std::size_t kFormatBytesMax = 64 * 1024;
constexpr std::size_t kSpecifiedBytesMax = 512;  // of one argument with a specification

bool continues(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

bool stands_alone(std::string_view text) noexcept {
  return text.empty() || (!continues(text.front()) && argument_detail::whole_sequences(text) == text.size());
}

// Null: fmt throws, or it takes too much room.
std::optional<std::string_view> specified(char* room, const std::string& specification, const Argument& a) {
  auto one = format_argument(a);
  try {
    auto end = fmt::vformat_to_n(room, kSpecifiedBytesMax, specification, fmt::format_args(&one, 1));
    if (end.size <= kSpecifiedBytesMax) return std::string_view(room, end.size);
  } catch (const std::exception&) {
  }
  return std::nullopt;
}

// Whether a UTF-8 sequence may reach from one value into the next.
class Border {
 public:
  // False: from the last value into this one.
  bool pass(std::string_view value) noexcept {
    if (value.empty()) return true;
    if (open_ && continues(value.front())) return false;
    open_ = static_cast<unsigned char>(value.back()) >= 0x80;
    return true;
  }
  // Of a value that is_plain() is not.
  bool pass(const Argument& a) noexcept {
    if (a.kind == Kind::kChar) return pass(std::string_view(&a.as_char, 1));
    if (a.kind == Kind::kLines) return false;  // not one line
    const bool good = pass(a.as_string);
    if (a.lost_bytes != 0) open_ = false;
    return good;
  }
  void close() noexcept { open_ = false; }

 private:
  bool open_ = false;
};

}  // namespace

SplitFormat::SplitFormat(std::string_view format) : usable_(split(format)) {
  if (!usable_) {
    pieces_.clear();
    texts_.clear();
  }
  fixed_bytes_ = texts_.size() + pieces_.size() * kPlainArgumentBytesMax + kCopySlack;
  texts_.append(kCopySlack, '\0');
}

// The text since the last field is at its end.
bool SplitFormat::end_text(std::string_view raw, std::uint32_t& at, std::uint32_t& bytes) {
  if (!stands_alone(raw)) return false;
  at = static_cast<std::uint32_t>(texts_.size());
  append_escaped(texts_, raw);
  bytes = static_cast<std::uint32_t>(texts_.size()) - at;
  return true;
}

bool SplitFormat::split(std::string_view format) {
  if (format.size() > kFormatBytesMax) return false;
  std::string raw;
  for (std::size_t i = 0; i < format.size(); ++i) {
    const char c = format[i];
    if (c != '{' && c != '}') {
      raw += c;
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == c) {
      raw += c;
      ++i;
      continue;
    }
    const std::size_t end = format.find_first_of("{}", i + 1);
    if (c == '}' || end == std::string_view::npos || format[end] == '{') return false;
    const std::string_view inside = format.substr(i + 1, end - i - 1);
    if (!inside.empty() && inside.front() != ':') return false;
    Piece piece{0, 0, inside.size() > 1 ? std::string(format.substr(i, end - i + 1)) : std::string()};
    if (!end_text(raw, piece.text_at, piece.text_bytes)) return false;
    pieces_.push_back(std::move(piece));
    raw.clear();
    i = end;
  }
  return end_text(raw, tail_at_, tail_bytes_);
}

bool SplitFormat::append(TextBuffer& out, RecordReader& arguments) const {
  const std::size_t begin = out.size();
  if (append_pieces(out, arguments) && (arguments.at_end() || append_rest(out, arguments))) return true;
  out.cut(begin);
  return false;
}

// Between strings, whose length nobody knows, there is always room for all that is not one.
bool SplitFormat::append_pieces(TextBuffer& out, RecordReader& arguments) const {
  Border border;
  Argument a;
  char* at = out.room(fixed_bytes_);
  for (const Piece& piece : pieces_) {
    if (!arguments.next(a) || !a.name.empty()) return false;
    at = put_in_steps(at, texts_.data() + piece.text_at, piece.text_bytes);
    if (piece.text_bytes != 0) border.close();
    if (piece.specification.empty() && is_plain(a.kind)) {
      border.close();
      at = put_plain_argument(at, a);
      continue;
    }
    out.end_at(at);
    if (piece.specification.empty()) {
      if (!border.pass(a)) return false;
      append_argument(out, a);
    } else {
      char room[kSpecifiedBytesMax];
      auto text = a.lost_bytes == 0 ? specified(room, piece.specification, a) : std::nullopt;
      if (!text || !border.pass(*text)) return false;
      append_escaped(out, *text);
    }
    at = out.room(fixed_bytes_);
  }
  out.end_at(put_in_steps(at, texts_.data() + tail_at_, tail_bytes_));
  return true;
}

// Fields; and what the format has no place for, which shows nowhere.
bool SplitFormat::append_rest(TextBuffer& out, RecordReader& arguments) const {
  bool named = false;
  for (Argument a; arguments.next(a);) {
    if (a.name.empty() && named) return false;
    if (a.name.empty()) continue;
    named = true;
    out += ' ';
    append_escaped(out, a.name);
    out += '=';
    append_argument(out, a);
  }
  return true;
}

}  // namespace telltale::diag
