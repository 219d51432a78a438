# SPDX-License-Identifier: Apache-2.0
"""Requests that miss for one key at the same time: one goes to the origin."""
import socket
import threading

import pytest

from telltale_e2e import Connection, wait_until

FRESH = b"Cache-Control: max-age=60\r\n"


def whole(content, fields=FRESH, status=b"200 OK"):
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n%s" % (status, len(content), fields, content)


@pytest.fixture
def clients():
    """clients(port, count, ...): connections that have each sent one request."""
    opened = []

    def make(port, count, target="/x", method="GET", fields=()):
        made = [Connection(port) for _ in range(count)]
        opened.extend(made)
        for connection in made:
            lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
            connection.send(f"{method} {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{lines}\r\n".encode())
        return made
    yield make
    for connection in opened:
        connection.close()


def collapsed(proxy):
    """How many requests have waited so far, by the daemon's own count."""
    for line in proxy.ctl_ok("status").splitlines():
        if line.strip().startswith("collapsed"):
            return int(line.split()[-1])
    raise AssertionError("status does not say")


@pytest.fixture
def held(start_daemon, start_origin):
    """A daemon, and an origin that waits for .go before each answer. Two workers: requests meet across them."""
    def make(response=whole(b"content"), records=None):
        go = threading.Event()
        origin = start_origin(go, response if callable(response) else lambda request: response)
        proxy = start_daemon(origin_port=origin.port, records=records)
        proxy.origin, proxy.go = origin, go
        return proxy
    return make


def test_forty_requests_for_one_key_are_one_at_the_origin(held, clients):
    proxy = held()
    waiting = clients(proxy.port, 40)
    wait_until(lambda: collapsed(proxy) == 39, "39 requests to wait")
    proxy.origin.wait_for_requests(1)
    assert len(proxy.origin.requests) == 1
    proxy.go.set()
    for connection in waiting:
        assert connection.response().content == b"content"
    proxy.origin.wait_for_requests(1)
    assert len(proxy.origin.requests) == 1


def test_different_keys_do_not_wait_for_one_another(held, clients):
    proxy = held()
    for n in range(5):
        clients(proxy.port, 1, f"/{n}")
    proxy.origin.wait_for_requests(5)


def test_head_conditions_and_ranges_are_answered_from_what_a_get_brings(held, clients):
    proxy = held(whole(b"0123456789", FRESH + b'ETag: "1"\r\n'))
    leader, = clients(proxy.port, 1)
    proxy.origin.wait_for_requests(1)
    head, = clients(proxy.port, 1, method="HEAD")
    condition, = clients(proxy.port, 1, fields=[("If-None-Match", '"1"')])
    part, = clients(proxy.port, 1, fields=[("Range", "bytes=2-3")])
    wait_until(lambda: collapsed(proxy) == 3, "three to wait")
    proxy.go.set()
    assert leader.response().content == b"0123456789"
    assert head.response(head_only=True).field("Content-Length") == "10"
    assert condition.response().status == 304
    response = part.response()
    assert (response.status, response.content) == (206, b"23")
    proxy.origin.wait_for_requests(1)
    assert len(proxy.origin.requests) == 1


@pytest.mark.parametrize("response", [whole(b"private", b"Cache-Control: private\r\n"), whole(b"down", b"", b"503 Down"),
                                      b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 99\r\n\r\ncut"])
def test_after_an_answer_that_is_not_for_others_they_go_a_few_at_a_time(start_daemon, start_origin, clients, response):
    first, others = threading.Event(), threading.Event()

    def gate(request):
        (first if len(origin.requests) == 1 else others).wait(20)
        return response
    origin = start_origin(gate, close=True)
    proxy = start_daemon(origin_port=origin.port, records={"telltale": {"cache": {"collapse_timeout": 60}}})
    waiting = clients(proxy.port, 30)
    wait_until(lambda: collapsed(proxy) == 29, "29 requests to wait")
    first.set()
    wait_until(lambda: len(origin.requests) == 9, "eight to be let go")
    origin.wait_for_requests(9)
    assert len(origin.requests) == 9
    others.set()
    wait_until(lambda: len(origin.requests) == 30, "all to have gone on their own")
    if b"cut" not in response:
        contents = {connection.response().content for connection in waiting}
        assert contents in ({b"private"}, {b"down"})


def test_requests_for_what_is_not_for_others_do_not_queue_behind_one_another(held, clients):
    proxy = held(whole(b"private", b"Cache-Control: private\r\n"))
    proxy.go.set()
    assert clients(proxy.port, 1)[0].response().content == b"private"
    proxy.go.clear()
    clients(proxy.port, 10)
    proxy.origin.wait_for_requests(11)
    assert collapsed(proxy) == 0


def test_who_waits_longer_than_the_record_goes_on_its_own(held, clients):
    proxy = held(records={"telltale": {"cache": {"collapse_timeout": 1}}})
    proxy.ctl_ok("debug", "enable", "--tags", "cache")
    clients(proxy.port, 2)
    proxy.origin.wait_for_requests(2)
    proxy.diags_log("no longer collapsed: the answer takes too long")


def test_with_the_time_at_0_nobody_waits(held, clients):
    proxy = held(records={"telltale": {"cache": {"collapse_timeout": 0}}})
    clients(proxy.port, 5)
    proxy.origin.wait_for_requests(5)
    assert collapsed(proxy) == 0


def test_so_many_as_the_limit_wait_and_one_more_goes_to_the_origin(held, clients):
    proxy = held(records={"telltale": {"cache": {"collapse_waiters_max": 3}}})
    clients(proxy.port, 4)
    wait_until(lambda: collapsed(proxy) == 3, "three to wait")
    proxy.origin.wait_for_requests(1)
    assert len(proxy.origin.requests) == 1
    clients(proxy.port, 1)
    proxy.origin.wait_for_requests(2)
    assert collapsed(proxy) == 3


def test_a_leader_whose_client_goes_away_takes_nothing_from_the_others(start_daemon, start_origin, clients):
    go = threading.Event()
    content = bytes(range(256)) * 16384
    origin = start_origin(whole(content)[:1000], go, whole(content)[1000:])
    proxy = start_daemon(origin_port=origin.port)
    leader, = clients(proxy.port, 1)
    leader.response_head()
    waiting = clients(proxy.port, 3)
    wait_until(lambda: collapsed(proxy) == 3, "three to wait")
    leader.close()
    go.set()
    for connection in waiting:
        assert connection.response().content == content
    origin.wait_for_requests(1)
    assert len(origin.requests) == 1


def test_a_waiting_client_that_goes_away_is_let_go(held, clients):
    proxy = held(records={"telltale": {"cache": {"collapse_timeout": 60}}})
    proxy.ctl_ok("debug", "enable", "--tags", "cache|http")
    clients(proxy.port, 1)
    proxy.origin.wait_for_requests(1)
    gone, = clients(proxy.port, 1)
    wait_until(lambda: collapsed(proxy) == 1, "one to wait")
    gone.close()
    proxy.diags_log("no longer collapsed: the client went away")
    proxy.diags_log(", the client went away while it waited")
    proxy.origin.wait_for_requests(1)
    assert len(proxy.origin.requests) == 1


def test_a_waiting_client_that_ended_its_sending_side_is_answered(held, clients):
    proxy = held(records={"telltale": {"cache": {"collapse_timeout": 60}}})
    clients(proxy.port, 1)
    proxy.origin.wait_for_requests(1)
    half, = clients(proxy.port, 1)
    wait_until(lambda: collapsed(proxy) == 1, "one to wait")
    half.socket.shutdown(socket.SHUT_WR)
    interim = b"HTTP/1.1 100 Continue\r\n\r\n"  # how it is told apart from one that is gone
    assert half.socket.recv(len(interim), socket.MSG_WAITALL) == interim
    proxy.go.set()
    answer = b""
    while not answer.endswith(b"\r\n\r\ncontent"):
        got = half.socket.recv(4096)
        assert got, f"it ended after {answer!r}"
        answer += got
    assert len(proxy.origin.requests) == 1


def test_validations_are_collapsed_too(start_daemon, start_origin, clients):
    go = threading.Event()

    def answer(request):
        if not request.field("If-None-Match"):
            return whole(b"content", b'Cache-Control: max-age=0\r\nETag: "1"\r\n')
        go.wait(20)
        return b'HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=60\r\nETag: "1"\r\n\r\n'
    origin = start_origin(answer)
    proxy = start_daemon(origin_port=origin.port)
    assert clients(proxy.port, 1)[0].response().content == b"content"
    waiting = clients(proxy.port, 10)
    # The answer to the first was not for others as it was: requests for its key go unhindered for a while.
    origin.wait_for_requests(2)
    go.set()
    assert {connection.response().content for connection in waiting} == {b"content"}


def test_variants_do_not_wait_for_one_another_once_that_is_known(start_daemon, start_origin, clients):
    go = threading.Event()
    go.set()

    def answer(request):
        go.wait(20)
        return whole(request.field("X-Any").encode(), FRESH + b"Vary: X-Any\r\n")
    origin = start_origin(answer)
    proxy = start_daemon(origin_port=origin.port)
    assert clients(proxy.port, 1, fields=[("X-Any", "0")])[0].response().content == b"0"
    go.clear()
    waiting = {value: clients(proxy.port, 4, fields=[("X-Any", value)]) for value in ("1", "2")}
    origin.wait_for_requests(3)
    wait_until(lambda: collapsed(proxy) == 6, "three of each to wait")
    origin.wait_for_requests(3)
    assert len(origin.requests) == 3
    go.set()
    for value, connections in waiting.items():
        assert {connection.response().content for connection in connections} == {value.encode()}
    origin.wait_for_requests(3)
    assert len(origin.requests) == 3


def test_a_request_with_credentials_does_not_make_others_wait(held, clients):
    proxy = held()
    clients(proxy.port, 1, fields=[("Authorization", "Basic QQ==")])
    proxy.origin.wait_for_requests(1)
    clients(proxy.port, 2)
    proxy.origin.wait_for_requests(2)
    wait_until(lambda: collapsed(proxy) == 1, "the second to lead and the third to wait")
