// SPDX-License-Identifier: Apache-2.0
// See binary_sink.h; tested in binary_output_test.cc.
#include "binary_sink.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include <fmt/format.h>

#include "move_file.h"
#include "record_log_dictionary.h"

namespace telltale::diag {

using std::chrono::system_clock;

namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(system_clock::now().time_since_epoch()).count();
}

// How many of the first `bytes` bytes are whole events.
std::uint64_t events_in(std::string_view frames, std::size_t bytes) noexcept {
  std::uint64_t events = 0;
  Frame frame;
  for (std::string_view rest = frames.substr(0, bytes); take_frame(rest, frame) == FrameIs::kWhole;) {
    if (tells_an_event(frame.header.kind)) ++events;
  }
  return events;
}

}  // namespace

tl::expected<std::unique_ptr<BinarySink>, std::string> BinarySink::open(const std::string& path, const RollSettings& settings,
                                                                        const LogNames& names, LogStart start) {
  auto fd = open_to_append(path);
  if (!fd) return tl::unexpected(fmt::format("binary log {} cannot be opened: {}", path, error_text(fd.error())));
  struct stat found {};
  if (::fstat(*fd, &found) != 0 || !S_ISREG(found.st_mode)) {
    ::close(*fd);
    return tl::unexpected(fmt::format("binary log {} is not a regular file", path));
  }
  return std::make_unique<BinarySink>(path, *fd, settings, names, std::move(start));
}

std::string BinarySink::Kind::beginning() {
  id_ = new_log_id();
  ++begun;
  return beginning_again();
}

std::string BinarySink::Kind::beginning_again() const { return writer_.beginning(id_, now_ns()); }

std::optional<system_clock::time_point> BinarySink::Kind::first_entry(std::string_view bytes) const {
  StartContent start;
  if (bytes.size() < sizeof(FrameHeader) + sizeof start) return std::nullopt;
  std::memcpy(&start, bytes.data() + sizeof(FrameHeader), sizeof start);
  if (std::memcmp(start.magic, kRecordLogMagic, sizeof start.magic) != 0) return std::nullopt;
  return system_clock::time_point(std::chrono::duration_cast<system_clock::duration>(std::chrono::nanoseconds(start.wall_ns)));
}

std::uint64_t BinarySink::write(std::string_view frames, std::uint64_t events, FileTime now) noexcept try {
  if (frames.empty()) return 0;
  const std::uint64_t begun_before = kind_.begun;
  std::string with_beginning;
  std::size_t extra = 0;
  if (file_.generation() != begun_generation_ && file_.state().bytes != 0) {
    with_beginning = kind_.beginning_again();
    extra = with_beginning.size();
    with_beginning += frames;
  }
  std::string_view all = extra == 0 ? frames : std::string_view(with_beginning);
  std::size_t done = file_.append(all, now);
  if (done == all.size() && (extra != 0 || kind_.begun != begun_before)) begun_generation_ = file_.generation();
  if (done == all.size()) return 0;
  // What was written of it, if anything, is torn.
  if (done > 0 || file_.generation() != begun_generation_) begun_generation_ = 0;
  writer_.say_all_again();
  return events - std::min(events, done > extra ? events_in(frames, done - extra) : 0);
} catch (...) {  // out of memory
  writer_.say_all_again();
  return events;
}

}  // namespace telltale::diag
