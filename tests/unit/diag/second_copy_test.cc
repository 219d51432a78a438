// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

#include <telltale/diag/debug_control.h>

namespace telltale::diag {

TEST_CASE("Library: a second copy in one process is refused, and both are named (AC-13)", "[diag][module]") {
  Dl_info info{};
  REQUIRE(dladdr(reinterpret_cast<const void*>(&set_base), &info) != 0);
  std::filesystem::path copy =
      std::filesystem::temp_directory_path() / ("second_copy_" + std::to_string(::getpid()) + ".so");
  std::filesystem::copy_file(info.dli_fname, copy, std::filesystem::copy_options::overwrite_existing);
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], 2);
    ::close(ends[0]);
    ::close(ends[1]);
    // The first copy is in the global scope, as that of the proxy is.
    void* second = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
    ::_exit(second != nullptr ? 1 : 2);
  }
  ::close(ends[1]);
  std::string said;
  char bytes[512];
  for (ssize_t n; (n = ::read(ends[0], bytes, sizeof bytes)) > 0;) said.append(bytes, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  std::filesystem::remove(copy);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 72);
  CHECK_THAT(said, Catch::Contains("a second copy of libtelltale-diag"));
  CHECK_THAT(said, Catch::Contains(copy.string()));
  CHECK_THAT(said, Catch::Contains(info.dli_fname));
}

}  // namespace telltale::diag
