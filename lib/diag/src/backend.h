// SPDX-License-Identifier: Apache-2.0
#pragma once
// Backend: the one thread that drains the rings, merges their records by time, makes lines, writes them.
//
// A pass takes a snapshot of every ring's end and merges up to it. Each ring is in order, so it is a
// k-way merge by stamp. A record younger than the grace (1 ms) waits for the
// next pass, because another thread may have taken an earlier stamp and not published yet; when
// somebody waits for a flush there is no grace. Order within a thread is exact, always.
//
// Lines gather in one buffer per sink: one write per pass, or per 64 KiB. The binary log's buffer gets records as
// they are (backend_binary.cc); what goes nowhere else is not formatted. Other sinks take entries
// (backend_entries.cc). Idle, the thread sleeps 0.1 ms, doubling to 50 ms.
//
// **Thread safety:** only by its thread, but start_backend_thread() and in_backend_thread().

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "backend_lane.h"
#include "client_names.h"
#include "entry_json.h"
#include "entry_maker.h"
#include "line.h"
#include "output_control.h"
#include "ring_reader.h"
#include "sink_losses.h"
#include "site_lines.h"
#include "ticks.h"

namespace telltale::diag {

class Backend {
 public:
  Backend();
  void run();

  // In a forked child: closes what the child inherited.
  void abandon() noexcept;

 private:
  enum class Found { kNothing, kYoung, kSome };

  void sample_clock();
  void tell_recorder(const ClockSample& sample, std::chrono::steady_clock::time_point now, bool at_once);
  Found drain(const OutputPlan& plan);
  void consume(RingReader& ring, const RecordHeader& header);
  LineHead head_of(std::string_view thread, const RecordHeader& header, std::int64_t wall_ns);
  bool hold_alone(RingReader& ring, const RecordHeader& header, const char* record);
  std::string_view held_line(std::string_view thread, const RecordHeader& header, const char* record);
  void write_record(RingReader& ring, const RecordHeader& header, const char* record);
  void write_gap(RingReader& ring, const RecordHeader& header, const char* record);
  void write_loss(std::string_view thread, std::uint64_t ticks, const DropKey& key, std::uint64_t count);
  RouteBits lanes_of(const RecordHeader& header) const noexcept;
  RouteBits merged(RouteBits outputs) const noexcept;
  void write_own_line(std::string_view thread, std::uint64_t ticks, Level level, RouteBits lanes, std::string_view text);
  void write_own_text(std::string_view thread, std::int64_t wall_ns, Level level, RouteBits lanes, std::string_view text,
                      std::uint64_t lost = 0);
  void tell_losses_without_ring();
  LineOrigin origin_of(const RingReader& ring, const RecordHeader& header, const char* record);
  void hand_out(RouteBits lanes, LineOrigin origin);
  void count_losses(const Lane& lane, std::uint64_t count);
  void count_loss(const Lane& lane, LineOrigin line);
  void keep_last(const RecordHeader& header, const char* record, std::string_view thread, std::int64_t wall_ns);
  void write_out();
  void write_lane(Lane& lane);
  void apply(OutputChange& change);
  void refresh_lanes();
  void tell_of_streams();
  void look_after_files();
  void tell_of_failures();
  void publish(std::uint64_t show);
  std::string_view plugin(std::uint32_t number);
  std::int64_t wall_ns_of(const RecordHeader& header) noexcept;
  void name_thread(RingReader& ring, std::string_view name, std::uint32_t kernel_id);

  // The binary log; see backend_binary.cc.
  BinarySink* binary_of(RouteBits lanes) noexcept;
  void added_to_binary(LineOrigin origin);
  void write_binary(RingReader& ring, const RecordHeader& header, const char* record, std::int64_t wall_ns, bool formatted,
                    LineOrigin origin);
  void keep_last_records();
  void begin_binary();

  // Entries; see backend_entries.cc.
  void write_entry(RouteBits lanes, const LineHead& head, RecordReader arguments, LineOrigin origin);
  void hand_out_entry(RouteBits lanes, const Entry& entry, LineOrigin origin);
  bool tell_loss_to(Lane& lane);
  void tell_notices();
  void flush_entries(Lane& lane);
  Entry loss_entry(const Lane& lane);  // valid until the next one

  WallClock clock_;
  std::chrono::steady_clock::time_point sampled_{}, recorder_told_{};
  std::int64_t last_wall_ns_ = 0;
  std::uint64_t ripe_ = 0;  // the last pass read everything up to this stamp
  SiteLines site_lines_;
  LineWriter writer_;
  std::string own_line_;
  std::string_view line_;  // what hand_out() hands out
  EntryMaker entries_, own_entries_;  // own_entries_: made while one of entries_ is handed out
  EntryJson json_;
  ClientNames clients_;

  std::array<RingReader, kRingsMax> rings_;
  DropsShown homeless_shown_;
  std::array<std::string, 64> plugins_;  // names seen so far, by number; [0]: the last one beyond

  Routes lanes_by_level_ = kRoutesToStderr;  // the routes, with files that are the same merged
  std::array<RouteBits, kLanes> merged_{};   // by output: the lane that has it
  RouteBits lines_ = 0, of_entries_ = 0;  // lanes that take lines, and those that take entries or JSON
  OutputTargets targets_;
  ExtraSink extra_;
  StreamSink stdout_{1, false}, stderr_{2, false};
  std::array<Lane, kLanes> lanes_;
  // Of the binary lane's batch: by site, where its last record is (0: nowhere, or a line was kept for it); and
  // the sites that have one.
  std::vector<std::uint32_t> last_in_batch_, sites_in_batch_;
  SinkLosses losses_;
  std::uint64_t log_generation_ = 0;
  bool told_no_file_ = false;
  std::chrono::steady_clock::time_point published_{};
};

// REQUIRES: OutputControl's mutex is held, no backend runs. False: the thread cannot be made.
bool start_backend_thread();
bool in_backend_thread() noexcept;

}  // namespace telltale::diag
