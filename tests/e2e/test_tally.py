# SPDX-License-Identifier: Apache-2.0
"""The last line of ./tt test is what people believe: its counting is tested."""
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tally import count_cases  # noqa: E402

TALLY = pathlib.Path(__file__).resolve().parents[1] / "support" / "tally.py"


@pytest.mark.parametrize("output, succeeded, passed, failed, skipped", [
    ("All tests passed (1 assertion in 1 test case)\n", True, 1, 0, 0),
    ("===\nAll tests passed (1200 assertions in 34 test cases)\n\n", True, 34, 0, 0),
    ("test cases:  3 |  2 passed | 1 failed\nassertions: 10 | 9 passed | 1 failed\n", False, 2, 1, 0),
    ("......   [100%]\n12 passed in 0.31s\n", True, 12, 0, 0),
    ("1 failed, 11 passed, 2 skipped in 75.10s (0:01:15)\n", False, 11, 1, 2),
    ("=== 3 passed, 1 error in 0.31s ===\n", False, 3, 1, 0),
    ("the site is one cmpb and one jne\n", True, 1, 0, 0),
    ("Segmentation fault\n", False, 0, 1, 0),
    ("", False, 0, 1, 0),
    ("12 passed in 0.31s\n", False, 12, 1, 0),  # all passed, then it crashed on the way out
])
def test_cases_are_counted_as_their_program_says(output, succeeded, passed, failed, skipped):
    assert count_cases(output, succeeded) == {"passed": passed, "failed": failed, "skipped": skipped}


def results(folder, *cases):
    folder.mkdir()
    lines = "".join(f'<testcase name="{n}" status="{s}"><system-out>{o}</system-out></testcase>' for n, s, o in cases)
    (folder / "junit.xml").write_text(f'<?xml version="1.0"?><testsuite>{lines}</testsuite>')
    return str(folder)


def tally(*folders):
    done = subprocess.run([sys.executable, str(TALLY), *folders], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


def test_all_runs_are_summed_into_one_closing_line(tmp_path):
    one = results(tmp_path / "a", ("unit_x", "run", "All tests passed (9 assertions in 4 test cases)"))
    two = results(tmp_path / "b", ("e2e_y", "run", "3 passed in 1.0s"), ("site", "run", "fine"))
    assert tally(one, two) == (0, ["8 passed, 0 failed"])


def test_one_failure_makes_the_exit_status_tell(tmp_path):
    one = results(tmp_path / "a", ("unit_x", "fail", "test cases: 2 | 1 passed | 1 failed"))
    assert tally(one) == (1, [f"{one}: unit_x failed", "1 passed, 1 failed"])


def test_a_run_that_did_not_happen_is_a_failure(tmp_path):
    one = results(tmp_path / "a", ("unit_x", "run", ""))
    code, lines = tally(one, str(tmp_path / "absent"))
    assert (code, lines[-1]) == (1, "1 passed, 1 failed")


def test_nothing_run_is_not_a_success(tmp_path):
    assert tally(results(tmp_path / "a")) == (1, ["0 passed, 0 failed"])
