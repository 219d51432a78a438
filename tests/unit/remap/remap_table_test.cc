// SPDX-License-Identifier: Apache-2.0
#include "remap/remap_table.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <new>
#include <random>
#include <string>

using namespace telltale::remap;

namespace {

// Allocations of this thread since the program began.
thread_local long allocations = 0;

std::shared_ptr<const RemapTable> table_of(const std::string& text) {
  auto table = parse_remap_table(text, "remap.config");
  if (!table) FAIL(to_string(table.error().front()));
  return *table;
}

// The line of the rule that takes the request; 0 = none.
int line_for(const RemapTable& table, std::string_view host, std::uint16_t port, std::string_view target) {
  const Mapping* mapping = table.match("http", host, port, target);
  return mapping == nullptr ? 0 : mapping->line;
}

// What the origin is asked for; "none" if no rule takes it.
std::string mapped(const std::string& from, const std::string& to, std::string_view target) {
  const auto table = table_of("map " + from + " " + to + "\n");
  const Mapping* mapping = table->match("http", "a", 80, target);
  if (mapping == nullptr) return "none";
  std::string out;
  mapping->append_target(target, out);
  return out;
}

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

TEST_CASE("RemapTable: scheme, host, port and path all have to fit", "[remap][table]") {
  const auto table = table_of("map http://a:8080/x http://b/\n");
  CHECK(line_for(*table, "a", 8080, "/x") == 1);
  CHECK(line_for(*table, "a", 80, "/x") == 0);
  CHECK(line_for(*table, "b", 8080, "/x") == 0);
  CHECK(line_for(*table, "", 8080, "/x") == 0);
  CHECK(line_for(*table, "a", 8080, "/y") == 0);
  CHECK(table->match("HTTP", "a", 8080, "/x") != nullptr);
  CHECK(table->match("https", "a", 8080, "/x") == nullptr);
  CHECK(table->match("", "a", 8080, "/x") == nullptr);
}

TEST_CASE("RemapTable: hosts are compared without case, IPv6 in any spelling", "[remap][table]") {
  const auto table = table_of(
      "map http://Ex-ample.COM/ http://b/\nmap http://[2001:DB8::1]/ http://b/\nmap http://[::ffff:1.2.3.4]/ "
      "http://b/\n");
  CHECK(line_for(*table, "EX-AMPLE.com", 80, "/") == 1);
  CHECK(line_for(*table, "ex-ample.com.", 80, "/") == 0);
  CHECK(line_for(*table, "[2001:db8::1]", 80, "/") == 2);
  CHECK(line_for(*table, "2001:DB8:0:0::1", 80, "/") == 2);
  CHECK(line_for(*table, "[::FFFF:1.2.3.4]", 80, "/") == 3);
  CHECK(line_for(*table, "[::ffff:102:304]", 80, "/") == 3);
  CHECK(line_for(*table, "[", 80, "/") == 0);
  CHECK(line_for(*table, "[:]", 80, "/") == 0);
  CHECK(line_for(*table, std::string(255, 'a'), 80, "/") == 0);
  CHECK(line_for(*table, std::string(100000, ':'), 80, "/") == 0);
  CHECK(line_for(*table, std::string_view("ex-ample.com\0", 13), 80, "/") == 0);
  CHECK(line_for(*table, std::string_view("2001:db8::1\0x", 13), 80, "/") == 0);
}

TEST_CASE("RemapTable: eight hosts, which are compared, and nine, which are hashed, are found alike", "[remap][table][limit]") {
  for (int hosts : {1, 8, 9, 40}) {
    std::string text;
    for (int i = 1; i <= hosts; ++i) text += "map http://host-" + std::to_string(i) + "/ http://b/\n";
    const auto table = table_of(text);
    for (int i = 1; i <= hosts; ++i) {
      CHECK(line_for(*table, "host-" + std::to_string(i), 80, "/") == i);
      CHECK(line_for(*table, "HOST-" + std::to_string(i), 80, "/") == i);
    }
    CHECK(line_for(*table, "host-", 80, "/") == 0);
    CHECK(line_for(*table, "host-" + std::to_string(hosts + 1), 80, "/") == 0);
  }
}

TEST_CASE("RemapTable: within a host the first rule in the file is taken", "[remap][table]") {
  const auto table = table_of(
      "map http://a/docs/special http://s/\n"
      "map http://a/docs http://d/\n"
      "map http://a/ http://r/\n"
      "map http://a/never http://n/\n");
  CHECK(line_for(*table, "a", 80, "/docs/special/x") == 1);
  CHECK(line_for(*table, "a", 80, "/docs/other") == 2);
  CHECK(line_for(*table, "a", 80, "/else") == 3);
  CHECK(line_for(*table, "a", 80, "/never") == 3);
}

TEST_CASE("RemapTable: a rule for the host wins over a path-only rule wherever they stand",
          "[remap][table]") {
  const auto table = table_of("map /docs/ http://p/\nmap http://a/ http://h/\nmap / http://q/\n");
  CHECK(line_for(*table, "a", 80, "/docs/x") == 2);
  CHECK(line_for(*table, "b", 80, "/docs/x") == 1);
  CHECK(line_for(*table, "b", 9999, "/x") == 3);
  // A host that has rules, none of which fits, falls through to the rules without one.
  CHECK(line_for(*table, "a", 81, "/docs/x") == 1);
  CHECK(table->match("https", "a", 443, "/docs/x")->line == 1);
}

TEST_CASE("RemapTable: an empty table takes nothing", "[remap][table]") {
  CHECK(line_for(RemapTable(), "a", 80, "/") == 0);
}

TEST_CASE("Mapping: a path takes whole segments", "[remap][mapping]") {
  const auto docs = table_of("map http://a/docs http://b/\n");
  for (const char* target : {"/docs", "/docs/", "/docs/a", "/docs?q", "/docs//", "/docs/../x"}) {
    INFO(target);
    CHECK(line_for(*docs, "a", 80, target) == 1);
  }
  for (const char* target : {"/docsearch", "/doc", "/", "", "?docs", "/Docs", "/docs%2F", "/%64ocs",
                             "/docs;a", "//docs", "/./docs", "*", "docs"}) {
    INFO(target);
    CHECK(line_for(*docs, "a", 80, target) == 0);
  }
  const auto below = table_of("map http://a/docs/ http://b/\n");
  CHECK(line_for(*below, "a", 80, "/docs/") == 1);
  CHECK(line_for(*below, "a", 80, "/docs/a") == 1);
  CHECK(line_for(*below, "a", 80, "/docs") == 0);
  CHECK(line_for(*below, "a", 80, "/docs?q") == 0);
}

TEST_CASE("Mapping: the root takes every path, and the target that lacks one", "[remap][mapping]") {
  const auto table = table_of("map http://a http://b\n");
  for (const char* target : {"/", "/x", "//", "/?q", "", "?q", "/..", "/\\"}) {
    INFO(target);
    CHECK(line_for(*table, "a", 80, target) == 1);
  }
  CHECK(line_for(*table, "a", 80, "*") == 0);
}

TEST_CASE("Mapping: the origin's path takes the place of the matched prefix, the rest stays byte for byte",
          "[remap][mapping]") {
  struct Row {
    const char *from, *to, *target, *expected;
  };
  const Row rows[] = {
      {"http://a/", "http://b/", "/", "/"},
      {"http://a/", "http://b/", "/x?q=1&r", "/x?q=1&r"},
      {"http://a", "http://b", "", "/"},
      {"http://a", "http://b", "?q", "/?q"},
      {"http://a/", "http://b/base", "/", "/base"},
      {"http://a/", "http://b/base", "/x", "/base/x"},
      {"http://a/", "http://b/base", "/?q", "/base?q"},
      {"http://a/", "http://b/base/", "/x", "/base/x"},
      {"http://a/docs", "http://b/", "/docs", "/"},
      {"http://a/docs", "http://b/", "/docs/", "/"},
      {"http://a/docs", "http://b/", "/docs/x", "/x"},
      {"http://a/docs", "http://b/", "/docs?q", "/?q"},
      {"http://a/docs", "http://b/", "/docs//x", "//x"},
      {"http://a/docs", "http://b/base", "/docs/x", "/base/x"},
      {"http://a/docs", "http://b/base", "/docs", "/base"},
      {"http://a/docs", "http://b/base", "/docs/", "/base/"},
      {"http://a/docs", "http://b/base/", "/docs/x", "/base/x"},
      {"http://a/docs/", "http://b/", "/docs/x", "/x"},
      {"http://a/docs/", "http://b/base", "/docs/x", "/base/x"},
      {"http://a/docs/", "http://b/base", "/docs/", "/base"},
      {"http://a/docs/", "http://b/base/", "/docs/?q", "/base/?q"},
      {"/docs/", "http://b/base/", "/docs/../x/%2e%2E?a=/../b#c", "/base/../x/%2e%2E?a=/../b#c"},
      {"http://a/", "http://b/", "/\\", "/\\"},
      {"http://a/", "http://b/", "//", "//"},  // another resource than "/" (B150)
      {"http://a/", "http://b/", "//x", "//x"},
      {"http://a/", "http://b/base", "//x", "/base//x"},
      {"http://a/docs/", "http://b/", "/docs//x", "//x"},
      {"http://a/", "http://b/", "/a/../%5C//./", "/a/../%5C//./"},
  };
  for (const Row& row : rows) {
    INFO(row.from << " -> " << row.to << " : " << row.target);
    CHECK(mapped(row.from, row.to, row.target) == row.expected);
  }
}

TEST_CASE("Mapping: the target is appended to what the buffer holds", "[remap][mapping]") {
  const auto table = table_of("map http://a/ http://b/base/\n");
  std::string out = "GET ";
  table->match("http", "a", 80, "/x")->append_target("/x", out);
  CHECK(out == "GET /base/x");
}

TEST_CASE("RemapTable: a match allocates nothing", "[remap][table]") {
  const auto table = table_of(
      "map http://a-rather-long-host-name.example.com/docs http://b/\nmap http://[2001:db8::1]/ "
      "http://b/\nmap / http://c/\n");
  std::string out;
  out.reserve(256);
  const long before = allocations;
  const Mapping* first = table->match("http", "A-RATHER-long-host-name.EXAMPLE.com", 80, "/docs/a/b/c?d");
  const Mapping* second = table->match("http", "[2001:DB8:0::1]", 80, "/a");
  const Mapping* third = table->match("http", "another-long-host-name-without-rules.example.com", 80, "/a");
  first->append_target("/docs/a/b/c?d", out);
  const long after = allocations;
  CHECK(after == before);
  CHECK(first->line == 1);
  CHECK(second->line == 2);
  CHECK(third->line == 3);
}

TEST_CASE("RemapTable: agrees with walking the rules one by one, on random rules and requests",
          "[remap][table]") {
  std::mt19937 random(3);
  const std::string hosts[] = {"a", "b", "c.example", ""};
  const std::string paths[] = {"/", "/x", "/x/", "/x/y", "/xy", "/x/y/z", "/X"};
  const std::uint16_t ports[] = {80, 81};
  for (int round = 0; round < 300; ++round) {
    std::vector<Mapping> rules;
    for (unsigned i = 0, count = random() % 12; i < count; ++i) {
      const std::string& host = hosts[random() % 4];
      const RuleUrl from = host.empty() ? RuleUrl{"", "", 0, paths[random() % 7]}
                                        : RuleUrl{"http", host, ports[random() % 2], paths[random() % 7]};
      rules.push_back({from, {"http", "o", 80, "/"}, "o", "http://o:80", static_cast<int>(i) + 1, ""});
    }
    const RemapTable table{std::vector<Mapping>(rules)};
    for (const std::string& host : hosts) {
      for (const std::string& path : paths) {
        for (const std::uint16_t port : ports) {
          int expected = 0;
          for (const bool with_host : {true, false}) {
            for (const Mapping& rule : rules) {
              if (expected != 0 || rule.from.host.empty() == with_host) continue;
              if (with_host && (rule.from.host != host || rule.from.port != port)) continue;
              std::string prefix = rule.from.path;
              if (prefix.back() != '/' && path != prefix) prefix += '/';
              if (path.compare(0, prefix.size(), prefix) == 0) expected = rule.line;
            }
          }
          CHECK(line_for(table, host, port, path) == expected);
        }
      }
    }
  }
}
