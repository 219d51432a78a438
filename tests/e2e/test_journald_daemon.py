# SPDX-License-Identifier: Apache-2.0
"""The daemon's debug output in a real systemd-journald: what is read back, and what becomes of it when that is slow or gone."""
import json
import re

from telltale_e2e import get, raw, wait_until

BIG_RINGS = {"ring_size": 16777216}
# Of one line each: a dump of fields is one entry, and several lines.
ONE_LINE = "http$|http1|cache|remap"
MARK = re.compile(r"(\d+) lines? lost here: ")


def to_journald(start_daemon, socket, letters="LJ", tags="http", **named):
    """A daemon whose debug lines go there."""
    return start_daemon(records={"diags": {"debug": {"enabled": 1, "tags": tags}, "output": {"debug": letters}},
                                 "telltale": {"diag": {**BIG_RINGS, "journald": {"socket": socket}}}}, **named)


def journald_counts(daemon, path):
    """What `ttctl debug status` counts of journald's socket."""
    text = json.loads(daemon.ctl_ok("--json", "debug", "status"))["status"]["sinks"][str(path)]
    return {name: int(count) for count, name in re.findall(r"(\d+) (sent|memfd|dropped|absent|refused)\b", text)}


def produced(daemon):
    """Debug lines that the daemon has made, all of which went both ways. After stop()."""
    return [line for line in daemon.diags_lines() if line.level == "DEBUG"]


def lost_by_marks(entries):
    return sum(int(MARK.match(e["MESSAGE"])[1]) for e in entries if MARK.match(e["MESSAGE"]))


def test_j13_the_daemon_reads_back_as_its_log_has_it(journald, start_daemon, tt_origin):
    daemon = to_journald(start_daemon, journald.socket, origin_port=tt_origin.port, tags=ONE_LINE)
    for n in range(5):
        assert get(daemon.port, f"/bytes/{60 + n}").status == 200
    pid = daemon.process.pid
    daemon.stop()
    lines = produced(daemon)
    entries = journald.entries("-t", "telltale", "-p", "debug", "PRIORITY=7")
    assert len(lines) == len(entries) > 20
    for line, entry in zip(lines, entries):
        scope = ("c" + entry["DIAG_CONN"] if "DIAG_CONN" in entry else "", "t" + entry["DIAG_TXN"] if "DIAG_TXN" in entry else "",
                 entry.get("DIAG_PLUGIN", ""))
        assert (line.tag, line.file, line.line, line.function, line.scope) == (
            entry.get("DIAG_TAG", ""), entry.get("CODE_FILE", ""), entry.get("CODE_LINE", ""), entry.get("CODE_FUNC", ""),
            " ".join(part for part in scope if part))
        assert line.text.startswith(entry["MESSAGE"])
        assert entry["SYSLOG_PID"] == entry["_PID"] == str(pid)
    of_tag = [e["MESSAGE"] for e in entries if e.get("DIAG_TAG") == "http"]
    assert [e["MESSAGE"] for e in journald.entries("DIAG_TAG=http")] == of_tag != []
    # A thread has one name there and one number here; which connections share a worker is chance.
    threads = {(line.thread, entry["TID"]) for line, entry in zip(lines, entries)}
    assert len(threads) == len({thread for thread, _ in threads}) == len({number for _, number in threads})


def test_b47_bytes_of_a_client_are_text_in_the_journal(journald, start_daemon, tt_origin):
    daemon = to_journald(start_daemon, journald.socket, origin_port=tt_origin.port, tags=".*")
    value = b"a\tb\xc2\x9b31m\x9b\xff\xe2\x80\xaeend"
    raw(b"GET /bytes/1 HTTP/1.1\r\nHost: a\r\nX-Odd: " + value + b"\r\nConnection: close\r\n\r\n", daemon.port)
    daemon.diags_log(contains="31m")
    daemon.stop()
    journald.journalctl("--sync")
    shown = journald.journalctl("-o", "cat", "-t", "telltale")
    assert b"31m" in shown
    assert b"blob data" not in shown
    assert not re.search(rb"[^\x20-\x7e\n]", shown)


def test_j8_a_journald_that_is_killed_is_told_of_once_and_met_again_when_it_is_back(journald, start_daemon, tt_origin):
    daemon = to_journald(start_daemon, journald.socket, origin_port=tt_origin.port)
    assert get(daemon.port, "/bytes/1").status == 200
    wait_until(lambda: journald.entries("DIAG_TAG=http"), "entries of the first request")
    journald.kill()
    for n in range(50):
        assert get(daemon.port, f"/bytes/{n}").status == 200
    daemon.diags_log(contains="journald is not to be reached")
    wait_until(lambda: journald_counts(daemon, journald.socket)["refused"] > 0, "a count of what was refused")
    journald.start()
    daemon.diags_log(contains="journald takes records again")
    assert get(daemon.port, "/bytes/99").status == 200
    daemon.stop()
    entries = journald.entries("-t", "telltale")
    assert any("/bytes/99" in e["MESSAGE"] for e in entries)
    lost = lost_by_marks(entries)
    assert lost > 0
    log = daemon.diags_log()
    assert log.count("journald is not to be reached") == 1
    assert log.count("journald takes records again") == 1
    assert log.count(f"again; {lost} were lost") == 1


def test_j8_a_journald_that_comes_later_is_met(journald, start_daemon, tt_origin, tmp_path):
    path = tmp_path / "socket"
    daemon = to_journald(start_daemon, str(path), origin_port=tt_origin.port)
    assert get(daemon.port, "/bytes/1").status == 200
    daemon.diags_log(contains="journald is not there")
    path.symlink_to(journald.socket)
    daemon.diags_log(contains="journald takes records again")
    counts_now = wait_until(lambda: journald_counts(daemon, path), "counts")
    assert counts_now["dropped"] == counts_now["absent"] > 0
    daemon.stop()
    assert lost_by_marks(journald.entries("-t", "telltale")) == counts_now["dropped"]


def test_j9_a_journald_that_is_stopped_loses_what_is_counted(journald, start_daemon, tt_origin):
    daemon = to_journald(start_daemon, journald.socket, origin_port=tt_origin.port, tags=ONE_LINE)
    assert get(daemon.port, "/bytes/1").status == 200
    journald.halt()
    for n in range(60):
        assert get(daemon.port, f"/bytes/{n}").status == 200
    daemon.diags_log(contains="journald has read nothing for 200 ms")
    assert daemon.ctl("status").returncode == 0
    wait_until(lambda: journald_counts(daemon, journald.socket)["dropped"] > 0, "a count of what was dropped")
    journald.go_on()
    daemon.diags_log(contains="journald takes records again")
    assert get(daemon.port, "/bytes/999").status == 200
    wait_until(lambda: any("/bytes/999" in e["MESSAGE"] for e in journald.entries("DIAG_TAG=http")), "the last request's entries")
    daemon.ctl_ok("config", "set", "proxy.config.diags.debug.enabled", "0")
    now = journald_counts(daemon, journald.socket)
    daemon.stop()
    entries = journald.entries("-t", "telltale")
    debug = [e for e in entries if e["PRIORITY"] == "7"]
    assert len(produced(daemon)) == now["sent"] + now["dropped"]
    assert len(debug) == now["sent"]
    assert lost_by_marks(entries) == now["dropped"] > 0


def test_b49_a_daemon_without_stdout_stderr_and_journald_serves_and_says_so(start_daemon, tt_origin, tmp_path):
    daemon = to_journald(start_daemon, str(tmp_path / "none"), origin_port=tt_origin.port, redirect=">&- 2>&-", read_stderr=False)
    assert get(daemon.port, "/bytes/1").status == 200
    daemon.diags_log(contains="journald is not there")
