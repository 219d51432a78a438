// SPDX-License-Identifier: Apache-2.0
// See record_log_writer.h; tested in record_log_test.cc.
#include "record_log_writer.h"

namespace telltale::diag {

void RecordLogWriter::begin_file(const LogId& id, std::int64_t wall_ns) {
  start_.id = id;
  start_.wall_ns = wall_ns;
  start_pending_ = true;
  say_all_again();
}

void RecordLogWriter::say_all_again() noexcept {
  sites_.clear();
  plugins_.clear();
  threads_.clear();
  clock_pending_ = clock_known_;
  shown_pending_ = true;
  pending_ = true;
}

void RecordLogWriter::name_thread(std::uint16_t number, std::string_view name) {
  if (number >= thread_names_.size()) thread_names_.resize(number + std::size_t{1});
  thread_names_[number] = name;
  threads_.remove(number);
}

void RecordLogWriter::set_clock(const ClockContent& clock) noexcept {
  clock_ = clock;
  clock_known_ = clock_pending_ = pending_ = true;
}

void RecordLogWriter::set_show_location(ShowLocation show) noexcept {
  if (show == start_.show_location) return;
  start_.show_location = show;
  shown_pending_ = pending_ = true;
}

void RecordLogWriter::say_pending(std::string& out) {
  if (start_pending_) {
    append_start_frame(out, start_);
    start_pending_ = shown_pending_ = false;
  }
  if (shown_pending_) append_shown_frame(out, start_.show_location);
  if (clock_pending_) append_clock_frame(out, clock_);
  shown_pending_ = clock_pending_ = pending_ = false;
}

void RecordLogWriter::announce(std::string& out, std::uint16_t thread, const RecordHeader& header) {
  if (pending_) say_pending(out);
  if (!threads_.has(thread)) {
    append_thread_frame(out, thread, 0, thread < thread_names_.size() ? thread_names_[thread] : std::string_view());
    threads_.add(thread);
  }
  if (!plugins_.has(header.plugin)) {
    if (header.plugin != 0) append_plugin_frame(out, header.plugin, names_.plugin(header.plugin));
    plugins_.add(header.plugin);
  }
  if (!sites_.has(header.site)) {
    if (header.site != 0) {
      LogSite site = names_.site(header.site);
      site.number = header.site;
      append_site_frame(out, site);
    }
    sites_.add(header.site);
  }
}

void RecordLogWriter::loss(std::string& out, const LogLoss& loss) {
  if (pending_) say_pending(out);
  append_loss_frame(out, loss);
}

void RecordLogWriter::notice(std::string& out, const LogNotice& notice) {
  if (pending_) say_pending(out);
  append_notice_frame(out, notice);
}

void RecordLogWriter::step(std::string& out, const StepContent& step) {
  if (pending_) say_pending(out);
  append_step_frame(out, step);
}

}  // namespace telltale::diag
