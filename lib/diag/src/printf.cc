// SPDX-License-Identifier: Apache-2.0
//
// A printf format is walked once. Each directive becomes a replacement field of fmt's and one copied
// argument; text is copied with its braces doubled. Whatever cannot be said that way ends the walk, and the
// whole line is formatted by vsnprintf(), but only after a second walk has made sure that it holds no %n.
// Tested against vsnprintf() in printf_test.cc.
#include <telltale/diag/printf.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <variant>

#include <fmt/format.h>

namespace telltale::diag {
namespace {

using Value = std::variant<long long, unsigned long long, double, char, const void*, std::string_view>;

enum class Length : std::uint8_t { kNone, kChar, kShort, kLong, kLongLong, kMax, kSize, kDifference, kLongDouble };

struct Directive {
  bool left = false, plus = false, space = false, alternative = false, zero = false, exotic = false;
  bool numbered = false;
  bool width_argument = false, precision_argument = false;
  int width = 0;
  int precision = -1;
  Length length = Length::kNone;
  char conversion = 0;
};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

int number(const char*& at) {
  int n = 0;
  for (; is_digit(*at); ++at) n = std::min(n, INT_MAX / 10 - 1) * 10 + (*at - '0');
  return n;
}

// Reads what stands behind a '%'; leaves `at` behind the conversion.
Directive parse(const char*& at) {
  Directive d;
  // "1$": an argument named by its number.
  const char* ahead = at;
  if (number(ahead); ahead != at && *ahead == '$') {
    d.numbered = true;
    at = ahead + 1;
  }
  for (bool flags = true; flags;) {
    switch (*at) {
      case '-': d.left = true; break;
      case '+': d.plus = true; break;
      case ' ': d.space = true; break;
      case '#': d.alternative = true; break;
      case '0': d.zero = true; break;
      case '\'': case 'I': d.exotic = true; break;
      default: flags = false; continue;
    }
    ++at;
  }
  if (*at == '*') {
    d.width_argument = true;
    ++at;
    if (ahead = at; number(ahead), ahead != at && *ahead == '$') d.numbered = true, at = ahead + 1;
  } else {
    d.width = number(at);
  }
  if (*at == '.') {
    ++at;
    d.precision = 0;
    if (*at == '*') {
      d.precision_argument = true;
      ++at;
      if (ahead = at; number(ahead), ahead != at && *ahead == '$') d.numbered = true, at = ahead + 1;
    } else if (*at == '-') {
      ++at;
      number(at);
      d.precision = -1;
    } else {
      d.precision = number(at);
    }
  }
  auto longer = [&](char c, Length once, Length twice) {
    if (*at != c) return false;
    ++at;
    d.length = once;
    if (*at == c) ++at, d.length = twice;
    return true;
  };
  if (!longer('h', Length::kShort, Length::kChar) && !longer('l', Length::kLong, Length::kLongLong)) {
    switch (*at) {
      case 'j': d.length = Length::kMax; ++at; break;
      case 'z': case 'Z': d.length = Length::kSize; ++at; break;
      case 't': d.length = Length::kDifference; ++at; break;
      case 'q': d.length = Length::kLongLong; ++at; break;
      case 'L': d.length = Length::kLongDouble; ++at; break;
      default: break;
    }
  }
  d.conversion = *at;
  if (*at != '\0') ++at;
  return d;
}

// Why this format must not be given to vsnprintf(); empty: it may.
std::string_view why_refused(const char* format) {
  for (const char* at = format; (at = std::strchr(at, '%')) != nullptr;) {
    ++at;
    Directive d = parse(at);
    if (d.conversion == 'n') return "%n is refused";
    if (d.conversion == '\0') return "it ends inside a directive";
    if (std::strchr("diouxXeEfFgGaAcCsSpm%", d.conversion) == nullptr) return "an unknown directive";
  }
  return {};
}

// A copy of a va_list that can be handed on by reference.
struct Arguments {
  std::va_list list;
};

class Translation {
 public:
  // False: vsnprintf() has to do it.
  bool translate(const char* format, Arguments& from) {
    std::string_view text = format;
    if (text.ends_with('\n')) text.remove_suffix(1);
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at < end;) {
      if (*at == '%') {
        ++at;
        Directive d = parse(at);
        if (!take(d, from)) return false;
        continue;
      }
      const char* stop = at;
      while (stop < end && *stop != '%' && *stop != '{' && *stop != '}') ++stop;
      if (stop == at) {
        if (!say({at, 1}) || !say({at, 1})) return false;
        ++at;
      } else {
        if (!say({at, static_cast<std::size_t>(stop - at)})) return false;
        at = stop;
      }
    }
    return true;
  }

  std::string_view format() const { return {format_.data(), format_size_}; }
  std::size_t size() const { return count_; }
  const Value& operator[](std::size_t i) const { return values_[i]; }

 private:
  bool take(Directive& d, Arguments& from) {
    if (d.numbered) return false;
    if (d.conversion == '%') return say("%");
    if (d.width_argument) {
      int width = va_arg(from.list, int);
      d.left = d.left || width < 0;
      d.width = width < 0 ? -std::max(width, -INT_MAX) : width;
    }
    if (d.precision_argument) d.precision = va_arg(from.list, int);
    d.width = std::min(d.width, kPrintfWidthMax);
    if (d.conversion != 's') d.precision = std::clamp(d.precision, -1, kPrintfWidthMax);
    switch (d.conversion) {
      case 'd': case 'i': return integer(d, signed_value(d.length, from));
      case 'u': case 'x': case 'X': case 'o': return integer(d, unsigned_value(d.length, from));
      case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A': return real(d, from);
      case 'c':
        if (d.length != Length::kNone) return false;
        return field(d, "", static_cast<char>(va_arg(from.list, int)));
      case 's': return d.length == Length::kNone && string(d, va_arg(from.list, const char*));
      case 'p': return field(d, "", static_cast<const void*>(va_arg(from.list, void*)));
      case 'm': return string(d, ::strerror_r(errno, error_text_.data(), error_text_.size()));
      default: return false;
    }
  }

  static long long signed_value(Length length, Arguments& from) {
    switch (length) {
      case Length::kChar: return static_cast<signed char>(va_arg(from.list, int));
      case Length::kShort: return static_cast<short>(va_arg(from.list, int));
      case Length::kLong: return va_arg(from.list, long);
      case Length::kLongLong: case Length::kLongDouble: return va_arg(from.list, long long);
      case Length::kMax: return va_arg(from.list, std::intmax_t);
      case Length::kSize: case Length::kDifference: return va_arg(from.list, std::ptrdiff_t);
      default: return va_arg(from.list, int);
    }
  }
  static unsigned long long unsigned_value(Length length, Arguments& from) {
    switch (length) {
      case Length::kChar: return static_cast<unsigned char>(va_arg(from.list, int));
      case Length::kShort: return static_cast<unsigned short>(va_arg(from.list, int));
      case Length::kLong: return va_arg(from.list, unsigned long);
      case Length::kLongLong: case Length::kLongDouble: return va_arg(from.list, unsigned long long);
      case Length::kMax: return va_arg(from.list, std::uintmax_t);
      case Length::kSize: case Length::kDifference: return va_arg(from.list, std::size_t);
      default: return va_arg(from.list, unsigned);
    }
  }

  template <class Integer>
  bool integer(Directive& d, Integer value) {
    if (d.precision >= 0 || d.exotic) {
      char type[] = {'l', 'l', d.conversion, '\0'};
      return at_the_call(d, type, value);
    }
    if (value == 0) d.alternative = false;  // printf's "%#x" of 0 is "0"
    char type[] = {d.conversion, '\0'};
    if (d.conversion == 'i' || d.conversion == 'd' || d.conversion == 'u') type[0] = '\0', d.alternative = false;
    if constexpr (std::is_unsigned_v<Integer>) d.plus = d.space = false;
    return field(d, type, value);
  }

  bool real(Directive& d, Arguments& from) {
    double value = d.length == Length::kLongDouble ? static_cast<double>(va_arg(from.list, long double))
                                                   : va_arg(from.list, double);
    char type[] = {d.conversion, '\0'};
    if (d.exotic || d.alternative || d.conversion == 'a' || d.conversion == 'A') return at_the_call(d, type, value);
    return field(d, type, value);
  }

  bool string(Directive& d, const char* text) {
    std::string_view value = "(null)";
    if (text != nullptr) {
      value = d.precision < 0 ? std::string_view(text) : std::string_view(text, ::strnlen(text, static_cast<std::size_t>(d.precision)));
    }
    d.precision = -1;
    return field(d, "", value);
  }

  // One replacement field: "{:<+#08.3f}". Right is printf's default side.
  bool field(const Directive& d, std::string_view type, Value value) {
    constexpr bool kNumber = true;
    bool number = std::holds_alternative<long long>(value) || std::holds_alternative<unsigned long long>(value) ||
                  std::holds_alternative<double>(value);
    if (count_ == values_.size()) return false;
    char spec[48];
    char* at = spec;
    *at++ = '{';
    char* const colon = at++;
    if (d.width > 0) {
      if (d.left) *at++ = '<';
      else if (!(number == kNumber && d.zero)) *at++ = '>';
    }
    if (number) {
      if (d.plus) *at++ = '+';
      else if (d.space) *at++ = ' ';
      if (d.alternative) *at++ = '#';
      if (d.zero && !d.left && d.width > 0) *at++ = '0';
    }
    if (d.width > 0) at = fmt::format_to(at, "{}", d.width);
    if (d.precision >= 0 && std::holds_alternative<double>(value)) at = fmt::format_to(at, ".{}", d.precision);
    at = std::copy(type.begin(), type.end(), at);
    if (at == colon + 1) at = colon;
    else *colon = ':';
    *at++ = '}';
    values_[count_++] = value;
    return say({spec, static_cast<std::size_t>(at - spec)});
  }

  // One directive formatted by snprintf(); its text becomes a string argument.
  template <class Number>
  bool at_the_call(const Directive& d, const char* type, Number value) {
    char directive[32];
    char* at = directive;
    *at++ = '%';
    if (d.left) *at++ = '-';
    if (d.plus) *at++ = '+';
    if (d.space) *at++ = ' ';
    if (d.alternative) *at++ = '#';
    if (d.zero) *at++ = '0';
    if (d.exotic) *at++ = '\'';
    at = d.width > 0 ? fmt::format_to(at, "{}", d.width) : at;
    at = d.precision >= 0 ? fmt::format_to(at, ".{}", d.precision) : at;
    while (*type != '\0') *at++ = *type++;
    *at = '\0';
    std::size_t room = pieces_.size() - pieces_size_;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int size = std::snprintf(pieces_.data() + pieces_size_, room, directive, value);
#pragma GCC diagnostic pop
    if (size < 0 || static_cast<std::size_t>(size) >= room) return false;
    std::string_view text(pieces_.data() + pieces_size_, static_cast<std::size_t>(size));
    pieces_size_ += text.size();
    return field({}, "", text);
  }

  bool say(std::string_view text) {
    if (text.size() > format_.size() - format_size_) return false;
    std::memcpy(format_.data() + format_size_, text.data(), text.size());
    format_size_ += text.size();
    return true;
  }

  std::array<char, kStringBytesMax> format_;  // what a record can hold of it whole
  std::size_t format_size_ = 0;
  std::array<Value, kPrintfArgumentsMax> values_;
  std::size_t count_ = 0;
  std::array<char, 1536> pieces_;
  std::size_t pieces_size_ = 0;
  std::array<char, 128> error_text_;
};

std::size_t room_of(const Value& value) {
  return std::visit([](auto v) { return room(v); }, value);
}

void write_record(const Located& o, const Value* values, std::size_t count, std::string_view format) {
  std::string_view file = o.file, function = o.function;
  unsigned long long line = o.line;
  std::size_t bytes = room(o.tag) + room(file) + room(function) + room(format) + room(line);
  for (std::size_t i = 0; i < count; ++i) bytes += room_of(values[i]);
  char* at = begin_located(o.tag, o.level, bytes);
  if (at == nullptr) return;
  at = put(put(put(put(put(at, o.tag), file), function), format), line);
  for (std::size_t i = 0; i < count; ++i) at = std::visit([at](auto v) { return put(at, v); }, values[i]);
  end_record(at, static_cast<std::uint8_t>(5 + count));
}

}  // namespace

void write_printf(const Located& origin, std::va_list given) noexcept {
  int error = errno;  // for %m
  if (origin.format == nullptr) {
    Value null = std::string_view("(null)");
    return write_record(origin, &null, 1, "{}");
  }
  Translation translation;
  Arguments copy;
  va_copy(copy.list, given);
  bool translated = translation.translate(origin.format, copy);
  va_end(copy.list);
  if (translated) return write_record(origin, translation.size() == 0 ? nullptr : &translation[0], translation.size(), translation.format());

  std::string_view why = why_refused(origin.format);
  if (why.empty()) {
    char text[kStringBytesMax + 1];
    errno = error;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int size = std::vsnprintf(text, sizeof text, origin.format, given);
#pragma GCC diagnostic pop
    if (size >= 0) {
      // put() takes the first kStringBytesMax bytes and counts the rest by the size.
      std::string_view whole(text, static_cast<std::size_t>(size));
      if (whole.size() <= kStringBytesMax && whole.ends_with('\n')) whole.remove_suffix(1);
      Value value = whole;
      return write_record(origin, &value, 1, "{}");
    }
    why = "its arguments cannot be printed";
  }
  std::array<Value, 2> both{why, std::string_view(origin.format)};
  write_record(origin, both.data(), both.size(), "[bad format: {}] {}");
}

}  // namespace telltale::diag
