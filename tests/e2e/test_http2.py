# SPDX-License-Identifier: Apache-2.0
"""Requests and responses over HTTP/2, by prior knowledge on the port that speaks HTTP/1.1 too."""
import subprocess

import pytest

from telltale_e2e import get, h2, pattern, raw
from telltale_e2e.h2 import Http2

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: no-store\r\n\r\nok"


@pytest.fixture
def scripted(start_daemon, start_origin):
    """scripted(parts..., records=..., ...): a daemon in front of an Origin with these parts; (daemon, origin)."""
    def make(*parts, records=None, **named):
        origin = start_origin(*parts, **named)
        return start_daemon(origin_port=origin.port, records=records), origin
    return make


def run(*arguments, stdin=None):
    return subprocess.run([str(argument) for argument in arguments], capture_output=True, timeout=60, check=True,
                          input=stdin).stdout


# ---- the preface

@pytest.mark.parametrize("split", range(1, len(h2.PREFACE) + 9))
def test_the_preface_may_come_split_at_any_byte(proxy, split):
    with Http2(proxy.port, first=b"") as client:
        everything = h2.PREFACE + h2.settings()
        client.send(everything[:split])
        assert get(proxy.port, "/bytes/1").status == 200  # the proxy has turned to others meanwhile
        client.send(everything[split:] + client.request_bytes(1, "/bytes/10"))
        assert client.reply(1).content == pattern(10)


@pytest.mark.parametrize("first", [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\rX", b"PRI / HTTP/1.1\r\n\r\n", b"PUT / HTTP/1.1\r\n\r\n"])
def test_what_only_begins_like_the_preface_is_http1(proxy, first):
    reply = raw(first, proxy.port)
    assert reply.startswith(b"HTTP/1.1 ") and reply.closed


def test_an_http1_connection_does_not_change_to_http2_later(proxy):
    host = b"Host: 127.0.0.1:%d\r\n\r\n" % proxy.port
    reply = raw(b"GET /bytes/1 HTTP/1.1\r\n" + host + h2.PREFACE + h2.settings(), proxy.port)
    assert reply.count(b"HTTP/1.1 ") == 2 and reply.closed


def test_a_preface_without_settings_is_a_connection_error(proxy):
    with Http2(proxy.port, first=h2.PREFACE) as client:
        client.request(1, "/bytes/1")
        assert client.end() == h2.PROTOCOL_ERROR


# ---- clients that are not ours

def test_curl_gets_misses_hits_and_heads(proxy):
    url = f"http://127.0.0.1:{proxy.port}/bytes/70000"
    curl = ("curl", "-sS", "--http2-prior-knowledge", "-w", "%{http_version}")
    assert run(*curl, url) == pattern(70000) + b"2"
    assert run(*curl, url) == pattern(70000) + b"2"
    assert proxy.origin.hits("/bytes/70000") == 1
    head = run(*curl, "-I", url)
    assert b"content-length: 70000" in head and b"age: " in head and head.endswith(b"\r\n\r\n2")


def test_nghttp_gets_many_at_once(proxy):
    urls = [f"http://127.0.0.1:{proxy.port}/bytes/{1000 + i}?cc=no-store" for i in range(50)]
    assert sorted(run("nghttp", *urls)) == sorted(b"".join(pattern(1000 + i) for i in range(50)))


def test_h2load_loses_nothing(proxy):
    said = run("h2load", "-m10", "-c8", "-n2000", f"http://127.0.0.1:{proxy.port}/bytes/1024").decode()
    assert "2000 succeeded, 0 failed, 0 errored, 0 timeout" in said and "(2048000) data" in said


# ---- responses

@pytest.mark.parametrize("kind", ["bytes", "chunked"])
@pytest.mark.parametrize("count", [0, 1, 65_535, 65_536, 3_000_001])
def test_content_arrives_whole(proxy, kind, count):
    for _ in range(2):  # from the origin, then from the cache
        reply = h2.get(proxy.port, f"/{kind}/{count}")
        assert (reply.status, reply.content) == (200, pattern(count))
        assert reply.field("transfer-encoding") is None and reply.field("connection") is None


def test_a_hit_has_an_age_and_does_not_ask_the_origin(proxy):
    with Http2(proxy.port) as client:
        for stream in (1, 3, 5):
            client.request(stream, "/bytes/1024")
            reply = client.reply(stream)
            assert (reply.status, reply.content, reply.field("content-length")) == (200, pattern(1024), "1024")
            assert (reply.field("age") is None) == (stream == 1)
    assert proxy.origin.hits("/bytes/1024") == 1


def test_both_protocols_share_the_cache(proxy):
    assert get(proxy.port, "/bytes/33").content == pattern(33)
    assert h2.get(proxy.port, "/bytes/33").content == pattern(33)
    assert proxy.origin.hits("/bytes/33") == 1


@pytest.mark.parametrize("order", ["GHG", "HGH"])
def test_head_has_the_length_of_get_and_no_content(proxy, order):
    with Http2(proxy.port) as client:
        for number, letter in enumerate(order):
            client.request(2 * number + 1, "/bytes/1234", "HEAD" if letter == "H" else "GET")
            reply = client.reply(2 * number + 1)
            assert reply.field("content-length") == "1234"
            assert reply.content == (b"" if letter == "H" else pattern(1234))


@pytest.mark.parametrize("status", [204, 304])
def test_a_response_without_content_ends_with_its_head(proxy, status):
    with Http2(proxy.port) as client:
        client.request(1, f"/status/{status}")
        reply = client.reply(1)
        assert (reply.status, reply.content) == (status, b"")
        assert not [got for got in client.seen if got.type == h2.DATA]


def test_connection_specific_fields_of_an_origin_are_removed(scripted):
    daemon, _ = scripted(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: upgrade, x-hop\r\nUpgrade: h2c\r\n"
                         b"Keep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\nTE: x\r\nX-Hop: 1\r\nX-Kept: 1\r\n\r\nok")
    reply = h2.get(daemon.port)
    assert (reply.status, reply.content, reply.field("x-kept")) == (200, b"ok", "1")
    assert not {"connection", "upgrade", "keep-alive", "proxy-connection", "te", "x-hop"} & {n for n, _ in reply.fields}


def test_switching_protocols_unasked_is_a_bad_gateway(scripted):
    daemon, _ = scripted(b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
    assert h2.get(daemon.port).status == 502


def test_interim_responses_come_before_the_final_one(scripted):
    daemon, _ = scripted(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + OK)
    reply = h2.get(daemon.port)
    assert (reply.interim, reply.status, reply.content) == ([103, 102], 200, b"ok")


def test_trailers_of_an_origin_are_dropped_and_the_content_is_exact(scripted):
    daemon, origin = scripted(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\nCache-Control: max-age=60\r\n\r\n"
                              b"3\r\nabc\r\n0\r\nX-T: v\r\n\r\n")
    for _ in range(2):
        reply = h2.get(daemon.port)
        assert (reply.content, reply.field("trailer"), reply.ended) == (b"abc", None, True)
    assert len(origin.requests) == 1


def test_a_response_that_breaks_off_ends_in_a_reset(scripted):
    daemon, _ = scripted(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", close=True)
    reply = h2.get(daemon.port)
    assert (reply.status, reply.content, reply.ended, reply.reset) == (200, b"abc", False, h2.INTERNAL_ERROR)


def test_a_response_head_of_many_fields_arrives_whole(scripted):
    fields = b"".join(b"X-%d: %s\r\n" % (i, b"v" * 300) for i in range(90))
    daemon, _ = scripted(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n" + fields + b"\r\nok")
    head = run("curl", "-sS", "--http2-prior-knowledge", "-D-", "-o/dev/null", f"http://127.0.0.1:{daemon.port}/").decode()
    assert all(f"x-{i}: {'v' * 300}\r\n" in head for i in range(90))


# ---- requests

def test_a_request_reaches_the_origin_as_http1(scripted):
    daemon, origin = scripted(OK)
    extra = [("cookie", "a=1"), ("x-one", "1"), ("cookie", "b=2"), ("te", "trailers"), ("cookie", "c=3")]
    with Http2(daemon.port) as client:
        client.request(1, "/a?b=c", extra=extra)
        assert client.reply(1).status == 200
    request = origin.wait_for_requests(1)[0]
    assert (request.method, request.target, request.version) == ("GET", "/a?b=c", "HTTP/1.1")
    assert request.all("Cookie") == ["a=1; b=2; c=3"]
    assert request.field("TE") is None and request.field("X-One") == "1"
    assert request.field("Via") == "2 telltale" and len(request.all("Host")) == 1
    assert not [name for name, _ in request.fields if name.startswith(":")]


def test_the_authority_becomes_the_host(scripted):
    daemon, origin = scripted(OK, records={"url_remap": {"pristine_host_hdr": 1}})
    authority = f"127.0.0.1:{daemon.port}"
    with Http2(daemon.port) as client:
        client.request(1, "/both", extra=[("host", authority)])
        client.request(3, "/authority")
        client.send(h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, 5, h2.block(
            [(":method", "GET"), (":scheme", "http"), (":path", "/host"), ("host", authority)])))
        assert [client.reply(stream).status for stream in (1, 3, 5)] == [200] * 3
    assert all(request.all("Host") == [authority] for request in origin.wait_for_requests(3))


@pytest.mark.parametrize("extra", [
    [("connection", "close")], [("keep-alive", "timeout=5")], [("proxy-connection", "keep-alive")],
    [("transfer-encoding", "chunked")], [("upgrade", "h2c")], [("te", "gzip")], [("Upper", "x")], [("", "x")], [("a b", "x")],
    [("x", "a\rb")], [("x", "a\nb")], [("x", "a\0b")], [("x", " a")], [("x", "a\t")], [(":path", "/again")], [(":unknown", "x")],
    [("x", "y"), (":method", "GET")], [("content-length", "1"), ("content-length", "1")], [("content-length", "1")],
    [("content-length", "-1")], [("content-length", "1, 1")], [("host", "other")], [("host", "a"), ("host", "a")],
], ids=repr)
def test_a_malformed_field_section_is_a_stream_error_and_the_origin_is_not_asked(scripted, extra):
    daemon, origin = scripted(OK)
    with Http2(daemon.port) as client:
        client.request(1, "/", extra=extra)
        assert client.reply(1).reset == h2.PROTOCOL_ERROR
        client.request(3)  # the connection lives
        assert client.reply(3).status == 200
    assert len(origin.requests) == 1


@pytest.mark.parametrize("fields", [
    [(":method", "GET"), (":scheme", "http"), (":path", "")], [(":method", "GET"), (":scheme", "http")],
    [(":method", ""), (":scheme", "http"), (":path", "/")], [(":scheme", "http"), (":path", "/")],
    [(":method", "GET"), (":path", "/")], [(":method", "G ET"), (":scheme", "http"), (":path", "/")],
    [(":method", "GET"), (":scheme", "http"), (":path", "a")], [(":method", "GET"), (":scheme", "http"), (":path", "*")],
    [(":method", "GET"), (":scheme", "http"), (":path", "/a b")], [(":method", "GET"), (":scheme", "http"), (":path", "/a\nb")],
], ids=repr)
def test_bad_pseudo_header_fields_are_a_stream_error(scripted, fields):
    daemon, origin = scripted(OK)
    with Http2(daemon.port) as client:
        client.send(h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, 1, h2.block([*fields, (":authority", "a")])))
        reply = client.reply(1)
        assert reply.reset == h2.PROTOCOL_ERROR or reply.status == 400
        assert client.ping()
    assert origin.requests == []


@pytest.mark.parametrize("changes, status", [
    ({"path": "/a#b"}, 400), ({"path": "/\xe4"}, 400), ({"authority": "a b"}, 400), ({"authority": "u@a"}, 400),
    ({"authority": "a:0"}, 400), ({"extra": [("expect", "more")]}, 417), ({"method": "TRACE"}, 405), ({"authority": "elsewhere"}, 404),
])
def test_what_http1_answers_with_an_error_is_answered_with_it_over_http2(scripted, changes, status):
    daemon, origin = scripted(OK)
    with Http2(daemon.port) as client:
        client.request(1, **changes)
        reply = client.reply(1)
        assert reply.status == status or (reply.reset == h2.PROTOCOL_ERROR and status == 400)
        assert client.ping()
    assert origin.requests == []


def test_connect_is_not_allowed(proxy):
    with Http2(proxy.port) as client:
        client.send(h2.frame(h2.HEADERS, h2.END_HEADERS, 1, h2.block([(":method", "CONNECT"), (":authority", "a:443")])))
        reply = client.reply(1)
        assert reply.status == 405 and "GET" in reply.field("allow")


# ---- debug

def test_debug_lines_tell_a_connection_and_its_streams(proxy):
    proxy.ctl_ok("debug", "enable", "--tags", "^http2$|http2_frames")
    with Http2(proxy.port) as client:
        client.request(1, "/bytes/5", extra=[("upgrade", "x")])
        client.reply(1)
        client.request(3, "/bytes/5")
        client.reply(3)
    lines = [line for line in proxy.diags_lines("connection closed: ") if line.tag.startswith("http2")]
    text = "\n".join(line.whole for line in lines)
    assert "speaks HTTP/2" in text and "HEADERS on stream 1 refused" in text
    assert "received HEADERS on 3, flags 05 END_STREAM END_HEADERS" in text
    assert "sending DATA on 3, flags 01 END_STREAM, 5 bytes" in text
    assert "sending SETTINGS on 0, flags 00, 24 bytes: MAX_CONCURRENT_STREAMS 100, " in text
    assert "WINDOW_UPDATE on 0: increment 5" in text
    assert "connection closed: the client ended it; requests: 1, " in text
    assert len({line.whole.split("{")[1].split("}")[0].split()[0] for line in lines}) == 1  # one connection, named
