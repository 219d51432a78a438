// SPDX-License-Identifier: Apache-2.0
#include "http1/head_writer.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "http1/head_parser.h"

using namespace telltale;
using namespace telltale::http1;
using http::Framing;

namespace {

http::Fields make(std::initializer_list<std::pair<const char*, const char*>> list) {
  http::Fields fields;
  for (auto [name, value] : list) fields.add_copy(name, value);
  return fields;
}

std::string join(const http::Fields& fields) {
  std::string text;
  for (const http::Field& field : fields) text.append(field.name).append("=").append(field.value).append(";");
  return text;
}

std::string response(std::uint16_t status, const http::Fields& fields, Framing framing, ConnectionField connection = ConnectionField::kNone) {
  std::string text;
  append_response_head(text, status, {}, fields, framing, connection);
  return text;
}

}  // namespace

TEST_CASE("HopByHop: B124 what Connection names goes, what a peer must not take away stays", "[http1][hop][B124]") {
  http::Fields fields = make({{"Host", "a"}, {"X-Hop", "1"}, {"Connection", "x-hop, close, Content-Length, Host, X-Forwarded-For"},
                              {"Content-Length", "5"}, {"X-Forwarded-For", "192.0.2.1"}, {"X-Stays", "1"}, {"x-hop", "2"}});
  CHECK(strip_hop_by_hop(fields) == 3);
  CHECK(join(fields) == "Host=a;Content-Length=5;X-Forwarded-For=192.0.2.1;X-Stays=1;");
}

TEST_CASE("HopByHop: B128 hop-by-hop fields go without being named", "[http1][hop][B128]") {
  http::Fields fields = make({{"Upgrade", "h2c"}, {"Connection", ""}, {"Keep-Alive", "timeout=5"}, {"Proxy-Connection", "keep-alive"}, {"TE", "x"},
                              {"Trailer", "X-T"}, {"Transfer-Encoding", "chunked"}, {"Proxy-Authorization", "Basic x"}, {"Server", "s"}});
  strip_hop_by_hop(fields);
  CHECK(join(fields) == "Server=s;");
}

TEST_CASE("HopByHop: several Connection fields count, also after eight", "[http1][hop]") {
  http::Fields fields;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "X-" + std::to_string(i);
    fields.add_copy(name, "v");
    fields.add_copy("Connection", " ," + name + ",");
  }
  fields.add_copy("X-20", "v");
  CHECK(strip_hop_by_hop(fields) == 40);
  CHECK(join(fields) == "X-20=v;");
  CHECK(strip_hop_by_hop(fields) == 0);
}

TEST_CASE("HeadWriter: a request's framing comes from the Framing alone", "[http1][writer][B108]") {
  const http::Fields fields = make({{"Host", "a"}, {"content-length", "99"}, {"transfer-encoding", "x"}, {"connection", "y"}, {"X", "v"}});
  std::string text;
  append_request_head(text, "POST", "/p?q", fields, {Framing::kLength, 5}, ConnectionField::kNone);
  CHECK(text == "POST /p?q HTTP/1.1\r\nHost: a\r\nX: v\r\nContent-Length: 5\r\n\r\n");
  text.clear();
  append_request_head(text, "POST", "/", fields, {Framing::kChunked}, ConnectionField::kClose);
  CHECK(text == "POST / HTTP/1.1\r\nHost: a\r\nX: v\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
  text.clear();
  append_request_head(text, "GET", "/", fields, {}, ConnectionField::kKeepAlive);
  CHECK(text == "GET / HTTP/1.1\r\nHost: a\r\nX: v\r\nConnection: keep-alive\r\n\r\n");
  text.clear();
  append_request_head(text, "POST", "/", fields, {Framing::kLength, 0}, ConnectionField::kNone);
  CHECK(text == "POST / HTTP/1.1\r\nHost: a\r\nX: v\r\nContent-Length: 0\r\n\r\n");
}

TEST_CASE("HeadWriter: B119 a response to HEAD announces the length", "[http1][writer][B119]") {
  const http::Fields fields = make({{"ETag", "\"e\""}});
  CHECK(response(200, fields, {Framing::kNone, 12, true}) == "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 12\r\n\r\n");
  CHECK(response(200, fields, {Framing::kLength, 18446744073709551615u}) ==
        "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 18446744073709551615\r\n\r\n");
  CHECK(response(200, fields, {Framing::kUntilClose}, ConnectionField::kClose) == "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nConnection: close\r\n\r\n");
}

TEST_CASE("HeadWriter: a 1xx and a 204 never announce content", "[http1][writer]") {
  const http::Fields none;
  for (std::uint16_t status : {100, 103, 204}) {
    for (Framing framing : {Framing{Framing::kLength, 5}, Framing{Framing::kChunked}, Framing{Framing::kNone, 5, true}}) {
      const std::string text = response(status, none, framing);
      CHECK(text.find("Content-Length") == std::string::npos);
      CHECK(text.find("Transfer-Encoding") == std::string::npos);
    }
  }
}

TEST_CASE("HeadWriter: the reason of the origin is kept, a missing one is filled in", "[http1][writer]") {
  std::string text;
  append_response_head(text, 200, "Fine", {}, {}, ConnectionField::kNone);
  CHECK(text == "HTTP/1.1 200 Fine\r\n\r\n");
  text.clear();
  append_response_head(text, 299, {}, {}, {}, ConnectionField::kNone);
  CHECK(text == "HTTP/1.1 299 Unknown\r\n\r\n");
}

TEST_CASE("HeadWriter: what is written is read back", "[http1][writer]") {
  http::Fields fields = make({{"Host", "example.org"}, {"X-Empty", ""}, {"X", "a b"}});
  std::string text;
  append_request_head(text, "PUT", "/x", fields, {Framing::kLength, 7}, ConnectionField::kClose);
  RequestHeadParser parser;
  http::RequestHead head;
  REQUIRE(parser.parse(text, head) == Parse::kDone);
  CHECK(join(head.fields) == "Host=example.org;X-Empty=;X=a b;Content-Length=7;Connection=close;");
  CHECK(head.framing == Framing{Framing::kLength, 7});
  CHECK_FALSE(head.keep_alive);
}

TEST_CASE("HeadWriter: an Out that is too small says so and is never overrun", "[http1][writer][limit]") {
  const http::Fields fields = make({{"Host", "a"}, {"X", "v"}});
  std::string whole;
  append_response_head(whole, 200, {}, fields, {Framing::kLength, 5}, ConnectionField::kClose);
  for (std::size_t size = 0; size <= whole.size() + 1; ++size) {
    std::string memory(size + 8, '#');
    Out out(memory.data(), size);
    append_response_head(out, 200, {}, fields, {Framing::kLength, 5}, ConnectionField::kClose);
    REQUIRE(out.full() == (size < whole.size()));
    REQUIRE(out.size() <= size);
    REQUIRE(memory.substr(size) == "########");
    if (!out.full()) REQUIRE(out.text() == whole);
  }
  std::string memory(1000, '#');
  Out out(memory.data(), memory.size());
  append_request_head(out, "GET", "/", fields, {}, ConnectionField::kNone);
  CHECK_FALSE(out.full());
  CHECK(out.text().substr(0, 16) == "GET / HTTP/1.1\r\n");
}
