// SPDX-License-Identifier: Apache-2.0
//
// A request is mostly field values, and a value ends at its first control byte; so values are searched eight bytes
// at a time with integer arithmetic, which every processor has. Names and the target are short and need a table
// look-up per byte, four between two looks at the end. Nothing is looked at twice but a name, for its number.
#include "http1/request_head_reader.h"

#include <array>
#include <bit>
#include <cstring>

#include "http/framing.h"
#include "http/token.h"

namespace telltale::http1 {
namespace {

using http::FieldId;

constexpr std::uint64_t bytes_of(unsigned char c) { return 0x0101010101010101U * c; }
constexpr std::uint64_t kHighBits = bytes_of(0x80);

// The first byte in [p, end) that no value may hold, or end.
const char* find_control(const char* p, const char* end) {
  if constexpr (std::endian::native == std::endian::little) {
    while (end - p >= 8) {
      std::uint64_t word;
      std::memcpy(&word, p, sizeof word);
      // A byte's high bit is set where the byte is below 0x20, or is 0x7F. A borrow can set one too, but only above
      // one that is right, and the lowest is what counts.
      const std::uint64_t no_del = word ^ bytes_of(0x7f);
      const std::uint64_t found =
          (((word - bytes_of(0x20)) & ~word) | ((no_del - bytes_of(0x01)) & ~no_del)) & kHighBits;
      if (found == 0) {
        p += 8;
        continue;
      }
      p += std::countr_zero(found) / 8;
      if (*p != '\t') return p;
      ++p;
    }
  }
  while (p != end && !http::is_control(*p)) ++p;
  return p;
}

using ByteSet = std::array<bool, 256>;

// Bytes of a target that mean nothing here.
constexpr ByteSet plain_target_bytes() {
  ByteSet set{};
  for (std::size_t c = 0x21; c < 0x7f; ++c) set[c] = c != '?' && c != '#';
  return set;
}
constexpr ByteSet kPlainTargetByte = plain_target_bytes();

// The first byte in [p, end) that is not in the set, or end.
inline const char* skip(const ByteSet& set, const char* p, const char* end) {
  const auto in = [&set](char c) { return set[static_cast<unsigned char>(c)]; };
  for (; end - p >= 4; p += 4) {
    if (!in(p[0])) return p;
    if (!in(p[1])) return p + 1;
    if (!in(p[2])) return p + 2;
    if (!in(p[3])) return p + 3;
  }
  while (p != end && in(*p)) ++p;
  return p;
}

// Counts the options of a Connection field. False: it is not a list of tokens.
bool read_options(std::string_view value, bool counts, RequestFacts& facts) {
  while (true) {
    const std::string_view option = http::next_item(value);
    if (option.empty()) return true;
    if (!http::is_token(option)) return false;
    if (!counts) continue;
    ++facts.options;
    facts.close = facts.close || http::equal_nocase(option, "close");
    facts.keep_alive = facts.keep_alive || http::equal_nocase(option, "keep-alive");
  }
}

// Looks at the fields the parser cares about.
RequestFault note_field(FieldId id, std::string_view value, RequestFacts& facts) {
  using Refused = RequestFacts::Refused;
  switch (id) {
    case FieldId::kHost:
      if (facts.host != nullptr && facts.refused == Refused::kNothing) facts.refused = Refused::kSecondHost;
      facts.host = value.data();
      facts.host_size = value.size();
      break;
    case FieldId::kConnection:
    case FieldId::kProxyConnection:
      if (!read_options(value, id == FieldId::kConnection, facts)) return RequestFault::kNotTokens;
      break;
    case FieldId::kExpect:
      if (http::equal_nocase(value, "100-continue")) {
        facts.expects = true;
      } else if (facts.refused == Refused::kNothing) {
        facts.refused = Refused::kExpectation;
      }
      break;
    case FieldId::kContentLength:
      if (facts.has_length || facts.coding != nullptr) return RequestFault::kFraming;
      if (!http::parse_content_length(value, facts.length)) return RequestFault::kLength;
      facts.has_length = true;
      break;
    case FieldId::kTransferEncoding:
      if (facts.has_length || facts.coding != nullptr) return RequestFault::kFraming;
      facts.coding = value.data();
      facts.coding_size = value.size();
      break;
    default:
      break;
  }
  return RequestFault::kNone;
}

constexpr bool may_matter(FieldId id) { return id >= FieldId::kHost && id <= FieldId::kExpect; }
static_assert(may_matter(FieldId::kConnection) && may_matter(FieldId::kProxyConnection) &&
              may_matter(FieldId::kContentLength) && may_matter(FieldId::kTransferEncoding));

std::string_view between(const char* begin, const char* end) { return {begin, static_cast<std::size_t>(end - begin)}; }

}  // namespace

RequestReading read_request_head(std::string_view text, std::size_t fields_max, http::RequestHead& out,
                                 RequestFacts& facts) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* p = begin;
  const char* line = begin;
  const auto wrong = [&](RequestFault fault) {
    return RequestReading{RequestReading::kWrong, fault, static_cast<std::size_t>(line - begin)};
  };
  constexpr RequestReading kShort{RequestReading::kShort};

  while (p != end && http::is_tchar(*p)) ++p;
  if (p == end) return kShort;
  if (*p != ' ' || p == begin) return wrong(RequestFault::kMethod);
  out.method_text = between(begin, p);
  out.method = http::method_from(out.method_text);

  const char* const target = ++p;
  for (;; ++p) {
    p = skip(kPlainTargetByte, p, end);
    if (p == end) return kShort;
    if (*p == '?') {
      if (facts.question == std::string_view::npos) facts.question = static_cast<std::size_t>(p - target);
    } else if (*p == '#' || static_cast<unsigned char>(*p) > 0x7f) {
      facts.plain_target = false;
    } else {
      break;
    }
  }
  if (*p != ' ' || p == target) return wrong(RequestFault::kTarget);
  out.target = between(target, p);
  ++p;

  constexpr std::size_t kVersionBytes = 10;
  if (static_cast<std::size_t>(end - p) < kVersionBytes) return kShort;
  if (std::memcmp(p, "HTTP/1.", 7) != 0 || (p[7] != '1' && p[7] != '0') || std::memcmp(p + 8, "\r\n", 2) != 0) {
    return wrong(RequestFault::kVersion);
  }
  out.version = p[7] == '1' ? http::Version::kHttp11 : http::Version::kHttp10;
  p += kVersionBytes;

  for (std::size_t count = 0;; ++count) {
    line = p;
    p = skip(http::detail::kTchar, p, end);
    if (p == end) return kShort;
    if (*p != ':' || p == line) {
      if (*p != '\r' || p != line) return wrong(RequestFault::kName);
      if (end - p < 2) return kShort;
      if (p[1] != '\n') return wrong(RequestFault::kName);
      return {RequestReading::kDone, RequestFault::kNone, 0, static_cast<std::size_t>(p + 2 - begin)};
    }
    if (count == fields_max) return wrong(RequestFault::kFields);
    const std::string_view name = between(line, p);
    do ++p;
    while (p != end && http::is_ows(*p));
    const char* const value = p;
    p = find_control(p, end);
    if (end - p < 2) return kShort;
    if (p[0] != '\r' || p[1] != '\n') return wrong(RequestFault::kControl);
    const char* value_end = p;
    while (value_end != value && http::is_ows(value_end[-1])) --value_end;
    p += 2;
    const http::Field field{http::field_id(name), name, between(value, value_end)};
    if (may_matter(field.id)) {
      const RequestFault fault = note_field(field.id, field.value, facts);
      if (fault != RequestFault::kNone) return wrong(fault);
    }
    out.fields.add(field);
  }
}

}  // namespace telltale::http1
