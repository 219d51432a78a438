// SPDX-License-Identifier: Apache-2.0
//
// The values in force, and the masking of records. A record is searched in place; where something is found, its
// arguments are written anew into a buffer of a small pool and copied back, since a mark may be longer than what it
// stands for.
#include <telltale/diag/secret_values.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include <fmt/format.h>
#include <pthread.h>

#include <telltale/diag/one_writer_multi_reader.h>

#include "record_reader.h"
#include "registry.h"
#include "registry_immortal.h"
#include "ring.h"
#include "ring_table.h"
#include "secret_matcher.h"
#include "secret_values.h"
#include "ticks.h"

namespace telltale::diag {

constinit std::atomic<bool> secret_values_armed{false};

namespace {

// Buffers for records that are written anew; one is taken for the moment, made where none is left.
class Buffers {
 public:
  char* take() noexcept {
    for (auto& place : places_) {
      if (char* buffer = place.exchange(nullptr, std::memory_order_acquire)) return buffer;
    }
    return new (std::nothrow) char[kRecordBytesMax];
  }
  void give_back(char* buffer) noexcept {
    for (auto& place : places_) {
      char* none = nullptr;
      if (place.compare_exchange_strong(none, buffer, std::memory_order_release, std::memory_order_relaxed)) return;
    }
    delete[] buffer;
  }

 private:
  std::array<std::atomic<char*>, 8> places_{};
};

struct Values {
  OneWriterMultiReader lock;
  std::unique_ptr<const SecretMatcher> matcher;  // guarded by lock
  std::mutex changes;                            // taken before lock
  std::vector<std::string> all;                  // guarded by changes
  Buffers buffers;
};
constinit Immortal<Values> the_values;

// See OneWriterMultiReader, "fork()".
__attribute__((constructor)) void watch_forks() noexcept {
  pthread_atfork([] { the_values.value.changes.lock(), the_values.value.lock.lock(); },
                 [] { the_values.value.lock.unlock(), the_values.value.changes.unlock(); },
                 [] { the_values.value.lock.unlock_after_fork(), the_values.value.changes.unlock(); });
}

std::string refusal_of(std::string_view value) {
  if (value.size() < kSecretBytesMin) return fmt::format("it has {} bytes; a secret value has at least {}", value.size(), kSecretBytesMin);
  if (value.size() > kSecretBytesMax) return fmt::format("it has {} bytes; a secret value has at most {}", value.size(), kSecretBytesMax);
  return {};
}

// REQUIRES: `changes` is held.
void put_in_force(Values& values, std::vector<std::string> all) {
  auto matcher = all.empty() ? nullptr : std::make_unique<const SecretMatcher>(all);
  values.all = std::move(all);
  {
    std::unique_lock guard(values.lock);
    values.matcher.swap(matcher);
  }
  RegistryLock guard;
  secret_values_armed.store(!values.all.empty(), std::memory_order_relaxed);
  ring_table().forget_plain();  // every record comes by
}

constexpr std::size_t kArgumentsMax = TextPieces::kMost;
constexpr std::uint8_t kOriginArguments = 5;  // of a record without a site

bool is_text(const Argument& a) noexcept { return a.kind == Kind::kString || a.kind == Kind::kLines || a.kind == Kind::kChar; }
std::string_view text_of(const Argument& a) noexcept {
  return a.kind == Kind::kChar ? std::string_view(&a.as_char, 1) : a.as_string;
}

// A record's arguments. Texts that follow each other are one run: a value may be split over them.
class Arguments {
 public:
  Arguments(const char* record, const RecordHeader& header) noexcept : apart_(header.site == 0 ? kOriginArguments : 0) {
    RecordReader reader(record, header);
    for (const char* begin = reader.position(); count_ < kArgumentsMax && reader.next(arguments_[count_]); begin = reader.position()) {
      bytes_[count_++] = {begin, static_cast<std::size_t>(reader.position() - begin)};
    }
    rest_ = {reader.position(), static_cast<std::size_t>(record + header.size_bytes - reader.position())};
  }

  // The run that begins at argument `first`: how many it has. 0: `first` is no text.
  std::size_t run(std::size_t first, TextPieces& text) const noexcept {
    text.clear();
    std::size_t at = first;
    while (at < count_ && is_text(arguments_[at])) {
      text.add(text_of(arguments_[at]));
      const Argument& last = arguments_[at++];
      if (last.lost_bytes != 0 || at <= apart_ || (at < count_ && !arguments_[at].name.empty())) break;
    }
    return at - first;
  }
  bool cut(std::size_t first, std::size_t count) const noexcept { return arguments_[first + count - 1].lost_bytes != 0; }

  std::size_t count() const noexcept { return count_; }
  const Argument& operator[](std::size_t i) const noexcept { return arguments_[i]; }
  std::string_view bytes(std::size_t i) const noexcept { return bytes_[i]; }  // as they are stored
  std::string_view rest() const noexcept { return rest_; }                    // what could not be read

 private:
  std::array<Argument, kArgumentsMax> arguments_;
  std::array<std::string_view, kArgumentsMax> bytes_;
  std::string_view rest_;
  std::size_t count_ = 0, apart_;
};

bool has_secret(const SecretMatcher& matcher, const Arguments& arguments) noexcept {
  TextPieces text;
  SecretSpans spans;
  for (std::size_t i = 0; i < arguments.count(); ++i) {
    const std::size_t count = arguments.run(i, text);
    if (count == 0) continue;
    matcher.find(text, arguments.cut(i, count), spans);
    if (!spans.empty()) return true;
    i += count - 1;
  }
  return false;
}

// The part [from, from + text.size()) of a run with its spans masked: a mark stands where a span begins. Stops at
// `end`. Returns the byte behind.
char* put_masked(char* at, const char* end, std::string_view text, std::size_t from, const SecretSpans& spans) noexcept {
  auto say = [&](std::string_view bytes) {
    const std::size_t most = std::min(bytes.size(), static_cast<std::size_t>(end - at));
    at = argument_detail::put_raw(at, bytes.data(), most);
  };
  std::size_t done = from;
  const std::size_t to = from + text.size();
  for (const SecretSpans::Span& span : spans) {
    if (span.end <= done || span.begin >= to) continue;
    if (span.begin > done) say(text.substr(done - from, span.begin - done));
    if (span.begin >= from) say(kSecretMark);
    done = std::min<std::size_t>(span.end, to);
  }
  say(text.substr(done - from));
  return at;
}

char* put_argument(char* at, const char* end, const Arguments& arguments, std::size_t i, std::size_t from, const SecretSpans& spans) noexcept {
  const Argument& a = arguments[i];
  const std::string_view text = text_of(a), bytes = arguments.bytes(i);
  const std::size_t head = bytes.size() - text.size();  // of the argument: its name, kind and lengths
  at = argument_detail::put_raw(at, bytes.data(), head);
  if (a.kind == Kind::kChar) {
    const bool hidden = std::any_of(spans.begin(), spans.end(), [from](auto& span) { return span.begin <= from && from < span.end; });
    *at = hidden ? '*' : a.as_char;
    return at + 1;
  }
  char* const begin = at;
  at = put_masked(at, end, text, from, spans);
  const auto kept = static_cast<std::uint32_t>(at - begin);
  std::memcpy(begin - 8, &kept, 4);
  return at;
}

// All arguments, masked; null: they do not fit.
char* put_arguments(char* at, const char* end, const SecretMatcher& matcher, const Arguments& arguments) noexcept {
  TextPieces text;
  SecretSpans spans;
  for (std::size_t i = 0; i < arguments.count();) {
    const std::size_t count = arguments.run(i, text);
    spans.clear();
    if (count != 0) matcher.find(text, arguments.cut(i, count), spans);
    std::size_t from = 0, last = i + std::max<std::size_t>(count, 1);
    for (; i < last; ++i) {
      const std::string_view bytes = arguments.bytes(i);
      if (static_cast<std::size_t>(end - at) < bytes.size() + kSecretMark.size()) return nullptr;
      if (count == 0) {
        at = argument_detail::put_raw(at, bytes.data(), bytes.size());
        continue;
      }
      at = put_argument(at, end, arguments, i, from, spans);
      if (at == end) return nullptr;
      from += text_of(arguments[i]).size();
    }
  }
  if (static_cast<std::size_t>(end - at) < arguments.rest().size()) return nullptr;
  return argument_detail::put_raw(at, arguments.rest().data(), arguments.rest().size());
}

}  // namespace

char* mask_open_record(Ring& ring, char* end, std::uint8_t argument_count) noexcept {
  Values& values = the_values.value;
  std::shared_lock guard(values.lock);
  if (values.matcher == nullptr) return end;
  char* const start = ring.open_record();
  RecordHeader header;
  std::memcpy(&header, start, sizeof header);
  header.size_bytes = static_cast<std::uint32_t>(end - start);
  header.argument_count = argument_count;
  const Arguments arguments(start, header);
  if (!has_secret(*values.matcher, arguments)) return end;

  const std::size_t before = header.size_bytes - sizeof header;
  char* const buffer = values.buffers.take();
  char* const masked = buffer == nullptr ? nullptr
                                         : put_arguments(buffer, buffer + kRecordBytesMax - sizeof header - 8, *values.matcher, arguments);
  char* const text = start + sizeof header;
  std::memset(text, 0, before);
  const std::size_t bytes = masked == nullptr ? 0 : static_cast<std::size_t>(masked - buffer);
  char* at = bytes == 0 ? nullptr : text;
  if (bytes > before || bytes == 0) {
    ring.cancel();
    const std::size_t wanted = bytes == 0 ? 2 * ring.capacity_bytes() : (sizeof header + bytes + 7) & ~std::size_t{7};
    at = ring.reserve(wanted, {0, header.level});  // of more than there can be, that counts it
    if (at == nullptr && ring.retired()) ring.count_nested({0, header.level});  // which does not count by itself
    if (at != nullptr) {
      header.ticks = ticks_now();  // not before a gap that was announced meanwhile
      std::memcpy(at, &header, sizeof header);
      at += sizeof header;
    }
  }
  if (at != nullptr) at = argument_detail::put_raw(at, buffer, bytes);
  if (buffer != nullptr) values.buffers.give_back(buffer);
  return at;
}

tl::expected<void, SecretRefusal> set_secret_values(std::span<const std::string> wanted) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (std::string refusal = refusal_of(wanted[i]); !refusal.empty()) return tl::unexpected(SecretRefusal{i, std::move(refusal)});
    if (std::find(all.begin(), all.end(), wanted[i]) != all.end()) continue;
    if (all.size() == kSecretValuesMax) return tl::unexpected(SecretRefusal{i, fmt::format("there may be at most {}", kSecretValuesMax)});
    all.push_back(wanted[i]);
  }
  Values& values = the_values.value;
  std::lock_guard guard(values.changes);
  put_in_force(values, std::move(all));
  return {};
}

tl::expected<void, std::string> add_secret_value(std::string_view value) {
  if (std::string refusal = refusal_of(value); !refusal.empty()) return tl::unexpected(std::move(refusal));
  Values& values = the_values.value;
  std::lock_guard guard(values.changes);
  if (std::find(values.all.begin(), values.all.end(), value) != values.all.end()) return {};
  if (values.all.size() == kSecretValuesMax) return tl::unexpected(fmt::format("there may be at most {}", kSecretValuesMax));
  std::vector<std::string> all = values.all;
  all.emplace_back(value);
  put_in_force(values, std::move(all));
  return {};
}

std::size_t secret_value_count() noexcept {
  Values& values = the_values.value;
  std::lock_guard guard(values.changes);
  return values.all.size();
}

std::string without_secret_values(std::string_view text) {
  Values& values = the_values.value;
  std::shared_lock guard(values.lock);
  if (values.matcher == nullptr) return std::string(text);
  std::string out;
  std::size_t done = 0;
  SecretSpans spans;
  TextPieces pieces;
  pieces.add(text);
  values.matcher->find(pieces, false, spans);
  for (const SecretSpans::Span& span : spans) {
    out.append(text, done, span.begin - done).append(kSecretMark);
    done = span.end;
  }
  return out.append(text, done);
}

}  // namespace telltale::diag
