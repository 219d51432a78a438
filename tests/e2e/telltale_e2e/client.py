# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1 clients that show framing as it is: nothing is repaired, nothing is hidden."""
import socket
import threading
import time


class Truncated(Exception):
    """The connection ended before the message did. `so_far` is what came of its content."""

    def __init__(self, so_far=b""):
        super().__init__(f"connection closed within a message, {len(so_far)} bytes of content came")
        self.so_far = so_far


class Response:
    def __init__(self, head):
        lines = head.decode("latin-1").split("\r\n")
        self.head = head
        self.version, status, self.reason = (lines[0].split(" ", 2) + [""])[:3]
        self.status = int(status)
        self.fields = [(n, v.strip(" \t")) for n, _, v in (line.partition(":") for line in lines[1:] if line)]
        self.trailers = []
        self.content = b""
        self.interim = []  # the 1xx responses that came before this one

    def all(self, name):
        """The values of every field line with this name."""
        return [value for field, value in self.fields if field.lower() == name.lower()]

    def field(self, name):
        """All values joined as RFC 9110 section 5.3 allows; None when absent."""
        values = self.all(name)
        return ", ".join(values) if values else None


def request_bytes(method="GET", target="/", host="127.0.0.1", fields=(), content=None):
    """A request; content adds Content-Length. A list of byte pieces as content is sent chunked."""
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name}: {value}" for name, value in fields]
    body = b""
    if isinstance(content, (list, tuple)):
        lines.append("Transfer-Encoding: chunked")
        body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in content) + b"0\r\n\r\n"
    elif content is not None:
        lines.append(f"Content-Length: {len(content)}")
        body = content
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


class Connection:
    """One client connection; requests may be pipelined, responses are read one by one."""

    def __init__(self, port, source=None, timeout=15.0, receive_buffer=None):
        self.port = port
        self.socket = socket.socket()
        self.socket.settimeout(timeout)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if source:
            self.socket.bind((source, 0))
        self.socket.connect(("127.0.0.1", port))
        self._in = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def request(self, method="GET", target="/", fields=(), content=None, host=None):
        """Sends a request and returns its response."""
        self.send(request_bytes(method, target, host or f"127.0.0.1:{self.port}", fields, content))
        return self.response(head_only=method == "HEAD")

    @property
    def buffered(self):
        """Bytes that came and belong to no response yet."""
        return self._in

    def closed_by_peer(self, timeout=10.0):
        """True when the peer closes within the time-out and sends nothing more."""
        self.socket.settimeout(timeout)
        try:
            return not self._in and self.socket.recv(1) == b""
        except ConnectionResetError:
            return True
        except socket.timeout:
            return False

    def response_head(self):
        while b"\r\n\r\n" not in self._in:
            if not self._more():
                raise Truncated()
        head, _, self._in = self._in.partition(b"\r\n\r\n")
        return Response(head)

    def response(self, head_only=False):
        """The next final response. Raises Truncated when the connection ends within it."""
        interim = []
        response = self.response_head()
        while 100 <= response.status < 200 and response.status != 101:
            interim.append(response)
            response = self.response_head()
        response.interim = interim
        if head_only or response.status in (204, 304):
            return response
        coding, length = response.field("Transfer-Encoding"), response.field("Content-Length")
        if coding is not None:
            assert coding.lower() == "chunked" and length is None, response.fields
            self._read_chunks(response)
        elif length is not None:
            response.content = self._take(int(length), b"")
        else:
            while self._more():
                pass
            response.content, self._in = self._in, b""
        return response

    def _more(self):
        data = self.socket.recv(1 << 18)
        self._in += data
        return bool(data)

    def _take(self, count, so_far):
        pieces = [self._in]
        have = len(self._in)
        while have < count:
            data = self.socket.recv(1 << 18)
            if not data:
                raise Truncated(so_far + b"".join(pieces))
            pieces.append(data)
            have += len(data)
        everything = b"".join(pieces)
        self._in = everything[count:]
        return everything[:count]

    def _line(self, so_far):
        while b"\r\n" not in self._in:
            if not self._more():
                raise Truncated(so_far)
        line, _, self._in = self._in.partition(b"\r\n")
        return line

    def _read_chunks(self, response):
        pieces = []
        while True:
            so_far = b"".join(pieces) if len(pieces) < 64 else b""
            size = int(self._line(so_far).split(b";")[0], 16)
            if size == 0:
                break
            pieces.append(self._take(size, so_far))
            assert self._line(so_far) == b""
        while line := self._line(b""):
            name, _, value = line.decode("latin-1").partition(":")
            response.trailers.append((name, value.strip()))
        response.content = b"".join(pieces)


def read_slowly(connection, seconds, piece=30000):
    """Reads `piece` bytes every tenth of a second from a socket for so long; what came."""
    came = b""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        data = connection.recv(piece)
        if not data:
            break
        came += data
        time.sleep(0.1)
    return came


def get(port, target="/", fields=(), method="GET", content=None, host=None, source=None):
    """One request on a connection of its own. Returns when the server has closed that, so that whatever it
    does after the last byte of a response (store it, count it) is done too."""
    with Connection(port, source=source) as connection:
        response = connection.request(method, target, [*fields, ("Connection", "close")], content, host)
        assert connection.closed_by_peer(), "the connection stayed open although it was asked to close"
        return response


class RawReply(bytes):
    """Bytes that came back; closed: whether the peer ended the connection."""

    closed = False

    @property
    def status(self):
        """The status code of the first response in it; None when there is no status line."""
        parts = self.split(b" ", 2)
        return int(parts[1]) if self.startswith(b"HTTP/1.1 ") and parts[1].isdigit() else None


def raw(data, port, timeout=5.0, until=None, source=None):
    """Sends exactly `data` and returns all that comes back until the peer closes, until(bytes) is true, or
    the time is over; reads while it sends, so neither side can block the other for good."""
    connection = socket.socket()
    if source:
        connection.bind((source, 0))
    connection.connect(("127.0.0.1", port))
    connection.settimeout(timeout)

    def send():
        try:
            connection.sendall(data)
        except OSError:
            pass  # the peer closed early: what it sent is the result

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    received, closed = b"", False
    deadline = time.monotonic() + timeout
    while not (until and until(received)):
        left = deadline - time.monotonic()
        if left <= 0:
            break
        connection.settimeout(left)
        try:
            piece = connection.recv(65536)
        except socket.timeout:
            break
        except ConnectionResetError:
            piece = b""
        if not piece:
            closed = True
            break
        received += piece
    connection.close()
    sender.join(timeout)
    reply = RawReply(received)
    reply.closed = closed
    return reply
