# SPDX-License-Identifier: Apache-2.0
"""Debug output switched live: which lines come, for whom, in what form, and what never is in them."""
import re
import threading

import pytest

from telltale_e2e import Connection, get, parse_lines, pattern, raw, request_bytes

DEBUG_LINE = re.compile(
    r"\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\] \[[\w-]+\] DEBUG \([a-z0-9_]+\) <[a-z0-9_/]+\.(cc|h):\d+ \(.+?\)> "
    r"(\{c\d+( t\d+)?( [^ }]+)?\} )?.+")


def debug_lines(daemon):
    """The debug lines of a daemon that was stopped, so that none is still on its way."""
    daemon.stop()
    return [line for line in daemon.diags_lines() if line.level == "DEBUG"]


def enable(daemon, tags=".*", *more):
    return daemon.ctl_ok("debug", "enable", "--tags", tags, *more)


# ---- on and off

def test_enable_turns_a_transaction_visible_and_disable_makes_it_silent(proxy):
    get(proxy.port, "/bytes/1?is-before")
    enable(proxy)
    get(proxy.port, "/bytes/1?is-during")
    proxy.diags_log(contains="is-during")
    proxy.ctl_ok("debug", "disable")
    get(proxy.port, "/bytes/1?is-after")
    text = "\n".join(line.whole for line in debug_lines(proxy))
    assert "is-during" in text and "is-before" not in text and "is-after" not in text


def test_lines_have_the_documented_form_and_carry_connection_and_transaction(proxy):
    enable(proxy, "http|cache|remap|origin")
    get(proxy.port, "/bytes/1?form")
    lines = debug_lines(proxy)
    about = [line for line in lines if line.scope and " t" in line.scope]
    assert about, "no line carries a transaction"
    for line in lines:
        assert DEBUG_LINE.fullmatch(line.whole), line.whole
    assert len({line.scope.split()[0] for line in about}) == 1  # one connection
    assert [line.time for line in lines] == sorted(line.time for line in lines)


def test_every_part_of_the_proxy_speaks_from_accept_to_close(proxy):
    enable(proxy)
    get(proxy.port, "/bytes/1")
    tags = {line.tag for line in debug_lines(proxy)}
    for part in ("net", "http1", "remap", "cache", "origin"):
        assert any(tag.startswith(part) for tag in tags), (part, sorted(tags))


def test_a_change_is_in_force_when_the_command_returns(proxy):  # AC-19
    with Connection(proxy.port) as connection:
        for n in range(10):
            enable(proxy)
            connection.request(target=f"/bytes/1?on{n}-")
            proxy.ctl_ok("debug", "disable")
            connection.request(target=f"/bytes/1?off{n}-")
    text = "\n".join(line.whole for line in debug_lines(proxy))
    for n in range(10):
        assert f"on{n}-" in text and f"off{n}-" not in text


def test_enable_answers_with_the_tags_it_turned_on_and_where_lines_go(proxy):
    answer = enable(proxy, "http1|cache$")
    assert "http1" in answer and "cache" in answer and "diags.log" in answer
    assert not re.search(r"\bnet\b", answer)


def test_a_pattern_that_matches_no_tag_is_answered_with_those_that_are_near(proxy):
    assert "no tag matches yet; did you mean http" in enable(proxy, "htp$")
    assert "no tag matches yet; did you mean cache" in enable(proxy, "cahce")


def tag_states(daemon):
    """{tag: its line in the output of ttctl debug tags}"""
    found = {}
    for line in daemon.ctl_ok("debug", "tags").splitlines():
        match = re.search(r"\b(net|http1|cache|remap|origin)\b", line)
        if match:
            found.setdefault(match[1], line)
    return found


def test_debug_tags_lists_every_tag_on_or_off(proxy):
    enable(proxy, "cache")
    states = tag_states(proxy)
    assert set(states) >= {"net", "http1", "cache", "origin"}
    assert re.search(r"\bon\b", states["cache"]) and re.search(r"\boff\b", states["net"])
    proxy.ctl_ok("debug", "disable")
    assert not any(re.search(r"\bon\b", line) for line in tag_states(proxy).values())


def test_a_pattern_matches_at_the_start_of_a_tag(proxy):  # B08, AC-15
    enable(proxy, "ttp|ache|rigin")
    get(proxy.port, "/bytes/1")
    assert debug_lines(proxy) == []


def test_append_adds_to_what_is_on_and_enable_alone_replaces_it(proxy):
    enable(proxy, "cache$")
    enable(proxy, "http1$", "--append")
    get(proxy.port, "/bytes/1")
    proxy.diags_log(contains="(http1)")
    enable(proxy, "net$")
    with Connection(proxy.port) as connection:
        connection.request(target="/bytes/2?replaced")
    tags = [line.tag for line in debug_lines(proxy)]
    assert {"cache", "http1", "net"} <= set(tags)
    assert not any("replaced" in line.text and line.tag != "net" for line in proxy.diags_lines())


@pytest.mark.parametrize("bad, offset", [("http(", 5), ("[a", 2), ("*", 0), ("", None), ("http|", 5), ("|http", 0),
                                         ("http||dns", 5), ("http,dns", 4), ("a*", None)])
def test_an_invalid_pattern_is_refused_with_its_offset_and_changes_nothing(proxy, bad, offset):  # AC-16
    enable(proxy, "cache$")
    for command in (["debug", "enable", "--tags", bad], ["config", "set", "proxy.config.diags.debug.tags", bad]):
        done = proxy.ctl(*command)
        assert done.returncode != 0
        if offset is not None:
            assert re.search(rf"\b{offset}\b", done.stdout + done.stderr), done.stdout + done.stderr
    get(proxy.port, "/bytes/1")
    assert {line.tag for line in debug_lines(proxy)} == {"cache"}


def test_a_pattern_that_backtracks_is_refused_or_quick_and_traffic_goes_on(proxy):  # B14
    done = proxy.ctl("debug", "enable", "--tags", "(a+)+$|(h+)+(t+)+(p+)+(1+)+$x", timeout=5)
    assert done.returncode in (0, 1, 2)
    assert get(proxy.port, "/bytes/3").content == pattern(3)


# ---- modes and clients

@pytest.mark.parametrize("mode, expected", [(0, set()), (1, {"127.0.0.1", "127.0.0.2"}), (2, {"127.0.0.2"}),
                                            (3, {"127.0.0.1", "127.0.0.2"})])
def test_modes_decide_for_whom_lines_come(start_daemon, tt_origin, mode, expected):
    daemon = start_daemon(origin_port=tt_origin.port, records={
        "diags": {"debug": {"enabled": mode, "tags": "http", "client_ip": "127.0.0.2"}}})
    for client in ("127.0.0.1", "127.0.0.2"):
        get(daemon.port, f"/bytes/1?from-{client}-", source=client)
    text = "\n".join(line.text for line in debug_lines(daemon))
    assert {client for client in ("127.0.0.1", "127.0.0.2") if f"from-{client}-" in text} == expected


@pytest.mark.parametrize("how", ["lease", "mode 2"])
def test_one_client_is_seen_from_accept_to_close_and_another_not_at_all(proxy, how):  # B95
    if how == "lease":
        enable(proxy, ".*", "--client-ip", "127.0.0.2")
    else:
        proxy.ctl_ok("config", "set", "proxy.config.diags.debug.client_ip", "127.0.0.2")
        proxy.ctl_ok("config", "set", "proxy.config.diags.debug.tags", ".*")
        proxy.ctl_ok("config", "set", "proxy.config.diags.debug.enabled", "2")

    def traffic(source):
        with Connection(proxy.port, source=source) as connection:
            for n in range(3):
                connection.request(target=f"/bytes/{10 + n}?of-{source}-")
                connection.request(target=f"/bytes/{10 + n}?cc=no-store&of-{source}-")

    threads = [threading.Thread(target=traffic, args=(source,)) for source in ("127.0.0.1", "127.0.0.2")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = debug_lines(proxy)
    for line in lines:
        assert line.scope, f"a line without its connection: {line.whole}"
    assert len({line.scope.split()[0] for line in lines}) == 1, "lines of more than one connection"
    text = "\n".join(line.whole for line in lines)
    assert "of-127.0.0.2-" in text and "127.0.0.1-" not in text
    assert len({line.scope for line in lines if " t" in line.scope}) == 6  # second and later requests too
    tags = {line.tag for line in lines}
    assert any(tag.startswith("net") or tag.startswith("http1") for tag in tags)
    assert re.search(r"accept", text) and re.search(r"clos", text)


@pytest.mark.parametrize("address", ["127.0.0.2/32", "::ffff:127.0.0.2", "10.0.0.0/8,127.0.0.2"])
def test_a_client_can_be_named_in_several_ways(proxy, address):
    enable(proxy, "http", "--client-ip", address)
    for client in ("127.0.0.1", "127.0.0.2"):
        get(proxy.port, f"/bytes/1?from-{client}-", source=client)
    text = "\n".join(line.text for line in debug_lines(proxy))
    assert "from-127.0.0.2-" in text and "from-127.0.0.1-" not in text


@pytest.mark.parametrize("address", ["1.2.3", "127.0.0.1/33", "here", "127.0.0.1,", "10.1.2.3/8"])
def test_a_bad_client_address_is_refused_and_changes_nothing(proxy, address):
    done = proxy.ctl("debug", "enable", "--tags", "http", "--client-ip", address)
    assert done.returncode != 0 and done.stderr
    get(proxy.port, "/bytes/1")
    assert debug_lines(proxy) == []


def test_output_for_one_client_is_not_widened_to_all_without_saying_so(proxy):  # AC-22
    enable(proxy, "http", "--client-ip", "127.0.0.2")
    assert proxy.ctl("debug", "enable", "--tags", "http").returncode != 0
    get(proxy.port, "/bytes/1", source="127.0.0.1")
    assert debug_lines(proxy) == []


# ---- what client bytes can do

FORGED = "[2026-01-01T00:00:00.000000Z] [worker-0] ERROR forged"


def test_client_bytes_never_begin_a_line_or_colour_one(proxy):  # B57, AC-34
    enable(proxy)
    get(proxy.port, "/x%0D%0A" + FORGED.replace(" ", "%20"))
    raw(request_bytes(target="/y", host=f"127.0.0.1:{proxy.port}",
                      fields=[("X-Colour", "a\xc2\x9b31mred\x9b31m\x80\xff\ttab"), ("Connection", "close")]), proxy.port)
    for line in (b"GET /\x1b[31m\x07 HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nX: \x1b[31m\r\n", b"\x1b[31m / HTTP/1.1\r\n"):
        raw(line + b"Host: a\r\n\r\n", proxy.port)
    proxy.stop()
    data = (proxy.runtime / "logs" / "diags.log").read_bytes()
    assert not [line for line in data.splitlines() if line.startswith(FORGED.encode())]
    parse_lines(data.decode("utf-8", "replace"))
    assert not set(data) & (set(range(0x20)) - {0x0A} | {0x7F}), "raw control bytes in diags.log"
    assert b"\xc2\x9b" not in data and b"\xc2\x80" not in data
    assert b"31mred" in data  # the text is there, made harmless


def test_an_origins_reason_phrase_cannot_forge_a_line(start_daemon, start_origin):
    origin = start_origin(b"HTTP/1.1 200 " + FORGED.encode() + b"\x1b[31m\r\nX-A: \x1b[32m\r\nContent-Length: 0\r\n\r\n")
    daemon = start_daemon(origin_port=origin.port)
    enable(daemon)
    get(daemon.port)
    daemon.stop()
    assert b"\x1b" not in (daemon.runtime / "logs" / "diags.log").read_bytes()
    daemon.diags_lines()


@pytest.mark.parametrize("size", [1000, 1011, 1019, 4096, 8191, 16384, 30000])
def test_a_long_target_is_one_line_that_shows_where_it_was_cut(proxy, size):  # B50, AC-27
    enable(proxy)
    get(proxy.port, "/" + "a" * size)
    lines = debug_lines(proxy)
    assert any("aaaa" in line.text for line in lines)
    for line in lines:
        assert len(line.whole) < 70_000


# ---- secrets

SECRETS = [
    ("Authorization", "Bearer S3CR3T1.x"), ("Authorization", "Basic UzNDUjNUMg=="), ("Authorization", "S3CR3T3"),
    ("aUTHorization", "Digest username=\"u\", response=\"S3CR3T4\""), ("Proxy-Authorization", "Basic S3CR3T5"),
    ("Cookie", "sid=S3CR3T6; lang=S3CR3T7"), ("Cookie", "S3CR3T8"), ("cookie", "a=S3CR3T9"),
    ("Referer", "http://u:S3CR3TA@h.test/x?access_token=S3CR3TB#f"),
]
HIDDEN = (b"S3CR3T", b"UzNDUjNU")  # plain, and the base64 above


def leaks(daemon):
    return [line for line in daemon.logs().splitlines() if any(secret in line for secret in HIDDEN)]


def secret_traffic(port):
    for name, value in SECRETS:
        get(port, "/bytes/3", [(name, value)])
        get(port, "/bytes/3?cc=no-store", [(name, value)])
    for target in ("/bytes/3?q=1&access_token=S3CR3TC", "/bytes/3?access%5Ftoken=S3CR3TD&x=1", "/p?ACCESS_TOKEN=S3CR3TE"):
        get(port, target)
    for data in (b"GET http://u:S3CR3TF@127.0.0.1:%d/x?access_token=S3CR3TG HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % (port, port),
                 b"GET /x HTTP/1.1\r\nHost: u:S3CR3TH@127.0.0.1:%d\r\n\r\n" % port,
                 # B67: refused requests must not show what they refused
                 b"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer S3CR3TI\x01\r\n\r\n",
                 b"GET / HTTP/1.1\r\nHost: a\r\nCookie: a=S3CR3TJ\r\n folded=S3CR3TK\r\n\r\n",
                 b"GET /?access_token=S3CR3TL HTTP/9.9\r\nHost: a\r\n\r\n",
                 b"GET /a b?access_token=S3CR3TM HTTP/1.1\r\nHost: a\r\n\r\n",
                 b"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer S3CR3TN" + b"x" * 70_000 + b"\r\n\r\n"):
        reply = raw(data, port, until=lambda got: b"\r\n\r\n" in got and got.endswith(b"\n"))
        assert not any(secret in reply for secret in HIDDEN), bytes(reply)[:300]
    get(port, "/content", [("Authorization", "Bearer S3CR3TO")], "POST", b"password=S3CR3TP")


@pytest.mark.parametrize("state", ["origin up", "origin down"])
def test_secrets_of_requests_are_in_no_output(start_daemon, start_tt_origin, state):  # B63, R1, R4, R5
    origin = start_tt_origin()
    daemon = start_daemon(origin_port=origin.port, arguments=["-T", ".*"],
                          records={"diags": {"output": {"debug": "EL"}}})
    if state == "origin down":
        origin.close()
    secret_traffic(daemon.port)
    daemon.stop()
    text = daemon.logs()
    assert b"[redacted]" in text and b"/bytes/3" in text, "nothing was printed: the test shows nothing"
    assert leaks(daemon) == []


def test_secrets_of_responses_are_in_no_output(start_daemon, start_origin):
    origin = start_origin(b"HTTP/1.1 302 Found\r\nSet-Cookie: sid=S3CR3T1; Path=/; HttpOnly\r\nSet-Cookie: S3CR3T2\r\n"
                          b"Location: http://u:S3CR3T3@h.test/?access_token=S3CR3T4\r\nContent-Length: 0\r\n\r\n")
    daemon = start_daemon(origin_port=origin.port, arguments=["-T", ".*"])
    response = get(daemon.port)
    assert response.field("Location").endswith("S3CR3T4")  # what is forwarded is not touched
    daemon.stop()
    text = daemon.logs()
    assert b"302" in text and leaks(daemon) == []


def test_what_is_forwarded_is_the_same_with_debug_on(start_daemon, start_origin):  # R9
    seen = []
    for arguments in ([], ["-T", ".*"]):
        origin = start_origin(lambda request: b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        daemon = start_daemon(origin_port=origin.port, arguments=arguments)
        for name, value in SECRETS:
            get(daemon.port, "/a?access_token=x", [(name, value)])
        seen.append([[f for f in r.fields if f[0].lower() not in ("host", "via")] for r in origin.requests])
    assert seen[0] == seen[1] and len(seen[0]) == len(SECRETS)


# ---- sinks that do not take anything

def test_a_stderr_that_nobody_reads_does_not_hold_up_traffic_or_commands(start_daemon, tt_origin):  # B37, B43
    daemon = start_daemon(origin_port=tt_origin.port, arguments=["-T", ".*"], read_stderr=False,
                          records={"diags": {"output": {"debug": "E", "error": "E", "note": "E"}}})
    with Connection(daemon.port, timeout=10) as connection:
        for n in range(2000):
            assert connection.request(target="/bytes/10").status == 200, n
    daemon.ctl_ok("status")
    daemon.ctl_ok("debug", "disable")
    assert daemon.process.stop(timeout=20) == 0


def test_debug_changes_output_only(start_daemon, start_tt_origin):
    answers = []
    for arguments in ([], ["-T", ".*"]):
        daemon = start_daemon(origin_port=start_tt_origin().port, arguments=arguments)
        one = []
        for target in ("/bytes/100", "/bytes/100", "/chunked/9", "/status/404", "/bytes/x"):
            response = get(daemon.port, target)
            one.append((response.status, response.content, sorted(n for n, _ in response.fields)))
        answers.append(one)
    assert answers[0] == answers[1]


BAD = [b"GET / HTTP/1.1\r\n\r\n", b"GET /x%zz\0 HTTP/1.1\r\nHost: a\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
       b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n\tb\r\n\r\n",
       b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1zz\r\nZ\r\n0\r\n\r\n",
       b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: xchunked\r\n\r\nhello",
       b"GET / HTTP/1.1\r\nHost: a\r\nBad Name: 1\r\n\r\n", b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
       b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 100,
       b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x07\x04\0\0\0\0\0\0\x01\0\0\0\0\0"]


def test_bad_input_is_answered_the_same_with_every_site_on(start_daemon, start_tt_origin):  # B05
    answers = []
    for arguments in ([], ["-T", ".*"]):
        daemon = start_daemon(origin_port=start_tt_origin().port, arguments=arguments)
        one = []
        for data in BAD:
            got = raw(data, daemon.port, until=lambda so_far: b"\r\n\r\n" in so_far or so_far[3:4] == b"\7")
            one.append(re.match(rb"HTTP/1.1 \d+|.{4}", got, re.DOTALL)[0] if got else b"")
        answers.append(one)
        daemon.stop()
    assert answers[0] == answers[1]
    assert len(set(answers[0])) > 2


def test_a_large_field_block_is_shown_up_to_16_kib_and_says_what_was_cut(proxy):
    enable(proxy, "http_hdrs")
    fields = [(f"X-Filler-{n}", "v" * 200) for n in range(100)]  # 21 KiB
    get(proxy.port, "/bytes/1", fields=fields)
    dump = [line.whole for line in debug_lines(proxy) if "client request: " in line.whole]
    assert any("X-Filler-60:" in line for line in dump) and not any("X-Filler-99:" in line for line in dump)
    assert re.search(r"\.\.\.\[\+\d+ bytes\]$", dump[-1]), dump[-1]
    assert not any("...[+" in line for line in dump[:-1])


@pytest.mark.parametrize("target", ["//u:SENTINEL@h/c", "/c//u:SENTINEL@h/", "/c?u=//u:SENTINEL@h/", "/\\u:SENTINEL@h/"])
def test_user_info_is_masked_wherever_an_authority_stands(proxy, target):  # R5
    enable(proxy)
    raw(request_bytes(target=target, host=f"127.0.0.1:{proxy.port}", fields=[("Connection", "close")]), proxy.port)
    proxy.stop()
    assert "SENTINEL" not in (proxy.runtime / "logs" / "diags.log").read_text()


@pytest.mark.parametrize("path", ["//u:SENTINEL@h/", "/a//u:SENTINEL@h"])
def test_user_info_in_a_rules_url_is_masked_where_the_rule_is_printed(start_daemon, tt_origin, path):
    daemon = start_daemon(origin_port=tt_origin.port, remap=[
        f"map http://127.0.0.1:{{port}}{path} http://127.0.0.1:{tt_origin.port}{path}",
        f"map http://127.0.0.1:{{port}}/ http://127.0.0.1:{tt_origin.port}{path}"])
    enable(daemon)
    for target in (path, "/bytes/1"):
        raw(request_bytes(target=target, host=f"127.0.0.1:{daemon.port}", fields=[("Connection", "close")]), daemon.port)
    daemon.stop()
    text = daemon.logs().decode()
    assert "line 1 matches" in text and "line 2 matches" in text and "SENTINEL" not in text


def test_a_request_without_host_that_no_rule_takes_is_told_as_such(start_daemon):
    daemon = start_daemon(remap=["map http://a.test/ http://127.0.0.1:1/"])
    enable(daemon, "remap")
    raw(b"GET /bytes/3 HTTP/1.0\r\n\r\n", daemon.port)
    daemon.diags_log(contains="no rule matches /bytes/3 of a request without Host")


def test_a_call_of_ttctl_leaves_one_line_of_its_request_and_none_of_its_end(proxy):
    enable(proxy, "control")
    proxy.ctl_ok("status")
    proxy.ctl_ok("config", "get", "proxy.config.diags.debug.tags")
    texts = [line.text for line in debug_lines(proxy) if line.tag == "control"]
    assert sum("GET /v1/" in text for text in texts) == 2 and not any("no request" in text for text in texts)


def test_an_answer_that_was_cut_is_not_told_as_a_whole_one(start_daemon, start_origin):
    origin = start_origin(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nCache-Control: max-age=50\r\n\r\nabc", close=True)
    proxy = start_daemon(origin_port=origin.port)
    enable(proxy, "http$|cache")
    raw(request_bytes(host=f"127.0.0.1:{proxy.port}"), proxy.port)
    text = proxy.diags_log(contains="answered 200")
    assert re.search(r"answered 200 to \S+ incompletely", text) and "not stored: the content is incomplete" in text
