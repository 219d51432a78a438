// SPDX-License-Identifier: Apache-2.0
// What an entry for journald costs to encode, beside the line of text of the same record, in turns in one run. With
// --gate, an entry that costs more than 1.3 of the line's time, or an allocation, makes exit status 1.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/diag/record.h>

#include "journal_encoder.h"
#include "line.h"
#include "record_peers/allocations.h"

namespace {

using namespace telltale::diag;
using std::chrono::steady_clock;

constexpr double kRatioMax = 1.3;
constexpr int kRounds = 301, kTimes = 1000;  // a round is shorter than what a scheduler grants

constexpr std::array<JournalField, 8> kFields{{{"status", "200"},
                                               {"method", "GET"},
                                               {"host", "host-001.example.com"},
                                               {"path", "/pictures/1.png"},
                                               {"bytes_sent", "123456"},
                                               {"took", "0.0123"},
                                               {"cache", "hit"},
                                               {"worker", "3"}}};

// The record as both are handed it.
struct Case {
  const char* name;
  JournalRecord entry;
  LineHead head;
  std::string text;  // of the line: with the fields
};

Case make_case(const char* name, std::string_view message, std::span<const JournalField> fields) {
  Case c{name, {}, {}, std::string(message)};
  c.entry = {.message = message, .identifier = "telltale", .file = "http1/session.cc", .function = "on_request", .tag = "http",
             .line = 95, .process = 4711, .thread = 4712, .transaction = 345, .connection = 12, .fields = fields};
  c.head.wall_ns = 1'764'500'000'123'456'789;
  c.head.thread = "worker-0";
  c.head.origin = {"http", {}, "http1/session.cc", "on_request", 95};
  c.head.transaction = 345;
  c.head.connection = 12;
  for (const JournalField& field : fields) c.text.append(" ").append(field.name).append("=").append(field.value);
  return c;
}

template <class Work>
double ns_each(Work work) {
  const auto start = steady_clock::now();
  for (int i = 0; i < kTimes; ++i) work();
  return std::chrono::duration<double, std::nano>(steady_clock::now() - start).count() / kTimes;
}

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

bool measure(Case& c) {
  LineWriter writer;
  std::string line;
  JournalEncoder encoder;
  std::size_t bytes = 0;  // looked at, so that nothing is left out
  auto write_line = [&] {
    line.clear();
    c.head.wall_ns += 1000;
    writer.append(line, c.head, ShowLocation::kDebugLines, c.text);
    bytes += line.size();
  };
  auto encode = [&] { bytes += encoder.encode(c.entry).size(); };
  write_line();
  encode();
  const std::uint64_t before = bench::allocations_of_this_thread();
  encode();
  const std::uint64_t allocations = bench::allocations_of_this_thread() - before;
  std::vector<double> lines, entries, ratios;
  for (int round = 0; round < kRounds; ++round) {
    lines.push_back(ns_each(write_line));
    entries.push_back(ns_each(encode));
    ratios.push_back(entries.back() / lines.back());
  }
  const double ratio = median(ratios);
  const bool good = ratio <= kRatioMax && allocations == 0 && bytes != 0;
  std::printf("%-22s %8.1f ns %8.1f ns %8.2f %12llu   %s\n", c.name, median(lines), median(entries), ratio,
              static_cast<unsigned long long>(allocations), good ? "met" : "MISSED");
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const bool gate = argc == 2 && std::string_view(argv[1]) == "--gate";
  if (argc > 1 && !gate) {
    std::fprintf(stderr, "journal_bench takes --gate or nothing, not '%s'\n", argv[1]);
    return 2;
  }
  std::printf("%-22s %11s %11s %8s %12s   at most %.1f and 0\n", "record", "line", "entry", "ratio", "allocations", kRatioMax);
  Case plain = make_case("without fields", "hi", {});
  Case fields = make_case("with 8 fields", "request done", kFields);
  bool good = measure(plain);
  good &= measure(fields);
  return gate && !good ? 1 : 0;
}
