#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the test cases of several ctest runs from their junit.xml, and ends with `N passed, N failed`.

usage: tally.py BUILD_FOLDER...

A ctest entry is one program. Where that program says how many cases it ran (Catch2, pytest), its cases are
counted, else the program counts as one. A program that failed without naming a failed case (it crashed,
or took too long) counts as one failed; so does a folder without results. Exit status 0 only when something
passed and nothing failed.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

_CATCH_PASSED = re.compile(r"^All tests passed \(\d+ assertions? in (\d+) test cases?\)$", re.M)
_CATCH_MIXED = re.compile(r"^test cases: .*$", re.M)
_PYTEST = re.compile(r"^(?:=+ )?((?:\d+ \w+, )*\d+ \w+) in [\d.]+s(?: \([\d:]+\))?(?: =+)?$", re.M)
_KINDS = {"passed": "passed", "failed": "failed", "error": "failed", "errors": "failed", "skipped": "skipped"}


def count_cases(output, succeeded):
    """{"passed": n, "failed": n, "skipped": n} of one ctest entry."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for match in _CATCH_PASSED.finditer(output):
        counts["passed"] += int(match[1])
    for line in _CATCH_MIXED.findall(output) + _PYTEST.findall(output):
        for number, kind in re.findall(r"(\d+) (\w+)", line):
            if kind in _KINDS:
                counts[_KINDS[kind]] += int(number)
    if not succeeded and not counts["failed"]:
        counts["failed"] = 1
    if succeeded and not any(counts.values()):
        counts["passed"] = 1
    return counts


def count_folder(folder):
    """The counts of one ctest run; names on stdout what failed."""
    results = folder / "junit.xml"
    total = {"passed": 0, "failed": 0, "skipped": 0}
    if not results.exists():
        print(f"{folder}: not built, or not run")
        return {**total, "failed": 1}
    for case in ElementTree.parse(results).getroot().iter("testcase"):
        status = case.get("status")
        if status == "disabled":
            total["skipped"] += 1
            continue
        succeeded = status == "run"
        counts = count_cases(case.findtext("system-out") or "", succeeded)
        if counts["failed"]:
            print(f"{folder}: {case.get('name')} failed")
        for kind, number in counts.items():
            total[kind] += number
    return total


def main(folders):
    totals = [count_folder(pathlib.Path(folder)) for folder in folders]
    passed, failed, skipped = (sum(t[kind] for t in totals) for kind in ("passed", "failed", "skipped"))
    if skipped:
        print(f"{skipped} skipped")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
