#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Mistakes in a debug line do not compile; the same line without the mistake does."""
import argparse
import re
import shutil
import subprocess
import sys

PROLOGUE = """#include <string>
#include <telltale/diag/dbg.h>
constexpr DbgCtl dbg{"tag"};
struct NoFormatter {};
"""
GOOD = [
    'Dbg(dbg, "{} {:d}", text, number);',
    'Dbg(dbg, "no argument");',
    'SpecificDbg(number > 1, dbg, "{}", run_time, field("n", number));',
    'constexpr DbgCtl other{"a-b_c.d"}; Dbg(other, "x");',
]
BAD = [
    ('Dbg(dbg, "{:d}", text);', "a number's format for text"),
    ('Dbg(dbg, "{} {}", number);', "an argument too few"),
    ('Dbg(dbg, "{");', "an open brace"),
    ('Dbg(dbg, run_time.c_str());', "a format that is no constant"),
    ('Dbg(dbg, nullptr);', "a null format"),
    ('Dbg(dbg, "{}", NoFormatter{});', "a type without a formatter"),
    ('Dbg(dbg, "{}", field("n", number), text);', "an argument behind a field"),
    ('Dbg(dbg, "{}", &number);', "a pointer that is not void"),
    ('DbgCtl other{run_time.c_str()}; Dbg(other, "x");', "a tag that is no constant"),
    ('constexpr DbgCtl other{""};', "an empty tag"),
    ('constexpr DbgCtl other{"two words"};', "a tag with a space"),
    ('constexpr DbgCtl other{"100%"};', "a tag with a percent sign"),
    ('constexpr DbgCtl other{"a\\nb"};', "a tag with a control character"),
    (f'constexpr DbgCtl other{{"{"x" * 65}"}};', "a tag of 65 bytes"),
]


def compile_lines(compiler, include, lines):
    """The lines, each in a function of its own, that an error message names; and the messages."""
    source = PROLOGUE
    numbers = {}
    for number, line in enumerate(lines):
        source += f"void line_{number}(const char* text, int number, const std::string& run_time) {{"
        source += f" (void)text, (void)number, (void)run_time; {line} }}\n"
        numbers[source.count("\n")] = line
    limit = "-ferror-limit=0" if "clang" in compiler else "-fmax-errors=0"
    done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wno-unused", limit, "-I", include,
                           "-x", "c++", "-"], input=source, capture_output=True, text=True)
    named = {int(at) for at in re.findall(r"<stdin>:(\d+):", done.stderr)} if done.returncode != 0 else set()
    return {line for number, line in numbers.items() if number in named}, done.stderr


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--include", required=True)
    options.add_argument("compilers", nargs="+")
    options = options.parse_args()
    failures = []
    for compiler in options.compilers:
        if shutil.which(compiler) is None:
            sys.exit(f"{compiler} is missing; its package is in cmake/deps.cmake")
        refused, errors = compile_lines(compiler, options.include, GOOD)
        if errors:
            failures.append(f"{compiler} refuses good lines:\n{errors}")
        refused, errors = compile_lines(compiler, options.include, GOOD + [line for line, _ in BAD])
        failures += [f"{compiler} blames a good line: {line}" for line in GOOD if line in refused]
        failures += [f"{compiler} accepts {what}: {line}" for line, what in BAD if line not in refused]
    if failures:
        sys.exit("\n".join(failures))
    print(f"{len(BAD)} mistakes refused by each of: {' '.join(options.compilers)}")


main()
