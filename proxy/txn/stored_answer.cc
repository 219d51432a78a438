// SPDX-License-Identifier: Apache-2.0
#include "txn/stored_answer.h"

#include <fmt/format.h>

#include <telltale/diag/dbg.h>

#include "cache/conditional.h"
#include "cache/range.h"
#include "http/print.h"

namespace telltale::txn {
namespace {

constexpr DbgCtl cache_dbg{"cache"};

using http::Field;
using http::FieldId;
using http::Framing;

void not_modified(StoredAnswer& answer, const http::RequestHead& request) {
  const Field* condition = request.fields.find(FieldId::kIfNoneMatch);
  if (condition == nullptr) condition = request.fields.find(FieldId::kIfModifiedSince);
  Dbg(cache_dbg, "the client has it already, answering 304: {}", http::print_field(*condition));
  answer.head.status = 304;
  answer.head.reason = {};
  answer.head.fields.remove_if([](const Field& field) { return !cache::belongs_into_304(field.id); });
  answer.head.framing = {};
  answer.content = {};
}

void part(StoredAnswer& answer, const cache::Range& range) {
  const std::size_t size = answer.content.size();
  Dbg(cache_dbg, "answering 206 with the bytes {} to {} of {}", range.begin, range.end - 1, size);
  answer.head.status = 206;
  answer.head.reason = {};
  answer.head.fields.add_copy("Content-Range", fmt::format("bytes {}-{}/{}", range.begin, range.end - 1, size));
  answer.content = answer.content.substr(range.begin, range.end - range.begin);
  answer.head.framing = {Framing::kLength, answer.content.size()};
}

void unsatisfiable(StoredAnswer& answer, std::size_t size) {
  Dbg(cache_dbg, "answering 416: the range is not within the {} bytes that are stored", size);
  answer.head.status = 416;
  answer.head.reason = {};
  // The fields are those of a response to something else, but for these.
  answer.head.fields.remove_if([](const Field& field) { return field.id != FieldId::kDate && field.id != FieldId::kVia; });
  answer.head.fields.add_copy("Content-Range", fmt::format("bytes */{}", size));
  answer.head.framing = {Framing::kLength, 0};
  answer.content = {};
}

}  // namespace

StoredAnswer stored_answer(const http::RequestHead& request, const cache::StoredResponse& stored,
                           std::optional<std::chrono::seconds> age) {
  StoredAnswer answer;
  answer.head.status = stored.status;
  answer.head.reason = stored.reason;
  answer.head.fields.copy_from(stored.fields);
  if (age) answer.head.fields.add_copy("Age", std::to_string(age->count()));
  answer.content = stored.content;
  answer.head.framing = {Framing::kLength, answer.content.size()};
  if (cache::client_has_it(request.fields, stored)) {
    not_modified(answer, request);
  } else if (request.method == http::Method::kGet) {
    const cache::Range range = cache::wanted_range(request.fields, stored);
    if (range.kind == cache::Range::kPart) part(answer, range);
    if (range.kind == cache::Range::kUnsatisfiable) unsatisfiable(answer, stored.content.size());
  }
  return answer;
}

}  // namespace telltale::txn
