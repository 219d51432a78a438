// SPDX-License-Identifier: Apache-2.0
//
// Heads of messages: what stands before their fields.
#include <string_view>

#define TELLTALE_SITES  // the core's debug family, not the plugins'

#include "plugin/access.h"
#include "ts/ts.h"

namespace telltale::plugin {
namespace {

TSReturnCode head_get(const char* function, TSHttpTxn txnp, Kind kind, TSMBuffer* bufp, TSMLoc* hdr) {
  Access access(function, txnp, {Kind::kTxn});
  if (!access) return TS_ERROR;
  if (bufp == nullptr || hdr == nullptr) return access.refuse("there is no place for the handles");
  if (kind == Kind::kResponse && access.transaction().response() == nullptr) {
    return access.refuse("there is no response head now");
  }
  Handle head = access.handle().with(kind);
  *bufp = head.as<TSMBuffer>();
  *hdr = head.as<TSMLoc>();
  return TS_SUCCESS;
}

const char* out(std::string_view text, int* length) {
  if (length != nullptr) *length = static_cast<int>(text.size());
  return text.data() == nullptr ? "" : text.data();
}
const char* none(int* length) {
  if (length != nullptr) *length = 0;
  return nullptr;
}

// `part` of the request whose URL `url` is.
template <class Part>
const char* url_part(const char* function, TSMBuffer bufp, TSMLoc url, int* length, Part part) {
  Access access(function, bufp, {Kind::kRequest});
  if (!access) return none(length);
  if (Handle::of(url) != access.handle().with(Kind::kRequestUrl)) {
    access.refuse("this is not the URL of that head");
    return none(length);
  }
  return out(part(access.transaction().request()), length);
}

}  // namespace

}  // namespace telltale::plugin

using namespace telltale::plugin;
namespace diag = telltale::diag;

// At global scope: there they are what ts/ts.h declares, and exported.
extern "C" {

TSReturnCode TSHttpTxnClientReqGet(TSHttpTxn txnp, TSMBuffer* bufp, TSMLoc* hdr) {
  return head_get("TSHttpTxnClientReqGet", txnp, Kind::kRequest, bufp, hdr);
}
TSReturnCode TSHttpTxnClientRespGet(TSHttpTxn txnp, TSMBuffer* bufp, TSMLoc* hdr) {
  return head_get("TSHttpTxnClientRespGet", txnp, Kind::kResponse, bufp, hdr);
}

const char* TSHttpHdrMethodGet(TSMBuffer bufp, TSMLoc hdr, int* length) {
  Access access("TSHttpHdrMethodGet", bufp, {Kind::kRequest, Kind::kResponse});
  if (!access || Handle::of(hdr) != access.handle() || access.handle().kind != Kind::kRequest) return none(length);
  return out(access.transaction().request().method_text, length);
}

TSHttpStatus TSHttpHdrStatusGet(TSMBuffer bufp, TSMLoc hdr) {
  Access access("TSHttpHdrStatusGet", bufp, {Kind::kRequest, Kind::kResponse});
  if (!access || Handle::of(hdr) != access.handle() || access.handle().kind != Kind::kResponse) return TS_HTTP_STATUS_NONE;
  telltale::http::ResponseHead* response = access.transaction().response();
  return response == nullptr ? 0 : response->status;
}

TSReturnCode TSHttpHdrUrlGet(TSMBuffer bufp, TSMLoc hdr, TSMLoc* url) {
  Access access("TSHttpHdrUrlGet", bufp, {Kind::kRequest});
  if (!access) return TS_ERROR;
  if (Handle::of(hdr) != access.handle() || url == nullptr) return access.refuse("this is not the head of that buffer");
  *url = access.handle().with(Kind::kRequestUrl).as<TSMLoc>();
  return TS_SUCCESS;
}

const char* TSUrlHostGet(TSMBuffer bufp, TSMLoc url, int* length) {
  return url_part("TSUrlHostGet", bufp, url, length, [](const telltale::http::RequestHead& r) { return r.authority.host(); });
}
int TSUrlPortGet(TSMBuffer bufp, TSMLoc url) {
  Access access("TSUrlPortGet", bufp, {Kind::kRequest});
  if (!access || Handle::of(url) != access.handle().with(Kind::kRequestUrl)) return 0;
  return access.transaction().request().authority.port();
}
const char* TSUrlPathGet(TSMBuffer bufp, TSMLoc url, int* length) {
  return url_part("TSUrlPathGet", bufp, url, length,
                  [](const telltale::http::RequestHead& r) { return r.path.substr(r.path.starts_with('/') ? 1 : 0); });
}
const char* TSUrlHttpQueryGet(TSMBuffer bufp, TSMLoc url, int* length) {
  return url_part("TSUrlHttpQueryGet", bufp, url, length, [](const telltale::http::RequestHead& r) { return r.query; });
}

}  // extern "C"
