# SPDX-License-Identifier: Apache-2.0
"""Content over HTTP/2 in both directions: flow control, back pressure, resets, and how connections end."""
import contextlib
import re
import socket
import threading

import pytest

from telltale_e2e import get, h2, pattern, wait_until
from telltale_e2e.client import read_slowly
from telltale_e2e.h2 import Http2

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: no-store\r\n\r\nok"
MANY = 64 * 1024 * 1024


@pytest.fixture
def scripted(start_daemon, start_origin):
    """scripted(parts..., records=..., ...): a daemon in front of an Origin with these parts; (daemon, origin)."""
    def make(*parts, records=None, **named):
        origin = start_origin(*parts, **named)
        return start_daemon(origin_port=origin.port, records=records), origin
    return make


class DeafOrigin:
    """Accepts one connection and reads nothing from it until it is told to."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
        self.port = self.listener.getsockname()[1]
        self.connection = None

    def accept(self):
        self.listener.settimeout(10)
        self.connection, _ = self.listener.accept()
        self.connection.settimeout(10)
        return self.connection

    def ended(self):
        """True once the proxy has closed or reset the connection; reads what comes before."""
        try:
            while self.connection.recv(1 << 18):
                pass
        except ConnectionResetError:
            pass
        return True

    def close(self):
        self.listener.close()
        if self.connection:
            self.connection.close()


@pytest.fixture
def deaf():
    origin = DeafOrigin()
    yield origin
    origin.close()


def upload(client, stream, content, end=True):
    """Sends content as the windows allow, which it takes from the frames that come."""
    windows = {0: 65535, stream: 65535}
    for got in client.seen:
        if got.type == h2.WINDOW_UPDATE and got.stream in windows:
            windows[got.stream] += int.from_bytes(got.payload, "big")
    at = 0
    while at < len(content):
        size = min(16384, len(content) - at, *windows.values())
        while size == 0:
            got = client.read_until(h2.WINDOW_UPDATE)
            assert got, f"the connection ended after {at} bytes, GOAWAY {client.goaway}"
            if got.stream in windows:
                windows[got.stream] += int.from_bytes(got.payload, "big")
            size = min(16384, len(content) - at, *windows.values())
        client.data(stream, content[at:at + size], end and at + size == len(content))
        at += size
        for window in windows:
            windows[window] -= size


# ---- request content

@pytest.mark.parametrize("length", [True, False])
@pytest.mark.parametrize("size", [1, 65_535, 65_536, 1_000_003])
def test_posted_content_arrives_whole(proxy, size, length):
    content = pattern(size)
    with Http2(proxy.port) as client:
        client.ping()
        client.request(1, "/content", "POST", [("content-length", str(size))] if length else (), end=False)
        upload(client, 1, content)
        assert client.reply(1).content == content


def test_content_without_a_length_is_chunked_towards_the_origin_and_empty_content_stays_empty(scripted):
    daemon, origin = scripted(OK)
    with Http2(daemon.port) as client:
        client.request(1, "/", "POST", end=False)
        client.data(1, b"abc")
        client.data(1, b"def", end=True)
        assert client.reply(1).status == 200
        client.request(3, "/", "POST", [("content-length", "0")])
        assert client.reply(3).status == 200
        client.request(5, "/", "POST")
        assert client.reply(5).status == 200
    first, second, third = origin.wait_for_requests(3)
    assert (first.field("Transfer-Encoding"), first.content) == ("chunked", b"abcdef")
    assert (second.field("Content-Length"), second.field("Transfer-Encoding")) == ("0", None)
    assert (third.field("Content-Length"), third.field("Transfer-Encoding")) == (None, None)


def test_padding_is_not_content(scripted):
    daemon, origin = scripted(OK)
    with Http2(daemon.port) as client:
        client.request(1, "/", "POST", end=False)
        client.send(h2.frame(h2.DATA, h2.PADDED, 1, b"\x05abc" + bytes(5)))
        client.send(h2.frame(h2.DATA, h2.PADDED | h2.END_STREAM, 1, b"\x03" + bytes(3)))
        assert client.reply(1).status == 200
    assert origin.wait_for_requests(1)[0].content == b"abc"


def test_a_request_trailer_section_is_dropped(scripted):
    daemon, origin = scripted(OK)
    with Http2(daemon.port) as client:
        client.request(1, "/", "POST", end=False)
        client.data(1, b"abc")
        client.send(h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, 1, h2.block([("x-trailer", "v")])))
        assert client.reply(1).status == 200
    request = origin.wait_for_requests(1)[0]
    assert request.content == b"abc" and b"trailer" not in request.raw.lower()


@pytest.mark.parametrize("content, end", [(b"abcd", False), (b"ab", True)], ids=["more", "less"])
def test_other_content_than_the_length_says_is_a_stream_error_and_never_a_whole_request(scripted, content, end):
    daemon, origin = scripted(OK)
    with Http2(daemon.port) as client:
        client.request(1, "/", "POST", [("content-length", "3")], end=False)
        client.data(1, content, end)
        assert client.reply(1).reset == h2.PROTOCOL_ERROR
        assert client.ping()
    assert all(request.content == b"abc" for request in origin.requests)


def test_expect_100_continue_gets_a_100_only_while_content_is_held_back(scripted):
    daemon, origin = scripted(OK)
    with Http2(daemon.port) as client:
        client.request(1, "/", "POST", [("expect", "100-continue"), ("content-length", "3")], end=False)
        client.read_until(h2.HEADERS)
        client.data(1, b"abc", end=True)
        reply = client.reply(1)
        assert (reply.interim, reply.status) == ([100], 200)
        client.send(client.request_bytes(3, "/", "POST", [("expect", "100-continue")], end=False)
                    + h2.frame(h2.DATA, h2.END_STREAM, 3, b"abc"))
        assert client.reply(3).status == 200
        client.request(5, "/", "GET", [("expect", "100-continue")])
        assert (client.reply(5).interim, client.reply(5).status) == ([], 200)
    assert [request.content for request in origin.requests] == [b"abc", b"abc", b""]


def test_a_final_answer_before_the_content_ends_the_stream_at_once(scripted):
    daemon, _ = scripted(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", read_body=False, close=True)
    with Http2(daemon.port) as client:
        client.request(1, "/", "POST", [("expect", "100-continue"), ("content-length", "3000000")], end=False)
        reply = client.reply(1)
        assert (reply.status, reply.content) == (403, b"no")
        got = client.read_until(h2.RST_STREAM)  # what is left of the request is not wanted
        assert got.payload == bytes(4)
        client.request(3)
        assert client.reply(3).status == 403


def test_a_client_is_held_back_by_an_origin_that_does_not_read(start_daemon, deaf):
    daemon = start_daemon(origin_port=deaf.port, records={"http": {"transaction_no_activity_timeout_out": 1}})
    before = daemon.process.rss_bytes()
    with Http2(daemon.port) as client:
        client.ping()
        client.request(1, "/", "POST", end=False)
        deaf.accept()
        sent = 0
        windows = {0: 65535, 1: 65535}
        for got in client.seen:
            if got.type == h2.WINDOW_UPDATE and got.stream in windows:
                windows[got.stream] += int.from_bytes(got.payload, "big")
        while client._replies[1].reset is None and client._replies[1].status is None:
            size = min(16384, *windows.values())
            if size:
                client.data(1, bytes(size))
                sent += size
                for window in windows:
                    windows[window] -= size
                continue
            got = client.read()
            assert got
            if got.type == h2.WINDOW_UPDATE and got.stream in windows:
                windows[got.stream] += int.from_bytes(got.payload, "big")
        assert client.reply(1).status in (502, 504)
        assert sent < 16 << 20  # the kernel's buffers, and one window
        assert daemon.process.rss_bytes() - before < 4 << 20
        client.request(3, "/elsewhere", authority="elsewhere")
        assert client.reply(3).status == 404  # the connection is not clogged


def test_one_stream_that_is_stuck_does_not_stop_the_others(start_daemon, deaf, start_tt_origin):
    good = start_tt_origin()
    daemon = start_daemon(remap=[f"map http://127.0.0.1:{{port}}/deaf/ http://127.0.0.1:{deaf.port}/",
                                 f"map http://127.0.0.1:{{port}}/ http://127.0.0.1:{good.port}/"])
    with Http2(daemon.port) as client:
        client.ping()
        client.request(1, "/deaf/", "POST", end=False)
        deaf.accept()
        client.data(1, bytes(16384))
        content = pattern(500_000)
        client.request(3, "/content", "POST", end=False)
        upload(client, 3, content)
        assert client.reply(3).content == content


# ---- response content

def test_content_waits_for_the_streams_window(proxy):
    with Http2(proxy.port, first=h2.PREFACE + h2.settings(INITIAL_WINDOW_SIZE=10)) as client:
        client.request(1, "/bytes/25")
        got = client.read_until(h2.DATA)
        assert len(got.payload) == 10 and not got.flags & h2.END_STREAM
        client.ping()
        assert client._replies[1].content == pattern(10)
        client.send(h2.window_update(1, 14))
        while len(client._replies[1].content) < 24:  # an answer to a PING may overtake content
            client.read()
        client.ping()
        assert client._replies[1].content == pattern(24)
        client.send(h2.window_update(1, 1))
        assert client.reply(1, open_windows=False).content == pattern(25)


def test_content_waits_for_the_connections_window_and_other_streams_get_theirs(proxy):
    with Http2(proxy.port, first=h2.PREFACE + h2.settings(INITIAL_WINDOW_SIZE=1 << 20)) as client:
        client.request(1, "/bytes/70000")
        while len(client._replies[1].content) < 65535:
            client.read()
        client.request(3, "/bytes/0")
        assert client.reply(3).status == 200
        client.send(h2.window_update(0, 10_000))
        assert client.reply(1).content == pattern(70000)


def test_a_client_that_is_slow_but_takes_something_is_not_given_up(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, records={"http": {"transaction_no_activity_timeout_in": 1}})
    windows = h2.settings(INITIAL_WINDOW_SIZE=2**31 - 1) + h2.window_update(0, 2**31 - 1 - 65535)
    with Http2(daemon.port, first=h2.PREFACE + windows) as client:
        client.request(1, "/bytes/8000000?cc=no-store")
        client._in = read_slowly(client.socket, 2.5)
        assert client.reply(1, open_windows=False).content == pattern(8000000)


def test_a_zero_window_ends_by_the_time_out(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, records={"http": {"transaction_no_activity_timeout_in": 1}})
    with Http2(daemon.port) as client:
        client.request(1, "/bytes/2000")
        assert client.reply(1).content == pattern(2000)
    with contextlib.ExitStack() as ends:
        clients = []
        for path in ("/bytes/2001", "/bytes/2000", "/chunked/200000?cc=no-store"):  # a miss, a hit, a stream
            clients.append(ends.enter_context(Http2(daemon.port, first=h2.PREFACE + h2.settings(INITIAL_WINDOW_SIZE=0))))
            clients[-1].request(1, path)
        for client in clients:
            reply = client.reply(1)
            assert (reply.status, reply.content, reply.reset) == (200, b"", h2.CANCEL)


@pytest.mark.parametrize("stuck", ["socket", "window"])
def test_a_client_that_does_not_read_holds_its_origin_back_and_memory_is_bounded(start_daemon, start_origin, stuck):
    piece = bytes(1 << 20)
    sent = [0]

    def endless(_request):
        sent[0] += len(piece)
        return piece
    origin = start_origin(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % MANY, *[endless] * 64)
    daemon = start_daemon(origin_port=origin.port, records={"http": {"transaction_no_activity_timeout_in": 2}})
    daemon.ctl_ok("debug", "enable", "--tags", "http$")
    before = peak = daemon.process.rss_bytes()
    first = h2.PREFACE + h2.settings()
    if stuck == "socket":
        first = h2.PREFACE + h2.settings(INITIAL_WINDOW_SIZE=(1 << 31) - 1) + h2.window_update(0, (1 << 31) - 1 - 65535)
    with Http2(daemon.port, first=first, receive_buffer=65536) as client:
        for stream in range(1, 41, 2):
            client.request(stream, f"/{stream}")
        origin.wait_for_requests(20)

        def given_up():
            nonlocal peak
            peak = max(peak, daemon.process.rss_bytes())
            return len(re.findall(r"answered 200 to \S+ incompletely, the client (?:took no byte for too long|is gone):", daemon.diags_log())) == 20
        wait_until(given_up, "all transactions to end", 20)
        if stuck == "window":
            assert [client.reply(stream, open_windows=False).reset for stream in range(1, 41, 2)] == [h2.CANCEL] * 20
    assert peak - before < 20 << 20
    assert sent[0] < 20 * (12 << 20)


# ---- resets

def test_a_reset_by_the_client_cancels_the_fetch(start_daemon, deaf):
    daemon = start_daemon(origin_port=deaf.port)
    daemon.ctl_ok("debug", "enable", "--tags", "^http$|origin|http2$")
    with Http2(daemon.port) as client:
        client.request(1)
        deaf.accept()
        client.send(h2.rst_stream(1))
        assert deaf.ended()
        client.request(3, authority="elsewhere")
        assert client.reply(3).status == 404
    text = daemon.diags_log("given up: the client is gone")
    assert "stream 1 reset by the client with CANCEL" in text and re.search(r"no answer to \S+, the client is gone", text)


def test_the_end_of_a_connection_cancels_its_fetches(start_daemon, deaf):
    daemon = start_daemon(origin_port=deaf.port)
    with Http2(daemon.port) as client:
        client.request(1)
        deaf.accept()
    assert deaf.ended()
    assert get(daemon.port, host="elsewhere").status == 404


def test_content_cut_by_a_reset_is_not_stored(scripted):
    go_on = threading.Event()
    daemon, origin = scripted(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\r\nabc", go_on, b"def", close=True)
    with Http2(daemon.port) as client:
        client.request(1)
        client.read_until(h2.DATA)
        client.send(h2.rst_stream(1))
        client.ping()
        go_on.set()
        client.request(3)
        assert client.reply(3).content == b"abcdef"
    assert len(origin.requests) == 2


def test_an_upload_cut_by_a_reset_is_not_whole_at_the_origin(start_daemon, deaf):
    daemon = start_daemon(origin_port=deaf.port)
    with Http2(daemon.port) as client:
        client.request(1, "/", "POST", end=False)
        client.data(1, b"abc")
        deaf.accept()
        client.send(h2.rst_stream(1))
        received = b""
        try:
            while data := deaf.connection.recv(65536):
                received += data
        except ConnectionResetError:
            pass
        assert not received.endswith(b"0\r\n\r\n")


# ---- how connections end

def test_a_stop_sends_goaway_and_finishes_what_is_open(start_daemon, start_origin):
    go_on = threading.Event()
    origin = start_origin(go_on, OK)
    daemon = start_daemon(origin_port=origin.port)
    with Http2(daemon.port) as client, Http2(daemon.port) as idle:
        idle.ping()
        client.request(1)
        origin.wait_for_requests(1)
        daemon.process.send_signal(15)
        got = client.read_until(h2.GOAWAY)
        assert got.payload[:8] == (1).to_bytes(4, "big") + bytes(4)  # stream 1 is the last, NO_ERROR
        assert idle.end() == h2.NO_ERROR
        client.request(3)  # too late: not answered, and not an error
        go_on.set()
        assert client.reply(1).content == b"ok"
        assert client.end() == h2.NO_ERROR
    assert daemon.process.wait() == 0
    assert len(origin.requests) == 1


def test_a_stop_ends_streams_that_do_not_end_in_the_drain_time(start_daemon, deaf):
    daemon = start_daemon(origin_port=deaf.port, records={"telltale": {"stop": {"drain_timeout": 1}}})
    with Http2(daemon.port) as client:
        client.request(1)
        deaf.accept()
        daemon.process.send_signal(15)
        client.end()
    assert daemon.process.wait() == 0


def test_an_idle_connection_ends_with_goaway_and_pings_do_not_keep_it(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, records={"http": {"keep_alive_no_activity_timeout_in": 1}})
    with Http2(daemon.port) as client:
        client.request(1, "/bytes/5")
        client.reply(1)
        pings = 0
        while client.goaway is None and not client.closed:
            client.send(h2.frame(h2.PING, 0, 0, bytes(8)))
            pings += 1
            client.read()
            threading.Event().wait(0.05)
        assert client.end() == h2.NO_ERROR and pings > 5


def test_a_goaway_of_the_client_lets_its_streams_finish(proxy):
    with Http2(proxy.port) as client:
        client.send(client.request_bytes(1, "/bytes/5?cc=no-store") + h2.frame(h2.GOAWAY, 0, 0, bytes(8)))
        assert client.reply(1).content == pattern(5)
        assert client.end() is None


def test_settings_that_change_are_announced_on_open_connections_too(proxy):
    with Http2(proxy.port) as client:
        client.ping()
        proxy.ctl_ok("config", "set", "proxy.config.http2.max_concurrent_streams_in", "7")
        client.ping(b"abcdefgh")
        last = [got for got in client.seen if got.type == h2.SETTINGS and not got.flags & h2.ACK][-1]
        assert last.payload[:6] == b"\0\3\0\0\0\7"
