// SPDX-License-Identifier: Apache-2.0
#include "http/framing.h"

#include <catch2/catch.hpp>
#include <initializer_list>
#include <string>
#include <utility>

#include "http/fields.h"

using namespace telltale::http;

namespace {

using List = std::initializer_list<std::pair<const char*, const char*>>;

std::string text(const FramingResult& result) {
  if (!result.ok()) {
    CHECK_FALSE(result.reason.empty());
    CHECK_FALSE(result.keep_alive);
    return std::to_string(result.status);
  }
  CHECK(result.reason.empty());
  switch (result.framing.kind) {
    case Framing::kNone: return result.framing.announced ? "none, " + std::to_string(result.framing.length) : "none";
    case Framing::kLength: return std::to_string(result.framing.length) + " bytes";
    case Framing::kChunked: return "chunked";
    case Framing::kUntilClose: break;
  }
  return "until close";
}

Fields make(List list) {
  Fields fields;
  for (auto [name, value] : list) fields.add_copy(name, value);
  return fields;
}

std::string request(List list, Version version = Version::kHttp11) { return text(request_framing(make(list), version)); }

std::string response(List list, std::uint16_t status = 200, Method method = Method::kGet, Version version = Version::kHttp11) {
  return text(response_framing(make(list), version, status, method));
}

}  // namespace

TEST_CASE("Framing: a request has content only if it says so", "[http][framing]") {
  CHECK(request({}) == "none");
  CHECK(request({{"Content-Length", "0"}}) == "0 bytes");
  CHECK(request({{"content-length", "18446744073709551615"}}) == "18446744073709551615 bytes");
  CHECK(request({{"Transfer-Encoding", "chunked"}}) == "chunked");
}

TEST_CASE("Framing: B112 a Content-Length that is not one number is refused", "[http][framing][B112]") {
  for (const char* value : {"", "5,5", "5, 5", "5,6", "+5", "-5", "0x5", "5 5", "5.0", "18446744073709551616", "99999999999999999999999", "5;", "a", "\xc2\xb2"}) {
    INFO(value);
    CHECK(request({{"Content-Length", value}}) == "400");
    CHECK(response({{"Content-Length", value}}) == "502");
  }
  CHECK(request({{"Content-Length", "5"}, {"Content-Length", "5"}}) == "400");
  CHECK(request({{"Content-Length", "5"}, {"Content-Length", "6"}}) == "400");
  CHECK(response({{"Content-Length", "5"}, {"Content-Length", "5"}}) == "502");
  CHECK(request({{"Content-Length", "\t5 "}}) == "5 bytes");
  CHECK(request({{"Content-Length", "0000000000000000000000000000005"}}) == "5 bytes");
}

TEST_CASE("Framing: B108 only chunked is a transfer coding, with white space trimmed", "[http][framing][B108]") {
  for (const char* value : {"chunked", "chunked\t", "chunked ", "\tchunked", "Chunked", "CHUNKED"}) {
    INFO(value);
    CHECK(request({{"Transfer-Encoding", value}}) == "chunked");
    CHECK(response({{"Transfer-Encoding", value}}) == "chunked");
    CHECK(request({{"Transfer-Encoding", value}, {"Content-Length", "60"}}) == "400");
  }
  for (const char* value : {"xchunked", "chunked;q=1", "\"chunked\"", "gzip, chunked", "identity", "chunke", "chunked\x0b"}) {
    INFO(value);
    CHECK(request({{"Transfer-Encoding", value}}) == "501");
    CHECK(response({{"Transfer-Encoding", value}}) == "502");
  }
  for (const char* value : {"", " ", ",", "chunked,", ",chunked", "chunked, chunked", "chunked, gzip"}) {
    INFO(value);
    CHECK(request({{"Transfer-Encoding", value}}) == "400");
    CHECK(response({{"Transfer-Encoding", value}}) == "502");
  }
  CHECK(request({{"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "chunked"}}) == "400");
  CHECK(request({{"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "identity"}}) == "400");
  // A name with a space never gets so far: the parser refuses it. Another name is another field.
  CHECK(request({{"Transfer-Encoding ", "chunked"}}) == "none");
}

TEST_CASE("Framing: both Transfer-Encoding and Content-Length are an error on both sides", "[http][framing][B108]") {
  CHECK(request({{"Content-Length", "5"}, {"Transfer-Encoding", "chunked"}}) == "400");
  CHECK(response({{"Content-Length", "5"}, {"Transfer-Encoding", "chunked"}}) == "502");
  CHECK(response({{"Content-Length", "5"}, {"Transfer-Encoding", "chunked"}}, 200, Method::kHead) == "502");
}

TEST_CASE("Framing: HTTP/1.0 has no transfer codings", "[http][framing]") {
  CHECK(request({{"Transfer-Encoding", "chunked"}}, Version::kHttp10) == "400");
  CHECK(response({{"Transfer-Encoding", "chunked"}}, 200, Method::kGet, Version::kHttp10) == "502");
  CHECK(request({{"Content-Length", "3"}}, Version::kHttp10) == "3 bytes");
}

TEST_CASE("Framing: a response without framing ends with the connection", "[http][framing]") {
  CHECK(response({}) == "until close");
  CHECK_FALSE(response_framing(make({}), Version::kHttp11, 200, Method::kGet).keep_alive);
  CHECK(response({{"Content-Length", "5"}}) == "5 bytes");
  CHECK(response({{"Content-Length", "0"}}, 404) == "0 bytes");
  CHECK(response({{"Content-Length", "3"}}, 999) == "3 bytes");
}

TEST_CASE("Framing: B119 a response to HEAD and a 304 have no content and remember the announced length", "[http][framing][B119]") {
  CHECK(response({{"Content-Length", "12"}}, 200, Method::kHead) == "none, 12");
  CHECK(response({{"Content-Length", "0"}}, 200, Method::kHead) == "none, 0");
  CHECK(response({}, 200, Method::kHead) == "none");
  CHECK(response({{"Transfer-Encoding", "chunked"}}, 200, Method::kHead) == "none");
  CHECK(response({{"Content-Length", "12"}}, 304) == "none, 12");
  CHECK(response({{"Content-Length", "1x"}}, 200, Method::kHead) == "502");
}

TEST_CASE("Framing: a 204 has no content; one that announces some ends the connection", "[http][framing]") {
  CHECK(response({}, 204) == "none");
  CHECK(response({{"Content-Length", "0"}}, 204) == "none");
  CHECK(response_framing(make({{"Content-Length", "0"}}), Version::kHttp11, 204, Method::kGet).keep_alive);
  CHECK(response({{"Content-Length", "5"}}, 204) == "none");
  CHECK_FALSE(response_framing(make({{"Content-Length", "5"}}), Version::kHttp11, 204, Method::kGet).keep_alive);
  CHECK_FALSE(response_framing(make({{"Transfer-Encoding", "chunked"}}), Version::kHttp11, 204, Method::kGet).keep_alive);
}

TEST_CASE("Framing: an interim response that announces content is an error", "[http][framing][B117]") {
  CHECK(response({}, 100) == "none");
  CHECK(response({{"Content-Length", "0"}}, 103) == "none");
  CHECK(response({{"Content-Length", "5"}}, 100) == "502");
  CHECK(response({{"Transfer-Encoding", "chunked"}}, 103) == "502");
}
