// SPDX-License-Identifier: Apache-2.0
// The backend's part of sinks that take entries: each record is taken apart once, whoever wants it so. See backend.h.
//
// A sink that refuses an entry is left alone for a moment, so that a flood does not cost a marker and a try per record;
// what comes meanwhile is counted. The first thing it gets then is how many it has missed: so the gap is where it was,
// and nothing is told out of order.
//
//   lane.lost   entry comes                                   taken            refused
//   0           write()                                       -                lost = 1, wait kEntryRetry
//   > 0         within kEntryRetry: lost + 1
//   > 0         after: write() of "n lines lost here" first   lost = 0, then   lost + 1, wait kEntryRetry
//                                                             as in row 1
#include <algorithm>
#include <chrono>

#include "backend.h"
#include "last_lines.h"
#include "record_log.h"
#include "record_log_line.h"
#include "site_dictionary.h"

namespace telltale::diag {

namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kEntryRetry = 10ms;
constexpr auto kIdleRetry = 1s;  // to tell of a loss where no entry follows it

void add(std::atomic<std::uint64_t>& counter, std::uint64_t n) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

// `asked`: the sink has refused; else it was left alone.
void count_lost(Lane& lane, std::uint64_t entries, bool asked) {
  lane.lost += entries;
  lane.shown.lost += entries;
  lane.shown.failing = true;
  add(output_control().counters.lines_lost, entries);
  if (!asked) {
    if (lane.entries != nullptr) lane.entries->missed(entries);
    return;
  }
  add(output_control().counters.sink_errors, 1);
  ++lane.failures;
  ++lane.shown.errors;
  lane.reason = lane.entries != nullptr ? lane.entries->reason() : "there is no such sink";
  lane.shown.last_error = lane.reason;
  lane.tried = steady_clock::now();
}

}  // namespace

void Backend::write_entry(RouteBits lanes, const LineHead& head, RecordReader arguments, LineOrigin origin) {
  RecordReader for_text = arguments;
  const std::string_view text = writer_.text(head.origin.format, for_text, false);
  hand_out_entry(lanes, entries_.make(head, text, writer_.lines_bytes(), arguments), origin);
}

void Backend::hand_out_entry(RouteBits lanes, const Entry& entry, LineOrigin origin) {
  lanes &= of_entries_;
  for (std::size_t i = 0; i < kLanes; ++i) {
    if ((lanes >> i & 1) == 0) continue;
    Lane& lane = lanes_[i];
    if (i == kJsonLane) {
      json_.append(lane.batch, entry);
      lane.origins.add(origin);
      if (lane.batch.size() >= kBatchBytes) write_lane(lane);
    } else if (lane.lost > 0 && !tell_loss_to(lane)) {
      count_lost(lane, 1, false);
      count_loss(lane, origin);
    } else if (lane.entries != nullptr && lane.entries->write(entry)) {
      ++lane.shown.lines;
      lane.origins.add(origin);  // for the case that flush() fails
      lane.failures = 0;
    } else {
      count_lost(lane, 1, true);
      count_loss(lane, origin);
    }
  }
}

// False: not now, or it takes nothing yet.
bool Backend::tell_loss_to(Lane& lane) {
  const auto now = steady_clock::now();
  if (now - lane.tried < kEntryRetry) return false;
  if (lane.entries == nullptr || !lane.entries->write(loss_entry(lane))) {
    lane.tried = now;
    return false;
  }
  lane.lost = 0;
  lane.shown.failing = false;
  ++lane.shown.lines;
  return true;
}

// A sink's own trouble goes to other sinks; where notes have none, to stderr.
void Backend::tell_notices() {
  for (std::size_t i = 0; i < kLanes; ++i) {
    if (lanes_[i].entries == nullptr) continue;
    const std::string notice = lanes_[i].entries->take_notice();
    if (notice.empty()) continue;
    const auto own = static_cast<RouteBits>(1u << i);
    auto others = static_cast<RouteBits>(lanes_by_level_[static_cast<std::size_t>(Level::kNote)] & ~own);
    if (others == 0) others = merged(kToStderr);
    if (others == own) continue;  // nobody is left to hear it
    write_own_line("diag", ticks_now(), Level::kNote, others, notice);
  }
}

// A sink that takes nothing cannot say so itself; where lines go elsewhere too, that is told there, once.
void Backend::tell_of_failures() {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    if (lane.entries != nullptr && i != kExtraLane) continue;  // they say it themselves: tell_notices()
    const bool fails = lane.failures >= kFailuresTold;
    if (fails == lane.told || (!fails && lane.failures > 0)) continue;
    lane.told = fails;
    if (fails) lane.lost_when_told = lane.shown.lost - lane.lost;
    const Level level = fails ? Level::kWarning : Level::kNote;
    auto others = lanes_by_level_[static_cast<std::size_t>(level)];
    others = static_cast<decltype(others)>(others & ~(1u << i));
    write_own_line("diag", ticks_now(), level, others,
                   fails ? fmt::format("{} takes no lines: {}; they are counted as lost until it does", lane.name, lane.reason)
                         : fmt::format("{} takes lines again; {} were lost", lane.name,
                                       lane.shown.lost - lane.lost_when_told));
  }
}

// Behind a pass.
void Backend::flush_entries(Lane& lane) {
  if (lane.lost > 0 && steady_clock::now() - lane.tried >= kIdleRetry) tell_loss_to(lane);
  if (const std::uint64_t n = lane.entries->flush(); n > 0) {
    lane.shown.lines -= std::min(n, lane.shown.lines);
    count_lost(lane, n, true);
    count_losses(lane, n);
  }
  lane.origins.clear();
}

Entry Backend::loss_entry(const Lane& lane) {
  LineHead head;
  head.wall_ns = clock_.wall_ns(ticks_now());
  head.thread = "diag";
  head.level = Level::kWarning;
  head.origin = own_origin();
  const std::string why = lane.name + ": " + lane.reason;
  Entry entry = own_entries_.make(head, loss_text(lane.lost, Level::kWarning, false, {}, kLostBySink, why));
  entry.lost = lane.lost;
  return entry;
}

// Of what goes nowhere as a line: for the list of sites.
void Backend::keep_last(const RecordHeader& header, const char* record, std::string_view thread, std::int64_t wall_ns) {
  if (const SiteEntry* entry = site_by_number(header.site)) {
    keep_last_record(entry->history->number, {record, header.size_bytes}, thread, wall_ns, targets_.show_location);
  }
}

}  // namespace telltale::diag
