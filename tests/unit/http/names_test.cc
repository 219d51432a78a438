// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "http/failure.h"
#include "http/method.h"
#include "http/status.h"
#include "http/token.h"
#include "http/version.h"

using namespace telltale::http;

TEST_CASE("Method: names go there and back, case counts", "[http][method]") {
  for (int i = 1; i <= static_cast<int>(Method::kPatch); ++i) {
    const auto method = static_cast<Method>(i);
    REQUIRE_FALSE(method_text(method).empty());
    CHECK(method_from(method_text(method)) == method);
  }
  for (const char* text : {"", "get", "Get", "GETS", "GE", "PRI", "OPTION", "CONNECTS"}) CHECK(method_from(text) == Method::kOther);
  CHECK(method_text(Method::kOther).empty());
}

TEST_CASE("Method: safe and idempotent are those of RFC 9110 9.2", "[http][method]") {
  const std::set<Method> safe{Method::kGet, Method::kHead, Method::kOptions, Method::kTrace};
  std::set<Method> idempotent = safe;
  idempotent.insert({Method::kPut, Method::kDelete});
  for (int i = 0; i <= static_cast<int>(Method::kPatch); ++i) {
    const auto method = static_cast<Method>(i);
    CHECK(is_safe(method) == (safe.count(method) == 1));
    CHECK(is_idempotent(method) == (idempotent.count(method) == 1));
  }
}

TEST_CASE("Status: registered codes have a phrase, others say Unknown", "[http][status]") {
  CHECK(reason_phrase(200) == "OK");
  CHECK(reason_phrase(404) == "Not Found");
  CHECK(reason_phrase(431) == "Request Header Fields Too Large");
  CHECK(reason_phrase(504) == "Gateway Timeout");
  for (std::uint16_t status : {0, 99, 299, 600, 999}) CHECK(reason_phrase(status) == "Unknown");
}

TEST_CASE("Failure: tokens are distinct and lower case, and recommend an error status", "[http][failure]") {
  std::set<std::string> tokens;
  for (int i = 1; i < static_cast<int>(Failure::kCount); ++i) {
    const auto failure = static_cast<Failure>(i);
    const std::string token(failure_token(failure));
    REQUIRE_FALSE(token.empty());
    CHECK(token.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos);
    CHECK(recommended_status(failure) >= 400);
    CHECK(reason_phrase(recommended_status(failure)) != "Unknown");
    tokens.insert(token);
  }
  CHECK(tokens.size() == 32);  // the error types of RFC 9209 section 2.3
  CHECK(failure_token(Failure::kNone).empty());
  CHECK(failure_token(Failure::kConnectionRefused) == "connection_refused");
  CHECK(recommended_status(Failure::kConnectionRefused) == 502);
  CHECK(recommended_status(Failure::kHttpResponseTimeout) == 504);
  CHECK(recommended_status(Failure::kDnsTimeout) == 504);
  CHECK(failure_token(Failure::kProxyLoopDetected) == "proxy_loop_detected");
}

TEST_CASE("Version: texts are those of a start line", "[http][version]") {
  CHECK(version_text(Version::kHttp10) == "HTTP/1.0");
  CHECK(version_text(Version::kHttp11) == "HTTP/1.1");
  CHECK(version_text(Version::kHttp2) == "HTTP/2");
}
