/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Types and constants of the plugin interface; see ts/ts.h, which brings them.
 *
 * Names are those of the Apache Traffic Server plugin API, so that a plugin's source compiles; numbers are not,
 * so a plugin is built with these headers. Handles are opaque: no plugin may look into one or keep one beyond
 * what is said at its type.
 *
 * **Thread safety:** immutable. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define TS_BEGIN_C extern "C" {
#define TS_END_C }
#else
#define TS_BEGIN_C
#define TS_END_C
#endif
/* What the daemon offers, and nothing else of it. */
#define TS_API __attribute__((visibility("default")))
#define TS_PRINTF(FORMAT, FIRST) __attribute__((format(printf, FORMAT, FIRST)))

typedef struct tsapi_cont *TSCont;       /* until TSContDestroy() */
typedef struct tsapi_mutex *TSMutex;     /* until TSMutexDestroy() */
typedef struct tsapi_httptxn *TSHttpTxn; /* until its TS_EVENT_HTTP_TXN_CLOSE is answered */
typedef struct tsapi_httpssn *TSHttpSsn; /* as the transaction it was taken from */
typedef struct tsapi_mbuffer *TSMBuffer; /* as its transaction */
typedef struct tsapi_mloc *TSMLoc;       /* until TSHandleMLocRelease(), at most as its transaction */
typedef struct tsapi_thread *TSThread;   /* as long as the thread runs */

#define TS_NULL_MLOC ((TSMLoc)0)
#define TS_NULL_MUTEX ((TSMutex)0)

typedef enum { TS_ERROR = -1, TS_SUCCESS = 0 } TSReturnCode;

/* Hooks. Those behind the first group are known by name only: TSHttpHookAdd() refuses them. */
typedef enum {
  TS_HTTP_TXN_START_HOOK = 1, /* the request has been read; nothing was done yet */
  TS_HTTP_READ_REQUEST_HDR_HOOK,
  TS_HTTP_SEND_RESPONSE_HDR_HOOK,
  TS_HTTP_TXN_CLOSE_HOOK,

  TS_HTTP_OS_DNS_HOOK = 100,
  TS_HTTP_SEND_REQUEST_HDR_HOOK,
  TS_HTTP_READ_CACHE_HDR_HOOK,
  TS_HTTP_READ_RESPONSE_HDR_HOOK,
  TS_HTTP_REQUEST_TRANSFORM_HOOK,
  TS_HTTP_RESPONSE_TRANSFORM_HOOK,
  TS_HTTP_SELECT_ALT_HOOK,
  TS_HTTP_SSN_START_HOOK,
  TS_HTTP_SSN_CLOSE_HOOK,
  TS_HTTP_CACHE_LOOKUP_COMPLETE_HOOK,
  TS_HTTP_PRE_REMAP_HOOK,
  TS_HTTP_POST_REMAP_HOOK
} TSHttpHookID;

/* What a continuation's handler is called with. The data of the first four is the TSHttpTxn. */
typedef enum {
  TS_EVENT_NONE = 0,
  TS_EVENT_HTTP_TXN_START = 1,
  TS_EVENT_HTTP_READ_REQUEST_HDR,
  TS_EVENT_HTTP_SEND_RESPONSE_HDR,
  TS_EVENT_HTTP_TXN_CLOSE,

  TS_EVENT_HTTP_CONTINUE = 200, /* what TSHttpTxnReenable() takes */
  TS_EVENT_HTTP_ERROR,

  TS_EVENT_HTTP_OS_DNS = 300,
  TS_EVENT_HTTP_SEND_REQUEST_HDR,
  TS_EVENT_HTTP_READ_CACHE_HDR,
  TS_EVENT_HTTP_READ_RESPONSE_HDR,
  TS_EVENT_HTTP_SELECT_ALT,
  TS_EVENT_HTTP_SSN_START,
  TS_EVENT_HTTP_SSN_CLOSE,
  TS_EVENT_HTTP_CACHE_LOOKUP_COMPLETE,
  TS_EVENT_HTTP_PRE_REMAP,
  TS_EVENT_HTTP_POST_REMAP,

  TS_EVENT_IMMEDIATE = 400, /* for a plugin's own calls of its handler */
  TS_EVENT_TIMEOUT
} TSEvent;

typedef int TSHttpStatus; /* a status code; constants of the common ones */
enum {
  TS_HTTP_STATUS_NONE = 0,
  TS_HTTP_STATUS_OK = 200,
  TS_HTTP_STATUS_NO_CONTENT = 204,
  TS_HTTP_STATUS_MOVED_PERMANENTLY = 301,
  TS_HTTP_STATUS_NOT_MODIFIED = 304,
  TS_HTTP_STATUS_BAD_REQUEST = 400,
  TS_HTTP_STATUS_FORBIDDEN = 403,
  TS_HTTP_STATUS_NOT_FOUND = 404,
  TS_HTTP_STATUS_INTERNAL_SERVER_ERROR = 500,
  TS_HTTP_STATUS_BAD_GATEWAY = 502
};

/* A plugin says who it is; all three must be given, and are copied. */
typedef struct {
  const char *plugin_name;
  const char *vendor_name;
  const char *support_email;
} TSPluginRegistrationInfo;

/* Returns 0; the value is not looked at. */
typedef int (*TSEventFunc)(TSCont contp, TSEvent event, void *edata);
typedef void *(*TSThreadFunc)(void *data);
