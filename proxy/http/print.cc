// SPDX-License-Identifier: Apache-2.0
#include "http/print.h"

#include <algorithm>

#include "http/append_text.h"
#include "http/redaction.h"

namespace telltale::http {
namespace {

fmt::appender write_field(fmt::appender out, const Field& field) {
  out = append_text(out, field.name);
  out = append_text(out, ": ");
  return write_redacted(out, secrecy_of(field.id, field.name, field.value), field.value);
}

}  // namespace

template <>
fmt::appender PlainFormatter<FieldPrinter>::format(const FieldPrinter& printer, fmt::format_context& context) const {
  return write_field(context.out(), *printer.field);
}

template <>
fmt::appender PlainFormatter<FieldsPrinter>::format(const FieldsPrinter& printer, fmt::format_context& context) const {
  fmt::appender out = context.out();
  bool first = true;
  for (const Field& field : *printer.fields) {
    if (!first) out = append_text(out, " | ");
    first = false;
    out = write_field(out, field);
  }
  return out;
}

template <>
fmt::appender PlainFormatter<UrlPrinter>::format(const UrlPrinter& printer, fmt::format_context& context) const {
  return write_url(context.out(), printer.url, printer.mask);
}

template <>
fmt::appender PlainFormatter<RequestLinePrinter>::format(const RequestLinePrinter& printer,
                                                         fmt::format_context& context) const {
  const RequestHead& head = *printer.head;
  fmt::appender out = append_text(context.out(), head.method_text);
  out = append_text(out, " ");
  out = write_url(out, head.target, Mask::kSecrets);
  out = append_text(out, " ");
  return append_text(out, version_text(head.version));
}

template <>
fmt::appender PlainFormatter<StatusLinePrinter>::format(const StatusLinePrinter& printer,
                                                        fmt::format_context& context) const {
  const ResponseHead& head = *printer.head;
  fmt::appender out = append_text(context.out(), version_text(head.version));
  out = fmt::format_to(out, FMT_COMPILE(" {}"), head.status);
  if (head.reason.empty()) return out;
  out = append_text(out, " ");
  return append_text(out, head.reason);
}

template <>
fmt::appender PlainFormatter<AuthorityPrinter>::format(const AuthorityPrinter& printer,
                                                       fmt::format_context& context) const {
  const Authority& authority = *printer.authority;
  fmt::appender out = context.out();
  if (authority.empty()) return append_text(out, "-");
  if (authority.is_ipv6()) out = append_text(out, "[");
  out = append_text(out, authority.host());
  if (authority.is_ipv6()) out = append_text(out, "]");
  if (authority.port() != Authority::kDefaultPort) out = fmt::format_to(out, FMT_COMPILE(":{}"), authority.port());
  return out;
}

template <>
fmt::appender PlainFormatter<CookiePrinter>::format(const CookiePrinter& printer, fmt::format_context& context) const {
  return write_redacted(context.out(), printer.set ? Secrecy::kSetCookie : Secrecy::kCookie, printer.value);
}

template <>
fmt::appender PlainFormatter<BodyPrinter>::format(const BodyPrinter& printer, fmt::format_context& context) const {
  fmt::appender out = context.out();
  if (const std::size_t most = body_bytes_shown(); most != 0 && !printer.bytes.empty()) {
    const std::size_t shown = diag::argument_detail::cut(printer.bytes, most);
    out = append_text(out, printer.bytes.substr(0, shown));
    return shown == printer.bytes.size() ? out : append_text(out, "...");
  }
  if (printer.hidden && !secrets_shown()) return append_text(out, kRedacted);
  out = fmt::format_to(out, FMT_COMPILE("<body {} bytes"), printer.bytes.size());
  // Parameters may hold anything; a media type alone is two tokens.
  const std::string_view type = printer.type.substr(0, printer.type.find_first_of("; \t"));
  const std::size_t slash = type.find('/');
  if (slash != std::string_view::npos && type.size() <= 100 && is_token(type.substr(0, slash)) && is_token(type.substr(slash + 1))) {
    out = append_text(append_text(out, " "), type);
  }
  return append_text(out, ">");
}

namespace {

// `auth.key`, `proxy.config.x.api_token`: one of its parts is the name of a secret.
bool is_secret_setting(std::string_view name) {
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('.'), name.size());
    if (is_secret_key(name.substr(0, end))) return true;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return false;
}

}  // namespace

template <>
fmt::appender PlainFormatter<CommandPrinter>::format(const CommandPrinter& printer, fmt::format_context& context) const {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::string_view command = printer.command;
  fmt::appender out = context.out();
  if (secrets_shown()) return append_text(out, command);
  for (std::size_t begin = 0; (begin = command.find_first_not_of(kBlanks, begin)) != std::string_view::npos;) {
    std::size_t end = std::min(command.find_first_of(" \t\r\n=", begin), command.size());
    if (is_secret_setting(command.substr(begin, end - begin))) {
      const std::size_t value = command.find_first_not_of(" \t\r\n=", end);
      if (value == std::string_view::npos) break;
      return append_text(append_text(out, command.substr(0, value)), kRedacted);
    }
    begin = end == begin ? end + 1 : end;
  }
  return append_text(out, command);
}

}  // namespace telltale::http
