// SPDX-License-Identifier: Apache-2.0
// The journal's entries: what a record becomes, byte by byte, and what no record can make of them.
#include <catch2/catch.hpp>

#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "lib/diag/src/journal_encoder.h"
#include "tests/support/journal_receiver.h"
#include "tests/unit/diag/allocation_counter.h"

using namespace telltale::diag;
using namespace std::string_literals;
using namespace std::string_view_literals;
using telltale::test::JournalEntry;
using telltale::test::parse_journal;

namespace {

constexpr std::string_view kBare = "PRIORITY=7\nSYSLOG_FACILITY=3\n";

std::string encoded(const JournalRecord& record) {
  JournalEncoder encoder;
  return std::string(encoder.encode(record));
}

std::string with_message(std::string_view message) { return encoded({.message = message}); }

// The one entry there must be.
JournalEntry entry_of(std::string_view bytes) {
  auto entries = parse_journal(bytes);
  INFO(bytes);
  if (!entries) FAIL(entries.error());
  REQUIRE(entries->size() == 1);
  return entries->front();
}

JournalEntry entry_of(const std::vector<JournalField>& fields, bool unique = false) {
  return entry_of(encoded({.message = "m", .fields = fields, .unique_fields = unique}));
}

// What the name of a field becomes.
std::string name_of(std::string_view name) {
  JournalEntry entry = entry_of({{name, "its value"}});
  for (const auto& [key, value] : entry.fields) {
    if (value == "its value") return key;
  }
  return "(not sent)";
}

JournalRecord whole_record() {
  JournalRecord r;
  r.message = "hi";
  r.identifier = "proxy";
  r.file = "a.cc";
  r.function = "f";
  r.tag = "http";
  r.line = 7;
  r.process = 4711;
  r.thread = 42;
  return r;
}

}  // namespace

TEST_CASE("journal: J1, a record becomes these bytes", "[diag][journal]") {
  CHECK(encoded(whole_record()) ==
        "PRIORITY=7\nSYSLOG_IDENTIFIER=proxy\nSYSLOG_FACILITY=3\nSYSLOG_PID=4711\nTID=42\nCODE_FILE=a.cc\nCODE_LINE=7\n"
        "CODE_FUNC=f\nDIAG_TAG=http\nMESSAGE=hi\n");
  JournalRecord r = whole_record();
  r.transaction = 345;
  r.connection = 18446744073709551615u;
  r.plugin = "header_note";
  r.client = "192.0.2.1";
  JournalEntry entry = entry_of(encoded(r));
  CHECK(entry.value("DIAG_TXN") == "345");
  CHECK(entry.value("DIAG_CONN") == "18446744073709551615");
  CHECK(entry.value("DIAG_PLUGIN") == "header_note");
  CHECK(entry.value("DIAG_CLIENT") == "192.0.2.1");
  CHECK(entry.fields.size() == 14);
  r.facility = 16;
  CHECK(entry_of(encoded(r)).value("SYSLOG_FACILITY") == "16");
}

TEST_CASE("journal: each level has its priority, an unknown one is information, and counted", "[diag][journal]") {
  JournalEncoder encoder;
  const char* const priorities[] = {"7", "6", "5", "4", "3", "2", "1", "0", "6", "6"};
  for (int level : {0, 1, 2, 3, 4, 5, 6, 7, 8, 255}) {
    std::string bytes(encoder.encode({.level = static_cast<Level>(level), .message = "m"}));
    CHECK(entry_of(bytes).value("PRIORITY") == priorities[std::min(level, 9)]);
  }
  CHECK(encoder.unknown_levels() == 2);
}

TEST_CASE("journal: J2, a value with a line feed is written with its length", "[diag][journal]") {
  CHECK(with_message("a\nb") == std::string(kBare) + "MESSAGE\n\3\0\0\0\0\0\0\0a\nb\n"s);
  CHECK(with_message("hi\n") == std::string(kBare) + "MESSAGE=hi\n");
  CHECK(with_message("\n") == std::string(kBare) + "MESSAGE=\n");
  CHECK(with_message("\n\n") == std::string(kBare) + "MESSAGE\n\1\0\0\0\0\0\0\0\n\n"s);
  CHECK(with_message("") == std::string(kBare) + "MESSAGE=\n");
  std::string long_one(0x10203, 'x');
  long_one[7] = '\n';
  CHECK(with_message(long_one) == std::string(kBare) + "MESSAGE\n\3\2\1\0\0\0\0\0"s + long_one + "\n");
  // In every value, not only in the message.
  JournalRecord r = whole_record();
  for (std::string_view* part : {&r.identifier, &r.file, &r.function, &r.tag, &r.plugin, &r.client}) *part = "x\n\nPRIORITY=0";
  JournalEntry entry = entry_of(encoded(r));
  for (const char* name : {"SYSLOG_IDENTIFIER", "CODE_FILE", "CODE_FUNC", "DIAG_TAG", "DIAG_PLUGIN", "DIAG_CLIENT"}) {
    CHECK(entry.value(name) == "x\n\nPRIORITY=0");
  }
}

TEST_CASE("journal: J3, a value without a line feed is written as it is, whatever its bytes", "[diag][journal]") {
  std::string_view value = "a\0b\x1b[31m\r\xff=c\t"sv;
  CHECK(with_message(value) == std::string(kBare) + "MESSAGE=" + std::string(value) + "\n");
  CHECK(entry_of({{"key", value}}).value("KEY") == value);
  CHECK(entry_of({{"key", ""}}).value("KEY") == "");
}

TEST_CASE("journal: a record without a text has its tag for one", "[diag][journal]") {
  CHECK(entry_of(encoded({.tag = "http"})).value("MESSAGE") == "http");
  CHECK(entry_of(encoded({.message = "\n", .tag = "http"})).value("MESSAGE") == "");
}

TEST_CASE("journal: J4, what the record itself says stands once, whatever fields it has", "[diag][journal]") {
  std::vector<JournalField> fields;
  const char* const reserved[] = {"MESSAGE",  "PRIORITY", "SYSLOG_IDENTIFIER", "SYSLOG_FACILITY", "SYSLOG_PID", "TID", "CODE_FILE",
                                  "CODE_LINE", "CODE_FUNC", "DIAG_TAG", "DIAG_TXN", "DIAG_CONN", "DIAG_PLUGIN", "DIAG_CLIENT",
                                  "DIAG_FIELDS_DROPPED", "MESSAGE_ID", "SYSLOG_TIMESTAMP", "SYSLOG_RAW", "OBJECT_PID"};
  for (const char* name : reserved) fields.push_back({name, "forged"});
  JournalRecord r = whole_record();
  r.transaction = r.connection = 1;
  r.plugin = r.client = "true";
  r.fields = fields;
  JournalEntry entry = entry_of(encoded(r));
  for (const char* name : reserved) {
    INFO(name);
    CHECK(entry.values("X_"s + name) == std::vector<std::string>{"forged"});
    CHECK(entry.value(name) != "forged");
  }
  CHECK(name_of("priority") == "X_PRIORITY");
  CHECK(name_of("_message") == "X_MESSAGE");
  CHECK(name_of("errno") == "ERRNO");  // journald's name for what a field of that name holds
}

TEST_CASE("journal: J4, a field given twice is there twice, or once where that is asked for", "[diag][journal]") {
  std::vector<JournalField> fields{{"a-b", "1"}, {"a", "2"}, {"a_b", "3"}};
  CHECK(entry_of(fields).values("A_B") == std::vector<std::string>{"1", "3"});
  JournalEntry entry = entry_of(fields, true);
  CHECK(entry.values("A_B") == std::vector<std::string>{"1"});
  CHECK(entry.value("A") == "2");
  CHECK(entry.value("DIAG_FIELDS_DROPPED") == "1");
}

TEST_CASE("journal: J5, any text becomes a name", "[diag][journal]") {
  CHECK(name_of("status") == "STATUS");
  CHECK(name_of("A=1\n\nMESSAGE") == "A_1__MESSAGE");
  CHECK(name_of("_") == "X_");
  CHECK(name_of("__REALTIME") == "X__REALTIME");
  CHECK(name_of("9lives") == "X9LIVES");
  CHECK(name_of("a.b c\xc3\xa9") == "A_B_C__");
  CHECK(name_of("\0"sv) == "X_");
  CHECK(name_of(std::string(64, 'a')) == std::string(64, 'A'));
  CHECK(name_of(std::string(65, 'a')) == std::string(64, 'A'));
  CHECK(name_of(std::string(64, '_')) == "X" + std::string(63, '_'));
  CHECK(name_of(std::string(63, '7')) == "X" + std::string(63, '7'));
  for (int c = 0; c < 256; ++c) {
    std::string between = "a" + std::string(1, static_cast<char>(c)) + "b";
    bool kept = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
    bool lower = c >= 'a' && c <= 'z';
    CHECK(name_of(between) == "A" + std::string(1, kept ? static_cast<char>(c) : lower ? static_cast<char>(c - 32) : '_') + "B");
  }
  JournalEncoder encoder;
  std::vector<JournalField> fields{{"", "lost"}, {"a", "kept"}};
  JournalEntry entry = entry_of(std::string(encoder.encode({.message = "m", .fields = fields})));
  CHECK(entry.value("A") == "kept");
  CHECK(entry.value("DIAG_FIELDS_DROPPED") == "1");
  CHECK(encoder.fields_dropped() == 1);
}

TEST_CASE("journal: J6, of many fields 64 are sent and the rest is counted", "[diag][journal]") {
  for (std::size_t count : {64u, 65u, 2000u}) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("f{}", i));
    std::vector<JournalField> fields;
    for (const std::string& name : names) fields.push_back({name, "v"});
    JournalEncoder encoder;
    JournalEntry entry = entry_of(std::string(encoder.encode({.message = "m", .fields = fields})));
    CHECK(entry.value("F0") == "v");
    CHECK(entry.value("F63") == "v");
    CHECK(entry.values("F64").empty());
    CHECK(entry.values("DIAG_FIELDS_DROPPED") ==
          (count > 64 ? std::vector<std::string>{std::to_string(count - 64)} : std::vector<std::string>{}));
    CHECK(encoder.fields_dropped() == count - 64);
    CHECK(entry.fields.size() == 3 + 64 + (count > 64 ? 1 : 0));
  }
}

TEST_CASE("journal: a record is encoded without allocating, once one as large has been", "[diag][journal]") {
  JournalEncoder encoder;
  std::vector<JournalField> fields(8, {"some_name", "some value"});
  JournalRecord r = whole_record();
  r.fields = fields;
  (void)encoder.encode(r);
  std::uint64_t before = allocations_of_this_thread();
  for (int i = 0; i < 1000; ++i) {
    r.line = static_cast<std::uint32_t>(i);
    (void)encoder.encode(r);
  }
  CHECK(allocations_of_this_thread() == before);
}

namespace {

// One encoder, random records made of what is dangerous; each must be one entry that says what the record said.
void try_random_records(int count, unsigned seed) {
  std::mt19937 random(seed);
  JournalEncoder encoder;
  static constexpr std::string_view kPieces[] = {"\n",     "=",   "\n\n", "MESSAGE",  "MESSAGE=", "PRIORITY=0\n", "_",  "0", "\0"sv, ".",
                                                 "#",      "a",   "B",    "\xff\xfe", " ",        "DIAG_TAG",     "\r", "X", "\x1b",
                                                 "\1\0\0\0\0\0\0\0"sv};
  auto text = [&](std::size_t pieces_max) {
    std::string all;
    for (std::size_t n = random() % (pieces_max + 1); n > 0; --n) {
      if (std::size_t i = random() % (std::size(kPieces) + 4); i < std::size(kPieces)) {
        all += kPieces[i];
      } else {
        all += static_cast<char>(random());
      }
    }
    return all;
  };
  std::vector<std::string> texts(12);
  std::vector<JournalField> fields;
  std::size_t entries = 0;
  std::string wrong;
  for (int i = 0; i < count; ++i) {
    for (std::string& one : texts) one = text(6);
    fields.clear();
    for (std::size_t f = random() % 4; f > 0; --f) fields.push_back({texts[2 * f], texts[2 * f + 1]});
    JournalRecord r{.level = static_cast<Level>(random() % 10), .message = texts[0], .file = texts[8], .tag = texts[1], .fields = fields};
    auto parsed = parse_journal(encoder.encode(r));
    if (!parsed) {
      wrong = parsed.error();
      break;
    }
    entries += parsed->size();
    const JournalEntry& entry = parsed->front();
    std::string message = texts[0].empty() ? texts[1] : texts[0];
    if (message.ends_with('\n')) message.pop_back();
    if (entry.value("MESSAGE") != message) wrong = "another MESSAGE";
    // The record's own fields stand behind the message, in order.
    std::size_t at = 0;
    while (entry.fields[at].first != "MESSAGE") ++at;
    for (const JournalField& field : fields) {
      if (!field.name.empty() && entry.fields.at(++at).second != field.value) wrong = "another value";
    }
    if (!wrong.empty()) break;
  }
  INFO("seed " << seed);
  CHECK(wrong == "");
  CHECK(entries == static_cast<std::size_t>(count));
}

}  // namespace

TEST_CASE("journal: J5, of random names and values no record makes a second entry", "[diag][journal]") {
  try_random_records(20'000, 20261130);
}
TEST_CASE("journal: J5, a million random names and values", "[diag][.long]") {
  try_random_records(1'000'000, std::random_device{}());
}

TEST_CASE("journal: the receiver of the tests refuses what journald would leave out in silence", "[diag][journal]") {
  const std::string good = "PRIORITY=7\nMESSAGE=m\n";
  REQUIRE(parse_journal(good));
  CHECK(parse_journal(good + "\n" + good)->size() == 2);
  CHECK(parse_journal(good + "\n")->size() == 1);
  CHECK(parse_journal(good + "A\n\1\0\0\0\0\0\0\0x\n"s)->front().value("A") == "x");
  for (const std::string& bad : {
           ""s, "\n" + good, good + "\n\n", good + "a=1\n", good + "_A=1\n", good + "1A=1\n", good + "A-B=1\n", good + "=1\n", good + "A=1",
           good + "A\n", good + ".x\n", good + "#x\n", good + std::string(65, 'A') + "=1\n", good + "MESSAGE=n\n", good + "TID=1\nTID=1\n",
           "PRIORITY=7\n"s, "MESSAGE=m\n"s, "PRIORITY=9\nMESSAGE=m\n"s, "PRIORITY=debug\nMESSAGE=m\n"s,
           good + "A\n\2\0\0\0\0\0\0\0x\n"s, good + "A\n\0\0\0\0\0\0\0\0x\n"s, good + "A\n\xff\xff\xff\xff\xff\xff\xff\xffx\n"s,
       }) {
    INFO(bad);
    CHECK_FALSE(parse_journal(bad));
  }
  std::string many = good;
  for (int i = 0; i < 1022; ++i) many += "A=1\n";
  CHECK(parse_journal(many));
  CHECK_FALSE(parse_journal(many + "A=1\n"));
}
