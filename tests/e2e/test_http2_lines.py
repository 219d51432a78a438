# SPDX-License-Identifier: Apache-2.0
"""Whatever is refused over HTTP/2 has a line of the tag http2 that says what and why."""
import socket
import struct

import pytest

from telltale_e2e import h2
from telltale_e2e.h2 import Http2


def post(client, *frames, **fields):
    extra = [(name.replace("_", "-"), value) for name, value in fields.items()]
    return client.request_bytes(1, "/content", "POST", extra, end=False) + b"".join(frames)


def data(content, end=True):
    return h2.frame(h2.DATA, h2.END_STREAM if end else 0, 1, content)


def trailers(*fields):
    return h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, 1, h2.block(fields))


# What a client sends, and what the lines say of it.
STREAMS = {
    "a field of HTTP/1.1": (lambda c: c.request_bytes(1, extra=[("a", "b"), ("connection", "close")]),
                            ["field 6 of the block", "must not be there: Connection", "HEADERS on stream 1 refused"]),
    "a name in capitals": (lambda c: c.request_bytes(1, extra=[("Secret-Name", "b")]), ["field 5 of the block"]),
    "a control byte": (lambda c: c.request_bytes(1, extra=[("cookie", "secret\0")]), ["field 5 of the block", "there: Cookie"]),
    "a pseudo-header field twice": (lambda c: c.request_bytes(1, extra=[(":path", "/")]), ["field 5 of the block", "there: :path"]),
    "a pseudo-header field in trailers": (lambda c: post(c, data(b"a", False), trailers((":path", "/"))),
                                          ["field 1 of the block", "there: :path", "HEADERS on stream 1 refused"]),
    "no method": (lambda c: h2.frame(h2.HEADERS, 5, 1, h2.block(c.fields()[1:])), ["HEADERS on stream 1 refused: Violation in HTTP"]),
    "short content": (lambda c: post(c, data(b"a"), content_length="2"), ["its content has another length than announced"]),
    "long content": (lambda c: post(c, data(b"abc"), content_length="2"), ["its content has another length than announced"]),
    "two hosts": (lambda c: c.request_bytes(1, extra=[("host", "other")]), [":authority and Host name different hosts"]),
    "a window that overflows": (lambda c: post(c, h2.window_update(1, 2**31 - 1)),
                                ["WINDOW_UPDATE on stream 1 refused: Flow control", "RST_STREAM sent on stream 1 with FLOW_CONTROL_ERROR"]),
    "windows that overflow by SETTINGS": (lambda c: post(c, h2.window_update(1, 2**30), h2.settings(INITIAL_WINDOW_SIZE=2**31 - 1)),
                                          ["RST_STREAM sent on stream 1 with FLOW_CONTROL_ERROR"]),
}
ANSWERS = {
    "too many bytes": (lambda c: c.request_bytes(1, extra=[("x", "y" * 2000)]),
                       ["stream 1 refused with 431", "1024 bytes (proxy.config.http2.max_header_list_size)"]),
    "an expectation": (lambda c: c.request_bytes(1, extra=[("expect", "more")]), ["stream 1 refused with 417: field Expect"]),
}
CONNECTIONS = {
    "content for no stream": (lambda c: data(b"a"), ["with PROTOCOL_ERROR", "DATA"]),
    "content after its end": (lambda c: post(c, data(b"a"), data(b"a")), ["with STREAM_CLOSED", "DATA"]),
    "a long frame": (lambda c: h2.frame(h2.PING, 0, 0, bytes(16385)), ["with FRAME_SIZE_ERROR", ": "]),
    "a short PING": (lambda c: h2.frame(h2.PING, 0, 0, bytes(7)), ["with FRAME_SIZE_ERROR"]),
    "a frame within a block": (lambda c: h2.frame(h2.HEADERS, 1, 1, b"") + h2.frame(h2.PING, 0, 0, bytes(8)),
                               ["with PROTOCOL_ERROR", "CONTINUATION"]),
    "a bad block": (lambda c: h2.frame(h2.HEADERS, 5, 1, b"\xff\xff\xff\x0f"), ["with COMPRESSION_ERROR"]),
    "too much padding": (lambda c: h2.frame(h2.HEADERS, 5 | h2.PADDED, 1, b"\xff" + h2.block(c.fields())), ["with PROTOCOL_ERROR", "HEADERS"]),
    "a window of nothing": (lambda c: h2.window_update(0, 0), ["WINDOW_UPDATE on stream 0 refused", "with PROTOCOL_ERROR"]),
    "too many frames": (lambda c: h2.frame(h2.PING, 0, 0, bytes(8)) * 100, ["more than 60 frames of kind PING", "with ENHANCE_YOUR_CALM"]),
}


def reset_on_close(client):
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def log_of(proxy, send, until):
    proxy.ctl_ok("debug", "enable", "--tags", "http2$")
    with Http2(proxy.port) as client:
        client.send(send(client))
        until(client)
    return proxy.diags_log("connection closed: ")


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_is_reset_has_a_line_that_says_why(proxy, name):
    send, lines = STREAMS[name]
    text = log_of(proxy, send, lambda client: client.reply(1))
    assert [line for line in [*lines, "RST_STREAM sent on stream 1 with"] if line not in text] == [], text
    assert "secret" not in text.lower(), "a client's bytes"


@pytest.mark.parametrize("name", ANSWERS)
def test_a_request_that_is_answered_without_being_served_has_a_line_that_says_why(proxy, name):
    proxy.ctl_ok("config", "set", "proxy.config.http2.max_header_list_size", 1024)
    send, lines = ANSWERS[name]
    text = log_of(proxy, send, lambda client: client.reply(1))
    assert [line for line in lines if line not in text] == [], text


@pytest.mark.parametrize("name", CONNECTIONS)
def test_a_connection_that_is_ended_has_a_line_that_says_why(proxy, name):
    send, lines = CONNECTIONS[name]
    text = log_of(proxy, send, lambda client: client.end())
    assert [line for line in [*lines, "GOAWAY sent"] if line not in text] == [], text


@pytest.mark.parametrize("end, why", [
    (lambda c: c.close(), "the client ended it"), (lambda c: (reset_on_close(c), c.close()), "the client reset it"),
    (lambda c: (c.send(data(b"a")), c.end()), "the client broke the protocol"),
    (lambda c: (c.send(h2.frame(h2.PING, 0, 0, bytes(8)) * 100), c.end()), "too many frames"),
])
def test_the_last_line_of_a_connection_says_why_it_was_closed(proxy, end, why):
    proxy.ctl_ok("debug", "enable", "--tags", "http2$")
    with Http2(proxy.port) as client:
        client.ping()
        end(client)
    assert f"connection closed: {why}; requests: 0, " in proxy.diags_log("connection closed: ")


def test_a_client_that_takes_nothing_and_a_stop_are_told_as_what_ended_a_connection(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, records={"http": {"transaction_no_activity_timeout_in": 1}})
    daemon.ctl_ok("debug", "enable", "--tags", "http2$")
    windows = h2.settings(INITIAL_WINDOW_SIZE=2**31 - 1) + h2.window_update(0, 2**31 - 1 - 65535)
    with Http2(daemon.port, first=h2.PREFACE + windows, receive_buffer=4096) as slow, Http2(daemon.port) as idle:
        idle.ping()
        slow.request(1, "/bytes/100000000?cc=no-store")
        daemon.diags_log("connection closed: the client took nothing for too long; requests: 1, ")
        daemon.stop()
    assert "connection closed: the worker is stopping; requests: 0, " in daemon.diags_log()


def test_response_heads_have_a_line_over_http2_too(proxy):
    proxy.ctl_ok("debug", "enable", "--tags", "http_hdrs")
    for _ in range(2):
        assert h2.get(proxy.port, "/bytes/7").status == 200
    text = proxy.diags_log("client response: age: ")
    assert text.count("client response: HTTP/2 200\n") == 2 and text.count("client response: content-length: 7\n") == 2
