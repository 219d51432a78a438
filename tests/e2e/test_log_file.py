# SPDX-License-Identifier: Apache-2.0
"""diags.log as a file: rolled, moved, deleted, truncated, on a full disk, behind a pipe nobody reads."""
import json
import os
import re
import shutil
import signal
import subprocess
import threading

import pytest

from telltale_e2e import Connection, get, wait_until
from telltale_e2e.daemon import Daemon
from telltale_e2e.process import program

ROLLED = re.compile(r"diags\.log\.\d{8}T\d{6}Z\.\d{6}")
# What a test writes fits into them, so nothing is dropped however busy the machine is.
BIG_RINGS = {"telltale": {"diag": {"ring_size": 16777216}}}


def logfile(**records):
    return {"diags": {"logfile": records}}


def own(**records):
    return {"telltale": {"diag": {"logfile": records}}}


def merged(*parts):
    out = {}
    for part in parts:
        for key, value in part.items():
            out[key] = merged(out[key], value) if key in out and isinstance(value, dict) else value
    return out


def logs_of(daemon):
    return daemon.runtime / "logs"


def status(daemon):
    """`ttctl debug status`: the sections, by name."""
    return json.loads(daemon.ctl_ok("--json", "debug", "status"))["status"]


def file_status(daemon):
    return status(daemon)[f"file {logs_of(daemon) / 'diags.log'}"]


def load(port, count, threads=4, first=0, field_bytes=0):
    """`count` requests, numbered from `first`, on `threads` connections. Every one is answered. With a field of so
    many bytes, which tag http_hdrs shows."""
    failures = []
    fields = [("X-Pad", "x" * field_bytes)] if field_bytes else []

    def run(start):
        try:
            with Connection(port) as connection:
                for n in range(start, first + count, threads):
                    assert connection.request("GET", f"/bytes/1?cc=no-store&n={n:07d}", fields).status == 200
        except Exception as error:  # told by the test, not by a thread
            failures.append(error)
    running = [threading.Thread(target=run, args=(first + n,)) for n in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not failures, failures


@pytest.fixture
def small_disk(tmp_path):
    """small_disk(folder): a file system of 1 MiB mounted there."""
    mounted = []

    def mount(folder):
        if os.geteuid() != 0:
            pytest.skip("mounting a small file system needs root")
        folder.mkdir(parents=True)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"a small file system cannot be mounted here: {done.stderr.strip()}")
        mounted.append(folder)
        return folder
    yield mount
    for folder in mounted:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder):
    """Takes all that is left of a disk; the file that has it."""
    filler = folder / "filler"
    with open(filler, "wb", buffering=0) as out:
        try:
            while True:
                out.write(b"x" * 4096)
        except OSError:
            pass
    return filler


# ---- rolling

def move_away(logs, name):
    """Moves the log there. False: it is being rolled, and there is none at this moment."""
    try:
        os.rename(logs / "diags.log", logs / name)
    except FileNotFoundError:
        return False
    return True


def test_numbered_lines_of_several_threads_are_once_there_over_size_rolls_and_moves(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, records=merged(
        logfile(rolling_enabled=2, rolling_size_mb=1), own(compress=0, max_space_mb=0),
        {"diags": {"debug": {"enabled": 1, "tags": "http|cache"}}}, BIG_RINGS))
    logs, moves = logs_of(daemon), 20
    count = 3000
    load(daemon.port, count, field_bytes=4000)
    loader = threading.Thread(target=load, args=(daemon.port, count), kwargs={"first": count, "field_bytes": 200})
    loader.start()
    for moved in range(moves):
        wait_until(lambda name=f"moved.{moved}": move_away(logs, name), "a diags.log to move")
        if moved % 2:
            daemon.process.send_signal(signal.SIGUSR2)
            wait_until((logs / "diags.log").exists, "the new diags.log")
        else:
            daemon.ctl_ok("log", "reopen")
    loader.join()
    assert get(daemon.port, "/bytes/1").status == 200
    daemon.stop()
    names = [n for n in os.listdir(logs) if n != "diags.log"]
    assert sum(1 for n in names if ROLLED.fullmatch(n)) >= 20 and sum(n.startswith("moved.") for n in names) == moves
    seen = {}
    for name in [*names, "diags.log"]:
        text = (logs / name).read_text("utf-8")
        assert not text or text.endswith("\n"), name
        assert (logs / name).stat().st_size <= 1_000_000
        for line in text.splitlines():
            assert line.startswith("[20"), (name, line)
            assert "lost here" not in line, line
            found = re.search(r"\(http\) .* GET /bytes/1\?cc=no-store&n=(\d{7}) ", line)
            if found:
                seen[int(found[1])] = seen.get(int(found[1]), 0) + 1
    assert seen == {n: 1 for n in range(2 * count)}


def test_the_space_limit_holds_and_foreign_files_stay(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, records=merged(
        logfile(rolling_enabled=2, rolling_size_mb=1), own(compress=0, max_space_mb=3),
        {"diags": {"debug": {"enabled": 1, "tags": "http"}}}))
    logs = logs_of(daemon)
    foreign = {"diags.log.bak": "a", "diags.log.1": "b", "diags.log.20200101T000000Z.bak": "c"}
    for name, text in foreign.items():
        (logs / name).write_text(text)
    for first in range(0, 1000, 100):
        load(daemon.port, 100, first=first, field_bytes=8000)
        state = file_status(daemon)  # all is written then
    daemon.stop()
    assert state["rolls"] >= 5 and state["rolled files deleted"] >= 3 and state["is rolled"] == "yes"
    mine = [n for n in os.listdir(logs) if n not in foreign]
    assert sum((logs / n).stat().st_size for n in mine) <= 3_000_000
    assert "diags.log" in mine and all(n == "diags.log" or ROLLED.fullmatch(n) for n in mine)
    assert {n: (logs / n).read_text() for n in foreign} == foreign


def test_rolled_files_are_compressed_and_a_leftover_is_finished_at_start(start_daemon, tmp_path):
    logs = tmp_path / "d1" / "var" / "logs"
    logs.mkdir(parents=True)
    text = "[2026-01-02T03:04:05.000000Z] [main] NOTE old\n" * 5000
    left = "diags.log.20260102T030405Z.000007"
    (logs / left).write_text(text)
    (logs / f"{left}.zst.part").write_bytes(b"half")
    daemon = Daemon(tmp_path / "d1")
    try:
        wait_until(lambda: sorted(os.listdir(logs)) == ["diags.log", f"{left}.zst"], "the compressed file alone")
        assert (logs / f"{left}.zst").stat().st_size < len(text) / 10
        if shutil.which("zstd"):
            assert subprocess.run(["zstd", "-dc", logs / f"{left}.zst"], capture_output=True, text=True,
                                  check=True).stdout == text
    finally:
        daemon.close()


def test_rolling_is_changed_live_by_config_set_and_reload(start_daemon):
    daemon = start_daemon(records=merged(logfile(rolling_enabled=0), own(compress=0)))
    assert file_status(daemon)["is rolled"] == "no: the settings say so"
    daemon.ctl_ok("config", "set", "proxy.config.diags.logfile.rolling_interval_sec", "1")
    daemon.ctl_ok("config", "set", "proxy.config.diags.logfile.rolling_enabled", "1")
    wait_until(lambda: any(ROLLED.fullmatch(n) for n in os.listdir(logs_of(daemon))), "a roll by time")
    daemon.write(merged(logfile(rolling_enabled=2, rolling_interval_sec=3600), own(compress=0)))
    daemon.ctl_ok("config", "reload")
    assert file_status(daemon)["is rolled"] == "yes"


@pytest.mark.parametrize("name,value", [
    ("diags.logfile.rolling_enabled", "4"), ("diags.logfile.rolling_interval_sec", "0"),
    ("diags.logfile.rolling_size_mb", "0"), ("diags.logfile.rolling_size_mb", "-1"),
    ("diags.logfile.rolling_size_mb", "99999999999"), ("diags.logfile.rolling_min_count", "-1"),
    ("telltale.diag.logfile.max_age_sec", "-5"), ("telltale.diag.logfile.max_space_mb", "99999999999999999999"),
    ("telltale.diag.logfile.compress", "2")])
def test_an_absurd_value_is_refused_by_name(proxy, name, value):
    done = proxy.ctl("config", "set", f"proxy.config.{name}", "--", value)
    assert done.returncode == 1 and f"proxy.config.{name}" in done.stderr and value in done.stderr


def test_a_size_above_the_space_limit_is_refused_naming_both(start_daemon, tmp_path):
    daemon = start_daemon()
    done = daemon.ctl("config", "set", "proxy.config.diags.logfile.rolling_size_mb", "4096")
    for part in ("proxy.config.diags.logfile.rolling_size_mb", "proxy.config.telltale.diag.logfile.max_space_mb"):
        assert done.returncode == 1 and part in done.stderr
    assert "100" in daemon.ctl_ok("config", "get", "proxy.config.diags.logfile.rolling_size_mb")
    daemon.ctl_ok("config", "set", "proxy.config.telltale.diag.logfile.max_space_mb", "0")
    daemon.ctl_ok("config", "set", "proxy.config.diags.logfile.rolling_size_mb", "4096")
    checked = subprocess.run([program("telltale"), "--config", daemon.config, "--check", "--set",
                              "proxy.config.telltale.diag.logfile.max_space_mb=5"], capture_output=True, text=True, check=False)
    assert checked.returncode == 1 and "rolling_size_mb" in checked.stderr and "max_space_mb" in checked.stderr


@pytest.mark.parametrize("megabytes", [2148, 4096])
def test_a_size_beyond_32_bits_does_not_roll_all_the_time(start_daemon, tt_origin, megabytes):
    daemon = start_daemon(origin_port=tt_origin.port, records=merged(
        logfile(rolling_enabled=3, rolling_size_mb=megabytes), own(max_space_mb=0),
        {"diags": {"debug": {"enabled": 1, "tags": "http"}}}))
    load(daemon.port, 300)
    state = file_status(daemon)
    assert state["rolls"] == 0 and daemon.diags_log().count("\n") >= 1000


# ---- what others do to the file

@pytest.mark.parametrize("how", ["ttctl", "signal"])
def test_a_moved_log_is_complete_when_it_was_told(proxy, how):
    log, moved = logs_of(proxy) / "diags.log", logs_of(proxy) / "diags.log.1"
    proxy.ctl_ok("debug", "enable", "--tags", "http")
    get(proxy.port, "/bytes/1?before")
    log.rename(moved)
    get(proxy.port, "/bytes/1?between")
    if how == "ttctl":
        assert proxy.ctl_ok("log", "reopen") == f"opened {log} anew\n"
        assert log.exists()
    else:
        proxy.process.send_signal(signal.SIGUSR2)
        proxy.diags_log(contains="SIGUSR2: opened")
    size = moved.stat().st_size
    get(proxy.port, "/bytes/1?after")
    proxy.stop()
    old, new = moved.read_text(), log.read_text()
    assert moved.stat().st_size == size
    assert "?before" in old and "?between" in old and "?after" not in old
    assert "?after" in new and "?between" not in new


def test_reopening_where_nothing_can_be_opened_is_refused_and_lines_go_on(proxy):
    logs = logs_of(proxy)
    (logs / "diags.log").rename(logs / "kept")
    (logs / "diags.log").mkdir()
    done = proxy.ctl("log", "reopen")
    assert done.returncode == 1 and "Is a directory" in done.stderr and str(logs / "diags.log") in done.stderr
    proxy.ctl_ok("debug", "enable", "--tags", "http")
    get(proxy.port, "/bytes/1?kept")
    wait_until(lambda: "?kept" in (logs / "kept").read_text(), "the line in the moved file")


def test_copytruncate_leaves_no_zeros_and_the_size_is_right(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, records=merged(
        logfile(rolling_enabled=2, rolling_size_mb=1), own(compress=0),
        {"diags": {"debug": {"enabled": 1, "tags": "http"}}}))
    logs = logs_of(daemon)
    loader = threading.Thread(target=load, args=(daemon.port, 1500), kwargs={"field_bytes": 1000})
    loader.start()
    copies = 0
    while loader.is_alive():
        if (logs / "diags.log").stat().st_size > 200_000:
            shutil.copy(logs / "diags.log", logs / f"copy.{copies}")
            os.truncate(logs / "diags.log", 0)
            copies += 1
    loader.join()
    daemon.ctl_ok("log", "reopen")
    shown, real = file_status(daemon)["bytes"], (logs / "diags.log").stat().st_size
    assert copies > 0 and shown <= real <= shown + 4096
    for name in os.listdir(logs):
        content = (logs / name).read_bytes()
        assert b"\0" not in content and len(content) <= 1_000_000, name
    assert re.search(r"was truncated from \d+ to 0 bytes", b"".join((logs / n).read_bytes() for n in os.listdir(logs)).decode())


def test_descriptors_of_the_log_are_not_inherited(proxy):
    flags = []
    for fd in os.listdir(f"/proc/{proxy.process.pid}/fd"):
        try:
            if os.readlink(f"/proc/{proxy.process.pid}/fd/{fd}").endswith("diags.log"):
                with open(f"/proc/{proxy.process.pid}/fdinfo/{fd}", encoding="ascii") as info:
                    flags.append(int(re.search(r"flags:\s*(\d+)", info.read())[1], 8))
        except FileNotFoundError:
            pass
    assert len(flags) == 1 and flags[0] & os.O_CLOEXEC and flags[0] & os.O_APPEND


# ---- a full disk

@pytest.mark.parametrize("compress", [0, 1])
def test_a_full_disk_is_survived_counted_and_recovered_from(small_disk, start_daemon, tt_origin, tmp_path, compress):
    folder = tmp_path / "daemon"
    logs = small_disk(folder / "var" / "logs")
    old = "diags.log.20260102T030405Z.000007"
    text = "".join(f"[2026-01-02T03:04:05.000000Z] [main] NOTE old {n}\n" for n in range(1000))
    (logs / old).write_text(text)
    daemon = start_daemon(folder=folder, origin_port=tt_origin.port, records=merged(
        logfile(rolling_enabled=3, rolling_interval_sec=1), own(compress=compress),
        {"diags": {"debug": {"enabled": 1, "tags": "http"}, "output": {"warning": "L", "error": "L"}}}))
    load(daemon.port, 50)
    filler = fill(logs)
    before = set(os.listdir(logs))
    load(daemon.port, 1500)  # some seconds: rolls by time are due
    wait_until(lambda: "No space left on device" in status(daemon)["sinks"][str(logs / "diags.log")], "the loss to be shown")
    assert get(daemon.port, "/bytes/1?full").status == 200
    kept = {n for n in before if ROLLED.fullmatch(n.removesuffix(".zst"))}
    for name in kept:
        assert any(os.path.exists(logs / n) and (logs / n).stat().st_size > 0 for n in (name, name.removesuffix(".zst") + ".zst")), name
    filler.unlink()
    assert get(daemon.port, "/bytes/1?freed").status == 200

    def everything():
        # Between two readings a name may go because it was rolled.
        return "".join((logs / n).read_text("utf-8", "replace") for n in sorted(os.listdir(logs)) if not n.endswith((".zst", ".part")))

    def recovered():
        try:
            found = everything()
        except FileNotFoundError:
            return False
        return re.search(r"\d+ lines lost here: .*diags\.log: No space left on device", found) or compress
    wait_until(recovered, "the lines that tell of the loss")
    wait_until(lambda: "failing now" not in status(daemon)["sinks"][str(logs / "diags.log")], "lines to flow again")
    shown = status(daemon)
    assert shown["output"]["lines lost by sinks"] > 0
    # Whose they were: worker, level and tag.
    lost = [re.fullmatch(r"(\d+) of level (\w+)(?:, tag (\w+))?: (.*)", text) for text in shown["lost by sinks"].values()]
    assert sum(int(one[1]) for one in lost if one[4] == str(logs / "diags.log")) == shown["output"]["lines lost by sinks"]
    assert {"http", "http_hdrs"} <= {one[3] for one in lost if one[2] == "debug"}
    assert any(name.split()[1].startswith("worker-") for name in shown["lost by sinks"])
    daemon.stop()
    if not compress:
        assert (logs / old).read_text() == text
    assert not [n for n in os.listdir(logs) if n.endswith(".part")] or compress
    assert all(n == "diags.log" or ROLLED.match(n) for n in os.listdir(logs))


# ---- stdout and stderr

def test_a_stderr_nobody_reads_costs_its_lines_alone(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, read_stderr=False,
                          records=merged({"diags": {"debug": {"enabled": 1, "tags": "http"}, "output": {"debug": "EL"}}},
                                         BIG_RINGS))
    load(daemon.port, 10_000)
    get(daemon.port, "/bytes/1?last")
    daemon.diags_log(contains="?last")
    state = status(daemon)
    assert re.search(r", [1-9]\d* lost in \d+ writes, failing now: nobody reads it", state["sinks"]["stderr"])
    assert " 0 lost" in state["sinks"][str(logs_of(daemon) / "diags.log")]


def test_stdout_closed_at_start_gets_nobody_elses_lines(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, redirect=">&-",
                          records={"diags": {"debug": {"enabled": 1, "tags": "http"}, "output": {"debug": "OL"}}})
    get(daemon.port, "/bytes/1?here")
    daemon.diags_log(contains="?here")
    wait_until(lambda: "Bad file descriptor" in status(daemon)["sinks"].get("stdout", ""), "the loss to be shown")
    assert daemon.diags_log().count("answered") == 1
    daemon.stop()


def test_stderr_that_is_the_log_too_has_each_line_once_and_is_not_rolled(start_daemon, tt_origin, tmp_path):
    folder = tmp_path / "daemon"
    log = folder / "var" / "logs" / "diags.log"
    log.parent.mkdir(parents=True)
    daemon = start_daemon(folder=folder, origin_port=tt_origin.port, read_stderr=False, redirect=f"2>>'{log}'", records=merged(
        logfile(rolling_enabled=2, rolling_size_mb=1),
        {"diags": {"debug": {"enabled": 1, "tags": "http"}, "output": {"debug": "EL"}}}, BIG_RINGS))
    load(daemon.port, 1000, field_bytes=1000)
    assert file_status(daemon)["is rolled"] == "no: it is this process's stderr too"
    text = log.read_text()
    assert os.listdir(log.parent) == ["diags.log"] and len(text) > 1_000_000
    numbers = re.findall(r"\(http\) .* GET \S*n=(\d{7}) ", text)
    assert sorted(numbers) == [f"{n:07d}" for n in range(1000)]
    assert text.count("is not rolled: it is this process's stderr too") == 1


def test_lines_to_stdout_alone_are_not_rolled_and_one_notice_says_so(start_daemon, tt_origin, tmp_path):
    out = tmp_path / "out"
    levels = ("debug", "status", "note", "warning", "error", "fatal", "alert", "emergency")
    daemon = start_daemon(origin_port=tt_origin.port, redirect=f">'{out}'", records=merged(
        logfile(rolling_enabled=3, rolling_size_mb=1, rolling_interval_sec=1),
        {"diags": {"debug": {"enabled": 1, "tags": "http"}, "output": {level: "O" for level in levels}}}))
    load(daemon.port, 1000, field_bytes=1000)
    daemon.process.send_signal(signal.SIGUSR2)
    wait_until(lambda: "SIGUSR2: opened" in out.read_text(), "the line about the signal")
    get(daemon.port, "/bytes/1?last")
    wait_until(lambda: "?last" in out.read_text(), "the last line")
    text = out.read_text()
    assert len(text) > 1_000_000 and text.count("stdout and stderr are not rolled") == 1
    assert os.listdir(tmp_path / "d1" / "var" / "logs") == ["diags.log"] and [p for p in os.listdir(tmp_path) if "out" in p] == ["out"]
