// SPDX-License-Identifier: Apache-2.0
// See record_log_writer.h; tested in record_log_test.cc.
#include "record_log_writer.h"

namespace telltale::diag {

std::string RecordLogWriter::beginning(const LogId& id, std::int64_t wall_ns) const {
  std::string out;
  LogStart start = start_;
  start.id = id;
  start.wall_ns = wall_ns;
  append_start_frame(out, start);
  if (clock_known_) append_clock_frame(out, clock_);
  threads_.each([&](std::uint32_t number) { say_thread(out, static_cast<std::uint16_t>(number)); });
  plugins_.each([&](std::uint32_t number) { say_plugin(out, number); });
  sites_.each([&](std::uint32_t number) { say_site(out, number); });
  return out;
}

void RecordLogWriter::say_all_again() noexcept {
  sites_.clear();
  plugins_.clear();
  threads_.clear();
  clock_pending_ = clock_known_;
  shown_pending_ = true;
  pending_ = true;
}

void RecordLogWriter::name_thread(std::uint16_t number, std::string_view name, std::uint32_t kernel_id) {
  if (number >= thread_names_.size()) thread_names_.resize(number + std::size_t{1});
  thread_names_[number] = {std::string(name), kernel_id};
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
  if (shown_pending_) append_shown_frame(out, start_.show_location);
  if (clock_pending_) append_clock_frame(out, clock_);
  shown_pending_ = clock_pending_ = pending_ = false;
}

void RecordLogWriter::say_thread(std::string& out, std::uint16_t number) const {
  if (number >= thread_names_.size()) return append_thread_frame(out, number, 0, {});
  append_thread_frame(out, number, thread_names_[number].kernel_id, thread_names_[number].name);
}

void RecordLogWriter::say_plugin(std::string& out, std::uint32_t number) const {
  if (number != 0) append_plugin_frame(out, number, names_.plugin(number));
}

void RecordLogWriter::say_site(std::string& out, std::uint32_t number) const {
  if (number == 0) return;
  LogSite site = names_.site(number);
  site.number = number;
  append_site_frame(out, site);
}

void RecordLogWriter::announce(std::string& out, std::uint16_t thread, const RecordHeader& header) {
  if (pending_) say_pending(out);
  if (!threads_.has(thread)) {
    say_thread(out, thread);
    threads_.add(thread);
  }
  if (!plugins_.has(header.plugin)) {
    say_plugin(out, header.plugin);
    plugins_.add(header.plugin);
  }
  if (!sites_.has(header.site)) {
    say_site(out, header.site);
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
