// SPDX-License-Identifier: Apache-2.0
// Functions with a site, each beside a twin without one. check.py compares their disabled paths.
//
// They call others before and behind the site and keep their argument for the end, as nearly all functions
// that log do. Both compilers save at a function's start what its calls need, cold calls included: a
// function that calls nothing else, or a site with two calls among its arguments, pays a push or two for
// the calls of the enabled path, as it would behind any other branch.
#include <telltale/diag/dbg.h>

constexpr DbgCtl dbg{"conformance"};

struct Ssn {
  int id;
  int state;
};
void before(Ssn&);
void after(Ssn&);
int expensive(int);  // not to be evaluated while the site is off

#define VISIBLE extern "C" [[gnu::visibility("default"), gnu::noinline]]

VISIBLE int core_with_site(Ssn& ssn) {
  before(ssn);
  Dbg(dbg, "core {}", expensive(ssn.id));
  after(ssn);
  return ssn.state * 3 + 1;
}
VISIBLE int core_twin(Ssn& ssn) {
  before(ssn);
  after(ssn);
  return ssn.state * 3 + 1;
}

[[gnu::always_inline]] inline void inlined(Ssn& ssn) {
  Dbg(dbg, "inline {}", ssn.id, field("state", ssn.state));
}
VISIBLE int inline_with_site(Ssn& ssn) {
  before(ssn);
  inlined(ssn);
  after(ssn);
  return ssn.state * 5 + 2;
}
VISIBLE int inline_twin(Ssn& ssn) {
  before(ssn);
  after(ssn);
  return ssn.state * 5 + 2;
}

template <class T>
[[gnu::noinline]] int instance(T& ssn) {
  before(ssn);
  Dbg(dbg, "template {} {}", ssn.id, ssn.state);
  after(ssn);
  return ssn.state * 7 + 3;
}
VISIBLE int template_caller(Ssn& ssn) { return instance(ssn) + 1; }
VISIBLE int template_twin(Ssn& ssn) {
  before(ssn);
  after(ssn);
  return ssn.state * 7 + 3;
}

VISIBLE int specific_with_site(Ssn& ssn) {
  before(ssn);
  SpecificDbg(expensive(ssn.state) != 0, dbg, "specific {}", ssn.id);
  after(ssn);
  return ssn.state * 9 + 4;
}
VISIBLE int specific_twin(Ssn& ssn) {
  before(ssn);
  after(ssn);
  return ssn.state * 9 + 4;
}

VISIBLE int two_with_sites(Ssn& ssn) {
  before(ssn);
  Dbg(dbg, "first {}", ssn.id);
  Dbg(dbg, "second");
  after(ssn);
  return ssn.state * 11 + 5;
}
VISIBLE int two_twin(Ssn& ssn) {
  before(ssn);
  after(ssn);
  return ssn.state * 11 + 5;
}
