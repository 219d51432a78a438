# SPDX-License-Identifier: Apache-2.0
"""What one thread asks of the kernel, and on which descriptors."""
import collections
import pathlib
import re
import signal
import subprocess
import time

from .. import Failed
from ..machine import start, stop

_CALL = re.compile(r"^(?:\[pid +\d+\] )?(\w+)\((.*)$")
_DESCRIPTOR = re.compile(r"\b\d+<([^>]+)>")
_READY_S = 20


class Calls:
    """How often each call was made, and on which descriptors, as strace -y names them: pipe:[123], /var/log/x."""

    def __init__(self, text):
        self.counts = collections.Counter()
        self.on = collections.defaultdict(collections.Counter)  # by descriptor: calls
        for line in text.splitlines():
            match = _CALL.match(line)
            if not match or match[2].startswith("<"):
                continue
            self.counts[match[1]] += 1
            # Strings may look like descriptors: a worker's carry requests. They are cut off.
            for target in _DESCRIPTOR.findall(re.sub(r'"(?:[^"\\]|\\.)*"', "", match[2])):
                self.on[target][match[1]] += 1

    def __str__(self):
        return ", ".join(f"{name} {count:,}" for name, count in self.counts.most_common())


def watch(tid, folder, *, core, action):
    """The calls of a thread while action() runs. Errors: Failed, when strace cannot be had."""
    calls = folder / "calls"
    with open(folder / "strace.log", "wb") as words:
        try:
            process = start(["strace", "-y", "-p", tid, "-o", calls], core=core, output=words)
        except OSError as error:
            raise Failed(f"strace: {error}") from None
    try:
        deadline = time.monotonic() + _READY_S
        log = folder / "strace.log"
        while "attached" not in log.read_text():
            if process.poll() is not None or time.monotonic() > deadline:
                raise Failed(f"strace watches nothing: {log.read_text().strip() or 'it says nothing'}")
            time.sleep(0.02)
        action()
        process.send_signal(signal.SIGINT)  # lets go of the thread
        process.wait(_READY_S)
    except subprocess.TimeoutExpired:
        raise Failed("strace did not end") from None
    finally:
        stop(process)
    return Calls(pathlib.Path(calls).read_text("utf-8", "replace"))
