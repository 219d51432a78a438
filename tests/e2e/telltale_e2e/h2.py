# SPDX-License-Identifier: Apache-2.0
"""An HTTP/2 client of single frames: what it sends is exactly what a test says, right or wrong."""
import collections
import socket
import struct

from hpack import Decoder

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED = 1, 1, 4, 8
NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR = 0, 1, 2, 3
STREAM_CLOSED, FRAME_SIZE_ERROR, REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM = 5, 6, 7, 8, 11
MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_HEADER_LIST_SIZE = 3, 4, 6

Frame = collections.namedtuple("Frame", "type flags stream payload")


def frame(kind, flags=0, stream=0, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def settings(**values):
    """settings(INITIAL_WINDOW_SIZE=0): a SETTINGS frame."""
    return frame(SETTINGS, payload=b"".join(struct.pack(">HI", globals()[name], value) for name, value in values.items()))


def window_update(stream, increment):
    return frame(WINDOW_UPDATE, 0, stream, increment.to_bytes(4, "big"))


def rst_stream(stream, error=CANCEL):
    return frame(RST_STREAM, 0, stream, error.to_bytes(4, "big"))


def _text(text):
    return text if isinstance(text, bytes) else text.encode("latin-1")


def _number(value, prefix, first=0):
    top = (1 << prefix) - 1
    if value < top:
        return bytes([first | value])
    out = bytearray([first | top])
    value -= top
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def literal(name, value):
    """A field, neither compressed nor indexed."""
    name, value = _text(name), _text(value)
    return b"\0" + _number(len(name), 7) + name + _number(len(value), 7) + value


def block(fields):
    return b"".join(literal(name, value) for name, value in fields)


class Reply:
    """What came on one stream. status is None when it was reset before a head."""

    def __init__(self):
        self.status = None
        self.fields = []
        self.interim = []  # status codes
        self.pieces = []  # of the content
        self.reset = None  # the error code of a RST_STREAM
        self.ended = False

    @property
    def content(self):
        if len(self.pieces) > 1:
            self.pieces = [b"".join(self.pieces)]
        return self.pieces[0] if self.pieces else b""

    def all(self, name):
        return [value for field, value in self.fields if field == name]

    def field(self, name):
        values = self.all(name)
        return ", ".join(values) if values else None


class Http2:
    """One connection. Frames that are read stay in `seen`; SETTINGS and PING are not answered by themselves."""

    def __init__(self, port, first=None, timeout=15.0, receive_buffer=None):
        self.port = port
        self.seen = []
        self.goaway = None  # the error code of the last GOAWAY
        self.closed = False
        self._replies = collections.defaultdict(Reply)
        self._in = b""
        self._decoder = Decoder()
        self.socket = socket.socket()
        self.socket.settimeout(timeout)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.send(PREFACE + settings() if first is None else first)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        """True when all was taken; False when the peer had closed."""
        try:
            self.socket.sendall(data)
            return True
        except OSError:  # also where the test has closed it meanwhile
            return False

    def fields(self, path="/", method="GET", extra=(), authority=None, scheme="http"):
        authority = f"127.0.0.1:{self.port}" if authority is None else authority
        return [(":method", method), (":scheme", scheme), (":path", path), (":authority", authority), *extra]

    def request(self, stream, path="/", method="GET", extra=(), authority=None, end=True):
        self.send(self.request_bytes(stream, path, method, extra, authority, end))

    def request_bytes(self, stream, path="/", method="GET", extra=(), authority=None, end=True):
        return frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream,
                     block(self.fields(path, method, extra, authority)))

    def data(self, stream, content, end=False):
        return self.send(frame(DATA, END_STREAM if end else 0, stream, content))

    def read(self):
        """The next frame; None when the connection has ended."""
        while len(self._in) < 9 or len(self._in) < 9 + int.from_bytes(self._in[:3], "big"):
            try:
                data = self.socket.recv(1 << 18)
            except ConnectionResetError:
                data = b""
            if not data:
                self.closed = True
                return None
            self._in += data
        size = int.from_bytes(self._in[:3], "big")
        got = Frame(self._in[3], self._in[4], int.from_bytes(self._in[5:9], "big") & 0x7FFFFFFF, self._in[9:9 + size])
        self._in = self._in[9 + size:]
        self.seen.append(got)
        self._note(got)
        return got

    def _note(self, got):
        reply = self._replies[got.stream]
        if got.type == HEADERS:
            assert got.flags & END_HEADERS and not got.flags & PADDED
            fields = [tuple(text.decode("latin-1") if isinstance(text, bytes) else text for text in pair)
                      for pair in self._decoder.decode(got.payload, raw=True)]
            status = int(fields[0][1])
            if status < 200:
                reply.interim.append(status)
            else:
                reply.status, reply.fields = status, fields[1:]
        elif got.type == DATA:
            reply.pieces.append(got.payload)
        elif got.type == RST_STREAM:
            reply.reset = int.from_bytes(got.payload, "big")
        elif got.type == GOAWAY:
            self.goaway = int.from_bytes(got.payload[4:8], "big")
        if got.type in (HEADERS, DATA) and got.flags & END_STREAM:
            reply.ended = True

    def reply(self, stream, open_windows=True):
        """Reads until the stream is over: its Reply. open_windows: what is read is allowed again."""
        reply = self._replies[stream]
        while not reply.ended and reply.reset is None:
            got = self.read()
            assert got is not None, f"the connection ended before stream {stream}: {reply.__dict__}, GOAWAY {self.goaway}"
            if open_windows and got.type == DATA and got.payload:
                self.send(window_update(0, len(got.payload)) + window_update(got.stream, len(got.payload)))
        return reply

    def read_until(self, kind, predicate=lambda _: True):
        """The next frame of that type for which predicate is true; None when the connection ended first."""
        while True:
            got = self.read()
            if got is None or (got.type == kind and predicate(got)):
                return got

    def end(self):
        """Reads until the peer closes: the error code of its GOAWAY, or None."""
        while self.read() is not None:
            pass
        return self.goaway

    def ping(self, data=b"12345678"):
        """Sends a PING and reads up to its answer: everything sent before it has been seen by the peer."""
        self.send(frame(PING, 0, 0, data))
        return self.read_until(PING, lambda got: got.flags & ACK and got.payload == data)


def get(port, path="/", method="GET", extra=()):
    with Http2(port) as client:
        client.request(1, path, method, extra)
        return client.reply(1)
