# SPDX-License-Identifier: Apache-2.0
"""Requests and responses through the proxy: framing, connections, fields, failures."""
import re
import threading

import pytest

from telltale_e2e import Connection, Truncated, free_port, get, h2, pattern, raw, request_bytes, wait_until
from telltale_e2e.client import read_slowly

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: no-store\r\n\r\nok"
SHORT_TIMES = {"http": {"transaction_no_activity_timeout_out": 1, "connect_attempts_timeout": 1}}


@pytest.fixture
def scripted(start_daemon, start_origin):
    """scripted(parts..., records=..., ...): a daemon in front of an Origin with these parts; (daemon, origin)."""
    def make(*parts, records=None, **named):
        origin = start_origin(*parts, **named)
        return start_daemon(origin_port=origin.port, records=records), origin
    return make


def assert_failed_with(response, status, token):
    """A failure is a one-line text, with RFC 9209's token in it and in Proxy-Status."""
    assert response.status == status
    assert response.field("Content-Type").startswith("text/plain")
    assert response.content.endswith(b"\n") and response.content.count(b"\n") == 1
    assert response.field("Proxy-Status") == f"telltale; error={token}"
    assert token.encode() in response.content


# ---- content and framing

@pytest.mark.parametrize("kind", ["bytes", "chunked"])
@pytest.mark.parametrize("count", [0, 1, 65_536, 3_000_001])
def test_content_arrives_whole(proxy, kind, count):
    response = get(proxy.port, f"/{kind}/{count}?cc=no-store")
    assert (response.status, response.content) == (200, pattern(count))


def test_a_fixed_length_stays_a_fixed_length(proxy):
    response = get(proxy.port, "/bytes/100?cc=no-store")
    assert response.field("Content-Length") == "100" and response.field("Transfer-Encoding") is None


def test_chunked_content_reaches_an_http_1_0_client_without_chunks(proxy):
    reply = raw(b"GET /chunked/500?cc=no-store HTTP/1.0\r\nHost: 127.0.0.1:%d\r\n\r\n" % proxy.port, proxy.port)
    head, _, content = bytes(reply).partition(b"\r\n\r\n")
    assert reply.closed and content == pattern(500) and b"transfer-encoding" not in head.lower()


def test_head_has_the_length_of_get_and_no_content(proxy):
    with Connection(proxy.port) as connection:
        assert connection.request("HEAD", "/bytes/1234?cc=no-store").field("Content-Length") == "1234"
        assert connection.request("GET", "/bytes/5?cc=no-store").content == pattern(5)


@pytest.mark.parametrize("status", [204, 304])
def test_a_response_without_content_does_not_disturb_the_next(proxy, status):
    with Connection(proxy.port) as connection:
        assert connection.request(target=f"/status/{status}").status == status
        assert connection.request(target="/bytes/5?cc=no-store").content == pattern(5)


@pytest.mark.parametrize("content", [b"", b"x", b"y" * 1_000_000, [b"abc", b"defg"], [b"z" * 70_000] * 20],
                         ids=["empty", "one", "large", "chunked", "chunked-large"])
def test_posted_content_arrives_whole(proxy, content):
    response = get(proxy.port, "/content", method="POST", content=content)
    assert response.content == (b"".join(content) if isinstance(content, list) else content)


def test_request_framing_is_written_anew(scripted):
    daemon, origin = scripted(OK)
    body = b"3;name=value\r\nabc\r\n0\r\nX-Trailer: t\r\n\r\n"
    head = b"POST /a HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nTransfer-Encoding: chunked\r\nTrailer: X-Trailer\r\n\r\n"
    with Connection(daemon.port) as connection:
        connection.send(head % daemon.port + body)
        assert connection.response().status == 200
    request = origin.wait_for_requests(1)[0]
    assert request.content == b"abc" and b"name=value" not in request.raw


def test_a_response_without_length_ends_when_the_origin_closes(scripted):
    daemon, _ = scripted(b"HTTP/1.1 200 OK\r\n\r\nabc", b"def", close=True)
    assert get(daemon.port).content == b"abcdef"


def test_chunks_of_the_origin_are_joined_without_extensions_and_trailers(scripted):
    daemon, _ = scripted(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n"
                         b"3;secret=1\r\nabc\r\n2\r\nde\r\n0\r\nX-T: v\r\n\r\n")
    with Connection(daemon.port) as connection:
        assert connection.request(target="/t").content == b"abcde"
        assert connection.request(target="/t").content == b"abcde"


# ---- connections

def test_a_client_connection_is_kept_and_origin_connections_are_reused(scripted):
    daemon, origin = scripted(OK)
    with Connection(daemon.port) as connection:
        for n in range(20):
            assert connection.request(target=f"/{n}").content == b"ok"
    assert len(origin.requests) == 20 and origin.connections == 1


def test_pipelined_requests_are_answered_in_order(proxy):
    with Connection(proxy.port) as connection:
        host = f"127.0.0.1:{proxy.port}"
        connection.send(b"".join(request_bytes(target=f"/bytes/{n}?cc=no-store&delay={30 if n == 1 else 0}", host=host)
                                 for n in range(1, 41)))
        assert [connection.response().content for _ in range(1, 41)] == [pattern(n) for n in range(1, 41)]


def test_a_pipelined_request_after_a_body_is_found(proxy):
    host = f"127.0.0.1:{proxy.port}"
    with Connection(proxy.port) as connection:
        connection.send(request_bytes("POST", "/content", host, content=[b"abc"])
                        + request_bytes("POST", "/content", host, content=b"defg")
                        + request_bytes("GET", "/bytes/5?cc=no-store", host))
        assert [connection.response().content for _ in range(3)] == [b"abc", b"defg", pattern(5)]


def test_a_head_that_comes_byte_by_byte_is_understood(proxy):
    with Connection(proxy.port) as connection:
        for byte in request_bytes(target="/bytes/3?cc=no-store", host=f"127.0.0.1:{proxy.port}"):
            connection.send(bytes([byte]))
        assert connection.response().content == pattern(3)


def test_connection_close_is_obeyed(proxy):
    with Connection(proxy.port) as connection:
        response = connection.request(target="/bytes/3?cc=no-store", fields=[("Connection", "close")])
        assert "close" in response.field("Connection") and connection.closed_by_peer()


def test_an_http_1_0_client_is_closed_after_its_response(proxy):
    reply = raw(b"GET /bytes/3?cc=no-store HTTP/1.0\r\nHost: 127.0.0.1:%d\r\n\r\n" % proxy.port, proxy.port)
    assert reply.closed and bytes(reply).endswith(b"\r\n\r\n" + pattern(3))


def test_an_idle_client_connection_is_closed_in_time(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, records={"http": {"keep_alive_no_activity_timeout_in": 1}})
    with Connection(daemon.port) as connection:
        assert connection.request(target="/bytes/1").status == 200
        assert connection.closed_by_peer(timeout=10)


def test_an_incomplete_head_ends_in_time(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, records={"telltale": {"http": {"request_head_timeout": 1}}})
    reply = raw(b"GET / HTTP/1.1\r\nHo", daemon.port, timeout=10)
    assert reply.closed and reply.status in (None, 408)


def test_a_kept_origin_connection_that_the_origin_closed_does_not_fail_a_get(start_daemon, start_origin):
    origin = start_origin(OK, close=True)
    daemon = start_daemon(origin_port=origin.port)
    with Connection(daemon.port) as connection:
        for n in range(10):
            assert connection.request(target=f"/{n}").status == 200


def test_a_client_that_leaves_early_leaves_the_proxy_working(proxy):
    for _ in range(20):
        with Connection(proxy.port, receive_buffer=4096) as connection:
            connection.send(request_bytes(target="/bytes/50000000?cc=no-store", host=f"127.0.0.1:{proxy.port}"))
            assert connection.response_head().status == 200
    with Connection(proxy.port) as connection:
        connection.send(request_bytes("POST", "/sink", f"127.0.0.1:{proxy.port}")[:-2] + b"Content-Length: 99\r\n\r\nabc")
    assert get(proxy.port, "/bytes/9").content == pattern(9)
    proxy.stop()


# ---- Expect

def test_expect_100_continue_gets_100_and_then_the_response(proxy):
    with Connection(proxy.port) as connection:
        connection.send(b"POST /content HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nExpect: 100-continue\r\n"
                        b"Content-Length: 3\r\n\r\n" % proxy.port)
        assert connection.response_head().status == 100
        connection.send(b"abc")
        assert connection.response().content == b"abc"


def test_a_final_status_instead_of_100_goes_out_at_once(scripted):  # B117
    daemon, _ = scripted(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", read_body=False)
    with Connection(daemon.port, timeout=5) as connection:
        connection.send(b"POST / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nExpect: 100-continue\r\n"
                        b"Content-Length: 1000\r\n\r\n" % daemon.port)
        assert connection.response().status == 403  # the body was held back; a 100 before it does no harm
    assert get(daemon.port, "/next").status == 403


def test_an_early_answer_does_not_turn_the_rest_of_a_body_into_a_request(start_daemon, start_origin):  # B114
    origin = start_origin(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", read_body=False, close=True)
    daemon = start_daemon(origin_port=origin.port)
    host = b"Host: 127.0.0.1:%d\r\n" % daemon.port
    hidden = b"GET /phantom HTTP/1.1\r\n" + host + b"\r\n"
    raw(b"POST /denied HTTP/1.1\r\n" + host + b"Content-Length: %d\r\n\r\n" % (len(hidden) + 100_000) + hidden
        + b"x" * 100_000 + b"GET /ok HTTP/1.1\r\n" + host + b"Connection: close\r\n\r\n", daemon.port)
    assert "/phantom" not in [request.target for request in origin.requests]


# ---- fields

def test_hop_by_hop_fields_of_a_request_are_removed(scripted):  # B124
    daemon, origin = scripted(OK)
    get(daemon.port, "/a", [("Connection", "x-hop, close, Content-Length, Host, Keep-Alive"), ("X-Hop", "1"),
                            ("Keep-Alive", "timeout=5"), ("Proxy-Connection", "keep-alive"), ("TE", "trailers"),
                            ("Upgrade", "websocket"), ("Proxy-Authorization", "Basic QQ=="), ("X-Kept", "2")],
        "POST", b"abc")
    request = origin.wait_for_requests(1)[0]
    for name in ("X-Hop", "Keep-Alive", "Proxy-Connection", "TE", "Upgrade"):
        assert request.field(name) is None, name
    assert request.field("X-Kept") == "2" and request.field("Host") and request.content == b"abc"
    assert "x-hop" not in (request.field("Connection") or "").lower()


def test_hop_by_hop_fields_of_a_response_are_removed(scripted):
    daemon, _ = scripted(b"HTTP/1.1 200 OK\r\nConnection: X-Hop, keep-alive\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\n"
                         b"Proxy-Connection: x\r\nUpgrade: h2c\r\nX-Kept: 2\r\nContent-Length: 2\r\n\r\nok")
    with Connection(daemon.port) as connection:
        response = connection.request(target="/a")
    for name in ("X-Hop", "Keep-Alive", "Proxy-Connection", "Upgrade"):
        assert response.field(name) is None, name
    assert response.field("X-Kept") == "2" and response.content == b"ok"


def test_an_expectation_without_content_or_of_http_1_0_is_not_handed_on(scripted):
    daemon, origin = scripted(OK)
    host = f"Host: 127.0.0.1:{daemon.port}\r\nExpect: 100-continue\r\n".encode()
    raw(b"POST / HTTP/1.0\r\n" + host + b"Content-Length: 2\r\n\r\nok", daemon.port)
    get(daemon.port, method="POST", content=b"", fields=[("Expect", "100-continue")])
    assert [(one.content, one.field("Expect")) for one in origin.requests] == [(b"ok", None), (b"", None)]


def test_options_goes_as_many_hops_as_it_may(scripted):  # RFC 9110 section 7.6.2
    daemon, origin = scripted(OK)
    for ask in (get, h2.get):
        response = ask(daemon.port, "/x", method="OPTIONS", **{"fields" if ask is get else "extra": [("max-forwards", "0")]})
        assert (response.status, response.content) == (204, b"") and "GET" in response.field("allow")
    assert origin.requests == []
    get(daemon.port, method="OPTIONS", fields=[("Max-Forwards", "3")])
    get(daemon.port, method="OPTIONS", fields=[("Max-Forwards", "many")])
    get(daemon.port, fields=[("Max-Forwards", "0")])  # speaks of OPTIONS and TRACE only
    assert [one.field("Max-Forwards") for one in origin.requests] == ["2", "many", "0"]


def test_via_is_added_in_both_directions_after_what_was_there(scripted):
    daemon, origin = scripted(b"HTTP/1.1 200 OK\r\nVia: 1.0 before\r\nContent-Length: 2\r\n\r\nok")
    response = get(daemon.port, "/a", [("Via", "1.0 first")])
    request = origin.wait_for_requests(1)[0]
    assert re.fullmatch(r"1\.0 first, 1\.1 \S.*", request.field("Via"))
    assert re.fullmatch(r"1\.0 before, 1\.1 \S.*", response.field("Via"))


def test_end_to_end_fields_pass_unchanged(scripted):
    daemon, origin = scripted(b"HTTP/1.1 200 OK\r\nX-Same: a\r\nX-Same: b\r\nSet-Cookie: c=1\r\nSet-Cookie: d=2\r\n"
                              b"Content-Length: 0\r\n\r\n")
    sent = [("X-Odd", 'a  b\t"c"'), ("X-Empty", ""), ("Cookie", "k=v"), ("Authorization", "Basic QQ==")]
    response = get(daemon.port, "/p%20q?r=%41&&s", sent)
    request = origin.wait_for_requests(1)[0]
    assert request.target == "/p%20q?r=%41&&s"
    assert [(name, request.field(name)) for name, _ in sent] == sent
    assert response.all("Set-Cookie") == ["c=1", "d=2"] and ", ".join(response.all("X-Same")) == "a, b"


# ---- failures

def test_an_unmatched_host_gets_404(start_daemon, tt_origin):
    daemon = start_daemon(remap=[f"map http://only.test/ http://127.0.0.1:{tt_origin.port}/"])
    response = get(daemon.port, "/bytes/1", host="other.test")
    assert response.status == 404 and response.field("Content-Type").startswith("text/plain")
    assert response.content.count(b"\n") == 1 and response.field("Proxy-Status").startswith("telltale; error=")
    assert get(daemon.port, "/bytes/1", host="only.test").status == 200


def test_a_refusing_origin_gives_502(start_daemon):
    daemon = start_daemon(origin_port=free_port())
    with Connection(daemon.port) as connection:
        assert_failed_with(connection.request(), 502, "connection_refused")
        assert_failed_with(connection.request("POST", content=b"abc"), 502, "connection_refused")


def test_a_silent_origin_gives_504(scripted):
    daemon, _ = scripted(threading.Event(), records=SHORT_TIMES)
    assert_failed_with(get(daemon.port), 504, "http_response_timeout")


@pytest.mark.parametrize("answer", [b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
                                    b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
                                    b"HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n", b"HTTP/1.1 200 O\0K\r\n\r\n"],
                         ids=["no-status-line", "bad-length", "two-lengths", "bad-name", "nul"])
def test_an_answer_that_is_not_http_gives_502(scripted, answer):
    daemon, _ = scripted(answer, close=True)
    assert_failed_with(get(daemon.port), 502, "http_protocol_error")


def test_an_origin_that_closes_without_an_answer_gives_502(scripted):
    daemon, _ = scripted(close=True)
    assert get(daemon.port, method="POST", content=b"a").status == 502


@pytest.mark.parametrize("head", [b"Content-Length: 100\r\n\r\nonly this", b"Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n",
                                  b"Transfer-Encoding: chunked\r\n\r\n5\r\nab"], ids=["length", "no-last-chunk", "in-chunk"])
@pytest.mark.parametrize("reset", [False, True])
def test_a_response_cut_short_by_the_origin_is_not_passed_off_as_whole(scripted, head, reset):
    daemon, origin = scripted(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n" + head, close=True, reset=reset)
    for _ in range(2):  # nor is it stored
        with Connection(daemon.port) as connection, pytest.raises((Truncated, ConnectionResetError)):
            if connection.request(target="/cut").status == 502:
                raise Truncated()  # nothing had been sent yet: saying so is better still
    assert len(origin.requests) >= 2


MALFORMED = {  # %H: a right Host field
    "no-version": b"GET /\r\n\r\n",
    "garbage": b"\x16\x03\x01\x02\x00\r\n\r\n",
    "space-in-target": b"GET /a b HTTP/1.1\r\n",
    "no-host": b"GET / HTTP/1.1\r\n",
    "two-hosts": b"GET / HTTP/1.1\r\n%HHost: a\r\n",
    "bad-host": b"GET / HTTP/1.1\r\nHost: a/b\r\n",
    "bad-name": b"GET / HTTP/1.1\r\n%HA b: c\r\n",
    "space-before-colon": b"POST / HTTP/1.1\r\n%HContent-Length : 1\r\n",
    "folded": b"GET / HTTP/1.1\r\n%HX: a\r\n b\r\n",
    "folded-length": b"POST / HTTP/1.1\r\n%HContent-Length:\r\n 5\r\n",
    "two-lengths": b"POST / HTTP/1.1\r\n%HContent-Length: 1\r\nContent-Length: 2\r\n",
    "length-and-coding": b"POST / HTTP/1.1\r\n%HContent-Length: 1\r\nTransfer-Encoding: chunked\r\n",
    "negative-length": b"POST / HTTP/1.1\r\n%HContent-Length: -1\r\n",
    "length-list": b"POST / HTTP/1.1\r\n%HContent-Length: 1,2\r\n",
    "huge-length": b"POST / HTTP/1.1\r\n%HContent-Length: 99999999999999999999\r\n",
    "nul-in-value": b"GET / HTTP/1.1\r\n%HX: a\0b\r\n",
    "bare-cr": b"GET / HTTP/1.1\r\n%HX: a\rb\r\n",
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_request_gets_400_and_never_reaches_the_origin(scripted, name):
    daemon, origin = scripted(OK)
    data = MALFORMED[name].replace(b"%H", b"Host: 127.0.0.1:%d\r\n" % daemon.port)
    reply = raw(data if data.endswith(b"\r\n\r\n") else data + b"\r\n", daemon.port)
    head, _, content = bytes(reply).partition(b"\r\n\r\n")
    assert reply.status == 400 and reply.closed
    assert content.endswith(b"\n") and content.count(b"\n") == 1
    assert b"proxy-status: telltale; error=http_request_error" in head.lower()
    assert not origin.requests


@pytest.mark.parametrize("chunks", [b"1zz\r\nZ\r\n0\r\n\r\n", b"1;a\nX\r\nZ\r\n0\r\n\r\n", b"1\nZ\r\n0\r\n\r\n",
                                    b"-1\r\nZ\r\n0\r\n\r\n", b"1\r\nZZ\r\n0\r\n\r\n", b"11111111111111111\r\nZ"],
                         ids=["letters", "lf-in-extension", "bare-lf", "negative", "too-long", "overflow"])
def test_a_malformed_chunk_is_refused(scripted, chunks):  # B104, B106
    daemon, origin = scripted(OK)
    head = b"POST / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nTransfer-Encoding: chunked\r\n\r\n" % daemon.port
    reply = raw(head + chunks, daemon.port)
    assert reply.closed and reply.status == 400 and not origin.requests


@pytest.mark.parametrize("value", ["xchunked", "chunked, gzip", "gzip, chunked", "chunked;q=1", '"chunked"', "identity"])
def test_an_unknown_transfer_coding_is_refused(scripted, value):  # B108
    daemon, origin = scripted(OK)
    reply = raw(b"POST / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nTransfer-Encoding: %s\r\n\r\n0\r\n\r\n"
                % (daemon.port, value.encode()), daemon.port)
    assert reply.status in (400, 501) and reply.closed and not origin.requests


def head_of_size(size, port):
    start = b"GET /bytes/1 HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX: " % port
    return start + b"a" * (size - len(start) - 4) + b"\r\n\r\n"


def test_a_head_at_its_limit_passes_and_one_byte_more_gets_431(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, records={"http": {"request_header_max_size": 4096}})
    with Connection(daemon.port) as connection:
        connection.send(head_of_size(4096, daemon.port))
        assert connection.response().status == 200
    reply = raw(head_of_size(4097, daemon.port), daemon.port)
    assert reply.status in (400, 431) and reply.closed


def test_an_origins_head_over_its_limit_gives_502(scripted):
    daemon, _ = scripted(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 5000 + b"\r\nContent-Length: 0\r\n\r\n",
                         records={"http": {"response_header_max_size": 4096}})
    response = get(daemon.port)
    assert response.status == 502 and "http_response_header" in response.field("Proxy-Status")


# ---- back pressure

def test_a_slow_reader_holds_the_origin_back_and_memory_stays_flat(proxy):
    total = 200_000_000
    get(proxy.port, "/bytes/1000000?cc=no-store")
    before = proxy.process.rss_bytes()
    with Connection(proxy.port, receive_buffer=65536) as connection:
        connection.send(request_bytes(target=f"/bytes/{total}?cc=no-store", host=f"127.0.0.1:{proxy.port}"))
        assert connection.response_head().status == 200
        received, worst, next_look = len(connection.buffered), 0, 0
        while received < total:
            # A look at every half megabyte, with another request in between, makes this reader the slow side.
            if received >= next_look:
                worst = max(worst, proxy.process.rss_bytes() - before)
                assert get(proxy.port, "/bytes/1").status == 200
                next_look += 500_000
            data = connection.socket.recv(65536)
            assert data, f"closed after {received} bytes"
            received += len(data)
    assert worst < 16 << 20, f"memory grew by {worst} bytes"


def test_a_client_that_is_slow_but_takes_something_is_not_given_up(start_daemon, tt_origin):
    """Slower than a third of the socket's buffer within the time-out, after which alone a socket is writable again."""
    daemon = start_daemon(origin_port=tt_origin.port, records={"http": {"transaction_no_activity_timeout_in": 1}})
    with Connection(daemon.port) as client:
        client.send(request_bytes("GET", "/bytes/8000000?cc=no-store", f"127.0.0.1:{daemon.port}"))
        client._in = read_slowly(client.socket, 2.5)
        assert client.response().content == pattern(8000000)


def test_a_slow_origin_holds_the_client_back_and_memory_stays_flat(start_daemon, start_origin):
    gate = threading.Event()
    origin = start_origin(gate, OK, read_body=False)
    daemon = start_daemon(origin_port=origin.port)
    total = 200_000_000
    with Connection(daemon.port, timeout=2) as connection:
        connection.send(b"POST / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: %d\r\n\r\n" % (daemon.port, total))
        before = daemon.process.rss_bytes()
        block, sent = b"x" * 1_000_000, 0
        connection.socket.setblocking(False)
        quiet = 0

        def push():
            nonlocal sent, quiet
            try:
                sent += connection.socket.send(block)
                quiet = 0
            except BlockingIOError:
                quiet += 1
            return quiet > 50 or sent >= total
        wait_until(push, "the client to be held back", 30)
        assert sent < total // 2, f"{sent} bytes were taken although the origin read none"
        assert daemon.process.rss_bytes() - before < 16 << 20
    gate.set()


def test_an_origin_that_sends_interim_responses_without_end_is_given_up(start_daemon, start_origin):
    origin = start_origin(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100)
    proxy = start_daemon(origin_port=origin.port)
    response = get(proxy.port, "/")
    assert response.status == 502 and "http_protocol_error" in response.field("Proxy-Status")
