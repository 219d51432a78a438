// SPDX-License-Identifier: Apache-2.0
#pragma once
// RotatingFile: a file that is appended to, rolled by size and time, and found again when others move,
// delete or truncate it. Knows nothing of what is in it; what it must know, FileKind says.
//
// Rolling renames the file (rolled_name.h) and opens a new one under the old name. If that fails the name
// is given back and the old file goes on: nothing is deleted before its successor is open, and no existing
// file is ever replaced, not even an empty one. Rolled files are compressed in a thread of its own and
// deleted, oldest first, by age and by the space they take.
//
// A file that cannot be opened or written to is a normal state: bytes are refused, and it is tried again
// with the next ones, or within a second.
//
//   state    append()                      check(), each second         reopen()          roll()
//   open     writes; rolls first if due    moved, deleted: opens anew   opens anew        rolls if it has content
//   closed   tries to open, each second    tries to open                tries to open     refused
//
// Nobody else writes the name at the same time, but anybody may append, rename, delete or truncate.
//
// **Thread safety:** thread-compatible; the constructor may run anywhere, the rest in its owner's thread
// (the backend), which is the only one that writes, rolls and reopens.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

#include <tl/expected.hpp>

#include <telltale/diag/level.h>
#include <telltale/diag/output.h>

#include "file_compressor.h"
#include "patient_write.h"
#include "rolled_files.h"

namespace telltale::diag {

// What a RotatingFile is told of its contents. Called by the owner's thread.
class FileKind {
 public:
  virtual ~FileKind() = default;
  // What every file begins with; asked for when the first bytes are written to an empty one.
  virtual std::string beginning() { return {}; }
  // The time of the first entry, from the first bytes of a file (up to 256, the beginning included where the
  // file has one already). Nothing: the time of the call is taken, or that of the file's last change.
  virtual std::optional<std::chrono::system_clock::time_point> first_entry(std::string_view bytes) const = 0;
  // Whether a write that stopped half-way is taken back, so that a file never has half an entry.
  virtual bool takes_back() const { return false; }
  // Whether a file that was there before may be appended to; else it is rolled at once.
  virtual bool goes_on() const { return true; }
};

// Both clocks at one moment. Handed in with each call, so that tests say what time it is.
struct FileTime {
  std::chrono::system_clock::time_point wall;
  std::chrono::steady_clock::time_point steady;
  static FileTime now() { return {std::chrono::system_clock::now(), std::chrono::steady_clock::now()}; }
};

// What others want to know of the file; the owner writes it to the log.
struct FileNotice {
  Level level;
  std::string text;
};

// A descriptor above 2 to append to the file, made with mode 0600. Errors: errno.
tl::expected<int, int> open_to_append(const std::string& path, int more_flags = 0) noexcept;

class RotatingFile {
 public:
  static constexpr std::chrono::seconds kTidyEvery{10};  // looks at the rolled files, also when nothing is rolled

  // Takes over a descriptor of open_to_append(), or -1: opened by the first append() or check(). Touches nothing.
  RotatingFile(std::string path, int fd, RollSettings settings, FileKind& kind);
  ~RotatingFile();
  RotatingFile(const RotatingFile&) = delete;
  RotatingFile& operator=(const RotatingFile&) = delete;

  // Before anything else: looks at what there is, and deletes what an interrupted compression has left.
  void start(FileTime now);

  // Writes in one go, to one file. Returns how many bytes were written; fewer: error() says why.
  // REQUIRES: whole entries.
  std::size_t append(std::string_view bytes, FileTime now) noexcept;
  // To the file of that generation as it is: not rolled, not opened anew. For the end of an entry that was cut.
  std::size_t append_to(std::uint64_t generation, std::string_view bytes) noexcept;
  int error() const noexcept { return error_; }  // an errno

  // What is due by time; cheap when called more often than each second.
  void check(FileTime now);
  bool roll(FileTime now);
  // Opens the name anew. False: it cannot be opened; the former file goes on, if it still has a name.
  bool reopen(FileTime now);
  void set(const RollSettings& settings, FileTime now);
  // The file is also somebody else's who keeps it open (stderr): it is not rolled. Empty: it is not.
  void keep_still(std::string_view whose);

  const std::string& path() const noexcept { return path_; }
  int fd() const noexcept { return fd_; }  // -1: closed
  // Changes whenever another file is open than before.
  std::uint64_t generation() const noexcept { return generation_; }
  std::vector<FileNotice> take_notices() { return std::exchange(notices_, {}); }
  FileState state() const;

  // In a forked child: closes the file and touches nothing else. Leak the object then.
  void abandon() noexcept;

 private:
  void adopt(int fd);
  bool open_now(FileTime now);
  bool look_at_size(FileTime now);
  bool is_rolled() const noexcept { return fd_ >= 0 && still_.empty(); }
  bool is_due(FileTime now, std::size_t more_bytes) const noexcept;
  bool name_is_ours() const noexcept;
  void note_first_entry(std::string_view bytes, FileTime now);
  void tidy(FileTime now);
  void delete_rolled(std::vector<RolledFile>& files, FileTime now);
  void begin_compression(const std::vector<RolledFile>& files, FileTime now);
  void end_compression(FileTime now);
  void say(Level level, std::string text);
  void judge();
  std::string in_folder(std::string_view file) const;

  const std::string path_, folder_, base_;
  RollSettings settings_;
  FileKind& kind_;

  int fd_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  bool regular_ = false;
  std::string still_;         // why it is not rolled; empty: it is
  std::string shared_with_;   // keep_still()
  std::string told_still_;    // of what was told already
  PatientWriter writer_;
  std::uint64_t size_bytes_ = 0;
  std::optional<std::chrono::system_clock::time_point> first_entry_;  // none: no content
  std::uint64_t next_sequence_ = 1;
  std::uint64_t generation_ = 0;
  int error_ = 0;
  bool told_closed_ = false, told_roll_ = false, told_delete_ = false, told_compress_ = false;
  std::chrono::steady_clock::time_point checked_{}, tidied_{}, open_tried_{}, roll_tried_{}, compress_after_{};
  FileCompressor compressor_;
  bool compressing_ = false;
  std::string compressing_file_;
  std::string differs_;  // whose compressed file has another content: left alone
  std::vector<FileNotice> notices_;

  std::uint64_t rolls_ = 0, roll_errors_ = 0, reopens_ = 0, deleted_ = 0, compressed_ = 0, compress_errors_ = 0;
  std::uint64_t rolled_files_ = 0, rolled_bytes_ = 0;
};

}  // namespace telltale::diag
