# SPDX-License-Identifier: Apache-2.0
"""What a daemon's end leaves of its lines, and what its workers never do: call a sink."""
import pathlib
import re
import signal
import subprocess

from telltale_e2e import Connection, get, wait_until
from telltale_e2e.load import LOAD  # lets telltale_load be imported

import pytest

from telltale_load.latency.strace import Calls

assert LOAD.is_dir()


def threads(pid):
    """Names of the process's threads, by their ids."""
    return {task.name: (task / "comm").read_text().strip() for task in pathlib.Path(f"/proc/{pid}/task").iterdir()}


def test_of_what_was_asked_before_sigterm_every_line_is_there_or_told_of_as_lost(start_daemon, tt_origin):  # B81
    daemon = start_daemon(origin_port=tt_origin.port, arguments=["-T", "http$"])
    with Connection(daemon.port) as connection:
        for n in range(500):
            assert connection.request(target=f"/bytes/1?n={n:04d}").status == 200
    daemon.stop()
    log = daemon.diags_log()
    answered = re.findall(r"DEBUG \(http\) .*GET /bytes/1\?n=(\d+) ", log)
    lost = sum(map(int, re.findall(r"\] WARNING \(diag\) (?:<[^>]*> )?(\d+) .*lost here", log)))
    assert len(set(answered)) == 500 or lost > 0
    assert "stopping: SIGTERM" in log


def test_as_the_first_process_of_a_container_it_serves_and_ends_by_sigterm(start_daemon, tt_origin):
    if subprocess.run(["unshare", "--pid", "--fork", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("a namespace of processes cannot be made here")
    daemon = start_daemon(origin_port=tt_origin.port, arguments=["-T", "http$"],
                          under=["unshare", "--pid", "--fork", "--kill-child=KILL"])
    first = int(pathlib.Path(f"/proc/{daemon.process.pid}/task/{daemon.process.pid}/children").read_text())
    status = pathlib.Path(f"/proc/{first}/status").read_text()
    assert re.search(r"^NSpid:.*\t1$", status, re.MULTILINE), status
    assert get(daemon.port, "/bytes/1?as-process-1").status == 200
    daemon.diags_log(contains="as-process-1")
    subprocess.run(["kill", "-TERM", str(first)], check=True)
    assert daemon.process.wait() == 0
    assert "stopping: SIGTERM" in daemon.diags_log()


def test_a_worker_makes_no_call_on_a_sinks_descriptor(start_daemon, tt_origin, tmp_path):  # AC-44
    # stderr is a pipe that nobody reads, text and binary log grow, and all tags are armed for the recorder.
    daemon = start_daemon(origin_port=tt_origin.port, arguments=["-T", ".*"], read_stderr=False, records={
        "exec_thread": {"limit": 1}, "telltale": {"recorder": {"tags": "."}},
        "diags": {"output": {level: "ELB" for level in ("debug", "note", "warning", "error", "status")}}})
    get(daemon.port, "/bytes/10")  # the worker has its name and its rings
    worker = next(tid for tid, name in threads(daemon.process.pid).items() if name.startswith("worker-"))
    calls = tmp_path / "calls"
    with open(tmp_path / "words", "wb") as words:
        watching = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", "strace", "-y", "-p", worker, "-o", calls],
                                    stdin=subprocess.DEVNULL, stdout=words, stderr=words)
    try:
        wait_until(lambda: watching.poll() is not None or b"attached" in (tmp_path / "words").read_bytes(), "strace to watch")
        assert watching.poll() is None, (tmp_path / "words").read_text()
        with Connection(daemon.port) as connection:
            for n in range(300):  # more than the pipe and the worker's ring hold
                assert connection.request(target=f"/bytes/10?n={n % 7}").status == 200
        watching.send_signal(signal.SIGINT)
        watching.wait(20)
    finally:
        watching.kill()
        watching.wait()
    seen = Calls(calls.read_text("utf-8", "replace"))
    assert seen.counts["epoll_wait"] + seen.counts["recvmsg"] + seen.counts["recvfrom"] + seen.counts["read"] > 300, str(seen)
    sinks = [target for target in seen.on if target.startswith("pipe:") or "/logs/" in target or "recorder" in target]
    assert not sinks, {target: dict(seen.on[target]) for target in sinks}
    shown = daemon.ctl_ok("debug", "status")
    assert re.search(r"stderr .* lost in .*nobody reads it", shown), shown
    assert not re.search(r"diags\.b?log .* lost in ", shown), shown
