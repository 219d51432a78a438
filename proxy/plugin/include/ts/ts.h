/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The plugin interface of Telltale: all a plugin includes. C linkage; compiles as C and as C++17.
 *
 * The subset of the Apache Traffic Server plugin API that it covers has that API's names and meaning; what is not
 * declared here is not offered, and a plugin that needs it is not loaded. How to write one: docs/plugin_guide.md.
 *
 * Debug: ts/debug.h. A C++20 plugin that defines TELLTALE_SITES before this header gets the core's debug family
 * (<telltale/diag/dbg.h>, formats of fmt, a switch per site) instead of that one.
 *
 * Misuse (a handle that is no more, a hook answered twice) is answered with TS_ERROR, null or nothing, and an
 * error line that names the plugin.
 *
 * **Thread safety:** thread-safe, but for one thing: what is read or changed of a transaction is read and changed
 * by one thread at a time, in its callback or while the plugin holds it suspended.
 * **Source:** the Apache Traffic Server plugin API, versions 9 and 10. */

#include <ts/apidefs.h>

#if defined(TELLTALE_SITES)
#include <telltale/diag/dbg.h>
#else
#include <ts/debug.h>
#endif

#include <sys/socket.h>

TS_BEGIN_C

/* ---- start */

/* The plugin's own: called once, on the main thread, before anything is served. argv[0] is the plugin's path. */
TS_API void TSPluginInit(int argc, const char *argv[]);
/* REQUIRES: called by TSPluginInit(); a plugin that does not is refused. */
TS_API TSReturnCode TSPluginRegister(const TSPluginRegistrationInfo *info);
TS_API const char *TSTrafficServerVersionGet(void); /* "Telltale/0.1.0" */
TS_API const char *TSPluginDirGet(void);            /* the folder that relative names in plugin.config are below */

/* ---- lines that are always on; the last three end the process */

TS_API void TSStatus(const char *format, ...) TS_PRINTF(1, 2);
TS_API void TSNote(const char *format, ...) TS_PRINTF(1, 2);
TS_API void TSWarning(const char *format, ...) TS_PRINTF(1, 2);
TS_API void TSError(const char *format, ...) TS_PRINTF(1, 2);
TS_API void TSFatal(const char *format, ...) TS_PRINTF(1, 2) __attribute__((noreturn));
TS_API void TSAlert(const char *format, ...) TS_PRINTF(1, 2) __attribute__((noreturn));
TS_API void TSEmergency(const char *format, ...) TS_PRINTF(1, 2) __attribute__((noreturn));
/* Ends the process with a fatal line. */
TS_API int _TSReleaseAssert(const char *text, const char *file, int line);
#define TSReleaseAssert(CONDITION) ((void)((CONDITION) ? 0 : _TSReleaseAssert(#CONDITION, __FILE__, __LINE__)))
#define TSAssert(CONDITION) TSReleaseAssert(CONDITION)

/* ---- memory, locks and threads */

TS_API void *TSmalloc(size_t bytes); /* never null: no memory ends the process */
TS_API void *TSrealloc(void *memory, size_t bytes);
TS_API char *TSstrdup(const char *text);
TS_API char *TSstrndup(const char *text, size_t bytes_max);
TS_API void TSfree(void *memory);

TS_API TSMutex TSMutexCreate(void); /* recursive */
TS_API void TSMutexDestroy(TSMutex mutex);
TS_API void TSMutexLock(TSMutex mutex);
TS_API TSReturnCode TSMutexLockTry(TSMutex mutex);
TS_API void TSMutexUnlock(TSMutex mutex);
/* A detached thread; its lines carry the plugin's name. Null: the system has none left. */
TS_API TSThread TSThreadCreate(TSThreadFunc function, void *data);

/* ---- continuations */

/* Null: as many as there may be exist. With a mutex, the handler runs with it locked. */
TS_API TSCont TSContCreate(TSEventFunc handler, TSMutex mutex);
TS_API void TSContDestroy(TSCont contp); /* its hooks are not called any more; the mutex stays */
TS_API void TSContDataSet(TSCont contp, void *data);
TS_API void *TSContDataGet(TSCont contp);
TS_API TSMutex TSContMutexGet(TSCont contp);

/* ---- hooks */

/* For all transactions. REQUIRES: called by TSPluginInit(). TS_ERROR: this hook is not offered. */
TS_API TSReturnCode TSHttpHookAdd(TSHttpHookID id, TSCont contp);
/* For this transaction, behind the global ones; at most 1,024 of them. */
TS_API TSReturnCode TSHttpTxnHookAdd(TSHttpTxn txnp, TSHttpHookID id, TSCont contp);
/* Each call of a hook's handler is answered by one call of this: in the handler, or later, from any thread. Until
 * then the transaction stands still. TS_EVENT_HTTP_ERROR: the proxy answers the request with an error. */
TS_API void TSHttpTxnReenable(TSHttpTxn txnp, TSEvent event);
TS_API const char *TSHttpHookNameLookup(TSHttpHookID hook);
TS_API const char *TSHttpEventNameLookup(TSEvent event);

/* ---- transactions */

TS_API uint64_t TSHttpTxnIdGet(TSHttpTxn txnp); /* 345 in {c12 t345}; 0 = no such transaction */
TS_API TSHttpSsn TSHttpTxnSsnGet(TSHttpTxn txnp);
/* Null: not known. Lives as long as the transaction. */
TS_API const struct sockaddr *TSHttpTxnClientAddrGet(TSHttpTxn txnp);
/* SpecificDbg lines, the core's too, print for this transaction (from now on), or for this connection and its later
 * transactions, wherever debug is on at all. */
TS_API void TSHttpTxnDebugSet(TSHttpTxn txnp, int on);
TS_API int TSHttpTxnDebugGet(TSHttpTxn txnp);
TS_API void TSHttpSsnDebugSet(TSHttpSsn ssnp, int on);
TS_API int TSHttpSsnDebugGet(TSHttpSsn ssnp, int *on); /* TS_ERROR: not known; `on` may be null */

/* The heads. TS_ERROR: there is none now; the response is there at TS_HTTP_SEND_RESPONSE_HDR_HOOK only. */
TS_API TSReturnCode TSHttpTxnClientReqGet(TSHttpTxn txnp, TSMBuffer *bufp, TSMLoc *hdr);
TS_API TSReturnCode TSHttpTxnClientRespGet(TSHttpTxn txnp, TSMBuffer *bufp, TSMLoc *hdr);

TS_END_C

#include <ts/header.h>
