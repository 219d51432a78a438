// SPDX-License-Identifier: Apache-2.0
#include "txn/stored_build.h"

#include <utility>

#include "cache/conditional.h"
#include "http1/head_writer.h"

namespace telltale::txn {
namespace {

using http::Framing;

// The fields as they are kept, and the head ready to send.
void finish(cache::StoredResponse& stored, const cache::Verdict& verdict, net::SteadyTime received_at) {
  cache::remove_unstored_fields(stored.fields);
  stored.always_validate = verdict.always_validate;
  stored.never_stale = verdict.never_stale;
  stored.selecting = verdict.selecting;
  stored.stored_at = received_at;
  stored.initial_age = verdict.initial_age;
  stored.lifetime = verdict.lifetime;
  stored.stale_if_error = verdict.stale_if_error;
  const Framing framing = stored.status == 204 ? Framing{} : Framing{Framing::kLength, stored.content.size()};
  http1::append_response_head(stored.http1_head, stored.status, stored.reason, stored.fields, framing,
                              http1::ConnectionField::kNone);
  stored.http1_head.resize(stored.http1_head.size() - 2);  // the empty line comes after Age
}

}  // namespace

NewStored build_stored(const http::ResponseHead& head, std::string content, const cache::Verdict& verdict,
                       net::SteadyTime received_at) {
  auto stored = std::make_shared<cache::StoredResponse>();
  stored->status = head.status;
  stored->reason = head.reason;
  stored->fields.copy_from(head.fields);
  stored->set_content(std::move(content));
  finish(*stored, verdict, received_at);
  return stored;
}

Freshened freshen_stored(const cache::StoredResponse& old, const http::RequestHead& request,
                         const http::ResponseHead& not_modified, const cache::Heuristic& heuristic, const FetchTimes& times) {
  http::ResponseHead merged;
  merged.status = old.status;
  merged.fields.copy_from(old.fields);
  cache::freshen(merged.fields, not_modified.fields);
  // A cookie speaks to this client; the content is what it was, and was stored already.
  merged.fields.remove(http::FieldId::kSetCookie);

  Freshened fresh{std::make_shared<cache::StoredResponse>(),
                  cache::may_keep(request, merged, heuristic, times.requested_at, times.received_at), {}, {}};
  fresh.stored->status = old.status;
  fresh.stored->reason = old.reason;
  fresh.stored->fields.copy_from(merged.fields);
  fresh.stored->content_owner = old.content_owner;
  fresh.stored->content = old.content;
  finish(*fresh.stored, fresh.verdict, times.received_steady);
  for (const http::Field& field : not_modified.fields) {
    const bool kept = field.id != http::FieldId::kOther ? fresh.stored->fields.find(field.id) != nullptr
                                                        : fresh.stored->fields.find(field.name) != nullptr;
    if (!kept && cache::may_freshen(field.id) && field.id != http::FieldId::kAge) fresh.for_client.add_copy(field.name, field.value);
  }
  if (not_modified.fields.find(http::FieldId::kAge) != nullptr) {
    fresh.age = cache::initial_age(not_modified.fields, times.requested_at, times.received_at);
  }
  return fresh;
}

}  // namespace telltale::txn
