# SPDX-License-Identifier: Apache-2.0
"""Secrets in debug output: forty planted ones that must be in none, and what the operator sets. spec/redaction.md gives the R numbers."""
import base64
import hashlib
import json
import re
import signal
import subprocess
import urllib.parse

import pytest

from telltale_e2e import get, h2, raw, request_bytes, wait_until
from telltale_e2e.process import program

LETTERS = "LBN"  # of proxy.config.diags.output.debug: every sink that writes below the runtime folder or to stderr


class Planted:
    """Secrets, each with a text of its own."""

    def __init__(self):
        self.all = []

    def __call__(self):
        self.all.append(f"S3x{len(self.all):02}-{hashlib.sha256(str(len(self.all)).encode()).hexdigest()[:12]}")
        return self.all[-1]


def forms(secret):
    """What a hit looks like: raw, percent, hex, and base64 at its three alignments, without what it shares with its neighbours."""
    data = secret.encode()
    yield data
    for text in ("".join(f"%{b:02x}" for b in data), "".join(f"%{b:02X}" for b in data), data.hex(), data.hex().upper()):
        yield text.encode()
    for before in range(3):
        text = base64.b64encode(b"\0" * before + data)
        yield text[(before * 8 + 5) // 6:(before + len(data)) * 8 // 6]


def hits(outputs, secrets):
    return [(name, secret, form) for name, text in outputs.items() for secret in secrets for form in forms(secret) if form in text]


@pytest.fixture
def secret_file(tmp_path):
    def write(*values):
        path = tmp_path / "values"
        path.write_text("".join(value + "\n" for value in values))
        return path
    return write


def answer(planted):
    """What the origin says to every request."""
    fields = [("Set-Cookie", f"sid={planted()}; Path=/; HttpOnly"), ("Authentication-Info", f'nextnonce="{planted()}"'),
              ("Proxy-Authentication-Info", planted()), ("Location", f"http://u:{planted()}@h/x?access_token={planted()}#f"),
              ("WWW-Authenticate", f'Digest realm="r", nonce="{planted()}"'), ("Link", f"<https://h/?sig={planted()}>; rel=next"),
              ("X-Access-Token", planted()), ("Refresh", f"0; url=http://h/?password={planted()}"), ("Cache-Control", "no-store")]
    body = f'{{"token":"{planted()}"}}'
    head = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{head}\r\n{body}".encode()


def request_fields(planted, registered):
    return [("Authorization", f"Bearer {planted()}"), ("Proxy-Authorization", "Basic " + base64.b64encode(f"u:{planted()}".encode()).decode()),
            ("Cookie", f"sid={planted()}; other={planted()}"), ("X-Api-Key", planted()), ("Api-Key", planted()), ("X-Auth-Token", planted()),
            ("X-Amz-Security-Token", planted()), ("X-Csrf-Token", planted()), ("X-Forwarded-Client-Cert", planted()), ("X-My-Password", planted()),
            ("X-Session-Id", planted()), ("X-Hub-Signature", planted()), ("Referer", f"http://u:{planted()}@h/?api_key={planted()}"),
            ("X-Badge", planted()), ("X-Stewardship", planted()), ("X-Callback-Url", f"http://h/?badge={planted()}"),
            ("X-Plain", registered), ("X-Base64", base64.b64encode(f"a{registered}b".encode()).decode()),
            ("X-Split", f"before{registered}after")]


def targets(planted, registered):
    query = urllib.parse.quote(registered, safe="").replace("-", "%2D")
    return [f"/a?q=1&token={planted()}", f"/a?access%5Ftoken={planted()}", f"/a;jsessionid={planted()}?x", f"//u:{planted()}@h/x",
            f"/a?next=http%3A%2F%2Fh%2F%3Fsecret%3D{planted()}", f"/a/{query}/b?c={registered}", f"/login?user={planted()}"]


def everything_ctl_says(daemon, planted):
    said = [daemon.ctl("config", "set", "auth.key", planted()), daemon.ctl("config", "set", "proxy.config.auth.token", planted()),
            *(daemon.ctl(*words.split()) for words in ("status", "debug status", "debug tags", "debug leases", "config match .*",
                                                       "debug sites --on", "--json debug sites", "--json status"))]
    return "".join(done.stdout + done.stderr for done in said).encode()


def test_forty_planted_secrets_are_in_no_output(start_daemon, start_origin, secret_file, tmp_path):  # R10, B63, B67
    planted = Planted()
    registered, in_plugin = planted(), planted()
    reply = answer(planted)
    up, failing = start_origin(reply), start_origin(reply[:40], close=True)
    everywhere = [("POST" if n % 2 else "GET", target) for n, target in enumerate(targets(planted, registered))]
    fields = request_fields(planted, registered)
    body = f"user=me&password={planted()}".encode()
    secrets_of_clients = len(planted.all)
    outputs, said = {}, b""
    for name, port in (("up", up.port), ("down", 1), ("failing", failing.port)):
        folder = tmp_path / name
        folder.mkdir()
        daemon = start_daemon(folder=folder, origin_port=port, arguments=["-T", ".*"], records={
            "diags": {"output": {level: LETTERS for level in ("debug", "note", "warning", "error")}},
            "telltale": {"recorder": {"tags": ".*"},
                         "redact": {"fields": "x-badge", "fragments": "steward", "query_keys": "badge",
                                    "values_file": str(secret_file(registered, in_plugin))}}},
            texts={"plugin.config": f"header_note.so X-Note {in_plugin}\n"})
        for method, target in everywhere:
            content = body if method == "POST" else None
            try:
                get(daemon.port, target, fields=fields, method=method, content=content)
            except (ConnectionError, AssertionError):
                pass  # the failing origin
            with h2.Http2(daemon.port) as client:
                client.request(1, target, method=method, extra=[(n.lower(), v) for n, v in fields], end=content is None)
                if content:
                    client.data(1, content, end=True)
                client.reply(1)
        refused = {"a control byte": raw(request_bytes(fields=[("Authorization", f"Bearer {planted()}\x01")]), daemon.port),
                   "too large": raw(request_bytes(fields=[("Authorization", f"Bearer {planted()}" + "x" * 70_000)]), daemon.port)}
        said += everything_ctl_says(daemon, planted)
        daemon.diags_log("request refused with 431")
        # Killed: what the recorder has, as raw bytes and as lines.
        daemon.process.send_signal(signal.SIGKILL)
        wait_until(lambda: daemon.process.exit_code is not None, "the daemon to be gone")
        recorder = (daemon.runtime / "recorder").resolve()
        for path in [*daemon.runtime.rglob("*"), *recorder.rglob("*")]:
            if path.is_file():
                outputs[f"{name}: {path.name}"] = path.read_bytes()
        for words in (["recorder", "dump", recorder], ["recorder", "dump", "--json", recorder],
                      *(["debug", "cat", *extra, daemon.runtime / "logs" / "diags.blog"] for extra in ([], ["--json"]))):
            done = subprocess.run([program("ttctl"), *map(str, words)], capture_output=True, timeout=30, check=False)
            assert done.returncode == 0, done.stderr
            outputs[f"{name}: ttctl {words[:3]}"] = done.stdout
        outputs[f"{name}: stderr"] = daemon.process.stderr.encode()
        for what, answered in refused.items():
            assert answered.startswith(b"HTTP/1.1 4"), (what, answered[:60])
            outputs[f"{name}: answer to {what}"] = bytes(answered)
        shown = outputs[f"{name}: diags.log"]
        assert b"(http_hdrs)" in shown and b"client request: X-Badge: [redacted]" in shown and b"client response: " in shown
        assert b"(header_note_start)" in shown
        assert name != "up" or b"(http_body)" in shown
    outputs["control socket"] = said
    assert len(planted.all) >= 40 and secrets_of_clients >= 30
    assert not hits(outputs, planted.all)
    # It is no empty search: the origin got them.
    assert hits({"origin": b"".join(r.raw for r in up.requests)}, planted.all[:secrets_of_clients])


def test_what_is_forwarded_is_the_same_with_debug_on_and_off(proxy, start_daemon, start_origin, secret_file):  # R9
    origin = start_origin(b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nSet-Cookie: a=hunter2hunter2\r\nContent-Length: 14\r\n\r\nhunter2hunter2")
    daemon = start_daemon(origin_port=origin.port, records={"telltale": {"redact": {"values_file": str(secret_file("hunter2hunter2"))}}})
    fields = [("Authorization", "Bearer hunter2hunter2"), ("Cookie", "a=hunter2hunter2"), ("X-Plain", "hunter2hunter2")]
    hashes, answers = [], []
    for tags in (None, ".*"):
        if tags:
            daemon.ctl_ok("debug", "enable", "--tags", tags)
        response = get(daemon.port, "/a?token=hunter2hunter2", fields=fields, method="POST", content=b"password=hunter2hunter2")
        hashes.append(hashlib.sha256(origin.requests[-1].raw).hexdigest())
        answers.append((response.status, response.content, response.field("Set-Cookie")))
    assert hashes[0] == hashes[1] and answers[0] == answers[1] == (200, b"hunter2hunter2", "a=hunter2hunter2")
    assert "hunter2" not in daemon.diags_log("client response: Set-Cookie: a=[redacted]")


def dumps(text):
    """The dumps of a log: (what stands before the text, [lines])."""
    out = []
    for line in text.splitlines():
        if match := re.match(r"(.*?\) <.*?> \{.*?\}) ((?:client|origin) (?:request|response)): (.*)", line):
            before, direction, rest = match.groups()
            if out and out[-1][0] == (before, direction):
                out[-1][1].append(rest)
            else:
                out.append(((before, direction), [rest]))
    return [(direction, lines) for (_, direction), lines in out]


@pytest.mark.parametrize("version", ["HTTP/1.1", "HTTP/2"])
def test_dumps_are_complete_and_say_in_which_direction(start_daemon, start_origin, version):
    origin = start_origin(b"HTTP/1.1 200 Fine\r\nX-One: 1\r\nCache-Control: no-store\r\nContent-Length: 2\r\n\r\nok")
    daemon = start_daemon(origin_port=origin.port)
    daemon.ctl_ok("debug", "enable", "--tags", "http_hdrs")
    fields = [("X-Mine", "a"), ("Cookie", "b=c")]
    if version == "HTTP/2":
        assert h2.get(daemon.port, "/x?token=1", extra=[(n.lower(), v) for n, v in fields]).status == 200
    else:
        assert get(daemon.port, "/x?token=1", fields=fields).status == 200
    found = dumps(daemon.diags_log("client response: "))
    assert [direction for direction, _ in found] == ["client request", "origin request", "origin response", "client response"]
    client_request, origin_request, origin_response, client_response = ([line.lower() for line in lines] for _, lines in found)
    assert client_request[0] == f"get /x?token=[redacted] {version.lower()}" and "x-mine: a" in client_request and "cookie: b=[redacted]" in client_request
    sent = origin.requests[0]
    assert origin_request[0] == "get /x?token=[redacted] http/1.1"
    assert [line.partition(":")[0] for line in origin_request[1:]] == [name.lower() for name, _ in sent.fields]
    assert origin_response == ["http/1.1 200 fine", "x-one: 1", "cache-control: no-store", "content-length: 2"]
    assert client_response[0] == ("http/2 200" if version == "HTTP/2" else "http/1.1 200 fine") and "content-length: 2" in client_response


def test_a_dump_is_one_record_where_records_are_whole(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, records={"diags": {"output": {"debug": "LB"}}})
    daemon.ctl_ok("debug", "enable", "--tags", "http_hdrs")
    get(daemon.port, "/bytes/3")
    daemon.stop()
    done = subprocess.run([program("ttctl"), "debug", "cat", "--json", str(daemon.runtime / "logs" / "diags.blog")], capture_output=True, text=True,
                          timeout=30, check=True)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    texts = [record["text"] for record in records if record.get("tag") == "http_hdrs"]
    assert len(texts) == 4 and all("\n" in text for text in texts)
    lines = [line for line in daemon.diags_log().splitlines() if "(http_hdrs)" in line]
    assert len(lines) == sum(text.count("\n") + 1 for text in texts)


def test_records_change_what_is_masked_in_the_running_daemon(proxy):  # R3, R5
    proxy.ctl_ok("debug", "enable", "--tags", "http")
    name = "proxy.config.telltale.redact."
    get(proxy.port, "/bytes/1?badge=one", fields=[("X-Badge", "one")])
    proxy.diags_log("client request: X-Badge: one")
    proxy.ctl_ok("config", "set", name + "fields", "x-badge")
    proxy.ctl_ok("config", "set", name + "query_keys", "badge")
    get(proxy.port, "/bytes/2?badge=two", fields=[("X-Badge", "two")])
    text = proxy.diags_log("GET /bytes/2?badge=[redacted]")
    assert "X-Badge: [redacted]" in proxy.diags_log("client request: X-Badge: [redacted]") and "two" not in text
    for record, value, why in (("fields", "a:b", '"a:b" is not a field name'), ("fragments", "ab", '"ab" is shorter than 3'),
                               ("paths", "login", '"login" begins with neither / nor *'), ("body_limit", "60001", "0 to 60000"),
                               ("query_keys", "a&b", "a&b")):
        refused = proxy.ctl("config", "set", name + record, value)
        assert refused.returncode != 0 and why in refused.stderr, refused.stderr
    proxy.ctl_ok("config", "set", name + "body_limit", "60000")


def test_a_file_of_values_with_a_fault_is_refused_with_its_line_and_without_its_value(proxy, secret_file):  # R12, B103
    name = "proxy.config.telltale.redact.values_file"
    for path, why in ((secret_file("long enough", "abc"), ":2: the value has 3 bytes; it must have 5 to 4096"), ("missing", "No such file"), ("/", "is a folder")):
        refused = proxy.ctl("config", "set", name, path)
        assert refused.returncode != 0 and why in refused.stderr and "abc" not in refused.stderr, refused.stderr
    proxy.ctl_ok("config", "set", name, secret_file("hunter2hunter2"))
    proxy.ctl_ok("debug", "enable", "--tags", "http")
    get(proxy.port, "/bytes/1?x=hunter2hunter2")
    text = proxy.diags_log("GET /bytes/1?x=[redacted] HTTP/1.1")
    assert "hunter2" not in text
    secret_file("another value")
    proxy.ctl_ok("config", "reload")
    get(proxy.port, "/bytes/1?x=another%20value&y=hunter2hunter2")
    assert "another" not in proxy.diags_log("y=hunter2hunter2")


def test_secrets_are_shown_only_when_the_daemon_is_started_so(start_daemon, start_origin):  # R11, R6
    origin = start_origin(b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello")
    fields = [("Authorization", "Bearer S3CR3T"), ("X-Show-Secrets", "1"), ("X-Debug", "show-secrets")]
    masked = start_daemon(origin_port=origin.port, arguments=["-T", "http"])
    assert masked.ctl("config", "set", "proxy.config.telltale.redact.show_secrets", "1").returncode != 0
    assert re.search(r"secrets +masked", masked.ctl_ok("status")), masked.ctl_ok("status")
    get(masked.port, "/?show-secrets=1", fields=fields)
    text = masked.diags_log("<body 5 bytes text/plain>")
    assert "S3CR3T" not in text and "--show-secrets" not in text
    shown = start_daemon(origin_port=origin.port, arguments=["-T", "http", "--show-secrets"])
    get(shown.port, "/", fields=fields)
    text = shown.diags_log("from the origin: hello")
    assert "Authorization: Bearer S3CR3T" in text
    assert text.count("WARNING") == 1 and "started with --show-secrets" in text
    assert re.search(r"secrets +SHOWN", shown.ctl_ok("status"))


def test_an_error_page_says_nothing_of_the_configuration(start_daemon):  # B69
    daemon = start_daemon(origin_port=1, arguments=["-T", ".*"], remap=["map http://127.0.0.1:{port}/ http://127.0.0.1:1/S3CR3T/"])
    with_debug = get(daemon.port, "/x", fields=[("X-Debug", "X-Remap,X-Cache-Key,log-headers")])
    assert with_debug.status == 502
    everything = repr(with_debug.fields).encode() + with_debug.content
    assert b"S3CR3T" not in everything and b"127.0.0.1:1" not in everything
