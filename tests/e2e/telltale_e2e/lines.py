# SPDX-License-Identifier: Apache-2.0
"""The lines of diags.log."""
import re
from dataclasses import dataclass

_LINE = re.compile(
    r"\[(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)\] \[(?P<thread>[^\]]+)\] (?P<level>[A-Z]+)"
    r"(?: \((?P<tag>[^)]+)\))?(?: <(?P<file>[^:<>]+):(?P<line>\d+) \((?P<function>.*?)\)>)?"
    r"(?: \{(?P<scope>(?:c\d+)? ?(?:t\d+)? ?[\w.-]*)\})? (?P<text>.*)")


@dataclass
class Line:
    time: str
    thread: str
    level: str
    tag: str
    file: str
    line: str
    function: str
    scope: str
    text: str
    whole: str


def parse_lines(text):
    """Every line of `text` as a Line; fails on one that has not the documented form."""
    lines = []
    for whole in text.splitlines():
        match = _LINE.fullmatch(whole)
        assert match, f"not a line of diags.log: {whole!r}"
        lines.append(Line(**match.groupdict(""), whole=whole))
    return lines
