// SPDX-License-Identifier: Apache-2.0
// What was held back is told of in records like any other, so every sink and the flight recorder have them. Such
// a record has the origin, level and arguments of the line it is about; only its format is longer.
#include <telltale/diag/throttle.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "record_reader.h"
#include "registry_immortal.h"
#include "throttle.h"
#include "throttle_table.h"

namespace telltale::diag {
namespace {

using std::chrono::milliseconds;

constexpr ThrottleConfig kDefault{};

constinit Immortal<ThrottleTable> the_table;
constinit std::atomic<std::int64_t> interval_ms{kDefault.interval.count()};
constinit std::atomic<std::uint32_t> burst{kDefault.burst};
constinit std::atomic_flag telling = ATOMIC_FLAG_INIT;
constinit thread_local unsigned tl_unthrottled __attribute__((tls_model("initial-exec"))) = 0;

std::int64_t now_ns() noexcept { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds{1}; }

// The head of a record around bytes that are arguments already.
RecordReader reader_of(const ThrottledLine& line, RecordHeader& header) noexcept {
  header.size_bytes = static_cast<std::uint32_t>(sizeof header + line.arguments.size());
  header.argument_count = line.argument_count;
  return {line.arguments.data() - sizeof header, header};
}

std::size_t origin_bytes(const char* arguments, const char* end, std::uint8_t count) noexcept {
  RecordHeader header{};
  std::string_view all(arguments, static_cast<std::size_t>(end - arguments));
  RecordReader reader = reader_of({Level::kNote, std::min<std::uint8_t>(count, 5), 0, all}, header);
  for (Argument ignored; reader.next(ignored);) {
  }
  return static_cast<std::size_t>(reader.position() - arguments);
}

std::string escaped_braces(std::string_view text) {
  std::string out;
  for (char c : text) out.append(c == '{' || c == '}' ? 2 : 1, c);
  return out;
}

// Tag, file, function, format and line as told; then the rest of the arguments as they are.
void write(const HeldBack& held) {
  std::array<Argument, 5> origin{};
  RecordHeader header{};
  RecordReader reader = reader_of(held.like, header);
  for (Argument& part : origin) reader.next(part);
  const std::string_view former = origin[3].as_string;
  const double seconds = static_cast<double>(held.for_ns) * 1e-9;

  std::string format;
  std::string_view rest;
  std::uint8_t count = 5;
  if (!held.of_place && held.like.argument_count > 5 && former.size() + 100 < kStringBytesMax) {
    format = fmt::format("{} [{} more of these within {:.1f} s are not written]", former, held.lines, seconds);
    rest = held.like.arguments.substr(held.like.origin_bytes);
    count = held.like.argument_count;
  } else {
    const char* what = held.of_place ? "more lines that differ from each other" : "more lines";
    format = fmt::format("{} {} within {:.1f} s are not written{}{}", held.lines, what, seconds,
                         former.empty() ? "" : ": ", escaped_braces(former.substr(0, kStringBytesMax / 4)));
  }
  const std::string_view tag = origin[0].as_string, file = origin[1].as_string, function = origin[2].as_string;
  const std::string_view told = format;
  const unsigned long long line = origin[4].as_unsigned;
  const std::size_t bytes = room(tag) + room(file) + room(function) + room(told) + room(line) + rest.size();
  char* at = begin_record(0, 0, held.like.level, bytes);
  if (at == nullptr) return;  // dropped, and counted as one line
  at = put(put(put(put(put(at, tag), file), function), told), line);
  end_record(argument_detail::put_raw(at, rest.data(), rest.size()), count);
}

void tell(bool all) noexcept {
  if (telling.test_and_set(std::memory_order_acquire)) return;  // somebody does it right now
  {
    const Unthrottled told;
    const std::int64_t interval = interval_ms.load(std::memory_order_relaxed);
    the_table.value.tell(now_ns(), interval * 1'000'000, all || interval == 0, [](const HeldBack& held) {
      try {
        write(held);
      } catch (const std::bad_alloc&) {  // the count stays in lines_held_back()
      }
    });
  }
  telling.clear(std::memory_order_release);
}

}  // namespace

bool throttle_admits(const RecordHeader& header, const char* arguments, const char* end) noexcept {
  if (tl_unthrottled != 0 || interval_ms.load(std::memory_order_relaxed) == 0) return true;
  const ThrottledLine line{header.level, header.argument_count, origin_bytes(arguments, end, header.argument_count),
                           {arguments, static_cast<std::size_t>(end - arguments)}};
  return the_table.value.admit(line, now_ns(), burst.load(std::memory_order_relaxed));
}

void tell_held_back_in_time() noexcept { tell(false); }
void tell_held_back() noexcept { tell(true); }

void set_throttle(const ThrottleConfig& config) noexcept {
  interval_ms.store(std::max<std::int64_t>(config.interval.count(), 0), std::memory_order_relaxed);
  burst.store(std::max<std::uint32_t>(config.burst, 1), std::memory_order_relaxed);
  tell(true);
}

ThrottleConfig throttle() noexcept {
  return {milliseconds{interval_ms.load(std::memory_order_relaxed)}, burst.load(std::memory_order_relaxed)};
}

std::uint64_t lines_held_back() noexcept { return the_table.value.held_back(); }

void Unthrottled::enter() noexcept { ++tl_unthrottled; }
void Unthrottled::leave() noexcept { --tl_unthrottled; }

void forget_held_back() noexcept {
  new (&the_table.value) ThrottleTable;
  telling.clear(std::memory_order_relaxed);
}

}  // namespace telltale::diag
