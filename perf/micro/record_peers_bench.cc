// SPDX-License-Identifier: Apache-2.0
// An enabled line of Telltale beside a plain reference loop and spdlog's asynchronous logger: what it costs the thread
// that writes it, and how many a backend writes a second.
//
// Absolute figures move threefold with the machine's load; ratios within a round are judged. With --gate the exit
// status says whether all gates were met.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include <sys/vfs.h>
#include <unistd.h>

#include "record_peers/measurement.h"

namespace bench {

bool verdict(bool met, const char* format, ...) {
  std::printf("%-12s", met ? "met" : "MISSED");
  va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
  std::putchar('\n');
  return met;
}

}  // namespace bench

namespace {

constexpr long kTmpfs = 0x01021994;  // statfs(2)

int usage(const char* program, const std::string& why) {
  std::fprintf(stderr, "%s: %s\nusage: %s producer|backend [--rounds N] [--lines N] [--folder DIR] [--gate]\n", program, why.c_str(), program);
  return 2;
}

// Of an option: a whole number from 1 on; 0: it is none, or too large.
int number(const char* text, int most) {
  char* end;
  long value = std::strtol(text, &end, 10);
  return *text != '\0' && *end == '\0' && value >= 1 && value <= most ? static_cast<int>(value) : 0;
}

// A folder of our own below another, gone with everything in it at the end.
class Folder {
 public:
  explicit Folder(const std::string& above) : path_(above + "/telltale-lines-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what != "producer" && what != "backend") return usage(argv[0], "expected producer or backend, not '" + what + "'");
  bench::Extent extent{what == "producer" ? 40 : 10, 500'000, {}};
  std::string above = "/dev/shm";
  bool gate = false;
  for (int i = 2; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--gate") {
      gate = true;
      continue;
    }
    if (i + 1 == argc) return usage(argv[0], option + " is no option, or needs a value");
    const char* value = argv[++i];
    if (option == "--folder") {
      above = value;
    } else if (int n = number(value, 10'000'000); n == 0 || (option != "--rounds" && option != "--lines")) {
      return usage(argv[0], option + " " + value + " is no option with a whole number from 1 to 10000000");
    } else {
      (option == "--rounds" ? extent.rounds : extent.lines) = n;
    }
  }
  struct statfs kind;
  if (statfs(above.c_str(), &kind) != 0 || kind.f_type != kTmpfs) {
    std::fprintf(stderr, "%s: %s is not a folder on tmpfs; --folder names one\n", argv[0], above.c_str());
    return 2;
  }
  Folder folder(above);
  if (folder.path().empty()) return usage(argv[0], "no folder can be made in " + above);
  extent.folder = folder.path();
  bool good = what == "producer" ? bench::measure_producer(extent) : bench::measure_backend(extent);
  return gate && !good ? 1 : 0;
}
