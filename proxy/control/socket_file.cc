// SPDX-License-Identifier: Apache-2.0
#include "control/socket_file.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/socket_path.h"

namespace telltale::control {

namespace {

constexpr int kBacklog = 64;

std::string errno_text(int error) { return std::strerror(error); }

// Makes `folder` and the folders above it that are missing, for the owner only.
std::optional<std::string> make_folders(const std::string& folder) {
  for (std::size_t slash = folder.find('/', 1);; slash = folder.find('/', slash + 1)) {
    std::string part = folder.substr(0, slash);
    if (::mkdir(part.c_str(), 0700) == 0) {
      // A umask that takes the owner's bits away would lock us out.
      if (::chmod(part.c_str(), 0700) == 0) errno = EEXIST;
    }
    if (errno != EEXIST) return fmt::format("cannot make the folder {}: {}", part, errno_text(errno));
    if (slash == std::string::npos) return std::nullopt;
  }
}

// Excludes other daemons for as long as the descriptor's lock is held.
std::optional<std::string> lock_folder(int folder, std::string_view name) {
  for (int tries = 0; tries < 100; ++tries) {
    if (::flock(folder, LOCK_EX | LOCK_NB) == 0) return std::nullopt;
    // A file system without locks: the rest still works, but for two starts in the same moment.
    if (errno != EWOULDBLOCK && errno != EINTR) return std::nullopt;
    timespec pause{0, 10'000'000};
    ::nanosleep(&pause, nullptr);
  }
  return fmt::format("the folder {} has been locked by another process for a second", name);
}

// Nothing: the path is free now. A socket file that nobody listens on has been removed.
std::optional<std::string> free_path(int folder, const std::string& name, const std::string& path) {
  struct stat found {};
  if (::fstatat(folder, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return std::nullopt;
    return fmt::format("cannot use {} as control socket: {}", path, errno_text(errno));
  }
  if (!S_ISSOCK(found.st_mode)) {
    return fmt::format("cannot use {} as control socket: it exists and is not a socket; it has been left alone", path);
  }
  int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return fmt::format("cannot make a socket: {}", errno_text(errno));
  sockaddr_un address = socket_address(path);
  int error = ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
  ucred peer{};
  socklen_t size = sizeof peer;
  bool known = error == 0 && ::getsockopt(probe, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid != 0;
  ::close(probe);

  if (error == ECONNREFUSED) {
    if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return std::nullopt;
    return fmt::format("cannot remove the control socket {} that an ended process has left: {}", path, errno_text(errno));
  }
  // EAGAIN: somebody listens, and more connections wait than it takes. EPROTOTYPE: it is no stream socket.
  if (error == 0 || error == EAGAIN || error == EPROTOTYPE) {
    return fmt::format("cannot use {} as control socket: {} is listening there already", path,
                       known ? fmt::format("process {}", peer.pid) : "another process");
  }
  return fmt::format("cannot use {} as control socket: it exists, and nobody can say whether a process is listening there: {}",
                     path, errno_text(error));
}

}  // namespace

tl::expected<SocketFile, std::string> SocketFile::open(const std::string& path) {
  if (auto why = refuse_socket_path(path)) return tl::unexpected(*why);
  std::size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);

  SocketFile file;
  file.name_ = slash == std::string::npos ? path : path.substr(slash + 1);
  if (file.name_.empty()) return tl::unexpected(fmt::format("the path of the control socket is a folder: {}", path));
  if (auto why = make_folders(folder)) return tl::unexpected(*why);
  file.folder_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file.folder_ < 0) return tl::unexpected(fmt::format("cannot open the folder {}: {}", folder, errno_text(errno)));
  if (auto why = lock_folder(file.folder_, folder)) return tl::unexpected(*why);
  if (auto why = free_path(file.folder_, file.name_, path)) return tl::unexpected(*why);

  auto failed = [&](const char* what) {
    return tl::unexpected(fmt::format("cannot use {} as control socket: {}: {}", path, what, errno_text(errno)));
  };
  file.listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (file.listener_ < 0) return failed("socket");
  // Linux makes the file with the descriptor's mode less the umask: never wider than this.
  if (::fchmod(file.listener_, 0600) != 0) return failed("fchmod");
  sockaddr_un address = socket_address(path);
  if (::bind(file.listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return failed("bind");
  struct stat made {};
  if (::fstatat(file.folder_, file.name_.c_str(), &made, AT_SYMLINK_NOFOLLOW) != 0) return failed("stat");
  file.device_ = made.st_dev;
  file.inode_ = made.st_ino;
  file.ours_ = true;
  // A umask that takes the owner's bits away would lock ttctl out.
  if (::fchmodat(file.folder_, file.name_.c_str(), 0600, 0) != 0) return failed("chmod");
  if (::listen(file.listener_, kBacklog) != 0) return failed("listen");
  ::flock(file.folder_, LOCK_UN);
  return file;
}

SocketFile::SocketFile(SocketFile&& other) noexcept
    : name_(std::move(other.name_)),
      folder_(std::exchange(other.folder_, -1)),
      listener_(std::exchange(other.listener_, -1)),
      ours_(std::exchange(other.ours_, false)),
      device_(other.device_),
      inode_(other.inode_) {}

SocketFile::~SocketFile() {
  remove();
  if (listener_ >= 0) ::close(listener_);
  if (folder_ >= 0) ::close(folder_);
}

int SocketFile::release() noexcept { return std::exchange(listener_, -1); }

void SocketFile::remove() noexcept {
  if (!std::exchange(ours_, false)) return;
  struct stat found {};
  if (::fstatat(folder_, name_.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (found.st_dev == device_ && found.st_ino == inode_) ::unlinkat(folder_, name_.c_str(), 0);
}

}  // namespace telltale::control
