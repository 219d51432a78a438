// SPDX-License-Identifier: Apache-2.0
//
// The debug family of ts/ts.h on the diag library. A plugin's control is a diag::RuntimeControl that lies in the
// plugin's memory; its module's byte is a diag::Module's.
#include <cstdarg>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include <telltale/diag/debug_control.h>
#include <telltale/diag/printf.h>
#include <telltale/diag/scope.h>
#include <telltale/diag/site.h>
#include <telltale/diag/tag.h>

#include "ts/ts.h"

namespace telltale::plugin {
namespace {

using diag::RuntimeControl;

static_assert(sizeof(TSDbgCtl) == sizeof(RuntimeControl) && alignof(TSDbgCtl) == alignof(RuntimeControl));
static_assert(std::is_standard_layout_v<RuntimeControl>);  // its first two members are the bytes of TSDbgCtl
static_assert(offsetof(TSDbgCtl, specific_on) == 1);
static_assert(sizeof(TSDbgModule) >= sizeof(diag::Module) + sizeof(void*) && alignof(TSDbgModule) == alignof(diag::Module));
static_assert(offsetof(diag::Module, string_tags_on) == 0 && offsetof(TSDbgModule, string_tags_on) == 0);

const RuntimeControl& control_of(const TSDbgCtl* control) { return *reinterpret_cast<const RuntimeControl*>(control); }

// A control of TSDbgCtlCreate(). What is slow, and may need the dynamic loader, is done without the list's lock.
struct Shared {
  TSDbgCtl control{};
  std::string tag;
  unsigned users = 1;        // guarded by the list's mutex
  Shared* next = nullptr;    // guarded by the list's mutex
};
struct SharedList {
  std::mutex mutex;
  Shared* first = nullptr;
};
SharedList& shared_list() {
  static auto* immortal = new SharedList;
  return *immortal;
}

void end(Shared* shared) {
  TSDbgCtlEnd(&shared->control);
  delete shared;
}

// Its module is not known: one more argument would not fit into registers where a line has one of its own.
diag::Place place(const char* file, const char* function, unsigned line, const char* format) {
  return {file, function, format != nullptr ? format : "", line};
}

// The Specific forms ask the transaction too.
bool with_lock_on(bool specific, bool flag) {
  const diag::Context* context = diag::current_context();
  return specific && (flag || (context != nullptr && context->locked_on));
}

}  // namespace

}  // namespace telltale::plugin

using namespace telltale::plugin;
namespace diag = telltale::diag;

// At global scope: there they are what ts/ts.h declares, and exported.
extern "C" {

void TSDbgCtlInit(TSDbgCtl* control, const char* tag) { new (control) RuntimeControl(tag == nullptr ? "" : tag); }

// One that was never given a tag has nothing to end.
void TSDbgCtlEnd(TSDbgCtl* control) {
  if (control->host[0] != nullptr) reinterpret_cast<RuntimeControl*>(control)->~RuntimeControl();
}

const char* TSDbgCtlTag(const TSDbgCtl* control) {
  return control->host[0] == nullptr ? "" : control_of(control).tag().data();  // a NUL follows it
}

bool TSDbgCtlWanted(const TSDbgCtl* control, bool specific, bool flag) {
  return control_of(control).on(with_lock_on(specific, flag));
}

void TSDbgCtlPrint(const TSDbgCtl* control, const char* file, const char* function, unsigned line, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  diag::write_printf({diag::Level::kDebug, TSDbgCtlTag(control), file, function, line, format}, arguments);
  va_end(arguments);
}

void TSDbgCtlLine(const TSDbgCtl* control, const char* file, const char* function, unsigned at, const char* format, ...) {
  if (!control_of(control).on_at(place(file, function, at >> 1, format), (at & 1) != 0)) return;
  std::va_list arguments;
  va_start(arguments, format);
  diag::write_printf({diag::Level::kDebug, TSDbgCtlTag(control), file, function, at >> 1, format}, arguments);
  va_end(arguments);
}

const TSDbgCtl* TSDbgCtlCreate(const char* tag) {
  auto fresh = std::make_unique<Shared>();
  fresh->tag = tag == nullptr ? "" : tag;
  TSDbgCtlInit(&fresh->control, tag);
  if (fresh->control.host[0] == nullptr) return nullptr;  // no tag; reported
  Shared* known;
  {
    SharedList& list = shared_list();
    std::lock_guard lock(list.mutex);
    known = list.first;
    while (known != nullptr && known->tag != fresh->tag) known = known->next;
    if (known != nullptr) {
      ++known->users;
    } else {
      fresh->next = list.first;
      list.first = fresh.get();
    }
  }
  if (known == nullptr) return &fresh.release()->control;
  end(fresh.release());
  return &known->control;
}

void TSDbgCtlDestroy(const TSDbgCtl* control) {
  Shared* ended = nullptr;
  bool found = control == nullptr;
  {
    SharedList& list = shared_list();
    std::lock_guard lock(list.mutex);
    for (Shared** at = &list.first; *at != nullptr; at = &(*at)->next) {
      if (&(*at)->control != control) continue;
      found = true;
      if (--(*at)->users == 0) {
        ended = *at;
        *at = ended->next;
      }
      break;
    }
  }
  if (ended != nullptr) end(ended);
  if (!found) TSError("TSDbgCtlDestroy: this control is no more, or was not made by TSDbgCtlCreate");
}

bool TSDbgTagWanted(const char* tag, bool specific, bool flag) {
  return tag != nullptr && diag::string_tag_wanted(tag, with_lock_on(specific, flag));
}

void TSDbgTagLine(const char* tag, const char* file, const char* function, unsigned at, const char* format, ...) {
  if (!diag::string_tag_wanted_at(tag, place(file, function, at >> 1, format), (at & 1) != 0)) return;
  std::va_list arguments;
  va_start(arguments, format);
  diag::write_printf({diag::Level::kDebug, tag, file, function, at >> 1, format}, arguments);
  va_end(arguments);
}

// Called once by each file of the module; the last word of the module says that it is in.
void TSDbgModuleAdd(TSDbgModule* module) {
  if (module->host[5] != nullptr) return;
  auto* added = new (module) diag::Module;
  added->address = module;
  module->host[5] = module;
  diag::add_module(*added);
}

void TSDbgModuleRemove(TSDbgModule* module) { diag::remove_module(*reinterpret_cast<diag::Module*>(module)); }

}  // extern "C"
