// SPDX-License-Identifier: Apache-2.0
// What RotatingFile does with rolled files: deletion by age and space, compression, leftovers.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "move_file.h"
#include "rotating_file.h"

namespace telltale::diag {

using namespace std::chrono_literals;

namespace {
constexpr auto kCompressAgainAfter = 60s;  // a job that failed
}

void RotatingFile::tidy(FileTime now) {
  tidied_ = now.steady;
  if (!is_rolled()) return;
  std::vector<RolledFile> files = list_rolled(folder_, base_);
  for (const RolledFile& file : files) next_sequence_ = std::max(next_sequence_, file.name.sequence + 1);
  std::erase_if(files, [this](const RolledFile& file) {
    if (file.name.form != RolledForm::kPart) return false;
    if (!compressing_) ::unlink(in_folder(file.file).c_str());  // nobody works on it
    return true;
  });
  delete_rolled(files, now);
  rolled_files_ = files.size();
  rolled_bytes_ = 0;
  for (const RolledFile& file : files) rolled_bytes_ += file.bytes;
  begin_compression(files, now);
}

void RotatingFile::delete_rolled(std::vector<RolledFile>& files, FileTime now) {
  // Room for the live file to grow into: so the limit holds at any time, not only when somebody looks.
  std::uint64_t live = std::max(size_bytes_, settings_.size_bytes);
  std::size_t count = rolled_to_delete(files, settings_, live, now.wall);
  std::size_t gone = 0;
  for (; gone < count; ++gone) {
    const RolledFile& file = files[gone];
    if (file.device == device_ && file.inode == inode_) break;  // it is the live one: its name could not be given back
    if (compressing_ && file.file == compressing_file_) compressor_.cancel();
    if (::unlink(in_folder(file.file).c_str()) != 0 && errno != ENOENT) {
      if (!told_delete_) say(Level::kError, fmt::format("{} cannot be deleted: {}", in_folder(file.file), error_text(errno)));
      told_delete_ = true;
      break;
    }
    told_delete_ = false;
    ++deleted_;
  }
  files.erase(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(gone));
}

void RotatingFile::begin_compression(const std::vector<RolledFile>& files, FileTime now) {
  if (compressing_ || !settings_.compress || now.steady < compress_after_) return;
  for (const RolledFile& file : files) {
    bool live = file.device == device_ && file.inode == inode_;
    if (file.name.form != RolledForm::kPlain || live || file.file == differs_) continue;
    std::string source = in_folder(file.file), compressed = source + std::string(kCompressedSuffix);
    std::string part = exists(compressed) ? std::string() : source + std::string(kPartSuffix);
    compressing_ = compressor_.begin(source, compressed, part);
    compressing_file_ = file.file;
    return;
  }
}

void RotatingFile::end_compression(FileTime now) {
  using Result = FileCompressor::Result;
  if (!compressing_) return;
  Result result = compressor_.look();
  if (result == Result::kBusy) return;
  compressing_ = false;
  const std::string& source = compressor_.source();
  struct stat found {};
  // Others may append to a rolled file, whose name they had open, or delete it.
  bool there = ::stat(source.c_str(), &found) == 0;
  bool whole = there && static_cast<std::uint64_t>(found.st_size) == compressor_.source_bytes();
  int error = compressor_.error();
  if (result == Result::kMade && whole) {
    error = move_to_free_name(compressor_.part(), compressor_.compressed());
    if (error == 0) result = Result::kSame;
  }
  if (result == Result::kSame && whole) {
    ::unlink(source.c_str());
    ++compressed_;
  } else if (there) {
    if (!compressor_.part().empty()) ::unlink(compressor_.part().c_str());
    compress_after_ = now.steady + kCompressAgainAfter;
    if (result == Result::kDiffers) {
      differs_ = compressing_file_;
      say(Level::kWarning, fmt::format("{} and its compressed file differ: both are kept", source));
    } else if (error != ECANCELED) {
      ++compress_errors_;
      if (!told_compress_) {
        say(Level::kWarning, fmt::format("{} cannot be compressed now: {}", source,
                                         result == Result::kMade && error == 0 ? "others write to it" : error_text(error)));
      }
      told_compress_ = true;
    }
  } else if (!compressor_.part().empty()) {
    ::unlink(compressor_.part().c_str());
  }
  if (result == Result::kSame) told_compress_ = false;
  tidy(now);
}

}  // namespace telltale::diag
