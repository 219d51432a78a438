# SPDX-License-Identifier: Apache-2.0
"""The same requests over HTTP/1.1 and over HTTP/2, each to a proxy of its own: the same answers, and the same requests
at the origins. Requests are made up from a fixed seed."""
import random
import re

import pytest

from telltale_e2e import Connection, h2, pattern
from telltale_e2e.client import request_bytes
from telltale_e2e.h2 import Http2

CONTENT = pattern(3000)
DAY = "Mon, 01 Jan 2024 00:00:00 GMT"
CACHED = "Cache-Control: max-age=60"
WHOLE = "200 OK"
# The status line's end and the fields of each page, and its content.
PAGES = {
    "/plain": (WHOLE, [CACHED, 'ETag: "e1"', f"Last-Modified: {DAY}", "Connection: X-Gone", "X-Gone: 1", "X-Kept: 1"], CONTENT),
    "/no-store": (WHOLE, ["Cache-Control: no-store", "Set-Cookie: a=1", "Set-Cookie: b=2"], CONTENT),
    "/chunked": (WHOLE, [CACHED, 'ETag: W/"w"', "Transfer-Encoding: chunked"],
                 b"%x\r\n%s\r\n0\r\nX-Trailer: 1\r\n\r\n" % (len(CONTENT), CONTENT)),
    "/empty": (WHOLE, [CACHED, 'ETag: "z"'], b""),
    "/vary": (WHOLE, [CACHED, "Vary: Accept-Encoding"], b"v"),
    "/103": ("103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK", [], b"ok"),
    "/204": ("204 No Content", ["X-A: 1"], None),
    "/205": ("205 Reset Content", [], b""),
    "/206": ("206 Partial Content", ["Content-Range: bytes 0-9/3000"], CONTENT[:10]),
    "/301": ("301 Moved Permanently", [CACHED, "Location: http://elsewhere/"], b""),
    "/304": ("304 Not Modified", ['ETag: "q"'], None),
    "/404": ("404 Not Found", [CACHED], b"not found"),
    "/500": ("500 Oops", [], b"failed"),
    "/999": ("999 Odd", [], b"x"),
    "/odd": ("299 Odd", ["X-Empty:", "X-High: \xe4\xff", "x_under: 1", "TE: x", "Keep-Alive: 5", "Proxy-Connection: x",
                         "Upgrade: h2c", "Trailer: X", "Proxy-Authenticate: Basic"], b"ok"),
    "/malformed": (WHOLE, ["X : 1"], b""),
    "/two-lengths": (WHOLE, ["Content-Length: 0"], b""),
}
FIELDS = {
    "range": ["bytes=0-9", "bytes=-4", "bytes=4-", "bytes=9999-", "bytes=0-0,-1", "bytes=5-2", "bytes=", "items=1", "bytes=-0"],
    "if-none-match": ['"e1"', 'W/"e1"', "*", '"x", "e1"', 'W/"w"', "e1", '"z"'],
    "if-modified-since": [DAY, "Tue, 02 Jan 2024 00:00:00 GMT", "Sun, 31 Dec 2023 00:00:00 GMT", "nonsense"],
    "if-range": ['"e1"', 'W/"e1"', DAY, '"x"'],
    "if-match": ['"e1"', "*", '"n"'],
    "cache-control": ["no-cache", "no-store", "max-age=0", "only-if-cached", "max-stale", "min-fresh=100"],
    "accept-encoding": ["gzip", "br", "gzip, br", ""],
    "authorization": ["Basic eDp5"],
    "cookie": ["a=1"],
    "expect": ["100-continue", "more"],
    "max-forwards": ["0", "1", "many"],
    "via": ["1.1 other"],
    "x-long": ["y" * 10, "y" * 8000, "y" * 40000],
    "x-value": ["a\tb", "\xff", "a\0b", "a\rb", "a\x7f"],
    "a(b": ["1"],
}
METHODS = ["GET"] * 10 + ["HEAD"] * 4 + ["POST", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "OTHER"]
TARGETS = ["/a#b", "/\xe4", "/a b", "//", "/./", "/%00", "/" + "z" * 8000, "*"]
AUTHORITIES = ["other", "a b", "127.0.0.1:99999", "[::1]:80", "user@host"]


def page(request):
    """The scripted origin's answer."""
    path = request.target.split("?")[0]
    status, fields, content = PAGES.get(path, (WHOLE, [CACHED], path.encode()))
    length = [] if content is None or "Transfer-Encoding: chunked" in fields else [f"Content-Length: {len(content)}"]
    head = "\r\n".join([f"HTTP/1.1 {status}", *fields, *length, "", ""]).encode("latin-1")
    return head if request.method == "HEAD" else head + (content or b"")


def made_up(choose):
    method = choose.choice(METHODS)
    target = choose.choice(list(PAGES)) + choose.choice(["", "", "", "?", "?a=%41"])
    if choose.random() < 0.1:
        target = choose.choice(TARGETS)
    fields = [(name, choose.choice(values)) for name, values in FIELDS.items() if choose.random() < 0.08]
    content = bytes(choose.choice([0, 1, 100, 40000])) if method in ("POST", "PUT", "PATCH") else None
    return method, target, fields, content, choose.choice(AUTHORITIES) if choose.random() < 0.05 else None


def comparable(fields):
    """Without what is each protocol's own, and the time."""
    own = ("date", "age", "connection", "transfer-encoding")
    def without(value):
        return re.sub(r"; ttl=-?\d+", "; ttl", re.sub(r"\b(2|1\.1) telltale", "telltale", value))
    return sorted((name.lower(), without(value)) for name, value in fields if name.lower() not in own)


def answer(status, fields, content, interim):
    names = [name.lower() for name, _ in fields]
    fields = comparable(fields)
    if ("proxy-status", "telltale; error=http_request_error") in fields:  # each protocol has its own words for the reason
        fields = [field for field in fields if field[0] != "content-length"]
        content = re.sub(rb": .* \(", b": (", content)
    return status, fields, content, interim, "date" in names, "age" in names


def over_http1(port, method, target, fields, content, authority):
    with Connection(port) as client:
        client.send(request_bytes(method, target, authority or f"127.0.0.1:{port}", [*fields, ("Connection", "close")], content))
        reply = client.response(head_only=method == "HEAD")
        return answer(reply.status, reply.fields, reply.content, [one.status for one in reply.interim])


def over_http2(port, method, target, fields, content, authority):
    with Http2(port) as client:
        length = [] if content is None else [("content-length", str(len(content)))]
        block = h2.block(client.fields(target, method, [*fields, *length], authority))
        pieces = [block[at:at + 16384] for at in range(0, len(block), 16384)]
        for number, piece in enumerate(pieces):
            last = h2.END_HEADERS if number + 1 == len(pieces) else 0
            end = h2.END_STREAM if not content and number == 0 else 0
            client.send(h2.frame(h2.HEADERS if number == 0 else h2.CONTINUATION, last | end, 1, piece))
        for at in range(0, len(content or b""), 16384):
            client.data(1, content[at:at + 16384], at + 16384 >= len(content))
        reply = client.reply(1)
        if reply.status is None:
            return "reset", reply.reset
        return answer(reply.status, reply.fields, reply.content, reply.interim)


def received(origin):
    own = ("via", "host")
    return [(one.method, one.target, comparable([f for f in one.fields if f[0].lower() not in own]), one.content)
            for one in origin.requests]


@pytest.mark.parametrize("seed", range(2))
def test_made_up_requests_have_the_same_answers_over_both_protocols(start_daemon, start_origin, seed):
    origins = [start_origin(page) for _ in range(2)]
    records = {"telltale": {"cache": {"insert_cache_status": 1}}, "diags": {"debug": {"enabled": seed, "tags": ".*"}}}
    proxies = [start_daemon(origin_port=origin.port, records=records) for origin in origins]
    choose = random.Random(seed)
    for number in range(150):
        request = made_up(choose)
        first, second = (ask(proxy.port, *request) for ask, proxy in zip((over_http1, over_http2), proxies))
        told = f"request {number} of seed {seed}: {str(request)[:500]}"
        if second == ("reset", h2.PROTOCOL_ERROR) and first[0] in (400, 417, 431):
            continue  # what RFC 9113 calls malformed
        assert second == first, told
    first, second = map(received, origins)
    assert second == first
