// SPDX-License-Identifier: Apache-2.0
#pragma once

// The printers: the only way for HTTP fields, field blocks, URLs, targets and request lines into a
// record, a message or an error text. `Dbg(http_dbg, "got {}", print_field(f))` masks secrets as
// redact.h says, while the arguments are copied.
//
// A printer holds a pointer or a view: use it in the expression that makes it. Formatting allocates
// nothing and ends cleanly wherever the caller's buffer does, since a secret is never written at all.
//
// **Thread safety:** thread-compatible, like what they print.
// **Source:** spec/redaction.md.

#include <string_view>

#include <fmt/core.h>

#include <telltale/diag/argument.h>

#include "http/authority.h"
#include "http/fields.h"
#include "http/redact.h"
#include "http/request_head.h"
#include "http/response_head.h"

namespace telltale::http {

struct FieldPrinter { const Field* field; };
struct FieldsPrinter { const Fields* fields; };
struct UrlPrinter { std::string_view url; Mask mask; };
struct RequestLinePrinter { const RequestHead* head; };
struct StatusLinePrinter { const ResponseHead* head; };
struct AuthorityPrinter { const Authority* authority; };

// `Name: value`
inline FieldPrinter print_field(const Field& field) { return {&field}; }
// `Name: value | Name: value`, in order; nothing for no fields.
inline FieldsPrinter print_fields(const Fields& fields) { return {&fields}; }
inline UrlPrinter print_url(std::string_view url, Mask mask = Mask::kSecrets) { return {url, mask}; }
// A request target in any form, also one that was refused.
inline UrlPrinter print_target(std::string_view target, Mask mask = Mask::kSecrets) { return {target, mask}; }
// `GET /a?token=[redacted] HTTP/1.1`
inline RequestLinePrinter print_request_line(const RequestHead& head) { return {&head}; }
// `HTTP/1.1 200 OK`
inline StatusLinePrinter print_status_line(const ResponseHead& head) { return {&head}; }
// `example.com`, `example.com:8080`, `[::1]:8080`: the port where it is not 80; `-` for none.
inline AuthorityPrinter print_authority(const Authority& authority) { return {&authority}; }

// What the formatters share: they take no format specification.
template <class Printer>
struct PlainFormatter {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  fmt::appender format(const Printer& printer, fmt::format_context& context) const;
};

}  // namespace telltale::http

// A field block may take more of a record than another argument.
template <>
inline constexpr std::size_t telltale::diag::eager_bytes_max<telltale::http::FieldsPrinter> = 16 * 1024;

template <> struct fmt::formatter<telltale::http::FieldPrinter> : telltale::http::PlainFormatter<telltale::http::FieldPrinter> {};
template <> struct fmt::formatter<telltale::http::FieldsPrinter> : telltale::http::PlainFormatter<telltale::http::FieldsPrinter> {};
template <> struct fmt::formatter<telltale::http::UrlPrinter> : telltale::http::PlainFormatter<telltale::http::UrlPrinter> {};
template <> struct fmt::formatter<telltale::http::RequestLinePrinter> : telltale::http::PlainFormatter<telltale::http::RequestLinePrinter> {};
template <> struct fmt::formatter<telltale::http::StatusLinePrinter> : telltale::http::PlainFormatter<telltale::http::StatusLinePrinter> {};
template <> struct fmt::formatter<telltale::http::AuthorityPrinter> : telltale::http::PlainFormatter<telltale::http::AuthorityPrinter> {};
