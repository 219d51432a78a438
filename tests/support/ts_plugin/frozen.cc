// SPDX-License-Identifier: Apache-2.0
// A plugin as one is that was built with the ts/ts.h of Telltale 0.1: what its debug family compiled into it, written
// out. It includes nothing of the interface, so that a change there does not change it. Where the test that loads it
// (tests/unit/plugin/mode_table_test.cc) fails, plugins that are built already would break.

#define EXPORT __attribute__((visibility("default")))

extern "C" {

struct Control {
  volatile unsigned char on;
  volatile unsigned char specific_on;
  void* host[3];
};

struct Module {
  volatile unsigned char string_tags_on;
  void* host[6];
};

const Control* TSDbgCtlCreate(const char* tag);
void TSDbgCtlDestroy(const Control* control);
void TSDbgCtlInit(Control* control, const char* tag);
void TSDbgCtlEnd(Control* control);
const char* TSDbgCtlTag(const Control* control);
bool TSDbgCtlWanted(const Control* control, bool specific, bool flag);
void TSDbgCtlPrint(const Control* control, const char* file, const char* function, unsigned line, const char* format, ...);
bool TSDbgTagWanted(const char* tag, bool specific, bool flag);
void TSDbgCtlLine(const Control* control, const char* file, const char* function, unsigned at, const char* format, ...);
void TSDbgTagLine(const char* tag, const char* file, const char* function, unsigned at, const char* format, ...);
void TSDbgModuleAdd(Module* module);
void TSDbgModuleRemove(Module* module);

static Module module;
static Control control;
static const Control* created;

__attribute__((constructor)) static void begin() {
  TSDbgModuleAdd(&module);
  TSDbgCtlInit(&control, "frozen.member");
  created = TSDbgCtlCreate("frozen.created");
}
__attribute__((destructor)) static void end() {
  TSDbgCtlDestroy(created);
  TSDbgCtlEnd(&control);
  TSDbgModuleRemove(&module);
}

// Each line once; returns how many arguments were evaluated since the plugin was loaded.
EXPORT int run_frozen() {
  static int evaluated = 0;
  if (control.on != 0 && TSDbgCtlWanted(&control, false, false)) {
    TSDbgCtlLine(&control, "frozen.c", "run", 10u << 1 | 0, "%s %d", TSDbgCtlTag(&control), ++evaluated);
  }
  if (control.specific_on != 0 && TSDbgCtlWanted(&control, true, true)) {
    TSDbgCtlLine(&control, "frozen.c", "run", 11u << 1 | 1, "specific %d", ++evaluated);
  }
  if (created->on != 0 && TSDbgCtlWanted(created, false, false)) {
    TSDbgCtlPrint(created, "frozen.c", "run", 12, "created %d", ++evaluated);
  }
  if (module.string_tags_on != 0 && TSDbgTagWanted("frozen.string", false, false)) {
    TSDbgTagLine("frozen.string", "frozen.c", "run", 13u << 1 | 0, "string %d", ++evaluated);
  }
  return evaluated;
}

}  // extern "C"
