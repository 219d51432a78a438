// SPDX-License-Identifier: Apache-2.0
// See recorder_dump.h; tested in recorder_test.cc.
#include "recorder_dump.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <queue>
#include <system_error>

#include <fmt/format.h>

#include "core_file.h"
#include "record_log_line.h"
#include "recorder_clock.h"
#include "recorder_folder.h"
#include "unique_fd.h"

namespace telltale::diag {

namespace {

constexpr std::size_t kDictionaryBytesMost = 512 * 1024 * 1024;
constexpr std::size_t kRingFilesMost = 1024;
constexpr std::size_t kProblemsMost = 100;

std::string reason(int error) { return std::generic_category().message(error); }

std::size_t read_up_to(int fd, char* to, std::size_t bytes, std::size_t offset = 0) {
  std::size_t done = 0;
  while (done < bytes) {
    ssize_t n = ::pread(fd, to + done, bytes - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

// Nothing that waits or never ends.
UniqueFd open_file(int directory, const char* name, std::size_t& bytes) {
  UniqueFd fd(::openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat is {};
  if (!fd || ::fstat(fd.get(), &is) != 0) return UniqueFd(-1);
  if (!S_ISREG(is.st_mode)) {
    errno = EINVAL;
    return UniqueFd(-1);
  }
  bytes = static_cast<std::size_t>(is.st_size);
  return fd;
}

tl::expected<std::string, int> read_file(int directory, const char* name, std::size_t most) {
  std::size_t bytes = 0;
  UniqueFd fd = open_file(directory, name, bytes);
  if (!fd) return tl::unexpected(errno);
  std::string text(std::min(bytes, most), '\0');
  text.resize(read_up_to(fd.get(), text.data(), text.size()));
  return text;
}

std::vector<std::string> ring_names(int directory) {
  std::vector<std::string> names;
  DIR* list = ::fdopendir(::dup(directory));
  if (list == nullptr) return names;
  ::rewinddir(list);
  while (const dirent* entry = ::readdir(list)) {
    std::string_view name = entry->d_name;
    if (name.starts_with("output-") || name.starts_with("recorder-")) names.emplace_back(name);
  }
  ::closedir(list);
  std::sort(names.begin(), names.end());
  if (names.size() > kRingFilesMost) names.resize(kRingFilesMost);
  return names;
}

struct RingCopy {
  AlignedBytes bytes;
  std::uint64_t claimed_later;
};

// The header before the data: what it calls published is there then. A producer in full flight goes round in less
// time than a reader may be kept from its processor, so one that lost more than half looks again.
std::optional<RingCopy> read_ring(int file, std::size_t size) {
  constexpr int kLooks = 20;
  RingCopy copy{AlignedBytes(size), 0};
  constexpr std::size_t kHead = sizeof(RingHeader);
  char probe[2 * RingImage::kProbeBytes];
  for (int look = 0; look < kLooks; ++look) {
    bool whole = read_up_to(file, copy.bytes.data(), kHead) == kHead &&
                 read_up_to(file, copy.bytes.data() + kHead, size - kHead, kHead) == size - kHead &&
                 read_up_to(file, probe, sizeof probe) == sizeof probe;
    if (!whole) return {};
    copy.claimed_later = RingImage::claimed_in({probe, sizeof probe});
    if (copy.claimed_later - RingImage::claimed_in({copy.bytes.data(), kHead}) < size / 2) break;
  }
  return copy;
}

bool has(int directory, const char* name) { return ::faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0; }

}  // namespace

tl::expected<RecorderDump, std::string> RecorderDump::of_directory(const std::string& path) {
  UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return tl::unexpected(fmt::format("{} cannot be read: {}", path, reason(errno)));
  if (!has(directory.get(), kRecorderDictionary)) {
    UniqueFd current(::openat(directory.get(), kRecorderCurrent, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!current) return tl::unexpected(fmt::format("{} is no directory of a flight recorder: it has no {}", path, kRecorderDictionary));
    directory = std::move(current);
  }
  RecorderDump dump;
  // The rings first: what their records name is in the dictionary by then.
  for (const std::string& name : ring_names(directory.get())) {
    std::size_t size = 0;
    UniqueFd file = open_file(directory.get(), name.c_str(), size);
    char probe[2 * RingImage::kProbeBytes] = {};
    if (!file) {
      dump.problem(fmt::format("{}/{} cannot be read: {}", path, name, reason(errno)));
      continue;
    }
    read_up_to(file.get(), probe, sizeof probe);
    // A thread that is just being given its ring: its process is alive, or died at that moment.
    if (std::all_of(probe, probe + sizeof RingHeader::kMagic, [](char c) { return c == 0; })) continue;
    auto wanted = RingImage::size_of({probe, sizeof probe});
    if (!wanted || *wanted > size) {
      dump.problem(fmt::format("{}/{} is left out: it is no whole ring", path, name));
      continue;
    }
    auto ring = read_ring(file.get(), *wanted);
    if (!ring) {
      dump.problem(fmt::format("{}/{} cannot be read whole", path, name));
      continue;
    }
    dump.take_ring(std::move(ring->bytes), ring->claimed_later, path + "/" + name);
  }
  auto dictionary = read_file(directory.get(), kRecorderDictionary, kDictionaryBytesMost);
  if (!dictionary) return tl::unexpected(fmt::format("{}/{} cannot be read: {}", path, kRecorderDictionary, reason(dictionary.error())));
  dump.take_dictionary(*dictionary, path + "/" + kRecorderDictionary);
  auto clocks = read_file(directory.get(), kRecorderClocks, sizeof(RecorderClocks));
  if (clocks) dump.take_clocks(*clocks);
  return dump;
}

tl::expected<RecorderDump, std::string> RecorderDump::of_core(const std::string& path) {
  auto core = CoreFile::open(path);
  if (!core) return tl::unexpected(core.error());
  RecorderDump dump;
  std::vector<std::string> dictionaries;
  std::string clocks;
  core->for_each_page([&](std::string_view page, std::uint64_t offset, std::uint64_t left) {
    if (auto wanted = RingImage::size_of(page)) {
      if (*wanted > left) return dump.problem(fmt::format("{}: a ring at byte {} is not whole", path, offset));
      AlignedBytes bytes(*wanted);
      if (core->read(offset, bytes.data(), bytes.size())) {
        dump.take_ring(std::move(bytes), {}, fmt::format("{}: the ring at byte {}", path, offset));
      }
    } else if (page.size() >= 16 && std::memcmp(page.data() + 8, kRecordLogMagic, sizeof kRecordLogMagic) == 0) {
      std::string text(std::min<std::uint64_t>(left, kDictionaryBytesMost), '\0');
      if (core->read(offset, text.data(), text.size())) dictionaries.push_back(std::move(text));
    } else if (clocks.empty() && std::memcmp(page.data(), RecorderClocks::kMagic, sizeof RecorderClocks::kMagic) == 0 &&
               left >= sizeof(RecorderClocks)) {
      clocks.resize(sizeof(RecorderClocks));
      if (!core->read(offset, clocks.data(), clocks.size())) clocks.clear();
    }
  });
  if (dump.rings_.empty() || dictionaries.empty()) {
    return tl::unexpected(fmt::format("{} has no flight recorder's {}; the process needs bit 3 (shared file mappings) of "
                                      "/proc/PID/coredump_filter, which telltale sets",
                                      path, dump.rings_.empty() ? "rings" : "dictionary"));
  }
  for (const std::string& text : dictionaries) {
    LogDictionary probe;
    std::string_view rest = text;
    Frame frame;
    if (take_frame(rest, frame) != FrameIs::kWhole || probe.take(frame) || !probe.start()) continue;
    if (std::any_of(dump.rings_.begin(), dump.rings_.end(), [&](const RingImage& r) { return r.run() == probe.start()->id; })) {
      dump.take_dictionary(text, path);
      break;
    }
  }
  if (!clocks.empty()) dump.take_clocks(clocks);
  return dump;
}

bool RecorderDump::is_core(const std::string& path) { return CoreFile::is_one(path); }

void RecorderDump::take_dictionary(std::string_view rest, const std::string& path) {
  Frame frame;
  FrameIs is;
  std::uint64_t bad = 0;
  while ((is = take_frame(rest, frame)) == FrameIs::kWhole) {
    SiteFrameContent site;
    std::uint32_t tag_bytes = 0;
    constexpr std::size_t kFixed = sizeof site + sizeof tag_bytes;
    if (frame.header.kind == FrameKind::kSite && frame.content.size() >= kFixed) {
      std::memcpy(&site, frame.content.data(), sizeof site);
      std::memcpy(&tag_bytes, frame.content.data() + sizeof site, sizeof tag_bytes);
      if (site.number >= kRecorderTagNumbers) {
        if (tags_.size() < kLogSitesMax && tag_bytes <= frame.content.size() - kFixed) {
          tags_[site.number - kRecorderTagNumbers] = frame.content.substr(kFixed, tag_bytes);
        }
        continue;
      }
    }
    if (dictionary_.take(frame)) ++bad;
  }
  // Behind the last frame of a mapped file there are zeros.
  if (is == FrameIs::kBad && rest.find_first_not_of('\0') != std::string_view::npos) ++bad;
  if (bad != 0) problem(fmt::format("{} is damaged in {} place{}", path, bad, bad == 1 ? "" : "s"));
  if (!dictionary_.start()) problem(fmt::format("{} does not say whose it is", path));
}

// Between two of them the rate is known; the last one's own holds from there on.
void RecorderDump::take_clocks(std::string_view bytes) {
  AlignedBytes aligned(sizeof(RecorderClocks));
  if (bytes.size() < aligned.size()) return problem("the clocks are cut: times of day may be wrong");
  std::memcpy(aligned.data(), bytes.data(), aligned.size());
  const auto& file = *reinterpret_cast<const RecorderClocks*>(aligned.data());
  std::vector<ClockContent> clocks;
  for (const auto& level : file.slots) {
    for (const ClockSlot& slot : level) {
      std::uint64_t words[4], check = RecorderClocks::kCheckSeed;
      for (std::size_t i = 0; i < 4; ++i) {
        words[i] = slot.words[i].load(std::memory_order_relaxed);
        check = (check ^ words[i]) * 0x100000001B3;
      }
      if ((check | 1) != slot.check.load(std::memory_order_relaxed)) continue;
      ClockContent clock;
      std::memcpy(&clock, words, sizeof clock);
      clocks.push_back(clock);
    }
  }
  std::sort(clocks.begin(), clocks.end(), [](const auto& a, const auto& b) { return a.ticks < b.ticks; });
  auto same = [](const auto& a, const auto& b) { return a.ticks == b.ticks; };
  clocks.erase(std::unique(clocks.begin(), clocks.end(), same), clocks.end());
  std::string frames;
  for (std::size_t i = 0; i < clocks.size(); ++i) {
    if (i + 1 < clocks.size() && clocks[i + 1].monotonic_ns > clocks[i].monotonic_ns) {
      clocks[i].ns_per_tick = static_cast<double>(clocks[i + 1].monotonic_ns - clocks[i].monotonic_ns) /
                              static_cast<double>(clocks[i + 1].ticks - clocks[i].ticks);
    }
    append_clock_frame(frames, clocks[i]);
  }
  std::string_view rest = frames;
  for (Frame frame; take_frame(rest, frame) == FrameIs::kWhole;) (void)dictionary_.take(frame);
}

void RecorderDump::take_ring(AlignedBytes bytes, std::optional<std::uint64_t> claimed_later, const std::string& name) {
  auto ring = RingImage::read(std::move(bytes), claimed_later);
  if (!ring) return problem(fmt::format("{} is left out: {}", name, ring.error()));
  if (ring->damaged() != 0) problem(fmt::format("{} is damaged in {} place{}", name, ring->damaged(), ring->damaged() == 1 ? "" : "s"));
  if (ring->overwritten() != 0) {
    problem(fmt::format("{}: {} records were overwritten while it was copied", name, ring->overwritten()));
  }
  rings_.push_back(std::move(*ring));
}

void RecorderDump::for_each(const std::function<bool(const LogEvent&)>& take) {
  struct Head {
    std::uint64_t ticks;
    std::size_t ring, entry;
    bool operator>(const Head& other) const { return ticks != other.ticks ? ticks > other.ticks : ring > other.ring; }
  };
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  std::size_t foreign = 0;
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    if (rings_[i].entries().empty()) continue;
    if (start() && rings_[i].run() != start()->id) {
      ++foreign;
      continue;
    }
    heads.push({rings_[i].entries().front().ticks, i, 0});
  }
  if (foreign != 0) problem(fmt::format("{} ring{} of another process {} left out", foreign, foreign == 1 ? "" : "s", foreign == 1 ? "is" : "are"));
  while (!heads.empty()) {
    Head head = heads.top();
    heads.pop();
    const RingImage& ring = rings_[head.ring];
    if (!tell(ring, ring.entries()[head.entry], take)) return;
    if (++head.entry < ring.entries().size()) {
      head.ticks = ring.entries()[head.entry].ticks;
      heads.push(head);
    }
  }
  for (const auto& [what, records] : unreadable_) {
    if (problems_.size() == kProblemsMost) break;
    problem(fmt::format("{} record{} cannot be shown: {}", records, records == 1 ? "" : "s", what));
  }
  unreadable_.clear();
}

bool RecorderDump::tell(const RingImage& ring, const RingImage::Entry& entry, const std::function<bool(const LogEvent&)>& take) {
  if (entry.gap) return tell_gap(ring, entry, take);
  LogEvent event;
  if (auto wrong = dictionary_.event(entry.record, entry.bytes, ring.thread_name(entry.thread), event)) {
    if (unreadable_.size() < kProblemsMost || unreadable_.contains(*wrong)) ++unreadable_[*wrong];
    return true;
  }
  return take(event);
}

bool RecorderDump::tell_gap(const RingImage& ring, const RingImage::Entry& entry,
                            const std::function<bool(const LogEvent&)>& take) {
  RecordHeader header;
  std::memcpy(&header, entry.record, sizeof header);
  for (std::uint64_t i = 0; i < header.connection; ++i) {
    RingGap gap;
    std::memcpy(&gap, entry.record + sizeof header + i * sizeof gap, sizeof gap);
    if (gap.slot >= DropCounts::kSlots || gap.fresh == 0) continue;
    const DropKey key = ring.drops().key(gap.slot);
    LogEvent event;
    event.kind = LogEventKind::kLoss;
    event.head.origin = own_origin();
    event.head.level = Level::kWarning;
    event.head.thread = ring.thread_name(entry.thread);
    event.head.wall_ns = dictionary_.wall_ns(entry.ticks);
    event.ticks = entry.ticks;
    event.process = dictionary_.process();
    event.lost = gap.fresh;
    event.lost_level = static_cast<std::size_t>(key.level) < kLevels ? key.level : Level::kDebug;
    event.of_other_tags = key.tag == kOtherTags;
    event.reason = static_cast<std::uint8_t>(key.reason);
    if (auto tag = tags_.find(key.tag); tag != tags_.end()) event.lost_tag = tag->second;
    if (!take(event)) return false;
  }
  return true;
}

}  // namespace telltale::diag
