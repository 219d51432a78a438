#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every test that the tables of docs/notes name is there."""
import pathlib
import re
import sys


def missing(root, text):
    """Yields what the table names and the tree has not."""
    named = re.findall(r"(tests/[\w./]+\.(?:cc|py|txt))(?: `([^`]+)`)?", text)
    for path, test in named:
        file = root / path
        if not file.is_file():
            yield f"{path} is not there"
        elif test and test not in file.read_text():
            yield f"{path} has no test \"{test}\""


def main():
    root = pathlib.Path(sys.argv[1])
    assert list(missing(root, "tests/none.cc `x`")) and list(missing(root, "tests/CMakeLists.txt `no such text`"))
    tables = [root / "docs/notes" / name for name in ("debug_cases.md", "record_path_cases.md")]
    text = "\n".join(table.read_text() for table in tables)
    wrong = list(missing(root, text))
    rows = sum(line.startswith("| ") for line in text.splitlines()) - 1
    print("\n".join(wrong) or f"{rows} rows name tests that are there")
    return bool(wrong) or rows < 80


if __name__ == "__main__":
    sys.exit(main())
