// SPDX-License-Identifier: Apache-2.0
#include "txn/transaction.h"

#include <algorithm>

#include <telltale/diag/dbg.h>

#include "cache/conditional.h"
#include "cache/vary.h"
#include "http/own_answer.h"
#include "http/print.h"
#include "http/print_dump.h"
#include "http/redaction.h"
#include "http1/hop_by_hop.h"
#include "txn/invalidate.h"
#include "txn/stored_answer.h"

namespace telltale::txn {
namespace {

constexpr DbgCtl http_dbg{"http"};
constexpr DbgCtl http_hdrs_dbg{"http_hdrs"};
constexpr DbgCtl http_body_dbg{"http_body"};
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

// The hops that an OPTIONS request may still go; nothing: as many as it likes. TRACE is not forwarded.
std::optional<std::uint64_t> hops_left(const http::RequestHead& request) {
  if (request.method != http::Method::kOptions) return std::nullopt;
  const http::Field* field = request.fields.find(FieldId::kMaxForwards);
  std::uint64_t hops = 0;
  if (field == nullptr || !http::parse_content_length(field->value, hops)) return std::nullopt;
  return hops;
}

// Times that one request waits for others: for one whose answer turns out to be another variant, once more.
constexpr int kCollapsedRoundsMax = 3;
constexpr seconds kLookForClientEvery{1};

// The validator that counts; see set_conditions().
http::FieldPrinter print_conditions(const http::Fields& request) {
  const http::Field* tag = request.find(FieldId::kIfNoneMatch);
  return http::print_field(tag != nullptr ? *tag : *request.find(FieldId::kIfModifiedSince));
}

std::int64_t micros(net::SteadyTime begun, net::SteadyTime at) {
  return std::chrono::duration_cast<std::chrono::microseconds>(at - begun).count();
}
std::int64_t micros_since(net::SteadyTime begun) { return micros(begun, std::chrono::steady_clock::now()); }

diag::Context with_transaction(const diag::Context* connection, std::uint64_t id) {
  diag::Context context = connection != nullptr ? *connection : diag::Context{};
  context.transaction = id;
  return context;
}

}  // namespace

Transaction::Transaction(WorkerState& state, http::Exchange& exchange)
    : state_(state), exchange_(exchange), runtime_(state.runtime), begun_(state.worker.now()),
      context_(with_transaction(diag::current_context(), state.transactions.next())), hooks_(state.hooks, state.worker) {}

Transaction::~Transaction() {
  if (context_.followed == 0) return;
  const auto time = std::chrono::steady_clock::now() - begun_;
  state_.follow->end(context_, {status_, std::chrono::duration_cast<std::chrono::microseconds>(time)});
}

net::Task<void> Transaction::run([[maybe_unused]] std::unique_ptr<Transaction> self) {
  diag::Scope scope(&context_);
  if (state_.follow != nullptr) (void)state_.follow->offer(request(), context_);
  state_.counters.requests.add();
  Dbg(http_dbg, "{} for {} from {}", http::print_request_line(request()), http::print_authority(request().authority),
      exchange_.client());
  Dbg(http_hdrs_dbg, "{}", http::dump_request(http::Direction::kClientRequest, request()));

  bool go_on = true;
  if (!hooks_.idle(Hook::kTxnStart)) go_on = co_await hooks_.run(Hook::kTxnStart, *this);
  if (go_on && !hooks_.idle(Hook::kReadRequest)) go_on = co_await hooks_.run(Hook::kReadRequest, *this);

  if (!go_on) {
    co_await fail(Failure::kHttpRequestDenied, 500, "a plugin refused the request");
  } else if (request().method == http::Method::kTrace) {
    co_await fail(Failure::kHttpRequestDenied, 405, "TRACE is not served");
  } else if (hops_left(request()) == 0) {
    co_await answer_options();
  } else if (!remap()) {
    co_await fail(Failure::kDestinationNotFound, 404, "no remap rule matches this host and path");
  } else {
    Lookup found = look_up(state_, runtime_->settings, request(), resource_);
    if (found.hit() && may_send_prepared(found)) {
      const cache::StoredResponse& stored = *found.stored;
      status_ = stored.status;
      bool sent = co_await exchange_.send_prepared({stored.status, stored.fields, stored.http1_head, stored.content, found.age});
      note_sent(sent);
    } else if (found.hit()) {
      co_await send_stored(*found.stored, found.age, {.outcome = found.outcome});
    } else if (found.only_if_cached) {
      co_await fail(Failure::kProxyInternalResponse, 504, "not in the cache, and the client wants nothing else");
    } else {
      co_await answer_miss(found);
    }
  }

  if (!hooks_.idle(Hook::kTxnClose)) co_await hooks_.run(Hook::kTxnClose, *this);
  note_end();
}

// One line, with the times that say where the time went: each counts from the request's head.
void Transaction::note_end() const {
  const std::string_view incompletely = why_incomplete_.empty() ? "" : " incompletely, ";
  if (status_ == 0) {
    Dbg(http_dbg, "no answer to {}, {}, over after {} us", exchange_.client(), why_incomplete_, micros_since(begun_));
  } else if (connected_at_ == net::SteadyTime{}) {
    Dbg(http_dbg, "answered {} to {}{}{}: {} bytes of content, the last after {} us", status_, exchange_.client(), incompletely,
        why_incomplete_, exchange_.content_bytes_sent(), micros_since(begun_));
  } else if (head_at_ == net::SteadyTime{}) {
    Dbg(http_dbg, "answered {} to {}{}{}: {} bytes of content, connected to the origin after {} us, without an answer of its own, over after {} us",
        status_, exchange_.client(), incompletely, why_incomplete_, exchange_.content_bytes_sent(), micros(begun_, connected_at_),
        micros_since(begun_));
  } else {
    Dbg(http_dbg, "answered {} to {}{}{}: {} bytes of content, connected to the origin after {} us, its head after {} us, the last byte after {} us",
        status_, exchange_.client(), incompletely, why_incomplete_, exchange_.content_bytes_sent(), micros(begun_, connected_at_),
        micros(begun_, head_at_), micros_since(begun_));
  }
}

// Others may wait for the same answer: then it is fetched for them.
void Transaction::client_gone() noexcept {
  diag::Scope scope(&context_);
  if (fetch_ == nullptr) return;
  if (lead_.waiters() != 0) {
    Dbg(http_dbg, "the client went away; its answer is fetched for those who wait for it");
    return;
  }
  Dbg(http_dbg, "the client went away: the origin is no longer waited for");
  fetch_->abandon();
}

void Transaction::lock_on(bool on) noexcept {
  context_.locked_on = on;
  if (hooks_.context() != nullptr) hooks_.context()->locked_on = on;
}

void Transaction::note_sent(bool sent) noexcept {
  if (!sent) why_incomplete_ = exchange_.why_unsent();
}

// Decides the origin and the target it gets.
bool Transaction::remap() {
  const http::RequestHead& r = request();
  rule_ = runtime_->remap->match("http", r.authority.host(), r.authority.port(), r.target);
  if (rule_ == nullptr) {
    if (r.authority.empty()) {
      Dbg(remap_dbg, "no rule matches {} of a request without Host", http::print_target(r.target));
    } else {
      Dbg(remap_dbg, "no rule matches {}{}", http::print_authority(r.authority), http::print_target(r.target));
    }
    return false;
  }
  append_key_prefix(key_text_, *rule_, r, runtime_->settings.pristine_host);
  std::size_t target_at = key_text_.size();
  rule_->append_target(r.target, key_text_);
  std::string_view key_text = key_text_.view();
  resource_ = {cache::cache_key(key_text), rule_->origin_authority, key_text.substr(target_at)};
  Dbg(remap_dbg, "line {} matches, \"{}\": the origin is {} and gets {}", rule_->line, http::print_url(rule_->text), rule_->origin_authority,
      http::print_target(resource_.target));
  return true;
}

// Most hits: the stored head and content as they are.
bool Transaction::may_send_prepared(const Lookup& found) const noexcept {
  return !found.use.condition && !found.use.range && hooks_.idle(Hook::kSendResponse) && !runtime_->settings.cache_status;
}

// All other uses of a stored response. Hooks may change what the client gets, not what is stored.
net::Task<void> Transaction::send_stored(const cache::StoredResponse& stored, std::optional<seconds> age, CacheStatus status,
                                         const http::Fields* more) {
  StoredAnswer answer = stored_answer(request(), stored, age);
  if (more != nullptr) {
    for (const http::Field& field : *more) answer.head.fields.add(field);
  }
  status_ = answer.head.status;
  status.used = &stored;
  status.age = age.value_or(stored.initial_age);
  status.collapsed = collapsed_;
  if (runtime_->settings.cache_status) answer.head.fields.add_copy("Cache-Status", cache_status(status));
  bool go_on = co_await send_response_hooks(answer.head);
  if (!go_on) co_return;
  co_await exchange_.send_head(answer.head);
  co_await exchange_.send_content(answer.content);
  bool sent = co_await exchange_.finish();
  note_sent(sent);
}

net::Task<bool> Transaction::send_response_hooks(http::ResponseHead& head) {
  if (hooks_.idle(Hook::kSendResponse)) co_return true;
  response_ = &head;
  bool go_on = co_await hooks_.run(Hook::kSendResponse, *this);
  response_ = nullptr;
  if (!go_on) co_await send_own(Failure::kHttpRequestDenied, 500, "a plugin refused the response", false);
  co_return go_on;
}

net::Task<void> Transaction::answer_miss(Lookup& found) {
  bool client_there = co_await wait_for_other(found);
  if (!client_there) {
    why_incomplete_ = "the client went away while it waited";
    exchange_.abort();
  } else if (found.hit()) {
    co_await send_stored(*found.stored, found.age, {.outcome = found.outcome});
  } else {
    co_await answer_from_origin(found);
  }
}

// The answer to this request could serve others who ask meanwhile.
bool Transaction::may_lead(const Lookup& found) const {
  const cache::RequestUse& use = found.use;
  return exchange_.request().method == http::Method::kGet && !use.authorization && !use.range &&
         (!use.condition || found.may_validate()) && !(use.demands && http::parse_cache_control(exchange_.request().fields).no_store);
}

// If somebody else is fetching what this request is for, waits and looks up again: `found` may then be a hit.
// Otherwise this request leads, or goes on alone. False: the client went away.
net::Task<bool> Transaction::wait_for_other(Lookup& found) {
  const TransactionSettings& settings = runtime_->settings;
  const net::SteadyTime deadline = state_.worker.now() + settings.collapse_max;
  for (int round = 0; round < kCollapsedRoundsMax; ++round) {
    bool by_itself = found.outcome == Lookup::kUriMiss || found.outcome == Lookup::kVaryMiss || found.outcome == Lookup::kStale;
    if (!by_itself || settings.collapse_max == seconds{0}) co_return true;
    std::string text;  // variants are fetched side by side
    cache::CacheKey key = resource_.key;
    if (found.stored && !found.stored->selecting.empty()) {
      text = fmt::format("{}\n{}", key.text, cache::selecting_text_like(found.stored->selecting, request().fields));
      key = cache::cache_key(text);
    }
    FlightTable::Joined joined =
        state_.flights.join(key, state_.worker, state_.worker.now(), id(), may_lead(found), settings.collapse_waiters_max);
    if (joined.role == FlightTable::Joined::kLeads) lead_ = std::move(joined.lead);
    if (joined.role == FlightTable::Joined::kAlone) Dbg(cache_dbg, "not collapsed: {}", joined.why);
    if (joined.role != FlightTable::Joined::kWaits) co_return true;

    place_ = std::move(joined.place);
    state_.counters.cache_collapsed.add();
    Dbg(cache_dbg, "collapsed: waiting for the answer to t{}", joined.leader);
    net::Wake wake = co_await wait_at_place(deadline);
    if (wake == net::Wake::kTimeout || wake == net::Wake::kShutdown) {
      place_.leave();
      bool gone = exchange_.client_gone();
      Dbg(cache_dbg, "no longer collapsed: {}",
          gone ? "the client went away" : wake == net::Wake::kShutdown ? "the worker is stopping" : "the answer takes too long");
      co_return !gone;
    }
    if (place_.landing() != FlightTable::Landing::kStored) {
      Dbg(cache_dbg, "no longer collapsed: the answer to t{} {}", joined.leader,
          place_.landing() == FlightTable::Landing::kFailed ? "did not come" : "is not for others");
      co_return true;  // the place is kept: others wait for it to be left
    }
    place_.leave();
    found = look_up(state_, settings, request(), resource_, true);
    collapsed_ = found.hit();
    if (found.hit()) co_return true;
  }
  co_return true;
}

// Looks now and then whether the client is still there: nothing wakes whoever only waits.
net::Task<net::Wake> Transaction::wait_at_place(net::SteadyTime deadline) {
  exchange_.watch_client(this);
  net::Wake wake = net::Wake::kTimeout;
  while (!exchange_.client_gone()) {
    wake = co_await place_.gate().wait(std::min(deadline, state_.worker.now() + kLookForClientEvery));
    if (wake != net::Wake::kTimeout || state_.worker.now() >= deadline) break;
  }
  exchange_.watch_client(nullptr);
  co_return wake;
}

// The origin failed and what is stored, though stale, may be used then.
bool Transaction::may_use_on_error(const Lookup& found) const {
  if (found.outcome != Lookup::kStale) return false;
  const cache::StoredResponse& stored = *found.stored;
  return !stored.never_stale && !stored.always_validate &&
         stored.current_age(state_.worker.now()) < stored.lifetime + stored.stale_if_error;
}

// While a fetch lives, the client is watched: one that goes away ends it, unless others wait for the answer.
class Transaction::Awaited {
 public:
  Awaited(Transaction& transaction, OriginFetch& fetch) : transaction_(transaction) {
    transaction_.fetch_ = &fetch;
    transaction_.exchange_.watch_client(&transaction_);
  }
  ~Awaited() {
    transaction_.exchange_.watch_client(nullptr);
    transaction_.fetch_ = nullptr;
  }
  Awaited(const Awaited&) = delete;
  Awaited& operator=(const Awaited&) = delete;

 private:
  Transaction& transaction_;
};

net::Task<void> Transaction::answer_from_origin(const Lookup& found) {
  bool validating = found.may_validate();
  for (;;) {
    http::Fields fields = origin_fields();
    if (validating) {
      cache::set_conditions(fields, *found.stored);
      Dbg(cache_dbg, "validating what is stored, with {}", print_conditions(fields));
    }
    FetchTimes times{};
    times.requested_at = state_.worker.wall_now();
    origin::Authority origin{rule_->to.host, rule_->to.port};
    OriginFetch fetch(state_, exchange_, origin, resource_.target, fields, runtime_->settings.origin_inactivity_max);
    const Awaited awaited(*this, fetch);
    auto begun = co_await fetch.begin();
    connected_at_ = fetch.connected_at();
    head_at_ = fetch.head_at();
    if (fetch.abandoned()) {
      why_incomplete_ = "the client is gone";
      land(lead_, FlightTable::Landing::kFailed);
      co_await fetch.end();
      exchange_.abort();
      co_return;
    }
    http::ResponseHead& head = fetch.response();
    bool failed = !begun || head.status == 500 || (head.status >= 502 && head.status <= 504);
    if (failed && may_use_on_error(found)) {
      Dbg(cache_dbg, "the origin failed: the stale response is used, as its stale-if-error allows");
      co_await fetch.end();
      land(lead_, FlightTable::Landing::kFailed);
      co_await send_stored(*found.stored, found.stored->current_age(state_.worker.now()),
                           {.outcome = found.outcome, .origin_status = begun ? head.status : std::uint16_t{0}});
      co_return;
    }
    if (!begun) {
      land(lead_, FlightTable::Landing::kFailed);
      co_await fail(begun.error().failure, begun.error().status, begun.error().reason);
      co_return;
    }
    times.received_at = state_.worker.wall_now();
    times.received_steady = state_.worker.now();
    prepare_response(head);
    CacheFill::Context context{state_, runtime_->settings, resource_, lead_, found.generation};
    if (validating && head.status == 304) {
      if (cache::is_about(head.fields, *found.stored)) {
        Freshened fresh = freshen_stored(*found.stored, request(), head, runtime_->settings.heuristic, times);
        co_await fetch.end();
        co_await send_freshened(found, fresh, context);
        co_return;
      }
      Dbg(cache_dbg, "the 304 is about another response than the one that is stored: asking again without conditions");
      state_.cache.erase(resource_.key, found.stored);
      validating = false;
      co_await fetch.end();
      continue;
    }
    cache::Verdict verdict{"the request bypasses the cache"};
    if (found.may_be_stored()) {
      verdict = cache::may_store(request(), head, runtime_->settings.heuristic, times.requested_at, times.received_at);
    }
    if (!http::is_safe(request().method) && head.status < 400) {
      invalidate_after(state_, *runtime_, request(), head, *rule_, resource_);
    }
    CacheFill fill(context, head, std::move(verdict), times.received_steady);
    if (runtime_->settings.cache_status) {  // of this answer, not of what is stored
      CacheStatus status{.outcome = found.outcome, .origin_status = head.status, .stored = fill.active()};
      head.fields.add_copy("Cache-Status", cache_status(status));
    }
    co_await relay(fetch, fill);
    co_await fetch.end();
    co_return;
  }
}

// What is stored is as good as new.
net::Task<void> Transaction::send_freshened(const Lookup& found, const Freshened& fresh, const CacheFill::Context& context) {
  state_.counters.cache_validated.add();
  CacheStatus status{.outcome = found.outcome, .origin_status = 304, .stored = fresh.verdict.stored()};
  if (fresh.verdict.stored()) {
    Dbg(cache_dbg, "not modified, says the origin: what is stored is freshened");
    store_response(context, fresh.stored, fresh.verdict);
  } else {
    Dbg(cache_dbg, "not modified, says the origin, but not to be kept: {}", fresh.verdict.why_not);
    state_.cache.erase(resource_.key, found.stored);
    land(lead_, FlightTable::Landing::kNotStorable);
  }
  co_await send_stored(*fresh.stored, fresh.age, status, &fresh.for_client);
}

// Hands the origin's response on as it arrives, and a copy to the cache.
net::Task<void> Transaction::relay(OriginFetch& fetch, CacheFill& fill) {
  http::ResponseHead& head = fetch.response();
  status_ = head.status;
  if (fetch.uploading()) exchange_.end_after_answer();
  if (!co_await send_response_hooks(head)) {
    fill.abandon();
    co_return;
  }
  bool sent = co_await exchange_.send_head(head);
  if (sent && !fetch.content_buffered()) sent = co_await exchange_.flush();

  Content piece{Content::kEnd};
  while (sent || (fill.active() && lead_.waiters() != 0)) {  // a client that goes away takes nothing from the others
    piece = co_await fetch.read_content();
    if (piece.state != Content::kData) break;
    fill.add(piece.data);
    Dbg(http_body_dbg, "from the origin: {}", http::print_body(piece.data, http::media_type(head.fields), http::is_sensitive_path(request().target)));
    if (sent) sent = co_await exchange_.send_content(piece.data);
  }
  if (fetch.abandoned()) {  // what looks like the origin's end is ours
    note_sent(false);
    fill.abandon();
    co_return;
  }
  note_sent(sent);
  if (!sent && piece.state == Content::kEnd) fill.complete();
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
  if (!r.expect_continue) fields.remove(FieldId::kExpect);  // of HTTP/1.0, or without content: it means nothing
  if (const auto hops = hops_left(r)) fields.set_copy("Max-Forwards", std::to_string(*hops - 1));
  if (runtime_->settings.request_via) fields.add_copy("Via", via(r.version));
  return fields;
}

// The response's fields as the client and the cache get them.
void Transaction::prepare_response(http::ResponseHead& head) {
  http1::strip_hop_by_hop(head.fields);
  if (head.fields.find(FieldId::kDate) == nullptr) http::add_date(head.fields, state_.worker.wall_now());
  if (runtime_->settings.response_via) head.fields.add_copy("Via", via(head.version));
}

// RFC 9110 section 7.6.2: who may not forward a request answers it as if it were the origin.
net::Task<void> Transaction::answer_options() {
  Dbg(http_dbg, "answering OPTIONS ourselves: Max-Forwards is 0");
  http::ResponseHead head;
  head.status = status_ = 204;
  http::add_date(head.fields, state_.worker.wall_now());
  head.fields.add_copy("Allow", http::kMethodsAllowed);
  if (!co_await send_response_hooks(head)) co_return;
  co_await exchange_.send_head(head);
  bool sent = co_await exchange_.finish();
  note_sent(sent);
}

net::Task<void> Transaction::fail(Failure failure, std::uint16_t status, std::string_view reason) {
  return send_own(failure, status, reason, true);
}

// An answer that plugins refuse is replaced by one that they are not asked about.
net::Task<void> Transaction::send_own(Failure failure, std::uint16_t status, std::string_view reason, bool with_hooks) {
  Dbg(http_dbg, "answering {} ourselves: {} ({})", status, reason, http::failure_token(failure));
  state_.counters.failures.add();
  status_ = status;
  http::OwnAnswer answer = http::own_answer(failure, status, reason, state_.worker.wall_now());
  if (with_hooks) {
    bool go_on = co_await send_response_hooks(answer.head);
    if (!go_on) co_return;
  }
  co_await exchange_.send_head(answer.head);
  co_await exchange_.send_content(answer.text);
  bool sent = co_await exchange_.finish();
  note_sent(sent);
}

}  // namespace telltale::txn
