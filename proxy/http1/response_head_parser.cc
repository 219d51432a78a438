// SPDX-License-Identifier: Apache-2.0
//
// The scanner waits until the head is complete; then a Beast parser is made on the stack, given the whole head at
// once, and thrown away. So Beast keeps no state between reads, allocates nothing, and never has to resume. Its
// parser is told to skip the content: chunks are decoded by chunk_decoder.h.
//
// Where Beast refuses, the line it stopped at is the one after the fields it has delivered. Only its name is looked
// at, to say which field is wrong; values never get into a message.
#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>

#include "http1/head_parser.h"
#include "http1/head_reasons.h"

namespace telltale::http1 {
namespace {

namespace beast = boost::beast::http;
using boost::beast::error_code;
using http::FieldId;
using http::Version;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

// Beast's parser with callbacks that fill a ResponseHead.
class BeastParser final : public beast::basic_parser<false> {
 public:
  explicit BeastParser(http::ResponseHead& head) : head_(head) {
    header_limit(std::numeric_limits<std::uint32_t>::max());  // ours is the scanner's
    body_limit(boost::none);
    skip(true);
  }
  bool start_line_done() const { return start_line_done_; }

 private:
  void on_request_impl(beast::verb, boost::beast::string_view, boost::beast::string_view, int, error_code&) override {}
  void on_response_impl(int status, boost::beast::string_view reason, int version, error_code&) override {
    head_.status = static_cast<std::uint16_t>(status);
    head_.reason = view(reason);
    head_.version = version == 10 ? Version::kHttp10 : Version::kHttp11;
    start_line_done_ = true;
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

  http::ResponseHead& head_;
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

struct Wrong {
  FieldId field = FieldId::kOther;
  std::string_view what;
};

Wrong wrong_field(std::string_view line, const http::Fields& before, error_code error) {
  const std::size_t colon = line.find(':');
  const FieldId field =
      colon == std::string_view::npos ? FieldId::kOther : http::field_id(http::trim_ows(line.substr(0, colon)));
  Wrong wrong;
  wrong.field = field;
  if (error == beast::error::bad_field) {
    wrong.what = colon == std::string_view::npos ? kNoColon : kBadName;
  } else if (error == beast::error::bad_content_length || error == beast::error::multiple_content_length ||
             error == beast::error::bad_transfer_encoding) {
    const bool both =
        before.find(field == FieldId::kContentLength ? FieldId::kTransferEncoding : FieldId::kContentLength) != nullptr;
    const bool again = before.find(field) != nullptr;
    wrong.what = both ? kBothFramings : again ? kTwice : kNoNumber;
  } else if (error == beast::error::bad_value && std::none_of(line.begin(), line.end(), http::is_control)) {
    wrong.what = kNoTokenList;
  } else {
    wrong.what = kControlByte;
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

}  // namespace

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
  BeastParser parser(out);
  error_code error;
  parser.put(boost::asio::const_buffer(head.data(), head.size()), error);
  if (error) {
    if (!parser.start_line_done()) {
      out.clear();
      const std::string_view line = line_of(head, 0);
      return bad(502,
                 has_other_version(line.substr(0, line.find(' '))) ? kOtherVersion : "the status line is malformed");
    }
    const Wrong wrong = wrong_field(line_of(head, out.fields.size() + 1), out.fields, error);
    out.clear();
    return bad_field(502, wrong.field, wrong.what);
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
