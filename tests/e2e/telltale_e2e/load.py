# SPDX-License-Identifier: Apache-2.0
"""The measuring tools of perf/load: importing this lets their package be imported, and load() runs them."""
import pathlib
import subprocess
import sys

LOAD = pathlib.Path(__file__).resolve().parents[3] / "perf" / "load"
sys.path.insert(0, str(LOAD))


def load(*arguments, script="load.py", **named):
    """The ended process of ./tt load with these arguments, or of ./tt load latency."""
    return subprocess.run([sys.executable, LOAD / script, *arguments], capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, check=False, **named)
