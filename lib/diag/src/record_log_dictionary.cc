// SPDX-License-Identifier: Apache-2.0
// See record_log_dictionary.h; tested in record_log_test.cc and record_log_damage_test.cc.
#include "record_log_dictionary.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "record_log_line.h"

namespace telltale::diag {

namespace {

using Wrong = std::optional<std::string>;

class Content {
 public:
  explicit Content(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  bool take(T& value) noexcept {
    if (rest_.size() < sizeof value) return false;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return true;
  }
  bool take(std::string_view& text) noexcept {
    std::uint32_t bytes;
    if (!take(bytes) || bytes > rest_.size()) return false;
    text = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return true;
  }
  bool take(std::string& text) {
    std::string_view view;
    if (!take(view)) return false;
    text = view;
    return true;
  }
  std::string_view rest() const noexcept { return rest_; }

 private:
  std::string_view rest_;
};

Wrong short_frame(const char* what) { return fmt::format("a {} frame whose content reaches beyond its end", what); }
Wrong bad_level(unsigned level) { return fmt::format("level {}, expected 0 to {}", level, kLevels - 1); }
Wrong bad_time(std::int64_t wall_ns) {
  return fmt::format("{} as the time of day in ns, expected one since 1970", wall_ns);
}

std::uint64_t hash_text(std::string_view text, std::uint64_t hash) noexcept {
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

// Boot, number and beginning: no two processes have all three.
std::uint64_t process_of(const LogStart& start) noexcept {
  return hash_text(start.boot_id, hash_text(fmt::format("{}/{}/", start.pid, start.began_wall_ns), 0xCBF29CE484222325));
}

bool known(FrameKind kind) noexcept { return kind >= FrameKind::kStart && kind <= FrameKind::kShown; }

}  // namespace

FrameIs take_frame(std::string_view& rest, Frame& frame) noexcept {
  if (rest.size() < sizeof(FrameHeader)) return FrameIs::kCut;
  std::memcpy(&frame.header, rest.data(), sizeof frame.header);
  const std::uint32_t bytes = frame.header.bytes;
  if (bytes < sizeof(FrameHeader) || bytes > kFrameBytesMax || bytes % 8 != 0 || !known(frame.header.kind)) {
    return FrameIs::kBad;
  }
  if (bytes > rest.size()) return FrameIs::kCut;
  frame.content = rest.substr(sizeof(FrameHeader), bytes - sizeof(FrameHeader));
  rest.remove_prefix(bytes);
  return FrameIs::kWhole;
}

Wrong LogDictionary::take_start(std::string_view bytes) {
  Content content(bytes);
  StartContent fixed;
  LogStart start;
  if (!content.take(fixed)) return short_frame("start");
  if (std::memcmp(fixed.magic, kRecordLogMagic, sizeof fixed.magic) != 0) return "a start frame without the magic word";
  if (fixed.byte_order != kRecordLogByteOrder) return "written on a machine of another byte order";
  if (fixed.version != kRecordLogVersion) {
    return fmt::format("version {} of the record log, expected {}", fixed.version, kRecordLogVersion);
  }
  if (!content.take(start.boot_id) || !content.take(start.host) || !content.take(start.program)) return short_frame("start");
  if (fixed.show_location > static_cast<std::uint32_t>(ShowLocation::kAllLines)) {
    return fmt::format("{} as the lines that show their place, expected 0 to 2", fixed.show_location);
  }
  start.id = fixed.id;
  start.wall_ns = fixed.wall_ns;
  start.began_wall_ns = fixed.began_wall_ns;
  start.pid = fixed.pid;
  start.show_location = static_cast<ShowLocation>(fixed.show_location);
  show_location_ = start.show_location;
  process_ = process_of(start);
  start_ = std::move(start);
  sites_.clear();
  plugins_.clear();
  threads_.clear();
  clocks_.clear();
  return {};
}

Wrong LogDictionary::take_site(std::string_view bytes) {
  Content content(bytes);
  SiteFrameContent fixed;
  Site site;
  if (!content.take(fixed) || !content.take(site.tag) || !content.take(site.format) || !content.take(site.file) ||
      !content.take(site.function) || !content.take(site.module)) {
    return short_frame("site");
  }
  if (sites_.size() >= kLogSitesMax && !sites_.contains(fixed.number)) {
    return fmt::format("more than {} sites", kLogSitesMax);
  }
  site.line = fixed.line;
  sites_[fixed.number] = std::move(site);
  return {};
}

Wrong LogDictionary::take(const Frame& frame) {
  Content content(frame.content);
  std::uint32_t words[2];
  std::string_view name;
  if (!start_ && frame.header.kind != FrameKind::kStart) return "no start frame, which begins every record log";
  switch (frame.header.kind) {
    case FrameKind::kStart: return take_start(frame.content);
    case FrameKind::kSite: return take_site(frame.content);
    case FrameKind::kThread:
      if (!content.take(words) || !content.take(name)) return short_frame("thread");
      threads_[frame.header.thread] = {std::string(name), words[0]};
      return {};
    case FrameKind::kPlugin:
      if (!content.take(words) || !content.take(name)) return short_frame("plugin");
      if (plugins_.size() >= kLogPluginsMax && !plugins_.contains(words[0])) {
        return fmt::format("more than {} plugins", kLogPluginsMax);
      }
      plugins_[words[0]] = name;
      return {};
    case FrameKind::kClock: {
      ClockContent clock;
      if (!content.take(clock)) return short_frame("clock");
      if (!(clock.ns_per_tick > 0 && clock.ns_per_tick < 1e9)) {
        return fmt::format("a clock of {} ns a tick", clock.ns_per_tick);
      }
      clocks_.push_back(clock);
      if (clocks_.size() > kLogClocksMax) clocks_.pop_front();
      return {};
    }
    case FrameKind::kShown:
      if (!content.take(words)) return short_frame("shown");
      if (words[0] > static_cast<std::uint32_t>(ShowLocation::kAllLines)) {
        return fmt::format("{} as the lines that show their place, expected 0 to 2", words[0]);
      }
      show_location_ = static_cast<ShowLocation>(words[0]);
      return {};
    default: return {};
  }
}

std::string_view LogDictionary::thread(std::uint16_t number) const noexcept {
  auto found = threads_.find(number);
  return found == threads_.end() ? std::string_view() : found->second.name;
}

std::uint32_t LogDictionary::thread_id(std::uint16_t number) const noexcept {
  auto found = threads_.find(number);
  return found == threads_.end() ? 0 : found->second.kernel_id;
}

std::int64_t LogDictionary::wall_ns(std::uint64_t ticks) const noexcept {
  if (clocks_.empty()) return 0;
  const ClockContent* from = &clocks_.front();
  for (auto clock = clocks_.rbegin(); clock != clocks_.rend(); ++clock) {
    if (clock->ticks > ticks) continue;
    from = &*clock;
    break;
  }
  double distance = static_cast<double>(static_cast<std::int64_t>(ticks - from->ticks)) * from->ns_per_tick;
  double ns = static_cast<double>(from->wall_ns) + distance;
  if (!(std::abs(distance) < 4e18 && ns >= 0 && ns < 9e18)) return 0;
  return from->wall_ns + static_cast<std::int64_t>(distance);
}

// Of a record: all but thread and time of day.
Wrong LogDictionary::describe(const char* record, std::size_t bytes, LogEvent& event) const {
  RecordHeader& header = event.header;
  if (bytes < sizeof header) return "a record that is shorter than its header";
  std::memcpy(&header, record, sizeof header);
  if (header.size_bytes < sizeof header || header.size_bytes % 8 != 0 || header.size_bytes > bytes) {
    return fmt::format("a record of {} bytes, expected {} to {} and a multiple of 8", header.size_bytes, sizeof header, bytes);
  }
  if (static_cast<std::size_t>(header.level) >= kLevels) return bad_level(static_cast<unsigned>(header.level));
  event.kind = LogEventKind::kRecord;
  event.record = record;
  event.ticks = header.ticks;
  event.process = process_;
  event.show_location = show_location_;
  event.head.level = header.level;
  event.head.connection = header.connection;
  event.head.transaction = header.transaction;
  if (header.site != 0) {
    auto found = sites_.find(header.site);
    if (found == sites_.end()) return fmt::format("a record of site {}, which has not been announced", header.site);
    const Site& site = found->second;
    event.head.origin = {site.tag, site.format, site.file, site.function, site.line, site.module};
  } else {
    RecordReader arguments(record, header);
    event.head.origin = read_own_origin(arguments);
  }
  if (header.plugin != 0) {
    auto found = plugins_.find(header.plugin);
    if (found == plugins_.end()) return fmt::format("a record of plugin {}, which has not been announced", header.plugin);
    event.head.plugin = found->second;
  }
  return {};
}

Wrong LogDictionary::event(const char* record, std::size_t bytes, std::string_view thread, LogEvent& event) const {
  event = LogEvent{};
  if (Wrong wrong = describe(record, bytes, event)) return wrong;
  event.head.thread = thread;
  event.head.wall_ns = wall_ns(event.ticks);
  return {};
}

Wrong LogDictionary::event(const Frame& frame, LogEvent& event) const {
  event = LogEvent{};
  if (!start_) return "no start frame, which begins every record log";
  event.show_location = show_location_;
  event.process = process_;
  Content content(frame.content);
  std::int64_t& wall_ns = event.head.wall_ns;
  event.head.origin = own_origin();
  event.head.level = Level::kWarning;
  event.head.thread = "diag";
  switch (frame.header.kind) {
    case FrameKind::kRecord: {
      if (!content.take(wall_ns)) return short_frame("record");
      if (wall_ns < 0) return bad_time(wall_ns);
      std::string_view record = content.rest();
      if (Wrong wrong = describe(record.data(), record.size(), event)) return wrong;
      if (event.header.size_bytes != record.size()) {
        return fmt::format("a record of {} bytes in a frame for one of {}", event.header.size_bytes, record.size());
      }
      event.head.thread = thread(frame.header.thread);
      event.head.thread_id = thread_id(frame.header.thread);
      return {};
    }
    case FrameKind::kLoss: {
      LossContent loss;
      if (!content.take(loss) || !content.take(event.head.thread) || !content.take(event.lost_tag) ||
          !content.take(event.detail)) {
        return short_frame("loss");
      }
      if (loss.wall_ns < 0) return bad_time(loss.wall_ns);
      if (static_cast<std::size_t>(loss.level) >= kLevels) return bad_level(static_cast<unsigned>(loss.level));
      event.kind = LogEventKind::kLoss;
      wall_ns = loss.wall_ns;
      event.ticks = loss.ticks;
      event.lost = loss.count;
      event.lost_level = loss.level;
      event.of_other_tags = loss.other_tags != 0;
      event.reason = loss.reason;
      return {};
    }
    case FrameKind::kNotice: {
      NoticeContent notice;
      if (!content.take(notice) || !content.take(event.head.thread) || !content.take(event.text)) return short_frame("notice");
      if (notice.wall_ns < 0) return bad_time(notice.wall_ns);
      if (static_cast<std::size_t>(notice.level) >= kLevels) return bad_level(static_cast<unsigned>(notice.level));
      event.kind = LogEventKind::kNotice;
      wall_ns = notice.wall_ns;
      event.ticks = notice.ticks;
      event.head.level = notice.level;
      return {};
    }
    case FrameKind::kStep: {
      StepContent step;
      if (!content.take(step)) return short_frame("step");
      if (step.wall_ns < 0) return bad_time(step.wall_ns);
      event.kind = LogEventKind::kStep;
      wall_ns = step.wall_ns;
      event.ticks = step.ticks;
      event.step_ns = step.step_ns;
      return {};
    }
    default: return "no event";
  }
}

RecordReader record_arguments(const LogEvent& event) noexcept {
  RecordReader arguments(event.record, event.header);
  if (event.header.site == 0) read_own_origin(arguments);
  return arguments;
}

}  // namespace telltale::diag
