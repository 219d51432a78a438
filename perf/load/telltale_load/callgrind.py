# SPDX-License-Identifier: Apache-2.0
"""Counting a running server's instructions with callgrind, from one moment to another, by thread and function."""
import pathlib
import re
import subprocess

from . import Failed

COMMAND = ("valgrind", "--tool=callgrind", "--separate-threads=yes", "--vgdb=yes", "-q")


class Counter:
    """Counts in the server of process id `pid`, which was started with COMMAND and its output in `folder`."""

    def __init__(self, pid, folder):
        self._pid = pid
        self._folder = pathlib.Path(folder)

    @staticmethod
    def command(folder):
        return [*COMMAND, f"--callgrind-out-file={folder}/callgrind.%p"]

    def start(self):
        """Forgets what was counted."""
        self._control("--zero")

    def stop(self, name, of_thread):
        """What was counted since start(): the functions' own instructions, of the thread that ran function of_thread."""
        for former in self._folder.glob(f"callgrind.{self._pid}.*"):
            former.unlink()
        self._control(f"--dump={name}")
        threads = [functions(path.read_text("utf-8", "replace"))
                   for path in self._folder.glob(f"callgrind.{self._pid}.*")]
        for by_function in threads:
            if of_thread in by_function:
                return by_function
        raise Failed(f"no thread of the {len(threads)} that callgrind saw ran {of_thread}")

    def _control(self, option):
        try:
            subprocess.run(["callgrind_control", option, str(self._pid)], capture_output=True, text=True, timeout=120,
                           check=True, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.SubprocessError) as error:
            raise Failed(f"callgrind_control {option}: {error}") from None


def functions(text):
    """Own instructions by function, of one thread's file.

    Format: valgrind's manual, "Callgrind Format Specification". fn= names the function that the cost lines after it
    belong to; the cost line after calls= is the callee's and does not count. (ID) alone stands for a name given before.
    """
    names, found, function, is_call = {}, {}, None, False
    for line in text.splitlines():
        if match := re.match(r"fn=(\(\d+\))(?: (.*))?", line):
            if match[2]:
                names[match[1]] = match[2]
            function = names.get(match[1], match[1])
        elif match := re.match(r"cfni?=(\(\d+\)) (.*)", line):
            names[match[1]] = match[2]
        elif line.startswith("calls="):
            is_call = True
        elif function and (line[:1].isdigit() or line[:1] in "+-*"):
            if not is_call:
                cost = line.split()
                found[function] = found.get(function, 0) + (int(cost[1]) if len(cost) > 1 else 0)
            is_call = False
    return found
