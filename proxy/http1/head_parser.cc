// SPDX-License-Identifier: Apache-2.0
//
// The scanner waits until the head is complete; then a Beast parser is made on the stack, given the whole head at
// once, and thrown away. So Beast keeps no state between reads, allocates nothing, and never has to resume. Its
// parser is told to skip the content: chunks are decoded by chunk_decoder.h.
//
// Where Beast refuses, the line it stopped at is the one after the fields it has delivered. Only its name is looked
// at, to say which field is wrong; values never get into a message.
#include "http1/head_parser.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstring>
#include <limits>

#include "http/target.h"

namespace telltale::http1 {
namespace {

namespace beast = boost::beast::http;
using http::FieldId;
using http::Version;
using boost::beast::error_code;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

// Beast's parser with callbacks that fill `Head`.
template <bool kIsRequest, class Head>
class BeastParser final : public beast::basic_parser<kIsRequest> {
 public:
  explicit BeastParser(Head& head) : head_(head) {
    this->header_limit(std::numeric_limits<std::uint32_t>::max());  // ours is the scanner's
    this->body_limit(boost::none);
    this->skip(true);
  }
  bool start_line_done() const { return start_line_done_; }

 private:
  void on_request_impl(beast::verb, boost::beast::string_view method, boost::beast::string_view target, int version,
                       error_code&) override {
    if constexpr (kIsRequest) {
      head_.method_text = view(method);
      head_.method = http::method_from(head_.method_text);
      head_.target = view(target);
      start_line(version);
    }
  }
  void on_response_impl(int status, boost::beast::string_view reason, int version, error_code&) override {
    if constexpr (!kIsRequest) {
      head_.status = static_cast<std::uint16_t>(status);
      head_.reason = view(reason);
      start_line(version);
    }
  }
  void on_field_impl(beast::field, boost::beast::string_view name, boost::beast::string_view value,
                     error_code&) override {
    head_.fields.add({http::field_id(view(name)), view(name), view(value)});
  }
  void on_header_impl(error_code&) override {}
  void on_finish_impl(error_code&) override {}
  // Content is skipped, so none of these is ever called.
  void on_body_init_impl(boost::optional<std::uint64_t> const&, error_code&) override {}
  std::size_t on_body_impl(boost::beast::string_view body, error_code&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t, boost::beast::string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, boost::beast::string_view body, error_code&) override {
    return body.size();
  }

  void start_line(int version) {
    head_.version = version == 10 ? Version::kHttp10 : Version::kHttp11;
    start_line_done_ = true;
  }

  Head& head_;
  bool start_line_done_ = false;
};

// The line of `head` with this number, without its line end; the start line is line 0.
std::string_view line_of(std::string_view head, std::size_t number) {
  for (std::size_t i = 0; i < number; ++i) {
    const std::size_t lf = head.find('\n');
    if (lf == std::string_view::npos) return {};
    head.remove_prefix(lf + 1);
  }
  return head.substr(0, head.find('\r'));
}

// True for a start line whose version is well formed and not one of ours.
bool has_other_version(std::string_view text) {
  constexpr std::string_view kName = "HTTP/";
  return text.size() == kName.size() + 3 && text.substr(0, kName.size()) == kName && http::is_digit(text[5]) &&
         text[6] == '.' && http::is_digit(text[7]) && text.substr(5) != "1.0" && text.substr(5) != "1.1";
}

struct Wrong {
  int status = 400;
  FieldId field = FieldId::kOther;
  bool in_field = true;  // false: `what` is a whole sentence
  std::string_view what;
};

Wrong sentence(int status, std::string_view what) { return {status, FieldId::kOther, false, what}; }

Wrong wrong_request_line(std::string_view line, error_code error) {
  if (has_other_version(line.substr(std::min(line.rfind(' '), line.size() - 1) + 1))) {
    return sentence(505, "the HTTP version is neither 1.0 nor 1.1");
  }
  if (error == beast::error::bad_method) return sentence(400, "the request line does not begin with a method and a space");
  if (error == beast::error::bad_target) return sentence(400, "the request target is empty or holds a control byte");
  if (error == beast::error::bad_version) return sentence(400, "the request line does not end in an HTTP version");
  return sentence(400, "the request line is malformed");
}

Wrong wrong_status_line(std::string_view line) {
  if (has_other_version(line.substr(0, line.find(' ')))) return sentence(502, "the HTTP version is neither 1.0 nor 1.1");
  return sentence(502, "the status line is malformed");
}

Wrong wrong_field(std::string_view line, const http::Fields& before, error_code error) {
  const std::size_t colon = line.find(':');
  const FieldId field = colon == std::string_view::npos ? FieldId::kOther
                                                        : http::field_id(http::trim_ows(line.substr(0, colon)));
  Wrong wrong;
  wrong.field = field;
  if (error == beast::error::bad_field) {
    wrong.what = colon == std::string_view::npos ? "it has no colon" : "its name holds a byte that names may not hold";
  } else if (error == beast::error::bad_content_length || error == beast::error::multiple_content_length ||
             error == beast::error::bad_transfer_encoding) {
    const bool both = before.find(field == FieldId::kContentLength ? FieldId::kTransferEncoding
                                                                   : FieldId::kContentLength) != nullptr;
    const bool again = before.find(field) != nullptr;
    wrong.what = both    ? "Content-Length and Transfer-Encoding are both present"
                 : again ? "it is present more than once"
                         : "its value is not a number";
  } else if (error == beast::error::bad_value && std::none_of(line.begin(), line.end(), http::is_control)) {
    wrong.what = "its value is not a list of tokens";
  } else {
    wrong.what = "its value holds a control byte";
  }
  return wrong;
}

struct ConnectionOptions {
  bool close = false;
  bool keep_alive = false;
  std::size_t count = 0;

  void read(std::string_view value) {
    while (true) {
      const std::string_view option = http::next_item(value);
      if (option.empty()) return;
      ++count;
      close = close || http::equal_nocase(option, "close");
      keep_alive = keep_alive || http::equal_nocase(option, "keep-alive");
    }
  }
  // RFC 9112 section 9.3.
  bool persistent(Version version) const { return !close && (version == Version::kHttp11 || keep_alive); }
};

constexpr std::string_view kTooManyOptions = "it has too many options";

}  // namespace

Parse HeadParser::fail(Parse result, int status, std::string_view reason) {
  status_ = status;
  reason_size_ = std::min(reason.size(), sizeof reason_);
  std::memcpy(reason_, reason.data(), reason_size_);
  return result;
}

Parse HeadParser::bad_field(int status, FieldId field, std::string_view what) {
  const std::string_view name = http::field_name(field);
  const std::string_view prefix = name.empty() ? "a field is refused: " : "field ";
  const std::string_view infix = name.empty() ? "" : ": ";
  char text[sizeof reason_];
  std::size_t size = 0;
  for (std::string_view part : {prefix, name, infix, what}) {
    const std::size_t take = std::min(part.size(), sizeof text - size);
    if (take != 0) std::memcpy(text + size, part.data(), take);
    size += take;
  }
  return bad(status, {text, size});
}

Parse HeadParser::scan_failed(HeadScanner::Found found, std::string_view buffer, bool request) {
  const int status = request ? 400 : 502;
  switch (found) {
    case HeadScanner::Found::kBareLf:
      return bad(status, "a line of the head ends in a bare line feed");
    case HeadScanner::Found::kFold: {
      // The name stands on an earlier line; what it is does not matter to who reads this.
      return bad(status, "a field is folded over two lines");
    }
    case HeadScanner::Found::kEmptyLines:
      return bad(status, request ? "too many empty lines before the request line" : "the status line is empty");
    case HeadScanner::Found::kTooManyFields:
      return fail(Parse::kTooLarge, request ? 431 : 502, "the head has too many fields");
    case HeadScanner::Found::kTooManyBytes: {
      if (scanner_.in_start_line()) {
        return fail(Parse::kTooLarge, request ? 414 : 502,
                    request ? "the request line is too long" : "the status line is too long");
      }
      // Names the field that crosses the limit, if it is a known one.
      const std::string_view rest = buffer.substr(std::min(scanner_.line(), buffer.size()));
      const FieldId field = http::field_id(rest.substr(0, rest.find(':')));
      bad_field(0, field, field == FieldId::kOther ? "the head is too long" : "the head is too long here");
      return fail(Parse::kTooLarge, request ? 431 : 502, reason());
    }
    case HeadScanner::Found::kNotYet:
    case HeadScanner::Found::kHead:
      break;
  }
  return Parse::kNeedMore;
}

Parse RequestHeadParser::parse(std::string_view buffer, http::RequestHead& out) {
  const HeadScanner::Found found = scanner_.scan(buffer, true);
  // Something that is not HTTP at all (TLS, for one) may never send a line feed.
  const std::size_t start = scanner_.start();
  if (start < buffer.size() && !http::is_tchar(buffer[start]) && buffer[start] != '\r' && buffer[start] != '\n') {
    return bad(400, "the request line does not begin with a method");
  }
  if (found == HeadScanner::Found::kNotYet) return Parse::kNeedMore;
  if (found != HeadScanner::Found::kHead) return scan_failed(found, buffer, true);

  const std::string_view head = buffer.substr(start, scanner_.end() - start);
  out.clear();
  BeastParser<true, http::RequestHead> parser(out);
  error_code error;
  parser.put(boost::asio::const_buffer(head.data(), head.size()), error);
  if (error) {
    const Wrong wrong = parser.start_line_done()
                            ? wrong_field(line_of(head, out.fields.size() + 1), out.fields, error)
                            : wrong_request_line(line_of(head, 0), error);
    out.clear();
    return wrong.in_field ? bad_field(wrong.status, wrong.field, wrong.what) : bad(wrong.status, wrong.what);
  }
  const Parse result = check(out);
  if (result != Parse::kDone) out.clear();
  return result;
}

Parse RequestHeadParser::check(http::RequestHead& out) {
  const http::Target target = http::parse_target(out.method, out.target);
  if (!target.ok()) return bad(target.status, target.reason);
  out.path = target.path;
  out.query = target.query;

  const http::Field* host = nullptr;
  ConnectionOptions connection;
  bool expect_continue = false;
  for (const http::Field& field : out.fields) {
    switch (field.id) {
      case FieldId::kHost:
        if (host != nullptr) return bad_field(400, FieldId::kHost, "it is present more than once");
        host = &field;
        break;
      case FieldId::kConnection:
        connection.read(field.value);
        break;
      case FieldId::kExpect:
        if (!http::equal_nocase(field.value, "100-continue")) {
          return bad_field(417, FieldId::kExpect, "only 100-continue can be expected");
        }
        expect_continue = true;
        break;
      default:
        break;
    }
  }
  if (host == nullptr && out.version == Version::kHttp11) return bad_field(400, FieldId::kHost, "it is missing");
  if (host != nullptr && !out.authority.parse(host->value)) {
    return bad_field(400, FieldId::kHost, "it is not a host with an optional port");
  }
  if (connection.count > kConnectionOptionsMax) return bad_field(400, FieldId::kConnection, kTooManyOptions);
  out.keep_alive = connection.persistent(out.version);

  const http::FramingResult framing = http::request_framing(out.fields, out.version);
  if (!framing.ok()) return bad(framing.status, framing.reason);
  out.framing = framing.framing;
  // Without content there is nothing to hold back, and HTTP/1.0 knows no interim responses.
  const bool has_content = out.framing.kind == http::Framing::kChunked || out.framing.length != 0;
  out.expect_continue = expect_continue && has_content && out.version == Version::kHttp11;
  return Parse::kDone;
}

Parse ResponseHeadParser::parse(std::string_view buffer, http::ResponseHead& out) {
  const HeadScanner::Found found = scanner_.scan(buffer, false);
  constexpr std::string_view kBegin = "HTTP/1.";
  if (buffer.substr(0, kBegin.size()) != kBegin.substr(0, std::min(buffer.size(), kBegin.size()))) {
    return bad(502, "the response does not begin with HTTP/1.");
  }
  if (found == HeadScanner::Found::kNotYet) return Parse::kNeedMore;
  if (found != HeadScanner::Found::kHead) return scan_failed(found, buffer, false);

  const std::string_view head = buffer.substr(0, scanner_.end());
  out.clear();
  BeastParser<false, http::ResponseHead> parser(out);
  error_code error;
  parser.put(boost::asio::const_buffer(head.data(), head.size()), error);
  if (error) {
    const Wrong wrong = parser.start_line_done()
                            ? wrong_field(line_of(head, out.fields.size() + 1), out.fields, error)
                            : wrong_status_line(line_of(head, 0));
    out.clear();
    return wrong.in_field ? bad_field(502, wrong.field, wrong.what) : bad(502, wrong.what);
  }
  const Parse result = check(out);
  if (result != Parse::kDone) out.clear();
  return result;
}

Parse ResponseHeadParser::check(http::ResponseHead& out) {
  if (out.status < 100) return bad(502, "the status code is below 100");
  ConnectionOptions connection;
  for (const http::Field& field : out.fields) {
    if (field.id == FieldId::kConnection) connection.read(field.value);
  }
  if (connection.count > kConnectionOptionsMax) return bad_field(502, FieldId::kConnection, kTooManyOptions);
  const http::FramingResult framing = http::response_framing(out.fields, out.version, out.status, request_method_);
  if (!framing.ok()) return bad(502, framing.reason);
  out.framing = framing.framing;
  out.keep_alive = connection.persistent(out.version) && framing.keep_alive;
  return Parse::kDone;
}

}  // namespace telltale::http1
