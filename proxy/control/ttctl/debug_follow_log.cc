// SPDX-License-Identifier: Apache-2.0
// ttctl debug cat --follow. See debug_cat.h.
//
// A file may be rolled several times between two looks. Those in between are found by their names and read in
// their order: the rolled files behind the one that was read last, which its id tells, up to the live one.
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "control/ttctl/debug_cat.h"
#include "control/ttctl/printable.h"
#include "record_log_file.h"
#include "rolled_files.h"

namespace telltale::control {

namespace {

using diag::LogEvent;
using diag::LogFile;

class Follow {
 public:
  Follow(const std::string& path, const diag::LogView& view, const Output& output, std::chrono::milliseconds pause)
      : path_(path), output_(output), pause_(pause), printer_(view, output.out) {}

  int run() {
    for (;;) {
      if (file_ == nullptr && (!open() || !show_missed())) return kExitRefused;
      // In this order: what was written to the old file before another had its name is read.
      bool another = file_ != nullptr && has_another_file();
      if (file_ != nullptr && !show(*file_)) return kExitRefused;
      if (file_ != nullptr && (another || file_->was_truncated())) {
        if (!another) say(fmt::format("{} was truncated: reading it from its beginning", path_));
        shown_ = another ? file_->id() : std::nullopt;
        file_.reset();
        continue;
      }
      std::this_thread::sleep_for(pause_);
    }
  }

 private:
  // False: that is no file to follow.
  bool open() {
    struct stat found {};
    if (::stat(path_.c_str(), &found) != 0 && errno == ENOENT) {
      if (!told_waiting_) say(fmt::format("waiting for {}", path_));
      told_waiting_ = true;
      return true;
    }
    auto file = LogFile::open(path_);
    if (!file) {
      say(file.error());
      return false;
    }
    file_ = std::move(*file);
    return true;
  }

  bool has_another_file() const {
    struct stat found {};
    return ::stat(path_.c_str(), &found) == 0 && (found.st_dev != file_->device() || found.st_ino != file_->inode());
  }

  // The files between the one that was shown last and the one that is open now. False: nobody reads any more.
  bool show_missed() {
    if (file_ == nullptr || !shown_) return true;
    std::vector<std::unique_ptr<LogFile>> missed;
    bool found = false;
    const std::filesystem::path live(path_);
    const std::string folder = live.has_parent_path() ? live.parent_path().string() : ".";
    std::vector<diag::RolledFile> rolled = diag::list_rolled(folder, live.filename().string());
    for (auto at = rolled.rbegin(); at != rolled.rend() && !found; ++at) {
      if (at->name.form == diag::RolledForm::kPart || (at->device == file_->device() && at->inode == file_->inode())) continue;
      auto file = LogFile::open(folder + "/" + at->file);
      if (!file) continue;
      const std::optional<diag::LogId> id = (*file)->read_id();
      if (!id) continue;
      found = shown_ && *shown_ == *id;
      // One that is being compressed may be there twice.
      const bool twice = !missed.empty() && missed.back()->id() == id;
      if (!found && !twice) missed.push_back(std::move(*file));
    }
    shown_.reset();
    // Without it, the file was moved away by somebody else: then those are older.
    for (auto file = missed.rbegin(); found && file != missed.rend(); ++file) {
      if (!show(**file)) return false;
    }
    return true;
  }

  // All there is. False: nobody reads any more, or it is no record log.
  bool show(LogFile& file) {
    LogEvent event;
    for (;;) {
      switch (file.next(event)) {
        case LogFile::Got::kEvent:
          if (!printer_.take(event)) return false;
          break;
        case LogFile::Got::kBad:
          say(file.error());
          if (file.refused()) return false;
          break;
        case LogFile::Got::kEnd: return printer_.flush();
      }
    }
  }

  void say(const std::string& what) { output_.err(fmt::format("ttctl: {}\n", printable(what))); }

  const std::string path_;
  const Output& output_;
  const std::chrono::milliseconds pause_;
  diag::LogPrinter printer_;
  std::unique_ptr<LogFile> file_;
  std::optional<diag::LogId> shown_;  // the file that was read to its end before file_ is opened
  bool told_waiting_ = false;
};

}  // namespace

int follow_log(const std::string& path, const diag::LogView& view, const Output& output, std::chrono::milliseconds pause) {
  return Follow(path, view, output, pause).run();
}

}  // namespace telltale::control
