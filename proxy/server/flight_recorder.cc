// SPDX-License-Identifier: Apache-2.0
#include "server/flight_recorder.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <telltale/diag/level.h>
#include <telltale/diag/recorder.h>

#include "net/unique_fd.h"

namespace telltale::server {
namespace {

namespace fs = std::filesystem;
using config::Record;

constexpr const char* kName = "recorder";
constexpr const char* kOwner = "runtime";  // in a folder below /dev/shm: a link to the runtime folder it is of
constexpr const char* kShared = "/dev/shm";
constexpr std::size_t kNameBytesMax = 200;  // of a file name's 255

// Of what is not there, its parent's.
bool is_on_tmpfs(fs::path path) {
  struct statfs is {};
  while (::statfs(path.c_str(), &is) != 0) {
    if (!path.has_parent_path() || path == path.parent_path()) return false;
    path = path.parent_path();
  }
  return is.f_type == TMPFS_MAGIC || is.f_type == RAMFS_MAGIC;
}

std::string shared_prefix() { return fmt::format("telltale-{}-", ::geteuid()); }

fs::path shared_folder(const fs::path& runtime_dir) {
  std::string path = runtime_dir.string();
  std::string name = path;
  std::replace(name.begin(), name.end(), '/', '-');
  name.erase(0, name.find_first_not_of('-'));
  if (name.size() > kNameBytesMax) {
    name = fmt::format("{:016x}-{}", std::hash<std::string>()(path), name.substr(name.size() - (kNameBytesMax - 17)));
  }
  return fs::path(kShared) / (shared_prefix() + name);
}

bool is_in_use(const fs::path& folder) {
  net::UniqueFd file(::open((folder / "current" / "dictionary").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  return file && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0;
}

// Folders below /dev/shm whose runtime folder is gone (test runs, mostly): nobody will ask for them.
void remove_orphans() {
  std::error_code failed;
  for (const fs::directory_entry& folder : fs::directory_iterator(kShared, failed)) {
    if (!folder.path().filename().string().starts_with(shared_prefix()) || folder.is_symlink(failed)) continue;
    const fs::path owner = fs::read_symlink(folder.path() / kOwner, failed);
    if (failed || owner.empty()) continue;
    const bool gone = !fs::exists(owner, failed) && !failed;
    if (gone && !is_in_use(folder.path())) fs::remove_all(folder.path(), failed);
  }
}

// The one name replaces the other at once. A folder that is no link is left alone.
void link_to(const fs::path& target, const fs::path& link) {
  std::error_code failed;
  if (fs::symlink_status(link, failed).type() != fs::file_type::symlink && fs::exists(link, failed)) return;
  const fs::path fresh = link.string() + ".new";
  fs::remove(fresh, failed);
  fs::create_directory_symlink(target, fresh, failed);
  if (!failed) fs::rename(fresh, link, failed);
}

// Bit 3: shared mappings of files, which the rings are; a core file has them then. Bits that are set stay.
void let_core_files_have_it() {
  std::string text;
  std::ifstream("/proc/self/coredump_filter") >> text;
  char* end = nullptr;
  const unsigned long bits = std::strtoul(text.c_str(), &end, 16);
  if (text.empty() || *end != '\0' || (bits & 8) != 0) return;
  std::ofstream("/proc/self/coredump_filter") << fmt::format("{:#x}", bits | 8);
}

}  // namespace

fs::path recorder_folder(const config::Records& records, const fs::path& config_dir, const fs::path& runtime_dir) {
  if (const fs::path path(records.string(Record::kRecorderPath)); !path.empty()) return fs::absolute(config_dir / path).lexically_normal();
  const fs::path runtime = fs::absolute(runtime_dir).lexically_normal();
  if (is_on_tmpfs(runtime) || !is_on_tmpfs(kShared)) return runtime / kName;
  return shared_folder(runtime);
}

void start_recorder(const config::Records& records, const fs::path& config_dir, const fs::path& runtime_dir) {
  if (records.integer(Record::kRecorderEnabled) == 0) return;
  const fs::path folder = recorder_folder(records, config_dir, runtime_dir);
  const bool shared = folder.parent_path() == kShared && records.string(Record::kRecorderPath).empty();
  if (shared) remove_orphans();
  auto directory = diag::configure_recorder(
      {.folder = folder.string(), .keep = static_cast<unsigned>(records.integer(Record::kRecorderKeep))});
  if (!directory) {
    diag::warning("flight recorder: {}; each thread's last lines are in private memory, where no other process finds them",
                  directory.error());
    return;
  }
  const fs::path runtime = fs::absolute(runtime_dir).lexically_normal();
  if (shared) link_to(runtime, folder / kOwner);
  if (folder != runtime / kName) link_to(folder, runtime / kName);
  let_core_files_have_it();
  diag::note("flight recorder in {}{}", *directory,
             is_on_tmpfs(folder) ? "" : "; this is no tmpfs: a thread that writes a line may wait for the disk");
}

tl::expected<void, diag::Refusal> arm_recorder(const config::Records& records) {
  return diag::set_recorder_tags(records.integer(Record::kRecorderEnabled) == 0 ? std::string_view() : records.string(Record::kRecorderTags));
}

}  // namespace telltale::server
