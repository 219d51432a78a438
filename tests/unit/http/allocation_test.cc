// SPDX-License-Identifier: Apache-2.0
//
// Nothing on the hot path allocates: filling, reading and printing the fields of a message whose Fields were used before.
#include <catch2/catch.hpp>
#include <string>

#include "http/cache_control.h"
#include "http/date.h"
#include "http/print.h"
#include "http/print_dump.h"
#include "http/redaction.h"
#include "tests/unit/http/count_new.h"

using namespace telltale::http;

TEST_CASE("Fields: a reused Fields of up to 32 fields and 16 KiB of copies does not allocate", "[http][fields][alloc]") {
  Fields fields;
  const std::string value(400, 'v');
  std::size_t during = 0;
  for (int round = 0; round < 5; ++round) {
    const std::size_t before = allocations();
    for (std::size_t i = 0; i < Fields::kInline; ++i) fields.add_copy("X-Name", value);
    fields.clear();
    during = allocations() - before;
    if (round == 0) CHECK(during > 0);  // the counter counts
  }
  CHECK(during == 0);
}

TEST_CASE("Fields: memory beyond 16 KiB is given back by clear()", "[http][fields][alloc]") {
  Fields fields;
  const std::string large(20000, 'v');
  for (int round = 0; round < 2; ++round) {
    const std::size_t before = allocations();
    fields.add_copy("X", large);
    CHECK(allocations() > before);
    fields.clear();
  }
}

TEST_CASE("Print: masking and printing a head does not allocate", "[http][print][alloc]") {
  RequestHead head;
  head.method_text = "GET";
  head.target = "http://u:p@h/x?token=zz&next=https%3A%2F%2Fh%2F%3Fsig%3D1";
  REQUIRE(head.authority.parse("example.org:8080"));
  for (auto [name, value] : {std::pair{"Host", "example.org:8080"}, {"Authorization", "Bearer S3CR3T"}, {"Cookie", "a=1; b=2"},
                             {"X-Any-Token", "t"}, {"Referer", "https://h/?sig=1"}, {"Link", "<https://h/?sig=1>"},
                             {"Cache-Control", "max-age=\"60\", no-cache=\"a\""}, {"X-Other", "plain"}}) {
    head.fields.add_copy(name, value);
  }
  char buffer[4096];
  const std::size_t before = allocations();
  const auto result = fmt::format_to_n(buffer, sizeof buffer, "{} {} {} {}", print_request_line(head), print_fields(head.fields),
                                       print_authority(head.authority), print_field(*head.fields.begin()));
  const CacheControl control = parse_cache_control(head.fields);
  const auto date = parse_date("Sun, 06 Nov 1994 08:49:37 GMT", 0);
  char text[kDateLength];
  format_date(*date, text);
  const std::size_t during = allocations() - before;
  CHECK(during == 0);
  CHECK(result.size > 200);
  CHECK(control.max_age == 60u);
}

TEST_CASE("Redaction: printing dumps, bodies and what was added does not allocate", "[http][redact][alloc]") {
  Redaction added;
  added.fields = "x-badge";
  added.query_keys = "badge";
  set_redaction(added);
  RequestHead head;
  head.method_text = "GET";
  head.target = "/a?badge=1";
  for (const char* name : {"Host", "X-Badge", "Cookie", "X-Any-Token"}) head.fields.add_copy(name, "value=1");
  char buffer[4096];
  const std::size_t before = allocations();
  const auto result = fmt::format_to_n(buffer, sizeof buffer, "{} {} {}", dump_request(Direction::kClientRequest, head), print_body("abc", "text/plain"),
                                       print_command("set auth.key x"));
  const std::size_t during = allocations() - before;
  set_redaction({});
  CHECK(during == 0);
  CHECK(result.size > 100);
}
