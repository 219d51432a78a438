// SPDX-License-Identifier: Apache-2.0
#include "http/print.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

using namespace telltale::http;

TEST_CASE("Print: request line, status line and authority read as on the wire", "[http][print]") {
  RequestHead request;
  request.method_text = "GET";
  request.target = "/a?token=S3CR3T";
  CHECK(fmt::format("{}", print_request_line(request)) == "GET /a?token=[redacted] HTTP/1.1");
  request.version = Version::kHttp10;
  CHECK(fmt::format("<{}>", print_request_line(request)) == "<GET /a?token=[redacted] HTTP/1.0>");
  request.method_text = "CONNECT";
  request.target = "u:S3CR3T@h:443";
  CHECK(fmt::format("{}", print_request_line(request)) == "CONNECT [redacted]@h:443 HTTP/1.0");
  CHECK(fmt::format("{}", print_target("/x?sig=1")) == "/x?sig=[redacted]");

  ResponseHead response;
  response.status = 404;
  CHECK(fmt::format("{}", print_status_line(response)) == "HTTP/1.1 404");
  response.reason = "Not Found";
  CHECK(fmt::format("{}", print_status_line(response)) == "HTTP/1.1 404 Not Found");

  Authority authority;
  CHECK(fmt::format("{}", print_authority(authority)) == "-");
  REQUIRE(authority.parse("Example.org"));
  CHECK(fmt::format("{}", print_authority(authority)) == "example.org");
  REQUIRE(authority.parse("[::1]:8080"));
  CHECK(fmt::format("{}", print_authority(authority)) == "[::1]:8080");
}

TEST_CASE("Print: a field block is one line", "[http][print]") {
  Fields fields;
  CHECK(fmt::format("{}", print_fields(fields)) == "");
  fields.add_copy("Host", "a");
  fields.add_copy("Cookie", "sid=S3CR3T");
  fields.add_copy("X-Empty", "");
  CHECK(fmt::format("{}", print_fields(fields)) == "Host: a | Cookie: sid=[redacted] | X-Empty: ");
}

TEST_CASE("Print: R13 a buffer that is too small holds a beginning of the masked text, at every length", "[http][print][R13]") {
  Fields fields;
  fields.add_copy("Authorization", "Bearer S3CR3T");
  fields.add_copy("Cookie", "sid=S3CR3T; lang=S3CR3T");
  fields.add_copy("Set-Cookie", "sid=S3CR3T; Path=/; other=S3CR3T");
  fields.add_copy("WWW-Authenticate", "Digest realm=\"x\", nonce=\"S3CR3T\"");
  fields.add_copy("Referer", "http://u:S3CR3T@h/x?q=1&access_token=S3CR3T#f");
  fields.add_copy("Link", "<https://h/x?token=S3CR3T>; rel=next");
  fields.add_copy("X-Api-Key", "S3CR3T");
  fields.add_copy("X-Plain", std::string(600, 'p'));  // longer than the buffer fmt works through
  const std::string whole = fmt::format("{}", print_fields(fields));
  REQUIRE(whole.find("S3CR3T") == std::string::npos);
  for (std::size_t size = 0; size <= whole.size() + 2; ++size) {
    std::vector<char> buffer(size + 16, '#');
    const auto result = fmt::format_to_n(buffer.data(), size, "{}", print_fields(fields));
    const std::size_t written = std::min(size, whole.size());
    const bool right = result.size == whole.size() &&
                       std::string(buffer.data(), written) == whole.substr(0, written) &&
                       std::string(buffer.data() + written, buffer.size() - written).find_first_not_of('#') == std::string::npos;
    if (!right) FAIL("size " << size);
  }
  SUCCEED();
}

namespace {

// Text out of the pieces that matter to the masks, with a secret in the place of every '!'.
std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> kPieces{
      "http://", "//", "/", "\\", "?", "&", ";", "#", "=", "@", ":", "token", "access_token", "a", "q=1", "%3D", "%26", "%253D", "%2F",
      "%3A", "%40", "\"", "<", ">", " ", "\t", ",", "Path=/", "realm=\"x\"", "Basic ", "Bearer ", "sid=", "[", "]", "%", "\\\"", "80"};
  std::string text;
  for (unsigned i = random() % 12; i > 0; --i) text += kPieces[random() % kPieces.size()];
  return text;
}

}  // namespace

TEST_CASE("Print: on random text a secret after a secret key or before an @ never comes out", "[http][print][R5]") {
  std::mt19937 random(13);
  for (int round = 0; round < 200000; ++round) {
    const std::string before = random_text(random);
    // Whatever comes before it, `?token=S3CR3T` starts a key, unless it stands inside an open value of another
    // secret key, which is masked as well.
    const std::string text = before + "?token=S3CR3T";
    if (fmt::format("{}", print_url(text)).find("S3CR3T") != std::string::npos) FAIL(text);
    const std::string user = "http://u:S3CR3T@h/" + random_text(random);
    if (fmt::format("{}", print_url(user)).find("S3CR3T") != std::string::npos) FAIL(user);
    const Field wholly{FieldId::kOther, "X-Secret", text};
    if (fmt::format("{}", print_field(wholly)).find("S3CR3T") != std::string::npos) FAIL(text);
    const std::string credentials = random_text(random) + "S3CR3T";
    for (std::string_view name : {"Authorization"}) {
      const Field field{field_id(name), name, credentials};
      if (fmt::format("{}", print_field(field)).find("S3CR3T") != std::string::npos) FAIL(credentials);
    }
    const std::string cookie = "sid=S3CR3T" + random_text(random);
    for (std::string_view name : {"Cookie", "Set-Cookie"}) {
      const Field field{field_id(name), name, cookie};
      if (fmt::format("{}", print_field(field)).find("S3CR3T") != std::string::npos) FAIL(cookie);
    }
  }
  SUCCEED();
}

TEST_CASE("Print: text without any mask is the same text, for random input", "[http][print][R14]") {
  std::mt19937 random(14);
  for (int round = 0; round < 100000; ++round) {
    const std::string text = random_text(random);
    const std::string url = fmt::format("{}", print_url(text));
    if (url.find(kRedacted) == std::string::npos && url != text) FAIL(text << " became " << url);
  }
  SUCCEED();
}
