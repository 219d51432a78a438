# SPDX-License-Identifier: Apache-2.0
"""tt-origin is what other tests measure a proxy against, so its own answers are tested first."""
import subprocess
import threading

import pytest

from telltale_e2e import Connection, get, pattern, raw, request_bytes
from telltale_e2e.process import Process, program


def test_the_first_page_explains_every_path(tt_origin):
    page = get(tt_origin.port)
    assert page.status == 200 and page.field("Content-Type") == "text/html"
    for path in ("/bytes/", "/chunked/", "/delay/", "/status/", "/echo", "/content", "/sink", "/files/", "/hits"):
        assert path.encode() in page.content


@pytest.mark.parametrize("count", [0, 1, 88, 89, 90, 64079, 64080, 64081, 1_000_003])
@pytest.mark.parametrize("kind", ["bytes", "chunked"])
def test_the_pattern_has_the_length_asked_for(tt_origin, kind, count):
    response = get(tt_origin.port, f"/{kind}/{count}")
    assert response.status == 200
    assert response.content == pattern(count)
    assert (response.field("Content-Length") == str(count)) == (kind == "bytes")
    assert (response.field("Transfer-Encoding") == "chunked") == (kind == "chunked")
    assert response.field("Cache-Control") == "max-age=60"
    assert response.field("ETag") and response.field("Last-Modified") and response.field("Date")


def test_head_shows_the_length_and_sends_no_content(tt_origin):
    with Connection(tt_origin.port) as connection:
        response = connection.request("HEAD", "/bytes/1234")
        assert response.field("Content-Length") == "1234"
        assert connection.request("GET", "/bytes/5").content == pattern(5)


def test_a_matching_etag_gets_304(tt_origin):
    tag = get(tt_origin.port, "/bytes/10").field("ETag")
    with Connection(tt_origin.port) as connection:
        response = connection.request(target="/bytes/10", fields=[("If-None-Match", tag)])
        assert (response.status, response.content) == (304, b"")
        assert connection.request(target="/bytes/10", fields=[("If-None-Match", '"other"')]).status == 200


def test_pipelined_requests_are_answered_in_order_on_one_connection(tt_origin):
    with Connection(tt_origin.port) as connection:
        connection.send(b"".join(request_bytes(target=f"/bytes/{n}") for n in range(1, 20)))
        assert [connection.response().content for _ in range(1, 20)] == [pattern(n) for n in range(1, 20)]


def test_http_1_0_gets_no_chunks_and_a_closed_connection(tt_origin):
    reply = raw(b"GET /chunked/100 HTTP/1.0\r\n\r\n", tt_origin.port)
    head, _, content = bytes(reply).partition(b"\r\n\r\n")
    assert reply.closed and content == pattern(100) and b"chunked" not in head


def test_echo_returns_the_request_as_it_came(tt_origin):
    sent = request_bytes("POST", "/echo", fields=[("x-CaSe", "  kept ")], content=[b"abc", b"defg"])
    with Connection(tt_origin.port) as connection:
        connection.send(sent)
        response = connection.response()
    assert response.content == sent
    assert response.field("Content-Type") == "text/plain"
    assert response.field("Cache-Control") == "no-store"


@pytest.mark.parametrize("content", [b"", b"x" * 200_000, [b"abc", b"x" * 100_000, b"d"]],
                         ids=["empty", "with-length", "chunked"])
def test_content_returns_what_was_posted_without_its_framing(tt_origin, content):
    response = get(tt_origin.port, "/content", [("Content-Type", "text/x-a")], "POST", content)
    assert response.content == (b"".join(content) if isinstance(content, list) else content)
    assert response.field("Content-Type") == "text/x-a"


def test_echo_refuses_more_than_it_keeps_and_sink_counts_it(tt_origin):
    kept = 16 << 20
    assert get(tt_origin.port, "/content", (), "POST", b"x" * (kept - 1000)).status == 200
    with Connection(tt_origin.port) as connection:
        assert connection.request("POST", "/echo", content=b"x" * (kept + 1)).status == 413
        assert connection.request("POST", "/sink", content=b"x" * (kept + 1)).content == b"%d\n" % (kept + 1)


def test_expect_100_continue_gets_100_before_the_body(tt_origin):
    with Connection(tt_origin.port) as connection:
        connection.send(b"POST /content HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        assert connection.response_head().status == 100
        connection.send(b"abc")
        assert connection.response().content == b"abc"


@pytest.mark.parametrize("code", [200, 204, 301, 304, 404, 503, 599])
def test_status_answers_with_that_code(tt_origin, code):
    with Connection(tt_origin.port) as connection:
        assert connection.request(target=f"/status/{code}").status == code
        assert connection.request(target=f"/bytes/3?status={code}").status == code


@pytest.mark.parametrize("target", ["/status/199", "/status/600", "/status/x", "/bytes/-1", "/bytes/x", "/bytes/",
                                    "/delay/x", "/bytes/1?status=99", "/bytes/1?delay=x", "/bytes/1?h=NoColon",
                                    "/bytes/1?h=:v", "/bytes/1?h=A%20b:v", "/bytes/1?h=A:b%0d%0aC:d",
                                    "/bytes/1?h=A:b%0aC", "/bytes/1?cc=a%00b", "/bytes/1?h=content-length:3",
                                    "/bytes/1?h=Transfer-Encoding:x", "/bytes/1?h=A%zz:v"])
def test_a_value_that_cannot_be_meant_is_refused(tt_origin, target):
    assert get(tt_origin.port, target).status == 400


def test_the_query_changes_the_response(tt_origin):
    response = get(tt_origin.port, "/bytes/3?cc=s-maxage%3D5&h=X-A:1&h=X-A:2&h=Vary:%20Accept")
    assert response.field("Cache-Control") == "s-maxage=5"
    assert response.all("X-A") == ["1", "2"] and response.field("Vary") == "Accept"
    assert get(tt_origin.port, "/bytes/3?cc=").field("Cache-Control") is None


def test_a_delayed_answer_does_not_hold_up_others(tt_origin):
    with Connection(tt_origin.port) as slow, Connection(tt_origin.port) as quick:
        slow.send(request_bytes(target="/delay/60000"))
        assert quick.request(target="/bytes/1").status == 200
        assert quick.request(target="/bytes/1?delay=1").status == 200
    assert get(tt_origin.port, "/delay/1").content == b"waited 1 ms\n"


def test_hits_counts_requests_by_path(tt_origin):
    for target in ("/a?x=1", "/a?x=2", '/"b'):
        get(tt_origin.port, target)
    assert tt_origin.hits() == {"total": 3, "paths": {"/a": 2, '/"b': 1}, "other": 0}


def test_malformed_requests_get_400_and_are_closed(tt_origin):
    for data in (b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\nBad Name: x\r\n\r\n", b"GET /?%zz HTTP/1.1\r\nHost: a\r\n\r\n"):
        reply = raw(data, tt_origin.port)
        assert reply.status == 400 and reply.closed


def test_files_are_served_with_their_type_and_none_from_outside(start_tt_origin, tmp_path):
    folder = tmp_path / "files"
    (folder / "sub").mkdir(parents=True)
    (folder / "index.html").write_text("<p>start")
    (folder / "sub" / "a b.css").write_bytes(pattern(200_000))
    (folder / "sub" / "empty").write_bytes(b"")
    (tmp_path / "secret.txt").write_text("outside")
    (tmp_path / "files2").mkdir()
    (tmp_path / "files2" / "x").write_text("outside")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    port = start_tt_origin("--files", folder).port

    page = get(port, "/files/")
    assert (page.status, page.content, page.field("Content-Type")) == (200, b"<p>start", "text/html")
    style = get(port, "/files/sub/a%20b.css")
    assert (style.content, style.field("Content-Type")) == (pattern(200_000), "text/css")
    assert style.field("Last-Modified") and style.field("Cache-Control") == "max-age=60"
    assert get(port, "/files/sub/empty").content == b""
    for outside in ("../secret.txt", "%2e%2e/secret.txt", "sub/../../secret.txt", "link.txt", "/etc/passwd", "sub",
                    "..%2fsecret.txt", "../files2/x", "sub/a%00b", "absent", "sub/%zz"):
        assert get(port, f"/files/{outside}").status == 404, outside


def test_without_a_folder_there_are_no_files(tt_origin):
    assert get(tt_origin.port, "/files/").status == 404


def test_several_threads_serve_many_connections(start_tt_origin):
    origin = start_tt_origin("--threads", "3")
    failures = []

    def client():
        with Connection(origin.port) as connection:
            for n in range(100):
                if connection.request(target=f"/bytes/{n}").content != pattern(n):
                    failures.append(n)

    threads = [threading.Thread(target=client) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and origin.hits()["total"] == 800


def test_the_ready_line_names_the_port_that_the_kernel_chose():
    process = Process([program("tt-origin"), "--listen", "127.0.0.1:0"])
    try:
        line = process.wait_for_line("tt-origin: ready on 127.0.0.1:")
        assert get(int(line.rpartition(":")[2]), "/bytes/2").content == pattern(2)
    finally:
        process.kill()


def test_a_taken_port_is_a_clear_error(tt_origin):
    done = subprocess.run([program("tt-origin"), "--listen", f"127.0.0.1:{tt_origin.port}"],
                          capture_output=True, text=True, timeout=10, check=False)
    assert done.returncode == 1
    assert f"cannot serve on 127.0.0.1:{tt_origin.port}" in done.stderr and "in use" in done.stderr
    assert done.stderr == f"tt-origin: cannot serve on 127.0.0.1:{tt_origin.port}: Address already in use\n"


@pytest.mark.parametrize("arguments", [["--listen", "127.0.0.1"], ["--listen", "127.0.0.1:x"],
                                       ["--listen", "127.0.0.1:65536"], ["--listen", "nowhere:1"],
                                       ["--files", "/absent"], ["--threads", "0"]])
def test_a_bad_argument_ends_it_with_an_error(arguments):
    done = subprocess.run([program("tt-origin"), *arguments], capture_output=True, text=True, timeout=10, check=False)
    assert done.returncode != 0 and (done.stderr or done.stdout)


def test_sigterm_ends_it_cleanly(tt_origin):
    assert tt_origin.process.stop() == 0
