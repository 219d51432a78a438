// SPDX-License-Identifier: Apache-2.0
#include "http1/head_writer.h"

#include <charconv>

#include "http/status.h"

namespace telltale::http1 {
namespace {

using http::Framing;

template <class Sink>
void append_number(Sink& out, std::uint64_t value) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(std::string_view(digits, static_cast<std::size_t>(end - digits)));
}

template <class Sink>
void append_fields(Sink& out, const http::Fields& fields) {
  for (const http::Field& field : fields) {
    if (field.id == http::FieldId::kContentLength || field.id == http::FieldId::kTransferEncoding ||
        field.id == http::FieldId::kConnection) {
      continue;
    }
    out.append(field.name);
    out.append(std::string_view(": "));
    out.append(field.value);
    out.append(std::string_view("\r\n"));
  }
}

template <class Sink>
void append_content_length(Sink& out, std::uint64_t length) {
  out.append(std::string_view("Content-Length: "));
  append_number(out, length);
  out.append(std::string_view("\r\n"));
}

template <class Sink>
void append_end(Sink& out, Framing framing, ConnectionField connection) {
  if (framing.kind == Framing::kLength || (framing.kind == Framing::kNone && framing.announced)) {
    append_content_length(out, framing.length);
  } else if (framing.kind == Framing::kChunked) {
    out.append(std::string_view("Transfer-Encoding: chunked\r\n"));
  }
  if (connection == ConnectionField::kClose) out.append(std::string_view("Connection: close\r\n"));
  if (connection == ConnectionField::kKeepAlive) out.append(std::string_view("Connection: keep-alive\r\n"));
  out.append(std::string_view("\r\n"));
}

template <class Sink>
void request_head(Sink& out, std::string_view method, std::string_view target, const http::Fields& fields,
                  Framing framing, ConnectionField connection) {
  out.append(method);
  out.append(std::string_view(" "));
  out.append(target);
  out.append(std::string_view(" HTTP/1.1\r\n"));
  append_fields(out, fields);
  framing.announced = false;
  append_end(out, framing, connection);
}

template <class Sink>
void status_line(Sink& out, std::uint16_t status, std::string_view reason) {
  out.append(std::string_view("HTTP/1.1 "));
  append_number(out, status);
  out.append(std::string_view(" "));
  out.append(reason.empty() ? http::reason_phrase(status) : reason);
  out.append(std::string_view("\r\n"));
}

template <class Sink>
void response_head(Sink& out, std::uint16_t status, std::string_view reason, const http::Fields& fields,
                   Framing framing, ConnectionField connection) {
  status_line(out, status, reason);
  append_fields(out, fields);
  if (status < 200 || status == 204) framing = {};
  append_end(out, framing, connection);
}

}  // namespace

void append_request_head(std::string& out, std::string_view method, std::string_view target,
                         const http::Fields& fields, Framing framing, ConnectionField connection) {
  request_head(out, method, target, fields, framing, connection);
}

void append_request_head(Out& out, std::string_view method, std::string_view target, const http::Fields& fields,
                         Framing framing, ConnectionField connection) {
  request_head(out, method, target, fields, framing, connection);
}

void append_response_head(std::string& out, std::uint16_t status, std::string_view reason,
                          const http::Fields& fields, Framing framing, ConnectionField connection) {
  response_head(out, status, reason, fields, framing, connection);
}

void append_response_head(Out& out, std::uint16_t status, std::string_view reason, const http::Fields& fields,
                          Framing framing, ConnectionField connection) {
  response_head(out, status, reason, fields, framing, connection);
}


}  // namespace telltale::http1
