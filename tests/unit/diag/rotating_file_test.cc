// SPDX-License-Identifier: Apache-2.0
// Rolling, reopening, and what becomes of rolled files. The tests say what time it is.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "lib/diag/src/file_sink.h"
#include "lib/diag/src/rotating_file.h"
#include "temporary_folder.h"

using namespace telltale::diag;
using namespace std::chrono_literals;
using std::chrono::system_clock;

namespace {

// Each of its files begins with "<begin>"; entries are bytes.
struct Bytes : FileKind {
  std::string begins_with;
  bool takes = false, continues = true;
  std::string beginning() override { return begins_with; }
  std::optional<system_clock::time_point> first_entry(std::string_view) const override { return std::nullopt; }
  bool takes_back() const override { return takes; }
  bool goes_on() const override { return continues; }
};

const auto kNoon = std::chrono::sys_days(std::chrono::year(2026) / 11 / 30) + 12h;

// A file "log" in a folder, and the time.
struct Log {
  explicit Log(RollSettings settings = {}) : settings(settings) { open(); }
  void open() {
    file.reset();
    auto fd = open_to_append(folder / "log");
    REQUIRE(fd);
    file = std::make_unique<RotatingFile>(folder / "log", *fd, settings, kind);
    file->start(now);
  }
  std::size_t append(std::string_view bytes) { return file->append(bytes, now); }
  void pass(std::chrono::milliseconds time) {
    now.wall += time;
    now.steady += time;
    file->check(now);
  }
  // Lets compressions come to their end: that of a job takes the time that it takes.
  void compress_all() {
    auto until = std::chrono::steady_clock::now() + 60s;
    do {
      pass(1s);
      std::this_thread::yield();
    } while ((file->state().compressing || has_plain()) && std::chrono::steady_clock::now() < until);
  }
  bool has_plain() const {
    auto names = folder.names();
    return std::any_of(names.begin(), names.end(), [](const std::string& name) { return name != "log" && !name.ends_with(".zst"); });
  }
  std::string notices() {
    std::string all;
    for (const FileNotice& notice : file->take_notices()) all += notice.text + "\n";
    return all;
  }

  RollSettings settings;
  TemporaryFolder folder;
  Bytes kind;
  FileTime now{kNoon, std::chrono::steady_clock::time_point(1h)};
  std::unique_ptr<RotatingFile> file;
};

std::string decompressed(const TemporaryFolder& folder, const std::string& name) {
  std::string command = "zstd -dc " + folder / name, text;
  std::unique_ptr<FILE, int (*)(FILE*)> out(popen(command.c_str(), "r"), pclose);
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, out.get())) > 0;) text.append(buffer, n);
  return text;
}

// A limit of the process for as long as it lives; nothing may be reported meanwhile.
class Limit {
 public:
  Limit(int what, rlim_t value) : what_(what) {
    getrlimit(static_cast<__rlimit_resource>(what_), &saved_);
    rlimit now = saved_;
    now.rlim_cur = value;
    setrlimit(static_cast<__rlimit_resource>(what_), &now);
  }
  ~Limit() { setrlimit(static_cast<__rlimit_resource>(what_), &saved_); }

 private:
  int what_;
  rlimit saved_;
};

RollSettings by_size(std::uint64_t bytes) { return {.size_bytes = bytes}; }
std::string line(int n, std::size_t length = 0) {
  std::string text = "[2026-11-30T11:59:58.000000Z] [main] NOTE " + std::to_string(n);
  return text + std::string(length > text.size() + 1 ? length - text.size() - 1 : 0, '.') + "\n";
}

}  // namespace

TEST_CASE("rolled names: written and read are the same, in the order of their numbers", "[diag][rotate]") {
  auto time = std::chrono::floor<std::chrono::seconds>(kNoon + 61s);
  CHECK(rolled_name("diags.log", time, 17) == "diags.log.20261130T120101Z.000017");
  CHECK(rolled_name("diags.log", time, 1'234'567) == "diags.log.20261130T120101Z.1234567");
  for (std::uint64_t sequence : {0ull, 1ull, 999'999ull, 1'000'000ull, 999'999'999'999'999'999ull}) {
    auto parsed = parse_rolled_name("a.b", rolled_name("a.b", time, sequence));
    REQUIRE(parsed);
    CHECK(parsed->first_entry == time);
    CHECK(parsed->sequence == sequence);
    CHECK(parsed->form == RolledForm::kPlain);
  }
  CHECK(parse_rolled_name("log", "log.20261130T120101Z.000017.zst")->form == RolledForm::kCompressed);
  CHECK(parse_rolled_name("log", "log.20261130T120101Z.000017.zst.part")->form == RolledForm::kPart);
}

TEST_CASE("rolled names: what others made is not ours", "[diag][rotate]") {
  for (const char* name :
       {"log", "log.bak", "log.1", "log.old", "xlog.20261130T120101Z.000017", "log2.20261130T120101Z.000017",
        "log.20261130T120101Z", "log.20261130T120101Z.17", "log.20261130T120101Z.0000017", "log.20261130T120101Z.00001x",
        "log.20261330T120101Z.000017", "log.20261130T250101Z.000017", "log.20261130 120101Z.000017",
        "log.20261130T120101Z.000017.gz", "log.20261130T120101Z.000017.part", "log.20261130T120101Z.000017.zst.zst",
        "log.20261130T120101Z.000017.zst ", "log.20261130T120101Z.9999999999999999999999"}) {
    INFO(name);
    CHECK_FALSE(parse_rolled_name("log", name));
  }
}

TEST_CASE("RotatingFile: it is rolled before it would grow beyond its size, under the time of its first entry (AC-39)",
          "[diag][rotate]") {
  Log log(by_size(10));
  log.append("12345");
  log.pass(65s);
  log.append("67890");
  log.append("abc");
  CHECK(log.folder.read("log.20261130T120000Z.000001") == "1234567890");
  log.pass(1s);
  log.append("larger than the size");
  CHECK(log.folder.read("log.20261130T120105Z.000002") == "abc");
  CHECK(log.folder.read("log") == "larger than the size");
  CHECK(log.file->state().rolls == 2);
  struct stat made {};
  REQUIRE(stat((log.folder / "log").c_str(), &made) == 0);
  CHECK((made.st_mode & 0777) == 0600);
}

TEST_CASE("RotatingFile: the mode of a file that was there is left as it is (AC-41)", "[diag][rotate]") {
  TemporaryFolder folder;
  folder.write("log", "there before\n");
  REQUIRE(chmod((folder / "log").c_str(), 0640) == 0);
  LineFile lines;
  {
    auto fd = open_to_append(folder / "log");
    REQUIRE(fd);
    RotatingFile file(folder / "log", *fd, {}, lines);
    file.append("added\n", FileTime::now());
    file.reopen(FileTime::now());
  }
  struct stat found {};
  REQUIRE(stat((folder / "log").c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0640);
  CHECK(folder.read("log") == "there before\nadded\n");
}

TEST_CASE("RotatingFile: numbers go on over a restart, and the size is that of the file", "[diag][rotate]") {
  Log log(by_size(10));
  log.append("12345678");
  log.append("12345678");
  log.open();
  log.append("x");
  CHECK(log.folder.read("log") == "12345678x");
  log.append("yz");
  CHECK(log.folder.names().size() == 3);
  CHECK(log.folder.read("log") == "yz");
  CHECK(log.folder.names()[2].ends_with(".000002"));
}

TEST_CASE("RotatingFile: no existing file is replaced, and every number is used once", "[diag][rotate]") {
  Log log(by_size(10));
  // The number that is next, as somebody might have brought it back, plain and compressed.
  log.folder.write("log.20261130T120000Z.000001", "theirs");
  log.folder.write("log.20261130T120000Z.000002.zst", "theirs too");
  log.append("1234567890");
  log.append("x");
  CHECK(log.folder.read("log.20261130T120000Z.000001") == "theirs");
  CHECK(log.folder.read("log.20261130T120000Z.000002.zst") == "theirs too");
  CHECK(log.folder.read("log.20261130T120000Z.000003") == "1234567890");
}

TEST_CASE("RotatingFile: by time it is rolled when a multiple of the interval passes, with entries only", "[diag][rotate]") {
  Log log(RollSettings{.interval = 1h});
  log.pass(59min);
  log.append("a");
  log.pass(59s);
  CHECK(log.folder.names().size() == 1);
  log.pass(1s);  // 13:00, nobody writes
  CHECK(log.folder.read("log.20261130T125900Z.000001") == "a");
  log.pass(5h);
  CHECK(log.folder.names().size() == 2);
  log.append("b");
  log.now.wall += 1h;  // the next entry is faster than the next check
  log.append("c");
  CHECK(log.folder.read("log.20261130T180000Z.000002") == "b");
  CHECK(log.folder.read("log") == "c");
}

TEST_CASE("RotatingFile: a clock that goes back over the hour does not roll, one that was years ahead does", "[diag][rotate]") {
  Log log(RollSettings{.interval = 1h});
  log.append("a");
  log.now.wall -= 1s;
  log.append("b");
  CHECK(log.folder.read("log") == "ab");
  log.now.wall -= 24h * 365;
  log.append("c");
  CHECK(log.folder.read("log.20261130T120000Z.000001") == "ab");
  CHECK(log.folder.read("log") == "c");
}

TEST_CASE("RotatingFile: without settings, and without entries, nothing is rolled (AC-36)", "[diag][rotate]") {
  Log log;
  CHECK_FALSE(log.file->roll(log.now));
  for (int i = 0; i < 1000; ++i) log.append(line(i));
  log.pass(24h);
  CHECK(log.folder.names().size() == 1);
}

TEST_CASE("RotatingFile: where no successor can be opened, the file keeps its name and goes on (B30)", "[diag][rotate]") {
  Log log(by_size(10));
  log.append("1234567890");
  bool rolled = true;
  std::size_t appended = 0;
  std::vector<std::string> names;
  {
    int free = dup(0);
    close(free);
    Limit no_descriptors(RLIMIT_NOFILE, static_cast<rlim_t>(free));
    rolled = log.file->roll(log.now);
    appended = log.append("more");
  }
  names = log.folder.names();
  CHECK_FALSE(rolled);
  CHECK(appended == 4);
  REQUIRE(names == std::vector<std::string>{"log"});
  CHECK(log.folder.read("log") == "1234567890more");
  CHECK(log.file->state().roll_errors >= 1);
  CHECK(log.notices().find("cannot be rolled, it grows on: Too many open files") != std::string::npos);
  log.pass(2s);
  log.append("after");
  CHECK(log.folder.read("log") == "after");
  CHECK(log.folder.names().size() == 2);
}

TEST_CASE("RotatingFile: a deleted file is there again with the next entry, a moved one within a second (AC-42)",
          "[diag][rotate]") {
  Log log;
  log.append("a");
  SECTION("deleted") {
    std::filesystem::remove(log.folder / "log");
    CHECK(log.append("b") == 1);
    CHECK(log.folder.read("log") == "b");
    CHECK(log.notices().find("was deleted") != std::string::npos);
  }
  SECTION("deleted, and nobody writes") {
    std::filesystem::remove(log.folder / "log");
    log.pass(1s);
    CHECK(log.folder.has("log"));
  }
  SECTION("moved: what is written until it is seen is with the rest") {
    std::filesystem::rename(log.folder / "log", log.folder / "log.1");
    log.append("b");
    log.pass(1s);
    log.append("c");
    CHECK(log.folder.read("log.1") == "ab");
    CHECK(log.folder.read("log") == "c");
    CHECK(log.notices().find("was moved") != std::string::npos);
  }
  SECTION("moved, and another put there") {
    std::filesystem::rename(log.folder / "log", log.folder / "log.1");
    log.folder.write("log", "theirs");
    log.pass(1s);
    log.append("c");
    CHECK(log.folder.read("log") == "theirsc");
  }
  SECTION("moved, and told of: at once") {
    std::filesystem::rename(log.folder / "log", log.folder / "log.1");
    CHECK(log.file->reopen(log.now));
    log.append("c");
    CHECK(log.folder.read("log.1") == "a");
    CHECK(log.folder.read("log") == "c");
    CHECK(log.notices().empty());
  }
  SECTION("with its folder") {
    std::filesystem::remove_all(log.folder.path());
    CHECK(log.append("b") == 1);
    CHECK(log.folder.read("log") == "b");
  }
}

TEST_CASE("RotatingFile: a truncated file goes on at its start, and its size is right at once (B26)", "[diag][rotate]") {
  Log log(by_size(10));
  log.append("12345678");
  std::filesystem::copy_file(log.folder / "log", log.folder / "copy");
  std::filesystem::resize_file(log.folder / "log", 0);
  log.append("abcdefgh");
  CHECK(log.folder.read("log") == "abcdefgh");
  CHECK(log.file->state().rolls == 0);
  CHECK(log.notices().find("was truncated from 8 to 0 bytes") != std::string::npos);
  log.append("xyz");
  CHECK(log.folder.read("log") == "xyz");
}

TEST_CASE("RotatingFile: a file that cannot be opened refuses, says so once, and is tried each second (B28)", "[diag][rotate]") {
  Log log(RollSettings{.size_bytes = 10, .interval = 1h});
  log.append("a");
  // The name is a folder's: nothing can be opened there.
  std::filesystem::remove(log.folder / "log");
  std::filesystem::create_directory(log.folder / "log");
  for (int i = 0; i < 5; ++i) CHECK(log.append("b") == 0);
  CHECK(log.file->error() == EISDIR);
  for (int i = 0; i < 5; ++i) log.pass(1h);
  CHECK_FALSE(log.file->roll(log.now));
  CHECK_FALSE(log.file->state().open);
  std::string notices = log.notices();
  CHECK(notices.find("cannot be opened: Is a directory; lines for it are lost") != std::string::npos);
  CHECK(std::count(notices.begin(), notices.end(), '\n') == 2);  // and that it was deleted
  std::filesystem::remove(log.folder / "log");
  log.pass(1s);
  CHECK(log.append("c") == 1);
  CHECK(log.folder.read("log") == "c");
  CHECK(log.notices().find("is open again") != std::string::npos);
}

TEST_CASE("RotatingFile: the space limit is kept, oldest first, and what is not ours stays (B34)", "[diag][rotate]") {
  Log log(RollSettings{.size_bytes = 1000, .space_bytes_max = 5000});
  for (const char* name : {"log.bak", "log.1", "log.20261130T120000Z.bak", "other.20261130T120000Z.000001"}) {
    log.folder.write(name, "foreign");
  }
  std::filesystem::create_symlink("/nowhere", log.folder / "log.20200101T000000Z.000000");
  for (int i = 0; i < 500; ++i) {
    log.append(line(i, 100));
    std::uint64_t own = 0;
    for (const auto& name : log.folder.names()) {
      if (name == "log" || parse_rolled_name("log", name)) {
        std::error_code dangles;
        auto bytes = std::filesystem::file_size(log.folder / name, dangles);
        if (!dangles) own += bytes;
      }
    }
    REQUIRE(own <= 5000);
  }
  std::vector<std::string> names = log.folder.names();
  CHECK(names.size() == 5 + 5);  // theirs, four rolled, the live one
  CHECK(log.folder.has("log.20200101T000000Z.000000"));
  CHECK(log.folder.read("log.bak") == "foreign");
  CHECK(std::count_if(names.begin(), names.end(), [](const auto& n) { return n >= "log.20261130T120000Z.000046" && n <= "log.20261130T120000Z.000049"; }) == 4);
  CHECK(log.file->state().deleted == 45);
  CHECK(log.file->state().rolled_bytes == 4000);
}

TEST_CASE("RotatingFile: a limit below one file's size leaves the live file alone", "[diag][rotate]") {
  Log log(RollSettings{.size_bytes = 1000, .space_bytes_max = 10});
  for (int i = 0; i < 100; ++i) log.append(line(i, 100));
  CHECK(log.folder.names() == std::vector<std::string>{"log"});
  CHECK(log.folder.read("log").size() == 1000);
}

TEST_CASE("RotatingFile: age deletes, but for the newest, also when the settings come later (AC-40)", "[diag][rotate]") {
  Log log(by_size(10));
  log.now.wall = system_clock::now();  // the age is that of the file on disk
  for (int i = 0; i < 6; ++i) log.append("1234567890");
  REQUIRE(log.folder.names().size() == 6);
  log.settings.age_max = 1h;
  log.settings.min_count = 2;
  log.file->set(log.settings, log.now);
  CHECK(log.folder.names().size() == 6);
  log.pass(2h);
  CHECK(log.folder.names().size() == 3);
  CHECK(log.folder.names()[1].ends_with(".000004"));
  log.settings.min_count = 0;
  log.file->set(log.settings, log.now);
  CHECK(log.folder.names() == std::vector<std::string>{"log"});
}

TEST_CASE("RotatingFile: rolled files are compressed, and age and order stay theirs", "[diag][rotate]") {
  Log log(RollSettings{.size_bytes = 100'000, .compress = true});
  std::string all;
  for (int i = 0; i < 5000; ++i) {
    all += line(i);
    log.append(line(i));
    if (i % 1000 == 0) log.pass(1s);
  }
  log.compress_all();
  std::string found;
  std::vector<std::string> names = log.folder.names();
  REQUIRE(names.size() == 3);
  for (const std::string& name : names) {
    if (name == "log") continue;
    REQUIRE(name.ends_with(".zst"));
    CHECK(std::filesystem::file_size(log.folder / name) < 30'000);
    found += decompressed(log.folder, name);
  }
  CHECK(found + log.folder.read("log") == all);
  CHECK(log.file->state().compressed == 2);
}

TEST_CASE("RotatingFile: what an interrupted compression has left is finished or removed at start", "[diag][rotate]") {
  Log log(RollSettings{.size_bytes = 100, .compress = true});
  std::string text(5000, 'x');
  const std::string a = "log.20261130T100000Z.000001", b = "log.20261130T100000Z.000002", c = "log.20261130T100000Z.000003";
  for (const std::string& name : {a, b, c}) log.folder.write(name, text);
  log.folder.write(a + ".zst.part", "half");
  // Also where nothing is compressed any more.
  log.settings.compress = false;
  log.open();
  CHECK_FALSE(log.folder.has(a + ".zst.part"));
  CHECK(log.folder.read(a) == text);
  log.folder.write(a + ".zst.part", "half");
  log.settings.compress = true;
  // Of b both exist and agree, of c they do not.
  REQUIRE(system(("zstd -q " + log.folder / b + " && zstd -q " + log.folder / c).c_str()) == 0);
  log.folder.write(c, text + "more");
  log.open();
  auto until = std::chrono::steady_clock::now() + 60s;
  while ((log.folder.has(a) || log.folder.has(b) || log.file->state().compressing) && std::chrono::steady_clock::now() < until) log.pass(61s);
  CHECK(log.folder.names() == std::vector<std::string>{"log", a + ".zst", b + ".zst", c, c + ".zst"});
  CHECK(decompressed(log.folder, a + ".zst") == text);
  CHECK(log.folder.read(c) == text + "more");
  CHECK(log.notices().find("its compressed file differ: both are kept") != std::string::npos);
}

TEST_CASE("RotatingFile: pipes, devices and links are not rolled, and one notice says so (B39)", "[diag][rotate]") {
  TemporaryFolder folder;
  Bytes kind;
  RollSettings settings{.size_bytes = 10, .interval = 1s};
  FileTime now{kNoon, std::chrono::steady_clock::time_point(1h)};
  std::string path = folder / "log", why = "it is a pipe or a device";
  int reader = -1;
  SECTION("a pipe") {
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  }
  SECTION("a device") { path = "/dev/null"; }
  SECTION("a link") {
    std::filesystem::create_symlink(folder / "target", path);
    why = "it is a symbolic link";
  }
  auto fd = open_to_append(path);
  REQUIRE(fd);
  RotatingFile file(path, *fd, settings, kind);
  file.start(now);
  std::vector<std::string> before = folder.names();
  for (int i = 0; i < 10; ++i) {
    CHECK(file.append("1234567890", now) == 10);
    now.wall += 10s;
    now.steady += 10s;
    file.check(now);
    file.reopen(now);
  }
  CHECK(folder.names().size() <= 2);
  CHECK(file.state().rolls == 0);
  auto notices = file.take_notices();
  REQUIRE(notices.size() == 1);
  CHECK(notices[0].text == path + " is not rolled: " + why);
  if (reader >= 0) close(reader);
}

TEST_CASE("RotatingFile: a file that is stderr too is not rolled until it is no longer", "[diag][rotate]") {
  Log log(by_size(10));
  log.file->keep_still("stderr");
  for (int i = 0; i < 5; ++i) log.append("1234567890");
  CHECK(log.folder.names().size() == 1);
  CHECK(log.notices().find("is not rolled: it is this process's stderr too") != std::string::npos);
  log.file->keep_still("");
  log.append("x");
  CHECK(log.folder.read("log") == "x");
}

TEST_CASE("RotatingFile: every file has its beginning, and never half an entry where the kind says so", "[diag][rotate]") {
  Log log(by_size(20));
  log.kind.begins_with = "<begin>";
  log.kind.takes = true;
  CHECK(log.append("1234567890") == 10);
  CHECK(log.append("abc") == 3);
  CHECK(log.append("defg") == 4);
  CHECK(log.folder.read("log") == "<begin>defg");
  CHECK(log.folder.read("log.20261130T120000Z.000001") == "<begin>1234567890abc");
  signal(SIGXFSZ, SIG_IGN);
  std::size_t appended, after;
  {
    Limit bytes(RLIMIT_FSIZE, 14);
    appended = log.append("123456");
  }
  after = log.append("xyz");
  signal(SIGXFSZ, SIG_DFL);
  CHECK(appended == 0);
  CHECK(after == 3);
  CHECK(log.folder.read("log") == "<begin>defgxyz");
  std::filesystem::resize_file(log.folder / "log", 0);
  log.append("again");
  CHECK(log.folder.read("log") == "<begin>again");
  // One that may not go on is rolled when it is opened.
  log.kind.continues = false;
  log.open();
  CHECK(log.folder.read("log").empty());
}

TEST_CASE("FileSink: a disk that is full costs lines, counted, and the torn one is ended later", "[diag][rotate]") {
  TemporaryFolder folder;
  auto sink = FileSink::open(folder / "log", {});
  REQUIRE(sink);
  signal(SIGXFSZ, SIG_IGN);
  std::uint64_t lost[4];
  {
    Limit bytes(RLIMIT_FSIZE, 250);
    lost[0] = (*sink)->write(line(0, 100) + line(1, 100), FileTime::now());
    lost[1] = (*sink)->write(line(2, 100) + line(3, 100), FileTime::now());
    lost[2] = (*sink)->write(line(4, 100), FileTime::now());
  }
  lost[3] = (*sink)->write(line(5, 100), FileTime::now());
  signal(SIGXFSZ, SIG_DFL);
  CHECK(lost[0] == 0);
  CHECK(lost[1] == 2);
  CHECK(lost[2] == 1);
  CHECK(lost[3] == 0);
  CHECK((*sink)->error() == EFBIG);
  CHECK(folder.read("log") == line(0, 100) + line(1, 100) + line(2, 100).substr(0, 50) + "\n" + line(5, 100));
}

TEST_CASE("FileSink: the name is the first line's time, also of a file that was there before", "[diag][rotate]") {
  TemporaryFolder folder;
  FileTime now{kNoon, std::chrono::steady_clock::time_point(1h)};
  {
    auto sink = FileSink::open(folder / "log", {});
    CHECK((*sink)->write(line(1), now) == 0);
  }
  auto sink = FileSink::open(folder / "log", by_size(100));
  (*sink)->file().start(now);
  (*sink)->write(line(2, 90), now);
  CHECK(folder.read("log.20261130T115958Z.000001") == line(1));
}

TEST_CASE("FileSink: a thousand reopens among size rolls, and each line is in one file, whole (AC-37)", "[diag][rotate]") {
  TemporaryFolder folder;
  FileTime now{kNoon, std::chrono::steady_clock::time_point(1h)};
  auto sink = FileSink::open(folder / "log", by_size(10'000));
  (*sink)->file().start(now);
  int n = 0, moved = 0;
  std::string all;
  for (int i = 0; i < 1000; ++i) {
    std::string batch;
    for (int k = 0; k < 20; ++k) batch += line(n++);
    all += batch;
    REQUIRE((*sink)->write(batch, now) == 0);
    if (i % 50 == 7) std::filesystem::rename(folder / "log", folder / ("moved." + std::to_string(moved++)));
    REQUIRE((*sink)->file().reopen(now));
  }
  std::vector<bool> seen(static_cast<std::size_t>(n));
  std::size_t bytes = 0;
  for (const std::string& name : folder.names()) {
    std::string text = folder.read(name);
    bytes += text.size();
    if (name != "log" && !name.starts_with("moved")) CHECK(text.size() <= 10'000);
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      int number = std::stoi(text.substr(at + 42, 10));
      REQUIRE(text.substr(at, text.find('\n', at) + 1 - at) == line(number));
      REQUIRE_FALSE(seen[static_cast<std::size_t>(number)]);
      seen[static_cast<std::size_t>(number)] = true;
    }
  }
  CHECK(bytes == all.size());
  CHECK(moved == 20);
  CHECK((*sink)->file().state().rolls > 20);
}
