# SPDX-License-Identifier: Apache-2.0
"""Where lines go besides diags.log: JSON lines, syslog, and outputs of leases."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess

import pytest

from telltale_e2e import Connection, get, wait_until

BIG_RINGS = {"telltale": {"diag": {"ring_size": 16777216}}}
# Every byte that may stand in a field.
ODD = bytes([*range(0x20, 0x7F), *range(0x80, 0x100)]).decode("latin-1")


def merged(*parts):
    out = {}
    for part in parts:
        for key, value in part.items():
            out[key] = merged(out[key], value) if key in out and isinstance(value, dict) else value
    return out


def output(**letters):
    return {"diags": {"output": letters}}


def strictly(line):
    """One JSON object, with no name twice, in UTF-8."""
    def pairs(found):
        assert len({name for name, _ in found}) == len(found), found
        return dict(found)
    return json.loads(line.decode("utf-8"), object_pairs_hook=pairs, parse_constant=lambda name: pytest.fail(name))


def sinks(daemon):
    return json.loads(daemon.ctl_ok("--json", "debug", "status"))["status"]["sinks"]


@pytest.fixture
def start(start_daemon, tt_origin):
    def make(*records, **named):
        return start_daemon(origin_port=tt_origin.port, records=merged(BIG_RINGS, *records), **named)
    return make


def test_json_lines_say_what_the_text_says(start):
    daemon = start(output(debug="LN", note="LN", status="LN", warning="LN", error="LN"), arguments=("-T", ".*"))
    with Connection(daemon.port) as connection:
        for n in range(20):
            # Taken or refused, by us or the origin: it is in the lines.
            assert connection.request("GET", f"/bytes/10?cc=no-store&n={n}&odd=%22%5C%0a", [("X-Odd", ODD)]).status in (200, 400)
    with socket.create_connection(("127.0.0.1", daemon.port)) as raw:
        raw.sendall(b"GET /" + bytes(range(256)) + b" HTTP/1.1\r\n\r\n")
        raw.recv(4096)
    daemon.stop()
    lines = daemon.diags_lines()
    objects = [strictly(line) for line in (daemon.runtime / "logs" / "diags.json").read_bytes().splitlines()]
    # A record of several lines is one object.
    by_line = [(one, text) for one in objects
               for text in (one["text"] + "".join(f" {name}={value}" for name, value in one.get("fields", {}).items())).split("\n")]
    assert len(by_line) == len(lines) > 100
    for (one, text), line in zip(by_line, lines):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z", one["time"])
        assert one["time"][:26] + "Z" == line.time
        assert (one["level"], one["thread"], one.get("tag", "")) == (line.level, line.thread, line.tag)
        assert text == line.text
    assert any(one["tid"] != objects[0]["tid"] for one in objects)
    of_connections = [one for one in objects if "connection" in one]
    assert of_connections and [one for one in of_connections if one.get("client") != "127.0.0.1"] == []


def test_json_lines_on_stderr(start):
    daemon = start(output(debug="N"), {"telltale": {"diag": {"json": {"filename": "stderr"}}}}, arguments=("-T", "http1"))
    get(daemon.port, "/bytes/10")
    stderr = daemon.stop()
    objects = [strictly(line.encode()) for line in stderr.splitlines() if line.startswith("{")]
    assert objects and all(one["tag"] == "http1" for one in objects)
    assert not (daemon.runtime / "logs" / "diags.json").exists()


def test_outputs_that_are_none_are_refused(start):
    daemon = start()
    refused = daemon.ctl("debug", "enable", "--tags", "http", "--to", "paper")
    assert refused.returncode != 0
    assert '"paper" is no output; expected stdout, stderr, text, binary, json, syslog or journald' in refused.stderr
    assert "no lease is open" in daemon.ctl_ok("debug", "leases")
    refused = daemon.ctl("config", "set", "proxy.config.telltale.diag.json.filename", "diags.log")
    assert refused.returncode == 0  # nothing leads there yet
    refused = daemon.ctl("debug", "enable", "--tags", "http", "--to", "json")
    assert refused.returncode != 0 and "the JSON lines and another log are both" in refused.stderr
    assert "no lease is open" in daemon.ctl_ok("debug", "leases")


class Receiver:
    """A datagram socket as a syslog daemon has one."""

    def __init__(self, path):
        self.path = str(path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.setblocking(False)

    def take(self):
        found = []
        while True:
            try:
                found.append(self.socket.recv(1 << 20).decode())
            except BlockingIOError:
                return found

    def close(self):
        self.socket.close()
        os.unlink(self.path)


def syslog_at(path):
    return {"telltale": {"diag": {"syslog": {"socket": str(path)}}}}


def test_a_lease_leads_its_lines_to_syslog_and_no_others(start, tmp_path):
    receiver = Receiver(tmp_path / "log")
    daemon = start(syslog_at(receiver.path))
    enabled = daemon.ctl_ok("debug", "enable", "--tags", "remap", "--to", "syslog")
    assert f"lines go to: {receiver.path}\n" in enabled
    daemon.ctl_ok("debug", "enable", "--tags", "http1", "--append")
    assert "  to       syslog\n" in daemon.ctl_ok("debug", "leases")
    get(daemon.port, "/bytes/10")
    got = []
    wait_until(lambda: got.extend(receiver.take()) or got, "a line in syslog")
    daemon.stop()
    got += receiver.take()
    assert got and all(re.match(r"<31>1 \S+ \S+ telltale \d+ remap \[telltale@32473 ", line) for line in got)
    assert {line.tag for line in daemon.diags_lines() if line.level == "DEBUG"} == {"http1"}
    receiver.close()


def test_a_leases_file_is_there_while_the_lease_is(start):
    daemon = start()
    path = daemon.runtime / "logs" / "diags.json"
    daemon.ctl_ok("debug", "enable", "--tags", "http1", "--to", "json")
    get(daemon.port, "/bytes/10")
    daemon.ctl_ok("debug", "disable")
    daemon.ctl_ok("debug", "status")
    assert [strictly(line)["tag"] for line in path.read_bytes().splitlines()]
    wait_until(lambda: str(path) not in [os.readlink(fd) for fd in descriptors(daemon)], "the file to be closed")
    daemon.stop()
    assert "DEBUG" not in daemon.diags_log()


def descriptors(daemon):
    folder = f"/proc/{daemon.process.pid}/fd"
    return [f"{folder}/{name}" for name in os.listdir(folder) if os.path.islink(f"{folder}/{name}")]


def test_syslog_that_nobody_reads_does_not_hold_up_a_request(start, tmp_path):
    receiver = Receiver(tmp_path / "log")  # never read
    daemon = start(output(debug="S"), syslog_at(receiver.path), arguments=("-T", ".*"))
    with Connection(daemon.port) as connection:
        for n in range(300):
            assert connection.request("GET", f"/bytes/10?n={n}").status == 200
    wait_until(lambda: re.search(r"[1-9]\d* lost", sinks(daemon)[receiver.path]), "losses to be counted")
    assert "nobody reads it" in sinks(daemon)[receiver.path]
    assert daemon.diags_log("syslog has read nothing for 200 ms").count("syslog has read nothing") == 1
    daemon.stop()
    receiver.close()


class Rsyslog:
    """Debian's rsyslogd on a socket of the test's own, ended by its process."""

    def __init__(self, folder):
        self.folder, self.socket, self.out = folder, folder / "log", folder / "messages"
        self.program = shutil.which("rsyslogd") or "/usr/sbin/rsyslogd"
        form = ('%pri%|%timereported:::date-rfc3339%|%app-name%|%procid%|%msgid%|%structured-data%|%msg%\\n')
        (folder / "rsyslog.conf").write_text(
            f'global(workDirectory="{folder}")\n'
            'module(load="imuxsock" SysSock.Use="off")\n'
            f'input(type="imuxsock" Socket="{self.socket}" UseSpecialParser="off" IgnoreTimestamp="off" RateLimit.Interval="0")\n'
            f'template(name="all" type="string" string="{form}")\n'
            f'*.* action(type="omfile" file="{self.out}" template="all")\n')
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [self.program, "-n", "-f", str(self.folder / "rsyslog.conf"), "-i", str(self.folder / "pid")],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=(self.folder / "stderr").open("ab"))
        wait_until(self.socket.exists, "rsyslogd's socket")

    def end(self, how=signal.SIGTERM):
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(20)
            self.process = None

    def lines(self):
        return self.out.read_text().splitlines() if self.out.exists() else []


@pytest.fixture
def rsyslog(tmp_path):
    if not os.path.exists(shutil.which("rsyslogd") or "/usr/sbin/rsyslogd"):
        pytest.fail("rsyslogd is missing: package rsyslog")
    folder = tmp_path / "rsyslog"
    folder.mkdir()
    one = Rsyslog(folder)
    one.start()
    yield one
    one.end(signal.SIGKILL)


def test_a_real_rsyslogd_reads_every_part_and_is_met_again_after_its_restart(start, rsyslog):
    daemon = start(output(debug="LS", note="LS"), syslog_at(rsyslog.socket), arguments=("-T", "http1|remap"))
    for n in range(20):
        get(daemon.port, f"/bytes/10?n={n}")

    def debug_of_text():
        return [line for line in daemon.diags_lines() if line.level == "DEBUG"]
    def debug_of_rsyslogd():
        return [line.split("|") for line in rsyslog.lines() if line.startswith("31|")]

    def in_time(parts):
        return parts[1].replace("+00:00", "Z")
    # Its workers may write in another order. Each request has three lines, at least.
    wait_until(lambda: sorted(map(in_time, debug_of_rsyslogd())) == sorted(line.time for line in debug_of_text())
               and len(debug_of_text()) >= 60, "all lines in rsyslogd's file")
    got = sorted(debug_of_rsyslogd(), key=lambda parts: parts[1])
    for parts, line in zip(got, sorted(debug_of_text(), key=lambda line: line.time)):
        app, process, tag, data, text = parts[2], parts[3], parts[4], parts[5], "|".join(parts[6:])
        assert (app, process, tag) == ("telltale", str(daemon.process.pid), line.tag)
        assert data.startswith(f'[telltale@32473 thread="{line.thread}" tid="')
        shown = text[1:] if text.startswith(" ") else text
        assert line.text.startswith(shown)

    rsyslog.end(signal.SIGKILL)
    get(daemon.port, "/bytes/10?while=gone")
    daemon.diags_log("syslog is not to be reached")
    rsyslog.socket.unlink()
    rsyslog.start()

    def again():
        get(daemon.port, "/bytes/10?while=back")
        return any("while=back" in line for line in rsyslog.lines())
    wait_until(again, "lines after the restart")
    wait_until(lambda: any(" lost=" in line for line in rsyslog.lines()), "what was lost to be told there")
    assert re.search(r"syslog takes records again; [1-9]\d* were lost", daemon.diags_log("syslog takes records again"))
    assert daemon.diags_log().count("syslog is not to be reached") == 1
    daemon.stop()
