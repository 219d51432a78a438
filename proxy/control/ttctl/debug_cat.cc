// SPDX-License-Identifier: Apache-2.0
#include "control/ttctl/debug_cat.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "control/ttctl/log_options.h"
#include "control/ttctl/printable.h"
#include "record_log_file.h"

namespace telltale::control {

namespace {

using diag::LogEvent;
using diag::LogFile;

// When an event was: by one process's clock where it can be, which no step of the wall clock disturbs.
struct Moment {
  std::int64_t wall_ns = 0;
  std::uint64_t ticks = 0, process = 0;

  static Moment of(const LogEvent& event) { return {event.head.wall_ns, event.ticks, event.process}; }
  bool before(const Moment& other) const {
    return process == other.process ? ticks < other.ticks : wall_ns < other.wall_ns;
  }
};

class Merge {
 public:
  Merge(const Output& output, diag::LogPrinter& printer) : output_(output), printer_(printer) {}

  // Many files are not open at once: one is opened again when its first event is due. A pipe has no second time.
  void add(const std::string& named) {
    const std::string path = named == "-" ? "/dev/stdin" : named;
    auto file = LogFile::open(path);
    if (!file) return complain(file.error());
    Open open{std::move(*file), {}};
    if (!open.file->regular()) {
      if (advance(open)) open_.push_back(std::move(open));
      return;
    }
    LogFile::Got got;
    while ((got = open.file->next(open.event)) == LogFile::Got::kBad) {
    }
    waiting_.push_back({path, got == LogFile::Got::kEvent ? Moment::of(open.event) : Moment{}});
  }

  // False: nobody reads any more.
  bool run() {
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const Waiting& a, const Waiting& b) { return a.first.wall_ns < b.first.wall_ns; });
    std::size_t next = 0;
    for (;;) {
      auto first = std::min_element(open_.begin(), open_.end(), [](const Open& a, const Open& b) {
        return Moment::of(a.event).before(Moment::of(b.event));
      });
      if (next < waiting_.size() && (first == open_.end() || !Moment::of(first->event).before(waiting_[next].first))) {
        open(waiting_[next++].path);
        continue;
      }
      if (first == open_.end()) return printer_.end();
      if (!printer_.take(first->event)) return false;
      if (!advance(*first)) open_.erase(first);
    }
  }

  bool complained() const { return complained_; }

 private:
  struct Waiting {
    std::string path;
    Moment first;
  };
  struct Open {
    std::unique_ptr<LogFile> file;
    LogEvent event;
  };

  void open(const std::string& path) {
    auto file = LogFile::open(path);
    if (!file) return complain(file.error());
    Open fresh{std::move(*file), {}};
    if (advance(fresh)) open_.push_back(std::move(fresh));
  }
  bool advance(Open& open) {
    LogFile::Got got;
    while ((got = open.file->next(open.event)) == LogFile::Got::kBad) complain(open.file->error());
    return got == LogFile::Got::kEvent;
  }
  void complain(const std::string& what) {
    complained_ = true;
    output_.err(fmt::format("ttctl: {}\n", printable(what)));
  }

  const Output& output_;
  diag::LogPrinter& printer_;
  std::vector<Waiting> waiting_;
  std::vector<Open> open_;
  bool complained_ = false;
};

}  // namespace

int cat_logs(const std::vector<std::string>& paths, const diag::LogView& view, const Output& output) {
  diag::LogPrinter printer(view, output.out);
  Merge merge(output, printer);
  for (const std::string& path : paths) merge.add(path);
  if (!merge.run()) return kExitRefused;
  std::string note = lost_elsewhere_note(printer.lost_elsewhere());
  if (!note.empty()) output.err(note);
  return merge.complained() ? kExitRefused : kExitDone;
}

}  // namespace telltale::control
