// SPDX-License-Identifier: Apache-2.0
//
// header_note.so FIELD VALUE [DELAY_MS]: adds a field to every response.
//
// It also shows how a plugin debugs (one control for its transactions, one for its static initialiser; built with
// TELLTALE_SITES the same lines are sites of the core's kind) and how it suspends: with DELAY_MS a request waits that
// long on a thread of the plugin's before it goes on, and holds up nobody else.
#include <cstdlib>
#include <string>

#include <time.h>

#include <ts/ts.h>

namespace {

constexpr const char* kName = "header_note";

#if defined(TELLTALE_SITES)
constexpr DbgCtl dbg_ctl{"header_note"};
constexpr DbgCtl start_dbg_ctl{"header_note_start"};
#define NOTE(...) Dbg(dbg_ctl, __VA_ARGS__)
#define NOTE_START(...) Dbg(start_dbg_ctl, __VA_ARGS__)
#define S "{}"
#define D "{}"
#else
DbgCtl dbg_ctl{"header_note"};
DbgCtl start_dbg_ctl{"header_note_start"};
#define NOTE(...) Dbg(dbg_ctl, __VA_ARGS__)
#define NOTE_START(...) Dbg(start_dbg_ctl, __VA_ARGS__)
#define S "%s"
#define D "%d"
#endif

// Runs while the daemon loads the plugin.
struct AtLoad {
  AtLoad() { NOTE_START("static initialiser"); }
};
AtLoad at_load;

std::string field_name, field_value;
int delay_ms = 0;

void add_field(TSHttpTxn txnp) {
  TSMBuffer bufp;
  TSMLoc hdr, field;
  if (TSHttpTxnClientRespGet(txnp, &bufp, &hdr) != TS_SUCCESS) return;
  if (TSMimeHdrFieldCreateNamed(bufp, hdr, field_name.c_str(), -1, &field) == TS_SUCCESS) {
    if (TSMimeHdrFieldValueStringSet(bufp, hdr, field, -1, field_value.c_str(), -1) == TS_SUCCESS &&
        TSMimeHdrFieldAppend(bufp, hdr, field) == TS_SUCCESS) {
      NOTE("added " S " to a response with status " D, field_name.c_str(), TSHttpHdrStatusGet(bufp, hdr));
    }
    TSHandleMLocRelease(bufp, hdr, field);
  }
  TSHandleMLocRelease(bufp, TS_NULL_MLOC, hdr);
}

void* wait_and_go_on(void* data) {
  timespec time{delay_ms / 1000, delay_ms % 1000 * 1'000'000L};
  nanosleep(&time, nullptr);
  NOTE("waited " D " ms, the request goes on", delay_ms);
  TSHttpTxnReenable(static_cast<TSHttpTxn>(data), TS_EVENT_HTTP_CONTINUE);
  return nullptr;
}

int on_event(TSCont, TSEvent event, void* edata) {
  auto txnp = static_cast<TSHttpTxn>(edata);
  if (event == TS_EVENT_HTTP_READ_REQUEST_HDR && delay_ms > 0) {
    NOTE("the request waits " D " ms", delay_ms);
    if (TSThreadCreate(wait_and_go_on, txnp) != nullptr) return 0;
  }
  if (event == TS_EVENT_HTTP_SEND_RESPONSE_HDR) add_field(txnp);
  if (event == TS_EVENT_HTTP_TXN_CLOSE) NOTE("the transaction closes");
  TSHttpTxnReenable(txnp, TS_EVENT_HTTP_CONTINUE);
  return 0;
}

}  // namespace

void TSPluginInit(int argc, const char* argv[]) {
  TSPluginRegistrationInfo info{kName, "Telltale", "see README.md"};
  if (argc < 3 || argc > 4) {
    TSError("[%s] expected FIELD VALUE [DELAY_MS]", kName);
    return;
  }
  field_name = argv[1];
  field_value = argv[2];
  delay_ms = argc == 4 ? std::atoi(argv[3]) : 0;
  if (TSPluginRegister(&info) != TS_SUCCESS) return;
  NOTE_START("adds " S ": " S ", after " D " ms", field_name.c_str(), field_value.c_str(), delay_ms);

  TSCont contp = TSContCreate(on_event, TS_NULL_MUTEX);
  for (TSHttpHookID hook : {TS_HTTP_READ_REQUEST_HDR_HOOK, TS_HTTP_SEND_RESPONSE_HDR_HOOK, TS_HTTP_TXN_CLOSE_HOOK}) {
    TSHttpHookAdd(hook, contp);
  }
}
