// SPDX-License-Identifier: Apache-2.0
// Who may find what at the socket's path: cases B89, B91 and B93 of the collection.
#include "control/socket_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/socket_path.h"
#include "tests/unit/control/raw_client.h"
#include "tests/unit/control/temp_dir.h"

using namespace telltale::control;
namespace fs = std::filesystem;

namespace {

unsigned mode_of(const std::string& path) {
  struct stat found {};
  REQUIRE(::lstat(path.c_str(), &found) == 0);
  return found.st_mode & 07777;
}

class Umask {
 public:
  explicit Umask(mode_t mask) : former_(::umask(mask)) {}
  ~Umask() { ::umask(former_); }

 private:
  mode_t former_;
};

// What a killed daemon leaves.
void leave_stale_socket(const std::string& path) {
  int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address = socket_address(path);
  REQUIRE(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(socket, 1) == 0);
  ::close(socket);
}

bool listens(const std::string& path) {
  try {
    RawClient client(path);
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace

TEST_CASE("SocketFile: socket and new folders are the owner's only, whatever the umask", "[control][socket]") {
  for (mode_t mask : {0000, 0022, 0777}) {
    CAPTURE(mask);
    TempDir dir;
    std::string path = dir / "var/run/control.sock";
    {
      Umask umask(mask);
      auto file = SocketFile::open(path);
      REQUIRE(file);
      CHECK(mode_of(path) == 0600);
      CHECK(mode_of(dir / "var/run") == 0700);
      CHECK(mode_of(dir / "var") == 0700);
      CHECK(listens(path));
    }
    CHECK_FALSE(fs::exists(path));
  }
}

TEST_CASE("SocketFile: a folder that exists keeps its mode", "[control][socket]") {
  TempDir dir;
  REQUIRE(::chmod(dir.path().c_str(), 0755) == 0);
  auto file = SocketFile::open(dir / "control.sock");
  REQUIRE(file);
  CHECK(mode_of(dir.path()) == 0755);
}

TEST_CASE("SocketFile: paths of 106 and 107 bytes work, longer ones are refused and leave nothing", "[control][socket]") {
  TempDir dir;
  for (std::size_t length : {106U, 107U, 108U, 200U}) {
    CAPTURE(length);
    std::string path = dir / std::string(length - dir.path().size() - 1, 's');
    REQUIRE(path.size() == length);
    auto file = SocketFile::open(path);
    CHECK(file.has_value() == (length <= 107));
    CHECK(listens(path.substr(0, 107)) == (length <= 107));
    if (!file) {
      CHECK(file.error().find(path) != std::string::npos);
      CHECK(file.error().find(std::to_string(length)) != std::string::npos);
      CHECK(fs::is_empty(dir.path()));
    }
  }
}

TEST_CASE("SocketFile: a socket that nobody listens on is replaced", "[control][socket]") {
  TempDir dir;
  std::string path = dir / "control.sock";
  leave_stale_socket(path);
  auto file = SocketFile::open(path);
  REQUIRE(file);
  CHECK(listens(path));
}

TEST_CASE("SocketFile: a live socket is refused, names the process, and stays reachable", "[control][socket]") {
  TempDir dir;
  std::string path = dir / "control.sock";
  auto first = SocketFile::open(path);
  REQUIRE(first);
  auto second = SocketFile::open(path);
  REQUIRE_FALSE(second);
  CHECK(second.error().find(path) != std::string::npos);
  CHECK(second.error().find("process " + std::to_string(::getpid()) + " is listening there already") != std::string::npos);
  CHECK(listens(path));
}

TEST_CASE("SocketFile: a listener that takes no more connections is live too", "[control][socket]") {
  TempDir dir;
  std::string path = dir / "control.sock";
  int busy = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address = socket_address(path);
  REQUIRE(::bind(busy, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(busy, 0) == 0);
  RawClient waiting(path);
  auto file = SocketFile::open(path);
  REQUIRE_FALSE(file);
  CHECK(file.error().find("another process is listening there already") != std::string::npos);
  ::close(busy);
}

TEST_CASE("SocketFile: what is no socket is refused and left alone", "[control][socket]") {
  TempDir dir;
  std::string path = dir / "control.sock";
  SECTION("a regular file") {
    std::ofstream(path) << "precious";
    auto file = SocketFile::open(path);
    REQUIRE_FALSE(file);
    CHECK(file.error().find("is not a socket") != std::string::npos);
    std::ostringstream content;
    content << std::ifstream(path).rdbuf();
    CHECK(content.str() == "precious");
  }
  SECTION("a folder") {
    fs::create_directory(path);
    CHECK_FALSE(SocketFile::open(path));
    CHECK(fs::is_directory(path));
  }
  SECTION("a symlink, even to a stale socket") {
    leave_stale_socket(dir / "other");
    fs::create_symlink("other", path);
    CHECK_FALSE(SocketFile::open(path));
    CHECK(fs::is_symlink(path));
    CHECK(fs::exists(dir / "other"));
  }
  SECTION("a symlink to nothing") {
    fs::create_symlink("nowhere", path);
    CHECK_FALSE(SocketFile::open(path));
    CHECK(fs::is_symlink(path));
  }
}

TEST_CASE("SocketFile: a folder that cannot be made or entered is named with the reason", "[control][socket]") {
  TempDir dir;
  std::ofstream(dir / "file") << "";
  auto file = SocketFile::open(dir / "file/control.sock");
  REQUIRE_FALSE(file);
  CHECK(file.error().find(dir / "file") != std::string::npos);
  CHECK(file.error().find("Not a directory") != std::string::npos);
  CHECK_FALSE(SocketFile::open(dir / "file2/"));
}

TEST_CASE("SocketFile: remove leaves another's socket at the same path", "[control][socket]") {
  TempDir dir;
  std::string path = dir / "control.sock";
  auto first = SocketFile::open(path);
  REQUIRE(first);
  REQUIRE(::unlink(path.c_str()) == 0);
  auto second = SocketFile::open(path);
  REQUIRE(second);
  first->remove();
  CHECK(listens(path));
  second->remove();
  CHECK_FALSE(fs::exists(path));
  second->remove();
}

TEST_CASE("SocketFile: the file is found after a change of the current folder", "[control][socket]") {
  TempDir dir;
  fs::path former = fs::current_path();
  fs::current_path(dir.path());
  {
    auto file = SocketFile::open("control.sock");
    REQUIRE(file);
    fs::current_path("/");
  }
  fs::current_path(former);
  CHECK_FALSE(fs::exists(dir / "control.sock"));
}

TEST_CASE("SocketFile: of many that open one path at once, exactly one gets it", "[control][socket]") {
  TempDir dir;
  std::string path = dir / "control.sock";
  for (int round = 0; round < 20; ++round) {
    leave_stale_socket(path);
    std::vector<std::optional<SocketFile>> files(8);
    std::vector<std::thread> threads;
    for (auto& file : files) {
      threads.emplace_back([&file, &path] {
        auto opened = SocketFile::open(path);
        if (opened) file.emplace(std::move(*opened));
      });
    }
    for (auto& thread : threads) thread.join();
    CHECK(std::count_if(files.begin(), files.end(), [](const auto& file) { return file.has_value(); }) == 1);
    CHECK(listens(path));
  }
}

TEST_CASE("SocketFile: a folder that another process keeps locked is an error after a while", "[control][socket]") {
  TempDir dir;
  int folder = ::open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(::flock(folder, LOCK_EX) == 0);
  auto file = SocketFile::open(dir / "control.sock");
  REQUIRE_FALSE(file);
  CHECK(file.error().find("locked by another process") != std::string::npos);
  CHECK(fs::is_empty(dir.path()));
  ::close(folder);
}
