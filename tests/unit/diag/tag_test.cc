// SPDX-License-Identifier: Apache-2.0
#include <telltale/diag/tag.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <telltale/diag/debug_control.h>

#include "lib/diag/src/registry_table.h"
#include "tests/unit/diag/debug_state.h"

namespace telltale::diag {
namespace {

using Names = std::vector<std::string>;

// Controls under "t15_" stand for the tags of the case; the patterns are given that prefix.
class Controls {
 public:
  explicit Controls(const Names& tags) {
    for (const std::string& tag : tags) controls_.push_back(std::make_unique<RuntimeControl>(tag));
  }
  Names on() const {
    Names names;
    for (auto& control : controls_) {
      if (control->on()) names.emplace_back(control->tag());
    }
    return names;
  }

 private:
  std::vector<std::unique_ptr<RuntimeControl>> controls_;
};

}  // namespace

TEST_CASE("Tag: 1 to 64 bytes of printable ASCII without space and '%'", "[diag][tag]") {
  CHECK(valid_tag("a"));
  CHECK(valid_tag(std::string(64, 'x')));
  CHECK(valid_tag("http-1.1_(x),~!"));
  CHECK_FALSE(valid_tag(""));
  CHECK_FALSE(valid_tag(std::string(65, 'x')));
  for (const char* tag : {"a b", "100%", "a\n", "\x01", "\x7f", "ht\xfftp", "h\xc3\xa9"}) CHECK_FALSE(valid_tag(tag));
  CHECK_FALSE(valid_tag(std::string_view("a\0b", 3)));
}

TEST_CASE("Tags: a pattern matches at the start of a tag, not elsewhere and not only the whole", "[diag][tag]") {
  CleanDebug clean;
  Controls controls({"http", "http_hdrs", "http2", "dns", "splitdns", "Http", "xhttp", "my_dns_x"});
  auto on_with = [&](const char* pattern) {
    auto lease = open_lease({pattern, ""});
    REQUIRE(lease);
    Names on = controls.on();
    std::sort(on.begin(), on.end());
    Names told = lease->tags_on;
    told.erase(std::remove_if(told.begin(), told.end(),
                              [&](auto& name) { return std::find(on.begin(), on.end(), name) == on.end(); }),
               told.end());
    CHECK(told == on);
    return on;
  };
  CHECK(on_with("http|dns") == Names{"dns", "http", "http2", "http_hdrs"});
  CHECK(on_with("http") == Names{"http", "http2", "http_hdrs"});
  CHECK(on_with("http.*") == Names{"http", "http2", "http_hdrs"});
  CHECK(on_with("http$") == Names{"http"});
  CHECK(on_with("^http$") == Names{"http"});
  CHECK(on_with("(?!http_hdrs)http") == Names{"http", "http2"});
  CHECK(on_with("http.|dns") == Names{"dns", "http2", "http_hdrs"});
  CHECK(on_with("(?i)http$") == Names{"Http", "http"});
  CHECK(on_with(".*dns") == Names{"dns", "my_dns_x", "splitdns"});
  CHECK(on_with(".*").size() == 8);
  CHECK(on_with("nothing_of_the_kind").empty());
}

TEST_CASE("Tags: all are listed in order of name, on or off, with what was let through", "[diag][tag]") {
  CleanDebug clean;
  RuntimeControl control("test_tags.control");
  REQUIRE(string_tag_wanted("test_tags.string", false) == false);
  REQUIRE(set_base({Mode::kOn, "test_tags.c", ""}));
  REQUIRE(open_lease({"test_tags.s", "10.0.0.0/8"}));
  std::uint64_t before = tag_state("test_tags.control").hits;
  for (int i = 0; i < 5; ++i) CHECK(control.on());

  std::vector<TagState> all = tags();
  CHECK(std::is_sorted(all.begin(), all.end(), [](auto& a, auto& b) { return a.name < b.name; }));
  TagState state = tag_state("test_tags.control");
  CHECK(state.on);
  CHECK_FALSE(state.clients_only);
  CHECK(state.hits == before + 5);
  state = tag_state("test_tags.string");
  CHECK(state.on);
  CHECK(state.clients_only);
  CHECK(state.hits == 0);
  CHECK_FALSE(tag_state("test_site.plain").on);
  CHECK(tag_state("test_site.plain").sites > 0);
}

TEST_CASE("Tags: an invalid one leaves its control off, whatever matches", "[diag][tag]") {
  CleanDebug clean;
  REQUIRE(set_base({Mode::kOn, ".*", ""}));
  std::size_t before = tags().size();
  for (std::string_view tag : {std::string_view(), std::string_view("two words"), std::string_view("ht\xfftp")}) {
    RuntimeControl control(tag);
    CHECK_FALSE(control.on());
    CHECK_FALSE(control.on(true));
    CHECK(control.tag().empty());
    CHECK_FALSE(string_tag_wanted(tag, true));
  }
  CHECK(tags().size() == before);
}

TEST_CASE("Table: it takes its limit and not one more, and finds all by number and by content", "[diag][registry]") {
  struct Item {
    std::uint32_t number = 0;
    std::uint64_t hash = 0;
    Item* next_in_chain = nullptr;
  };
  constexpr std::uint32_t kLimit = 1000;
  static constinit RegistryTable<Item, kLimit, 16> table;
  static std::vector<Item> items(kLimit);
  CHECK(table.by_number(1) == nullptr);
  for (std::uint32_t i = 0; i < kLimit; ++i) {
    REQUIRE(table.reserve());
    if (i % 10 == 0) {  // one that was not needed after all
      table.cancel_reservation();
      REQUIRE(table.reserve());
    }
    items[i].hash = i / 2;
    table.append(&items[i]);
  }
  CHECK_FALSE(table.reserve());
  CHECK(table.size() == kLimit);
  for (std::uint32_t i = 0; i < kLimit; ++i) {
    CHECK(table.by_number(i + 1) == &items[i]);
    CHECK(table.find(i / 2, [&](const Item& item) { return &item == &items[i]; }) == &items[i]);
  }
  CHECK(table.by_number(0) == nullptr);
  CHECK(table.by_number(kLimit + 1) == nullptr);
  CHECK(table.find(kLimit, [](const Item&) { return true; }) == nullptr);
}

}  // namespace telltale::diag
