// SPDX-License-Identifier: Apache-2.0
#include "last_lines.h"

#include <cstring>
#include <mutex>
#include <vector>

#include "line.h"
#include "plugin_names.h"
#include "record_origin.h"

namespace telltale::diag {
namespace {

struct Last {
  std::string line;    // or what is needed to make one
  std::string record;  // empty: `line` is it
  std::string thread;
  std::int64_t wall_ns = 0;
  ShowLocation show = ShowLocation::kDebugLines;
};

struct Lines {
  std::mutex mutex;
  std::vector<Last> by_history;  // guarded by mutex; number - 1
};
Lines& lines() {
  static Lines* all = new Lines;
  return *all;
}

Last& last_of(Lines& all, std::uint32_t history) {
  if (all.by_history.size() < history) all.by_history.resize(history);
  return all.by_history[history - 1];
}

// Of a record of several lines the first.
std::string_view first(std::string_view line) { return line.substr(0, line.find('\n')); }

std::string cut(std::string_view line) {
  line = first(line);
  if (line.size() <= kLastLineBytesMax) return std::string(line);
  // Not inside a UTF-8 sequence.
  std::size_t end = kLastLineBytesMax;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
  return std::string(line.substr(0, end)) + "...";
}

std::string line_of(const Last& last) {
  RecordHeader header;
  std::memcpy(&header, last.record.data(), sizeof header);
  RecordReader arguments(last.record.data(), header);
  std::string plugin = plugin_name(header.plugin);
  LineHead head;
  head.wall_ns = last.wall_ns;
  head.thread = last.thread;
  head.level = header.level;
  head.origin = read_origin(header, arguments);
  head.connection = header.connection;
  head.transaction = header.transaction;
  head.plugin = plugin;
  LineWriter writer;
  std::string line;
  const std::string_view text = writer.text(head.origin.format, arguments);
  writer.append(line, head, last.show, text, writer.lines_bytes());
  return line;
}

}  // namespace

void keep_last_line(std::uint32_t history, std::string_view line) {
  line = first(line);
  Lines& all = lines();
  std::lock_guard guard(all.mutex);
  Last& last = last_of(all, history);
  last.record.clear();
  if (line.size() > kLastLineBytesMax) {
    last.line = cut(line);
  } else {
    last.line.assign(line);
  }
}

void keep_last_record(std::uint32_t history, std::string_view record, std::string_view thread, std::int64_t wall_ns,
                      ShowLocation show) {
  Lines& all = lines();
  std::lock_guard guard(all.mutex);
  Last& last = last_of(all, history);
  last.record.assign(record);
  last.thread.assign(thread);
  last.wall_ns = wall_ns;
  last.show = show;
}

// Formatted without the lock, which the backend takes.
std::string last_line(std::uint32_t history) {
  Last last;
  {
    Lines& all = lines();
    std::lock_guard guard(all.mutex);
    if (history == 0 || history > all.by_history.size()) return {};
    last = all.by_history[history - 1];
  }
  return last.record.empty() ? last.line : cut(line_of(last));
}

void lock_last_lines() noexcept { lines().mutex.lock(); }
void unlock_last_lines() noexcept { lines().mutex.unlock(); }

}  // namespace telltale::diag
