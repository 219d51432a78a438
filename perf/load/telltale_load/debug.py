# SPDX-License-Identifier: Apache-2.0
"""Debug output that is on: what each of --debug switches, and how its lines are counted afterwards.

The lines that are there to be read are counted by reading them, and compared with what the daemon counted: the hits
of its sites, and its drops. Lines that tell of a loss, which the library writes of itself, are none of them.
"""
import datetime
import json
import re
import subprocess
import time
from dataclasses import dataclass

from . import Failed
from .figures import BINARY, CLIENT, RECORDER, TEXT, WRITING
from .servers import fetch

FOLLOWED = "127.0.0.2"  # the client of "client"; the others come from 127.0.0.1
ALL_TAGS = ".*"
_ROUTE = "proxy.config.diags.output.debug"
_RECORDER_TAGS = "proxy.config.telltale.recorder.tags"
# [time] [thread] DEBUG (tag) <place> {ids}: tag diag is the library's own.
_LINE = re.compile(rb"^\[[^]]*\] \[[^]]*\] DEBUG \((?!diag\))(?:http_hdrs\)[^>]*> (?:\{[^}]*\})?)?", re.M)
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
    """The newest lines of the worker are read from its directory, while the daemon lives."""

    def on(self):
        self._since = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        self._telltale.set_record(_RECORDER_TAGS, self._tags)

    def off(self):
        # Lines of a request that nobody asked before: what is newest is known.
        self._newest = f"/bytes/1?newest-{time.monotonic_ns()}"
        fetch(self._telltale.port, self._newest)
        self._telltale.set_record(_RECORDER_TAGS, "")

    def lines(self, hits, requests):
        dump = self._telltale.ttctl("--json", "recorder", "dump", self._telltale.folder / "var" / "recorder")
        done = subprocess.run(dump, capture_output=True, text=True, timeout=_READ_S, stdin=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            raise Failed(f"{' '.join(dump)} ended with status {done.returncode}: {done.stderr.strip()}")
        if self._newest not in done.stdout:
            raise Failed(f"the recorder does not have {self._newest}, which was asked for last")
        transactions = transactions_of_dump(done.stdout, self._since)
        usual, missing = gaps(transactions)
        return Lines(usual * requests, len(transactions), missing)

    def empty(self):
        pass


_KINDS = {RECORDER: Recorder, BINARY: Binary, TEXT: Text, CLIENT: Client}
assert tuple(_KINDS) == WRITING


def debug(name, telltale, tags):
    return _KINDS[name](name, telltale, tags)


def count_lines(path):
    """How many debug records a text file has."""
    with open(path, "rb") as file:
        return _records(file)


def count_lines_of(command):
    """How many debug records a command prints. Errors: Failed when it does not end well."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        found = _records(process.stdout)
        words = process.stderr.read().decode("utf-8", "replace").strip()
    if process.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))} ended with status {process.returncode}: {words}")
    return found


def _records(file):
    """A dump of a head is one record of several lines, which have the same time, thread, place and ids."""
    found, last = 0, None
    for piece in _whole_lines(file):
        for prefix in _LINE.findall(piece):
            if not prefix.endswith(b"(") and prefix == last:
                continue
            found, last = found + 1, prefix
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


def gaps(transactions):
    """Lines of a transaction, and how many are missing among the newest that the recorder has of a worker.

    transactions: of each line, in order; 0 for none. All but the last are requests for one object: they are numbered one
    after the other, and each has as many lines as the next. What differs is a gap. The oldest one may have lost its
    first lines to newer ones.
    """
    counts = {}
    for transaction in transactions:
        if transaction:
            counts[transaction] = counts.get(transaction, 0) + 1
    whole = range(min(counts, default=0) + 1, max(counts, default=0))
    if len(whole) < 2:
        raise Failed(f"the recorder has lines of {len(counts)} transactions, too few to say anything")
    usual = max(counts.get(transaction, 0) for transaction in whole)
    return usual, sum(usual - counts.get(transaction, 0) for transaction in whole)


def transactions_of_dump(text, since):
    """The transaction of each of a worker's lines from a time on, from the JSON lines of `ttctl recorder dump`.

    Before that time are lines of runs with other output, which the recorder has too, in rings of their own.
    """
    events = map(json.loads, text.splitlines())
    return [event.get("transaction", 0) for event in events
            if event["time"].rstrip("Z") >= since.rstrip("Z") and event.get("thread", "").startswith("worker-") and event.get("tag") != "diag"]
