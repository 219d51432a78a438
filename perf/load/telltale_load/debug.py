# SPDX-License-Identifier: Apache-2.0
"""Debug output that is on: what each of --debug switches, and how its lines are counted afterwards.

The lines that are there to be read are counted by reading them, and compared with what the daemon counted: the hits
of its sites, and its drops. Lines that tell of a loss, which the library writes of itself, are none of them.
"""
import json
import re
import subprocess
from dataclasses import dataclass

from . import Failed
from .figures import BINARY, CLIENT, RECORDER, TEXT, WRITING

FOLLOWED = "127.0.0.2"  # the client of "client"; the others come from 127.0.0.1
ALL_TAGS = ".*"
_ROUTE = "proxy.config.diags.output.debug"
_RECORDER_TAGS = "proxy.config.telltale.recorder.tags"
# [time] [thread] DEBUG (tag): tag diag is the library's own.
_LINE = re.compile(rb"^\[[^]]*\] \[[^]]*\] DEBUG \((?!diag\))", re.M)
_READ_S = 120


@dataclass(frozen=True)
class Lines:
    produced: int
    kept: int
    gaps: int = 0


class Debug:
    """One of WRITING. on() and off() around a run; then lines() reads what came, and empty() throws it away."""

    file = None  # in the log folder

    def __init__(self, name, telltale, tags):
        self.name = name
        self._telltale = telltale
        self._tags = tags

    def on(self):
        if not self._enable():
            raise Failed(f"--tags '{self._tags}' turns no tag on; ttctl debug tags lists them")

    def _enable(self):
        return self._telltale.debug_on(self._tags)

    def off(self):
        self._telltale.debug_off()

    def lines(self, hits, requests):
        """hits: what the sites counted; requests: how many were served."""
        return Lines(hits, self.kept())

    def kept(self):
        raise NotImplementedError

    def empty(self):
        self._telltale.empty_log(self.file)


class Text(Debug):
    file = "diags.log"

    def kept(self):
        return sum(count_lines(path) for path in self._telltale.log_files(self.file))


class Client(Text):
    def _enable(self):
        return self._telltale.debug_on(self._tags, "--client-ip", FOLLOWED)


class Binary(Debug):
    file = "diags.blog"

    def _enable(self):
        self._telltale.set_record(_ROUTE, "B")
        return super()._enable()

    def off(self):
        super().off()
        self._telltale.set_record(_ROUTE, "L")

    def kept(self):
        files = self._telltale.log_files(self.file)
        return count_lines_of(self._telltale.ttctl("debug", "cat", *files)) if files else 0


class Recorder(Debug):
    def on(self):
        self._telltale.set_record(_RECORDER_TAGS, self._tags)

    def off(self):
        self._telltale.set_record(_RECORDER_TAGS, "")

    def kept(self):
        return 0

    def empty(self):
        pass


_KINDS = {RECORDER: Recorder, BINARY: Binary, TEXT: Text, CLIENT: Client}
assert tuple(_KINDS) == WRITING


def debug(name, telltale, tags):
    return _KINDS[name](name, telltale, tags)


def count_lines(path):
    """How many debug lines a text file has."""
    with open(path, "rb") as file:
        return sum(len(_LINE.findall(piece)) for piece in _whole_lines(file))


def count_lines_of(command):
    """How many debug lines a command prints. Errors: Failed when it does not end well."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        found = sum(len(_LINE.findall(piece)) for piece in _whole_lines(process.stdout))
        words = process.stderr.read().decode("utf-8", "replace").strip()
    if process.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))} ended with status {process.returncode}: {words}")
    return found


def _whole_lines(file):
    """The file in pieces that end with a line's end."""
    rest = b""
    while piece := file.read(1 << 22):
        piece = rest + piece
        cut = piece.rfind(b"\n") + 1
        rest = piece[cut:]
        yield piece[:cut]
    yield rest


def gaps(events):
    """How many lines are missing among the newest that the recorder has of a worker that serves one object.

    events: (connection, transaction) of each of its lines, in order; 0 for none. Transactions are numbered one after
    the other, and each has as many lines as the next: what differs is a gap. The oldest may have lost its first
    lines to newer ones, and the newest may not be over.
    """
    counts = {}
    for _, transaction in events:
        if transaction:
            counts[transaction] = counts.get(transaction, 0) + 1
    if len(counts) < 3:
        raise Failed(f"the recorder has lines of {len(counts)} transactions, too few to say anything")
    whole = list(range(min(counts) + 1, max(counts)))
    usual = max(counts.values())
    return sum(usual - counts.get(transaction, 0) for transaction in whole)


def events_of_dump(text, thread):
    """(connection, transaction) of each line of a thread, from the JSON lines of `ttctl recorder dump`."""
    found = []
    for line in text.splitlines():
        event = json.loads(line)
        if event.get("thread") == thread and event.get("tag") != "diag":
            found.append((event.get("connection", 0), event.get("transaction", 0)))
    return found
