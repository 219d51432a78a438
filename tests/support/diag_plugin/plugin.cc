// SPDX-License-Identifier: Apache-2.0
// A module with every kind of site, and 50 run-time controls, for tests that load and unload it.
#include <array>

#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>

namespace {

constexpr DbgCtl plain_dbg{"test_plugin.plain"};
constexpr DbgCtl template_dbg{"test_plugin.template"};
constexpr DbgCtl static_dbg{"test_plugin.static"};

int evaluated = 0;

template <class T>
__attribute__((noinline)) void template_line(T value) {
  Dbg(template_dbg, "template {} {}", value, ++evaluated);
}
inline void inline_line() { Dbg(plain_dbg, "inline {}", ++evaluated); }

struct Static {
  Static() { Dbg(static_dbg, "static constructor"); }
  ~Static() { Dbg(static_dbg, "static destructor"); }
};
Static with_lines;

using telltale::diag::RuntimeControl;
RuntimeControl control{"test_plugin.control"};
struct FiveControls {
  RuntimeControl a{"test_plugin.member_a"}, b{"test_plugin.member_b"}, c{"test_plugin.member_c"}, d{"test_plugin.member_d"},
      e{"test_plugin.member_e"};
};
std::array<FiveControls, 10> controls;

}  // namespace

// Runs five lines and asks one control; returns how many times an argument was evaluated since loading.
extern "C" TELLTALE_EXPORT int diag_plugin_run() {
  Dbg(plain_dbg, "plain {}", ++evaluated);
  inline_line();
  template_line(1);
  template_line("text");
  auto lambda = [](auto value) { Dbg(plain_dbg, "lambda {} {}", value, ++evaluated); };
  lambda(2.5);
  if (control.on()) ++evaluated;
  return evaluated;
}
