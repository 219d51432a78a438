# SPDX-License-Identifier: Apache-2.0
"""What is common to the peers: where Debian puts them, their configuration, and that they rest between runs.

A peer is a process of our own in the foreground, never Debian's service, which is left alone. Peers share the
core of the proxy under test and some have timers, so each is stopped (SIGSTOP) but while it is measured.
"""
import contextlib
import os
import pathlib
import shutil
import signal
import string

from .. import Failed
from ..servers import Server

_FILES = pathlib.Path(__file__).resolve().parents[2] / "peers"


class Peer(Server):
    """One peer, started and at rest. Derived classes set the names below and start it.

    binary          its program
    version_option  makes the program print its version
    debug_words     what "debug on, and nothing matches" is for it; None: it has no such state
    """
    name = binary = version_option = debug_words = None

    def __init__(self, arguments, port, *, folder, core, environment=None, h2_port=None):
        super().__init__(self.name, port, [self.program(), *arguments], folder=folder, core=core,
                         environment=environment, h2_port=h2_port)
        self._rest()

    @classmethod
    def program(cls):
        found = shutil.which(cls.binary, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
        if not found:
            raise Failed(f"{cls.name} is not installed; ./tt load --against {cls.name} installs it")
        return found

    @staticmethod
    def configuration(file, values):
        """The text of a file in perf/load/peers with its ${TT_...} filled in; other dollars are left alone."""
        return string.Template((_FILES / file).read_text()).safe_substitute(values)

    @contextlib.contextmanager
    def awake(self):
        self._process.send_signal(signal.SIGCONT)
        try:
            yield
        finally:
            self._rest()

    def _rest(self):
        self._process.send_signal(signal.SIGSTOP)

    def close(self):
        self._process.send_signal(signal.SIGCONT)
        super().close()
