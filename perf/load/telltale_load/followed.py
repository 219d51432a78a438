# SPDX-License-Identifier: Apache-2.0
"""One client of its own: a keep-alive connection from an address that h2load cannot come from.

h2load connects from 127.0.0.1 and has no option for another address. So where one client of many is followed, h2load
makes all connections but one, and this makes that one: the next request when an answer is there, as h2load does, but no
more requests/s than its share. It is a thread of its own, and would get more where h2load is the bottleneck.
"""
import os
import socket
import threading
import time

from . import Failed

_TIMEOUT_S = 20


class FollowedClient:
    """A context manager: asks while the context lasts, at most `rate` times a second; `requests` have then been answered.
    It ends at the first `failure`.

    Errors: Failed, on leaving, when an answer was no 200 or the connection ended.
    """

    def __init__(self, port, target, *, address, core, rate):
        self._request = (f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUser-Agent: followed\r\n"
                         "Accept: */*\r\n\r\n").encode()
        self._core = core
        self._pause_s = 1 / rate
        self.requests = 0
        self.failure = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        try:
            self._socket = socket.create_connection(("127.0.0.1", port), _TIMEOUT_S, (address, 0))
        except OSError as error:
            raise Failed(f"no connection from {address} to port {port} of 127.0.0.1: {error}") from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()
        self._socket.close()
        if self.failure:
            raise Failed(f"the followed client: {self.failure}")

    def _run(self):
        os.sched_setaffinity(0, {self._core})  # of this thread
        try:
            due = time.monotonic()
            while not self._over.is_set():
                time.sleep(max(0.0, due - time.monotonic()))
                due = max(due, time.monotonic() - 1) + self._pause_s  # what it fell behind by is made up for, up to 1 s
                self._socket.sendall(self._request)
                self._read_answer()
                self.requests += 1
        except (OSError, ValueError) as error:
            self.failure = error

    def _read_answer(self):
        got = b""
        while (end := got.find(b"\r\n\r\n")) < 0:
            got += self._more()
        if not got.startswith(b"HTTP/1.1 200 "):
            raise ValueError(f"an answer began with {got[:40]!r}")
        at = got.lower().index(b"\r\ncontent-length: ") + len(b"\r\ncontent-length: ")
        left = end + 4 + int(got[at:got.index(b"\r\n", at)]) - len(got)
        while left > 0:
            left -= len(self._more())

    def _more(self):
        got = self._socket.recv(65536)
        if not got:
            raise ValueError("the proxy closed its connection")
        return got
