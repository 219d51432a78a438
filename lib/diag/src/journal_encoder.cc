// SPDX-License-Identifier: Apache-2.0
// See journal_encoder.h; tested in journal_encoder_test.cc. Room for the worst case is made first, then all is written
// without looking at it.
#include "journal_encoder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace telltale::diag {

namespace {

constexpr std::array<char, kLevels> kPriorities{'7', '6', '5', '4', '3', '2', '1', '0'};  // by Level
constexpr char kUnknownPriority = '6';

constexpr std::size_t kLengthBytes = 8, kNumberBytesMax = 20;
// The names above with their separators and numbers, and DIAG_FIELDS_DROPPED.
constexpr std::size_t kFixedBytesMax = 512;
constexpr std::size_t kValueExtraBytes = kLengthBytes + 2;  // of a value in binary form: length and two line feeds

// Not for a record's own fields: those written here, and those by which journald or its readers do more than to keep them.
constexpr std::string_view kReserved[] = {
    "MESSAGE",   "PRIORITY",  "SYSLOG_IDENTIFIER", "SYSLOG_FACILITY", "SYSLOG_PID", "TID",         "CODE_FILE",
    "CODE_LINE", "CODE_FUNC", "DIAG_TAG",          "DIAG_TXN",        "DIAG_CONN",  "DIAG_PLUGIN", "DIAG_CLIENT",
    "DIAG_FIELDS_DROPPED", "MESSAGE_ID", "SYSLOG_TIMESTAMP", "SYSLOG_RAW", "OBJECT_PID"};

// A bit for each of their sizes, and for each of their first letters: most names are told apart by these.
constexpr std::uint64_t kReservedSizes = [] {
  std::uint64_t sizes = 0;
  for (std::string_view name : kReserved) sizes |= std::uint64_t{1} << name.size();
  return sizes;
}();
constexpr std::uint32_t kReservedLetters = [] {
  std::uint32_t letters = 0;
  for (std::string_view name : kReserved) letters |= std::uint32_t{1} << (name[0] - 'A');
  return letters;
}();
static_assert(std::ranges::all_of(kReserved, [](std::string_view name) { return name.size() < 64; }));

// REQUIRES: it is a name.
[[gnu::always_inline]] inline bool is_reserved(std::string_view name) noexcept {
  if (name.size() >= 64 || (kReservedSizes >> name.size() & 1) == 0 || (kReservedLetters >> (name[0] - 'A') & 1) == 0) return false;
  return std::ranges::find(kReserved, name) != std::end(kReserved);
}

// Most values and names are short: blocks of bytes, the last of which overlaps the one before, are faster than calls of
// memchr() and memcpy().
using Block = unsigned char __attribute__((vector_size(16)));
using HalfBlock = unsigned char __attribute__((vector_size(8)));
constexpr std::size_t kBlockBytes = sizeof(Block), kShortBytesMax = 512;

template <class T>
[[gnu::always_inline]] inline T load(const char* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
[[gnu::always_inline]] inline void store(char* at, T value) noexcept {
  std::memcpy(at, &value, sizeof value);
}

// Not 0 if a byte is a line feed; of fewer than 8 bytes, those that are missing are 0.
[[gnu::always_inline]] inline std::uint64_t line_feeds(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  bytes ^= kOnes * '\n';
  return (bytes - kOnes) & ~bytes & kOnes << 7;
}

// Copies, and says whether there is a line feed.
[[gnu::always_inline]] inline bool copy_looking(char* at, std::string_view value) noexcept {
  const char* from = value.data();
  const std::size_t size = value.size();
  if (size > kShortBytesMax) {
    std::memcpy(at, from, size);
    return std::memchr(from, '\n', size) != nullptr;
  }
  if (size >= kBlockBytes) {
    Block found{};
    auto step = [&](std::size_t i) {
      Block block = load<Block>(from + i);
      store(at + i, block);
      found |= reinterpret_cast<Block>(block == '\n');
    };
    for (std::size_t i = 0; i + kBlockBytes < size; i += kBlockBytes) step(i);
    step(size - kBlockBytes);
    std::uint64_t halves[2];
    std::memcpy(halves, &found, sizeof halves);
    return (halves[0] | halves[1]) != 0;
  }
  auto two = [&](auto first, auto last) {
    store(at, first);
    store(at + size - sizeof last, last);
    return (line_feeds(first) | line_feeds(last)) != 0;
  };
  if (size >= 8) return two(load<std::uint64_t>(from), load<std::uint64_t>(from + size - 8));
  if (size >= 4) return two(load<std::uint32_t>(from), load<std::uint32_t>(from + size - 4));
  bool found = false;
  for (std::size_t i = 0; i < size; ++i) found |= (at[i] = from[i]) == '\n';
  return found;
}

// What each byte becomes in a name.
template <class Bytes>
[[gnu::always_inline]] inline Bytes name_bytes(Bytes b) noexcept {
  auto between = [](Bytes bytes, unsigned char low, unsigned char high) {
    return reinterpret_cast<Bytes>(bytes >= low) & reinterpret_cast<Bytes>(bytes <= high);
  };
  b -= between(b, 'a', 'z') & static_cast<unsigned char>('a' - 'A');
  const Bytes kept = between(b, 'A', 'Z') | between(b, '0', '9');
  return (b & kept) | (~kept & static_cast<unsigned char>('_'));
}
[[gnu::always_inline]] inline std::uint32_t name_bytes(std::uint32_t b) noexcept {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(name_bytes(reinterpret_cast<HalfBlock>(std::uint64_t{b}))));
}

[[gnu::always_inline]] inline void copy_name(char* at, std::string_view name) noexcept {
  const char* from = name.data();
  const std::size_t size = name.size();
  auto in_steps_of = [&]<class Bytes>(Bytes) {
    for (std::size_t i = 0; i + sizeof(Bytes) < size; i += sizeof(Bytes)) store(at + i, name_bytes(load<Bytes>(from + i)));
    store(at + size - sizeof(Bytes), name_bytes(load<Bytes>(from + size - sizeof(Bytes))));
  };
  if (size >= sizeof(Block)) return in_steps_of(Block{});
  if (size >= sizeof(HalfBlock)) return in_steps_of(HalfBlock{});
  if (size >= sizeof(std::uint32_t)) return in_steps_of(std::uint32_t{});
  for (std::size_t i = 0; i < size; ++i) at[i] = static_cast<char>(name_bytes(std::uint32_t{static_cast<unsigned char>(from[i])}));
}

[[gnu::always_inline]] inline char* place(char* at, std::string_view text) noexcept {
  if (!text.empty()) std::memcpy(at, text.data(), text.size());  // what is empty may have no address
  return at + text.size();
}

[[gnu::noinline, gnu::cold]] char* put_value_with_length(char* at, std::string_view value) noexcept {
  *at++ = '\n';
  for (std::size_t i = 0; i < kLengthBytes; ++i) *at++ = static_cast<char>(std::uint64_t{value.size()} >> (8 * i));
  at = place(at, value);
  *at++ = '\n';
  return at;
}

// What follows a name.
[[gnu::always_inline]] inline char* put_value(char* at, std::string_view value) noexcept {
  *at = '=';
  if (copy_looking(at + 1, value)) return put_value_with_length(at, value);
  at += 1 + value.size();
  *at++ = '\n';
  return at;
}

[[gnu::always_inline]] inline char* put_text(char* at, std::string_view name, std::string_view value) noexcept {
  return value.empty() ? at : put_value(place(at, name), value);
}

[[gnu::always_inline]] inline char* put_number(char* at, std::string_view name_and_equals, std::uint64_t value) noexcept {
  if (value == 0) return at;
  at = place(at, name_and_equals);
  at = std::to_chars(at, at + kNumberBytesMax, value).ptr;
  *at++ = '\n';
  return at;
}

// REQUIRES: `name` is not empty, and there is room for kNameBytesMax bytes.
[[gnu::always_inline]] inline char* put_name(char* at, std::string_view name) noexcept {
  constexpr std::size_t kMax = JournalEncoder::kNameBytesMax;
  char* const begin = at;
  const auto first = static_cast<unsigned char>(name[0]);
  if (!((first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z'))) *at++ = 'X';
  name = name.substr(0, kMax - static_cast<std::size_t>(at - begin));
  copy_name(at, name);
  at += name.size();
  const auto size = static_cast<std::size_t>(at - begin);
  if (is_reserved({begin, size})) {
    std::memmove(begin + 2, begin, size);
    begin[0] = 'X';
    begin[1] = '_';
    at += 2;
  }
  return at;
}

}  // namespace

char* JournalEncoder::reserve(const JournalRecord& r) {
  std::size_t wanted = kFixedBytesMax;
  for (std::string_view text : {r.message, r.identifier, r.file, r.function, r.tag, r.plugin, r.client}) {
    wanted += text.size() + kValueExtraBytes;
  }
  if (r.message.empty()) wanted += r.tag.size();
  for (const JournalField& field : r.fields) {
    wanted += kNameBytesMax + field.value.size() + kValueExtraBytes;
  }
  if (wanted > capacity_bytes_) {
    capacity_bytes_ = std::max(wanted, 2 * capacity_bytes_);
    buffer_.reset(new char[capacity_bytes_]);
  }
  return buffer_.get();
}

char* JournalEncoder::put_fields(char* at, const JournalRecord& record) {
  std::size_t kept = 0;
  for (const JournalField& field : record.fields) {
    if (field.name.empty()) continue;
    if (kept == kFieldsMax) break;
    char* end = put_name(at, field.name);
    if (record.unique_fields) {
      std::string_view name(at, static_cast<std::size_t>(end - at));
      auto used = names_.begin() + static_cast<std::ptrdiff_t>(kept);
      if (std::find(names_.begin(), used, name) != used) continue;
      *used = name;
    }
    ++kept;
    at = put_value(end, field.value);
  }
  std::uint64_t dropped = record.fields.size() - kept;
  fields_dropped_ += dropped;
  return put_number(at, "DIAG_FIELDS_DROPPED=", dropped);
}

std::string_view JournalEncoder::encode(const JournalRecord& r) {
  char* at = reserve(r);
  auto level = static_cast<std::size_t>(r.level);
  if (level >= kLevels) ++unknown_levels_;
  at = place(at, "PRIORITY=");
  *at++ = level < kLevels ? kPriorities[level] : kUnknownPriority;
  *at++ = '\n';
  at = put_text(at, "SYSLOG_IDENTIFIER", r.identifier);
  at = place(at, "SYSLOG_FACILITY=");
  at = std::to_chars(at, at + kNumberBytesMax, r.facility).ptr;
  *at++ = '\n';
  at = put_number(at, "SYSLOG_PID=", r.process);
  at = put_number(at, "TID=", r.thread);
  at = put_text(at, "CODE_FILE", r.file);
  at = put_number(at, "CODE_LINE=", r.line);
  at = put_text(at, "CODE_FUNC", r.function);
  at = put_text(at, "DIAG_TAG", r.tag);
  at = put_number(at, "DIAG_TXN=", r.transaction);
  at = put_number(at, "DIAG_CONN=", r.connection);
  at = put_text(at, "DIAG_PLUGIN", r.plugin);
  at = put_text(at, "DIAG_CLIENT", r.client);
  std::string_view message = r.message.empty() ? r.tag : r.message;
  if (message.ends_with('\n')) message.remove_suffix(1);
  at = put_value(place(at, "MESSAGE"), message);
  if (!r.fields.empty()) at = put_fields(at, r);
  return {buffer_.get(), static_cast<std::size_t>(at - buffer_.get())};
}

}  // namespace telltale::diag
