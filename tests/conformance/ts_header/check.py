#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""ts/ts.h compiles as C and as C++; mistakes in it do not; a disabled site in a plugin is one compare and one branch.

Also: the sample of docs/plugin_guide.md compiles, and the daemon exports every function the headers declare, and
nothing else of its own.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "disabled_site"))
from check import check_not_unique, check_pairs, run  # noqa: E402

PAIRS = [("static_with_site", "static_twin", 1), ("member_with_site", "member_twin", 1),
         ("specific_with_site", "specific_twin", 1), ("by_name_with_site", "by_name_twin", 1)]
COMMON = ["-Wall", "-Wextra", "-Wpedantic", "-Wformat=2", "-Werror"]
C_FILE = """#include <ts/ts.h>
static int handler(TSCont contp, TSEvent event, void *edata) {
  TSDebug("c_plugin", "event %s of %p", TSHttpEventNameLookup(event), (void *)contp);
  TSHttpTxnReenable((TSHttpTxn)edata, TS_EVENT_HTTP_CONTINUE);
  return 0;
}
void TSPluginInit(int argc, const char *argv[]) {
  const TSDbgCtl *control = TSDbgCtlCreate("c_plugin");
  TSPluginRegistrationInfo info = {"c_plugin", "nobody", "nowhere"};
  TSDbg(control, "%d arguments, the first is %s", argc, argv[0]);
  if (TSIsDebugTagSet("c_plugin") || TSIsDbgCtlSet(control)) TSNote("debug is on");
  TSDebugSpecific(argc > 1, "c_plugin", "specific");
  if (TSPluginRegister(&info) != TS_SUCCESS) TSError("not registered");
  TSHttpHookAdd(TS_HTTP_TXN_START_HOOK, TSContCreate(handler, TS_NULL_MUTEX));
  TSAssert(control != 0);
}
"""
PROLOGUE = """#include <ts/ts.h>
static DbgCtl ctl{"tag"};
void function(const TSDbgCtl *c, const char *text) { (void)c, (void)text, (void)ctl; %s }
"""
GOOD = ['Dbg(ctl, "%s", text);', 'Dbg(ctl, "no argument");', 'TSDbg(c, "%p", (void *)c);', 'TSError("%.*s", 1, text);',
        'if (ctl.on()) DbgPrint(ctl, "%d", 1); else TSNote("dangling");',
        'if (text) Dbg(ctl, "x"); else SpecificDbg(true, ctl, "y");', 'DbgCtl local("any tag"); Dbg(local, "x");']
BAD = ['Dbg(ctl, "%s", 1);', 'Dbg(ctl, "%d");', 'SpecificDbg(true, ctl, "%d", text);', 'DbgPrint(ctl, "%d", text);',
       'TSDbg(c, "%p %s", (void *)c, 1);', 'TSDebug("t", "%s", 1);', 'TSDebugSpecific(1, "t", "%s", 1);', 'TSError("%d", text);',
       'TSFatal("%s", 1);', 'Dbg(ctl, text);', 'DbgCtl copy(ctl);', 'Dbg(ctl, "%d", 1, 2);']


def compiles(command, source):
    return subprocess.run([*map(str, command), "-"], input=source, capture_output=True, text=True)


def check_compiler(compiler, c_compiler, options, failures):
    include = ["-I", options.include, "-I", options.diag_include]
    for standard in ("c99", "c11", "c17"):
        done = compiles([c_compiler, f"-std={standard}", "-fsyntax-only", *COMMON, *include, "-x", "c"], C_FILE)
        if done.returncode:
            failures.append(f"{c_compiler} {standard}: {done.stderr}")
    for standard in ("c++17", "c++20"):
        cxx = [compiler, f"-std={standard}", "-fsyntax-only", *COMMON, *include, "-x", "c++"]
        for source in (C_FILE, *(PROLOGUE % line for line in GOOD)):
            if (done := compiles(cxx, source)).returncode:
                failures.append(f"{compiler} {standard}: {done.stderr}")
        failures += [f"{compiler} {standard} accepts {line}" for line in BAD if compiles(cxx, PROLOGUE % line).returncode == 0]
    cxx = [compiler, "-std=c++20", "-fsyntax-only", *include, "-x", "c++"]
    for both in ("#include <telltale/diag/dbg.h>\n#include <ts/ts.h>\n", "#include <ts/ts.h>\n#include <telltale/diag/dbg.h>\n"):
        if "define TELLTALE_SITES before ts/ts.h" not in compiles(cxx, both).stderr:
            failures.append(f"{compiler}: both families in one file are not refused")
        if (done := compiles(cxx, "#define TELLTALE_SITES\n" + both)).returncode:
            failures.append(f"{compiler}: TELLTALE_SITES: {done.stderr}")


def check_sample(compiler, options, folder):
    samples = re.findall(r"```cpp\n(.*?)```", options.guide.read_text(), re.S)
    if len(samples) != 1:
        sys.exit(f"{options.guide}: expected one C++ sample, found {len(samples)}")
    source = folder / "sample.cc"
    source.write_text(samples[0])
    run(compiler, "-std=c++17", "-shared", "-fPIC", *COMMON, "-I", options.include, source, "-o", folder / "sample.so")
    check_not_unique(folder / "sample.so")


def check_exports(options):
    """What the headers declare and what the daemon exports are the same."""
    declared = set()
    for header in pathlib.Path(options.include).glob("ts/*.h"):
        declared |= set(re.findall(r"TS_API[^;(]*?\b(_?TS\w+)\(", header.read_text()))
    declared.discard("TSPluginInit")
    symbols = run("nm", "-D", "--defined-only", options.daemon).split("\n")
    exported = {line.split()[2] for line in symbols if re.match(r"\w+ [TW] _?TS", line)}
    if declared != exported:
        sys.exit(f"declared but not exported: {sorted(declared - exported)}; exported but not declared: {sorted(exported - declared)}")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--include", required=True)
    options.add_argument("--diag-include", required=True)
    options.add_argument("--daemon", required=True)
    options.add_argument("--guide", type=pathlib.Path, required=True)
    options.add_argument("--plugin", action="append", default=[])
    options.add_argument("compilers", nargs="+")
    options = options.parse_args()
    failures = []
    check_exports(options)
    for plugin in options.plugin:
        check_not_unique(plugin)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for compiler in options.compilers:
            check_compiler(compiler, compiler.replace("clang++", "clang").replace("g++", "gcc").replace("c++", "cc"), options, failures)
            for standard in ("c++17", "c++20"):
                library = folder / "sites.so"
                run(compiler, f"-std={standard}", "-O2", "-g0", *COMMON, "-fPIC", "-shared", "-I", options.include, HERE / "sites.cc",
                    "-o", library)
                check_pairs(compiler, f"plugin, {standard}", library, PAIRS)
                check_not_unique(library)
            check_sample(compiler, options, folder)
    if failures:
        sys.exit("\n".join(failures))
    print(f"ts/ts.h: C and C++, {len(BAD)} mistakes refused, {len(PAIRS)} disabled sites, by each of: {' '.join(options.compilers)}")


main()
