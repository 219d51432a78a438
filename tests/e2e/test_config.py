# SPDX-License-Identifier: Apache-2.0
"""Configuration: what is refused and how it is said, and what the command line and ttctl change."""
import os
import pathlib
import signal
import socket
import stat
import subprocess
import tempfile

import pytest

from telltale_e2e import get, pattern, wait_until
from telltale_e2e.ports import free_port
from telltale_e2e.process import program


@pytest.fixture
def refused(start_daemon):
    """refused(...): the stderr of a daemon that must refuse to start."""
    def make(**named):
        daemon = start_daemon(wait=False, **named)
        assert daemon.process.wait() not in (0, None), daemon.process.stderr
        assert daemon.process.exit_code > 0, f"ended by signal {-daemon.process.exit_code}"
        assert "telltale: ready" not in daemon.process.stderr
        return daemon.process.stderr
    return make


def run_check(folder, *arguments):
    return subprocess.run([program("telltale"), "--config", str(folder), "--check", *arguments],
                          capture_output=True, text=True, timeout=20, check=False)


# ---- files

BAD_RECORDS = """records:
  http:
    server_ports: "{port}:ip-in=127.0.0.1"
    no_such_record: 1
  diags:
    debug:
      enabled: 7
      tags: "http("
  exec_thread: {limit: many}
"""


def test_all_errors_of_all_files_come_in_one_run_with_their_lines(refused):
    text = refused(texts={"records.yaml": BAD_RECORDS,
                          "remap.config": "map http://a.test/ http://127.0.0.1:1/\nmap onlyone\nunmap x y\n"})
    for expected in ("records.yaml:4", "no_such_record", "records.yaml:7", "proxy.config.diags.debug.enabled",
                     "records.yaml:8", "proxy.config.diags.debug.tags", "records.yaml:9", "remap.config:2",
                     "remap.config:3"):
        assert expected in text, f"{expected} is not in:\n{text}"


@pytest.mark.parametrize("line", ["enabled: 4", "enabled: -1", "enabled: on", 'enabled: "on"', "enabled: 99", "enabled: 0x1",
                                  "enabled: 1.0", "enabled: [1]", "enabled: {a: 1}", "enabled: ~",
                                  "tags: ''", "tags: '|http'", "tags: 'http|'", "tags: '('", "tags: '[a'", "tags: '*'",
                                  "client_ip: 1.2.3", "client_ip: 127.0.0.1/33", "client_ip: here",
                                  "enabled: 1\n      enabled: 1", "unknown: 1"])
def test_a_bad_value_is_refused_with_file_and_line(refused, line):  # B101, AC-14, AC-16
    records = ('records:\n  http: {server_ports: "{port}:ip-in=127.0.0.1"}\n  diags:\n    debug:\n      ' + line + "\n")
    text = refused(texts={"records.yaml": records})
    assert "records.yaml:5" in text or "records.yaml:6" in text, text


@pytest.mark.parametrize("text", ["records:\n\thttp: {}\n", "records: [\n", "not: records\n", "records: {}\n---\nrecords: {}\n",
                                  "- a\n", "records:\n  a: &x 1\n  b: *y\n"])
def test_yaml_that_cannot_be_meant_is_refused(refused, text):  # B97
    assert "records.yaml" in refused(texts={"records.yaml": text})


def test_a_missing_folder_is_named(tmp_path):
    done = run_check(tmp_path / "absent")
    assert done.returncode > 0 and str(tmp_path / "absent") in done.stderr


def test_an_unreadable_file_is_named(tmp_path):  # B103
    folder = tmp_path / "config"
    folder.mkdir()
    (folder / "records.yaml").mkdir()  # a folder: not readable as a file, also by root
    (folder / "remap.config").write_text("")
    done = run_check(folder)
    assert done.returncode > 0 and "records.yaml" in done.stderr


def test_the_demo_configuration_is_valid():
    done = run_check(pathlib.Path(__file__).resolve().parents[2] / "configs" / "demo")
    assert done.returncode == 0, done.stderr


def test_the_default_configuration_is_valid():
    done = run_check(pathlib.Path(__file__).resolve().parents[2] / "configs" / "default")
    assert done.returncode == 0, done.stderr


def test_check_opens_no_port_and_leaves_no_file(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port)  # its port is taken: --check does not mind
    before = sorted(p.name for p in daemon.config.iterdir())
    done = run_check(daemon.config)
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in daemon.config.iterdir()) == before


def test_check_says_what_is_wrong(start_daemon):
    daemon = start_daemon()
    (daemon.config / "remap.config").write_text("map\n")
    done = run_check(daemon.config)
    assert done.returncode > 0 and "remap.config:1" in done.stderr


# ---- command line

def test_set_overrides_the_file_and_several_may_be_given(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port,
                          arguments=["--set", "proxy.config.diags.debug.tags=cache",
                                     "--set", "proxy.config.cache.ram_cache.size=0"])
    assert "cache" in daemon.ctl_ok("config", "get", "proxy.config.diags.debug.tags")
    for _ in range(2):
        get(daemon.port, "/bytes/5")
    assert tt_origin.hits("/bytes/5") == 2


@pytest.mark.parametrize("setting", ["proxy.config.no.such=1", "proxy.config.diags.debug.enabled=9", "nonsense",
                                     "proxy.config.diags.debug.tags=("])
def test_a_bad_set_is_refused_by_name(refused, setting):
    assert setting.split("=")[0] in refused(arguments=["--set", setting])


def test_capital_t_turns_these_tags_on_from_the_start(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, arguments=["-T", "http1"])
    get(daemon.port, "/bytes/1")
    daemon.stop()
    tags = {line.tag for line in daemon.diags_lines() if line.level == "DEBUG"}
    assert tags and all(tag.startswith("http1") for tag in tags)


def test_a_bad_capital_t_is_refused(refused):
    assert "(" in refused(arguments=["-T", "("])


def test_an_unknown_argument_is_refused(refused):
    assert "--no-such" in refused(arguments=["--no-such"])
    assert "did you mean '--check'?" in refused(arguments=["--chekc"])


def test_a_record_that_is_misspelt_in_the_file_or_with_set_is_answered_with_the_right_one(refused):
    records = 'records:\n  http: {server_ports: "{port}:ip-in=127.0.0.1"}\n  diags.debug.tag: http\n'
    assert "records.yaml:3:20: proxy.config.diags.debug.tag: this record is not offered by Telltale; " \
        "did you mean proxy.config.diags.debug.tags?" in refused(texts={"records.yaml": records})
    assert "did you mean proxy.config.http.cache.http?" in refused(arguments=["--set", "proxy.config.http.cahce.http=1"])


@pytest.mark.parametrize("arguments, status", [(["--help"], 0), (["--version"], 0), (["--check"], 0), (["--no-such"], 2), (["extra"], 2),
                                               (["--check", "--set", "proxy.config.no.such=1"], 1), (["--control"], 2)])
def test_exit_statuses_are_those_of_the_help(tmp_path, arguments, status):
    (tmp_path / "remap.config").write_text("")
    done = subprocess.run([program("telltale"), "--config", str(tmp_path), *arguments], capture_output=True, text=True,
                          timeout=20, check=False)
    assert done.returncode == status, done.stderr


# ---- config get, set, match, reload

def test_get_set_and_match(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port)
    name = "proxy.config.telltale.cache.object_size_max"
    daemon.ctl_ok("config", "set", name, "1000")
    assert "1000" in daemon.ctl_ok("config", "get", name)
    for _ in range(2):
        assert get(daemon.port, "/bytes/1001").content == pattern(1001)
    assert tt_origin.hits("/bytes/1001") == 2
    found = daemon.ctl_ok("config", "match", r"diags\.output\.")
    assert "proxy.config.diags.output.debug" in found and "proxy.config.http" not in found


def test_describe_tells_all_of_one_record_and_lists_those_a_pattern_matches(start_daemon):
    daemon = start_daemon()
    name = "proxy.config.telltale.stop.drain_timeout"
    daemon.ctl_ok("config", "set", name, "7")
    assert daemon.ctl_ok("config", "describe", name) == (
        f"{name}\n  How long a stop waits for requests under way.\n  value    7\n  source   runtime\n  type     integer\n"
        "  unit     seconds\n  range    0 to 3600\n  default  5\n  change   in force at once\n")
    found = daemon.ctl_ok("config", "describe", "diags\\.output")
    assert found.startswith("proxy.config.diags.output.alert: EL\n    Where lines of level alert go.\n")
    assert len(daemon.ctl_ok("config", "describe").splitlines()) == 2 * len(daemon.ctl_ok("config", "match", ".").splitlines())


def test_an_empty_text_can_be_set_where_the_record_allows_it(start_daemon):
    daemon = start_daemon()
    assert daemon.ctl_ok("config", "set", "proxy.config.diags.output.debug", "") == \
        'set proxy.config.diags.output.debug to ""\n'
    assert "lines go nowhere" in daemon.ctl_ok("debug", "enable", "--tags", "http")
    done = daemon.ctl("config", "set", "proxy.config.http.cache.http", "")
    assert done.returncode == 1
    assert done.stderr == 'ttctl: refused: proxy.config.http.cache.http: "" is not an integer; expected 0 or 1\n'


@pytest.mark.parametrize("arguments, said", [
    (["config", "get", "proxy.config.no.such"], "proxy.config.no.such"),
    (["config", "get", "proxy.config.diags.debug.tag"], "did you mean proxy.config.diags.debug.tags?"),
    (["config", "set", "proxy.config.http.server_port", "1"], "did you mean proxy.config.http.server_ports?"),
    (["config", "describe", "ram_cahce"], "no record's name matches \"ram_cahce\""),
    (["config", "describe", "proxy.config.diags.debug.tegs"], "did you mean proxy.config.diags.debug.tags?"),
    (["config", "describe", "("], "not a regular expression"),
    (["config", "set", "proxy.config.no.such", "1"], "proxy.config.no.such"),
    (["config", "set", "proxy.config.diags.debug.enabled", "4"], "0"),
    (["config", "set", "proxy.config.diags.debug.enabled", "on"], "on"),
    (["config", "set", "proxy.config.diags.debug.tags", "http|"], "offset 5"),
    (["config", "match", "("], "("),
    (["config"], "subcommand"),
    (["nonsense"], "nonsense"),
])
def test_what_ttctl_cannot_do_is_refused_with_the_reason(start_daemon, arguments, said):
    daemon = start_daemon()
    before = daemon.ctl_ok("config", "match", ".")
    done = daemon.ctl(*arguments)
    assert done.returncode != 0 and said in done.stdout + done.stderr
    assert daemon.ctl_ok("config", "match", ".") == before


def test_reload_applies_what_changed_in_the_files(start_daemon, start_tt_origin):
    old, new = start_tt_origin(), start_tt_origin()
    daemon = start_daemon(origin_port=old.port)
    get(daemon.port, "/bytes/1?cc=no-store")
    daemon.write({"diags": {"debug": {"tags": "cache"}}}, origin_port=new.port)
    daemon.ctl_ok("config", "reload")
    get(daemon.port, "/bytes/1?cc=no-store")
    assert (old.hits("/bytes/1"), new.hits("/bytes/1")) == (1, 1)
    assert "cache" in daemon.ctl_ok("config", "get", "proxy.config.diags.debug.tags")


def test_reload_leaves_a_live_change_whose_file_text_is_the_same(start_daemon):
    daemon = start_daemon()
    name = "proxy.config.telltale.cache.object_size_max"
    daemon.ctl_ok("config", "set", name, "1234")
    daemon.ctl_ok("config", "reload")
    assert "1234" in daemon.ctl_ok("config", "get", name)


def test_a_reload_with_an_error_changes_nothing(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port)
    daemon.write({"diags": {"debug": {"enabled": 9}}}, remap=["map"])
    done = daemon.ctl("config", "reload")
    said = done.stdout + done.stderr
    assert done.returncode != 0 and "records.yaml:" in said and "remap.config:1" in said
    assert get(daemon.port, "/bytes/3").content == pattern(3)


# ---- signals

def test_sighup_reloads_and_says_what_changed(start_daemon, start_tt_origin):
    old, new = start_tt_origin(), start_tt_origin()
    daemon = start_daemon(origin_port=old.port)
    daemon.write({"diags": {"debug": {"tags": "cache"}}}, origin_port=new.port)
    daemon.process.send_signal(signal.SIGHUP)
    text = daemon.diags_log(contains="SIGHUP: reloaded the configuration")
    assert "changed: proxy.config.diags.debug.tags remap.config (rules: 1)" in text
    get(daemon.port, "/bytes/1?cc=no-store")
    assert (old.hits("/bytes/1"), new.hits("/bytes/1")) == (0, 1)


def test_sighup_with_bad_files_changes_nothing_and_says_why(proxy):
    proxy.write({"diags": {"debug": {"enabled": 9}}}, remap=["map"])
    proxy.process.send_signal(signal.SIGHUP)
    text = proxy.diags_log(contains="SIGHUP: reload refused, nothing has changed; problems: 2")
    assert "records.yaml:" in text and "remap.config:1" in text
    assert get(proxy.port, "/bytes/3").content == pattern(3)


def test_sigusr2_opens_the_log_anew_and_no_line_is_lost(proxy):
    log, moved = proxy.runtime / "logs" / "diags.log", proxy.runtime / "logs" / "diags.log.1"
    proxy.ctl_ok("debug", "enable", "--tags", "http")
    get(proxy.port, "/bytes/1?before")
    proxy.diags_log(contains="?before")
    log.rename(moved)
    get(proxy.port, "/bytes/1?between")
    proxy.process.send_signal(signal.SIGUSR2)
    proxy.diags_log(contains="SIGUSR2: opened")
    get(proxy.port, "/bytes/1?after")
    proxy.stop()
    assert "?before" in moved.read_text() and "?between" in moved.read_text() and "?after" not in moved.read_text()
    assert "?after" in log.read_text() and "?between" not in log.read_text()


@pytest.mark.parametrize("how", ["moved", "deleted", "folder deleted"])
def test_a_log_that_went_away_is_told_of_and_comes_back_by_itself(start_daemon, how):
    daemon = start_daemon()
    log = daemon.runtime / "logs" / "diags.log"
    if how == "moved":
        log.rename(log.with_suffix(".old"))
    else:
        log.unlink()
        if how == "folder deleted":
            log.parent.rmdir()
    said = "was moved" if how == "moved" else "was deleted"
    wait_until(lambda: said in daemon.process.stderr, "the warning")
    daemon.ctl_ok("debug", "enable", "--tags", "http")
    get(daemon.port, "/after")
    daemon.diags_log(contains="/after")
    assert daemon.process.stderr.count("opening it anew") == 1


# ---- ports, start and stop

def test_a_missing_records_yaml_is_noted_at_start_and_at_a_reload(start_daemon):
    port = free_port()
    daemon = start_daemon(port=port, arguments=["--set", f"proxy.config.http.server_ports={port}:ip-in=127.0.0.1"])
    (daemon.config / "records.yaml").unlink()
    assert "records.yaml: no such file in" in run_check(daemon.config).stderr
    assert "note: records.yaml: no such file in" in daemon.ctl_ok("config", "reload")
    daemon.diags_log(contains="reload: records.yaml: no such file in")
    daemon.stop()
    daemon.start()
    assert "telltale: note: records.yaml: no such file in" in daemon.process.stderr


def test_a_second_daemon_on_the_same_runtime_folder_is_refused_and_names_the_first(start_daemon, refused):
    first = start_daemon()
    text = refused(runtime=first.runtime)
    assert f"{first.runtime}: this runtime folder is in use by process {first.process.pid}" in text
    first.ctl_ok("status")
    first.process.kill()
    start_daemon(runtime=first.runtime).ctl_ok("status")



def test_a_taken_port_ends_the_start_with_a_clear_error(refused, start_daemon):  # AC-08
    first = start_daemon()
    text = refused(port=first.port, arguments=["-T", ".*"])
    assert str(first.port) in text and "in use" in text


def test_the_ready_line_names_listener_and_control_socket(start_daemon):
    daemon = start_daemon()
    assert f"127.0.0.1:{daemon.port}" in daemon.ready and str(daemon.control) in daemon.ready


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, "ttctl"])
def test_every_way_to_stop_ends_with_0_and_removes_the_socket(start_daemon, tt_origin, how):  # B75
    daemon = start_daemon(origin_port=tt_origin.port, arguments=["-T", ".*"])
    get(daemon.port, "/bytes/1")
    if how == "ttctl":
        daemon.ctl_ok("stop")
    else:
        daemon.process.send_signal(how)
    assert daemon.process.wait() == 0, daemon.process.stderr
    assert not daemon.control.exists()


def test_status_shows_the_version_and_the_source_of_what_is_on(start_daemon):
    daemon = start_daemon(arguments=["-T", "cache"])
    daemon.ctl_ok("debug", "enable", "--tags", "http1")
    status = daemon.ctl_ok("status")
    assert "cache" in status and "http1" in status


# ---- the control socket

def path_of_length(folder, length):
    name = str(folder) + "/"
    assert len(name) < length
    return pathlib.Path(name + "s" * (length - len(name)))


@pytest.fixture
def short_folder():
    """A folder whose own path leaves room for a socket path of 106 bytes."""
    with tempfile.TemporaryDirectory(prefix="tt") as folder:
        yield pathlib.Path(folder)


@pytest.mark.parametrize("length", [106, 107])
def test_a_socket_path_up_to_107_bytes_works(start_daemon, short_folder, length):  # B91
    daemon = start_daemon(control=path_of_length(short_folder, length))
    daemon.ctl_ok("status")
    daemon.stop()
    assert list(short_folder.iterdir()) == []


@pytest.mark.parametrize("length", [108, 200])
def test_a_longer_socket_path_is_refused_with_its_length_and_the_limit(refused, short_folder, length):  # B91
    path = path_of_length(short_folder, length)
    text = refused(control=path)
    assert str(path) in text and str(length) in text and "107" in text
    assert list(short_folder.iterdir()) == []
    done = subprocess.run([program("ttctl"), "--control", str(path), "status"], capture_output=True, text=True,
                          timeout=20, check=False)
    assert done.returncode != 0 and str(length) in done.stderr and "107" in done.stderr


def test_the_socket_is_for_its_owner_only_whatever_the_umask(start_daemon):  # B89
    old = os.umask(0)
    try:
        daemon = start_daemon()
    finally:
        os.umask(old)
    mode = os.stat(daemon.control)
    assert stat.S_ISSOCK(mode.st_mode) and stat.S_IMODE(mode.st_mode) & 0o077 == 0


def test_a_second_instance_is_refused_and_the_first_stays_reachable(start_daemon, refused):  # B93
    first = start_daemon()
    text = refused(control=first.control)
    assert str(first.control) in text
    first.ctl_ok("status")


def test_a_stale_socket_is_replaced(start_daemon):  # B93
    first = start_daemon()
    first.process.kill()
    assert first.control.exists()
    start_daemon(control=first.control).ctl_ok("status")


def test_a_file_that_is_no_socket_is_never_removed(refused, tmp_path):  # B93
    path = tmp_path / "precious"
    path.write_text("keep me")
    assert str(path) in refused(control=path)
    assert path.read_text() == "keep me"


def test_ttctl_without_a_daemon_says_so(tmp_path):
    done = subprocess.run([program("ttctl"), "--control", str(tmp_path / "none.sock"), "status"],
                          capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode != 0 and str(tmp_path / "none.sock") in done.stderr


def test_a_client_of_the_control_socket_that_says_nothing_does_not_block_others(start_daemon):
    daemon = start_daemon()
    with socket.socket(socket.AF_UNIX) as silent:
        silent.connect(str(daemon.control))
        daemon.ctl_ok("status")
    wait_until(lambda: daemon.ctl("status").returncode == 0, "ttctl status")


def test_match_refuses_a_bad_pattern_with_its_place_and_one_that_takes_too_long(proxy):
    bad = proxy.ctl("config", "match", "http(")
    assert bad.returncode == 1 and "regular expression" in bad.stderr and "^" in bad.stderr
    slow = proxy.ctl("config", "match", "(([a-z.])*)*!")
    assert slow.returncode in (0, 1)  # answered at all, and in time
    assert "proxy.config.http.server_ports" in proxy.ctl_ok("config", "match", "server_ports$")
