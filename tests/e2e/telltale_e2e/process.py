# SPDX-License-Identifier: Apache-2.0
"""A program under test: started, watched on stderr, always ended, by its own process id."""
import os
import pathlib
import signal
import subprocess
import threading

from .waiting import wait_until

_REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("TELLTALE_BUILD", _REPOSITORY / "build" / "release"))


def program(name):
    path = BUILD / "bin" / name
    assert path.exists(), f"{path} is not built (TELLTALE_BUILD says where to look)"
    return str(path)


class Process:
    """Runs a program. With read_stderr=False its stderr is a pipe that nobody reads."""

    def __init__(self, arguments, read_stderr=True):
        self.arguments = [str(a) for a in arguments]
        self._text = []
        self._lock = threading.Lock()
        # setpriv: should the test run be killed, the kernel ends the program with it.
        self._popen = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *self.arguments],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE)
        self.pid = self._popen.pid
        self._reader = None
        if read_stderr:
            self._reader = threading.Thread(target=self._read, daemon=True)
            self._reader.start()

    def _read(self):
        for line in self._popen.stderr:
            with self._lock:
                self._text.append(line.decode("utf-8", "replace"))

    @property
    def stderr(self):
        """What came on stderr so far; everything once the program has ended."""
        if self._popen.poll() is not None and self._reader:
            self._reader.join(5)
        with self._lock:
            return "".join(self._text)

    @property
    def exit_code(self):
        """None while it runs."""
        return self._popen.poll()

    def wait_for_line(self, start, timeout=20.0):
        """The first line on stderr that begins with `start`; fails with all of stderr if the program ends first."""
        def look():
            ended = self.exit_code is not None
            for line in self.stderr.splitlines():
                if line.startswith(start):
                    return line
            assert not ended, f"{self.arguments[0]} ended with {self.exit_code}:\n{self.stderr}"
            return None
        return wait_until(look, f"a line '{start}' from {self.arguments[0]}", timeout)

    def wait(self, timeout=20.0):
        """The exit code. Negative: the signal that ended it."""
        return self._popen.wait(timeout)

    def send_signal(self, number):
        self._popen.send_signal(number)

    def stop(self, timeout=20.0):
        """SIGTERM, then the exit code."""
        if self.exit_code is None:
            self.send_signal(signal.SIGTERM)
        return self.wait(timeout)

    def kill(self):
        """Ends it whatever its state, and frees what the parent holds."""
        if self.exit_code is None:
            self._popen.kill()
            self._popen.wait()
        if self._reader:
            self._reader.join(5)
        self._popen.stderr.close()

    def data_bytes(self):
        """Memory that it has asked for, used or not; without code and stacks of others."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData:"))

    def rss_bytes(self):
        """Resident memory now."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
        raise AssertionError(f"process {self.pid} has no VmRSS")
