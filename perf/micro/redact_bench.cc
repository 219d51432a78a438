// SPDX-License-Identifier: Apache-2.0
// What masking costs: a block of 20 fields printed as http_hdrs shows it, beside the same loop writing `name: value`
// without looking at names, in turns in one run. With --gate, more than 2.5 times that, or an allocation, makes exit
// status 1.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include <fmt/compile.h>

#include "http/fields.h"
#include "http/print.h"
#include "http/print_dump.h"
#include "record_peers/allocations.h"

namespace {

using namespace telltale;
using std::chrono::steady_clock;

constexpr double kRatioMax = 2.5;
constexpr int kRounds = 301, kTimes = 1000;  // a round is shorter than what a scheduler grants

// What a browser sends to a site that it is logged in to.
constexpr std::array<std::pair<std::string_view, std::string_view>, 20> kBlock{{
    {"Host", "www.example.com"},
    {"Connection", "keep-alive"},
    {"Cache-Control", "max-age=0"},
    {"sec-ch-ua", R"("Chromium";v="120", "Not?A_Brand";v="8")"},
    {"sec-ch-ua-mobile", "?0"},
    {"sec-ch-ua-platform", R"("Linux")"},
    {"Upgrade-Insecure-Requests", "1"},
    {"User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36"},
    {"Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"},
    {"Sec-Fetch-Site", "same-origin"},
    {"Sec-Fetch-Mode", "navigate"},
    {"Sec-Fetch-User", "?1"},
    {"Sec-Fetch-Dest", "document"},
    {"Referer", "https://www.example.com/catalogue/pictures?page=3&sort=date"},
    {"Accept-Encoding", "gzip, deflate, br"},
    {"Accept-Language", "en-GB,en;q=0.9,de;q=0.8"},
    {"Cookie", "sid=0123456789abcdef0123456789abcdef; lang=en; theme=dark"},
    {"Authorization", "Bearer 0123456789abcdef.0123456789abcdef.0123456789abcdef"},
    {"X-Requested-With", "XMLHttpRequest"},
    {"X-Correlation-Id", "4f9d2c1e-6a7b-4c8d-9e0f-1a2b3c4d5e6f"},
}};

// The reference: what a printer would be that masks nothing.
struct Plain {
  const http::Fields* fields;
};

}  // namespace

template <>
struct fmt::formatter<Plain> {
  constexpr auto parse(format_parse_context& context) { return context.begin(); }
  fmt::appender format(const Plain& plain, format_context& context) const {
    fmt::appender out = context.out();
    bool first = true;
    for (const http::Field& field : *plain.fields) {
      out = fmt::format_to(out, FMT_COMPILE("{}{}: {}"), first ? std::string_view() : std::string_view(" | "), field.name, field.value);
      first = false;
    }
    return out;
  }
};

namespace {

char buffer[16 * 1024];

template <class Work>
double ns_each(Work work) {
  const auto start = steady_clock::now();
  for (int i = 0; i < kTimes; ++i) work();
  return static_cast<double>((steady_clock::now() - start).count()) / kTimes;
}

double median(std::vector<double> all) {
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  return all[all.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const bool gate = argc > 1 && std::string_view(argv[1]) == "--gate";
  http::Fields fields;
  for (auto [name, value] : kBlock) fields.add_copy(name, value);
  auto plain = [&] { (void)fmt::format_to_n(buffer, sizeof buffer, "{}", Plain{&fields}); };
  auto masked = [&] { (void)fmt::format_to_n(buffer, sizeof buffer, "{}", http::print_fields(fields)); };
  std::vector<double> of_plain, of_masked, ratios;
  for (int round = 0; round < kRounds; ++round) {
    of_plain.push_back(ns_each(plain));
    of_masked.push_back(ns_each(masked));
    ratios.push_back(of_masked.back() / of_plain.back());
  }
  const std::uint64_t before = bench::allocations_of_this_thread();
  masked();
  const std::uint64_t allocations = bench::allocations_of_this_thread() - before;
  const double ratio = median(ratios);
  std::printf("20 fields, ns: as they are %.0f, masked %.0f; %.2f times (at most %.1f); allocations %llu\n", median(of_plain), median(of_masked),
              ratio, kRatioMax, static_cast<unsigned long long>(allocations));
  return gate && (ratio > kRatioMax || allocations != 0) ? 1 : 0;
}
