// SPDX-License-Identifier: Apache-2.0
#include "txn/transaction.h"

#include <charconv>

#include <telltale/diag/dbg.h>

#include "http/cache_control.h"
#include "http/date.h"
#include "http/print.h"
#include "http/status.h"
#include "http1/head_writer.h"
#include "http1/hop_by_hop.h"

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
  } else if (cache::StoredResponsePtr stored = find_stored()) {  // shared: it may be evicted while it is sent
    status_ = stored->status;
    seconds age = stored->current_age(state_.worker.now());
    if (hooks_.idle(Hook::kSendResponse)) {
      bool sent = co_await exchange_.send_prepared({stored->status, stored->fields, stored->http1_head, stored->content, age});
      note_sent(sent);
    } else {
      co_await send_stored_with_hooks(*stored, age);
    }
  } else if (only_if_cached_) {
    co_await fail(Failure::kProxyInternalResponse, 504, "not in the cache, and the client wants nothing else");
  } else {
    co_await answer_from_origin();
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
  key_ = cache::cache_key(key_text);
  target_ = key_text.substr(target_at);
  Dbg(remap_dbg, "line {} matches, \"{}\": the origin is {} and gets {}", rule_->line, rule_->text, rule_->origin_authority,
      http::print_target(target_));
  return true;
}

// A stored response that may answer this request, or null.
cache::StoredResponsePtr Transaction::find_stored() {
  std::string_view why_not = runtime_->settings.cache_enabled ? cache::why_request_bypasses(request()) : "the cache is off";
  if (!why_not.empty()) {
    Dbg(cache_dbg, "not looked up: {}", why_not);
    state_.counters.cache_bypassed.add();
    return nullptr;
  }
  storable_ = true;
  http::CacheControl wanted = http::parse_cache_control(request().fields);
  only_if_cached_ = wanted.only_if_cached;
  cache::StoredResponsePtr stored = state_.cache.find(key_);
  if (!stored) {
    Dbg(cache_dbg, "{}{}: uri-miss", rule_->origin_authority, http::print_target(target_));
    state_.counters.cache_misses.add();
    return nullptr;
  }
  net::SteadyTime now = state_.worker.now();
  seconds age = stored->current_age(now);
  bool too_old = wanted.no_cache || (wanted.max_age && age > seconds{*wanted.max_age}) ||
                 (wanted.min_fresh && stored->lifetime - age < seconds{*wanted.min_fresh});
  if (stored->fresh(now) && !too_old) {
    Dbg(cache_dbg, "{}{}: hit, {} s old of {} s", rule_->origin_authority, http::print_target(target_), age.count(), stored->lifetime.count());
    state_.counters.cache_hits.add();
    return stored;
  }
  Dbg(cache_dbg, "{}{}: stale, {} s old of {} s{}", rule_->origin_authority, http::print_target(target_), age.count(), stored->lifetime.count(),
      too_old ? ", and the client wants a fresher one" : "");
  state_.counters.cache_stale.add();
  return nullptr;
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

net::Task<void> Transaction::answer_from_origin() {
  prepare_request();
  cache::WallTime requested_at = state_.worker.wall_now();
  origin::Authority origin{rule_->to.host, rule_->to.port};
  OriginFetch fetch(state_, exchange_, origin, target_, runtime_->settings.origin_inactivity_max);
  auto begun = co_await fetch.begin();
  if (!begun) {
    co_await fail(begun.error().failure, begun.error().status, begun.error().reason);
    co_return;
  }

  received_at_ = state_.worker.now();
  http::ResponseHead& head = fetch.response();
  prepare_response(head);
  cache::Verdict verdict{"the request bypasses the cache"};
  if (storable_) {
    verdict = cache::may_store(request(), head, requested_at, state_.worker.wall_now());
    if (verdict.why_not.empty() && head.framing.kind == Framing::kLength &&
        head.framing.length > runtime_->settings.object_bytes_max) {
      verdict.why_not = "the content is larger than an object may be";
    }
  }
  if (!verdict.why_not.empty()) Dbg(cache_dbg, "not stored: {}", verdict.why_not);
  if (!http::is_safe(request().method) && head.status < 400 && state_.cache.erase(key_)) {
    Dbg(cache_dbg, "{}{}: invalidated by {}", rule_->origin_authority, http::print_target(target_), request().method_text);
  }
  co_await relay(fetch, verdict);
  co_await fetch.end();
}

// Hands the origin's response on as it arrives, and keeps a copy if it may be stored.
net::Task<void> Transaction::relay(OriginFetch& fetch, const cache::Verdict& verdict) {
  http::ResponseHead& head = fetch.response();
  bool storing = verdict.why_not.empty();
  http::ResponseHead to_store;  // before hooks change the client's
  if (storing) {
    to_store.status = head.status;
    to_store.reason = head.reason;
    to_store.fields.copy_from(head.fields);
  }
  status_ = head.status;
  if (!co_await send_response_hooks(head)) co_return;
  bool sent = co_await exchange_.send_head(head);
  if (sent && !fetch.content_buffered()) sent = co_await exchange_.flush();

  std::string copy;
  if (storing && head.framing.kind == Framing::kLength) copy.reserve(head.framing.length);
  Content piece{Content::kEnd};
  while (sent) {
    piece = co_await fetch.read_content();
    if (piece.state != Content::kData) break;
    if (storing && copy.size() + piece.data.size() > runtime_->settings.object_bytes_max) {
      Dbg(cache_dbg, "not stored: the content is larger than an object may be");
      storing = false;
      copy = {};
    }
    if (storing) copy.append(piece.data);
    if (storing && head.framing.kind == Framing::kLength && copy.size() == head.framing.length) {
      store(to_store, verdict, std::move(copy));  // before its last byte goes out: who asks again finds it
      storing = false;
    }
    sent = co_await exchange_.send_content(piece.data);
  }
  note_sent(sent);
  if (storing && (!sent || piece.state != Content::kEnd)) Dbg(cache_dbg, "not stored: the content is incomplete");
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
  if (storing) store(to_store, verdict, std::move(copy));
  sent = co_await exchange_.finish();
  note_sent(sent);
}

void Transaction::store(const http::ResponseHead& head, const cache::Verdict& verdict, std::string content) {
  auto stored = std::make_shared<cache::StoredResponse>();
  stored->status = head.status;
  stored->reason = head.reason;
  stored->fields.copy_from(head.fields);
  stored->fields.remove(FieldId::kAge);  // each answer has its own
  stored->content = std::move(content);
  stored->stored_at = received_at_;
  stored->lifetime = verdict.lifetime;
  stored->initial_age = verdict.initial_age;
  Framing framing = head.status == 204 ? Framing{} : Framing{Framing::kLength, stored->content.size()};
  http1::append_response_head(stored->http1_head, stored->status, stored->reason, stored->fields, framing,
                              http1::ConnectionField::kNone);
  stored->http1_head.resize(stored->http1_head.size() - 2);  // the empty line comes after Age

  std::size_t bytes = stored->size_bytes();
  if (state_.cache.store(key_, std::move(stored))) {
    Dbg(cache_dbg, "{}{}: stored, {} bytes, fresh for {} s", rule_->origin_authority, http::print_target(target_), bytes,
        (verdict.lifetime - verdict.initial_age).count());
    state_.counters.cache_stored.add();
  } else {
    Dbg(cache_dbg, "not stored: {} bytes do not fit into the cache", bytes);
  }
}

// The request's fields as the origin gets them.
void Transaction::prepare_request() {
  http::RequestHead& r = request();
  http1::strip_hop_by_hop(r.fields);
  if (!runtime_->settings.pristine_host) r.fields.set_copy("Host", rule_->origin_authority);
  if (r.framing.kind == Framing::kNone) r.fields.remove(FieldId::kExpect);
  if (runtime_->settings.request_via) r.fields.add_copy("Via", via(r.version));
}

// The response's fields as the client and the cache get them.
void Transaction::prepare_response(http::ResponseHead& head) {
  http1::strip_hop_by_hop(head.fields);
  if (head.fields.find(FieldId::kDate) == nullptr) {
    char date[http::kDateLength];
    http::format_date(std::chrono::system_clock::to_time_t(state_.worker.wall_now()), date);
    head.fields.add_copy("Date", {date, sizeof date});
  }
  if (runtime_->settings.response_via) head.fields.add_copy("Via", via(head.version));
}

// The proxy's own answer: one line of text, and why in Proxy-Status.
net::Task<void> Transaction::fail(Failure failure, std::uint16_t status, std::string_view reason) {
  std::string_view token = http::failure_token(failure);
  Dbg(http_dbg, "answering {} ourselves: {} ({})", status, reason, token);
  state_.counters.failures.add();
  status_ = status;
  std::string text = fmt::format("{} {}: {} ({})\n", status, http::reason_phrase(status), reason, token);
  http::ResponseHead head;
  head.status = status;
  head.framing = {Framing::kLength, text.size()};
  char date[http::kDateLength];
  http::format_date(std::chrono::system_clock::to_time_t(state_.worker.wall_now()), date);
  head.fields.add_copy("Date", {date, sizeof date});
  head.fields.add_copy("Content-Type", "text/plain; charset=utf-8");
  head.fields.add_copy("Cache-Control", "no-store");
  head.fields.add_copy("Proxy-Status", fmt::format("telltale; error={}", token));
  if (status == 405) head.fields.add_copy("Allow", "GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH");
  if (!co_await send_response_hooks(head)) co_return;
  co_await exchange_.send_head(head);
  co_await exchange_.send_content(text);
  bool sent = co_await exchange_.finish();
  note_sent(sent);
}

}  // namespace telltale::txn
