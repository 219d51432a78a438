// SPDX-License-Identifier: Apache-2.0
// One in so many transactions: which ones, and that all of each is there.
#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/lease.h>
#include <telltale/diag/scope.h>
#include <telltale/diag/site_list.h>

#include <catch2/catch.hpp>

#include "tests/unit/diag/debug_state.h"

namespace telltale::diag {
namespace {

constexpr DbgCtl sample_dbg{"sample_a"};

bool line(const Context* context) {
  const Scope scope(context);
  bool written = false;
  Dbg(sample_dbg, "line {}", written = true);
  return written;
}
bool line(std::uint64_t transaction) {
  Context context;
  context.transaction = transaction;
  return line(&context);
}

}  // namespace

TEST_CASE("Samples: about one in so many, the same ones each time, and the smaller sample inside the larger", "[diag][sample]") {
  for (std::uint32_t sample : {2u, 10u, 100u, 1000u}) {
    constexpr int kAll = 1'000'000;
    int in = 0;
    for (std::uint64_t t = 1; t <= kAll; ++t) {
      in += in_sample(t, sample);
      if (in_sample(t, sample * 7)) CHECK(in_sample(t, sample));
    }
    CHECK(in == Approx(kAll / sample).epsilon(0.1));
  }
  CHECK(in_sample(5, 1));
}

TEST_CASE("Samples: a lease is for all lines of the transactions in its sample, and for no others", "[diag][sample]") {
  CleanDebug clean;
  REQUIRE(open_lease({.tags = "sample_", .sample = 3}));
  int in = 0;
  for (std::uint64_t t = 1; t <= 1000; ++t) {
    CHECK(line(t) == in_sample(t, 3));
    CHECK(line(t) == in_sample(t, 3));
    in += in_sample(t, 3);
  }
  CHECK(leases().at(0).lines == 2 * static_cast<std::uint64_t>(in));
  CHECK_FALSE(line(nullptr));
  CHECK_FALSE(line(std::uint64_t{0}));
  CHECK(tag_state("sample_a").clients_only);
  auto list = sites({.tags = "sample_", .why = true});
  REQUIRE(list);
  CHECK(list->sites.at(0).state == SiteIs::kOnForClients);
  CHECK(list->sites.at(0).why.at(1).decided == "tags: tag=sample_ (for 1 of 3 transactions)");
}

TEST_CASE("Samples: client filters hold too, and another lease goes its own way", "[diag][sample]") {
  CleanDebug clean;
  Client client;
  client.address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 7};
  REQUIRE(open_lease({.tags = "sample_", .client_ip = "10.0.0.7", .sample = 4}));
  std::uint64_t inside = 1, outside = 1;
  while (!in_sample(inside, 4)) ++inside;
  while (in_sample(outside, 4)) ++outside;
  Context context;
  context.transaction = inside;
  CHECK_FALSE(line(&context));
  context.client = &client;
  CHECK(line(&context));
  context.transaction = outside;
  CHECK_FALSE(line(&context));
  REQUIRE(open_lease({.tags = "sample_", .append = true}));
  CHECK(line(&context));
  CHECK_FALSE(tag_state("sample_a").clients_only);
}

TEST_CASE("Samples: the base may be for a sample, in every mode but 0; the Specific flag asks for all", "[diag][sample]") {
  CleanDebug clean;
  std::uint64_t inside = 1, outside = 1;
  while (!in_sample(inside, 5)) ++inside;
  while (in_sample(outside, 5)) ++outside;
  REQUIRE(set_base({.mode = Mode::kOn, .tags = "sample_", .sample = 5}));
  CHECK(line(inside));
  CHECK_FALSE(line(outside));
  CHECK_FALSE(string_tag_wanted("sample_a", false));
  const RuntimeControl control("sample_a");
  CHECK_FALSE(control.on());
  CHECK(control.on(true));
  REQUIRE(set_base({.mode = Mode::kOff, .tags = "sample_", .sample = 5}));
  CHECK_FALSE(line(inside));
  CHECK(base().sample == 5);
  REQUIRE(set_base({.mode = Mode::kOn, .tags = "sample_"}));
  CHECK(line(outside));
}

}  // namespace telltale::diag
