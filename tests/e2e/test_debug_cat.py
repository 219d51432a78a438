# SPDX-License-Identifier: Apache-2.0
"""The binary log: what `ttctl debug cat` makes of diags.blog is what diags.log has."""
import json
import re
import signal
import subprocess
import sys
import threading

import pytest

from telltale_e2e import Connection, Truncated, get, parse_lines
from telltale_e2e.process import program
from telltale_e2e.waiting import wait_until

# Rolled files stay as they are, so that a test knows their names.
PLAIN = ("--set", "proxy.config.telltale.diag.logfile.compress=0")
BOTH = {level: "LB" for level in ("debug", "status", "note", "warning", "error")}


@pytest.fixture
def start(start_daemon, tt_origin):
    """start(output letters by level): a daemon in front of tt-origin, with rings that a busy machine does not fill."""
    def make(output, *arguments):
        return start_daemon(origin_port=tt_origin.port, records={"diags": {"output": output}},
                            arguments=("--set", "proxy.config.telltale.diag.ring_size=16777216", *arguments))
    return make


def blog(daemon):
    return daemon.runtime / "logs" / "diags.blog"


def run_cat(*arguments, stdin=subprocess.DEVNULL):
    return subprocess.run([program("ttctl"), "debug", "cat", *map(str, arguments)], capture_output=True, timeout=30,
                          check=False, stdin=stdin)


def cat(*arguments, **named):
    """Asks no daemon: it may be gone."""
    done = run_cat(*arguments, **named)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def fill(daemon, requests=20):
    threads = [threading.Thread(target=lambda n=n: [get(daemon.port, f"/bytes/1?of{n}-{i}") for i in range(requests)])
               for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Connection(daemon.port) as connection:
        for i in range(5):
            connection.request(target=f"/bytes/1?kept-{i}")


@pytest.mark.parametrize("show", [0, 1, 2])
def test_cat_shows_what_the_text_log_has_line_for_line(start, show):
    daemon = start(BOTH, "-T", ".*", "--set", f"proxy.config.diags.show_location={show}")
    fill(daemon)
    daemon.stop()
    text = daemon.diags_log()
    assert len(text.splitlines()) > 500
    assert cat(blog(daemon)) == text
    with open(blog(daemon), "rb") as stdin:
        assert cat("-", stdin=stdin) == text


def test_what_goes_to_the_binary_log_alone_is_in_no_text(start):
    daemon = start({"debug": "B"}, "-T", ".*")
    get(daemon.port, "/bytes/1?where")
    answer = daemon.ctl_ok("debug", "enable", "--tags", "http")
    assert f"lines go to: {blog(daemon)}\n" in answer
    daemon.stop()
    assert "where" in cat(blog(daemon))
    assert "where" not in daemon.diags_log()


def test_grouped_each_transaction_stands_together(start):
    daemon = start(BOTH, "-T", ".*")
    fill(daemon)
    daemon.stop()
    grouped = cat(blog(daemon), "--group")
    assert sorted(filter(None, grouped.splitlines())) == sorted(daemon.diags_log().splitlines())
    seen = set()
    for block in grouped.split("\n\n"):
        lines = parse_lines(block)
        ids = {re.search(r"t\d+", line.scope)[0] for line in lines if " t" in line.scope}
        connections = {line.scope.split()[0] for line in lines if line.scope.startswith("c") and " t" not in line.scope}
        assert len(ids) + len(connections) <= 1, block
        assert not ids & seen
        seen |= ids
        if not ids:
            continue
        # In order of time, and all of it.
        assert [line.time for line in lines] == sorted(line.time for line in lines)
        assert cat(blog(daemon), "--txn", *ids) == block.rstrip("\n") + "\n"
    assert len(seen) == 65


def test_json_says_the_same_as_the_lines(start):
    daemon = start(BOTH, "-T", ".*")
    fill(daemon, 3)
    daemon.stop()
    lines = parse_lines(daemon.diags_log())
    objects = [json.loads(one) for one in cat(blog(daemon), "--json").splitlines()]
    # A record of several lines is one object.
    by_line = [(one, text) for one in objects
               for text in (one["text"] + "".join(f" {name}={value}" for name, value in one.get("fields", {}).items())).split("\n")]
    assert len(by_line) == len(lines)
    for (one, text), line in zip(by_line, lines):
        assert (one["time"][:-4] + "Z", one["thread"], one["level"], one.get("tag", "")) == (line.time, line.thread, line.level, line.tag)
        if line.level == "DEBUG":
            assert (one["file"], str(one["line"]), one["function"]) == (line.file, line.line, line.function)
            assert one["module"].startswith("telltale")
        scope = [f"{key[0]}{one[key]}" for key in ("connection", "transaction") if key in one]
        assert scope == line.scope.split()
        assert text == line.text


def test_filters(start):
    daemon = start(BOTH, "-T", ".*")
    fill(daemon, 3)
    daemon.stop()
    lines = parse_lines(daemon.diags_log())
    tagged = "".join(line.whole + "\n" for line in lines if line.tag.startswith(("cache", "remap")))
    assert tagged and cat(blog(daemon), "--tags", "cache|remap") == tagged
    notes = "".join(line.whole + "\n" for line in lines if line.level != "DEBUG")
    assert cat(blog(daemon), "--level", "note") == "".join(l.whole + "\n" for l in lines if l.level in ("NOTE", "WARNING", "ERROR"))
    assert notes
    middle = lines[len(lines) // 2].time
    assert cat(blog(daemon), "--since", middle).startswith("[" + middle)
    assert cat(blog(daemon), "--since", "1d") == daemon.diags_log()


def test_a_moved_log_and_a_restart_begin_files_that_stand_alone(start):
    daemon = start(BOTH, "-T", ".*", *PLAIN)
    get(daemon.port, "/bytes/1?first")
    daemon.diags_log(contains="first")
    moved = blog(daemon).with_name("moved")
    blog(daemon).rename(moved)
    daemon.process.send_signal(signal.SIGUSR2)
    wait_until(lambda: blog(daemon).exists(), "diags.blog")
    get(daemon.port, "/bytes/1?second")
    daemon.stop()
    daemon.start()
    get(daemon.port, "/bytes/1?third")
    daemon.stop()
    rolled = [path for path in blog(daemon).parent.iterdir() if path.name.startswith("diags.blog.")]
    assert len(rolled) == 1
    assert "first" in cat(moved) and "second" in cat(rolled[0]) and "third" in cat(blog(daemon))
    # Whatever order they are named in.
    assert cat(blog(daemon), moved, rolled[0]) == daemon.diags_log()


def test_rolled_by_size_and_compressed_it_reads_as_one_log_and_is_followed(start):
    daemon = start(BOTH, "-T", ".*", "--set", "proxy.config.diags.logfile.rolling_enabled=2",
                   "--set", "proxy.config.diags.logfile.rolling_size_mb=1")
    follow = subprocess.Popen([program("ttctl"), "debug", "cat", "--follow", str(blog(daemon))], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    followed = []
    reader = threading.Thread(target=lambda: [followed.append(line) for line in follow.stdout], daemon=True)
    reader.start()

    def rolled():
        return [path for path in blog(daemon).parent.glob("diags.blog.*") if path.suffix != ".part"]
    try:
        for _ in range(20):
            fill(daemon, 50)
            if len(rolled()) >= 3:
                break
        wait_until(lambda: all(path.suffix == ".zst" for path in rolled()), "compressed files", 60)
        assert len(rolled()) >= 3
        daemon.stop()
        lines = cat(blog(daemon), *rolled())
        wait_until(lambda: len(followed) >= len(lines.splitlines()), "all lines from --follow", 20)
    finally:
        follow.kill()
        follow.wait()
        reader.join(5)
        follow.stdout.close()
    assert b"".join(followed).decode() == lines
    text = b""
    for name in sorted({path.name.split(".zst")[0] for path in blog(daemon).parent.glob("diags.log.*")}):
        plain = blog(daemon).with_name(name)
        text += plain.read_bytes() if plain.exists() else subprocess.run(
            ["zstd", "-dc", plain.with_name(name + ".zst")], capture_output=True, check=True).stdout
    assert text.decode() + daemon.diags_log() == lines


def test_what_a_killed_daemon_has_written_is_read_and_the_next_one_begins_anew(start):
    daemon = start({"debug": "B"}, "-T", ".*", *PLAIN)
    ended = threading.Event()

    def flood():
        while not ended.is_set():
            try:
                get(daemon.port, "/bytes/1?flood")
            except (OSError, Truncated):
                return
    threads = [threading.Thread(target=flood) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        wait_until(lambda: blog(daemon).stat().st_size > 200_000, "a flood")
        daemon.process.kill()
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    lines = parse_lines(cat(blog(daemon)))
    assert len(lines) > 1000 and lines[-1].level == "DEBUG"
    daemon.start()
    daemon.stop()
    (rolled,) = [path for path in blog(daemon).parent.iterdir() if path.name.startswith("diags.blog.")]
    assert parse_lines(cat(rolled)) == lines


def test_follow_shows_lines_as_they_come_and_goes_on_in_the_next_file(start):
    daemon = start({**BOTH, "debug": "B"}, "-T", "http")
    follow = subprocess.Popen([program("ttctl"), "debug", "cat", str(blog(daemon)), "--follow"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    came = []
    reader = threading.Thread(target=lambda: [came.append(line) for line in follow.stdout], daemon=True)
    reader.start()

    def wait_for(part):
        wait_until(lambda: any(part in line for line in list(came)), f"{part} from --follow", 20)
    try:
        for n in range(5):
            get(daemon.port, f"/bytes/1?part{n}-")
            wait_for(b"part%d-" % n)
            if n % 2 == 0:
                blog(daemon).rename(blog(daemon).with_name(f"moved{n}"))
                daemon.process.send_signal(signal.SIGUSR2)
                wait_until(blog(daemon).exists, "diags.blog")
        daemon.stop()
        files = [blog(daemon), *blog(daemon).parent.glob("moved*")]
        wait_until(lambda: len(came) == len(cat(*files).splitlines()), "all lines")
    finally:
        follow.kill()
        follow.wait()
        reader.join(5)
        errors = follow.stderr.read()
        follow.stdout.close()
        follow.stderr.close()
    assert b"".join(came).decode() == cat(*files)
    assert errors == b""


def test_a_damaged_log_is_told_of_and_the_rest_shown(start, tmp_path):
    daemon = start(BOTH, "-T", "http")
    fill(daemon, 3)
    daemon.stop()
    whole = blog(daemon).read_bytes()
    cut = tmp_path / "cut"
    cut.write_bytes(whole[:-3])
    lines = cat(cut)
    assert daemon.diags_log().startswith(lines) and lines
    bad = tmp_path / "bad"
    at = 0  # a frame in the middle
    while at < len(whole) // 2:
        at += int.from_bytes(whole[at:at + 4], sys.byteorder)
    bad.write_bytes(whole[:at] + b"\xff" * 8 + whole[at + 8:])
    done = run_cat(bad)
    assert done.returncode == 1
    assert daemon.diags_log().encode().startswith(done.stdout) and done.stdout
    assert re.search(rf"ttctl: {re.escape(str(bad))}, at byte {at}: no frame .*expected a multiple of 8", done.stderr.decode())
    log = daemon.runtime / "logs" / "diags.log"
    done = run_cat(log)
    assert done.returncode == 1
    assert done.stderr.decode() == f"ttctl: {log}, at byte 0: no record log, expected a start frame\n"
