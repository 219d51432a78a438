// SPDX-License-Identifier: Apache-2.0
#pragma once

// The printers: the only way for HTTP fields, field blocks, URLs, targets, request lines, cookies, bodies and
// commands into a record, a message or an error text. Whole heads: print_dump.h. `Dbg(http_dbg, "got {}", print_field(f))` masks secrets as
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
struct CookiePrinter { std::string_view value; bool set; };
struct BodyPrinter { std::string_view bytes, type; bool hidden; };
struct CommandPrinter { std::string_view command; };

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

// The value of a Cookie or Set-Cookie field: `sid=[redacted]; lang=[redacted]`, `sid=[redacted]; Path=/`
inline CookiePrinter print_cookie(std::string_view value) { return {value, false}; }
inline CookiePrinter print_set_cookie(std::string_view value) { return {value, true}; }
// `<body 1234 bytes application/json>`; where secrets are shown, as much of it as proxy.config.telltale.redact.body_limit
// says, cut at a UTF-8 boundary with `...` behind. `type`: the media type, which may be empty. `hidden`: of a
// sensitive path.
inline BodyPrinter print_body(std::string_view bytes, std::string_view type, bool hidden = false) { return {bytes, type, hidden}; }
// The Content-Type of a message; empty for none.
inline std::string_view media_type(const Fields& fields) {
  const Field* const type = fields.find(FieldId::kContentType);
  return type != nullptr ? type->value : std::string_view();
}
// A command with words: what follows the name of a secret is masked: `set auth.key [redacted]`.
inline CommandPrinter print_command(std::string_view command) { return {command}; }

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

// So may a body.
template <>
inline constexpr std::size_t telltale::diag::eager_bytes_max<telltale::http::BodyPrinter> = 16 * 1024;

template <> struct fmt::formatter<telltale::http::CookiePrinter> : telltale::http::PlainFormatter<telltale::http::CookiePrinter> {};
template <> struct fmt::formatter<telltale::http::BodyPrinter> : telltale::http::PlainFormatter<telltale::http::BodyPrinter> {};
template <> struct fmt::formatter<telltale::http::CommandPrinter> : telltale::http::PlainFormatter<telltale::http::CommandPrinter> {};
template <> struct fmt::formatter<telltale::http::FieldPrinter> : telltale::http::PlainFormatter<telltale::http::FieldPrinter> {};
template <> struct fmt::formatter<telltale::http::FieldsPrinter> : telltale::http::PlainFormatter<telltale::http::FieldsPrinter> {};
template <> struct fmt::formatter<telltale::http::UrlPrinter> : telltale::http::PlainFormatter<telltale::http::UrlPrinter> {};
template <> struct fmt::formatter<telltale::http::RequestLinePrinter> : telltale::http::PlainFormatter<telltale::http::RequestLinePrinter> {};
template <> struct fmt::formatter<telltale::http::StatusLinePrinter> : telltale::http::PlainFormatter<telltale::http::StatusLinePrinter> {};
template <> struct fmt::formatter<telltale::http::AuthorityPrinter> : telltale::http::PlainFormatter<telltale::http::AuthorityPrinter> {};
