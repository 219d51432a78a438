// SPDX-License-Identifier: Apache-2.0
#include "http/cache_control.h"

#include <catch2/catch.hpp>
#include <initializer_list>
#include <string>

#include "http/fields.h"

using namespace telltale::http;

namespace {

CacheControl read(std::initializer_list<const char*> values) {
  Fields fields;
  fields.add_copy("X-Before", "max-age=7");
  for (const char* value : values) fields.add_copy("cache-control", value);
  return parse_cache_control(fields);
}

}  // namespace

TEST_CASE("CacheControl: without the field nothing is set", "[http][cache_control][rfc9111]") {
  const CacheControl control = read({});
  CHECK_FALSE(control.present);
  CHECK_FALSE(control.max_age.has_value());
  CHECK_FALSE(control.no_store);
}

TEST_CASE("CacheControl: every directive sets its member, in any case, in one field or several", "[http][cache_control][rfc9111]") {
  const CacheControl one = read({"Max-Age=60, S-MAXAGE=30,no-store,No-Cache,PRIVATE,public, must-revalidate ,proxy-revalidate",
                                 "must-understand, immutable,no-transform,only-if-cached,stale-while-revalidate=5,"
                                 "stale-if-error=6,min-fresh=7,max-stale=8"});
  CHECK(one.present);
  CHECK(one.max_age == 60u);
  CHECK(one.s_maxage == 30u);
  CHECK(one.no_store);
  CHECK(one.no_cache);
  CHECK_FALSE(one.no_cache_fields);
  CHECK(one.private_);
  CHECK_FALSE(one.private_fields);
  CHECK(one.public_);
  CHECK(one.must_revalidate);
  CHECK(one.proxy_revalidate);
  CHECK(one.must_understand);
  CHECK(one.immutable);
  CHECK(one.no_transform);
  CHECK(one.only_if_cached);
  CHECK(one.stale_while_revalidate == 5u);
  CHECK(one.stale_if_error == 6u);
  CHECK(one.min_fresh == 7u);
  CHECK(one.max_stale == 8u);
}

TEST_CASE("CacheControl: B148 an invalid or repeated freshness lifetime is zero", "[http][cache_control][rfc9111][B148]") {
  for (const char* value : {"max-age=-1", "max-age=abc", "max-age=1, max-age=60", "max-age=60, max-age=60", "max-age=", "max-age",
                            "max-age=1.5", "max-age=60;", "max-age= 60", "max-age =60", "max-age=6 0", "max-age=\"60", "max-age=\"a\"",
                            "max-age=\"\"", "max-age=+60", "max-age=60, public, max-age", "max-age 60"}) {
    INFO(value);
    const CacheControl control = read({value});
    REQUIRE(control.max_age.has_value());
    CHECK(*control.max_age == 0);
  }
  CHECK(read({"max-age=10", "max-age=20"}).max_age == 0u);
  CHECK(read({"s-maxage=x, max-age=60"}).s_maxage == 0u);
}

TEST_CASE("CacheControl: B148 the valid forms keep their value", "[http][cache_control][rfc9111][B148]") {
  CHECK(read({"max-age=\"60\""}).max_age == 60u);
  const CacheControl both = read({"s-maxage=0, max-age=60"});
  CHECK(both.s_maxage == 0u);
  CHECK(both.max_age == 60u);
  CHECK(read({"max-age=0000000000000000000000060"}).max_age == 60u);
  CHECK(read({",, max-age=60 ,"}).max_age == 60u);
}

TEST_CASE("CacheControl: values saturate at 2^31", "[http][cache_control][rfc9111][B148]") {
  CHECK(read({"max-age=2147483647"}).max_age == 2147483647u);
  CHECK(read({"max-age=2147483648"}).max_age == kDeltaMax);
  CHECK(read({"max-age=2147483649"}).max_age == kDeltaMax);
  CHECK(read({"max-age=99999999999"}).max_age == kDeltaMax);
  CHECK(read({"max-age=99999999999999999999999999999999999"}).max_age == kDeltaMax);
}

TEST_CASE("CacheControl: directives inside quotes are arguments", "[http][cache_control][rfc9111]") {
  const CacheControl control = read({"ext=\"no-store, max-age=5\\\", private\", max-age=60"});
  CHECK_FALSE(control.no_store);
  CHECK_FALSE(control.private_);
  CHECK(control.max_age == 60u);
  CHECK_FALSE(read({"ext=\"never closed, max-age=5"}).max_age.has_value());
}

TEST_CASE("CacheControl: no-cache and private may name fields", "[http][cache_control][rfc9111]") {
  const CacheControl named = read({"no-cache=\"set-cookie, x-a\", private=\"x-b\""});
  CHECK(named.no_cache);
  CHECK(named.no_cache_fields);
  CHECK(named.private_);
  CHECK(named.private_fields);
  CHECK(read({"no-cache=set-cookie"}).no_cache_fields);
  CHECK_FALSE(read({"no-cache=\"x\", no-cache"}).no_cache_fields);
  CHECK_FALSE(read({"no-cache, no-cache=\"x\""}).no_cache_fields);
  CHECK(read({"no-cache=\"x\", no-cache=\"y\""}).no_cache_fields);
  for (const char* value : {"no-cache=", "no-cache=\"\"", "no-cache=\"x", "no-cache=\" \""}) {
    INFO(value);
    CHECK(read({value}).no_cache);
    CHECK_FALSE(read({value}).no_cache_fields);
  }
}

TEST_CASE("CacheControl: restrictions count in spite of junk, permissions do not", "[http][cache_control][rfc9111]") {
  CHECK(read({"no-store=1"}).no_store);
  CHECK(read({"no-store; max-age=5"}).no_store);
  CHECK(read({"must-revalidate=x"}).must_revalidate);
  CHECK_FALSE(read({"public=1"}).public_);
  CHECK_FALSE(read({"public x"}).public_);
  CHECK_FALSE(read({"immutable=1"}).immutable);
  CHECK_FALSE(read({"must-understand=1"}).must_understand);
  CHECK_FALSE(read({"xno-store, no-storex"}).no_store);
}

TEST_CASE("CacheControl: a client's demands are read carefully", "[http][cache_control][rfc9111]") {
  CHECK(read({"min-fresh=x"}).min_fresh == kDeltaMax);
  CHECK(read({"min-fresh=1, min-fresh=2"}).min_fresh == kDeltaMax);
  CHECK(read({"max-stale"}).max_stale_any);
  CHECK_FALSE(read({"max-stale"}).max_stale.has_value());
  CHECK_FALSE(read({"max-stale, max-stale=5"}).max_stale_any);
  CHECK(read({"max-stale, max-stale=5"}).max_stale == 5u);
  CHECK(read({"max-stale=x"}).max_stale == 0u);
  CHECK(read({"stale-while-revalidate=-1"}).stale_while_revalidate == 0u);
  CHECK(read({"stale-if-error=5, stale-if-error=5"}).stale_if_error == 0u);
}
