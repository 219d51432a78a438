// SPDX-License-Identifier: Apache-2.0
#include "http/print.h"

#include "http/append_text.h"

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

}  // namespace telltale::http
