// SPDX-License-Identifier: Apache-2.0
// Every debug flavour of ts/ts.h, for tests that load it, switch, and count what came out. Compiled with the
// default visibility, as a careless author would.
#include <ts/ts.h>

namespace {

int evaluated = 0;
int count() { return ++evaluated; }

DbgCtl static_ctl{"flavour.on"};
struct Member {
  DbgCtl ctl{"flavour.on"};
} member;
const TSDbgCtl* const created = TSDbgCtlCreate("flavour.on");
const TSDbgCtl* const created_other = TSDbgCtlCreate("flavours_not");
DbgCtl other_ctl{"flavours_not"};

struct AtLoad {
  AtLoad() {
    Dbg(static_ctl, "static initialiser");
    TSDebug("flavour.on", "static initialiser by name");
  }
  ~AtLoad() {
    Dbg(static_ctl, "static destructor");
    TSDebug("flavour.on", "static destructor by name");
    TSDbgCtlDestroy(created);
    TSDbgCtlDestroy(created_other);
  }
} at_load;

template <class T>
void in_template(T counter) {
  Dbg(static_ctl, "template %d", counter());
}

}  // namespace

extern "C" {

// Each runs one flavour with a tag that tests turn on (or, `other`, one that they do not); returns how many
// arguments were evaluated since the plugin was loaded.
int run_dbg(bool other) {
  if (other) {
    Dbg(other_ctl, "dbg %d", count());
    return evaluated;
  }
  Dbg(static_ctl, "dbg %d", count());
  return evaluated;
}
int run_member() {
  Dbg(member.ctl, "member %d", count());
  return evaluated;
}
int run_local() {
  DbgCtl local("flavour.on");
  Dbg(local, "local %d", count());
  return evaluated;
}
int run_template() {
  in_template(count);
  return evaluated;
}
int run_specific_dbg(bool other, bool flag) {
  SpecificDbg(flag, other ? other_ctl : static_ctl, "specific %d", count());
  return evaluated;
}
int run_dbg_print() {
  if (static_ctl.on()) DbgPrint(static_ctl, "print %d", count());
  return evaluated;
}
int run_tsdbg(bool other) {
  TSDbg(other ? created_other : created, "tsdbg %d", count());
  return evaluated;
}
int run_tsdebug(bool other) {
  TSDebug(other ? "flavours_not" : "flavour.on", "tsdebug %d", count());
  return evaluated;
}
int run_tag_set(bool other) {
  if (TSIsDebugTagSet(other ? "flavours_not" : "flavour.on")) TSDebug(other ? "flavours_not" : "flavour.on", "tag set %d", count());
  return evaluated;
}
int run_tsdebug_specific(bool other, bool flag) {
  TSDebugSpecific(flag, other ? "flavours_not" : "flavour.on", "tsdebug specific %d", count());
  return evaluated;
}
}
