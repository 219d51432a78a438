// SPDX-License-Identifier: Apache-2.0
// What the reader of a record log makes of bytes that are no record log, or no longer one. Under the address
// sanitizer these also show that nothing is read past the end.
#include <catch2/catch.hpp>

#include <cstring>
#include <memory>
#include <random>

#include "lib/diag/src/record_log_line.h"
#include "lib/diag/src/record_log_reader.h"
#include "lib/diag/src/record_log_writer.h"
#include "tests/unit/diag/record_bytes.h"
#include "tests/unit/diag/rounds.h"

namespace telltale::diag {
namespace {

constexpr std::int64_t kWall = 1'796'000'000'123'456'789;
using Got = RecordLogReader::Got;

class Names : public LogNames {
 public:
  LogSite site(std::uint32_t number) const override {
    return {77, number, 40, "http", "{} of {}", "http1/session.cc", "run", "telltale"};
  }
  std::string plugin(std::uint32_t) const override { return "plugin"; }
};
const Names names;

std::string record_of(const RecordBytes& made, std::uint32_t site, std::uint32_t plugin = 0) {
  RecordBytes record = made;
  record.header().site = site;
  record.header().plugin = plugin;
  std::string all(record.data(), record.header().size_bytes);
  std::memcpy(all.data(), &record.header(), sizeof(RecordHeader));
  return all;
}

struct Made {
  std::string bytes;
  std::vector<std::size_t> ends;        // of what tells an event
  std::vector<std::size_t> frame_ends;  // of every frame
};

// Records of all kinds, a loss, a notice, a step, and a second start frame.
Made some_log() {
  LogStart start;
  start.id = {{1, 2}};
  RecordLogWriter writer(names, start);
  writer.name_thread(1, "worker-1");
  Made made;
  made.bytes = writer.beginning({{1, 2}}, kWall);
  auto add = [&](std::uint32_t site, const RecordBytes& record, std::uint32_t plugin = 0) {
    std::string all = record_of(record, site, plugin);
    RecordHeader header;
    std::memcpy(&header, all.data(), sizeof header);
    writer.record(made.bytes, 1, header, all.data(), kWall);
    made.ends.push_back(made.bytes.size());
  };
  writer.set_clock({1, 2, kWall, 1});
  add(3, RecordBytes(1, "two", field("s", "three")), 4);
  add(0, RecordBytes("tag", "file", "function", "own {}", 17ull, 0.5));
  writer.loss(made.bytes, {kWall, 0, 3, Level::kDebug, 0, false, "worker-1", "http", "none"});
  made.ends.push_back(made.bytes.size());
  writer.notice(made.bytes, {kWall, 0, Level::kNote, "diag", "notice"});
  made.ends.push_back(made.bytes.size());
  writer.step(made.bytes, {kWall, 0, 5});
  made.ends.push_back(made.bytes.size());
  made.bytes += writer.beginning({{1, 2}}, kWall);
  add(3, RecordBytes(true, 'c'));
  Frame frame;
  for (std::string_view rest = made.bytes; take_frame(rest, frame) == FrameIs::kWhole;) {
    made.frame_ends.push_back(made.bytes.size() - rest.size());
  }
  return made;
}

struct Seen {
  std::vector<std::string> lines;
  std::vector<LogError> errors;
  std::size_t left = 0;
};

// In a buffer of exactly that size, so that a sanitizer sees what is read behind it. Each event is made a line.
Seen read(std::string_view bytes, std::size_t piece = std::string::npos) {
  Seen seen;
  RecordLogReader reader;
  LogLineWriter lines;
  LogEvent event;
  for (std::size_t at = 0; at < bytes.size() || at == 0;) {
    std::size_t n = std::min(piece, bytes.size() - at);
    std::unique_ptr<char[]> exact(new char[n]);
    std::memcpy(exact.get(), bytes.data() + at, n);
    reader.feed({exact.get(), n});
    at += std::max<std::size_t>(n, 1);
    for (Got got; (got = reader.next(event)) != Got::kNeedsBytes;) {
      if (got == Got::kBad) {
        seen.errors.push_back(reader.error());
        REQUIRE(seen.errors.size() <= bytes.size());
        continue;
      }
      std::string json;
      lines.append(seen.lines.emplace_back(), event, ShowLocation::kAllLines);
      lines.append_json(json, event);
      REQUIRE(seen.lines.back().find('\n') == seen.lines.back().size() - 1);
      REQUIRE(json.find('\n') == json.size() - 1);
    }
  }
  seen.left = reader.bytes_left();
  return seen;
}

std::string frame(FrameKind kind, std::string_view content, std::uint32_t bytes = 0) {
  FrameHeader header{bytes != 0 ? bytes : static_cast<std::uint32_t>((sizeof header + content.size() + 7) / 8 * 8), kind, 1};
  std::string all(reinterpret_cast<const char*>(&header), sizeof header);
  all += content;
  all.resize((all.size() + 7) / 8 * 8);
  return all;
}

}  // namespace

TEST_CASE("RecordLog damage: a log cut at any byte gives every whole frame, and no error", "[diag][record_log]") {
  const Made made = some_log();
  const Seen all = read(made.bytes);
  REQUIRE(all.errors.empty());
  REQUIRE(all.lines.size() == made.ends.size());
  for (std::size_t cut = 0; cut <= made.bytes.size(); ++cut) {
    Seen seen = read(std::string_view(made.bytes).substr(0, cut));
    INFO("cut at " << cut);
    CHECK(seen.errors.empty());
    std::size_t whole = 0, frames_end = 0;
    while (whole < made.ends.size() && made.ends[whole] <= cut) ++whole;
    for (std::size_t end : made.frame_ends) {
      if (end <= cut) frames_end = end;
    }
    CHECK(seen.lines == std::vector<std::string>(all.lines.begin(), all.lines.begin() + static_cast<std::ptrdiff_t>(whole)));
    CHECK(seen.left == cut - frames_end);
  }
}

TEST_CASE("RecordLog damage: bytes in pieces of any size give the same events", "[diag][record_log]") {
  const Made made = some_log();
  const Seen all = read(made.bytes);
  for (std::size_t piece : {1, 3, 7, 8, 100, 1000}) CHECK(read(made.bytes, piece).lines == all.lines);
  std::string bad = made.bytes;
  bad[made.ends[1]] ^= 1;
  const Seen damaged = read(bad);
  CHECK(damaged.errors.size() == 1);
  for (std::size_t piece : {1, 3, 7, 8, 100, 1000}) {
    Seen seen = read(bad, piece);
    CHECK(seen.lines == damaged.lines);
    REQUIRE(seen.errors.size() == 1);
    CHECK(seen.errors[0].offset == damaged.errors[0].offset);
  }
}

TEST_CASE("RecordLog damage: every flipped bit leaves a reader that ends", "[diag][record_log]") {
  const Made made = some_log();
  for (std::size_t bit = 0; bit < made.bytes.size() * 8; bit += std::size_t{10} / static_cast<std::size_t>(rounds(10))) {
    std::string bad = made.bytes;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
    CHECK(read(bad).lines.size() <= made.frame_ends.size());
  }
}

TEST_CASE("RecordLog damage: many changed bytes leave a reader that ends", "[diag][record_log]") {
  std::mt19937 random(4711);
  const Made made = some_log();
  for (int round = 0; round < 3000; ++round) {
    std::string bad = made.bytes;
    for (int change = static_cast<int>(random() % 12); change >= 0; --change) {
      std::size_t at = random() % bad.size();
      switch (random() % 4) {
        case 0: bad[at] = static_cast<char>(random()); break;
        case 1: bad[at] = static_cast<char>(0xFF); break;
        case 2: bad.erase(at, random() % 32); break;
        default: bad.insert(at, bad.substr(random() % bad.size(), random() % 64)); break;
      }
      if (bad.empty()) bad = "x";
    }
    read(bad);
  }
}

TEST_CASE("RecordLog damage: behind damage the log goes on at its next start frame", "[diag][record_log]") {
  const Made made = some_log();
  const Seen all = read(made.bytes);
  std::string torn = made.bytes;
  torn.erase(made.ends[1] - 12, 12);  // the second record was not written whole; the loss behind it lies askew
  Seen seen = read(torn);
  REQUIRE(seen.errors.size() >= 1);
  CHECK(seen.errors[0].offset >= made.ends[0]);
  CHECK(seen.errors[0].offset <= made.ends[2]);
  CHECK(seen.lines.front() == all.lines.front());
  CHECK(seen.lines.back() == all.lines.back());
}

TEST_CASE("RecordLog damage: a frame whose content is bad is passed over", "[diag][record_log]") {
  const Made made = some_log();
  const Seen all = read(made.bytes);
  std::string bad = made.bytes;
  bad.insert(made.ends[0], frame(FrameKind::kStep, "short"));
  Seen seen = read(bad);
  REQUIRE(seen.errors.size() == 1);
  CHECK(seen.errors[0].offset == made.ends[0]);
  CHECK(seen.errors[0].what == "a step frame whose content reaches beyond its end");
  CHECK(seen.lines == all.lines);
}

TEST_CASE("RecordLog damage: a client cannot place a start frame into a log", "[diag][record_log]") {
  std::string forged;
  LogStart other;
  other.id = {{7, 7}};
  append_start_frame(forged, other);
  append_notice_frame(forged, {kWall, 0, Level::kError, "diag", "forged"});
  forged.append(8, '\0');
  LogStart start;
  start.id = {{1, 2}};
  std::string bytes;
  append_start_frame(bytes, start);
  append_site_frame(bytes, {1, 1, 1, "http", "{}", "file", "function", "module"});
  const std::size_t damage = bytes.size();
  std::string record = record_of(RecordBytes(std::string_view(forged)), 1);
  RecordHeader header;
  std::memcpy(&header, record.data(), sizeof header);
  append_record_frame(bytes, 0, header, record.data(), kWall);
  append_start_frame(bytes, start);
  append_notice_frame(bytes, {kWall, 0, Level::kNote, "diag", "true"});
  bytes[damage] = 1;  // no length of a frame
  Seen seen = read(bytes);
  REQUIRE(seen.errors.size() == 1);
  CHECK(seen.errors[0].offset == damage);
  REQUIRE(seen.lines.size() == 1);
  CHECK(seen.lines[0].find("true") != std::string::npos);
}

TEST_CASE("RecordLog damage: what begins with no start frame is refused once", "[diag][record_log]") {
  CHECK(read("").errors.empty());
  for (std::string_view text : {"[2026-11-30T10:00:00.123456Z] [worker-0] DEBUG a text log\n", "{\"json\": true, \"x\": 1}"}) {
    Seen seen = read(std::string(text) + some_log().bytes);
    REQUIRE(seen.errors.size() == 1);
    CHECK(seen.errors[0].offset == 0);
    CHECK(seen.errors[0].what == "no record log, expected a start frame");
    CHECK(seen.lines.empty());
  }
  Seen seen = read(frame(FrameKind::kStep, std::string(24, '\0')));
  REQUIRE(seen.errors.size() == 1);
  CHECK(seen.errors[0].what == "no start frame, which begins every record log");
}

TEST_CASE("RecordLog damage: another version or byte order is named", "[diag][record_log]") {
  std::string bytes;
  append_start_frame(bytes, {});
  auto with = [&](std::size_t at, std::uint32_t value) {
    std::string bad = bytes;
    std::memcpy(bad.data() + sizeof(FrameHeader) + at, &value, sizeof value);
    return read(bad).errors.at(0).what;
  };
  CHECK(with(offsetof(StartContent, version), 2) == "version 2 of the record log, expected 1");
  CHECK(with(offsetof(StartContent, byte_order), 0x04030201) == "written on a machine of another byte order");
  CHECK(with(0, 0x04030201) == "a start frame without the magic word");
}

TEST_CASE("RecordLog damage: lengths that lie are found out", "[diag][record_log]") {
  std::string begin;
  append_start_frame(begin, {});
  append_site_frame(begin, {1, 1, 1, "http", "{}", "file", "function", "module"});
  auto error = [&](const std::string& more) {
    Seen seen = read(begin + more);
    REQUIRE(seen.errors.size() >= 1);
    CHECK(seen.errors[0].offset == begin.size());
    CHECK(seen.lines.empty());
    return seen.errors[0].what;
  };
  auto record = [&](auto change) {
    std::string bytes = record_of(RecordBytes("text"), 1);
    RecordHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    change(header);
    std::memcpy(bytes.data(), &header, sizeof header);
    return frame(FrameKind::kRecord, std::string(8, '\0') + bytes);
  };
  CHECK(error(record([](auto& h) { h.size_bytes = 0xFFFFFFF8; })).find("a record of 4294967288 bytes, expected 40 to 56") == 0);
  CHECK(error(record([](auto& h) { h.size_bytes = 8; })).find("a record of 8 bytes") == 0);
  CHECK(error(record([](auto& h) { h.size_bytes = 48; })) == "a record of 48 bytes in a frame for one of 56");
  CHECK(error(record([](auto& h) { h.site = 2; })) == "a record of site 2, which has not been announced");
  CHECK(error(record([](auto& h) { h.plugin = 2; })) == "a record of plugin 2, which has not been announced");
  CHECK(error(record([](auto& h) { h.level = static_cast<Level>(8); })) == "level 8, expected 0 to 7");
  CHECK(error(frame(FrameKind::kRecord, "")) == "a record frame whose content reaches beyond its end");
  CHECK(error(frame(FrameKind::kRecord, std::string(16, '\0'))) == "a record that is shorter than its header");
  CHECK(error(frame(FrameKind::kSite, std::string(16, '\0') + "\xFF\xFF\xFF\xFFtag")) ==
        "a site frame whose content reaches beyond its end");
  CHECK(error(frame(FrameKind::kStep, std::string(24, '\xFF'))) == "-1 as the time of day in ns, expected one since 1970");
  CHECK(error(frame(FrameKind::kClock, std::string(32, '\0'))) == "a clock of 0 ns a tick");
  CHECK(error(frame(FrameKind::kShown, std::string(8, '\1'))) == "16843009 as the lines that show their place, expected 0 to 2");
  CHECK(error(frame(FrameKind::kStep, "", 4)).find("no frame (4 bytes, kind 9)") == 0);
  CHECK(error(frame(FrameKind::kStep, "", 12)).find("no frame (12 bytes, kind 9)") == 0);
  CHECK(error(frame(FrameKind::kStep, "", kFrameBytesMax + 8)).find("no frame (131080 bytes, kind 9)") == 0);
  CHECK(error(frame(static_cast<FrameKind>(99), "")).find("no frame (8 bytes, kind 99)") == 0);
}

TEST_CASE("RecordLog damage: a format that asks for too much is shown as it is", "[diag][record_log]") {
  auto line = [](std::string_view format, const RecordBytes& record) {
    std::string bytes;
    append_start_frame(bytes, {});
    append_site_frame(bytes, {1, 1, 1, "http", format, "file", "function", "module"});
    std::string all = record_of(record, 1);
    RecordHeader header;
    std::memcpy(&header, all.data(), sizeof header);
    append_record_frame(bytes, 0, header, all.data(), kWall);
    std::string one = read(bytes).lines.at(0);
    return one.substr(one.find('>') + 2);
  };
  CHECK(line("{:2000000000}", RecordBytes(1)) == "[bad format: too wide] {:2000000000}\n");
  CHECK(line("{:.{}}", RecordBytes(1.5, 2'000'000'000)) == "[bad format: too wide] {:.{}}\n");
  CHECK(line("{:5} {:.{}f} 1000000", RecordBytes(1, 1.5, 2)) == "    1 1.50 1000000\n");
  CHECK(line("{} {}", RecordBytes(1)).find("[bad format: ") == 0);
}

TEST_CASE("RecordLog damage: more sites than a process can have are refused", "[diag][record_log]") {
  std::string bytes;
  append_start_frame(bytes, {});
  RecordLogReader reader;
  reader.feed(bytes);
  LogEvent event;
  for (std::uint32_t number = 1; number <= kLogSitesMax; ++number) {
    bytes.clear();
    append_site_frame(bytes, {1, number, 1, "t", "f", "", "", ""});
    reader.feed(bytes);
    if (reader.next(event) != Got::kNeedsBytes) FAIL("site " << number);
  }
  bytes.clear();
  append_site_frame(bytes, {1, kLogSitesMax + 1, 1, "t", "f", "", "", ""});
  reader.feed(bytes);
  REQUIRE(reader.next(event) == Got::kBad);
  CHECK(reader.error().what == "more than 262144 sites");
}

}  // namespace telltale::diag
