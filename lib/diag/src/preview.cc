// SPDX-License-Identifier: Apache-2.0
//
// A preview is a lease whose sites only count. What was counted is the difference between two readings of
// every site's counter; so there is one preview at a time. Bytes are an estimate: nothing is formatted.
#include <telltale/diag/site_list.h>

#include <time.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "preview.h"
#include "record_reader.h"
#include "registry.h"
#include "site_line.h"

namespace telltale::diag {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

struct Running {
  std::mutex mutex;
  // Guarded by mutex.
  std::uint64_t id = 0;
  SteadyTime began, ends;
  bool over = true;
  std::vector<std::uint64_t> sites, tags;  // counted before, by number - 1
};
Running& running() {
  static Running* one = new Running;
  return *one;
}

// The lease of kind kCount that ended last; there is one at a time. `at` is written before `lease`, with release.
struct Ended {
  std::atomic<std::uint64_t> lease{0};
  std::atomic<SteadyTime::rep> at{0};
};
constinit Ended ended;

// When the preview's lease was ended, or will end.
SteadyTime end_of(const Running& one) {
  if (ended.lease.load(std::memory_order_acquire) != one.id) return one.ends;
  const SteadyTime at{SteadyTime::duration{ended.at.load(std::memory_order_relaxed)}};
  return std::clamp(at, one.began, one.ends);
}

// What a line of this site is long: from those it has written, else from its format.
double bytes_per_line(const SiteEntry& entry) {
  std::uint64_t lines = entry.history->lines.load(std::memory_order_relaxed);
  if (lines != 0)
    return static_cast<double>(entry.history->bytes.load(std::memory_order_relaxed)) / static_cast<double>(lines);
  constexpr std::size_t kHead = 70, kPerArgument = 12;  // time, thread, level and ids; "{}" becomes something
  auto arguments = static_cast<std::size_t>(std::count(entry.format.begin(), entry.format.end(), '{'));
  return static_cast<double>(kHead + entry.tag->name.size() + entry.file.size() + entry.function.size() +
                             entry.format.size() + arguments * kPerArgument);
}

std::int64_t thread_cpu_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// CPU time of one line from the site's enabled branch to the sink's buffer, by a trial of its larger part.
double nanoseconds_per_line() {
  constexpr double kCopyAndWriteNs = 300;  // into the ring, out of it, and its share of a write()
  constexpr int kTrials = 200;
  struct {
    RecordHeader header;
    char arguments[128];
  } record{};
  char* at = put(record.arguments, std::string_view("www.example.com/a/path"));
  at = put(at, 200ULL);
  record.header.size_bytes = static_cast<std::uint32_t>(at - reinterpret_cast<char*>(&record));
  record.header.argument_count = 2;
  LineWriter writer;
  TextBuffer line;
  LineHead head;
  head.thread = "worker-0";
  head.origin = {"http", "{}: answered with {}", "txn/transaction.cc", "run", 100};
  head.connection = head.transaction = 100;
  const SiteLine site(head.origin, head.level, ShowLocation::kDebugLines);
  std::int64_t before = thread_cpu_ns();
  for (int i = 0; i < kTrials; ++i) {
    line.clear();
    head.wall_ns += 1000;
    site.append(line, writer, head, RecordReader(reinterpret_cast<const char*>(&record), record.header));
  }
  return kCopyAndWriteNs + static_cast<double>(thread_cpu_ns() - before) / kTrials;
}

void loudest_first(std::vector<PreviewRow>& rows) {
  std::sort(rows.begin(), rows.end(), [](const PreviewRow& a, const PreviewRow& b) {
    return a.lines != b.lines ? a.lines > b.lines : a.name < b.name;
  });
}

std::uint64_t former(const std::vector<std::uint64_t>& before, std::uint32_t number) {
  return number <= before.size() ? before[number - 1] : 0;
}

Preview difference(const Running& from) {
  Registry& all = registry();
  Preview preview;
  std::map<std::string_view, PreviewRow> tags;
  auto add = [&](std::string_view tag, std::uint64_t lines, double bytes_each) {
    auto bytes = static_cast<std::uint64_t>(static_cast<double>(lines) * bytes_each);
    PreviewRow& row = tags[tag];
    row.lines += lines;
    row.bytes += bytes;
    preview.lines += lines;
    preview.bytes += bytes;
    return bytes;
  };
  for (std::uint32_t number = 1, count = all.histories.size(); number <= count; ++number) {
    const SiteHistory& history = all.histories.at(number);
    std::uint64_t lines = history.counted.load(std::memory_order_relaxed) - former(from.sites, number);
    const SiteEntry* entry = all.sites.by_number(history.newest.load(std::memory_order_relaxed));
    if (lines == 0 || entry == nullptr) continue;
    std::uint64_t bytes = add(history.tag->name, lines, bytes_per_line(*entry));
    preview.sites.push_back({fmt::format("{}:{} ({})", entry->file, entry->line, entry->function), lines, bytes});
  }
  for (std::uint32_t number = 1, count = all.tags.size(); number <= count; ++number) {
    const Tag& tag = all.tags.at(number);
    std::uint64_t lines = tag.counted.load(std::memory_order_relaxed) - former(from.tags, number);
    constexpr double kNoSiteBytes = 160;
    if (lines != 0) add(tag.name, lines, kNoSiteBytes);
  }
  for (auto& [tag, row] : tags) {
    row.name = tag;
    preview.tags.push_back(std::move(row));
  }
  loudest_first(preview.tags);
  loudest_first(preview.sites);
  if (preview.sites.size() > kLoudestSites) preview.sites.resize(kLoudestSites);
  return preview;
}

}  // namespace

void note_preview_end(std::uint64_t lease, SteadyTime at) noexcept {
  ended.at.store(at.time_since_epoch().count(), std::memory_order_relaxed);
  ended.lease.store(lease, std::memory_order_release);
}

tl::expected<OpenedLease, Refusal> begin_preview(LeaseRequest request, SteadyTime now) {
  if (!request.duration || *request.duration > kPreviewMax) {
    return tl::unexpected(Refusal{fmt::format("a preview takes at most {} s", kPreviewMax.count()), std::nullopt});
  }
  request.kind = LeaseKind::kCount;
  request.max_lines = 0;
  request.replaces = 0;
  Running& one = running();
  std::lock_guard guard(one.mutex);
  if (!one.over && now < end_of(one))
    return tl::unexpected(Refusal{"a preview is running; there is one at a time", std::nullopt});
  if (!one.over) (void)end_lease(one.id);
  Registry& all = registry();
  std::vector<std::uint64_t> sites, tags;
  for (std::uint32_t number = 1, count = all.histories.size(); number <= count; ++number) {
    sites.push_back(all.histories.at(number).counted.load(std::memory_order_relaxed));
  }
  for (std::uint32_t number = 1, count = all.tags.size(); number <= count; ++number) {
    tags.push_back(all.tags.at(number).counted.load(std::memory_order_relaxed));
  }
  auto opened = open_lease(request, now);
  if (!opened) return opened;
  one.id = opened->lease.id;
  one.began = now;
  one.ends = now + *request.duration;
  one.over = false;
  one.sites = std::move(sites);
  one.tags = std::move(tags);
  return opened;
}

tl::expected<Preview, Refusal> end_preview(std::uint64_t id, SteadyTime now) {
  Running& one = running();
  std::lock_guard guard(one.mutex);
  if (one.id == 0 || id != one.id || one.over) {
    return tl::unexpected(Refusal{fmt::format("{} is no preview that is running", id), std::nullopt});
  }
  const SteadyTime end = std::min(now, end_of(one));
  (void)end_lease(id);  // where its time was up, or somebody ended it, it is gone already
  one.over = true;
  Preview preview = difference(one);
  preview.time = end - one.began;
  double seconds = std::max(preview.time.count(), 1e-3);
  preview.core_share = static_cast<double>(preview.lines) / seconds * nanoseconds_per_line() * 1e-9;
  return preview;
}

}  // namespace telltale::diag
