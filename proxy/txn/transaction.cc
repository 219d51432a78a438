// SPDX-License-Identifier: Apache-2.0
#include "txn/transaction.h"

#include <telltale/diag/dbg.h>

#include "cache/storable.h"
#include "http/print.h"
#include "http1/hop_by_hop.h"
#include "txn/cache_lookup.h"
#include "txn/own_answer.h"

namespace telltale::txn {
namespace {

constexpr DbgCtl http_dbg{"http"};
constexpr DbgCtl http_hdrs_dbg{"http_hdrs"};
constexpr DbgCtl remap_dbg{"remap"};
constexpr DbgCtl cache_dbg{"cache"};

using http::Content;
using http::Failure;
using http::FieldId;
using http::Framing;
using std::chrono::seconds;

constexpr std::string_view kVia11 = "1.1 telltale", kVia10 = "1.0 telltale", kVia2 = "2 telltale";

std::string_view via(http::Version version) {
  return version == http::Version::kHttp10 ? kVia10 : version == http::Version::kHttp2 ? kVia2 : kVia11;
}

std::int64_t micros_since(net::SteadyTime begun) {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begun).count();
}

diag::Context with_transaction(const diag::Context* connection, std::uint64_t id) {
  diag::Context context = connection != nullptr ? *connection : diag::Context{};
  context.transaction = id;
  return context;
}

}  // namespace

Transaction::Transaction(WorkerState& state, http::Exchange& exchange)
    : state_(state), exchange_(exchange), runtime_(state.runtime), begun_(state.worker.now()),
      context_(with_transaction(diag::current_context(), state.transactions.next())), hooks_(state.hooks, state.worker) {}

net::Task<void> Transaction::run() {
  diag::Scope scope(&context_);
  state_.counters.requests.add();
  Dbg(http_dbg, "{} for {} from {}", http::print_request_line(request()), http::print_authority(request().authority),
      exchange_.client());
  Dbg(http_hdrs_dbg, "request fields: {}", http::print_fields(request().fields));

  bool go_on = true;
  if (!hooks_.idle(Hook::kTxnStart)) go_on = co_await hooks_.run(Hook::kTxnStart, *this);
  if (go_on && !hooks_.idle(Hook::kReadRequest)) go_on = co_await hooks_.run(Hook::kReadRequest, *this);

  if (!go_on) {
    co_await fail(Failure::kHttpRequestDenied, 500, "a plugin refused the request");
  } else if (request().method == http::Method::kTrace) {
    co_await fail(Failure::kHttpRequestDenied, 405, "TRACE is not served");
  } else if (!remap()) {
    co_await fail(Failure::kDestinationNotFound, 404, "no remap rule matches this host and path");
  } else {
    Lookup found = look_up(state_, runtime_->settings, request(), resource_);
    if (found.outcome == Lookup::kHit) {
      const cache::StoredResponse& stored = *found.stored;
      status_ = stored.status;
      seconds age = stored.current_age(state_.worker.now());
      if (hooks_.idle(Hook::kSendResponse)) {
        bool sent = co_await exchange_.send_prepared({stored.status, stored.fields, stored.http1_head, stored.content, age});
        note_sent(sent);
      } else {
        co_await send_stored_with_hooks(stored, age);
      }
    } else if (found.only_if_cached) {
      co_await fail(Failure::kProxyInternalResponse, 504, "not in the cache, and the client wants nothing else");
    } else {
      co_await answer_from_origin(found.outcome != Lookup::kBypass);
    }
  }

  if (!hooks_.idle(Hook::kTxnClose)) co_await hooks_.run(Hook::kTxnClose, *this);
  Dbg(http_dbg, "answered {}{}{}: {} bytes of content in {} us", status_, why_incomplete_.empty() ? "" : " incompletely, ",
      why_incomplete_, exchange_.content_bytes_sent(), micros_since(begun_));
}

void Transaction::note_sent(bool sent) noexcept {
  if (!sent) why_incomplete_ = "the client is gone or too slow";
}

// Decides the origin and the target it gets.
bool Transaction::remap() {
  const http::RequestHead& r = request();
  rule_ = runtime_->remap->match("http", r.authority.host(), r.authority.port(), r.target);
  if (rule_ == nullptr) {
    Dbg(remap_dbg, "no rule matches {}{}", http::print_authority(r.authority), http::print_target(r.target));
    return false;
  }
  cache::append_key_origin(key_text_, rule_->to.host, rule_->to.port);
  if (runtime_->settings.pristine_host) {  // the origin gets the client's Host, which then decides what it answers
    fmt::format_to(fmt::appender(key_text_), "({}:{})", r.authority.host(), r.authority.port());
  }
  std::size_t target_at = key_text_.size();
  rule_->append_target(r.target, key_text_);
  std::string_view key_text(key_text_.data(), key_text_.size());
  resource_ = {cache::cache_key(key_text), rule_->origin_authority, key_text.substr(target_at)};
  Dbg(remap_dbg, "line {} matches, \"{}\": the origin is {} and gets {}", rule_->line, rule_->text, rule_->origin_authority,
      http::print_target(resource_.target));
  return true;
}

// Hooks may change what the client gets, not what is stored.
net::Task<void> Transaction::send_stored_with_hooks(const cache::StoredResponse& stored, seconds age) {
  http::ResponseHead head;
  head.status = stored.status;
  head.reason = stored.reason;
  head.fields.copy_from(stored.fields);
  head.fields.add_copy("Age", std::to_string(age.count()));
  head.framing = {Framing::kLength, stored.content.size()};
  bool go_on = co_await send_response_hooks(head);
  if (!go_on) co_return;
  co_await exchange_.send_head(head);
  co_await exchange_.send_content(stored.content);
  bool sent = co_await exchange_.finish();
  note_sent(sent);
}

net::Task<bool> Transaction::send_response_hooks(http::ResponseHead& head) {
  if (hooks_.idle(Hook::kSendResponse)) co_return true;
  response_ = &head;
  bool go_on = co_await hooks_.run(Hook::kSendResponse, *this);
  response_ = nullptr;
  if (!go_on) exchange_.abort();
  co_return go_on;
}

net::Task<void> Transaction::answer_from_origin(bool storable) {
  http::Fields fields = origin_fields();
  cache::WallTime requested_at = state_.worker.wall_now();
  origin::Authority origin{rule_->to.host, rule_->to.port};
  OriginFetch fetch(state_, exchange_, origin, resource_.target, fields, runtime_->settings.origin_inactivity_max);
  auto begun = co_await fetch.begin();
  if (!begun) {
    co_await fail(begun.error().failure, begun.error().status, begun.error().reason);
    co_return;
  }

  net::SteadyTime received_at = state_.worker.now();
  http::ResponseHead& head = fetch.response();
  prepare_response(head);
  cache::Verdict verdict{"the request bypasses the cache"};
  if (storable) verdict = cache::may_store(request(), head, requested_at, state_.worker.wall_now());
  CacheFill fill(state_, resource_, head, verdict, received_at, runtime_->settings.object_bytes_max);
  if (!http::is_safe(request().method) && head.status < 400 && state_.cache.erase(resource_.key)) {
    Dbg(cache_dbg, "{}{}: invalidated by {}", resource_.authority, http::print_target(resource_.target), request().method_text);
  }
  co_await relay(fetch, fill);
  co_await fetch.end();
}

// Hands the origin's response on as it arrives, and a copy to the cache.
net::Task<void> Transaction::relay(OriginFetch& fetch, CacheFill& fill) {
  http::ResponseHead& head = fetch.response();
  status_ = head.status;
  if (!co_await send_response_hooks(head)) co_return;
  bool sent = co_await exchange_.send_head(head);
  if (sent && !fetch.content_buffered()) sent = co_await exchange_.flush();

  Content piece{Content::kEnd};
  while (sent) {
    piece = co_await fetch.read_content();
    if (piece.state != Content::kData) break;
    fill.add(piece.data);
    sent = co_await exchange_.send_content(piece.data);
  }
  note_sent(sent);
  if (!sent || piece.state != Content::kEnd) fill.abandon();
  if (!sent) co_return;
  if (piece.state != Content::kEnd) {
    why_incomplete_ = "the origin's content is incomplete";
    Dbg(http_dbg, "the origin's content is incomplete after {} bytes ({}{}{})", exchange_.content_bytes_sent(),
        http::failure_token(piece.state == Content::kTimeout ? Failure::kConnectionReadTimeout : Failure::kHttpResponseIncomplete),
        piece.data.empty() ? "" : ": ", piece.data);
    state_.counters.failures.add();
    exchange_.abort();
    co_return;
  }
  fill.complete();
  sent = co_await exchange_.finish();
  note_sent(sent);
}

// The request's fields as the origin gets them: views of the client's, whose head stays as it came.
http::Fields Transaction::origin_fields() {
  const http::RequestHead& r = request();
  http::Fields fields;
  for (const http::Field& field : r.fields) fields.add(field);
  http1::strip_hop_by_hop(fields);
  if (!runtime_->settings.pristine_host) fields.set_copy("Host", rule_->origin_authority);
  if (r.framing.kind == Framing::kNone) fields.remove(FieldId::kExpect);
  if (runtime_->settings.request_via) fields.add_copy("Via", via(r.version));
  return fields;
}

// The response's fields as the client and the cache get them.
void Transaction::prepare_response(http::ResponseHead& head) {
  http1::strip_hop_by_hop(head.fields);
  if (head.fields.find(FieldId::kDate) == nullptr) add_date(head.fields, state_.worker.wall_now());
  if (runtime_->settings.response_via) head.fields.add_copy("Via", via(head.version));
}

net::Task<void> Transaction::fail(Failure failure, std::uint16_t status, std::string_view reason) {
  Dbg(http_dbg, "answering {} ourselves: {} ({})", status, reason, http::failure_token(failure));
  state_.counters.failures.add();
  status_ = status;
  OwnAnswer answer = own_answer(failure, status, reason, state_.worker.wall_now());
  if (!co_await send_response_hooks(answer.head)) co_return;
  co_await exchange_.send_head(answer.head);
  co_await exchange_.send_content(answer.text);
  bool sent = co_await exchange_.finish();
  note_sent(sent);
}

}  // namespace telltale::txn
