// SPDX-License-Identifier: Apache-2.0
//
// Lines that are always on. A plugin's go where the core's of the same level go.
#include <cstdarg>

#include <telltale/diag/level.h>
#include <telltale/diag/printf.h>

#include "ts/ts.h"

using telltale::diag::Level;

namespace {

void write(Level level, const char* format, std::va_list arguments) {
  telltale::diag::write_printf({level, "", "", "", 0, format}, arguments);
}

}  // namespace

#define TELLTALE_LEVEL(NAME, LEVEL)      \
  void NAME(const char* format, ...) {   \
    std::va_list arguments;              \
    va_start(arguments, format);         \
    write(LEVEL, format, arguments);     \
    va_end(arguments);                   \
  }
#define TELLTALE_LAST_LEVEL(NAME, LEVEL)                 \
  void NAME(const char* format, ...) {                   \
    std::va_list arguments;                              \
    va_start(arguments, format);                         \
    write(LEVEL, format, arguments);                     \
    va_end(arguments);                                   \
    telltale::diag::level_detail::end_process(LEVEL);    \
  }

extern "C" {

TELLTALE_LEVEL(TSStatus, Level::kStatus)
TELLTALE_LEVEL(TSNote, Level::kNote)
TELLTALE_LEVEL(TSWarning, Level::kWarning)
TELLTALE_LEVEL(TSError, Level::kError)
TELLTALE_LAST_LEVEL(TSFatal, Level::kFatal)
TELLTALE_LAST_LEVEL(TSAlert, Level::kAlert)
TELLTALE_LAST_LEVEL(TSEmergency, Level::kEmergency)

int _TSReleaseAssert(const char* text, const char* file, int line) { TSFatal("%s:%d: assertion failed: %s", file, line, text); }

}  // extern "C"
