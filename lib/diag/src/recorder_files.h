// SPDX-License-Identifier: Apache-2.0
#pragma once
// RecorderFiles: the recorder's directory of this process, and what is in it.
//
//   dictionary    record_log.h; locked with flock(2) while the process lives
//   clocks        recorder_clock.h
//   output-NN     a thread's ring, with its header (ring_header.h)
//   recorder-NN   the same for what is recorded without output
//
// All are mapped, so a core file has them; not in forked children. The dictionary is written when something
// becomes known, before a record can name it: who interns a site calls knows_site() before it hands it out.
//
// **Thread safety:** thread-safe; one mutex, a leaf, under which files are written.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include <telltale/diag/recorder.h>

#include "recorder_clock.h"
#include "ring_header.h"

namespace telltale::diag {

struct MappedRing {
  char* at = nullptr;  // zeros; null: there is none
  std::size_t bytes = 0;
};

class RecorderFiles {
 public:
  tl::expected<std::string, std::string> open(const RecorderConfig& config);
  bool on() const noexcept { return on_.load(std::memory_order_acquire); }
  std::string directory();
  std::uint64_t bytes();  // of dictionary and clocks

  // A new file of `bytes`. Errors: none; what was wrong is told by take_trouble().
  MappedRing map_ring(RingUse use, std::size_t number, std::size_t bytes) noexcept;
  // Run, pid and the like of rings to come.
  RingAbout describe(RingUse use, std::size_t number) noexcept;

  // Cost while the recorder is off, or the number is known: one load.
  void knows_site(std::uint32_t number) noexcept {
    if (on() && sites_written_.load(std::memory_order_acquire) < number) write_sites();
  }
  void knows_plugin(std::uint32_t number, std::string_view name) noexcept;
  void knows_clock(const ClockContent& clock) noexcept;

  // What went wrong since the last call, as a sentence; empty: nothing. Cost then: one load.
  std::string take_trouble();

  // Around fork(); forget() in the child, which has none of it.
  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }
  void forget() noexcept;

 private:
  void write_sites() noexcept;
  void append(std::string_view frames) noexcept;
  void keep_mapped() noexcept;
  void close_files() noexcept;
  void trouble(std::string what);

  std::mutex mutex_;
  std::atomic<bool> on_{false}, troubled_{false};
  std::atomic<std::uint32_t> sites_written_{0};
  // Guarded by mutex_.
  std::uint32_t tags_written_ = 0;
  std::string directory_, trouble_;
  int directory_fd_ = -1, dictionary_fd_ = -1;
  std::size_t dictionary_bytes_ = 0;
  void* dictionary_mapped_ = nullptr;  // for core files only
  std::size_t dictionary_mapped_bytes_ = 0;
  RecorderClocks* clocks_ = nullptr;
  LogId run_{};
};

// The one; immortal.
RecorderFiles& recorder_files() noexcept;

}  // namespace telltale::diag
