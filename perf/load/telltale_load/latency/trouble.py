# SPDX-License-Identifier: Apache-2.0
"""Kinds of trouble, each around a daemon of its own.

A trouble is a context manager that holds the daemon. Then, as often as wanted:

    undisturbed()   debug is off, everything works
    begin()         the trouble begins
    meanwhile(over) what goes on beside the load until `over` is set; runs in a thread of its own
    end()           the trouble is over, nothing was restarted: Facts about it

Sinks that do not take lines are here, all tags on and going to them; pattern.py has the other kind.
"""
import contextlib
import fcntl
import os
import signal
import subprocess
import time

from .. import Failed
from ..debug import ALL_TAGS
from ..machine import stop
from ..servers import fetch
from ..telltale import Telltale
from .figures import OFF, OFF_AGAIN, TROUBLED, Fact

_ROUTE = "proxy.config.diags.output.debug"
_RECOVERED_S = 20
_ASK_PAUSE_S = 0.25


class Trouble:
    """name: as on the command line. words: what it is. variants: what is run in each round."""

    name = words = None
    variants = (OFF, OFF_AGAIN, TROUBLED)

    def __init__(self, *, programs, build, folder, placement, origin_port):
        self.programs, self.build, self.placement, self.origin_port = programs, build, placement, origin_port
        self.folder = folder / self.name
        self.folder.mkdir()
        self.answers = []  # s, of ttctl, since reset()
        self._ending = contextlib.ExitStack()

    @classmethod
    def missing(cls):
        """Why it cannot be tried here; empty: it can."""
        return ""

    def __enter__(self):
        with contextlib.ExitStack() as ending:
            self.open(ending)
            self.telltale.debug_off()
            self._ending = ending.pop_all()
        return self

    def __exit__(self, *_):
        self._ending.close()

    def open(self, ending):
        """Starts the daemon, self.telltale, and what belongs to it."""
        raise NotImplementedError

    def start_daemon(self, ending, **named):
        self.telltale = ending.enter_context(contextlib.closing(Telltale(
            self.programs, self.folder, self.placement.proxy, self.origin_port, others=[self.placement.others], **named)))

    def undisturbed(self):
        self.telltale.debug_off()

    def begin(self, variant):
        raise NotImplementedError

    def meanwhile(self, over):
        """Asks now and then: the daemon must answer whatever its sinks do."""
        while not over.is_set():
            self.ask("status")
            over.wait(_ASK_PAUSE_S)

    def ask(self, *arguments):
        """A command of ttctl, whose time is noted; its process, ended."""
        before = time.monotonic()
        done = self.telltale.try_ctl(*arguments)
        self.answers.append(time.monotonic() - before)
        if done.returncode not in (0, 1):  # done, or refused
            raise Failed(f"ttctl {' '.join(arguments)} ended with status {done.returncode}: {done.stderr.strip()}")
        return done

    def end(self):
        raise NotImplementedError

    def sinks(self):
        """The descriptors no worker may touch, as strace -y names them."""
        return []


class Sink(Trouble):
    """A sink that does not take lines."""

    letter = "E"

    def open(self, ending):
        self.open_sink(ending)
        self.telltale.set_record(_ROUTE, self.letter)

    def open_sink(self, ending):
        raise NotImplementedError

    def begin(self, variant):
        if not self.telltale.debug_on(ALL_TAGS):
            raise Failed("no tag is on with all of them armed")

    def end(self):
        self.telltale.debug_off()
        self.release()
        return [self._recovered()]

    def release(self):
        """The sink takes lines again, or another takes its place."""
        raise NotImplementedError

    def has(self, mark):
        """Whether a line with this text has arrived since release()."""
        raise NotImplementedError

    def _recovered(self):
        """Asks for what nobody asked before, until a line that names it has arrived."""
        self.telltale.debug_on("http$")
        deadline = time.monotonic() + _RECOVERED_S
        mark = f"/bytes/1?recovered-{time.monotonic_ns()}"
        while not self.has(mark.encode()):
            if time.monotonic() > deadline:
                self.telltale.debug_off()
                return Fact(self.name, "lines flow again without a restart", False, f"none within {_RECOVERED_S} s")
            fetch(self.telltale.port, mark)
            time.sleep(0.1)
        self.telltale.debug_off()
        self.clear()
        return Fact(self.name, "lines flow again without a restart", True, "a line arrived")

    def clear(self):
        """Takes what has arrived out of the way."""


class Pipe(Sink):
    name, words = "pipe", "stderr is a pipe that nobody reads"

    def open_sink(self, ending):
        self._end, write_end = os.pipe()
        ending.callback(os.close, self._end)
        fcntl.fcntl(self._end, fcntl.F_SETFL, os.O_NONBLOCK)
        self.link = f"pipe:[{os.fstat(self._end).st_ino}]"
        try:
            self.start_daemon(ending, stderr=write_end)
        finally:
            os.close(write_end)
        self._arrived = b""

    def _read(self):
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(self._end, 1 << 16):
                self._arrived += piece

    def undisturbed(self):
        super().undisturbed()
        self._read()
        self._arrived = b""

    def release(self):
        self._read()
        self._arrived = b""

    def has(self, mark):
        self._read()
        return mark in self._arrived

    def clear(self):
        self._read()
        self._arrived = b""

    def sinks(self):
        return [self.link]


class StoppedReader(Sink):
    name, words = "stopped-reader", "the reader of stderr is stopped (SIGSTOP)"

    def open_sink(self, ending):
        read_end, write_end = os.pipe()
        self.link = f"pipe:[{os.fstat(read_end).st_ino}]"
        self._file = self.folder / "read"
        try:
            with open(self._file, "ab") as file:
                # Not start(): its stdin is the pipe.
                self._reader = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", "cat"], stdin=read_end,
                                                stdout=file, start_new_session=True)
            ending.callback(stop, self._reader)
            ending.callback(self._reader.send_signal, signal.SIGCONT)
            self.start_daemon(ending, stderr=write_end)
        finally:
            os.close(read_end)
            os.close(write_end)

    def begin(self, variant):
        self._reader.send_signal(signal.SIGSTOP)
        super().begin(variant)

    def release(self):
        self._reader.send_signal(signal.SIGCONT)

    def has(self, mark):
        return mark in self._file.read_bytes()

    def clear(self):
        os.truncate(self._file, 0)

    def sinks(self):
        return [self.link]


class FullDevice(Sink):
    name, words = "full-device", "stderr is /dev/full"

    def open_sink(self, ending):
        with open("/dev/full", "wb") as full:
            self.start_daemon(ending, stderr=full)

    def undisturbed(self):
        super().undisturbed()
        self.telltale.set_record(_ROUTE, self.letter)

    def begin(self, variant):
        self.telltale.set_record(_ROUTE, self.letter)
        super().begin(variant)

    def release(self):
        """The device stays full; lines are sent elsewhere."""
        self.telltale.set_record(_ROUTE, "L")

    def has(self, mark):
        return mark in (self.telltale.logs / "diags.log").read_bytes()

    def clear(self):
        self.telltale.empty_log("diags.log")

    def sinks(self):
        return ["/dev/full"]


class FullDisk(Sink):
    name, words, letter = "full-disk", "diags.log is on a tmpfs of 1 MiB", "L"

    @classmethod
    def missing(cls):
        if os.geteuid() != 0:
            return "only root can mount the tmpfs"
        tried = subprocess.run(["unshare", "--mount", "--propagation", "private", "mount", "-t", "tmpfs", "-o", "size=1m",
                                "tmpfs", "/mnt"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        return tried.stderr.strip() if tried.returncode else ""

    def open_sink(self, ending):
        logs = self.folder / "var" / "logs"
        logs.mkdir(parents=True, mode=0o700)
        logs.parent.chmod(0o700)
        # In a namespace of the daemon's own: nobody else sees the mount, and it goes when the daemon does.
        mount = 'mount -t tmpfs -o size=1m,mode=0700 tmpfs "$0" && exec "$@"'
        self.start_daemon(ending, under=["unshare", "--mount", "--propagation", "private", "sh", "-c", mount, logs])
        self.telltale.logs = type(logs)(f"/proc/{self.telltale.pid}/root{logs}")
        self._file = self.telltale.logs / "diags.log"

    def undisturbed(self):
        super().undisturbed()
        self.clear()

    def release(self):
        self.clear()

    def has(self, mark):
        return any(mark in path.read_bytes() for path in self.telltale.log_files("diags.log"))

    def clear(self):
        self.telltale.empty_log("diags.log")

    def sinks(self):
        return [f"{self.folder}/var/logs/{path.name}" for path in self.telltale.log_files("diags.log")]


SINKS = (Pipe, StoppedReader, FullDevice, FullDisk)
