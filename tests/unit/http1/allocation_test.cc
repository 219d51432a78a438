// SPDX-License-Identifier: Apache-2.0
//
// Reading a request, writing its answer and printing both does not allocate.
#include <catch2/catch.hpp>
#include <string>

#include "http/print.h"
#include "http1/chunk_decoder.h"
#include "http1/head_parser.h"
#include "http1/head_writer.h"
#include "tests/unit/http/count_new.h"

using namespace telltale;
using namespace telltale::http1;

TEST_CASE("RequestHeadParser: a head of up to 32 fields is parsed, stripped, written and printed without allocating", "[http1][head][alloc]") {
  std::string request = "GET /a?token=zz HTTP/1.1\r\nHost: example.org\r\nConnection: x-hop, keep-alive\r\nX-Hop: 1\r\n";
  for (std::size_t i = 3; i < http::Fields::kInline; ++i) request += "X-Field-" + std::to_string(i) + ": value\r\n";
  request += "\r\n";
  RequestHeadParser parser;
  http::RequestHead head;
  char memory[8192];
  for (int round = 0; round < 3; ++round) {
    const std::size_t before = allocations();
    parser.reset();
    const bool half = parser.parse(std::string_view(request).substr(0, 50), head) == Parse::kNeedMore;
    const bool done = parser.parse(request, head) == Parse::kDone;
    const std::size_t fields = head.fields.size();
    const std::size_t removed = strip_hop_by_hop(head.fields);
    Out out(memory, sizeof memory);
    append_request_head(out, head.method_text, head.target, head.fields, head.framing, ConnectionField::kNone);
    char line[4096];
    const auto printed = fmt::format_to_n(line, sizeof line, "{} | {}", http::print_request_line(head), http::print_fields(head.fields));
    const std::size_t during = allocations() - before;
    CHECK(half);
    CHECK(done);
    CHECK(fields == http::Fields::kInline);
    CHECK(removed == 2);
    CHECK_FALSE(out.full());
    CHECK(printed.size > 500);
    CHECK(during == 0);
  }
}

TEST_CASE("ResponseHeadParser: refusing does not allocate", "[http1][head][alloc]") {
  ResponseHeadParser parser;
  http::ResponseHead head;
  const std::size_t before = allocations();
  parser.reset(http::Method::kGet);
  const bool bad = parser.parse("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", head) == Parse::kBad;
  const std::size_t during = allocations() - before;
  CHECK(bad);
  CHECK(during == 0);
}

TEST_CASE("ChunkDecoder: decoding does not allocate", "[http1][chunk][alloc]") {
  ChunkDecoder decoder;
  const std::size_t before = allocations();
  const auto first = decoder.decode("3\r\nabc\r\n0\r\nX: y\r\n\r\n");
  const auto second = decoder.decode("\r\n0\r\nX: y\r\n\r\n");
  const std::size_t during = allocations() - before;
  CHECK(first.content == "abc");
  CHECK(second.state == ChunkDecoder::State::kDone);
  CHECK(during == 0);
}
