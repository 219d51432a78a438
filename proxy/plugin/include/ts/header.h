/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Heads of messages: what stands in them, and their fields; see ts/ts.h, which brings it.
 *
 * Text that is handed out is not ended by a NUL: use its length. It lives as long as the transaction, unless the
 * field is changed. Text that is handed in has `length` bytes, or ends with a NUL where length is -1.
 *
 * A field is found, or made and appended:
 *
 *   TSMLoc field = TSMimeHdrFieldFind(bufp, hdr, "Via", -1);       // TS_NULL_MLOC: there is none
 *   TSMimeHdrFieldCreate(bufp, hdr, &field);                       // not in the head yet
 *   TSMimeHdrFieldNameSet(bufp, hdr, field, "X-Note", -1);
 *   TSMimeHdrFieldValueStringSet(bufp, hdr, field, -1, "hello", -1);
 *   TSMimeHdrFieldAppend(bufp, hdr, field);
 *   TSHandleMLocRelease(bufp, hdr, field);
 *
 * Refused with TS_ERROR and an error line: a name that is no token, a value with a control byte, and any change of
 * a field that frames the message, speaks about the connection or has decided where the request goes
 * (Content-Length, Transfer-Encoding, Connection, Keep-Alive, Proxy-Connection, TE, Trailer, Upgrade; Host and
 * Expect of a request). A transaction's plugins together may hold 1,024 fields and add 64 KiB.
 *
 * A field's value is a list, separated by commas, to the functions that take an index: from 0, or -1 for all of it.
 *
 * **Thread safety:** as ts/ts.h says. **Source:** RFC 9110 section 5. */

#include <ts/apidefs.h>

TS_BEGIN_C

/* TS_SUCCESS: the handle is no more. `parent` is not looked at. */
TS_API TSReturnCode TSHandleMLocRelease(TSMBuffer bufp, TSMLoc parent, TSMLoc mloc);

TS_API const char *TSHttpHdrMethodGet(TSMBuffer bufp, TSMLoc hdr, int *length); /* null: not a request's head */
TS_API TSHttpStatus TSHttpHdrStatusGet(TSMBuffer bufp, TSMLoc hdr);             /* 0: not a response's head */

TS_API TSReturnCode TSHttpHdrUrlGet(TSMBuffer bufp, TSMLoc hdr, TSMLoc *url);
TS_API const char *TSUrlHostGet(TSMBuffer bufp, TSMLoc url, int *length);
TS_API int TSUrlPortGet(TSMBuffer bufp, TSMLoc url);
TS_API const char *TSUrlPathGet(TSMBuffer bufp, TSMLoc url, int *length);      /* without the first '/' */
TS_API const char *TSUrlHttpQueryGet(TSMBuffer bufp, TSMLoc url, int *length); /* without '?' */

TS_API int TSMimeHdrFieldsCount(TSMBuffer bufp, TSMLoc hdr);
TS_API TSMLoc TSMimeHdrFieldGet(TSMBuffer bufp, TSMLoc hdr, int index);
TS_API TSMLoc TSMimeHdrFieldFind(TSMBuffer bufp, TSMLoc hdr, const char *name, int length);
/* The field behind this one, or behind it the next of the same name. */
TS_API TSMLoc TSMimeHdrFieldNext(TSMBuffer bufp, TSMLoc hdr, TSMLoc field);
TS_API TSMLoc TSMimeHdrFieldNextDup(TSMBuffer bufp, TSMLoc hdr, TSMLoc field);

TS_API TSReturnCode TSMimeHdrFieldCreate(TSMBuffer bufp, TSMLoc hdr, TSMLoc *field);
TS_API TSReturnCode TSMimeHdrFieldCreateNamed(TSMBuffer bufp, TSMLoc hdr, const char *name, int length, TSMLoc *field);
TS_API TSReturnCode TSMimeHdrFieldAppend(TSMBuffer bufp, TSMLoc hdr, TSMLoc field);
TS_API TSReturnCode TSMimeHdrFieldRemove(TSMBuffer bufp, TSMLoc hdr, TSMLoc field);  /* out of the head; may be appended again */
TS_API TSReturnCode TSMimeHdrFieldDestroy(TSMBuffer bufp, TSMLoc hdr, TSMLoc field); /* and the handle is no more */

TS_API const char *TSMimeHdrFieldNameGet(TSMBuffer bufp, TSMLoc hdr, TSMLoc field, int *length);
TS_API TSReturnCode TSMimeHdrFieldNameSet(TSMBuffer bufp, TSMLoc hdr, TSMLoc field, const char *name, int length);

TS_API int TSMimeHdrFieldValuesCount(TSMBuffer bufp, TSMLoc hdr, TSMLoc field);
TS_API TSReturnCode TSMimeHdrFieldValuesClear(TSMBuffer bufp, TSMLoc hdr, TSMLoc field);
TS_API const char *TSMimeHdrFieldValueStringGet(TSMBuffer bufp, TSMLoc hdr, TSMLoc field, int index, int *length);
TS_API TSReturnCode TSMimeHdrFieldValueStringSet(TSMBuffer bufp, TSMLoc hdr, TSMLoc field, int index, const char *value, int length);
/* Before the value of that index; -1: at the end of the list. */
TS_API TSReturnCode TSMimeHdrFieldValueStringInsert(TSMBuffer bufp, TSMLoc hdr, TSMLoc field, int index, const char *value,
                                                    int length);

TS_END_C
