// SPDX-License-Identifier: Apache-2.0
#include "http/print_dump.h"

#include <algorithm>

#include "http/append_text.h"
#include "http/redaction.h"
#include "http/status.h"

namespace telltale::http {
namespace {

// A line end within a name or value would begin a line of the dump: it is written as an escape.
fmt::appender append_one_line(fmt::appender out, std::string_view text) {
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    out = append_text(append_text(out, text.substr(0, end)), "\\n");
  }
  return append_text(out, text);
}

// What a field of a sensitive path may show: how the message is framed and what kind of content it has.
bool is_basic(FieldId id) {
  switch (id) {
    case FieldId::kHost:
    case FieldId::kConnection:
    case FieldId::kContentLength:
    case FieldId::kTransferEncoding:
    case FieldId::kTe:
    case FieldId::kUpgrade:
    case FieldId::kKeepAlive:
    case FieldId::kExpect:
    case FieldId::kVia:
    case FieldId::kCacheControl:
    case FieldId::kPragma:
    case FieldId::kAge:
    case FieldId::kDate:
    case FieldId::kExpires:
    case FieldId::kVary:
    case FieldId::kContentType:
    case FieldId::kContentEncoding:
    case FieldId::kAccept:
    case FieldId::kAcceptEncoding:
    case FieldId::kAcceptLanguage:
    case FieldId::kServer:
    case FieldId::kUserAgent:
    case FieldId::kAllow:
    case FieldId::kRetryAfter: return true;
    default: return false;
  }
}

class Writer {
 public:
  Writer(fmt::appender out, Direction direction, std::string_view target)
      : out_(out), direction_(direction_words(direction)), sensitive_(is_sensitive_path(target) && !secrets_shown()) {}

  void begin_line() {
    if (any_) out_ = append_text(out_, "\n");
    any_ = true;
    out_ = append_text(append_text(out_, direction_), ": ");
  }
  void say(std::string_view text) { out_ = append_one_line(out_, text); }
  void url(std::string_view text) {
    out_ = text.find('\n') == std::string_view::npos ? write_url(out_, text, Mask::kSecrets) : append_text(out_, kRedacted);
  }
  void field(FieldId id, std::string_view name, std::string_view value) {
    begin_line();
    say(name);
    say(": ");
    const Secrecy secrecy = sensitive_ && !is_basic(id) ? Secrecy::kWhole : secrecy_of(id, name, value);
    if (value.find('\n') == std::string_view::npos) {
      out_ = write_redacted(out_, secrecy, value);
    } else {
      say(secrecy == Secrecy::kPlain || secrets_shown() ? value : kRedacted);
    }
  }
  void fields(const Fields& all) {
    for (const Field& one : all) field(one.id, one.name, one.value);
  }
  void status_line(Version version, std::uint16_t status, std::string_view reason) {
    begin_line();
    say(version_text(version));
    out_ = fmt::format_to(out_, FMT_COMPILE(" {}"), status);
    // HTTP/2 has none; one of a sensitive path may repeat what was sent.
    if (version == Version::kHttp2) return;
    if (reason.empty() || sensitive_) reason = reason_phrase(status);
    if (reason.empty()) return;
    say(" ");
    say(reason);
  }
  bool sensitive() const { return sensitive_; }
  fmt::appender out() const { return out_; }

 private:
  fmt::appender out_;
  std::string_view direction_;
  bool sensitive_, any_ = false;
};

// "GET /a HTTP/1.1", "HTTP/1.1 200 OK"
void start_line(Writer& writer, Direction direction, std::string_view line) {
  writer.begin_line();
  if (direction == Direction::kOriginResponse || direction == Direction::kClientResponse) {
    const std::size_t reason = std::min<std::size_t>(line.size(), 13);
    return writer.say(writer.sensitive() ? line.substr(0, reason - (reason == 13)) : line);
  }
  const std::size_t method = line.find(' '), version = line.rfind(' ');
  if (method == std::string_view::npos || version <= method) return writer.say(kRedacted);
  writer.say(line.substr(0, method + 1));
  writer.url(line.substr(method + 1, version - method - 1));
  writer.say(line.substr(version));
}

}  // namespace

std::string_view direction_words(Direction direction) {
  switch (direction) {
    case Direction::kClientRequest: return "client request";
    case Direction::kOriginRequest: return "origin request";
    case Direction::kOriginResponse: return "origin response";
    case Direction::kClientResponse: break;
  }
  return "client response";
}

template <>
fmt::appender PlainFormatter<RequestDump>::format(const RequestDump& dump, fmt::format_context& context) const {
  const RequestHead& head = *dump.head;
  Writer writer(context.out(), dump.direction, head.target);
  writer.begin_line();
  writer.say(head.method_text);
  writer.say(" ");
  writer.url(head.target);
  writer.say(" ");
  writer.say(version_text(head.version));
  writer.fields(head.fields);
  return writer.out();
}

template <>
fmt::appender PlainFormatter<ResponseDump>::format(const ResponseDump& dump, fmt::format_context& context) const {
  Writer writer(context.out(), dump.direction, dump.target);
  writer.status_line(dump.version, dump.status, dump.reason);
  for (const Field& one : *dump.fields) {
    // Framing is each side's own, and HTTP/2 has no fields of the connection.
    const bool own = dump.version == Version::kHttp2 && (one.id == FieldId::kContentLength || is_hop_by_hop(one.id));
    if (!own) writer.field(one.id, one.name, one.value);
  }
  for (const Field& one : dump.more) {
    if (!one.name.empty()) writer.field(one.id, one.name, one.value);
  }
  return writer.out();
}

template <>
fmt::appender PlainFormatter<WireDump>::format(const WireDump& dump, fmt::format_context& context) const {
  Writer writer(context.out(), dump.direction, dump.target);
  bool first = true;
  for (std::string_view piece : {dump.head, dump.rest}) {
    while (!piece.empty()) {
      const std::size_t end = std::min(piece.find("\r\n"), piece.size());
      const std::string_view line = piece.substr(0, end);
      piece.remove_prefix(std::min(end + 2, piece.size()));
      if (line.empty()) continue;
      const std::size_t colon = line.find(':');
      if (first) {
        start_line(writer, dump.direction, line);
      } else if (colon == std::string_view::npos) {
        writer.begin_line();
        writer.say(kRedacted);
      } else {
        const std::string_view name = line.substr(0, colon);
        writer.field(field_id(name), name, trim_ows(line.substr(colon + 1)));
      }
      first = false;
    }
  }
  return writer.out();
}

}  // namespace telltale::http
