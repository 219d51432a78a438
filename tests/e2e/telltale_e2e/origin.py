# SPDX-License-Identifier: Apache-2.0
"""A scripted origin: sends exactly the bytes a test gives it, and keeps what it received."""
import socket
import threading

from .ports import free_port
from .waiting import wait_until


class Received:
    """One request as the origin got it. raw is head and body with framing, content without."""

    def __init__(self, head, body_raw, content, connection_number):
        lines = head.decode("latin-1").split("\r\n")
        self.head = head
        self.raw = head + b"\r\n\r\n" + body_raw
        self.content = content
        self.connection = connection_number
        self.method, self.target, self.version = lines[0].split(" ")
        self.fields = [(n, v.strip(" \t")) for n, _, v in (line.partition(":") for line in lines[1:] if line)]

    def all(self, name):
        return [value for field, value in self.fields if field.lower() == name.lower()]

    def field(self, name):
        values = self.all(name)
        return ", ".join(values) if values else None


class _Gone(Exception):
    """The peer closed or reset the connection."""


class Origin:
    """Answers every request with `parts`, in order. A part is one of

    - bytes, sent as they are;
    - a threading.Event, waited for before the next part;
    - a function of the Received request that returns bytes (or None).

    read_body: the body is read before the first part is sent; without it give close too, or send no body.
    close: the connection is ended after the parts; otherwise the next request on it is answered in the same
    way. reset: with close, it is ended with a RST.
    """

    def __init__(self, *parts, read_body=True, close=False, reset=False):
        self.parts = parts
        self.requests = []
        self.connections = 0
        self.unread = b""  # bytes that came on a connection after its last answered request
        self._read_body = read_body
        self._close = close
        self._reset = reset
        self._open = []
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self.port = free_port()
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind(("127.0.0.1", self.port))
        self._listener.listen(256)
        threading.Thread(target=self._accept, daemon=True).start()

    def wait_for_requests(self, count, timeout=10.0):
        wait_until(lambda: len(self.requests) >= count, f"{count} requests at the origin", timeout)
        return self.requests

    def close(self):
        self._stopped.set()
        with self._lock:
            sockets = [self._listener, *self._open]
        for one in sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # not connected any more
            one.close()

    def _accept(self):
        while not self._stopped.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self._open.append(connection)
                self.connections += 1
                number = self.connections
            threading.Thread(target=self._serve, args=(connection, number), daemon=True).start()

    def _serve(self, connection, number):
        pending = b""
        try:
            while not self._stopped.is_set():
                request, pending = self._read_request(connection, pending, number)
                self.requests.append(request)
                self._answer(connection, request)
                if self._reset:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                    break
                if self._close:
                    connection.shutdown(socket.SHUT_WR)
                    while data := connection.recv(65536):
                        self.unread += data
                    break
        except (_Gone, OSError):
            pass
        finally:
            connection.close()

    def _answer(self, connection, request):
        for part in self.parts:
            if isinstance(part, threading.Event):
                while not part.wait(0.05):
                    if self._stopped.is_set():
                        raise _Gone()
                continue
            data = part(request) if callable(part) else part
            if data:
                connection.sendall(data)

    def _read_request(self, connection, pending, number):
        def more():
            nonlocal pending
            data = connection.recv(1 << 18)
            if not data:
                raise _Gone()
            pending += data

        def take_line():
            nonlocal pending
            while b"\r\n" not in pending:
                more()
            line, _, pending = pending.partition(b"\r\n")
            return line

        while b"\r\n\r\n" not in pending:
            more()
        head, _, pending = pending.partition(b"\r\n\r\n")
        request = Received(head, b"", b"", number)
        if not self._read_body:
            return request, pending
        body_raw, content = b"", b""
        if (request.field("Transfer-Encoding") or "").lower() == "chunked":
            size = None
            while size != 0:
                line = take_line()
                size = int(line.split(b";")[0], 16)
                body_raw += line + b"\r\n"
                if size:
                    while len(pending) < size + 2:
                        more()
                    body_raw += pending[:size + 2]
                    content += pending[:size]
                    pending = pending[size + 2:]
            while trailer := take_line():
                body_raw += trailer + b"\r\n"
            body_raw += b"\r\n"
        elif length := request.field("Content-Length"):
            while len(pending) < int(length):
                more()
            body_raw = content = pending[:int(length)]
            pending = pending[int(length):]
        return Received(head, body_raw, content, number), pending
