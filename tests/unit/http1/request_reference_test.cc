// SPDX-License-Identifier: Apache-2.0
//
// The request parser beside a slow one: Boost.Beast reads the head, and everything stricter is looked up afterwards
// in plain loops over its fields. Both must accept the same requests and read the same in them, and refuse the
// others with the same status code.
#include <boost/beast/http/basic_parser.hpp>
#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "http/target.h"
#include "http1/head_parser.h"

using namespace telltale;
using namespace telltale::http1;
using http::FieldId;
using http::Version;

namespace {

namespace beast = boost::beast::http;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

class BeastParser final : public beast::basic_parser<true> {
 public:
  using error_code = boost::beast::error_code;
  explicit BeastParser(http::RequestHead& head) : head_(head) {
    header_limit(std::numeric_limits<std::uint32_t>::max());
    body_limit(boost::none);
    skip(true);
  }

 private:
  void on_request_impl(beast::verb, boost::beast::string_view method, boost::beast::string_view target, int version,
                       error_code&) override {
    head_.method_text = view(method);
    head_.method = http::method_from(head_.method_text);
    head_.target = view(target);
    head_.version = version == 10 ? Version::kHttp10 : Version::kHttp11;
  }
  void on_response_impl(int, boost::beast::string_view, int, error_code&) override {}
  void on_field_impl(beast::field, boost::beast::string_view name, boost::beast::string_view value,
                     error_code&) override {
    head_.fields.add({http::field_id(view(name)), view(name), view(value)});
  }
  void on_header_impl(error_code&) override {}
  void on_finish_impl(error_code&) override {}
  void on_body_init_impl(boost::optional<std::uint64_t> const&, error_code&) override {}
  std::size_t on_body_impl(boost::beast::string_view body, error_code&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t, boost::beast::string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, boost::beast::string_view body, error_code&) override {
    return body.size();
  }

  http::RequestHead& head_;
};

struct Verdict {
  Parse parse = Parse::kNeedMore;
  int status = 0;
  std::size_t consumed = 0;
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

bool other_version(std::string_view line) {
  const std::string_view text = line.substr(std::min(line.rfind(' '), line.size() - 1) + 1);
  return text.size() == 8 && text.substr(0, 5) == "HTTP/" && http::is_digit(text[5]) && text[6] == '.' &&
         http::is_digit(text[7]) && text.substr(5) != "1.0" && text.substr(5) != "1.1";
}

// 0: served; else the status code.
int reference_check(http::RequestHead& out) {
  std::string_view authority;
  http::Target target = http::parse_target(out.method, out.target);
  if (target.form == http::TargetForm::kAbsolute) {
    std::string_view rest = out.target;
    if (!http::equal_nocase(rest.substr(0, 7), "http://")) return 400;
    rest.remove_prefix(7);
    authority = rest.substr(0, rest.find_first_of("/?"));
    rest.remove_prefix(authority.size());
    out.target = rest;
    target = {http::TargetForm::kOrigin, rest.substr(0, rest.find('?')), {}, 0, {}};
    if (rest.find('?') != std::string_view::npos) target.query = rest.substr(rest.find('?') + 1);
  }
  if (!target.ok()) return target.status;
  out.path = target.path;
  out.query = target.query;
  const bool absolute = target.ok() && authority.data() != nullptr;
  const http::Field* host = nullptr;
  bool close = false, keep_alive = false, expect = false;
  std::size_t options = 0;
  for (const http::Field& field : out.fields) {
    if (field.id == FieldId::kHost) {
      if (host != nullptr) return 400;
      host = &field;
    } else if (field.id == FieldId::kConnection) {
      std::string_view rest = field.value;
      for (std::string_view option = http::next_item(rest); !option.empty(); option = http::next_item(rest)) {
        ++options;
        close = close || http::equal_nocase(option, "close");
        keep_alive = keep_alive || http::equal_nocase(option, "keep-alive");
      }
    } else if (field.id == FieldId::kExpect) {
      if (!http::equal_nocase(field.value, "100-continue")) return 417;
      expect = true;
    }
  }
  if (host == nullptr && out.version == Version::kHttp11) return 400;
  if (host != nullptr && !out.authority.parse(host->value)) return 400;
  if (absolute) {
    if (!out.authority.parse(authority)) return 400;
    out.fields.set_copy("Host", authority);
  }
  if (options > kConnectionOptionsMax) return 400;
  out.keep_alive = !close && (out.version == Version::kHttp11 || keep_alive);
  const http::FramingResult framing = http::request_framing(out.fields, out.version);
  if (!framing.ok()) return framing.status;
  out.framing = framing.framing;
  out.expect_continue = expect && (out.framing.kind == http::Framing::kChunked || out.framing.length != 0) &&
                        out.version == Version::kHttp11;
  return 0;
}

Verdict reference(std::string_view buffer, HeadLimits limits, http::RequestHead& out) {
  HeadScanner scanner(limits);
  const HeadScanner::Found found = scanner.scan(buffer, true);
  const std::size_t start = scanner.start();
  if (start < buffer.size() && !http::is_tchar(buffer[start]) && buffer[start] != '\r' && buffer[start] != '\n')
    return {Parse::kBad, 400};
  if (found == HeadScanner::Found::kNotYet) return {};
  if (found == HeadScanner::Found::kTooManyFields) return {Parse::kTooLarge, 431};
  if (found == HeadScanner::Found::kTooManyBytes) return {Parse::kTooLarge, scanner.in_start_line() ? 414 : 431};
  if (found != HeadScanner::Found::kHead) return {Parse::kBad, 400};
  const std::string_view head = buffer.substr(start, scanner.end() - start);
  out.clear();
  BeastParser parser(out);
  boost::beast::error_code error;
  parser.put(boost::asio::const_buffer(head.data(), head.size()), error);
  if (error) {
    const bool start_line = out.target.empty();
    return {Parse::kBad, start_line && other_version(head.substr(0, head.find('\r'))) ? 505 : 400};
  }
  const int status = reference_check(out);
  if (status != 0) return {Parse::kBad, status};
  return {Parse::kDone, 0, scanner.end()};
}

bool same(const http::RequestHead& a, const http::RequestHead& b) {
  bool equal = a.method == b.method && a.method_text == b.method_text && a.version == b.version &&
               a.keep_alive == b.keep_alive && a.expect_continue == b.expect_continue && a.target == b.target &&
               a.path == b.path && a.query == b.query && a.authority == b.authority && a.framing == b.framing &&
               a.fields.size() == b.fields.size();
  for (std::size_t i = 0; equal && i < a.fields.size(); ++i) {
    const http::Field &x = a.fields.begin()[i], &y = b.fields.begin()[i];
    equal = x.id == y.id && x.name == y.name && x.value == y.value;
  }
  return equal;
}

// Of two faults in one request either may be told: a second field that frames the content, which the parser finds
// first, may stand beside a method or an expectation that is refused.
bool two_faults(const Verdict& fast, const Verdict& slow) {
  return fast.parse == Parse::kBad && slow.parse == Parse::kBad && fast.status == 400 &&
         (slow.status == 405 || slow.status == 417 || slow.status == 501);
}

void compare(const std::string& text, std::size_t first, HeadLimits limits = {}) {
  RequestHeadParser parser(limits);
  http::RequestHead fast_head, slow_head;
  const auto ask = [&](std::string_view part) {
    Verdict verdict{parser.parse(part, fast_head)};
    if (verdict.parse == Parse::kDone) verdict.consumed = parser.consumed();
    if (verdict.parse != Parse::kDone && verdict.parse != Parse::kNeedMore) verdict.status = parser.status();
    return verdict;
  };
  std::string_view read = std::string_view(text).substr(0, first);
  Verdict fast = ask(read);
  if (fast.parse == Parse::kNeedMore) {
    read = text;
    fast = ask(read);
  }
  const Verdict slow = reference(read, limits, slow_head);
  INFO(text);
  if (!two_faults(fast, slow)) REQUIRE(fast == slow);
  if (slow.parse == Parse::kDone) REQUIRE(same(fast_head, slow_head));
}

const std::vector<std::string> kCorpus = {
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /bytes/1024 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nuser-agent: h2load nghttp2/1.52.0\r\n\r\n",
    "GET /a/b?c=d&e=%20 HTTP/1.1\r\nHost: Example.org:8080\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:109.0)\r\n"
    "Accept: text/html,*/*;q=0.8\r\nAccept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate, br\r\nReferer: "
    "https://example.org/\r\n"
    "Connection: keep-alive\r\nCookie: a=b; c=d\r\nUpgrade-Insecure-Requests: 1\r\nSec-Fetch-Site: "
    "same-origin\r\nCache-Control: max-age=0\r\n\r\n",
    "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nX: y\r\nExpect: 100-continue\r\n\r\nhello",
    "POST /x HTTP/1.1\r\nHost: [::1]:80\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\nTE: trailers\r\n\r\n0\r\n\r\n",
    "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n",
    "HEAD /a HTTP/1.0\r\nConnection: Keep-Alive\r\nProxy-Connection: close, x\r\n\r\n",
    "GET / HTTP/1.0\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0\r\n\r\n",
    "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "\r\n\r\nBREW /pot HTTP/1.1\r\nHost:a\r\nX-Empty:\r\nX-Space: \t v \t w \t\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    "GET http://a/b HTTP/1.1\r\nHost: a\r\nConnection: close, upgrade, x-hop\r\nUpgrade: h2c\r\nX-Hop: "
    "\xc3\x9c\r\n\r\n",
    "OPTIONS HTTP://Example.org?x HTTP/1.1\r\nHost: other\r\n\r\n",
    "GET http://[::1]:8080 HTTP/1.0\r\n\r\n",
    "GET https://u@a/b?c HTTP/1.1\r\nHost: a\r\n\r\n",
    "PUT /a#b HTTP/1.1\r\nhost: a_b.c-d.example:65535\r\ncontent-length: 18446744073709551615\r\n\r\n",
};

}  // namespace

TEST_CASE("RequestHeadParser: it reads the corpus as the slow parser does, split at every position", "[http1][head]") {
  for (const std::string& text : kCorpus) {
    for (std::size_t first = 0; first <= text.size(); ++first) compare(text, first);
  }
}

TEST_CASE("RequestHeadParser: it reads and refuses broken requests as the slow parser does", "[http1][head]") {
  std::mt19937 random(20260101);
  const auto below = [&random](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  const std::vector<std::string> pieces = {"\r\n",
                                           "\r",
                                           "\n",
                                           "\t",
                                           " ",
                                           ":",
                                           ",",
                                           "#",
                                           "?",
                                           "\x7f",
                                           "\x80",
                                           std::string(1, '\0'),
                                           "HTTP/1.1",
                                           "HTTP/1.0",
                                           "HTTP/2.0",
                                           "Host: b\r\n",
                                           "Content-Length: 5\r\n",
                                           "Content-Length: 5, 5\r\n",
                                           "Transfer-Encoding: chunked\r\n",
                                           "Transfer-Encoding: gzip, chunked\r\n",
                                           "Connection: close\r\n",
                                           "Connection: a b\r\n",
                                           "Expect: x\r\n",
                                           " folded\r\n",
                                           "GET ",
                                           "/",
                                           "*",
                                           "X: \x01\r\n",
                                           "\r\n\r\n",
                                           "close",
                                           "chunked"};
  for (int round = 0; round < 60000; ++round) {
    std::string text = kCorpus[below(kCorpus.size())];
    for (std::size_t changes = 1 + below(3); changes != 0 && !text.empty(); --changes) {
      const std::size_t at = below(text.size());
      switch (below(6)) {
        case 0:
          text[at] = static_cast<char>(below(256));
          break;
        case 1:
          text.erase(at, 1 + below(8));
          break;
        case 2:
          text.insert(at, pieces[below(pieces.size())]);
          break;
        case 3:
          text.insert(at, text.substr(below(text.size()), below(30)));
          break;
        case 4:
          text[at] = static_cast<char>(text[at] ^ 0x20);
          break;
        default: {  // a line of the head, put after another
          const std::size_t line = text.find("\r\n", at);
          if (line != std::string::npos) text.insert(line + 2, pieces[below(pieces.size())]);
        }
      }
    }
    HeadLimits limits;
    if (below(4) == 0) limits = {20 + below(200), below(12)};
    compare(text, below(2) == 0 ? text.size() : below(text.size() + 1), limits);
  }
}

TEST_CASE("RequestHeadParser: a value's end is found wherever it lies in the eight bytes looked at together",
          "[http1][head]") {
  for (std::size_t pad = 0; pad < 20; ++pad) {
    for (int c = 0; c < 256; ++c) {
      compare(
          "GET /" + std::string(pad, 'p') + " HTTP/1.1\r\nHost: a\r\nX: v" + static_cast<char>(c) + " \x80\t v\r\n\r\n",
          4096);
      compare("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(pad, 'v') + static_cast<char>(c) + "\r\n\r\n", 4096);
    }
  }
}
