// SPDX-License-Identifier: Apache-2.0
#include "cache/conditional.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/unit/cache/responses.h"

namespace telltale::cache {
namespace {

using test::fields_of;
using List = std::initializer_list<std::pair<const char*, const char*>>;

constexpr const char* kBefore = "Mon, 30 Nov 2026 09:59:59 GMT";
constexpr const char* kModified = "Mon, 30 Nov 2026 10:00:00 GMT";
constexpr const char* kAfter = "Mon, 30 Nov 2026 10:00:01 GMT";

StoredResponse stored_with(List fields, std::uint16_t status = 200) {
  StoredResponse stored;
  stored.status = status;
  stored.fields = fields_of(fields);
  return stored;
}
bool has_it(List request, const StoredResponse& stored) { return client_has_it(fields_of(request), stored); }

TEST_CASE("Conditional: entity tags compare weakly and strongly as RFC 9110 tabulates", "[cache][conditional][rfc9110]") {
  CHECK_FALSE(same_tag_strongly("W/\"1\"", "W/\"1\""));
  CHECK(same_tag_weakly("W/\"1\"", "W/\"1\""));
  CHECK_FALSE(same_tag_strongly("W/\"1\"", "W/\"2\""));
  CHECK_FALSE(same_tag_weakly("W/\"1\"", "W/\"2\""));
  CHECK_FALSE(same_tag_strongly("W/\"1\"", "\"1\""));
  CHECK(same_tag_weakly("W/\"1\"", "\"1\""));
  CHECK(same_tag_strongly("\"1\"", "\"1\""));
  CHECK(same_tag_weakly("\"1\"", "\"1\""));
  for (const char* none : {"", "1", "\"1", "1\"", "\"", "w/\"1\"", "W/"}) {
    INFO(none);
    CHECK_FALSE(same_tag_weakly(none, none));
  }
}

TEST_CASE("Conditional: If-None-Match finds the stored tag in its list", "[cache][conditional][rfc9110]") {
  const StoredResponse stored = stored_with({{"ETag", "\"b,c\""}});
  CHECK(has_it({{"If-None-Match", "\"b,c\""}}, stored));
  CHECK(has_it({{"If-None-Match", "\"a\", W/\"b,c\" , \"d\""}}, stored));
  CHECK(has_it({{"If-None-Match", "\"a\""}, {"If-None-Match", "\"b,c\""}}, stored));
  CHECK(has_it({{"If-None-Match", "*"}}, stored));
  CHECK(has_it({{"If-None-Match", "*"}}, stored_with({})));
  CHECK_FALSE(has_it({{"If-None-Match", "\"a\", \"b\", \"c\""}}, stored));
  CHECK_FALSE(has_it({{"If-None-Match", "b,c"}}, stored));
  CHECK_FALSE(has_it({{"If-None-Match", "\"a\""}}, stored_with({})));
  CHECK_FALSE(has_it({}, stored));
}

TEST_CASE("Conditional: If-Modified-Since compares with Last-Modified, without one with Date", "[cache][conditional][rfc9111]") {
  for (List fields : {List{{"Last-Modified", kModified}, {"Date", kAfter}}, List{{"Date", kModified}}}) {
    const StoredResponse stored = stored_with(fields);
    CHECK(has_it({{"If-Modified-Since", kModified}}, stored));
    CHECK(has_it({{"If-Modified-Since", kAfter}}, stored));
    CHECK_FALSE(has_it({{"If-Modified-Since", kBefore}}, stored));
    CHECK_FALSE(has_it({{"If-Modified-Since", "yesterday"}}, stored));
    CHECK_FALSE(has_it({{"If-Modified-Since", kAfter}, {"If-Modified-Since", kAfter}}, stored));
  }
  CHECK_FALSE(has_it({{"If-Modified-Since", kAfter}}, stored_with({})));
}

TEST_CASE("Conditional: If-None-Match alone counts where both are there", "[cache][conditional][rfc9110]") {
  const StoredResponse stored = stored_with({{"ETag", "\"1\""}, {"Last-Modified", kModified}});
  CHECK_FALSE(has_it({{"If-None-Match", "\"2\""}, {"If-Modified-Since", kAfter}}, stored));
  CHECK(has_it({{"If-Modified-Since", kBefore}, {"If-None-Match", "\"1\""}}, stored));
}

TEST_CASE("Conditional: conditions are ignored where the stored response is no 2xx", "[cache][conditional][rfc9110]") {
  for (int status : {301, 404, 410, 501}) {
    CHECK_FALSE(has_it({{"If-None-Match", "\"1\""}}, stored_with({{"ETag", "\"1\""}}, static_cast<std::uint16_t>(status))));
  }
  CHECK(has_it({{"If-None-Match", "\"1\""}}, stored_with({{"ETag", "\"1\""}}, 203)));
}

TEST_CASE("Conditional: the origin is asked with the stored validators in place of the client's", "[cache][conditional][rfc9111]") {
  http::Fields request = fields_of({{"If-None-Match", "\"client\""}, {"Accept", "x"}, {"If-Modified-Since", kBefore}});
  set_conditions(request, stored_with({{"ETag", "W/\"1\""}, {"Last-Modified", kModified}}));
  REQUIRE(request.count(http::FieldId::kIfNoneMatch) == 1);
  CHECK(request.find(http::FieldId::kIfNoneMatch)->value == "W/\"1\"");
  REQUIRE(request.count(http::FieldId::kIfModifiedSince) == 1);
  CHECK(request.find(http::FieldId::kIfModifiedSince)->value == kModified);

  http::Fields other = fields_of({{"If-None-Match", "\"client\""}});
  set_conditions(other, stored_with({{"Last-Modified", kModified}}));
  CHECK(other.find(http::FieldId::kIfNoneMatch) == nullptr);

  CHECK(has_validator(stored_with({{"ETag", "\"1\""}})));
  CHECK(has_validator(stored_with({{"Last-Modified", kModified}})));
  CHECK_FALSE(has_validator(stored_with({{"ETag", "unquoted"}})));
  CHECK_FALSE(has_validator(stored_with({{"Date", kModified}})));
}

TEST_CASE("Conditional: a 304 with another validator is not about what is stored", "[cache][conditional][rfc9111]") {
  const StoredResponse stored = stored_with({{"ETag", "\"1\""}, {"Last-Modified", kModified}});
  CHECK(is_about(fields_of({}), stored));
  CHECK(is_about(fields_of({{"ETag", "\"1\""}}), stored));
  CHECK(is_about(fields_of({{"ETag", "W/\"1\""}}), stored));
  CHECK_FALSE(is_about(fields_of({{"ETag", "\"2\""}}), stored));
  CHECK_FALSE(is_about(fields_of({{"ETag", "\"2\""}, {"Last-Modified", kModified}}), stored));
  CHECK(is_about(fields_of({{"Last-Modified", kModified}}), stored));
  CHECK_FALSE(is_about(fields_of({{"Last-Modified", kAfter}}), stored));
  CHECK(is_about(fields_of({{"Last-Modified", kAfter}}), stored_with({{"ETag", "\"1\""}})));
}

TEST_CASE("Conditional: a 304 replaces the fields it has, and none that describe the content", "[cache][conditional][rfc9111]") {
  http::Fields fields = fields_of({{"Date", "old"}, {"Content-Type", "text/plain"}, {"X-A", "1"}, {"X-A", "2"}, {"Link", "kept"}, {"Cache-Control", "max-age=1"}});
  freshen(fields, fields_of({{"Date", "new"}, {"Content-Type", "text/html"}, {"Content-Length", "0"}, {"x-a", "3"}, {"X-New", "4"}, {"Cache-Control", "max-age=2"}}));
  const auto value = [&](const char* name) { return fields.find(name) == nullptr ? "none" : std::string(fields.find(name)->value); };
  CHECK(value("Date") == "new");
  CHECK(value("Content-Type") == "text/plain");
  CHECK(value("Content-Length") == "none");
  CHECK(value("X-A") == "3");
  CHECK(value("X-New") == "4");
  CHECK(value("Link") == "kept");
  CHECK(value("Cache-Control") == "max-age=2");
  CHECK(fields.size() == 6);
}

}  // namespace
}  // namespace telltale::cache
