// SPDX-License-Identifier: Apache-2.0
#pragma once
// RecordLogWriter: appends records to a buffer as frames, and before each whatever a reader needs to know of it.
//
// Every file begins with beginning(): a start frame, and whatever has been announced. So a batch of frames that
// was made before a file is rolled may go into the next one. What was lost is not known to be announced:
// say_all_again() then.
//
// **Thread safety:** thread-compatible.
// Cost of a record: its bytes copied, three bits tested. Names are looked up once.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "record_log.h"

namespace telltale::diag {

// Where the writer learns what numbers mean.
class LogNames {
 public:
  virtual ~LogNames() = default;
  virtual LogSite site(std::uint32_t number) const = 0;  // unknown: all texts are empty
  virtual std::string plugin(std::uint32_t number) const = 0;
};

class RecordLogWriter {
 public:
  RecordLogWriter(const LogNames& names, LogStart start) : names_(names), start_(std::move(start)) {}

  // What a file begins with. Cost: looks up the name of all that has been announced.
  std::string beginning(const LogId& id, std::int64_t wall_ns) const;
  // What has been announced is announced again before it is needed next.
  void say_all_again() noexcept;

  // In force for frames to come; cost nothing until one does. A thread that has been announced is told by
  // beginning() by its new name, so frames made before the change are written out first.
  bool is_announced(std::uint16_t thread) const noexcept { return threads_.has(thread); }
  // `kernel_id`: 0 where it is not known.
  void name_thread(std::uint16_t number, std::string_view name, std::uint32_t kernel_id = 0);
  void set_clock(const ClockContent& clock) noexcept;
  void set_show_location(ShowLocation show) noexcept;

  void record(std::string& out, std::uint16_t thread, const RecordHeader& header, const char* record,
              std::int64_t wall_ns) {
    if (pending_ || !plugins_.has(header.plugin) || !threads_.has(thread) || !sites_.has(header.site)) [[unlikely]] {
      announce(out, thread, header);
    }
    append_record_frame(out, thread, header, record, wall_ns);
  }
  void loss(std::string& out, const LogLoss& loss);
  void notice(std::string& out, const LogNotice& notice);
  void step(std::string& out, const StepContent& step);

 private:
  // Numbers that have been announced. 0 needs no announcing.
  class Numbers {
   public:
    bool has(std::uint32_t n) const noexcept { return n / 64 < words_.size() && (words_[n / 64] >> n % 64 & 1) != 0; }
    void add(std::uint32_t n) {
      if (n / 64 >= words_.size()) words_.resize(n / 64 + 1);
      words_[n / 64] |= std::uint64_t{1} << n % 64;
    }
    void remove(std::uint32_t n) noexcept {
      if (n / 64 < words_.size()) words_[n / 64] &= ~(std::uint64_t{1} << n % 64);
    }
    void clear() noexcept { std::fill(words_.begin(), words_.end(), 0); }
    template <class Visit>
    void each(Visit visit) const {
      for (std::size_t i = 0; i < words_.size(); ++i) {
        for (std::uint64_t word = words_[i]; word != 0; word &= word - 1) {
          visit(static_cast<std::uint32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(word))));
        }
      }
    }

   private:
    std::vector<std::uint64_t> words_;
  };

  void announce(std::string& out, std::uint16_t thread, const RecordHeader& header);
  void say_pending(std::string& out);
  void say_thread(std::string& out, std::uint16_t number) const;
  void say_plugin(std::string& out, std::uint32_t number) const;
  void say_site(std::string& out, std::uint32_t number) const;

  const LogNames& names_;
  LogStart start_;
  bool pending_ = false;  // one of the next two is
  bool clock_pending_ = false, shown_pending_ = false, clock_known_ = false;
  ClockContent clock_{};
  Numbers sites_, plugins_, threads_;
  struct Thread {
    std::string name;
    std::uint32_t kernel_id = 0;
  };
  std::vector<Thread> thread_names_;
};

}  // namespace telltale::diag
