// SPDX-License-Identifier: Apache-2.0
// See backend.h.
#include "backend.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "backend_wake.h"
#include "capture_hold.h"
#include "capture_line.h"
#include "plugin_names.h"
#include "record_log.h"
#include "record_log_line.h"
#include "record_origin.h"
#include "recorder_files.h"
#include "registry.h"
#include "ring_table.h"
#include "site_dictionary.h"
#include "tag_table.h"
#include "throttle.h"

namespace telltale::diag {

namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kShortestSleep = 100us, kLongestSleep = 50ms, kGrace = 1ms;
constexpr auto kSampleEvery = 100ms;
constexpr auto kPublishEvery = 200ms;
constexpr auto kRecorderClockEvery = 1s;
constexpr auto kRetryEvery = 1s;          // to tell of a loss where no line follows it
constexpr std::int64_t kSmoothNs = 1'000'000;  // clock corrections below this do not move lines back

// Only the backend writes these: no locked instruction.
void add(std::atomic<std::uint64_t>& counter, std::uint64_t n) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

constinit thread_local bool tl_is_backend __attribute__((tls_model("initial-exec"))) = false;

}  // namespace

Backend::Backend() : clock_(first_sample()) { refresh_lanes(); }

void Backend::sample_clock() {
  auto now = steady_clock::now();
  if (now - sampled_ < kSampleEvery) return;
  sampled_ = now;
  tell_held_back_in_time();
  const ClockSample sample = sample_clocks();
  const std::optional<std::int64_t> step = clock_.add(sample);
  tell_recorder(sample, now, step.has_value());
  if (targets_.binary_file) {
    targets_.binary_file->writer().set_clock({sample.ticks, sample.monotonic_ns, sample.wall_ns, clock_.ns_per_tick()});
  }
  if (!step) return;
  last_wall_ns_ = 0;
  const std::uint64_t ticks = ticks_now();
  const std::int64_t wall_ns = clock_.wall_ns(ticks);
  RouteBits lanes = lanes_by_level_[std::size_t(Level::kWarning)];
  write_own_text("diag", wall_ns, Level::kWarning, lanes, step_text(*step));
  if (BinarySink* binary = binary_of(lanes)) {
    binary->writer().step(lanes_[kBinaryLane].batch, {wall_ns, ticks, *step});
    added_to_binary({.level = Level::kWarning});
  }
}

// And hear what it could not do.
void Backend::tell_recorder(const ClockSample& sample, steady_clock::time_point now, bool at_once) {
  if (at_once || now - recorder_told_ >= kRecorderClockEvery) {
    recorder_told_ = now;
    recorder_files().knows_clock({sample.ticks, sample.monotonic_ns, sample.wall_ns, clock_.ns_per_tick()});
  }
  if (std::string trouble = recorder_files().take_trouble(); !trouble.empty()) {
    write_own_line("diag", sample.ticks, Level::kWarning, lanes_by_level_[std::size_t(Level::kWarning)], trouble);
  }
}

void Backend::run() {
  tl_is_backend = true;
  set_thread_name("diag");  // of what it tells itself (throttle.h)
  OutputControl& control = output_control();
  // A counter's rate needs a stretch of time to be seen; early lines must not be stamped by guess.
  timespec first_stretch{0, 2'000'000};
  nanosleep(&first_stretch, nullptr);
  sampled_ = {};
  auto sleep = kShortestSleep;
  for (;;) {
    sample_clock();
    take_released();
    OutputPlan plan = control.plan();
    Found found = drain(plan);
    if (!plan.change) settle_held(ripe_, [this](auto... of) { return held_line(of...); });
    look_after_files();
    tell_notices();
    tell_of_failures();
    write_out();
    if (!plan.change) publish(plan.show);  // else what is shown would be what there was before the change
    Positions written{};
    for (std::size_t i = 0; i < rings_.size(); ++i) written[i] = rings_[i].position;
    control.report(written);
    if (plan.change) {
      OutputChange change = control.take();
      apply(change);
      if (control.finish(change)) return;
      continue;
    }
    sleep = found == Found::kNothing ? std::min(sleep * 2, kLongestSleep) : kShortestSleep;
    if (found == Found::kYoung) sleep = kGrace;
    prepare_to_sleep();
    if (control.hurry()) {
      cancel_sleep();
    } else {
      sleep_until_woken(sleep);
    }
  }
}

Backend::Found Backend::drain(const OutputPlan& plan) {
  RingTable& table = ring_table();
  std::size_t n = table.size();
  for (std::size_t i = 0; i < n; ++i) {
    rings_[i].ring = &table[i];
    rings_[i].begin(plan.upto[i], plan.losses);
  }
  std::uint64_t& ripe = ripe_;
  ripe = ~std::uint64_t{0};
  if (!plan.hurry) ripe = ticks_now() - static_cast<std::uint64_t>(double(kGrace.count()) / clock_.ns_per_tick());

  // Heads of rings that have something ripe, unsorted: there are few at a time.
  struct Head {
    RingReader* ring;
    RecordHeader header;
  };
  std::array<Head, kRingsMax> heads;
  std::size_t count = 0;
  Found found = Found::kNothing;
  auto load = [&](Head& head) {
    if (head.ring->peek(head.header) == nullptr) return false;
    if (head.header.ticks <= ripe) return true;
    if (found == Found::kNothing) found = Found::kYoung;
    return false;
  };
  for (std::size_t i = 0; i < n; ++i) {
    heads[count].ring = &rings_[i];
    if (load(heads[count])) ++count;
  }
  while (count > 0) {
    found = Found::kSome;
    // The oldest head, and how long it stays the oldest: its ring is read in a run up to there.
    std::size_t oldest = 0;
    std::uint64_t next = ~std::uint64_t{0};
    for (std::size_t i = 1; i < count; ++i) {
      if (heads[i].header.ticks < heads[oldest].header.ticks) {
        next = heads[oldest].header.ticks;
        oldest = i;
      } else {
        next = std::min(next, heads[i].header.ticks);
      }
    }
    Head& head = heads[oldest];
    bool more = true;
    do {
      consume(*head.ring, head.header);
      more = load(head);
    } while (more && head.header.ticks < next);
    if (!more) {
      head.ring->give_back();
      heads[oldest] = heads[--count];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    RingReader& ring = rings_[i];
    ring.give_back();
    if (!ring.drops_known || ring.position != ring.end) continue;
    for (std::size_t slot = 0; slot < ring.drops.size(); ++slot) {
      if (std::uint64_t fresh = ring.shown.take_new(slot, ring.drops[slot])) {
        write_loss(ring.thread, ticks_now(), ring.ring->drops().key(slot), fresh);
      }
    }
  }
  site_lines_.tell();
  if (found == Found::kSome) table.look_again();
  tell_losses_without_ring();
  return found;
}

void Backend::consume(RingReader& ring, const RecordHeader& header) {
  const char* record = ring.ring->at(ring.position);
  try {
    if (header.site == kNameSite) {
      const char* name = record + sizeof(RecordHeader);
      name_thread(ring, {name, strnlen(name, kThreadNameBytes)}, static_cast<std::uint32_t>(header.connection));
    } else if (header.site == kClientSite) {
      std::array<std::uint8_t, 16> address;
      std::memcpy(address.data(), record + sizeof(RecordHeader), sizeof address);
      clients_.add(header.connection, address);
    } else if (header.site == kGapSite) {
      write_gap(ring, header, record);
    } else {
      if (const SiteEntry* entry = site_by_number(header.site)) add(entry->history->records, 1);
      if (!hold_alone(ring, header, record)) write_record(ring, header, record);
    }
  } catch (...) {  // out of memory
    add(output_control().counters.lines_lost, 1);
  }
  ring.position += header.size_bytes;
  if (ring.position - ring.given_back >= ring.ring->capacity_bytes() / 16) ring.give_back();
}

// Two samples of the clocks never agree to the nanosecond; a line must not seem older than the one before.
std::int64_t Backend::wall_ns_of(const RecordHeader& header) noexcept {
  std::int64_t wall_ns = clock_.wall_ns(header.ticks);
  if (wall_ns < last_wall_ns_ && last_wall_ns_ - wall_ns < kSmoothNs) wall_ns = last_wall_ns_;
  return last_wall_ns_ = wall_ns;
}

void Backend::write_record(RingReader& ring, const RecordHeader& header, const char* record) {
  const RouteBits lanes = lanes_of(header);
  bool captured = is_captured(header.transaction);
  if (lanes == 0 && !captured) return;
  std::int64_t wall_ns = wall_ns_of(header);
  const bool as_line = (lanes & lines_) != 0 || captured, as_entry = (lanes & of_entries_) != 0;
  if (lanes != 0) add(output_control().counters.lines_written, 1);
  const bool in_binary = binary_of(lanes) != nullptr;
  const LineOrigin origin = origin_of(ring, header, record);
  if (!in_binary && (lanes & kToBinary) != 0) add(output_control().counters.lines_lost, 1);  // a lease named it, and it is not there
  if (in_binary) write_binary(ring, header, record, wall_ns, as_line, origin);
  if (!as_line && !as_entry) return;
  LineHead head = head_of(ring.thread, header, wall_ns);
  if (as_entry) {
    head.thread_id = ring.thread_id;
    head.client = clients_.name(header.connection);
    RecordReader arguments(record, header);
    head.origin = read_origin(header, arguments);
    write_entry(lanes, head, arguments, origin);
  }
  if (!as_line) {
    if (!in_binary) keep_last(header, record, ring.thread, wall_ns);
    return;
  }
  line_ = site_lines_.line(head, header, record, targets_.show_location);
  site_lines_.count();
  if (captured) capture_line(line_);
  hand_out(lanes, origin);
}

// For the case that a sink does not take the line. A record that names its own tag does so in its first argument.
LineOrigin Backend::origin_of(const RingReader& ring, const RecordHeader& header, const char* record) {
  LineOrigin origin{header.site, static_cast<std::uint16_t>(&ring - rings_.data()), header.level};
  if (header.site != 0 || header.level != Level::kDebug) return origin;
  RecordReader arguments(record, header);
  if (const Tag* tag = find_tag(read_own_origin(arguments).tag)) origin.number = tag->number | LineOrigin::kTag;
  return origin;
}

// Where its level goes, unless only leases ask for it that say otherwise; and where those say.
RouteBits Backend::lanes_of(const RecordHeader& header) const noexcept {
  const bool elsewhere = (header.flags & kRecordElsewhere) != 0;
  const auto named = static_cast<RouteBits>((header.flags & kRecordToMask) >> kRecordToShift);
  const RouteBits lanes = elsewhere ? RouteBits{0} : lanes_by_level_[static_cast<std::size_t>(header.level) % kLevels];
  return named == 0 ? lanes : static_cast<RouteBits>(lanes | merged(named));
}

RouteBits Backend::merged(RouteBits outputs) const noexcept {
  RouteBits lanes = 0;
  for (std::size_t i = 0; i < kLanes; ++i) {
    if ((outputs >> i & 1) != 0) lanes = static_cast<RouteBits>(lanes | merged_[i]);
  }
  return lanes;
}

// But for the origin.
LineHead Backend::head_of(std::string_view thread, const RecordHeader& header, std::int64_t wall_ns) {
  LineHead head;
  head.wall_ns = wall_ns;
  head.thread = thread;
  head.level = header.level;
  head.connection = header.connection;
  head.transaction = header.transaction;
  head.plugin = plugin(header.plugin);
  return head;
}

// True: it is for nobody else.
bool Backend::hold_alone(RingReader& ring, const RecordHeader& header, const char* record) {
  if ((header.flags & kRecordFollowed) != 0 && holding()) hold_record(header, record, ring.thread);
  return (header.flags & (kRecordElsewhere | kRecordToMask)) == kRecordElsewhere;
}

std::string_view Backend::held_line(std::string_view thread, const RecordHeader& header, const char* record) {
  return site_lines_.line(head_of(thread, header, clock_.wall_ns(header.ticks)), header, record, targets_.show_location);
}

void Backend::write_gap(RingReader& ring, const RecordHeader& header, const char* record) {
  for (std::uint64_t i = 0; i < header.connection; ++i) {
    RingGap gap;
    std::memcpy(&gap, record + sizeof(RecordHeader) + i * sizeof gap, sizeof gap);
    if (std::uint64_t fresh = ring.shown.take_new(gap.slot, gap.count)) {
      write_loss(ring.thread, header.ticks, ring.ring->drops().key(gap.slot), fresh);
    }
  }
}

// Goes where the lost lines would have gone: that is where the gap is.
void Backend::write_loss(std::string_view thread, std::uint64_t ticks, const DropKey& key, std::uint64_t count) {
  const Tag* tag = tag_by_number(key.tag);
  LogLoss loss{clock_.wall_ns(ticks), ticks, count, key.level, static_cast<std::uint8_t>(key.reason), key.tag == kOtherTags,
               thread, tag == nullptr ? std::string_view() : tag->name, {}};
  RouteBits lanes = lanes_by_level_[static_cast<std::size_t>(key.level) % kLevels];
  if (key.level == Level::kDebug || loss.other_tags) {
    lanes = static_cast<RouteBits>(lanes | merged(registry().meters.outputs.load(std::memory_order_relaxed)));
  }
  write_own_text(thread, loss.wall_ns, Level::kWarning, lanes,
                 loss_text(count, key.level, loss.other_tags, loss.tag, loss.reason, {}), count);
  if (BinarySink* binary = binary_of(lanes)) {
    binary->writer().loss(lanes_[kBinaryLane].batch, loss);
    added_to_binary({.level = Level::kWarning});
  }
}

void Backend::write_own_line(std::string_view thread, std::uint64_t ticks, Level level, RouteBits lanes,
                             std::string_view text) {
  std::int64_t wall_ns = clock_.wall_ns(ticks);
  write_own_text(thread, wall_ns, level, lanes, text);
  if (BinarySink* binary = binary_of(lanes)) {
    binary->writer().notice(lanes_[kBinaryLane].batch, {wall_ns, ticks, level, thread, text});
    added_to_binary({.level = level});
  }
}

// To the lanes that take lines; counted for all.
void Backend::write_own_text(std::string_view thread, std::int64_t wall_ns, Level level, RouteBits lanes,
                             std::string_view text, std::uint64_t lost) {
  if (lanes != 0) add(output_control().counters.lines_written, 1);
  LineHead head;
  head.wall_ns = wall_ns;
  head.thread = thread;
  head.level = level;
  head.origin = own_origin();
  if ((lanes & of_entries_) != 0) {
    Entry entry = entries_.make(head, text);
    entry.lost = lost;
    hand_out_entry(lanes, entry, {.level = level});
  }
  if ((lanes & lines_) == 0) return;
  own_line_.clear();
  writer_.append(own_line_, head, targets_.show_location, text);
  line_ = own_line_;
  hand_out(lanes, {.level = level});
}

void Backend::tell_losses_without_ring() {
  DropCounts& drops = ring_table().homeless();
  if (drops.total() == homeless_shown_.total) return;
  for (std::size_t slot = 0; slot < DropCounts::kSlots; ++slot) {
    if (std::uint64_t fresh = homeless_shown_.take_new(slot, drops.count(slot))) {
      write_loss("-", ticks_now(), drops.key(slot), fresh);
    }
  }
}

void Backend::hand_out(RouteBits lanes, LineOrigin origin) {
  for (unsigned left = lanes & lines_; left != 0; left &= left - 1) {
    Lane& lane = lanes_[static_cast<std::size_t>(std::countr_zero(left))];
    lane.batch += line_;
    for (std::size_t end = line_.find('\n'); end != std::string_view::npos; end = line_.find('\n', end + 1)) {
      lane.origins.add(origin);  // a sink says how many lines it did not take
    }
    if (lane.batch.size() >= kBatchBytes) write_lane(lane);
  }
}

void Backend::write_out() {
  for (Lane& lane : lanes_) write_lane(lane);
}

void Backend::count_losses(const Lane& lane, std::uint64_t count) {
  lane.origins.for_last(count, [&](LineOrigin line) { count_loss(lane, line); });
}

void Backend::count_loss(const Lane& lane, LineOrigin line) {
  losses_.add(lane.name, line.thread < rings_.size() ? std::string_view(rings_[line.thread].thread) : "diag", line);
}

void Backend::write_lane(Lane& lane) {
  if (lane.entries != nullptr) return flush_entries(lane);
  bool retry = lane.lost > 0 && steady_clock::now() - lane.tried >= kRetryEvery;
  if (lane.batch.empty() && !retry) return;
  OutputCounters& counters = output_control().counters;
  if (lane.lost > 0) {
    lane.tried = steady_clock::now();
    std::string marker;
    std::uint64_t ticks = ticks_now();
    std::string why = lane.name + ": " + lane.reason;
    if (lane.binary != nullptr) {
      lane.binary->writer().loss(marker, {clock_.wall_ns(ticks), ticks, lane.lost, Level::kWarning, kLostBySink, false, "diag", {}, why});
    } else if (&lane == &lanes_[kJsonLane]) {
      json_.append(marker, loss_entry(lane));
    } else {
      LineHead head;
      head.wall_ns = clock_.wall_ns(ticks);
      head.thread = "diag";
      head.level = Level::kWarning;
      head.origin = own_origin();
      writer_.append(marker, head, targets_.show_location, loss_text(lane.lost, Level::kWarning, false, {}, kLostBySink, why));
    }
    if (lane.write(marker, 1) == 0) {
      lane.lost = 0;
      lane.shown.failing = false;
      ++lane.shown.lines;
    }
  }
  if (lane.batch.empty()) return;
  if (lane.binary != nullptr) keep_last_records();
  const std::uint64_t lines = lane.origins.size();
  std::uint64_t lost = lane.write(lane.batch, lines);
  lane.shown.lines += lines - lost;
  lane.shown.failing = lost > 0;
  lane.failures = lost > 0 ? lane.failures + 1 : 0;
  if (lost > 0) {
    lane.lost += lost;
    add(counters.lines_lost, lost);
    add(counters.sink_errors, 1);
    lane.shown.lost += lost;
    ++lane.shown.errors;
    lane.shown.last_error = lane.reason;
    count_losses(lane, lost);
  }
  lane.batch.clear();
  lane.origins.clear();
}

// The files' own needs, and what they have to say.
void Backend::look_after_files() {
  for (Lane& lane : lanes_) {
    RotatingFile* file = lane.rotating();
    if (file == nullptr) continue;
    file->check(FileTime::now());
    if (&lane == &lanes_[kLogLane] && file->generation() != log_generation_) refresh_lanes();
    for (const FileNotice& notice : file->take_notices()) {
      write_own_line("diag", ticks_now(), notice.level, lanes_by_level_[static_cast<std::size_t>(notice.level)], notice.text);
    }
  }
}

void Backend::publish(std::uint64_t show) try {
  auto now = steady_clock::now();
  if (show == 0 && now - published_ < kPublishEvery) return;
  published_ = now;
  std::vector<SinkState> sinks;
  for (Lane& lane : lanes_) {
    RotatingFile* file = lane.rotating();
    if (lane.shown.lines + lane.shown.lost == 0 && file == nullptr && lane.entries == nullptr) continue;
    sinks.push_back(lane.shown);
    sinks.back().name = lane.name;
    if (file != nullptr) sinks.back().file = file->state();
    if (lane.entries != nullptr) sinks.back().counts = lane.entries->counts();
  }
  std::optional<std::vector<DropState>> losses;
  if (losses_.changed()) losses = losses_.take_changed();
  output_control().publish(std::move(sinks), std::move(losses), show);
} catch (...) {  // out of memory: they see what was
}

void Backend::apply(OutputChange& change) {
  OutputTargets former;  // destroyed, and its files closed, outside the lock
  OutputTargets* next = change.targets ? &*change.targets : nullptr;
  bool same_log = next && next->log_file && targets_.log_file && next->log_path == targets_.log_path;
  bool same_binary = next && next->binary_file && targets_.binary_file && next->binary_path == targets_.binary_path;
  bool same_json = next && next->json_file && targets_.json_file && next->json_path == targets_.json_path;
  bool same_journal = next && next->journald && targets_.journald && next->journald_path == targets_.journald_path &&
                      next->identifier == targets_.identifier && next->facility == targets_.facility;
  bool same_syslog = next && next->syslog && targets_.syslog && next->syslog_path == targets_.syslog_path &&
                     next->identifier == targets_.identifier && next->facility == targets_.facility;
  ExtraSink former_extra;
  {
    std::lock_guard lock(output_control().mutex());
    if (change.targets) {
      former = std::move(targets_);
      targets_ = std::move(*change.targets);
      // One object for one name: it knows what it has rolled and compresses. The new one has only shown
      // that the name can be opened.
      if (same_log) std::swap(targets_.log_file, former.log_file);
      if (same_binary) std::swap(targets_.binary_file, former.binary_file);
      if (same_json) std::swap(targets_.json_file, former.json_file);
      if (same_syslog) std::swap(targets_.syslog, former.syslog);
      if (same_journal) std::swap(targets_.journald, former.journald);  // it counts
    }
    if (change.extra) {
      former_extra = std::move(extra_);
      extra_ = std::move(*change.extra);
    }
  }
  auto begin = [this](RotatingFile& file, bool same) {
    if (same) {
      file.set(targets_.roll, FileTime::now());
      file.reopen(FileTime::now());
    } else {
      file.start(FileTime::now());
    }
  };
  if (change.targets && targets_.log_file) begin(targets_.log_file->file(), same_log);
  if (change.targets && targets_.json_file) begin(targets_.json_file->file(), same_json);
  if (change.targets && targets_.binary_file) {
    begin(targets_.binary_file->file(), same_binary);
    begin_binary();
  }
  refresh_lanes();
  if (change.targets) tell_of_streams();
}

// Rolling is for the log file. Who has it switched on and no line in the file would look for rolled ones.
void Backend::tell_of_streams() {
  bool rolls = targets_.roll.size_bytes != 0 || targets_.roll.interval.count() != 0;
  RouteBits used = 0;
  for (RouteBits lanes : targets_.routes) used = static_cast<RouteBits>(used | lanes);
  bool only_streams = rolls && (used & (kToLogFile | kToBinary | kToJson)) == 0 && (used & (kToStdout | kToStderr)) != 0;
  if (only_streams && !told_no_file_) {
    write_own_line("diag", ticks_now(), Level::kNote, lanes_by_level_[static_cast<std::size_t>(Level::kNote)],
                   "stdout and stderr are not rolled, whatever the settings of the log file say");
  }
  told_no_file_ = only_streams;
}

// Routes that lead to the same file are one lane, else its lines would be there twice. The log file's
// descriptor is preferred: it appends, whatever others do with the file.
void Backend::refresh_lanes() {
  auto set = [](Lane& lane, auto Lane::*part, auto* sink, std::string name) {
    if (lane.*part != sink) {
      lane.lost = 0;
      lane.failures = 0;
      lane.told = false;
    }
    lane.*part = sink;
    lane.name = std::move(name);
  };
  set(lanes_[kStdoutLane], &Lane::stream, &stdout_, "stdout");
  set(lanes_[kStderrLane], &Lane::stream, &stderr_, "stderr");
  set(lanes_[kLogLane], &Lane::file, targets_.log_file.get(), targets_.log_path);
  set(lanes_[kExtraLane], &Lane::extra, extra_.lines.get(), "extra sink");
  set(lanes_[kExtraLane], &Lane::entries, extra_.entries.get(), "extra sink");
  set(lanes_[kBinaryLane], &Lane::binary, targets_.binary_file.get(), targets_.binary_path);
  StreamSink* json = targets_.json_path == kStdout ? &stdout_ : targets_.json_path == kStderr ? &stderr_ : nullptr;
  set(lanes_[kJsonLane], &Lane::file, targets_.json_file.get(), {});
  set(lanes_[kJsonLane], &Lane::stream, json, json == nullptr ? targets_.json_path : targets_.json_path + " (JSON)");
  set(lanes_[kSyslogLane], &Lane::entries, targets_.syslog.get(), targets_.syslog_path);
  set(lanes_[kJournaldLane], &Lane::entries, targets_.journald.get(), targets_.journald_path);
  of_entries_ = kToJson | kToSyslog | kToJournald;
  lines_ = kToStdout | kToStderr | kToLogFile;
  RouteBits& extra = extra_.entries != nullptr ? of_entries_ : lines_;
  extra = static_cast<RouteBits>(extra | kToExtra);
  RotatingFile* log = targets_.log_file ? &targets_.log_file->file() : nullptr;
  int log_fd = log != nullptr ? log->fd() : -1;
  bool out_is_log = stdout_.same_file(log_fd), err_is_log = stderr_.same_file(log_fd);
  bool out_is_err = !out_is_log && stdout_.same_file(stderr_.fd());
  if (log != nullptr) {
    log->keep_still(err_is_log ? "stderr" : out_is_log ? "stdout" : "");
    log_generation_ = log->generation();
  }
  auto merge = [&](RouteBits lanes) {
    auto move = [&lanes](bool wanted, RouteBits from, RouteBits to) {
      if (wanted && (lanes & from) != 0) lanes = static_cast<RouteBits>((lanes & ~from) | to);
    };
    move(out_is_log, kToStdout, kToLogFile);
    move(out_is_err, kToStdout, kToStderr);
    move(err_is_log, kToStderr, kToLogFile);
    move(targets_.stderr_to_journal, kToStderr, kToJournald);
    return lanes;
  };
  for (std::size_t i = 0; i < kLevels; ++i) lanes_by_level_[i] = merge(targets_.routes[i]);
  for (std::size_t i = 0; i < kLanes; ++i) merged_[i] = merge(static_cast<RouteBits>(1u << i));
  clients_.ask(extra_.entries != nullptr || targets_.json_file != nullptr || targets_.syslog != nullptr ||
               targets_.journald != nullptr || lanes_[kJsonLane].stream != nullptr);
}

std::string_view Backend::plugin(std::uint32_t number) {
  if (number == 0) return {};
  std::string& name = plugins_[number < plugins_.size() ? number : 0];
  if (number >= plugins_.size() || name.empty()) name = plugin_name(number);
  return name;
}

void Backend::abandon() noexcept {
  if (targets_.log_file) targets_.log_file->file().abandon();
  if (targets_.binary_file) targets_.binary_file->file().abandon();
  if (targets_.json_file) targets_.json_file->file().abandon();
}

bool in_backend_thread() noexcept { return tl_is_backend; }

}  // namespace telltale::diag
