// SPDX-License-Identifier: Apache-2.0
#include "http1/head_parser.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace telltale;
using namespace telltale::http1;
using http::FieldId;

namespace {

struct Request {
  explicit Request(std::string bytes, HeadLimits limits = {}) : buffer(std::move(bytes)), parser(limits) {
    result = parser.parse(buffer, head);
  }
  std::string buffer;
  RequestHeadParser parser;
  http::RequestHead head;
  Parse result;
};

struct Response {
  explicit Response(std::string bytes, http::Method method = http::Method::kGet, HeadLimits limits = {})
      : buffer(std::move(bytes)), parser(limits) {
    parser.reset(method);
    result = parser.parse(buffer, head);
  }
  std::string buffer;
  ResponseHeadParser parser;
  http::ResponseHead head;
  Parse result;
};

// The status a request is refused with; 0: accepted, 1: more is needed.
int refused(const std::string& bytes) {
  const Request request(bytes);
  if (request.result == Parse::kDone) return 0;
  if (request.result == Parse::kNeedMore) return 1;
  CHECK_FALSE(request.parser.reason().empty());
  CHECK(request.head.fields.empty());
  return request.parser.status();
}

int refused_with(const std::string& fields) { return refused("POST / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n"); }

bool response_bad(const std::string& bytes) {
  const Response response(bytes);
  if (response.result == Parse::kBad) CHECK(response.parser.status() == 502);
  return response.result == Parse::kBad;
}

}  // namespace

TEST_CASE("RequestHeadParser: a client that speaks TLS is told so", "[http1][head]") {
  const Request request(std::string("\x16\x03\x01\x00\xa5\x01", 6));
  CHECK(request.result == Parse::kBad);
  CHECK(request.parser.reason() == "this is TLS, which is not spoken here");
}

TEST_CASE("RequestHeadParser: a browser's head comes out as it went in", "[http1][head]") {
  const Request request(
      "GET /a/b?c=d HTTP/1.1\r\nHost: Example.org:8080\r\nUser-Agent: x y\r\nAccept:*/*\r\nX-Empty:\r\nX-Space: \t v w \t\r\n\r\nrest");
  REQUIRE(request.result == Parse::kDone);
  CHECK(request.parser.consumed() == request.buffer.size() - 4);
  const http::RequestHead& head = request.head;
  CHECK(head.method == http::Method::kGet);
  CHECK(head.method_text == "GET");
  CHECK(head.target == "/a/b?c=d");
  CHECK(head.path == "/a/b");
  CHECK(head.query == "c=d");
  CHECK(head.version == http::Version::kHttp11);
  CHECK(head.authority.host() == "example.org");
  CHECK(head.authority.port() == 8080);
  CHECK(head.keep_alive);
  CHECK_FALSE(head.expect_continue);
  CHECK(head.framing == http::Framing{});
  REQUIRE(head.fields.size() == 5);
  CHECK(head.fields.begin()[0].id == FieldId::kHost);
  CHECK(head.fields.begin()[0].value == "Example.org:8080");
  CHECK(head.fields.find("accept")->value == "*/*");
  CHECK(head.fields.find("x-empty")->value.empty());
  CHECK(head.fields.find("x-space")->value == "v w");
  // Views point into the buffer.
  CHECK(head.target.data() == request.buffer.data() + 4);
}

TEST_CASE("RequestHeadParser: pipelined requests are read one after the other", "[http1][head]") {
  const std::string buffer = "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n";
  RequestHeadParser parser;
  http::RequestHead head;
  std::string_view rest = buffer;
  for (const char* target : {"/1", "/2"}) {
    REQUIRE(parser.parse(rest, head) == Parse::kDone);
    CHECK(head.target == target);
    CHECK(head.fields.size() == 1);
    rest.remove_prefix(parser.consumed());
    parser.reset();
  }
  CHECK(rest.empty());
  CHECK(parser.parse(rest, head) == Parse::kNeedMore);
  CHECK_FALSE(parser.started(rest));
  CHECK(parser.parse("G", head) == Parse::kNeedMore);
  CHECK(parser.started("G"));
}

TEST_CASE("RequestHeadParser: split at every position the result is the same", "[http1][head]") {
  const std::string whole = "\r\n\r\nPOST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nX: y\r\n\r\nhello";
  const std::size_t end = whole.size() - 5;
  for (std::size_t first = 0; first < end; ++first) {
    RequestHeadParser parser;
    http::RequestHead head;
    {
      const std::string before = whole.substr(0, first);  // another place in memory
      REQUIRE(parser.parse(before, head) == Parse::kNeedMore);
      REQUIRE(parser.started(before) == (first > 4));
    }
    REQUIRE(parser.parse(whole, head) == Parse::kDone);
    REQUIRE(parser.consumed() == end);
    REQUIRE(head.target == "/x");
    REQUIRE(head.framing.length == 5);
    REQUIRE(head.fields.size() == 3);
  }
  RequestHeadParser parser;
  http::RequestHead head;
  for (std::size_t n = 0; n < end; ++n) REQUIRE(parser.parse(whole.substr(0, n), head) == Parse::kNeedMore);
  CHECK(parser.parse(whole.substr(0, end), head) == Parse::kDone);
}

TEST_CASE("RequestHeadParser: up to four empty lines before a request are skipped", "[http1][head][limit]") {
  const std::string request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const Request four("\r\n\r\n\r\n\r\n" + request);
  CHECK(four.result == Parse::kDone);
  CHECK(four.parser.consumed() == four.buffer.size());
  CHECK(refused("\r\n\r\n\r\n\r\n\r\n" + request) == 400);
  CHECK(refused("\n" + request) == 400);
  CHECK(refused(" \r\n" + request) == 400);
  CHECK(refused("\r" + request) == 400);
}

TEST_CASE("RequestHeadParser: the head may have bytes_max bytes and not one more", "[http1][head][limit]") {
  HeadLimits limits;
  limits.bytes_max = 100;
  const std::string frame = "GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n";
  const auto padded = [&](std::size_t size) {
    std::string text = frame;
    return text.insert(text.size() - 4, std::string(size - frame.size(), 'v'));
  };
  CHECK(Request(padded(100), limits).result == Parse::kDone);
  CHECK(Request("\r\n\r\n" + padded(100) + "more", limits).result == Parse::kDone);
  const Request larger(padded(101), limits);
  CHECK(larger.result == Parse::kTooLarge);
  CHECK(larger.parser.status() == 431);
  CHECK(Request(padded(100).substr(0, 99), limits).result == Parse::kNeedMore);
  CHECK(Request(padded(5000).substr(0, 99), limits).result == Parse::kNeedMore);
  CHECK(Request(padded(5000).substr(0, 100), limits).result == Parse::kTooLarge);
  const Request line("GET /" + std::string(95, 'p'), limits);
  CHECK(line.result == Parse::kTooLarge);
  CHECK(line.parser.status() == 414);
}

TEST_CASE("RequestHeadParser: B67 a field that is too large is named, its value is not", "[http1][head][limit][B67]") {
  const Request large("GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer S3CR3T" + std::string(70000, 'x') + "\r\n\r\n");
  CHECK(large.result == Parse::kTooLarge);
  CHECK(large.parser.status() == 431);
  CHECK(large.parser.reason() == "field Authorization: the head is too long here");
}

TEST_CASE("RequestHeadParser: the head may have fields_max fields and not one more", "[http1][head][limit]") {
  HeadLimits limits;
  limits.fields_max = 40;
  const auto with = [](int fields) {
    std::string text = "GET / HTTP/1.1\r\nHost: a\r\n";
    for (int i = 1; i < fields; ++i) text += "X: y\r\n";
    return text + "\r\n";
  };
  const Request at(with(40), limits);
  CHECK(at.result == Parse::kDone);
  CHECK(at.head.fields.size() == 40);
  const Request above(with(41), limits);
  CHECK(above.result == Parse::kTooLarge);
  CHECK(above.parser.status() == 431);
  limits.fields_max = 0;
  CHECK(Request("GET / HTTP/1.0\r\n\r\n", limits).result == Parse::kDone);
  CHECK(Request("GET / HTTP/1.0\r\nX: y\r\n\r\n", limits).result == Parse::kTooLarge);
}

TEST_CASE("RequestHeadParser: a request line is method, target and version with one space each", "[http1][head]") {
  for (const char* line : {"GET  / HTTP/1.1", "GET /  HTTP/1.1", " GET / HTTP/1.1", "GET / HTTP/1.1 ", "GET\t/ HTTP/1.1", "GET / http/1.1",
                           "GET /", "GET", "GET / HTTP/1", "GET / HTTP/1.", "GET / HTTP/11", "GET / HTTP/1.1x", "G(T / HTTP/1.1",
                           "GET /a b HTTP/1.1", "GET /\x01 HTTP/1.1", "GET /\x80 HTTP/1.1", "GET /#f HTTP/1.1", "GET x HTTP/1.1",
                           "GET https://a/ HTTP/1.1", "GET http:/a HTTP/1.1", "GET http:///a HTTP/1.1", "GET http://u@a/ HTTP/1.1", "GET * HTTP/1.1", "GET / HTTP/1.1\rX", "GET / ", "GET / TELNET/1.1"}) {
    INFO(line);
    CHECK(refused(std::string(line) + "\r\nHost: a\r\n\r\n") == 400);
  }
  CHECK(refused("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n") == 0);
  CHECK(refused("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n") == 405);
  CHECK(refused("BREW /pot HTTP/1.1\r\nHost: a\r\n\r\n") == 0);
  for (const char* version : {"HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "HTTP/3.0", "HTTP/9.9"}) {
    INFO(version);
    CHECK(refused("GET / " + std::string(version) + "\r\nHost: a\r\n\r\n") == 505);
  }
  CHECK(refused("PRI * HTTP/2.0\r\n\r\n") == 505);
}

TEST_CASE("RequestHeadParser: the authority of an absolute-form target takes the place of Host", "[http1][head][rfc9112]") {
  const auto check = [](const char* target, std::string_view expected, std::string_view host, std::uint16_t port) {
    const Request request("GET " + std::string(target) + " HTTP/1.1\r\nHost: other:99\r\nX: y\r\n\r\n");
    INFO(target);
    REQUIRE(request.result == Parse::kDone);
    CHECK(request.head.target == expected);
    CHECK(request.head.authority.host() == host);
    CHECK(request.head.authority.port() == port);
    CHECK(request.head.fields.count(FieldId::kHost) == 1);
    CHECK(request.head.fields.find(FieldId::kHost)->value != "other:99");
  };
  check("http://a/b?c=/d", "/b?c=/d", "a", 80);
  check("HTTP://Example.ORG:8080/", "/", "example.org", 8080);
  check("http://[::1]:81/x", "/x", "::1", 81);
  check("http://a", "", "a", 80);
  check("http://a?q", "?q", "a", 80);
  const Request old("GET http://a/b HTTP/1.0\r\n\r\n");
  REQUIRE(old.result == Parse::kDone);
  CHECK(old.head.fields.find(FieldId::kHost)->value == "a");
  // What RFC 9112 demands of Host holds all the same.
  CHECK(refused("GET http://a/ HTTP/1.1\r\n\r\n") == 400);
  CHECK(refused("GET http://a/ HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n") == 400);
  CHECK(refused("GET http://a/ HTTP/1.1\r\nHost: u@a\r\n\r\n") == 400);
}

TEST_CASE("RequestHeadParser: what cannot be HTTP is refused at its first byte", "[http1][head]") {
  CHECK(refused("\x16\x03\x01") == 400);  // TLS
  CHECK(refused("{") == 400);
  CHECK(refused("G") == 1);
  CHECK(refused("\r") == 1);
}

TEST_CASE("RequestHeadParser: B110 a byte that is no tchar, anywhere in a name, is refused", "[http1][head][B110]") {
  for (int c = 0; c < 256; ++c) {
    const std::string byte(1, static_cast<char>(c));
    const bool allowed = http::is_tchar(static_cast<char>(c));
    INFO("byte " << c);
    CHECK(refused_with("A" + byte + "B: v\r\n") == (allowed || c == ':' ? 0 : 400));
    CHECK(refused_with(byte + "AB: v\r\n") == (allowed ? 0 : 400));
    CHECK(refused_with("AB" + byte + ": v\r\n") == (allowed || c == ':' ? 0 : 400));
  }
  CHECK(refused_with("no colon\r\n") == 400);
  CHECK(refused_with("NoColon\r\n") == 400);
}

TEST_CASE("RequestHeadParser: a control byte in a value is refused, other bytes are not", "[http1][head]") {
  for (int c = 0; c < 256; ++c) {
    if (c == '\n') continue;
    INFO("byte " << c);
    CHECK(refused_with("X: a" + std::string(1, static_cast<char>(c)) + "b\r\n") == (http::is_control(static_cast<char>(c)) ? 400 : 0));
  }
}

TEST_CASE("RequestHeadParser: B112 folded lines are refused, wherever they are", "[http1][head][B112]") {
  CHECK(refused_with("Content-Length:\r\n 5\r\n") == 400);
  CHECK(refused_with("X: a\r\n\tb\r\n") == 400);
  CHECK(refused_with("X: a\r\n \r\n") == 400);
  CHECK(refused("GET / HTTP/1.1\r\n X: a\r\nHost: a\r\n\r\n") == 400);
  CHECK(refused("GET / HTTP/1.1\r\nHost:\r\n a\r\n\r\n") == 400);
  // At once, not when the head is complete.
  CHECK(refused("GET / HTTP/1.1\r\nHost: a\r\n ") == 400);
}

TEST_CASE("RequestHeadParser: a bare line feed is refused at once", "[http1][head]") {
  CHECK(refused("GET / HTTP/1.1\n") == 400);
  CHECK(refused("GET / HTTP/1.1\r\nHost: a\n") == 400);
  CHECK(refused("GET / HTTP/1.1\r\nHost: a\r\n\n") == 400);
  CHECK(refused("GET / HTTP/1.1\r\nX: a\nb\r\nHost: a\r\n\r\n") == 400);
  CHECK(refused("GET / HTTP/1.1\r\nHost: a\r\r\n\r\n") == 400);
}

TEST_CASE("RequestHeadParser: B108 Transfer-Encoding is chunked or refused", "[http1][head][B108]") {
  for (const char* value : {"chunked", "chunked\t", "chunked ", "\tchunked", "Chunked"}) {
    const Request request("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: " + std::string(value) + "\r\n\r\n");
    INFO(value);
    REQUIRE(request.result == Parse::kDone);
    CHECK(request.head.framing.kind == http::Framing::kChunked);
    CHECK(refused_with("Transfer-Encoding: " + std::string(value) + "\r\nContent-Length: 60\r\n") == 400);
    CHECK(refused_with("Content-Length: 60\r\ntransfer-encoding: " + std::string(value) + "\r\n") == 400);
  }
  for (const char* value : {"xchunked", "chunked;q=1", "\"chunked\"", "gzip, chunked", "identity"}) {
    INFO(value);
    CHECK(refused_with("Transfer-Encoding: " + std::string(value) + "\r\n") == 501);
  }
  CHECK(refused_with("Transfer-Encoding : chunked\r\n") == 400);
  CHECK(refused_with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") == 400);
  CHECK(refused_with("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n") == 400);
  CHECK(refused("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n") == 400);
}

TEST_CASE("RequestHeadParser: Content-Length is one number or refused", "[http1][head][B112]") {
  for (const char* value : {"", "5,5", "5, 5", "+5", "-1", "0x5", "5 5", "18446744073709551616", "a"}) {
    INFO(value);
    CHECK(refused_with("Content-Length: " + std::string(value) + "\r\n") == 400);
  }
  CHECK(refused_with("Content-Length: 5\r\nContent-Length: 5\r\n") == 400);
  CHECK(refused_with("Content-Length: 5\r\nContent-Length: 6\r\n") == 400);
  const Request largest("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551615\r\n\r\n");
  CHECK(largest.result == Parse::kDone);
  CHECK(largest.head.framing.length == ~std::uint64_t{0});
}

TEST_CASE("RequestHeadParser: B126 there is exactly one Host, and it is a host", "[http1][head][B126]") {
  CHECK(refused("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n") == 400);
  CHECK(refused("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n") == 400);
  CHECK(refused("GET / HTTP/1.1\r\n\r\n") == 400);
  for (const char* host : {"a b", "a/b", "", "u@a", "a:0", "a,b"}) {
    INFO(host);
    CHECK(refused("GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n") == 400);
  }
  CHECK(refused("GET / HTTP/1.0\r\n\r\n") == 0);
  CHECK(refused("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n") == 400);
  const Request missing("GET / HTTP/1.1\r\nX: y\r\n\r\n");
  CHECK(missing.parser.reason() == "field Host: it is missing");
}

TEST_CASE("RequestHeadParser: Connection decides what keeps the connection", "[http1][head]") {
  const auto keeps = [](const char* version, const char* connection) {
    const Request request("GET / HTTP/" + std::string(version) + "\r\nHost: a\r\n" + connection + "\r\n");
    REQUIRE(request.result == Parse::kDone);
    return request.head.keep_alive;
  };
  CHECK(keeps("1.1", ""));
  CHECK_FALSE(keeps("1.1", "Connection: close\r\n"));
  CHECK_FALSE(keeps("1.1", "Connection: x, CLOSE\r\n"));
  CHECK_FALSE(keeps("1.1", "Connection: keep-alive\r\nConnection: close\r\n"));
  CHECK_FALSE(keeps("1.0", ""));
  CHECK(keeps("1.0", "Connection: Keep-Alive\r\n"));
  CHECK_FALSE(keeps("1.0", "Connection: keep-alive, close\r\n"));
  CHECK_FALSE(keeps("1.0", "Proxy-Connection: keep-alive\r\n"));
  CHECK(refused_with("Connection: a b\r\n") == 400);
  CHECK(refused_with("Connection: \"close\"\r\n") == 400);
}

TEST_CASE("RequestHeadParser: Connection may have 32 options and not 33", "[http1][head][limit]") {
  std::string options = "a";
  for (std::size_t i = 1; i < kConnectionOptionsMax; ++i) options += ", a";
  CHECK(refused_with("Connection: " + options + "\r\n") == 0);
  CHECK(refused_with("Connection: " + options + ", a\r\n") == 400);
  CHECK(refused_with("Connection: " + options + "\r\nConnection: a\r\n") == 400);
}

TEST_CASE("RequestHeadParser: Expect is 100-continue, with content, in HTTP/1.1", "[http1][head][B117]") {
  const auto expects = [](const char* version, const char* fields) {
    const Request request("POST / HTTP/" + std::string(version) + "\r\nHost: a\r\nExpect: 100-Continue\r\n" + fields + "\r\n");
    REQUIRE(request.result == Parse::kDone);
    return request.head.expect_continue;
  };
  CHECK(expects("1.1", "Content-Length: 5\r\n"));
  CHECK(expects("1.1", "Transfer-Encoding: chunked\r\n"));
  CHECK_FALSE(expects("1.1", "Content-Length: 0\r\n"));
  CHECK_FALSE(expects("1.1", ""));
  CHECK_FALSE(expects("1.0", "Content-Length: 5\r\n"));
  CHECK(refused_with("Expect: 200-ok\r\n") == 417);
}

TEST_CASE("RequestHeadParser: B67 a reason names a known field and never shows a byte of the request", "[http1][head][B67]") {
  const auto reason = [](const std::string& fields) {
    const Request request("POST / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n");
    CHECK(request.result == Parse::kBad);
    CHECK(request.parser.reason().find("S3CR3T") == std::string_view::npos);
    return std::string(request.parser.reason());
  };
  CHECK(reason("Authorization: Bearer S3CR3T\x01\r\n") == "field Authorization: its value holds a control byte");
  CHECK(reason("X-S3CR3T: \x01\r\n") == "a field is refused: its value holds a control byte");
  CHECK(reason("Transfer-Encoding : S3CR3T\r\n") == "field Transfer-Encoding: its name holds a byte that names may not hold");
  CHECK(reason("S3CR3T\r\n") == "a field is refused: it has no colon");
  CHECK(reason("Content-Length: S3CR3T\r\n") == "field Content-Length: its value is not a number");
  CHECK(reason("Content-Length: 5\r\nContent-Length: 6\r\n") == "field Content-Length: it is present more than once");
  CHECK(reason("Connection: S3CR3T S3CR3T\r\n") == "field Connection: its value is not a list of tokens");
  CHECK(reason("Transfer-Encoding: S3CR3T\r\n") == "Transfer-Encoding asks for a coding other than chunked");
  CHECK(reason("Expect: S3CR3T\r\n") == "field Expect: only 100-continue can be expected");
  CHECK(reason("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") ==
        "field Transfer-Encoding: Content-Length and Transfer-Encoding are both present");
  for (const char* line : {"S3CR3T", "GET S3CR3T HTTP/1.1", "GET / S3CR3T", "GET http://u:S3CR3T@h/ HTTP/1.1", "GET /S3CR3T\x01 HTTP/1.1",
                           "G(S3CR3T / HTTP/1.1"}) {
    const Request request(std::string(line) + "\r\nHost: S3CR3T\r\n\r\n");
    INFO(line);
    CHECK(request.result == Parse::kBad);
    CHECK_FALSE(request.parser.reason().empty());
    CHECK(request.parser.reason().find("S3CR3T") == std::string_view::npos);
  }
}

TEST_CASE("ResponseHeadParser: a response comes out as it went in", "[http1][head]") {
  const Response response("HTTP/1.1 200 All right\r\nContent-Length: 5\r\nServer: x\r\n\r\nhello");
  REQUIRE(response.result == Parse::kDone);
  CHECK(response.parser.consumed() == response.buffer.size() - 5);
  CHECK(response.head.status == 200);
  CHECK(response.head.reason == "All right");
  CHECK(response.head.version == http::Version::kHttp11);
  CHECK(response.head.fields.size() == 2);
  CHECK(response.head.framing.kind == http::Framing::kLength);
  CHECK(response.head.framing.length == 5);
  CHECK(response.head.keep_alive);
  CHECK_FALSE(response.head.interim());
}

TEST_CASE("ResponseHeadParser: interim responses are heads like any other", "[http1][head][B117]") {
  const std::string buffer = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 \r\nLink: </a>\r\n\r\nHTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n";
  ResponseHeadParser parser;
  http::ResponseHead head;
  std::string_view rest = buffer;
  for (int status : {100, 103, 403}) {
    parser.reset(http::Method::kPost);
    REQUIRE(parser.parse(rest, head) == Parse::kDone);
    CHECK(head.status == status);
    CHECK(head.interim() == (status < 200));
    CHECK(head.keep_alive);
    rest.remove_prefix(parser.consumed());
  }
  CHECK(rest.empty());
}

TEST_CASE("ResponseHeadParser: B119 the request's method decides about content", "[http1][head][B119]") {
  const std::string bytes = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n";
  const Response get(bytes);
  CHECK(get.head.framing.kind == http::Framing::kLength);
  const Response head(bytes, http::Method::kHead);
  REQUIRE(head.result == Parse::kDone);
  CHECK(head.head.framing.kind == http::Framing::kNone);
  CHECK(head.head.framing.announced);
  CHECK(head.head.framing.length == 12);
  CHECK(head.head.keep_alive);
}

TEST_CASE("ResponseHeadParser: what keeps the connection", "[http1][head]") {
  const auto keeps = [](const std::string& bytes) {
    const Response response(bytes);
    REQUIRE(response.result == Parse::kDone);
    return response.head.keep_alive;
  };
  CHECK(keeps("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  CHECK_FALSE(keeps("HTTP/1.1 200 OK\r\n\r\n"));
  CHECK_FALSE(keeps("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
  CHECK_FALSE(keeps("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"));
  CHECK(keeps("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n"));
  CHECK_FALSE(keeps("HTTP/1.1 204 OK\r\nContent-Length: 5\r\n\r\n"));
  CHECK(keeps("HTTP/1.1 304 OK\r\nContent-Length: 5\r\n\r\n"));
}

TEST_CASE("ResponseHeadParser: what could be read in two ways is refused", "[http1][head][B106][B108][B110][B112]") {
  for (const char* bytes :
       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n", "HTTP/1.1 200 OK\nX: a\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX y: a\r\n\r\n", "HTTP/1.1 200 OK\r\nX: a\x01\r\n\r\n", "HTTP/1.1 200 O\x01K\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n", "HTTP/1.1 200OK\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n",
        "HTTP/1.2 200 OK\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n", "http/1.1 200 OK\r\n\r\n", "\r\nHTTP/1.1 200 OK\r\n\r\n", "ICY 200 OK\r\n\r\n", "x",
        "HTTP/1.1 100 C\r\nContent-Length: 5\r\n\r\n"}) {
    INFO(bytes);
    CHECK(response_bad(bytes));
  }
  CHECK_FALSE(response_bad("HTTP/1.1 999 Denied\r\n\r\n"));
  CHECK_FALSE(response_bad("HTTP/1.1 200 \r\n\r\n"));
  CHECK_FALSE(response_bad("HTTP/1.1 200 \xc3\x9c" "ber\r\n\r\n"));
}

TEST_CASE("ResponseHeadParser: split at every position the result is the same", "[http1][head]") {
  const std::string whole = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n";
  for (std::size_t first = 0; first < whole.size(); ++first) {
    ResponseHeadParser parser;
    http::ResponseHead head;
    REQUIRE(parser.parse(whole.substr(0, first), head) == Parse::kNeedMore);
    REQUIRE(parser.parse(whole, head) == Parse::kDone);
    REQUIRE(parser.consumed() == whole.size());
    REQUIRE(head.framing.kind == http::Framing::kChunked);
  }
}

TEST_CASE("ResponseHeadParser: limits hold", "[http1][head][limit]") {
  HeadLimits limits;
  limits.bytes_max = 40;
  limits.fields_max = 2;
  CHECK(Response("HTTP/1.1 200 OK\r\nX: 1\r\nY: 0123456789\r\n\r\n", http::Method::kGet, limits).result == Parse::kDone);
  const Response fields("HTTP/1.1 200 OK\r\nX: 1\r\nY: 1\r\nZ: 1\r\n\r\n", http::Method::kGet, limits);
  CHECK(fields.result == Parse::kTooLarge);
  CHECK(fields.parser.status() == 502);
  CHECK(Response("HTTP/1.1 200 OK\r\nX: 1\r\nY: 01234567890\r\n\r\n", http::Method::kGet, limits).result == Parse::kTooLarge);
}

TEST_CASE("HeadScanner: the cost of many small reads is linear", "[http1][head]") {
  // Every byte is looked at once: the scanner is given a buffer whose earlier bytes have been spoilt meanwhile.
  std::string buffer = "GET / HTTP/1.1\r\nHost: a\r\nX: y";
  HeadScanner scanner{HeadLimits{}};
  REQUIRE(scanner.scan(buffer, true) == HeadScanner::Found::kNotYet);
  for (std::size_t i = 0; i + 1 < buffer.size(); ++i) buffer[i] = '\n';
  CHECK(scanner.scan(buffer + "\r\n\r", true) == HeadScanner::Found::kNotYet);
}
