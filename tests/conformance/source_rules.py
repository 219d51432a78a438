#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules about the source that no compiler checks. Prints each breach as file:line and exits with 1.

includes   a folder includes only what stands below it (ARCHITECTURE.md, "Map")
plugins    include ts/ts.h, what the system brings, and nothing of the proxy
co_await   forms that g++ 12 compiles wrongly (docs/notes/gcc12_coroutines.md)

Every run first shows that each rule can fail.
"""
import argparse
import pathlib
import re
import sys

BELOW = {
    "hint": set(),
    "net": set(),
    "http": {"net"},
    "http1": {"http", "net"},
    "http2": {"http", "net"},
    "cache": {"http"},
    "config": {"hint"},
    "remap": {"config"},
    "origin": {"http", "http1", "net"},
    "txn": {"cache", "http", "http1", "http2", "net", "origin", "remap"},
    "plugin": {"cache", "config", "http", "http1", "http2", "net", "origin", "remap", "txn", "ts"},
    "ts": set(),
    "control": {"hint"},
}  # server may include everything

INCLUDE = re.compile(r'\s*#\s*include\s+["<]([^">]+)[">]')
AWAIT = [
    (re.compile(r"\bwhile\s*\((?:[^()]|\([^()]*\))*\bco_await\b"), "co_await in a while condition"),
    (re.compile(r"(?:&&|\|\|)(?![^;{]*\)\s*(?:\w+\s*=\s*)?co_await)[^;{]*\bco_await\b|\?[^;{]*\bco_await\b"), "co_await behind &&, || or ?"),
    (re.compile(r"\bif\s*\(.*\)\s*co_return\s+co_await\b"), "a conditional co_return co_await"),
]


def include_breaches(folder, lines):
    """folder: 'diag' or a folder of proxy/. Yields (line number, text)."""
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        first = match[1].split("/")[0]
        if folder == "diag":
            if first in BELOW or first in ("server", "ts"):
                yield number, f"lib/diag includes {match[1]}"
        elif first in BELOW and first != folder and first not in BELOW.get(folder, set(BELOW)):
            yield number, f"{folder}/ includes {match[1]}, which does not stand below it"


def plugin_breaches(lines):
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match and match[1] != "ts/ts.h" and ("/" in match[1] and not match[1].startswith(("sys/", "arpa/", "netinet/")) or '"' in line):
            yield number, f"a plugin includes {match[1]}"


def await_breaches(lines):
    for number, line in enumerate(lines, 1):
        code = line.split("//")[0]
        for pattern, what in AWAIT:
            if pattern.search(code):
                yield number, what


def self_test():
    assert list(include_breaches("http", ['#include "cache/ram_cache.h"']))
    assert list(include_breaches("diag", ['#include "net/worker.h"']))
    assert not list(include_breaches("txn", ['#include "cache/ram_cache.h"', "#include <vector>"]))
    assert not list(include_breaches("server", ['#include "control/server.h"']))
    for bad in ("#include <ts/apidefs.h>", '#include "http/fields.h"', "#include <telltale/diag/dbg.h>", '#include "fields.h"'):
        assert list(plugin_breaches([bad])), bad
    assert not list(plugin_breaches(["#include <ts/ts.h>", "#include <string>", "#include <sys/socket.h>"]))
    for bad in ("while (co_await f()) g();", "bool b = x || co_await f();", "w = c ? co_await a() : co_await b();",
                "if (!x) co_return co_await f();"):
        assert list(await_breaches([bad])), bad
    for good in ("bool b = co_await f();", "if (co_await f() == k) g();", "co_return co_await f();  // a || co_await b",
                 "if (a && b) co_await f();", "while (waiting) co_await f();"):
        assert not list(await_breaches([good])), good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path)
    root = parser.parse_args().root
    self_test()
    breaches, files = [], 0
    for top, folder_of in ((root / "lib" / "diag", lambda p: "diag"), (root / "proxy", lambda p: p.relative_to(root / "proxy").parts[0])):
        for path in sorted([*top.rglob("*.h"), *top.rglob("*.cc")]):
            files += 1
            lines = path.read_text().splitlines()
            for number, what in [*include_breaches(folder_of(path), lines), *await_breaches(lines)]:
                breaches.append(f"{path.relative_to(root)}:{number}: {what}")
    for path in sorted([*(root / "plugins").rglob("*.h"), *(root / "plugins").rglob("*.cc"), *(root / "plugins").rglob("*.c")]):
        files += 1
        for number, what in plugin_breaches(path.read_text().splitlines()):
            breaches.append(f"{path.relative_to(root)}:{number}: {what}")
    if files < 50:
        breaches.append(f"only {files} files found below {root}")
    print("\n".join(breaches) or f"{files} files keep the rules")
    return bool(breaches)


if __name__ == "__main__":
    sys.exit(main())
