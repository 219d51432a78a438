// SPDX-License-Identifier: Apache-2.0
// See recorder_files.h; tested in recorder_test.cc.
#include "recorder_files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "recorder_folder.h"
#include "registry.h"
#include "ticks.h"

namespace telltale::diag {

namespace {

constexpr std::size_t kPage = 4096;

// A file of that size, all of whose pages exist, mapped. A page that a full tmpfs could not give later would
// end the process by SIGBUS, so posix_fallocate() asks for all of them now. Null: errno says why.
void* map_file(int directory, const char* name, std::size_t bytes) noexcept {
  int fd = ::openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return nullptr;
  int error;
  do error = ::posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  while (error == EINTR);
  void* at = MAP_FAILED;
  if (error == 0) {
    at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    error = errno;
  }
  ::close(fd);
  if (at == MAP_FAILED) {
    ::unlinkat(directory, name, 0);
    errno = error;
    return nullptr;
  }
  ::madvise(at, bytes, MADV_DONTFORK);  // a forked child must not write into its parent's ring
  return at;
}

}  // namespace

RecorderFiles& recorder_files() noexcept {
  alignas(RecorderFiles) static char memory[sizeof(RecorderFiles)];
  static RecorderFiles* files = new (memory) RecorderFiles;
  return *files;
}

tl::expected<std::string, std::string> RecorderFiles::open(const RecorderConfig& config) {
  choose_ticks();
  {
    std::lock_guard lock(mutex_);
    if (on()) return tl::unexpected(fmt::format("the flight recorder is on already, in {}", directory_));
    if (config.folder.empty()) return tl::unexpected<std::string>("the flight recorder needs a folder");
    auto fresh = make_recorder_directory(config);
    if (!fresh) return tl::unexpected(std::move(fresh.error()));
    directory_fd_ = fresh->directory_fd;
    dictionary_fd_ = fresh->dictionary_fd;
    directory_ = config.folder + "/" + kRecorderCurrent;
    void* clocks = map_file(directory_fd_, kRecorderClocks, sizeof(RecorderClocks));
    if (clocks == nullptr) {
      std::string why = fmt::format("{}/{} cannot be made: {}", directory_, kRecorderClocks, std::generic_category().message(errno));
      ::unlinkat(directory_fd_, kRecorderDictionary, 0);
      ::rmdir(directory_.c_str());
      close_files();
      return tl::unexpected(std::move(why));
    }
    LogStart start = log_start_of_this_process(first_sample().wall_ns);
    run_ = start.id;
    clocks_ = new (clocks) RecorderClocks;
    clocks_->run[0] = run_.words[0];
    clocks_->run[1] = run_.words[1];
    std::memcpy(clocks_->magic, RecorderClocks::kMagic, sizeof clocks_->magic);
    std::string frames;
    append_start_frame(frames, start);
    const ClockSample now = sample_clocks();
    // Of a counter's rate nothing is known yet that would be worth keeping: the first second is short.
    const ClockSample& first = first_sample();
    double rate = ticks_are_tsc ? 1.0 / 3.0 : 1.0;
    if (ticks_are_tsc && now.monotonic_ns - first.monotonic_ns > 1'000'000) {
      rate = static_cast<double>(now.monotonic_ns - first.monotonic_ns) / static_cast<double>(now.ticks - first.ticks);
    }
    ClockContent clock{now.ticks, now.monotonic_ns, now.wall_ns, rate};
    append_clock_frame(frames, clock);
    clocks_->add(clock);
    dictionary_bytes_ = 0;
    append(frames);
    sites_written_.store(0, std::memory_order_relaxed);
    tags_written_ = 0;
    on_.store(true, std::memory_order_release);
  }
  // Who interns a site from here on writes it itself.
  write_sites();
  return directory();
}

std::string RecorderFiles::directory() {
  std::lock_guard lock(mutex_);
  return on() ? directory_ : std::string();
}

std::uint64_t RecorderFiles::bytes() {
  std::lock_guard lock(mutex_);
  return on() ? dictionary_bytes_ + sizeof(RecorderClocks) : 0;
}

MappedRing RecorderFiles::map_ring(RingUse use, std::size_t number, std::size_t bytes) noexcept try {
  std::lock_guard lock(mutex_);
  if (!on()) return {};
  char name[32];
  std::snprintf(name, sizeof name, "%s-%02zu", use == RingUse::kOutput ? "output" : "recorder", number);
  void* at = map_file(directory_fd_, name, bytes);
  if (at == nullptr) {
    trouble(fmt::format("flight recorder: {}/{} cannot be made: {}; this thread's records are in private memory", directory_,
                        name, std::generic_category().message(errno)));
    return {};
  }
  return {static_cast<char*>(at), bytes};
} catch (...) {
  return {};
}

RingAbout RecorderFiles::describe(RingUse use, std::size_t number) noexcept {
  std::lock_guard lock(mutex_);
  RingAbout about;
  about.use = use;
  about.number = static_cast<std::uint32_t>(number);
  about.pid = static_cast<std::uint32_t>(::getpid());
  if (on()) {
    about.run[0] = run_.words[0];
    about.run[1] = run_.words[1];
  }
  return about;
}

// All that the tables have and the file has not; numbers are dense, and an entry is whole before it has one.
void RecorderFiles::write_sites() noexcept try {
  std::lock_guard lock(mutex_);
  if (!on()) return;
  std::string frames;
  Registry& all = registry();
  const std::uint32_t sites = all.sites.size(), tags = all.tags.size();
  for (std::uint32_t n = tags_written_ + 1; n <= tags; ++n) {
    append_site_frame(frames, {.number = kRecorderTagNumbers + n, .tag = all.tags.at(n).name});
  }
  for (std::uint32_t n = sites_written_.load(std::memory_order_relaxed) + 1; n <= sites; ++n) {
    const SiteEntry& site = all.sites.at(n);
    append_site_frame(frames, {.id = site.history->hash,
                               .number = n,
                               .line = site.line,
                               .tag = site.tag->name,
                               .format = site.format,
                               .file = site.file,
                               .function = site.function,
                               .module = site.module});
  }
  append(frames);
  tags_written_ = tags;
  sites_written_.store(sites, std::memory_order_release);
} catch (...) {  // out of memory: the next one who comes tries again
}

void RecorderFiles::knows_plugin(std::uint32_t number, std::string_view name) noexcept try {
  if (!on()) return;
  std::lock_guard lock(mutex_);
  if (!on()) return;
  std::string frame;
  append_plugin_frame(frame, number, name);
  append(frame);
} catch (...) {
}

void RecorderFiles::knows_clock(const ClockContent& clock) noexcept {
  if (!on()) return;
  std::lock_guard lock(mutex_);
  if (clocks_ != nullptr) clocks_->add(clock);
}

// A frame that is not whole is taken back: what is appended behind it must be found.
void RecorderFiles::append(std::string_view frames) noexcept {
  if (frames.empty()) return;
  std::size_t done = 0;
  while (done < frames.size()) {
    ssize_t n = ::write(dictionary_fd_, frames.data() + done, frames.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  if (done < frames.size()) {
    int error = errno;
    [[maybe_unused]] int taken_back = ::ftruncate(dictionary_fd_, static_cast<off_t>(dictionary_bytes_));
    try {
      trouble(fmt::format("flight recorder: {}/{} cannot be written: {}; some records will have no text", directory_,
                          kRecorderDictionary, std::generic_category().message(error)));
    } catch (...) {
    }
    return;
  }
  dictionary_bytes_ += frames.size();
  keep_mapped();
}

void RecorderFiles::keep_mapped() noexcept {
  std::size_t wanted = (dictionary_bytes_ + kPage - 1) / kPage * kPage;
  if (wanted == dictionary_mapped_bytes_) return;
  if (dictionary_mapped_ != nullptr) ::munmap(dictionary_mapped_, dictionary_mapped_bytes_);
  dictionary_mapped_ = ::mmap(nullptr, wanted, PROT_READ, MAP_SHARED, dictionary_fd_, 0);
  if (dictionary_mapped_ == MAP_FAILED) {
    dictionary_mapped_ = nullptr;
    wanted = 0;
  }
  dictionary_mapped_bytes_ = wanted;
  if (wanted != 0) ::madvise(dictionary_mapped_, wanted, MADV_DONTFORK);
}

void RecorderFiles::trouble(std::string what) {
  trouble_ = std::move(what);
  troubled_.store(true, std::memory_order_release);
}

std::string RecorderFiles::take_trouble() {
  if (!troubled_.load(std::memory_order_acquire)) return {};
  std::lock_guard lock(mutex_);
  troubled_.store(false, std::memory_order_relaxed);
  return std::exchange(trouble_, {});
}

void RecorderFiles::close_files() noexcept {
  for (int* fd : {&directory_fd_, &dictionary_fd_}) {
    if (*fd >= 0) ::close(*fd);
    *fd = -1;
  }
}

// The mappings are not in the child (MADV_DONTFORK). The lock is the parent's, too, while we have its file open.
void RecorderFiles::forget() noexcept {
  on_.store(false, std::memory_order_relaxed);
  close_files();
  clocks_ = nullptr;
  dictionary_mapped_ = nullptr;
  dictionary_mapped_bytes_ = 0;
}

}  // namespace telltale::diag
