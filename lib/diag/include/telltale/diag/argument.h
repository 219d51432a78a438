// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arguments: how a value becomes bytes of a record, unformatted.
//
// Integers, floats, bools, characters, pointers and strings are copied; the backend formats them. Any
// other type that fmt can format is formatted at the call, straight into the record, capped: the
// backend never calls into a module that may be gone. That is also where redaction happens: a type
// whose fmt::formatter masks secrets can only reach a record masked.
//
// An argument in a record: one Kind byte, then its payload (integers, double, pointer: 8 bytes; bool,
// char: 1; string: u32 stored bytes, u32 lost bytes, then the bytes, no terminator). A field() puts
// Kind::kField, one length byte and its name in front. A text of several lines (is_lines) is stored as
// Kind::kLines, else like a string. Native byte order.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>
#include <type_traits>

#include <fmt/core.h>

namespace telltale::diag {

enum class Kind : std::uint8_t { kSigned = 1, kUnsigned, kFloat, kBool, kChar, kPointer, kString, kField, kLines };

inline constexpr std::size_t kStringBytesMax = 1024;   // of one string argument; the rest is counted as lost
inline constexpr std::size_t kRecordBytesMax = 65536;  // of one whole record
inline constexpr std::size_t kFieldNameBytesMax = 64;

// The most bytes a type formatted at the call may take; specialise for header blocks and the like.
template <class T>
inline constexpr std::size_t eager_bytes_max = kStringBytesMax;

// True for a type that prints several lines with '\n' between them, as a dump of a header does, in which a '\n' is
// nothing else. As the only argument of "{}" it becomes so many whole lines of the text sinks, each with the record's
// time, tag and ids, written together; other sinks keep the record whole.
template <class T>
inline constexpr bool is_lines = false;

// A value of a type that is formatted at the call. Refers to the caller's object.
template <class T>
struct Eager {
  const T* value;
};

// A named value: text appends " name=value", structured sinks carry it as a field of its own.
template <class T>
struct FieldArgument {
  const char* name;  // static text, 1 to kFieldNameBytesMax bytes
  const T& value;
};
template <class T>
FieldArgument<T> field(const char* name, const T& value) {
  return {name, value};
}
template <class S>
struct StoredField {
  const char* name;
  S value;
};

template <class T>
inline constexpr bool is_field = false;
template <class T>
inline constexpr bool is_field<FieldArgument<T>> = true;

// What is stored for a T: one of long long, unsigned long long, double, bool, char, const void*,
// std::string_view, Eager<T>, StoredField<...>. A null C string is stored as "(null)".
template <class T>
[[gnu::always_inline]] inline auto stored(const T& v) {
  using D = std::decay_t<T>;
  if constexpr (is_field<D>) {
    return StoredField<decltype(stored(v.value))>{v.name, stored(v.value)};
  } else if constexpr (std::is_same_v<D, bool> || std::is_same_v<D, char>) {
    return v;
  } else if constexpr (std::is_integral_v<D>) {
    if constexpr (std::is_signed_v<D>) {
      return static_cast<long long>(v);
    } else {
      return static_cast<unsigned long long>(v);
    }
  } else if constexpr (std::is_floating_point_v<D>) {
    return static_cast<double>(v);
  } else if constexpr (std::is_same_v<D, std::nullptr_t>) {
    return static_cast<const void*>(nullptr);
  } else if constexpr (std::is_array_v<T> && (std::is_same_v<D, char*> || std::is_same_v<D, const char*>)) {
    return std::string_view(v, ::strnlen(v, sizeof v));
  } else if constexpr (std::is_same_v<D, char*> || std::is_same_v<D, const char*>) {
    return v != nullptr ? std::string_view(v) : std::string_view("(null)");
  } else if constexpr (std::is_convertible_v<const D&, std::string_view>) {
    return static_cast<std::string_view>(v);
  } else if constexpr (std::is_pointer_v<D>) {
    static_assert(std::is_void_v<std::remove_pointer_t<D>>, "cast a pointer to const void* to print its address");
    return static_cast<const void*>(v);
  } else {
    static_assert(fmt::is_formattable<D>::value, "this type needs an fmt::formatter to be printed");
    return Eager<D>{&v};
  }
}

namespace argument_detail {
// What the format string is checked against: the type the backend will format.
template <class S>
struct Formatted {
  using type = S;
};
template <class T>
struct Formatted<Eager<T>> {
  using type = std::string_view;
};

template <class... S>
struct List {};
template <class Done, class... Rest>
struct WithoutFields;
template <class... Done>
struct WithoutFields<List<Done...>> {
  using type = fmt::format_string<Done...>;
};
template <class... Done, class Head, class... Rest>
struct WithoutFields<List<Done...>, Head, Rest...> {
  static_assert(!is_field<Head> || (is_field<Rest> && ...), "field() arguments come last");
  using stored_type = decltype(stored(std::declval<const Head&>()));
  using type = typename std::conditional_t<
      is_field<Head>, WithoutFields<List<Done...>, Rest...>,
      WithoutFields<List<Done..., typename Formatted<stored_type>::type>, Rest...>>::type;
};

// `text` without the UTF-8 sequence at its end that its cut has torn, if one is. Out of line: it is rare,
// and inlined g++ 12 warns of bounds that the caller has checked.
[[gnu::noinline, gnu::cold]] inline std::size_t whole_sequences(std::string_view text) noexcept {
  for (std::size_t back = 1; back <= 4 && back <= text.size(); ++back) {
    auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    std::size_t wanted = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return wanted > back ? text.size() - back : text.size();
  }
  return text.size();
}
// Where to cut a string so that no UTF-8 sequence is torn; at most `most`.
inline std::size_t cut(std::string_view text, std::size_t most) noexcept {
  return text.size() <= most ? text.size() : whole_sequences(text.substr(0, most));
}

inline char* put_raw(char* at, const void* from, std::size_t bytes) noexcept {
  if (bytes != 0) std::memcpy(at, from, bytes);  // an empty string may have no address
  return at + bytes;
}
// A text, in words that overlap at its end: no call, so that who writes a record of such arguments makes none either.
inline char* put_bytes(char* at, const char* from, std::size_t bytes) noexcept {
  if (bytes >= 16) [[likely]] {
    for (std::size_t i = 0; i + 16 < bytes; i += 16) std::memcpy(at + i, from + i, 16);
    std::memcpy(at + bytes - 16, from + bytes - 16, 16);
  } else if (bytes >= 8) {
    std::memcpy(at, from, 8);
    std::memcpy(at + bytes - 8, from + bytes - 8, 8);
  } else if (bytes >= 4) {
    std::memcpy(at, from, 4);
    std::memcpy(at + bytes - 4, from + bytes - 4, 4);
  } else if (bytes != 0) {
    at[0] = from[0];
    at[bytes / 2] = from[bytes / 2];
    at[bytes - 1] = from[bytes - 1];
  }
  return at + bytes;
}
template <class T>
char* put_value(char* at, Kind kind, T value) noexcept {
  *at++ = static_cast<char>(kind);
  return put_raw(at, &value, sizeof value);
}
// The bytes are already at `at` + 9.
inline char* put_string_head(char* at, std::uint32_t kept, std::uint32_t lost) noexcept {
  *at++ = static_cast<char>(Kind::kString);
  at = put_raw(at, &kept, 4);
  return put_raw(at, &lost, 4);
}
inline constexpr std::size_t kStringHeadBytes = 9;
}  // namespace argument_detail

// A format checked at compile time against the arguments A, with field() arguments left out.
template <class... A>
using CheckedFormat = typename argument_detail::WithoutFields<argument_detail::List<>, std::decay_t<A>...>::type;

// Upper bound of the bytes put() writes.
inline std::size_t room(long long) { return 9; }
inline std::size_t room(unsigned long long) { return 9; }
inline std::size_t room(double) { return 9; }
inline std::size_t room(const void*) { return 9; }
inline std::size_t room(bool) { return 2; }
inline std::size_t room(char) { return 2; }
inline std::size_t room(std::string_view s) {
  return argument_detail::kStringHeadBytes + std::min(s.size(), kStringBytesMax);
}
template <class T>
std::size_t room(const Eager<T>&) {
  return argument_detail::kStringHeadBytes + eager_bytes_max<T>;
}
template <class S>
std::size_t room(const StoredField<S>& f) {
  return 2 + kFieldNameBytesMax + room(f.value);
}

// The most room() can be for an S.
template <class S>
inline constexpr std::size_t room_max = sizeof(long long) + 1;
template <>
inline constexpr std::size_t room_max<std::string_view> = argument_detail::kStringHeadBytes + kStringBytesMax;
template <class T>
inline constexpr std::size_t room_max<Eager<T>> = argument_detail::kStringHeadBytes + eager_bytes_max<T>;
template <class S>
inline constexpr std::size_t room_max<StoredField<S>> = 2 + kFieldNameBytesMax + room_max<S>;

// Writes one argument at `at`, returns the byte behind it.
inline char* put(char* at, long long v) { return argument_detail::put_value(at, Kind::kSigned, v); }
inline char* put(char* at, unsigned long long v) { return argument_detail::put_value(at, Kind::kUnsigned, v); }
inline char* put(char* at, double v) { return argument_detail::put_value(at, Kind::kFloat, v); }
inline char* put(char* at, const void* v) { return argument_detail::put_value(at, Kind::kPointer, v); }
inline char* put(char* at, bool v) { return argument_detail::put_value(at, Kind::kBool, v); }
inline char* put(char* at, char v) { return argument_detail::put_value(at, Kind::kChar, v); }
inline char* put(char* at, std::string_view s) {
  std::size_t kept = argument_detail::cut(s, kStringBytesMax);
  at = argument_detail::put_string_head(at, static_cast<std::uint32_t>(kept), static_cast<std::uint32_t>(s.size() - kept));
  return argument_detail::put_bytes(at, s.data(), kept);
}
// Cut like a string. A formatter that throws stores a text that says so: a debug line changes output only.
template <class T>
char* put(char* at, const Eager<T>& e) {
  char* text = at + argument_detail::kStringHeadBytes;
  std::size_t size, kept;
  try {
    size = fmt::format_to_n(text, eager_bytes_max<T>, "{}", *e.value).size;
    kept = size <= eager_bytes_max<T> ? size : argument_detail::whole_sequences({text, eager_bytes_max<T>});
  } catch (...) {
    constexpr std::string_view kThrew = "(its formatter threw)";
    static_assert(eager_bytes_max<T> >= kThrew.size());
    size = kept = kThrew.copy(text, kThrew.size());
  }
  argument_detail::put_string_head(at, static_cast<std::uint32_t>(kept), static_cast<std::uint32_t>(size - kept));
  if constexpr (is_lines<T>) *at = static_cast<char>(Kind::kLines);
  return text + kept;
}
template <class S>
char* put(char* at, const StoredField<S>& f) {
  std::size_t n = std::min(std::strlen(f.name), kFieldNameBytesMax);
  *at++ = static_cast<char>(Kind::kField);
  *at++ = static_cast<char>(n);
  return put(argument_detail::put_raw(at, f.name, n), f.value);
}

}  // namespace telltale::diag
