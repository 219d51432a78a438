// SPDX-License-Identifier: Apache-2.0
// A plugin's functions with a site of each kind, each beside a twin without one, as disabled_site/sites.cc has them.
#include <ts/ts.h>

static DbgCtl static_ctl{"conformance"};

struct Ssn {
  DbgCtl ctl{"conformance"};
  int id;
  int state;
};
void before(Ssn&);
void after(Ssn&);
int expensive(int);  // not to be evaluated while the site is off

#define VISIBLE extern "C" [[gnu::visibility("default"), gnu::noinline]]

VISIBLE int static_with_site(Ssn& ssn) {
  before(ssn);
  Dbg(static_ctl, "static %d", expensive(ssn.id));
  after(ssn);
  return ssn.state * 3 + 1;
}
VISIBLE int static_twin(Ssn& ssn) {
  before(ssn);
  after(ssn);
  return ssn.state * 3 + 1;
}

VISIBLE int member_with_site(Ssn& ssn) {
  before(ssn);
  Dbg(ssn.ctl, "member %d", ssn.id);
  after(ssn);
  return ssn.state * 5 + 2;
}
VISIBLE int member_twin(Ssn& ssn) {
  before(ssn);
  after(ssn);
  return ssn.state * 5 + 2;
}

VISIBLE int specific_with_site(Ssn& ssn) {
  before(ssn);
  SpecificDbg(expensive(ssn.state) != 0, static_ctl, "specific %d", ssn.id);
  after(ssn);
  return ssn.state * 7 + 3;
}
VISIBLE int specific_twin(Ssn& ssn) {
  before(ssn);
  after(ssn);
  return ssn.state * 7 + 3;
}

VISIBLE int by_name_with_site(Ssn& ssn) {
  before(ssn);
  TSDebug("conformance", "by name %d", expensive(ssn.id));
  after(ssn);
  return ssn.state * 9 + 4;
}
VISIBLE int by_name_twin(Ssn& ssn) {
  before(ssn);
  after(ssn);
  return ssn.state * 9 + 4;
}
