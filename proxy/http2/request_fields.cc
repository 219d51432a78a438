// SPDX-License-Identifier: Apache-2.0
#include "http2/request_fields.h"

#include <algorithm>

#include "http/target.h"

namespace telltale::http2 {
namespace {

using http::FieldId;

constexpr std::size_t kFieldOverhead = 32;  // RFC 9113 section 6.5.2

std::string_view view(nghttp2_rcbuf* buffer) {
  const nghttp2_vec bytes = nghttp2_rcbuf_get_buf(buffer);
  return {reinterpret_cast<const char*>(bytes.base), bytes.len};
}

}  // namespace

void RequestFields::clear() noexcept {
  for (nghttp2_rcbuf* buffer : kept_) nghttp2_rcbuf_decref(buffer);
  kept_.clear();
  path_ = authority_ = scheme_ = {};
  cookies_.clear();
  bytes_ = 0;
  cookie_fields_ = 0;
  has_authority_ = too_large_ = false;
}

// Names of the static table are never freed, so they need no count.
void RequestFields::keep(nghttp2_rcbuf* buffer) {
  if (nghttp2_rcbuf_is_static(buffer) != 0) return;
  nghttp2_rcbuf_incref(buffer);
  kept_.push_back(buffer);
}

void RequestFields::add(nghttp2_rcbuf* name_buffer, nghttp2_rcbuf* value_buffer, const FieldLimits& limits,
                        http::RequestHead& out) {
  const std::string_view name = view(name_buffer);
  const std::string_view value = view(value_buffer);
  bytes_ += name.size() + value.size() + kFieldOverhead;
  const bool pseudo = name.front() == ':';
  if (too_large_ || bytes_ > limits.bytes_max || (!pseudo && out.fields.size() >= limits.fields_max)) {
    too_large_ = true;
    return;
  }
  keep(value_buffer);
  if (pseudo) {
    if (name == ":method") {
      out.method_text = value;
    } else if (name == ":path") {
      path_ = value;
    } else if (name == ":authority") {
      authority_ = value;
      has_authority_ = true;
    } else if (name == ":scheme") {
      scheme_ = value;
    }
    return;
  }
  keep(name_buffer);
  const FieldId id = http::field_id(name);
  if (id == FieldId::kCookie) cookie_fields_ = static_cast<std::uint8_t>(std::min(cookie_fields_ + 1, 2));
  out.fields.add({id, name, value});
}

// Over HTTP/2 a Cookie field may come in crumbs; HTTP/1.1 knows one field only.
void RequestFields::join_cookies(http::RequestHead& out) {
  for (const http::Field& field : out.fields) {
    if (field.id != FieldId::kCookie) continue;
    if (!cookies_.empty()) cookies_ += "; ";
    cookies_ += field.value;
  }
  out.fields.remove(FieldId::kCookie);
  out.fields.add({FieldId::kCookie, "cookie", cookies_});
}

Refused RequestFields::finish(bool content, http::RequestHead& out) {
  out.version = http::Version::kHttp2;
  out.method = http::method_from(out.method_text);
  out.target = path_;
  if (too_large_) return {431, "the field section is too large"};
  const http::Target target = http::parse_target(out.method, path_);
  if (!target.ok()) return {target.status, target.reason};
  out.path = target.path;
  out.query = target.query;
  if (scheme_ != "http" && scheme_ != "https") return {400, "the scheme is neither http nor https"};

  const http::Field* host = nullptr;
  bool expects = false;
  for (const http::Field& field : out.fields) {
    if (field.id == FieldId::kHost) {
      if (host != nullptr) return {400, "field Host: it is present more than once", true};
      host = &field;
    } else if (field.id == FieldId::kExpect) {
      if (!http::equal_nocase(field.value, "100-continue"))
        return {417, "field Expect: only 100-continue can be expected"};
      expects = true;
    }
  }
  if (!has_authority_ && host == nullptr) return {400, "neither :authority nor Host is present", true};
  if (!out.authority.parse(has_authority_ ? authority_ : host->value)) {
    return {400, "the authority is not a host with an optional port"};
  }
  if (has_authority_) {
    http::Authority named;
    if (host != nullptr && (!named.parse(host->value) || named != out.authority)) {
      return {400, ":authority and Host name different hosts", true};
    }
    if (host == nullptr) out.fields.add({FieldId::kHost, "host", authority_});
  }
  if (cookie_fields_ > 1) join_cookies(out);

  const http::FramingResult framing = http::request_framing(out.fields, out.version);
  if (!framing.ok()) return {framing.status, framing.reason, true};
  out.framing = framing.framing;
  // Without a length the content ends with the stream; towards the origin that is chunked.
  if (content && out.framing.kind == http::Framing::kNone) out.framing.kind = http::Framing::kChunked;
  out.expect_continue = expects && content;
  return {};
}

}  // namespace telltale::http2
