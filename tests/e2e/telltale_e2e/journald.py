# SPDX-License-Identifier: Apache-2.0
"""A real systemd-journald in a mount namespace of its own: it sees a /run of its own, and touches nothing else."""
import json
import os
import pathlib
import signal
import socket
import subprocess

import pytest

from .waiting import wait_until

_PROGRAM = "/lib/systemd/systemd-journald"
_CONFIG = "[Journal]\nStorage=volatile\nRateLimitIntervalSec=0\nReadKMsg=no\nForwardToSyslog=no\nAudit=no\n"
_SETUP = f"""set -e
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/journal /run/log/journal /run/systemd/journald.conf.d
printf '%s' "$1" >/run/systemd/journald.conf.d/test.conf
echo ready
exec cat"""
_USER = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
_IN_USER = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]


def _missing():
    """Why there can be none here; None where there can."""
    for needed in (_PROGRAM, "/usr/bin/journalctl", "/usr/bin/unshare", "/usr/bin/nsenter"):
        if not pathlib.Path(needed).exists():
            return f"there is no {needed}"
    probe = subprocess.run(["unshare", *_USER, "--mount", "--propagation", "private", "mount", "-t", "tmpfs", "tmpfs", "/run"],
                           capture_output=True, text=True, check=False)
    return None if probe.returncode == 0 else f"no mount namespace of its own: {probe.stderr.strip()}"


def need_journald():
    """Skips the test where journald cannot be had, in a chroot say, unless TELLTALE_NEED_JOURNALD is set."""
    why = _missing()
    if why is None:
        return
    assert "TELLTALE_NEED_JOURNALD" not in os.environ, why
    pytest.skip(why)


class Journald:
    """Starts at once. Its socket keeps its name whatever becomes of journald."""

    def __init__(self):
        # Holds the namespace until its stdin is closed.
        self._holder = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "--", "unshare", *_USER, "--mount", "--propagation", "private",
             "sh", "-c", _SETUP, "sh", _CONFIG],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if self._holder.stdout.readline() != b"ready\n":
            raise AssertionError(f"no /run of its own: {self._holder.stderr.read().decode()}")
        self._inside = ["nsenter", f"--target={self._holder.pid}", *_IN_USER, "--mount"]
        self.socket = f"/proc/{self._holder.pid}/root/run/systemd/journal/socket"
        self._journald = None
        self.start()

    def start(self):
        self._journald = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *self._inside, _PROGRAM],
                                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                          stderr=subprocess.DEVNULL)
        wait_until(self._takes, "journald to take entries")

    def _takes(self):
        assert self._journald.poll() is None, f"journald ended with {self._journald.returncode}"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
            try:
                probe.sendto(b"", self.socket)  # without content: left out
                return True
            except OSError:
                return False

    def halt(self):
        """Stops it in its tracks; go_on() lets it go."""
        self._journald.send_signal(signal.SIGSTOP)

    def go_on(self):
        self._journald.send_signal(signal.SIGCONT)

    def kill(self):
        """Leaves a socket that nobody holds."""
        self._journald.kill()
        self._journald.wait()

    def journalctl(self, *arguments):
        """What journalctl prints, as bytes."""
        done = subprocess.run([*self._inside, "journalctl", "--no-pager", *arguments], capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=60)
        assert done.returncode in (0, 1), done.stderr.decode()  # 1: nothing matched
        return done.stdout

    def entries(self, *matches):
        """All that journald keeps, in order, as mappings; only those that `journalctl MATCHES` selects."""
        self.journalctl("--sync")
        return [json.loads(line) for line in self.journalctl("-o", "json", "--all", *matches).splitlines()]

    def close(self):
        if self._journald.poll() is None:
            self._journald.send_signal(signal.SIGCONT)
            self.kill()
        self._holder.stdin.close()
        self._holder.wait(10)
        self._holder.stdout.close()
        self._holder.stderr.close()
