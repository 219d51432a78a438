# SPDX-License-Identifier: Apache-2.0
"""HTTP/2 against abuse: each limit at its value and one past it, floods, and clients that are slow on purpose."""
import json
import threading
import time

import pytest

from telltale_e2e import get, h2, pattern, wait_until
from telltale_e2e.h2 import Http2

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: no-store\r\n\r\nok"
PER_MINUTE = {
    "proxy.config.http2.max_settings_frames_per_minute": h2.settings(),
    "proxy.config.http2.max_ping_frames_per_minute": h2.frame(h2.PING, 0, 0, bytes(8)),
    "proxy.config.http2.max_priority_frames_per_minute": h2.frame(h2.PRIORITY, 0, 1, bytes(4) + b"\x10"),
}


def set_record(daemon, name, value):
    daemon.ctl_ok("config", "set", name, value)


def connections(daemon):
    return json.loads(daemon.ctl_ok("--json", "status"))["status"]["traffic"]["connections open"]


def alive(client):
    """The connection has not been ended: a request on it is answered."""
    stream = 2 * len(client.seen) + 1001
    client.request(stream, "/bytes/1")
    return client.reply(stream).status == 200


def ends_with(client, error):
    assert client.end() == error, [got for got in client.seen if got.type != h2.DATA][-5:]


# ---- floods, by kind and minute

@pytest.mark.parametrize("name", PER_MINUTE)
def test_frames_up_to_the_limit_pass_and_one_more_ends_the_connection(proxy, name):
    set_record(proxy, name, 5)
    already = 1 if "settings" in name else 0  # the first SETTINGS frame counts too
    with Http2(proxy.port) as client:
        client.send(PER_MINUTE[name] * (5 - already))
        assert alive(client)
        client.send(PER_MINUTE[name])
        ends_with(client, h2.ENHANCE_YOUR_CALM)
    assert get(proxy.port, "/bytes/1").status == 200


def test_rst_stream_frames_up_to_the_limit_pass_and_one_more_ends_the_connection(proxy):
    set_record(proxy, "proxy.config.http2.max_rst_stream_frames_per_minute", 5)
    with Http2(proxy.port) as client:
        for stream in range(1, 11, 2):
            client.send(client.request_bytes(stream, "/bytes/1") + h2.rst_stream(stream))
        assert alive(client)
        client.send(client.request_bytes(2001, "/bytes/1") + h2.rst_stream(2001))
        ends_with(client, h2.ENHANCE_YOUR_CALM)


def test_resets_that_a_client_makes_us_send_count_too(proxy):
    set_record(proxy, "proxy.config.http2.max_rst_stream_frames_per_minute", 5)
    with Http2(proxy.port) as client:
        for stream in range(1, 11, 2):
            client.request(stream, extra=[("upgrade", "x")])
            assert client.reply(stream).reset == h2.PROTOCOL_ERROR
        assert alive(client)
        client.request(2001, extra=[("upgrade", "x")])
        ends_with(client, h2.ENHANCE_YOUR_CALM)


def test_continuation_frames_up_to_the_limit_pass_and_one_more_ends_the_connection(proxy):
    set_record(proxy, "proxy.config.http2.max_continuation_frames_per_minute", 5)

    def request(client, stream, pieces):
        fields = h2.block(client.fields("/bytes/1"))
        cut = [fields[i * 8:(i + 1) * 8] for i in range(pieces)] + [fields[pieces * 8:]]
        return h2.frame(h2.HEADERS, h2.END_STREAM, stream, cut[0]) + b"".join(
            h2.frame(h2.CONTINUATION, h2.END_HEADERS if piece is cut[-1] else 0, stream, piece) for piece in cut[1:])
    with Http2(proxy.port) as client:
        client.send(request(client, 1, 5))
        assert client.reply(1).status == 200
        client.send(request(client, 3, 1))
        ends_with(client, h2.ENHANCE_YOUR_CALM)


@pytest.mark.parametrize("kind", ["data", "padding", "window"])
def test_frames_that_move_nothing_up_to_the_limit_pass_and_one_more_ends_the_connection(proxy, kind):
    set_record(proxy, "proxy.config.telltale.http2.max_empty_frames_per_minute", 5)
    one = {"data": h2.frame(h2.DATA, 0, 1), "padding": h2.frame(h2.DATA, h2.PADDED, 1, b"\3" + bytes(3)),
           "window": h2.window_update(1, 255)}[kind]
    with Http2(proxy.port) as client:
        client.request(1, "/content", "POST", end=False)
        client.send(h2.window_update(1, 256) * 20 + one * 5)
        assert alive(client)
        client.send(one)
        ends_with(client, h2.ENHANCE_YOUR_CALM)


@pytest.mark.parametrize("one", [
    h2.settings(), h2.frame(h2.PING, 0, 0, bytes(8)), h2.frame(h2.PRIORITY, 0, 1, bytes(4) + b"\x10"), h2.window_update(0, 1),
    h2.frame(h2.DATA, 0, 1), h2.rst_stream(1),
], ids=["settings", "ping", "priority", "window", "data", "rst"])
def test_a_flood_ends_the_connection_within_bounded_memory(proxy, one):
    before = proxy.process.rss_bytes()
    with Http2(proxy.port) as client:
        client.request(1, "/content", "POST", end=False)
        threading.Thread(target=client.send, args=(one * 100_000,), daemon=True).start()
        error = client.end()
        assert error in (h2.ENHANCE_YOUR_CALM, h2.STREAM_CLOSED, h2.PROTOCOL_ERROR)
    assert proxy.process.rss_bytes() - before < 8 << 20
    assert get(proxy.port, "/bytes/1").status == 200


def test_a_client_that_floods_and_does_not_read_is_not_read_either(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, records={"http": {"transaction_no_activity_timeout_in": 2},
                                                               "http2": {"max_ping_frames_per_minute": 1_000_000}})
    before = daemon.process.rss_bytes()
    with Http2(daemon.port, receive_buffer=4096) as client:
        threading.Thread(target=client.send, args=(h2.frame(h2.PING, 0, 0, bytes(8)) * 900_000,), daemon=True).start()
        wait_until(lambda: connections(daemon) == 0, "the connection to be given up", 30)
    assert daemon.process.rss_bytes() - before < 8 << 20


def test_an_ordinary_settings_frame_with_unknown_identifiers_works(proxy):
    many = b"".join((0x4000 + i).to_bytes(2, "big") + bytes(4) for i in range(16))
    with Http2(proxy.port, first=h2.PREFACE + h2.frame(h2.SETTINGS, payload=many)) as client:
        assert alive(client)


@pytest.mark.parametrize("frame, error", [
    (h2.frame(h2.SETTINGS, payload=bytes(5)), h2.FRAME_SIZE_ERROR),
    (h2.frame(h2.SETTINGS, h2.ACK, payload=bytes(6)), h2.FRAME_SIZE_ERROR),
    (h2.frame(h2.SETTINGS, 0, 1), h2.PROTOCOL_ERROR),
    (h2.frame(h2.PING, 0, 0, bytes(7)), h2.FRAME_SIZE_ERROR),
    (h2.frame(h2.DATA, 0, 0, b"x"), h2.PROTOCOL_ERROR),
    (h2.frame(h2.DATA, 0, 5, b"x"), h2.PROTOCOL_ERROR),
    (h2.frame(h2.HEADERS, h2.END_HEADERS, 2, b""), h2.PROTOCOL_ERROR),
    (h2.frame(h2.CONTINUATION, h2.END_HEADERS, 1, b""), h2.PROTOCOL_ERROR),
    (h2.frame(h2.PUSH_PROMISE, h2.END_HEADERS, 1, bytes(4)), h2.PROTOCOL_ERROR),
    (h2.frame(h2.WINDOW_UPDATE, 0, 0, bytes(4)), h2.PROTOCOL_ERROR),
    (h2.window_update(0, (1 << 31) - 1), h2.FLOW_CONTROL_ERROR),
    (h2.frame(h2.DATA, 0, 1, bytes(16385)), h2.FRAME_SIZE_ERROR),
    (h2.frame(h2.HEADERS, h2.END_HEADERS, 1, b"\xff\xff\xff\xff\xff\xff"), 9),
], ids=lambda value: None if isinstance(value, int) else f"{value[3]}-{value[:12].hex()}")
def test_frames_that_break_the_protocol_end_the_connection_with_the_right_error(proxy, frame, error):
    with Http2(proxy.port) as client:
        client.send(frame)
        ends_with(client, error)
    assert get(proxy.port, "/bytes/1").status == 200


# ---- field sections

def test_a_field_section_at_the_limit_passes_and_one_byte_more_is_answered_431(proxy):
    set_record(proxy, "proxy.config.http2.max_header_list_size", 4096)
    with Http2(proxy.port) as client:
        fixed = sum(len(n) + len(v) + 32 for n, v in client.fields("/bytes/1")) + len("x") + 32
        for stream, size, status in ((1, 4096, 200), (3, 4097, 431), (5, 4096, 200)):
            client.request(stream, "/bytes/1", extra=[("x", "v" * (size - fixed))])
            assert client.reply(stream).status == status
        assert client.ping()


def test_the_largest_field_section_that_may_be_allowed_arrives_whole(start_daemon, start_origin):
    origin = start_origin(OK)
    daemon = start_daemon(origin_port=origin.port, records={"http2": {"max_header_list_size": 1 << 20}})
    with Http2(daemon.port) as client:
        extra = [(f"x-{number}", "y" * 10000) for number in range(100)]
        pieces = client.request_bytes(1, extra=extra)[9:]
        pieces = [pieces[at:at + 16384] for at in range(0, len(pieces), 16384)]
        client.send(h2.frame(h2.HEADERS, h2.END_STREAM, 1, pieces[0]))
        for piece in pieces[1:]:
            client.send(h2.frame(h2.CONTINUATION, h2.END_HEADERS if piece is pieces[-1] else 0, 1, piece))
        assert client.reply(1).status == 200
    assert len(origin.requests[0].field("X-99")) == 10000


def test_as_many_fields_as_allowed_pass_and_one_more_is_answered_431(proxy):
    set_record(proxy, "proxy.config.telltale.http.header_field_count_max", 10)
    with Http2(proxy.port) as client:
        for stream, count, status in ((1, 10, 200), (3, 11, 431)):
            client.request(stream, "/bytes/1", extra=[(f"x-{i}", "v") for i in range(count)])
            assert client.reply(stream).status == status


def test_a_small_block_that_decodes_to_a_large_section_costs_no_memory(proxy):
    before = proxy.process.rss_bytes()
    with Http2(proxy.port) as client:
        stored = b"\x40" + h2.literal("bomb", "x" * 4000)[1:]  # into the dynamic table, then named by one byte
        client.send(h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, 1,
                             h2.block(client.fields("/bytes/1")) + stored + b"\xbe" * 10_000))
        assert client.reply(1).status == 431
        assert alive(client)
    assert proxy.process.rss_bytes() - before < 4 << 20


@pytest.mark.parametrize("payload", [b"", bytes(16384)], ids=["empty", "large"])
def test_an_endless_field_block_ends_the_connection(proxy, payload):
    before = proxy.process.rss_bytes()
    with Http2(proxy.port) as client:
        first = h2.frame(h2.HEADERS, h2.END_STREAM, 1, h2.block(client.fields("/bytes/1")))
        count = 100_000 if not payload else 2000
        threading.Thread(target=client.send, args=(first + h2.frame(h2.CONTINUATION, 0, 1, payload) * count,), daemon=True).start()
        assert client.end() in (h2.ENHANCE_YOUR_CALM, 9)
    assert proxy.process.rss_bytes() - before < 8 << 20


@pytest.mark.parametrize("more", [b"", h2.frame(h2.CONTINUATION, 0, 1)], ids=["silence", "drops"])
def test_a_field_block_that_does_not_come_in_time_ends_the_connection(start_daemon, tt_origin, more):
    daemon = start_daemon(origin_port=tt_origin.port, records={"telltale": {"http": {"request_head_timeout": 1}}})
    with Http2(daemon.port) as client:
        client.send(h2.frame(h2.HEADERS, h2.END_STREAM, 1, h2.block(client.fields("/bytes/1"))))
        stop = threading.Event()

        def drip():
            while not stop.wait(0.4):
                client.send(more)
        dripper = threading.Thread(target=drip, daemon=True)
        dripper.start()
        began = time.monotonic()
        ends_with(client, h2.ENHANCE_YOUR_CALM)
        stop.set()
        dripper.join()
        assert time.monotonic() - began < 5


def test_half_a_preface_that_stays_half_ends_in_time(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, records={"telltale": {"http": {"request_head_timeout": 1}}})
    with Http2(daemon.port, first=h2.PREFACE[:10]) as client:
        data = b""
        while piece := client.socket.recv(4096):
            data += piece
        assert data.startswith(b"HTTP/1.1 408 ")


def test_an_idle_connection_holds_little_memory(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, records={"exec_thread": {"limit": 1}})
    with Http2(daemon.port) as first:
        first.ping()  # what a worker's first connection sets up
        before = daemon.process.data_bytes()
        clients = [Http2(daemon.port) for _ in range(400)]
        for client in clients:
            client.ping()
        each = (daemon.process.data_bytes() - before) / len(clients)
        for client in clients:
            client.close()
    assert each < 40_000  # most of it is nghttp2's; a block for an HTTP/1.1 head alone would be 48 KiB


# ---- streams

def test_as_many_streams_as_allowed_are_served_at_once_and_one_more_is_refused(start_daemon, start_origin):
    go_on = threading.Event()
    origin = start_origin(go_on, OK)
    daemon = start_daemon(origin_port=origin.port, records={"http2": {"max_concurrent_streams_in": 5}})
    with Http2(daemon.port) as client:  # SETTINGS are not acknowledged: this client cannot know the limit
        for stream in range(1, 13, 2):
            client.request(stream)
        assert client.reply(11).reset == h2.REFUSED_STREAM
        origin.wait_for_requests(5)
        go_on.set()
        assert [client.reply(stream).status for stream in range(1, 11, 2)] == [200] * 5
        client.request(13)
        assert client.reply(13).status == 200


def test_a_stream_that_is_refused_leaves_nothing_behind_that_ends_the_connection(start_daemon, start_origin):
    go_on = threading.Event()
    origin = start_origin(go_on, OK)
    daemon = start_daemon(origin_port=origin.port, records={"http2": {"max_concurrent_streams_in": 2},
                                                            "telltale": {"http": {"request_head_timeout": 1}}})
    with Http2(daemon.port) as client:
        client.request(1)
        origin.wait_for_requests(1)
        client.send(client.request_bytes(3) + h2.rst_stream(3) + client.request_bytes(5))
        assert client.reply(5).reset == h2.REFUSED_STREAM
        client.socket.settimeout(2.0)  # the time for the refused field block is over meanwhile
        with pytest.raises(TimeoutError):
            client.read_until(h2.GOAWAY)
        client.socket.settimeout(15.0)
        go_on.set()
        assert client.reply(1).status == 200


def test_streams_that_were_reset_count_until_their_work_has_ended(start_daemon):
    """Rapid reset: a client that resets its requests at once gets no more work done than one that waits."""
    # Nobody answers there, and the connection attempt cannot be taken back.
    daemon = start_daemon(remap=["map http://127.0.0.1:{port}/ http://192.0.2.1:9/"],
                          records={"http2": {"max_concurrent_streams_in": 5}, "http": {"connect_attempts_timeout": 3}})
    with Http2(daemon.port) as client:
        client.ping()
        for stream in range(1, 11, 2):
            client.request(stream)
        client.ping()
        for stream in range(1, 11, 2):
            client.send(h2.rst_stream(stream))
        client.request(11)
        reply = client.reply(11)
        if reply.status is None:  # where such an address is unreachable at once there is nothing to wait for
            assert reply.reset == h2.REFUSED_STREAM


def test_requests_that_are_reset_in_the_same_read_do_no_work(proxy):
    with Http2(proxy.port) as client:
        client.ping()
        requests = b"".join(client.request_bytes(stream, "/bytes/1") + h2.rst_stream(stream) for stream in range(1, 101, 2))
        client.send(requests)
        client.ping(b"abcdefgh")
        client.request(2001, "/bytes/2")
        assert client.reply(2001).content == pattern(2)
    assert proxy.origin.hits("/bytes/1") <= 50


def test_windows_opened_byte_by_byte_end_the_connection(proxy):
    set_record(proxy, "proxy.config.telltale.http2.max_empty_frames_per_minute", 1000)
    with Http2(proxy.port, first=h2.PREFACE + h2.settings(INITIAL_WINDOW_SIZE=0)) as client:
        client.request(1, "/bytes/100000")
        threading.Thread(target=lambda: [client.send(h2.window_update(1, 1)) for _ in range(3000)], daemon=True).start()
        ends_with(client, h2.ENHANCE_YOUR_CALM)
        assert len(client._replies[1].content) <= 1000


def test_neighbours_are_served_while_a_client_floods(proxy):
    set_record(proxy, "proxy.config.telltale.http2.max_empty_frames_per_minute", 100_000_000)
    get(proxy.port, "/bytes/1")
    with Http2(proxy.port) as client:
        client.request(1, "/content", "POST", end=False)
        stop = threading.Event()

        def flood():
            while not stop.is_set() and client.send(h2.window_update(0, 1) * 2000):
                pass
        flooder = threading.Thread(target=flood, daemon=True)
        flooder.start()
        times = []
        for _ in range(100):
            began = time.monotonic()
            assert get(proxy.port, "/bytes/1").status == 200
            times.append(time.monotonic() - began)
        stop.set()
        flooder.join()
        assert sorted(times)[98] < 0.5


def test_debug_tag_http2_says_why_a_connection_ended_in_few_lines(proxy):
    proxy.ctl_ok("debug", "enable", "--tags", "http2$")
    with Http2(proxy.port) as client:
        client.send(h2.frame(h2.PING, 0, 0, bytes(8)) * 1000)
        ends_with(client, h2.ENHANCE_YOUR_CALM)
    text = proxy.diags_log("connection closed")
    assert "more than 60 frames of kind PING within a minute" in text
    assert "GOAWAY sent with ENHANCE_YOUR_CALM" in text
    assert len(text.splitlines()) < 20
