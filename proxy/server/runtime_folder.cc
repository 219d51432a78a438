// SPDX-License-Identifier: Apache-2.0
#include "server/runtime_folder.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

namespace telltale::server {
namespace {

constexpr const char* kName = "telltale.lock";

std::string reason(int error) { return std::generic_category().message(error); }

// What the holder wrote; empty where that is no number.
std::string holder(int file) {
  char text[16];
  ssize_t bytes = ::pread(file, text, sizeof text, 0);
  std::string digits(text, bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  digits = digits.substr(0, digits.find('\n'));
  return digits.find_first_not_of("0123456789") == std::string::npos ? digits : std::string();
}

}  // namespace

tl::expected<RuntimeFolder, std::string> RuntimeFolder::lock(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return tl::unexpected(fmt::format("{}: cannot make the runtime folder: {}", folder.string(), failed.message()));
  std::filesystem::path path = folder / kName;
  net::UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return tl::unexpected(fmt::format("{}: cannot be opened: {}", path.string(), reason(errno)));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      std::string pid = holder(file.get());
      return tl::unexpected(fmt::format("{}: this runtime folder is in use by {}; give each daemon a --runtime of its own",
                                        folder.string(), pid.empty() ? "another process" : "process " + pid));
    }
    return tl::unexpected(fmt::format("{}: cannot be locked: {}", path.string(), reason(errno)));
  }
  std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(file.get(), 0) != 0 || ::pwrite(file.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return tl::unexpected(fmt::format("{}: cannot be written: {}", path.string(), reason(errno)));
  }
  return RuntimeFolder(std::move(file));
}

}  // namespace telltale::server
