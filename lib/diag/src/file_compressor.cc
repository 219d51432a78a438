// SPDX-License-Identifier: Apache-2.0
// See file_compressor.h.
#include "file_compressor.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace telltale::diag {

struct FileCompressor::Job {
  std::string source, compressed, part;
  std::uint64_t source_bytes = 0;
  int error = 0;
  std::atomic<Result> result{Result::kBusy};  // release by the thread, acquire by the owner: all of the above
  std::atomic<bool> cancelled{false};         // relaxed: only a hint to end
};

namespace {

using Job = FileCompressor::Job;
using Result = FileCompressor::Result;

class File {
 public:
  File(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }

  // Bytes; 0 at the end; -1.
  ssize_t read(char* into, std::size_t bytes) const {
    ssize_t n;
    do {
      n = ::read(fd_, into, bytes);
    } while (n < 0 && errno == EINTR);
    return n;
  }
  bool write(const char* from, std::size_t bytes) const {
    while (bytes > 0) {
      ssize_t n = ::write(fd_, from, bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      from += n;
      bytes -= static_cast<std::size_t>(n);
    }
    return true;
  }

 private:
  int fd_;
};

Result failed(Job& job, int error) {
  job.error = error;
  return Result::kFailed;
}

Result compress(Job& job) {
  File in(job.source, O_RDONLY);
  if (!in) return failed(job, errno);
  struct stat source {};
  if (::fstat(in.get(), &source) != 0) return failed(job, errno);
  File out(job.part, O_WRONLY | O_CREAT | O_EXCL);
  if (!out) return failed(job, errno);
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  if (!context) return failed(job, ENOMEM);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::vector<char> from(ZSTD_CStreamInSize()), to(ZSTD_CStreamOutSize());
  for (bool last = false; !last;) {
    if (job.cancelled.load(std::memory_order_relaxed)) return failed(job, ECANCELED);
    ssize_t n = in.read(from.data(), from.size());
    if (n < 0) return failed(job, errno);
    last = n == 0;
    job.source_bytes += static_cast<std::uint64_t>(n);
    ZSTD_inBuffer input{from.data(), static_cast<std::size_t>(n), 0};
    for (bool more = true; more;) {
      ZSTD_outBuffer output{to.data(), to.size(), 0};
      std::size_t left = ZSTD_compressStream2(context.get(), &output, &input, last ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left)) return failed(job, 0);
      if (!out.write(to.data(), output.pos)) return failed(job, errno);
      more = last ? left != 0 : input.pos < input.size;
    }
  }
  // Its age counts from when its content was written. On disk before its source goes.
  timespec times[2] = {source.st_mtim, source.st_mtim};
  ::futimens(out.get(), times);
  if (::fsync(out.get()) != 0) return failed(job, errno);
  ::posix_fadvise(in.get(), 0, 0, POSIX_FADV_DONTNEED);
  return Result::kMade;
}

Result compare(Job& job) {
  File plain(job.source, O_RDONLY), in(job.compressed, O_RDONLY);
  if (!plain || !in) return failed(job, errno);
  std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  if (!context) return failed(job, ENOMEM);
  std::vector<char> from(ZSTD_DStreamInSize()), to(ZSTD_DStreamOutSize()), other(to.size());
  std::size_t left = 1;  // 0: at the end of a frame
  for (;;) {
    if (job.cancelled.load(std::memory_order_relaxed)) return failed(job, ECANCELED);
    ssize_t n = in.read(from.data(), from.size());
    if (n < 0) return failed(job, errno);
    if (n == 0) break;
    ZSTD_inBuffer input{from.data(), static_cast<std::size_t>(n), 0};
    bool full = false;
    while (input.pos < input.size || full) {
      ZSTD_outBuffer output{to.data(), to.size(), 0};
      left = ZSTD_decompressStream(context.get(), &output, &input);
      if (ZSTD_isError(left)) return Result::kDiffers;
      full = left != 0 && output.pos == output.size;
      for (std::size_t have = 0; have < output.pos;) {
        ssize_t got = plain.read(other.data(), output.pos - have);
        if (got < 0) return failed(job, errno);
        if (got == 0 || std::memcmp(other.data(), to.data() + have, static_cast<std::size_t>(got)) != 0) return Result::kDiffers;
        have += static_cast<std::size_t>(got);
        job.source_bytes += static_cast<std::uint64_t>(got);
      }
    }
  }
  if (left != 0) return Result::kDiffers;  // cut short
  ssize_t more = plain.read(other.data(), 1);
  if (more < 0) return failed(job, errno);
  return more == 0 ? Result::kSame : Result::kDiffers;
}

void* run(void* handed) {
  std::unique_ptr<std::shared_ptr<Job>> own(static_cast<std::shared_ptr<Job>*>(handed));
  Job& job = **own;
  pthread_setname_np(pthread_self(), "telltale-zstd");
  sched_param none{};
  if (sched_setscheduler(0, SCHED_IDLE, &none) != 0) setpriority(PRIO_PROCESS, 0, 19);  // 0: this thread
  Result result;
  try {
    result = job.part.empty() ? compare(job) : compress(job);
  } catch (...) {
    result = failed(job, ENOMEM);
  }
  job.result.store(result, std::memory_order_release);
  return nullptr;
}

}  // namespace

bool FileCompressor::begin(const std::string& source, const std::string& compressed, const std::string& part) {
  if (job_) return false;
  auto job = std::make_shared<Job>();
  job->source = source;
  job->compressed = compressed;
  job->part = part;
  auto handed = std::make_unique<std::shared_ptr<Job>>(job);
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  bool made = pthread_create(&thread, &detached, run, handed.get()) == 0;
  pthread_attr_destroy(&detached);
  if (!made) return false;
  (void)handed.release();
  job_ = std::move(job);
  return true;
}

FileCompressor::Result FileCompressor::look() {
  if (!job_) return Result::kIdle;
  Result result = job_->result.load(std::memory_order_acquire);
  if (result == Result::kBusy) return result;
  source_ = std::move(job_->source);
  compressed_ = std::move(job_->compressed);
  part_ = std::move(job_->part);
  source_bytes_ = job_->source_bytes;
  error_ = job_->error;
  job_.reset();
  return result;
}

void FileCompressor::cancel() noexcept {
  if (job_) job_->cancelled.store(true, std::memory_order_relaxed);
}

}  // namespace telltale::diag
