/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* The debug family of the plugin interface; see ts/ts.h, which brings it.
 *
 *   static DbgCtl dbg_ctl{"my_plugin"};             // C++: a control, static, member or local; any tag
 *   Dbg(dbg_ctl, "client %s asked", name);          // arguments are not evaluated while it is off
 *   SpecificDbg(flag, dbg_ctl, "...");              // also where flag is true and debug is on at all
 *   if (dbg_ctl.on()) DbgPrint(dbg_ctl, "...");     // DbgPrint does not ask
 *   const TSDbgCtl *c = TSDbgCtlCreate("my_plugin");  // C: one per tag, TSDbg(c, ...), TSIsDbgCtlSet(c)
 *   TSDebug("my_plugin", "...");                    // by name: a look-up at each call while debug is on
 *
 * A control is an object that holds its byte, and its sites share it: off, a site costs one compare with memory and
 * one branch. Calls by name are guarded by one byte of the module. What is on: docs/diagnostics.md.
 *
 * **Thread safety:** thread-safe, in static initialisers and destructors too. */

#include <ts/apidefs.h>

#ifdef TELLTALE_DBG
#error "both debug families in one file: define TELLTALE_SITES before ts/ts.h, which then brings <telltale/diag/dbg.h> itself"
#endif
#define TELLTALE_TS_DEBUG_FAMILY 1

TS_BEGIN_C

/* A control. Made by DbgCtl or TSDbgCtlCreate(); the daemon writes the bytes. */
typedef struct TSDbgCtl {
  volatile unsigned char on;          /* 0 = off */
  volatile unsigned char specific_on; /* 0 = off for Specific* too */
  void *host[3];
} TSDbgCtl;

/* One per module (plugin or program): made by this header. */
typedef struct TSDbgModule {
  volatile unsigned char string_tags_on; /* 0 = no string tag is on */
  void *host[6];
} TSDbgModule;

/* Same tag, same control. Null, with a warning line: not a tag (1 to 64 bytes of printable ASCII without space and '%'). */
TS_API const TSDbgCtl *TSDbgCtlCreate(const char *tag);
/* Gives one TSDbgCtlCreate() back; after the last one the control is gone. Null does nothing. */
TS_API void TSDbgCtlDestroy(const TSDbgCtl *control);

/* Used by the macros below, not by plugins. */
TS_API void TSDbgCtlInit(TSDbgCtl *control, const char *tag);
TS_API void TSDbgCtlEnd(TSDbgCtl *control);
TS_API const char *TSDbgCtlTag(const TSDbgCtl *control);
TS_API bool TSDbgCtlWanted(const TSDbgCtl *control, bool specific, bool flag) __attribute__((cold));
TS_API void TSDbgCtlPrint(const TSDbgCtl *control, const char *file, const char *function, unsigned line, const char *format, ...)
    TS_PRINTF(5, 6);
TS_API bool TSDbgTagWanted(const char *tag, bool specific, bool flag) __attribute__((cold));
/* Writes a line that was wanted, unless a rule about its place (file, function, line, text) says no; leases
 * count it. The arguments are evaluated by then: to hand the place over before would have the caller's function save
 * more registers, also where the line is off. `at` is the line number with the Specific form's bit below it; that form
 * is written whatever the place. */
TS_API void TSDbgCtlLine(const TSDbgCtl *control, const char *file, const char *function, unsigned at, const char *format, ...)
    TS_PRINTF(5, 6);
TS_API void TSDbgTagLine(const char *tag, const char *file, const char *function, unsigned at, const char *format, ...) TS_PRINTF(5, 6);
TS_API void TSDbgModuleAdd(TSDbgModule *module);
TS_API void TSDbgModuleRemove(TSDbgModule *module);

/* Hidden and merged by the linker: one per module, registered before its initialisers run, removed after its
 * destructors. */
__attribute__((weak, visibility("hidden"))) TSDbgModule ts_dbg_module;
__attribute__((weak, visibility("hidden"), constructor(101))) void ts_dbg_module_add(void) { TSDbgModuleAdd(&ts_dbg_module); }
__attribute__((weak, visibility("hidden"), destructor(101))) void ts_dbg_module_remove(void) { TSDbgModuleRemove(&ts_dbg_module); }

TS_END_C

/* One compare with memory. Written out, because compilers load a volatile byte into a register first. */
#if defined(__SANITIZE_THREAD__)
#define TS_DBG_PORTABLE 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TS_DBG_PORTABLE 1
#endif
#endif
#if defined(__x86_64__) && !defined(TS_DBG_PORTABLE)
#define TS_DBG_BYTE_SET(BYTE)                                                         \
  __extension__({                                                                     \
    bool ts_set;                                                                      \
    __asm__ __volatile__("cmpb $0, %1" : "=@ccne"(ts_set) : "m"(BYTE));               \
    __builtin_expect(ts_set, 0);                                                      \
  })
#else
#define TS_DBG_BYTE_SET(BYTE) __builtin_expect(__atomic_load_n(&(BYTE), __ATOMIC_RELAXED) != 0, 0)
#endif
#if defined(__x86_64__) && !defined(TS_DBG_PORTABLE) && !defined(__clang__)
/* The address of a control or a tag for its second use. g++ would keep the first one in a register across the call in
 * between, and save that register at the function's start, on the disabled path. */
#define TS_DBG_AGAIN(ADDRESS)                                                         \
  __extension__({                                                                     \
    __typeof__(&*(ADDRESS)) ts_again;                                                 \
    __asm__ __volatile__("leaq %1, %0" : "=r"(ts_again) : "m"(*(ADDRESS)));           \
    ts_again;                                                                         \
  })
#else
#define TS_DBG_AGAIN(ADDRESS) (ADDRESS)
#endif

#define TS_DBG_HERE(SPECIFIC) __FILE__, __func__, (unsigned)__LINE__ << 1 | (SPECIFIC)

#ifdef __cplusplus
#include <utility>

/* Copies of the tag are kept by the daemon. A tag that is not one leaves the control off and is reported. */
class DbgCtl {
 public:
  DbgCtl() : state_() {}  // has no tag: off
  explicit DbgCtl(const char *tag) : state_() { TSDbgCtlInit(&state_, tag); }
  DbgCtl(DbgCtl &&other) : state_() { TSDbgCtlInit(&state_, other.tag()); }
  DbgCtl(const DbgCtl &) = delete;
  DbgCtl &operator=(const DbgCtl &) = delete;
  ~DbgCtl() { TSDbgCtlEnd(&state_); }

  bool on() const { return TS_DBG_BYTE_SET(state_.on) && TSDbgCtlWanted(&state_, false, false); }
  const char *tag() const { return TSDbgCtlTag(&state_); }
  const TSDbgCtl *state() const { return &state_; }

 private:
  TSDbgCtl state_;
};

/* `CTL` is evaluated for its address only, as often as it is needed. */
#define Dbg(CTL, ...) TSDbg((CTL).state(), __VA_ARGS__)
#define DbgPrint(CTL, ...) TSDbgCtlPrint((CTL).state(), __FILE__, __func__, __LINE__, __VA_ARGS__)
#define SpecificDbg(FLAG, CTL, ...)                                                                              \
  do {                                                                                                           \
    if (__builtin_expect(TS_DBG_BYTE_SET((CTL).state()->specific_on) && TSDbgCtlWanted((CTL).state(), true, (FLAG)), 0)) \
      TSDbgCtlLine(TS_DBG_AGAIN((CTL).state()), TS_DBG_HERE(1), __VA_ARGS__);                                                  \
  } while (0)
#endif

#define TSDbg(CONTROL, ...)                                                              \
  do {                                                                                   \
    if (TSIsDbgCtlSet(CONTROL)) TSDbgCtlLine(TS_DBG_AGAIN(CONTROL), TS_DBG_HERE(0), __VA_ARGS__);    \
  } while (0)
#define TSIsDbgCtlSet(CONTROL) __builtin_expect(TS_DBG_BYTE_SET((CONTROL)->on) && TSDbgCtlWanted((CONTROL), false, false), 0)

#define TSIsDebugTagSet(TAG) \
  ((int)__builtin_expect(TS_DBG_BYTE_SET(ts_dbg_module.string_tags_on) && TSDbgTagWanted((TAG), false, false), 0))
#define TSDebug(TAG, ...)                                                                \
  do {                                                                                   \
    if (TSIsDebugTagSet(TAG)) TSDbgTagLine(TS_DBG_AGAIN(TAG), TS_DBG_HERE(0), __VA_ARGS__);          \
  } while (0)
#define TSDebugSpecific(FLAG, TAG, ...)                                                  \
  do {                                                                                   \
    if (__builtin_expect(TS_DBG_BYTE_SET(ts_dbg_module.string_tags_on) && TSDbgTagWanted((TAG), true, (FLAG)), 0)) \
      TSDbgTagLine(TS_DBG_AGAIN(TAG), TS_DBG_HERE(1), __VA_ARGS__);                                  \
  } while (0)
