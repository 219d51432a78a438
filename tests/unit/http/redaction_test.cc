// SPDX-License-Identifier: Apache-2.0
//
// What the operator adds (R3, R5, R7), bodies (R6), commands (R8), cookies (R4), and the cutting of all (R13).
#include "http/redaction.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "http/print.h"
#include "http/print_dump.h"

using namespace telltale::http;

namespace {

struct With {
  explicit With(const Redaction& redaction) { set_redaction(redaction); }
  ~With() { set_redaction({}); }
};

Redaction with(void (*change)(Redaction&)) {
  Redaction redaction;
  change(redaction);
  return redaction;
}

std::string printed(std::string_view name, std::string_view value) {
  return fmt::format("{}", print_field({field_id(name), name, value}));
}
std::string url(std::string_view text) { return fmt::format("{}", print_url(text)); }

}  // namespace

TEST_CASE("Redaction: R3 names, fragments and an allow-list are added while it runs", "[http][redact][R3]") {
  CHECK(printed("User-Agent", "me") == "User-Agent: me");
  CHECK(printed("X-Badge", "7") == "X-Badge: 7");
  {
    With added(with([](Redaction& r) {
      r.fields = "user_agent, X-Badge";
      r.fragments = "ward";
      r.allowed_fields = "x-token-count, X-Wardrobe";
    }));
    CHECK(printed("USER-AGENT", "me") == "USER-AGENT: [redacted]");
    CHECK(printed("xbadge", "7") == "xbadge: [redacted]");
    CHECK(printed("X-Steward-Id", "7") == "X-Steward-Id: [redacted]");
    CHECK(printed("X-Wardrobe", "7") == "X-Wardrobe: 7");
    CHECK(printed("X-Token-Count", "7") == "X-Token-Count: 7");
    CHECK(printed("X-Token", "7") == "X-Token: [redacted]");
    CHECK(printed("Authorization", "Basic QQ==") == "Authorization: Basic [redacted]");
  }
  CHECK(printed("X-Badge", "7") == "X-Badge: 7");
}

TEST_CASE("Redaction: R3 an allow-list beats fragments, not whole names", "[http][redact][R3]") {
  With added(with([](Redaction& r) { r.allowed_fields = "x-auth-key, authorization, x-session-id"; }));
  CHECK(printed("X-Auth-Key", "7") == "X-Auth-Key: [redacted]");
  CHECK(printed("Authorization", "secret") == "Authorization: [redacted]");
  CHECK(printed("X-Session-Id", "7") == "X-Session-Id: 7");
}

TEST_CASE("Redaction: R5 query keys are added, and every value may be masked", "[http][redact][R5]") {
  CHECK(url("/x?badge=7&q=1") == "/x?badge=7&q=1");
  {
    With added(with([](Redaction& r) { r.query_keys = "badge"; }));
    CHECK(url("/x?bad%67e=7&q=1&a[badge]=2") == "/x?bad%67e=[redacted]&q=1&a[badge]=[redacted]");
  }
  With strict(with([](Redaction& r) { r.every_query_value = true; }));
  CHECK(url("/x?badge=7&q=1#f") == url("/x?badge=7&q=1#f"));
  CHECK(url("/x?badge=7&q=1") == "/x?badge=[redacted]&q=[redacted]");
  CHECK(printed("Referer", "http://h/x?q=1") == "Referer: http://h/x?q=[redacted]");
}

TEST_CASE("Redaction: R7 a sensitive path hides its query, its fields but the basic ones, and its reason", "[http][redact][R7]") {
  for (const char* path : {"/login", "/a/LOGIN?x=1", "/%6Cogin", "http://h/login/2?x", "/oauth2/any/thing#f", "/v1/token;p=1"}) {
    INFO(path);
    CHECK(is_sensitive_path(path));
  }
  for (const char* path : {"/", "/logins", "/blog/in", "/x?next=/login", "http://login/x", "", "*"}) {
    INFO(path);
    CHECK_FALSE(is_sensitive_path(path));
  }
  CHECK(url("/login?user=me&x=1#f") == "/login?[redacted]");
  CHECK(url("/login") == "/login");
  RequestHead head;
  head.method_text = "POST";
  head.target = "/login?user=me";
  head.fields.add_copy("Host", "h");
  head.fields.add_copy("X-Name", "me");
  head.fields.add_copy("Content-Type", "text/plain");
  CHECK(fmt::format("{}", dump_request(Direction::kClientRequest, head)) ==
        "client request: POST /login?[redacted] HTTP/1.1\nclient request: Host: h\nclient request: X-Name: [redacted]\n"
        "client request: Content-Type: text/plain");
  ResponseHead answer;
  answer.status = 403;
  answer.reason = "no such user me";
  answer.fields.add_copy("X-Echo", "me");
  CHECK(fmt::format("{}", dump_response(Direction::kOriginResponse, head.target, answer)) ==
        "origin response: HTTP/1.1 403 Forbidden\norigin response: X-Echo: [redacted]");
  CHECK(fmt::format("{}", dump_wire(Direction::kClientResponse, head.target, "HTTP/1.1 403 no such user me\r\n", "X-Echo: me\r\n\r\n")) ==
        "client response: HTTP/1.1 403\nclient response: X-Echo: [redacted]");
  CHECK(fmt::format("{}", print_body("user=me", "text/plain", is_sensitive_path(head.target))) == "[redacted]");
  With other(with([](Redaction& r) { r.paths = "/private/*"; }));
  CHECK_FALSE(is_sensitive_path("/login"));
  CHECK(is_sensitive_path("/private/x"));
}

TEST_CASE("Redaction: R6 a body is its size and type", "[http][redact][R6]") {
  CHECK(fmt::format("{}", print_body(std::string(1234, 'x'), "application/json")) == "<body 1234 bytes application/json>");
  CHECK(fmt::format("{}", print_body("x", "")) == "<body 1 bytes>");
  CHECK(fmt::format("{}", print_body("", "text/html; boundary=S3CR3T")) == "<body 0 bytes text/html>");
  CHECK(fmt::format("{}", print_body("x", "S3CR3T S3CR3T")) == "<body 1 bytes>");
}

TEST_CASE("Redaction: R8 what follows the name of a secret in a command is masked", "[http][redact][R8]") {
  for (auto [in, out] : {std::pair{"set auth.key S3CR3T", "set auth.key [redacted]"},
                         {"set auth.key=S3CR3T", "set auth.key=[redacted]"},
                         {"config set proxy.config.x.api_token S3CR3T and more", "config set proxy.config.x.api_token [redacted]"},
                         {"set  auth.key\tS3CR3T", "set  auth.key\t[redacted]"},
                         {"set auth.key", "set auth.key"},
                         {"get proxy.config.http.server_ports", "get proxy.config.http.server_ports"},
                         {"", ""}}) {
    CHECK(fmt::format("{}", print_command(in)) == out);
  }
}

TEST_CASE("Redaction: R4 cookies have a printer of their own", "[http][redact][R4]") {
  CHECK(fmt::format("{}", print_cookie("sid=1; lang=en")) == "sid=[redacted]; lang=[redacted]");
  CHECK(fmt::format("{}", print_cookie("a")) == "[redacted]");
  CHECK(fmt::format("{}", print_set_cookie("sid=1; Path=/; HttpOnly")) == "sid=[redacted]; Path=/; HttpOnly");
}

TEST_CASE("Redaction: lists with faults are refused with the entry", "[http][redact]") {
  CHECK_FALSE(check_field_names("x-a, x_b  x.c"));
  CHECK_FALSE(check_field_names(""));
  CHECK(check_field_names("x-a, b:c") == "\"b:c\" is not a field name");
  CHECK(check_field_names("-") == "\"-\" has no letter or digit");
  CHECK(check_name_fragments("tok, ab") == "\"ab\" is shorter than 3 letters and digits, and would be in too many names");
  CHECK(check_query_keys("a&b") == "\"a&b\" has a byte that no query key has, decoded");
  CHECK(check_paths("login") == "\"login\" begins with neither / nor *");
  std::string many;
  for (std::size_t i = 0; i <= kListEntriesMax; ++i) many += "x" + std::to_string(i) + ",";
  CHECK(check_field_names(many) == "the list has more than 256 entries");
}

TEST_CASE("Dump: every field on a line of its own, with its direction; a line end in a value begins none", "[http][dump][B57]") {
  RequestHead head;
  head.method_text = "GET";
  head.target = "/a?token=S3CR3T";
  head.version = Version::kHttp2;
  head.fields.add_copy("host", "h");
  head.fields.add_copy("cookie", "a=S3CR3T");
  head.fields.add_copy("x-plain", "a\nclient request: forged: 1");
  head.fields.add_copy("x-token", "S3CR3T\nS3CR3T");
  CHECK(fmt::format("{}", dump_request(Direction::kClientRequest, head)) ==
        "client request: GET /a?token=[redacted] HTTP/2\nclient request: host: h\nclient request: cookie: a=[redacted]\n"
        "client request: x-plain: a\\nclient request: forged: 1\nclient request: x-token: [redacted]");
  CHECK(fmt::format("{}", dump_wire(Direction::kOriginRequest, "/a", "GET /a?token=S3CR3T HTTP/1.1\r\nHost: h\r\nAuthorization: Basic S3CR3T\r\n\r\n")) ==
        "origin request: GET /a?token=[redacted] HTTP/1.1\norigin request: Host: h\norigin request: Authorization: Basic [redacted]");
}

TEST_CASE("Redact: R13 whatever the room, what is printed is a prefix and never part of a secret", "[http][redact][R13]") {
  RequestHead head;
  head.method_text = "GET";
  head.target = "http://u:S3CR3T@h/x?q=1&access_token=S3CR3T#f";
  for (auto [name, value] : {std::pair{"Authorization", "Bearer S3CR3T"}, {"Cookie", "sid=S3CR3T; a=S3CR3T"}, {"Set-Cookie", "sid=S3CR3T; Path=/"},
                             {"X-Any-Token", "S3CR3T"}, {"Referer", "https://h/?sig=S3CR3T"}, {"WWW-Authenticate", "Basic realm=\"r\", x=\"S3CR3T\""}}) {
    head.fields.add_copy(name, value);
  }
  const std::string whole = fmt::format("{} {} {}", dump_request(Direction::kClientRequest, head), print_request_line(head), print_fields(head.fields));
  CHECK(whole.find("S3C") == std::string::npos);
  std::vector<char> room(whole.size() + 2, '\x7f');
  for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    const auto end = fmt::format_to_n(room.data(), bytes, "{} {} {}", dump_request(Direction::kClientRequest, head), print_request_line(head), print_fields(head.fields));
    REQUIRE(end.size == whole.size());
    REQUIRE(std::string_view(room.data(), bytes) == std::string_view(whole).substr(0, bytes));
    REQUIRE(room[bytes] == '\x7f');
  }
}
