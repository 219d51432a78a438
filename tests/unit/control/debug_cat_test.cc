// SPDX-License-Identifier: Apache-2.0
// ttctl debug cat: files in, lines out.
#include <catch2/catch.hpp>

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <thread>

#include <boost/json.hpp>
#include <unistd.h>
#include <zstd.h>

#include "control/ttctl/debug_cat.h"
#include "control/ttctl/log_time.h"
#include "control/ttctl/run.h"
#include "tests/unit/control/temp_dir.h"
#include "tests/unit/diag/made_log.h"

using namespace telltale::control;
using namespace std::chrono_literals;
using telltale::diag::MadeLog;
namespace diag = telltale::diag;

namespace {

void write(const std::string& path, const std::string& bytes, bool append = false) {
  std::ofstream(path, append ? std::ios::app | std::ios::binary : std::ios::trunc | std::ios::binary) << bytes;
}

Outcome cat(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"debug", "cat"});
  return run(std::move(arguments), "/nowhere");
}

// The last word of each line.
std::string words(const std::string& lines) {
  std::string all;
  for (std::size_t at = 0, end; at < lines.size(); at = end + 1) {
    end = lines.find('\n', at);
    std::string line = lines.substr(at, end - at);
    all += line.substr(line.rfind(' ') + 1) + ' ';
  }
  return all;
}

// What follow_log() has written so far, in a thread of its own.
class Following {
 public:
  explicit Following(const std::string& path) : thread_([this, path] {
    Output output{[this](std::string_view text) {
                    std::lock_guard guard(mutex_);
                    out_ += text;
                    changed_.notify_all();
                    return !ends_;
                  },
                  [this](std::string_view text) {
                    std::lock_guard guard(mutex_);
                    err_ += text;
                    changed_.notify_all();
                  }};
    status_ = follow_log(path, {}, output, 1ms);
    std::lock_guard guard(mutex_);
    ended_ = true;
    changed_.notify_all();
  }) {}
  // It ends with the next line that is written.
  void end() {
    std::lock_guard guard(mutex_);
    ends_ = true;
  }
  ~Following() { thread_.join(); }

  bool wait_for_words(const std::string& expected) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, [&] { return words(out_) == expected; });
  }
  bool wait_for_error(const std::string& part) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, [&] { return err_.find(part) != std::string::npos; });
  }
  bool wait_for_end() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, [&] { return ended_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string out_, err_;
  bool ends_ = false, ended_ = false;
  int status_ = 0;
  std::thread thread_;
};

}  // namespace

TEST_CASE("debug cat: shows a file, and asks no daemon", "[control][ttctl]") {
  TempDir folder;
  MadeLog log;
  log.line({.text = "a", .second = 1, .connection = 12, .transaction = 345}).line({.text = "b", .second = 2, .site = 2});
  write(folder / "log", log.bytes);
  Outcome outcome = cat({folder / "log"});
  CHECK(outcome.exit_status == kExitDone);
  CHECK(outcome.err.empty());
  CHECK(outcome.out ==
        "[2026-11-30T00:53:21.000000Z] [worker-0] DEBUG (http) {c12 t345} a\n"
        "[2026-11-30T00:53:22.000000Z] [worker-0] DEBUG (cache) b\n");
  CHECK(words(cat({folder / "log", "--txn", "t345"}).out) == "a ");
  CHECK(words(cat({"--tags", "cache", folder / "log"}).out) == "b ");
  CHECK(words(cat({folder / "log", "--since", "2026-11-30T00:53:22Z"}).out) == "b ");
  CHECK(words(cat({folder / "log", "--until", "2026-11-30 00:53:21.5"}).out) == "a ");
  CHECK(cat({folder / "log", "--since", "5m"}).out.empty());
  CHECK(cat({folder / "log", "--level", "warning"}).out.empty());
  CHECK(cat({folder / "log", "--location", "all", "--txn", "345"}).out.find(" <session.cc:41 (run)> ") != std::string::npos);
  std::string json = cat({folder / "log", "--json"}).out;
  boost::json::object first = boost::json::parse(json.substr(0, json.find('\n'))).as_object();
  CHECK(first.at("transaction") == 345);
  CHECK(first.at("text") == "a");
}

TEST_CASE("debug cat: several files are merged by time, a process's own by its clock", "[control][ttctl]") {
  TempDir folder;
  MadeLog one(1), other(2);
  one.line({.text = "a", .second = 1}).line({.text = "c", .second = 3});
  std::string first = one.roll();
  // The wall clock was set back between these; ticks went on.
  one.ticks_ahead = 100;
  one.line({.text = "d", .second = 2}).line({.text = "f", .second = 6});
  other.line({.text = "b", .second = 1}).line({.text = "e", .second = 5});
  write(folder / "1", first);
  write(folder / "2", one.bytes);
  write(folder / "3", other.bytes);
  Outcome outcome = cat({folder / "2", folder / "1"});
  CHECK(words(outcome.out) == "a c d f ");
  CHECK(words(cat({folder / "3", folder / "2"}).out) == "b d e f ");
  CHECK(words(cat({folder / "3", folder / "1"}).out) == "b a c e ");
}

TEST_CASE("debug cat: a compressed file reads like a plain one", "[control][ttctl]") {
  TempDir folder;
  MadeLog log;
  for (int i = 0; i < 20'000; ++i) log.line({.text = "a", .second = i});
  std::string packed(ZSTD_compressBound(log.bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), log.bytes.data(), log.bytes.size(), 1));
  write(folder / "log", log.bytes);
  write(folder / "log.zst", packed);
  Outcome plain = cat({folder / "log"}), compressed = cat({folder / "log.zst"});
  CHECK(compressed.exit_status == kExitDone);
  CHECK(compressed.out == plain.out);

  write(folder / "log.zst", packed.substr(0, packed.size() / 2));
  Outcome cut = cat({folder / "log.zst"});
  CHECK(cut.exit_status == kExitRefused);
  CHECK(plain.out.starts_with(cut.out));
  CHECK(cut.err.find("ends after " + std::to_string(packed.size() / 2) + " bytes, inside what is compressed") != std::string::npos);

  packed[packed.size() / 2] = static_cast<char>(packed[packed.size() / 2] ^ 0xFF);
  packed[packed.size() / 2 + 1] = static_cast<char>(packed[packed.size() / 2 + 1] ^ 0xFF);
  packed[4] = static_cast<char>(0xFF);
  write(folder / "log.zst", packed);
  Outcome bad = cat({folder / "log.zst"});
  CHECK(bad.exit_status == kExitRefused);
  CHECK(bad.err.find("not readable as zstd") != std::string::npos);
}

TEST_CASE("debug cat: what is wrong with a file is told with its name and place, and the rest is shown", "[control][ttctl]") {
  TempDir folder;
  MadeLog log;
  log.line({.text = "a"});
  const std::size_t at = log.bytes.size();
  log.line({.text = "lost"}).line({.text = "b"});
  log.bytes[at + 8 + 8] = 8;  // the record's size
  write(folder / "bad", log.bytes);
  write(folder / "text", "[2026-11-30T10:00:00.123456Z] [worker-0] DEBUG a\n");
  write(folder / "good", MadeLog().line({.text = "c", .second = 9}).bytes);
  Outcome outcome = cat({folder / "bad", folder / "text", folder / "none", folder / "good"});
  CHECK(outcome.exit_status == kExitRefused);
  CHECK(words(outcome.out) == "a b c ");
  CHECK(outcome.err.find((folder / "bad") + ", at byte " + std::to_string(at) + ": a record of 8 bytes, expected 40 to ") != std::string::npos);
  CHECK(outcome.err.find((folder / "text") + ", at byte 0: no record log, expected a start frame\n") != std::string::npos);
  CHECK(outcome.err.find((folder / "none") + " cannot be opened: No such file or directory\n") != std::string::npos);
  CHECK(cat({folder.path()}).err.find("cannot be read: Is a directory") != std::string::npos);
}

TEST_CASE("debug cat: a pipe is read once", "[control][ttctl]") {
  TempDir folder;
  MadeLog log, other(2);
  log.line({.text = "a", .second = 1}).line({.text = "c", .second = 3});
  write(folder / "log", other.line({.text = "b", .second = 2}).bytes);
  auto piped = [&](const std::string& bytes) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    REQUIRE(::write(ends[1], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    ::close(ends[1]);
    Outcome outcome = cat({"/dev/fd/" + std::to_string(ends[0]), folder / "log"});
    ::close(ends[0]);
    return outcome;
  };
  CHECK(words(piped(log.bytes).out) == "a b c ");
  Outcome bad = piped("no record log\n");
  CHECK(words(bad.out) == "b ");
  CHECK(bad.err.find(", at byte 0: no record log, expected a start frame\n") != std::string::npos);
}

TEST_CASE("debug cat: a cut last line is an end", "[control][ttctl]") {
  TempDir folder;
  MadeLog log;
  log.line({.text = "a"});
  log.line({.text = "b"});
  write(folder / "log", log.bytes.substr(0, log.bytes.size() - 1));
  Outcome outcome = cat({folder / "log"});
  CHECK(outcome.exit_status == kExitDone);
  CHECK(words(outcome.out) == "a ");
  write(folder / "log", "");
  CHECK(cat({folder / "log"}).exit_status == kExitDone);
}

TEST_CASE("debug cat: lines that were lost beside a transaction's are told", "[control][ttctl]") {
  TempDir folder;
  MadeLog log;
  log.line({.text = "a", .transaction = 5}).loss({diag::kMadeWallNs, 0, 3, diag::Level::kDebug, 0, false, "worker-0", "http", {}});
  write(folder / "log", log.bytes);
  Outcome outcome = cat({folder / "log", "--txn", "5"});
  CHECK(words(outcome.out) == "a ");
  CHECK(outcome.err == "ttctl: 3 lines were lost while this was written; some may be missing here\n");
  CHECK(outcome.exit_status == kExitDone);
}

TEST_CASE("debug cat: options that make no sense are refused with what was expected", "[control][ttctl]") {
  auto err = [](std::vector<std::string> arguments) {
    Outcome outcome = cat(std::move(arguments));
    CHECK(outcome.exit_status == kExitUsage);
    return outcome.err;
  };
  CHECK(err({"x", "--txn", "c12"}).find("--txn: must be a transaction as lines name it, 345 or t345") != std::string::npos);
  CHECK(err({"x", "--txn", "0"}).find("--txn: must be") != std::string::npos);
  CHECK(err({"x", "--tags", "ht(tp"}).find(", at byte 5") != std::string::npos);
  CHECK(err({"x", "--since", "yesterday"}).find("--since: must be a time such as 2026-11-30T10:00:00Z") != std::string::npos);
  CHECK(err({"x", "--level", "loud"}).find("--level: must be debug, status") != std::string::npos);
  CHECK(err({"x", "--location", "1"}).find("--location: must be never, debug or all") != std::string::npos);
  CHECK(err({"x", "y", "--follow"}).find("--follow: follows one file, not 2") != std::string::npos);
  CHECK(err({"x", "--group", "--follow"}).find("excludes") != std::string::npos);
  CHECK(err({}).find("FILE is required") != std::string::npos);
}

TEST_CASE("debug cat: --follow goes on where a file grows, is rolled, and is truncated", "[control][ttctl]") {
  TempDir folder;
  std::string path = folder / "log";
  Following following(path);
  REQUIRE(following.wait_for_error("waiting for " + path));
  MadeLog log;
  log.line({.text = "a"});
  const std::size_t half = log.bytes.size() - 20;
  write(path, log.bytes.substr(0, half));
  write(path, log.bytes.substr(half), true);
  REQUIRE(following.wait_for_words("a "));
  const std::size_t grown = log.bytes.size();
  log.line({.text = "b"});
  write(path, log.bytes.substr(grown), true);
  REQUIRE(following.wait_for_words("a b "));

  (void)log.roll();
  log.line({.text = "c"});
  std::filesystem::rename(path, folder / "log.1");
  write(folder / "log.1", MadeLog().line({.text = "late"}).bytes, true);
  write(folder / "new", log.bytes);
  std::filesystem::rename(folder / "new", path);
  REQUIRE(following.wait_for_words("a b late c "));

  write(path, MadeLog().bytes);
  REQUIRE(following.wait_for_error("was truncated: reading it from its beginning"));
  write(path, MadeLog().line({.text = "d"}).bytes.substr(MadeLog().bytes.size()), true);
  REQUIRE(following.wait_for_words("a b late c d "));
  following.end();
  write(path, MadeLog().line({.text = "e"}).bytes.substr(MadeLog().bytes.size()), true);
  CHECK(following.wait_for_end());
}

TEST_CASE("debug cat: --follow misses no file that was rolled between two looks", "[control][ttctl]") {
  TempDir folder;
  std::string path = folder / "log";
  MadeLog one(1), two(2), three(3), four(4), stranger(9);
  write(folder / "log.20261130T000000Z.000006", stranger.line({.text = "older"}).bytes);
  write(path, one.line({.text = "one"}).bytes);
  Following following(path);
  REQUIRE(following.wait_for_words("one "));
  // Two files came and went before it is looked at the name again.
  write(folder / "log.20261130T000000Z.000008", two.line({.text = "two"}).bytes);
  write(folder / "log.20261130T000000Z.000009", three.line({.text = "three"}).bytes);
  write(folder / "new", four.line({.text = "four"}).bytes);
  std::filesystem::create_hard_link(path, folder / "log.20261130T000000Z.000007");
  std::filesystem::rename(folder / "new", path);
  REQUIRE(following.wait_for_words("one two three four "));

  // One that others moved away is no rolled one: what is rolled is older then.
  MadeLog five(5);
  write(folder / "new", five.line({.text = "five"}).bytes);
  std::filesystem::rename(path, folder / "moved");
  std::filesystem::rename(folder / "new", path);
  REQUIRE(following.wait_for_words("one two three four five "));
  following.end();
  write(path, MadeLog(5).line({.text = "six"}).bytes.substr(MadeLog(5).bytes.size()), true);
  CHECK(following.wait_for_end());
}

TEST_CASE("debug cat: --follow ends at a file that is no record log", "[control][ttctl]") {
  TempDir folder;
  write(folder / "text", "no record log\n");
  Outcome outcome = cat({folder / "text", "--follow"});
  CHECK(outcome.exit_status == kExitRefused);
  CHECK(outcome.err.find("no record log, expected a start frame") != std::string::npos);
}

TEST_CASE("parse_log_time: times as lines have them, and durations", "[control][ttctl]") {
  constexpr std::int64_t kNow = 1'796'000'000'000'000'000, kSecond = 1'000'000'000;
  struct {
    const char* text;
    std::int64_t expected;  // -1: none
  } cases[] = {
      {"5m", kNow - 300 * kSecond},
      {"2026-11-30T00:53:20Z", kNow},
      {"2026-11-30T00:53:20.123456Z", kNow + 123'456'000},
      {"2026-11-30 00:53:20.1", kNow + 100'000'000},
      {"2026-11-30T00:53", kNow - 20 * kSecond},
      {"2026-11-30", kNow - (53 * 60 + 20) * kSecond},
      {"1970-01-01", 0},
      {"2026-02-29", -1},
      {"2026-11-30T24:00", -1},
      {"2026-11-30T00:60", -1},
      {"2026-11-30T00:53:20.", -1},
      {"2026-11-30T00:53:20.1234567891", -1},
      {"2026-11-30T00:53:20+01:00", -1},
      {"2026-11", -1},
      {"5 minutes", -1},
      {"", -1},
      {"9999-01-01", -1},
  };
  for (const auto& one : cases) {
    INFO(one.text);
    CHECK(parse_log_time(one.text, kNow).value_or(-1) == one.expected);
  }
}
