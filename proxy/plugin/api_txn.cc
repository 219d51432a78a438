// SPDX-License-Identifier: Apache-2.0
//
// Hooks and transactions.
#include <array>

#include <telltale/diag/dbg.h>
#include <telltale/diag/level.h>

#define TELLTALE_SITES  // the core's debug family, not the plugins'

#include "plugin/access.h"
#include "plugin/continuation.h"
#include "plugin/loader.h"
#include "ts/ts.h"

namespace telltale::plugin {
namespace {

struct Named {
  TSHttpHookID hook;
  const char* hook_name;
  TSEvent event;
  const char* event_name;
};
#define TELLTALE_NAMED(NAME) {TS_HTTP_##NAME##_HOOK, "TS_HTTP_" #NAME "_HOOK", TS_EVENT_HTTP_##NAME, "TS_EVENT_HTTP_" #NAME}
constexpr std::array kNamed{
    Named TELLTALE_NAMED(TXN_START),        Named TELLTALE_NAMED(READ_REQUEST_HDR),
    Named TELLTALE_NAMED(SEND_RESPONSE_HDR), Named TELLTALE_NAMED(TXN_CLOSE),
    Named TELLTALE_NAMED(OS_DNS),           Named TELLTALE_NAMED(SEND_REQUEST_HDR),
    Named TELLTALE_NAMED(READ_CACHE_HDR),   Named TELLTALE_NAMED(READ_RESPONSE_HDR),
    Named TELLTALE_NAMED(SELECT_ALT),       Named TELLTALE_NAMED(SSN_START),
    Named TELLTALE_NAMED(SSN_CLOSE),        Named TELLTALE_NAMED(CACHE_LOOKUP_COMPLETE),
    Named TELLTALE_NAMED(PRE_REMAP),        Named TELLTALE_NAMED(POST_REMAP),
};

// The hook, if it is offered and the continuation exists; else an error line.
std::optional<OfferedHook> check(const char* function, TSHttpHookID id, TSCont contp) {
  std::optional<OfferedHook> offered = offered_hook(id);
  if (!offered) {
    diag::error("{}: hook {} ({}) is not offered", function, TSHttpHookNameLookup(id), static_cast<int>(id));
  } else if (!continuation_exists(Handle::of(contp))) {
    diag::error("{}: there is no such continuation", function);
    return std::nullopt;
  }
  return offered;
}

std::string name_of(TSCont contp) {
  const Plugin* plugin = plugin_of_continuation(Handle::of(contp));
  return plugin == nullptr ? std::string("?") : plugin->name;
}

}  // namespace

}  // namespace telltale::plugin

using namespace telltale::plugin;
namespace diag = telltale::diag;

// At global scope: there they are what ts/ts.h declares, and exported.
extern "C" {

const char* TSHttpHookNameLookup(TSHttpHookID hook) {
  for (const Named& one : kNamed) {
    if (one.hook == hook) return one.hook_name;
  }
  return "an unknown hook";
}

const char* TSHttpEventNameLookup(TSEvent event) {
  if (event == TS_EVENT_HTTP_CONTINUE) return "TS_EVENT_HTTP_CONTINUE";
  if (event == TS_EVENT_HTTP_ERROR) return "TS_EVENT_HTTP_ERROR";
  for (const Named& one : kNamed) {
    if (one.event == event) return one.event_name;
  }
  return "an unknown event";
}

TSReturnCode TSHttpHookAdd(TSHttpHookID id, TSCont contp) {
  telltale::txn::HookTable* table = hooks_being_loaded();
  if (table == nullptr) {
    diag::error("TSHttpHookAdd: hooks for all transactions are added by TSPluginInit() only");
    return TS_ERROR;
  }
  std::optional<OfferedHook> offered = check("TSHttpHookAdd", id, contp);
  if (!offered) return TS_ERROR;
  table->add(offered->hook, name_of(contp), hook_function(Handle::of(contp), offered->event));
  return TS_SUCCESS;
}

TSReturnCode TSHttpTxnHookAdd(TSHttpTxn txnp, TSHttpHookID id, TSCont contp) {
  std::optional<OfferedHook> offered = check("TSHttpTxnHookAdd", id, contp);
  if (!offered) return TS_ERROR;
  std::string name = name_of(contp);
  Access access("TSHttpTxnHookAdd", txnp, {Kind::kTxn});
  if (!access) return TS_ERROR;
  if (!access.transaction().hooks().add(offered->hook, std::move(name), hook_function(Handle::of(contp), offered->event))) {
    return access.refuse("a transaction may have 1,024 hooks of its own");
  }
  return TS_SUCCESS;
}

void TSHttpTxnReenable(TSHttpTxn txnp, TSEvent event) {
  std::optional<telltale::txn::Ticket> ticket;
  bool ok = event == TS_EVENT_HTTP_CONTINUE;
  {
    Access access("TSHttpTxnReenable", txnp, {Kind::kTxn}, false);
    if (!access) return;
    TxnSlot& slot = access.slot();
    if (slot.state == TxnSlot::kInHook) {
      slot.state = TxnSlot::kAnswered;
      slot.ok = ok;
    } else if (slot.state == TxnSlot::kWaiting) {
      slot.state = TxnSlot::kRunning;
      ticket.swap(slot.ticket);
    } else {
      access.refuse("no hook of this transaction waits for an answer: it was given already");
      return;
    }
  }
  if (ticket) ticket->reenable(ok);
  if (!ok && event != TS_EVENT_HTTP_ERROR) {
    diag::error("TSHttpTxnReenable: {} ({}) is neither TS_EVENT_HTTP_CONTINUE nor TS_EVENT_HTTP_ERROR, and is taken for the latter",
                TSHttpEventNameLookup(event), static_cast<int>(event));
  }
}

uint64_t TSHttpTxnIdGet(TSHttpTxn txnp) {
  Access access("TSHttpTxnIdGet", txnp, {Kind::kTxn}, false);
  return access ? access.transaction().id() : 0;
}

TSHttpSsn TSHttpTxnSsnGet(TSHttpTxn txnp) {
  Access access("TSHttpTxnSsnGet", txnp, {Kind::kTxn}, false);
  return access ? access.handle().with(Kind::kSsn).as<TSHttpSsn>() : nullptr;
}

const struct sockaddr* TSHttpTxnClientAddrGet(TSHttpTxn txnp) {
  Access access("TSHttpTxnClientAddrGet", txnp, {Kind::kTxn}, false);
  return access ? reinterpret_cast<const sockaddr*>(&access.slot().client) : nullptr;
}

void TSHttpTxnDebugSet(TSHttpTxn txnp, int on) {
  Access access("TSHttpTxnDebugSet", txnp, {Kind::kTxn});
  if (access) access.transaction().lock_on(on != 0);
}
int TSHttpTxnDebugGet(TSHttpTxn txnp) {
  Access access("TSHttpTxnDebugGet", txnp, {Kind::kTxn});
  return access && access.transaction().locked_on() ? 1 : 0;
}

void TSHttpSsnDebugSet(TSHttpSsn ssnp, int on) {
  Access access("TSHttpSsnDebugSet", ssnp, {Kind::kSsn});
  if (!access) return;
  diag::Context* connection = access.transaction().connection_context();
  if (connection == nullptr) {
    access.refuse("this client's protocol has no such switch");
    return;
  }
  connection->locked_on = on != 0;
  access.transaction().lock_on(on != 0);
}
int TSHttpSsnDebugGet(TSHttpSsn ssnp, int* on) {
  Access access("TSHttpSsnDebugGet", ssnp, {Kind::kSsn});
  if (!access) return TS_ERROR;
  diag::Context* connection = access.transaction().connection_context();
  if (on != nullptr) *on = connection != nullptr && connection->locked_on ? 1 : 0;
  return connection == nullptr ? TS_ERROR : TS_SUCCESS;
}

}  // extern "C"
