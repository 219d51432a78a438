// SPDX-License-Identifier: Apache-2.0
// See record_log.h; tested in record_log_test.cc.
#include "record_log.h"

#include <fcntl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <initializer_list>

namespace telltale::diag {

namespace {

constexpr std::size_t kNameBytesMax = 4096;     // of a file, a function, a module ...
constexpr std::size_t kTextBytesMost = 65536;   // of a format, a notice

// A frame being appended; its end pads it and writes its length.
class Frame {
 public:
  Frame(std::string& out, FrameKind kind, std::uint16_t thread = 0) : out_(out), at_(out.size()) {
    FrameHeader header{0, kind, thread};
    content(header);
  }
  ~Frame() {
    out_.resize((out_.size() - at_ + 7) / 8 * 8 + at_, '\0');
    auto bytes = static_cast<std::uint32_t>(out_.size() - at_);
    std::memcpy(out_.data() + at_, &bytes, sizeof bytes);
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  template <class T>
  Frame& content(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Frame& text(std::string_view text, std::size_t most = kNameBytesMax) {
    text = text.substr(0, argument_detail::cut(text, most));
    content(static_cast<std::uint32_t>(text.size()));
    out_.append(text);
    return *this;
  }

 private:
  std::string& out_;
  const std::size_t at_;
};

std::string first_line_of(const char* path) {
  char text[64];
  int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  ssize_t n = ::read(fd, text, sizeof text);
  ::close(fd);
  std::string_view all(text, n > 0 ? static_cast<std::size_t>(n) : 0);
  return std::string(all.substr(0, all.find('\n')));
}

}  // namespace

LogId new_log_id() {
  LogId id;
  while (::getrandom(&id, sizeof id, 0) < 0 && errno == EINTR) {
  }
  return id;
}

LogStart log_start_of_this_process(std::int64_t began_wall_ns) {
  LogStart start;
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  start.wall_ns = static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
  start.began_wall_ns = began_wall_ns;
  start.pid = static_cast<std::uint32_t>(::getpid());
  start.id = new_log_id();
  start.boot_id = first_line_of("/proc/sys/kernel/random/boot_id");
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) == 0) start.host = host;
  start.program = program_invocation_short_name;
  return start;
}

void append_start_frame(std::string& out, const LogStart& start) {
  StartContent content{};
  std::memcpy(content.magic, kRecordLogMagic, sizeof content.magic);
  content.version = kRecordLogVersion;
  content.byte_order = kRecordLogByteOrder;
  content.id = start.id;
  content.wall_ns = start.wall_ns;
  content.began_wall_ns = start.began_wall_ns;
  content.pid = start.pid;
  content.show_location = static_cast<std::uint32_t>(start.show_location);
  Frame(out, FrameKind::kStart).content(content).text(start.boot_id).text(start.host).text(start.program);
}

void append_site_frame(std::string& out, const LogSite& site) {
  Frame(out, FrameKind::kSite)
      .content(SiteFrameContent{site.id, site.number, site.line})
      .text(site.tag)
      .text(site.format, kTextBytesMost)
      .text(site.file)
      .text(site.function)
      .text(site.module);
}

void append_thread_frame(std::string& out, std::uint16_t number, std::uint32_t kernel_id, std::string_view name) {
  Frame(out, FrameKind::kThread, number).content(kernel_id).content(std::uint32_t{0}).text(name);
}

void append_plugin_frame(std::string& out, std::uint32_t number, std::string_view name) {
  Frame(out, FrameKind::kPlugin).content(number).content(std::uint32_t{0}).text(name);
}

void append_clock_frame(std::string& out, const ClockContent& clock) { Frame(out, FrameKind::kClock).content(clock); }

void append_record_frame(std::string& out, std::uint16_t thread, const RecordHeader& header, const char* record,
                         std::int64_t wall_ns) {
  struct {
    FrameHeader frame;
    std::int64_t wall_ns;
  } head{{static_cast<std::uint32_t>(kRecordFrameHeadBytes + header.size_bytes), FrameKind::kRecord, thread}, wall_ns};
  static_assert(sizeof head == kRecordFrameHeadBytes);
  out.append(reinterpret_cast<const char*>(&head), sizeof head);
  out.append(record, header.size_bytes);
}

void append_loss_frame(std::string& out, const LogLoss& loss) {
  LossContent content{};
  content.wall_ns = loss.wall_ns;
  content.ticks = loss.ticks;
  content.count = loss.count;
  content.level = loss.level;
  content.reason = loss.reason;
  content.other_tags = loss.other_tags ? 1 : 0;
  Frame(out, FrameKind::kLoss).content(content).text(loss.thread).text(loss.tag).text(loss.detail);
}

void append_notice_frame(std::string& out, const LogNotice& notice) {
  NoticeContent content{};
  content.wall_ns = notice.wall_ns;
  content.ticks = notice.ticks;
  content.level = notice.level;
  Frame(out, FrameKind::kNotice).content(content).text(notice.thread).text(notice.text, kTextBytesMost);
}

void append_step_frame(std::string& out, const StepContent& step) { Frame(out, FrameKind::kStep).content(step); }

void append_shown_frame(std::string& out, ShowLocation show) {
  Frame(out, FrameKind::kShown).content(static_cast<std::uint32_t>(show)).content(std::uint32_t{0});
}

}  // namespace telltale::diag
