# SPDX-License-Identifier: Apache-2.0
"""The flight recorder of the daemon: switched on by records, read by ttctl whatever became of the process."""
import json
import pathlib
import re
import shutil
import subprocess

import pytest

from telltale_e2e import get as http_get, wait_until
from telltale_e2e.process import program

TAGS = {"telltale": {"recorder": {"tags": "http"}}}


def dump(*arguments):
    return subprocess.run([program("ttctl"), "recorder", "dump", *map(str, arguments)], capture_output=True, text=True,
                          timeout=30, check=False, stdin=subprocess.DEVNULL)


def lines(*arguments):
    done = dump(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def get(daemon, path="/hello"):
    assert http_get(daemon.port, f"/bytes/1?{path}").status == 200


@pytest.fixture
def recording(start_daemon, tt_origin):
    return start_daemon(origin_port=tt_origin.port, records=TAGS)


def test_what_is_armed_is_recorded_without_output(recording):
    get(recording)
    shown = lines(recording.runtime / "recorder")
    assert "GET /bytes/1?/hello" in shown and "(http_hdrs)" in shown
    assert "(cache)" not in shown
    assert "DEBUG" not in recording.diags_log()
    transaction = [json.loads(line) for line in lines("--json", "--txn", 1, recording.runtime / "recorder").splitlines()]
    assert transaction and all(line["transaction"] == 1 for line in transaction)
    assert lines(recording.process.pid) == lines(recording.runtime / "recorder")


def recorder_of(daemon):
    return json.loads(daemon.ctl_ok("--json", "debug", "status"))["status"]["recorder"]


def test_debug_status_shows_it(recording):
    get(recording)
    shown = recorder_of(recording)
    folder = pathlib.Path(shown["folder"])
    assert shown["enabled"] and shown["on"] and folder.samefile(recording.runtime / "recorder" / "current")
    assert shown["armed tags"].startswith('"http" (records.yaml:')
    assert shown["rings in files"] == len([f for f in folder.iterdir() if f.name[:7] in ("output-", "recorde")])
    assert shown["of these, of armed tags"] == len(list(folder.glob("recorder-*"))) > 0
    assert shown["bytes of files"] == sum(f.stat().st_size for f in folder.iterdir())
    once = {line.split("] ", 1)[0] for line in lines(folder).splitlines() if "DEBUG (http" in line}  # a dump is one record
    assert shown["records of armed tags"] == len(once)
    assert shown["of these, dropped"] == 0
    recording.ctl_ok("config", "set", "proxy.config.telltale.recorder.tags", "cache")
    assert recorder_of(recording)["armed tags"].startswith('"cache" (')


def test_tags_are_changed_in_the_running_daemon(recording):
    name = "proxy.config.telltale.recorder.tags"
    recording.ctl_ok("config", "set", name, "cache")
    get(recording, "/changed")
    shown = lines(recording.runtime / "recorder")
    assert "GET /bytes/1?/changed" not in shown and "(cache)" in shown
    refused = recording.ctl("config", "set", name, "http|")
    assert refused.returncode == 1 and "^" in refused.stderr
    assert recording.ctl_ok("config", "get", name).strip().endswith("cache")
    recording.ctl_ok("config", "set", name, "")
    get(recording, "/off")
    assert "/off" not in lines(recording.runtime / "recorder")


def test_debug_that_is_on_is_in_it_once(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, records={
        **TAGS, "diags": {"debug": {"enabled": 1, "tags": "http|cache"}}})
    get(daemon, "/once")
    daemon.diags_log(contains="answered 200")
    shown = lines(daemon.runtime / "recorder")
    assert len([line for line in shown.splitlines() if "(http)" in line and "GET /bytes/1?/once HTTP" in line]) == 1
    assert "(cache)" in shown


def test_a_killed_daemon_is_read_and_the_next_one_keeps_its_directory(recording):
    get(recording, "/last")
    pid = recording.process.pid
    recording.process.kill()
    assert "GET /bytes/1?/last" in lines(recording.runtime / "recorder")
    assert "GET /bytes/1?/last" in lines(pid)  # found below /dev/shm
    recording.start()
    get(recording, "/next")
    assert "GET /bytes/1?/last" in lines(pid)
    now = lines(recording.runtime / "recorder")
    assert "GET /bytes/1?/next" in now and "GET /bytes/1?/last" not in now
    kept = [d for d in (recording.runtime / "recorder").iterdir() if d.name not in ("current", "runtime")]
    assert len(kept) == 1 and kept[0].name.endswith(f"-{pid}")


def test_a_core_file_has_it(recording, tmp_path):
    if shutil.which("gcore") is None:
        pytest.skip("gcore is not installed")
    get(recording, "/core")
    pid = recording.process.pid
    made = subprocess.run(["gcore", "-o", tmp_path / "core", str(pid)], capture_output=True, text=True, timeout=120, check=False)
    core = tmp_path / f"core.{pid}"
    if not core.exists():
        pytest.skip(f"gcore made none: {made.stderr.strip().splitlines()[-1:]}")
    recording.process.kill()
    shutil.rmtree((recording.runtime / "recorder").readlink())
    assert "GET /bytes/1?/core" in lines("--core", core)
    assert lines(core) == lines("--core", core)


def test_off_there_is_no_folder_and_nothing_is_armed(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, records={"telltale": {"recorder": {"enabled": 0, "tags": "http"}}})
    get(daemon)
    assert not (daemon.runtime / "recorder").is_symlink()
    assert dump(daemon.process.pid).returncode == 1
    shown = recorder_of(daemon)
    assert not shown["enabled"] and not shown["on"] and "folder" not in shown
    assert shown["rings in files"] == shown["bytes of files"] == 0 < shown["rings in private memory"]
    assert not [site for site in daemon.ctl_ok("debug", "sites").splitlines() if site.split()[:1] == ["recorded"]]


def test_a_folder_of_its_own_that_cannot_be_used_is_told_and_the_daemon_serves(start_daemon, tt_origin, tmp_path):
    folder = tmp_path / "open"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    daemon = start_daemon(origin_port=tt_origin.port, records={"telltale": {"recorder": {"path": str(folder)}}})
    get(daemon)
    assert f"{folder} is open to others (mode 0755), expected 0700" in daemon.diags_log(contains="flight recorder")


def test_two_daemons_do_not_share_a_folder(start_daemon, tt_origin, tmp_path):
    records = {"telltale": {"recorder": {"path": str(tmp_path / "shared"), "tags": "http"}}}
    first = start_daemon(origin_port=tt_origin.port, records=records)
    second = start_daemon(origin_port=tt_origin.port, records=records)
    get(first, "/first")
    get(second, "/second")
    assert f"is in use by process {first.process.pid}" in second.diags_log(contains="flight recorder")
    shown = lines(tmp_path / "shared")
    assert "GET /bytes/1?/first" in shown and "GET /bytes/1?/second" not in shown


def test_folders_whose_runtime_folder_is_gone_are_removed(start_daemon, tt_origin, tmp_path):
    first = start_daemon(origin_port=tt_origin.port, runtime=tmp_path / "gone")
    folder = pathlib.Path((first.runtime / "recorder").readlink())
    first.stop()
    shutil.rmtree(first.runtime)
    assert folder.exists()
    start_daemon(origin_port=tt_origin.port)
    wait_until(lambda: not folder.exists(), "the orphan to be removed")


def test_secrets_are_not_in_it(recording):
    http_get(recording.port, "/bytes/1?secret", fields=[("Authorization", "Bearer s3cr3t-token"), ("Cookie", "id=s3cr3t-token")])
    assert "/bytes/1?secret" in lines(recording.runtime / "recorder")
    for file in (recording.runtime / "recorder" / "current").iterdir():
        assert b"s3cr3t-token" not in file.read_bytes(), file
