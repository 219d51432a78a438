// SPDX-License-Identifier: Apache-2.0
#include "txn/invalidate.h"

#include <telltale/diag/dbg.h>

#include "cache/invalidation.h"
#include "http/print.h"

namespace telltale::txn {
namespace {

constexpr DbgCtl cache_dbg{"cache"};

using http::FieldId;

struct Change {
  WorkerState& state;
  const Runtime& runtime;
  const http::RequestHead& request;
  const remap::Mapping& rule;
  const Resource& resource;
};

void invalidate_named(const Change& change, const http::Field& field) {
  const auto named = cache::resolve_reference(field.value, change.resource.target);
  const http::Authority* authority = named ? &named->authority : nullptr;
  const remap::Mapping* rule = nullptr;
  if (authority != nullptr && (authority->empty() || (authority->host() == change.rule.to.host && authority->port() == change.rule.to.port))) {
    rule = &change.rule;  // the origin speaks of itself by its own name: the target is as it knows it
  }
  cache::KeyText text;
  if (rule != nullptr) {
    append_key_prefix(text, *rule, change.request, change.runtime.settings.pristine_host);
    text.append(named->target);
  } else if (authority != nullptr && *authority == change.request.authority) {  // by the name that the client used
    rule = change.runtime.remap->match("http", authority->host(), authority->port(), named->target);
    if (rule == nullptr) return;
    append_key_prefix(text, *rule, change.request, change.runtime.settings.pristine_host);
    rule->append_target(named->target, text);
  } else {
    Dbg(cache_dbg, "not invalidated, since it is not of the same origin: {}", http::print_field(field));
    return;
  }
  if (change.state.cache.invalidate(cache::cache_key(text.view()))) {
    Dbg(cache_dbg, "invalidated by {}: {}", change.request.method_text, http::print_field(field));
  }
}

}  // namespace

void invalidate_after(WorkerState& state, const Runtime& runtime, const http::RequestHead& request,
                      const http::ResponseHead& response, const remap::Mapping& rule, const Resource& resource) {
  if (state.cache.invalidate(resource.key)) {
    Dbg(cache_dbg, "{}{}: invalidated by {}", resource.authority, http::print_target(resource.target), request.method_text);
  }
  for (const http::Field& field : response.fields) {
    if (field.id == FieldId::kLocation || field.id == FieldId::kContentLocation) {
      invalidate_named({state, runtime, request, rule, resource}, field);
    }
  }
}

}  // namespace telltale::txn
