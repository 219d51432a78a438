// SPDX-License-Identifier: Apache-2.0
//
// A request that arrives whole is read in one pass. Whatever that pass does not take, be it unfinished or wrong,
// goes to the scanner, which knows the limits and never looks at a byte twice, and is read again once its end is
// there: so slow or broken requests pay, and no byte is read more often than three times, whatever the reads.
//
// Where the pass stopped, only the field's name is looked at, to say which one is wrong; values never get into a
// message.
#include "http1/head_parser.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "http/target.h"
#include "http1/head_reasons.h"

namespace telltale::http1 {

using http::FieldId;
using http::Version;

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
  out.clear();
  if (scanner_.fresh()) {
    RequestFacts facts;
    const RequestReading reading = read_request_head(buffer, scanner_.limits().fields_max, out, facts);
    if (reading.state == RequestReading::kDone && reading.end <= scanner_.limits().bytes_max) [[likely]] {
      scanner_.set_end(reading.end);
      return finish(facts, out);
    }
    out.clear();
  }

  const HeadScanner::Found found = scanner_.scan(buffer, true);
  // Something that is not HTTP at all (TLS, for one) may never send a line feed.
  const std::size_t start = scanner_.start();
  if (start < buffer.size() && !http::is_tchar(buffer[start]) && buffer[start] != '\r' && buffer[start] != '\n') {
    constexpr char kTlsHandshake = 0x16;
    return bad(400, buffer[start] == kTlsHandshake ? "this is TLS, which is not spoken here"
                                                   : "the request line does not begin with a method");
  }
  if (found == HeadScanner::Found::kNotYet) return Parse::kNeedMore;
  if (found != HeadScanner::Found::kHead) return scan_failed(found, buffer, true);

  const std::string_view head = buffer.substr(start, scanner_.end() - start);
  RequestFacts facts;
  const RequestReading reading = read_request_head(head, scanner_.limits().fields_max, out, facts);
  if (reading.state == RequestReading::kDone) return finish(facts, out);
  const Parse result = explain(head, reading, out);
  out.clear();
  return result;
}

// Why the pass stopped in the line that begins at reading.line.
Parse RequestHeadParser::explain(std::string_view head, const RequestReading& reading, const http::RequestHead& out) {
  std::string_view line = head.substr(reading.line);
  line = line.substr(0, line.find('\r'));
  if (reading.state == RequestReading::kShort || reading.fault <= RequestFault::kVersion) {
    line = head.substr(0, head.find('\r'));
    const std::size_t space = line.rfind(' ');
    if (space != std::string_view::npos && has_other_version(line.substr(space + 1))) return bad(505, kOtherVersion);
    if (reading.fault == RequestFault::kMethod) {
      return bad(400, "the request line does not begin with a method and a space");
    }
    if (reading.fault == RequestFault::kTarget) return bad(400, "the request target is empty or holds a control byte");
    return bad(400, "the request line does not end in an HTTP version");
  }
  bad_field_number_ = out.fields.size() + 1;
  const std::size_t colon = line.find(':');
  const bool named = colon != std::string_view::npos;
  const FieldId field = named ? http::field_id(http::trim_ows(line.substr(0, colon))) : FieldId::kOther;
  switch (reading.fault) {
    case RequestFault::kName:
      return bad_field(400, field, named ? kBadName : kNoColon);
    case RequestFault::kNotTokens:
      return bad_field(400, field, kNoTokenList);
    case RequestFault::kLength:
      return bad_field(400, field, kNoNumber);
    case RequestFault::kFraming:
      return bad_field(400, field, out.fields.find(field) != nullptr ? kTwice : kBothFramings);
    default:
      return bad_field(400, field, kControlByte);
  }
}

// What the head means, and whether we serve such a request.
Parse RequestHeadParser::finish(const RequestFacts& facts, http::RequestHead& out) {
  const auto refuse = [&out](Parse result) {
    out.clear();
    return result;
  };
  std::optional<http::AbsoluteTarget> absolute;
  if (facts.plain_target && out.target.front() == '/' && out.method != http::Method::kConnect) [[likely]] {
    out.path = out.target.substr(0, facts.question);
    if (facts.question != std::string_view::npos) out.query = out.target.substr(facts.question + 1);
  } else if (facts.plain_target && out.method != http::Method::kConnect &&
             (absolute = http::split_absolute_target(out.target))) {
    if (!http::equal_nocase(absolute->scheme, "http")) {
      return refuse(bad(400, "the scheme of the request target is not http"));
    }
    out.target = absolute->rest;
    const std::size_t question = out.target.find('?');
    out.path = out.target.substr(0, question);
    if (question != std::string_view::npos) out.query = out.target.substr(question + 1);
  } else {
    const http::Target target = http::parse_target(out.method, out.target);
    if (!target.ok()) return refuse(bad(target.status, target.reason));
    out.path = target.path;
    out.query = target.query;
  }

  if (facts.refused != RequestFacts::Refused::kNothing) {
    return refuse(facts.refused == RequestFacts::Refused::kSecondHost
                      ? bad_field(400, FieldId::kHost, kTwice)
                      : bad_field(417, FieldId::kExpect, "only 100-continue can be expected"));
  }
  if (facts.host == nullptr) {
    if (out.version == Version::kHttp11) return refuse(bad_field(400, FieldId::kHost, "it is missing"));
  } else if (!out.authority.parse({facts.host, facts.host_size})) {
    return refuse(bad_field(400, FieldId::kHost, "it is not a host with an optional port"));
  }
  if (absolute) {  // RFC 9112 section 3.2.2: it overrides Host, and goes on in its place
    if (!out.authority.parse(absolute->authority)) {
      return refuse(bad(400, "the authority of the request target is not a host with an optional port"));
    }
    out.fields.set_copy("Host", absolute->authority);
  }
  if (facts.options > kConnectionOptionsMax) return refuse(bad_field(400, FieldId::kConnection, kTooManyOptions));
  out.keep_alive = !facts.close && (out.version == Version::kHttp11 || facts.keep_alive);  // RFC 9112 section 9.3

  if (facts.coding != nullptr) {
    const http::FramingResult framing = http::request_framing(out.fields, out.version);
    if (!framing.ok()) return refuse(bad(framing.status, framing.reason));
    out.framing = framing.framing;
  } else if (facts.has_length) {
    out.framing = {http::Framing::kLength, facts.length};
  }
  // Without content there is nothing to hold back, and HTTP/1.0 knows no interim responses.
  const bool has_content = out.framing.kind == http::Framing::kChunked || out.framing.length != 0;
  out.expect_continue = facts.expects && has_content && out.version == Version::kHttp11;
  return Parse::kDone;
}

}  // namespace telltale::http1
