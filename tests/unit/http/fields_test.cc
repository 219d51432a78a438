// SPDX-License-Identifier: Apache-2.0
#include "http/fields.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace telltale::http;

namespace {

std::string join(const Fields& fields) {
  std::string text;
  for (const Field& field : fields) text.append(field.name).append("=").append(field.value).append(";");
  return text;
}

}  // namespace

TEST_CASE("Fields: order is kept and names are found in any case", "[http][fields]") {
  Fields fields;
  fields.add({FieldId::kHost, "Host", "a"});
  fields.add_copy("X-One", "1");
  fields.add_copy("x-one", "2");
  CHECK(join(fields) == "Host=a;X-One=1;x-one=2;");
  REQUIRE(fields.find("X-ONE") != nullptr);
  CHECK(fields.find("X-ONE")->value == "1");
  CHECK(fields.find("HOST") == fields.find(FieldId::kHost));
  CHECK(fields.find("X-Two") == nullptr);
  CHECK(fields.find(FieldId::kVia) == nullptr);
  CHECK(fields.count(FieldId::kHost) == 1);
}

TEST_CASE("Fields: set_copy keeps the first one's place and drops the others", "[http][fields]") {
  Fields fields;
  for (auto [name, value] : {std::pair{"A", "1"}, {"B", "2"}, {"a", "3"}, {"C", "4"}, {"A", "5"}}) fields.add_copy(name, value);
  fields.set_copy("a", "new");
  CHECK(join(fields) == "a=new;B=2;C=4;");
  fields.set_copy("D", "");
  CHECK(join(fields) == "a=new;B=2;C=4;D=;");
}

TEST_CASE("Fields: a field can be replaced by its own text", "[http][fields]") {
  Fields fields;
  fields.add_copy("Via", "1.1 a");
  for (int i = 0; i < 100; ++i) fields.set_copy(fields.begin()->name, fields.begin()->value);
  CHECK(join(fields) == "Via=1.1 a;");
}

TEST_CASE("Fields: remove takes all of a name and says how many", "[http][fields]") {
  Fields fields;
  for (const char* name : {"Cookie", "X", "cookie", "Y", "x"}) fields.add_copy(name, "v");
  CHECK(fields.remove(FieldId::kCookie) == 2);
  CHECK(fields.remove("x") == 2);
  CHECK(fields.remove("x") == 0);
  CHECK(join(fields) == "Y=v;");
}

TEST_CASE("Fields: 32 fit inline, 33 and 1000 too", "[http][fields]") {
  for (std::size_t count : {Fields::kInline, Fields::kInline + 1, std::size_t{1000}}) {
    Fields fields;
    for (std::size_t i = 0; i < count; ++i) fields.add_copy("N" + std::to_string(i), std::to_string(i * i));
    REQUIRE(fields.size() == count);
    std::size_t i = 0;
    bool same = true;
    for (const Field& field : fields) {
      same = same && field.name == "N" + std::to_string(i) && field.value == std::to_string(i * i);
      ++i;
    }
    CHECK(same);
  }
}

TEST_CASE("Fields: moving keeps views into the arena alive and empties the source", "[http][fields]") {
  for (std::size_t count : {std::size_t{3}, std::size_t{200}}) {
    Fields source;
    for (std::size_t i = 0; i < count; ++i) source.add_copy("Name", "value " + std::to_string(i));
    const std::string before = join(source);
    const char* const text = source.begin()->value.data();
    Fields target(std::move(source));
    CHECK(join(target) == before);
    CHECK(target.begin()->value.data() == text);
    CHECK(source.empty());  // NOLINT: it may be used again
    source.add_copy("Fresh", "1");
    CHECK(join(source) == "Fresh=1;");
    source = std::move(target);
    CHECK(join(source) == before);
  }
}

TEST_CASE("Fields: copy_from leaves nothing that points into the original", "[http][fields]") {
  Fields copy;
  {
    std::string buffer = "Host: example.org";
    Fields fields;
    fields.add({FieldId::kHost, std::string_view(buffer).substr(0, 4), std::string_view(buffer).substr(6)});
    copy.copy_from(fields);
    buffer.assign(buffer.size(), '#');
    CHECK(fields.begin()->value == "###########");
  }
  CHECK(join(copy) == "Host=example.org;");
  CHECK(copy.begin()->id == FieldId::kHost);
  copy.copy_from(copy);
  CHECK(join(copy) == "Host=example.org;");
}

TEST_CASE("Fields: values larger than an arena block are kept whole", "[http][fields]") {
  Fields fields;
  for (std::size_t size : {std::size_t{1023}, std::size_t{1024}, std::size_t{1025}, std::size_t{100000}}) {
    fields.clear();
    fields.add_copy("Small", "1");
    fields.add_copy("Large", std::string(size, 'v'));
    fields.add_copy("Small", "2");
    CHECK(join(fields) == "Small=1;Large=" + std::string(size, 'v') + ";Small=2;");
  }
}

TEST_CASE("Fields: random operations give what a plain vector gives", "[http][fields]") {
  std::mt19937 random(7);
  Fields fields;
  std::vector<std::pair<std::string, std::string>> plain;
  const std::vector<std::string> names{"Via", "X-A", "X-B", "Cookie", "Age", "x-a", "VIA"};
  for (int round = 0; round < 20000; ++round) {
    const std::string name = names[random() % names.size()];
    const std::string value(random() % 300, static_cast<char>('a' + random() % 26));
    switch (random() % 8) {
      case 0:
        if (plain.size() > 60) {
          fields.clear();
          plain.clear();
        }
        break;
      case 1: {
        const std::size_t removed = std::erase_if(plain, [&](const auto& one) { return equal_nocase(one.first, name); });
        REQUIRE(fields.remove(name) == removed);
        break;
      }
      case 2: {
        bool placed = false;
        for (std::size_t i = 0; i < plain.size();) {
          if (!equal_nocase(plain[i].first, name)) {
            ++i;
          } else if (!placed) {
            plain[i++] = {name, value};
            placed = true;
          } else {
            plain.erase(plain.begin() + static_cast<std::ptrdiff_t>(i));
          }
        }
        if (!placed) plain.emplace_back(name, value);
        fields.set_copy(name, value);
        break;
      }
      default:
        fields.add_copy(name, value);
        plain.emplace_back(name, value);
        break;
    }
    std::string expected;
    for (const auto& [n, v] : plain) expected += n + "=" + v + ";";
    if (join(fields) != expected) FAIL("round " << round);
  }
  SUCCEED();
}
