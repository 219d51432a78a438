# SPDX-License-Identifier: Apache-2.0
"""Plugins in the real daemon: loaded, switched, suspended, refused."""
import pathlib
import re
import subprocess
import threading

import pytest

from telltale_e2e import Connection, get, pattern
from telltale_e2e.h2 import Http2
from telltale_e2e.process import BUILD

TESTS = BUILD.resolve() / "tests"  # where plugins for tests lie


@pytest.fixture
def start(start_daemon, tt_origin):
    """start(plugin lines, daemon arguments...): a daemon in front of tt-origin."""
    def make(lines, *arguments, records=None, **named):
        return start_daemon(origin_port=tt_origin.port, records=records, texts={"plugin.config": lines}, arguments=arguments, **named)
    return make


def plugin_lines(daemon, plugin="header_note"):
    """The debug lines of a daemon that is stopped first, that carry the plugin's name."""
    daemon.stop()
    return [line for line in daemon.diags_lines() if line.scope and line.scope.split()[-1] == plugin]


@pytest.mark.parametrize("plugin", ["header_note", "header_note_sites"])
def test_a_plugin_adds_a_field_and_its_lines_carry_ids_and_its_name(start, plugin):
    daemon = start(f'{plugin}.so X-Note "hello there"  # a comment\n', "-T", "header_note")
    for _ in range(2):  # from the origin, and from the cache
        response = get(daemon.port, "/bytes/10")
        assert response.field("X-Note") == "hello there", response.fields
    lines = plugin_lines(daemon, plugin)
    of_transactions = [line for line in lines if line.tag == "header_note"]
    assert len(of_transactions) == 4
    for line in of_transactions:
        assert re.fullmatch(rf"c\d+ t\d+ {plugin}", line.scope), line.whole
        assert "plugins/header_note/header_note.cc:" in line.whole
    assert any("added X-Note to a response with status 200" in line.text for line in of_transactions)


@pytest.mark.parametrize("plugin", ["header_note", "header_note_sites"])
@pytest.mark.parametrize("how", ["-T", "file"])
def test_lines_of_static_initialisers_are_switched_at_start(start, plugin, how):
    if how == "-T":
        daemon = start(f"{plugin}.so X-Note hello\n", "-T", "header_note_start")
    else:
        daemon = start(f"{plugin}.so X-Note hello\n", records={"diags": {"debug": {"enabled": 1, "tags": "header_note_start"}}})
    get(daemon.port, "/bytes/1")
    lines = [line for line in plugin_lines(daemon, plugin) if line.level == "DEBUG"]
    assert [line.tag for line in lines] == ["header_note_start"] * 2
    assert "static initialiser" in lines[0].text and "adds X-Note: hello, after 0 ms" in lines[1].text
    assert all(line.scope == plugin for line in lines)


@pytest.mark.parametrize("plugin", ["header_note", "header_note_sites"])
def test_a_plugins_tags_are_listed_and_switched_while_it_runs(start, plugin):
    daemon = start(f"{plugin}.so X-Note hello\n")
    tags = daemon.ctl_ok("debug", "tags")
    assert re.search(r"\bheader_note\b", tags) and "header_note_start" in tags
    with Connection(daemon.port) as connection:
        for n in range(5):
            assert "header_note" in daemon.ctl_ok("debug", "enable", "--tags", "header_note$")
            connection.request(target="/bytes/1")
            daemon.ctl_ok("debug", "disable")
            connection.request(target="/bytes/1")
    lines = [line for line in plugin_lines(daemon, plugin) if line.text.startswith("added ")]
    assert len(lines) == 5 and {line.tag for line in lines} == {"header_note"}


def test_only_the_named_clients_transactions_speak(start):
    daemon = start("header_note.so X-Note hello\n")
    daemon.ctl_ok("debug", "enable", "--tags", "header_note", "--client-ip", "127.0.0.2")
    for client in ("127.0.0.1", "127.0.0.2"):
        get(daemon.port, "/bytes/1", source=client)
    assert len([line for line in plugin_lines(daemon) if line.level == "DEBUG"]) == 2


def test_a_request_that_waits_on_the_plugins_thread_holds_up_nobody(start):
    daemon = start("header_note.so X-Note hello 300\n", "-T", "header_note|plugin",
                   records={"exec_thread": {"autoconfig": {"enabled": 0}, "limit": 1}})
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(get(daemon.port, "/bytes/5"))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.content for answer in answers] == [pattern(5)] * 20
    assert {answer.field("X-Note") for answer in answers} == {"hello"}
    texts = [line.text for line in plugin_lines(daemon)]
    waits = [n for n, text in enumerate(texts) if text == "the request waits 300 ms"]
    ends = [n for n, text in enumerate(texts) if text == "waited 300 ms, the request goes on"]
    assert len(waits) == len(ends) == 20
    assert waits[10] < ends[0], "requests waited one after another"


def test_a_daemon_stops_cleanly_while_requests_are_with_a_plugin(start):
    daemon = start("header_note.so X-Note hello 2000\n")
    with Connection(daemon.port) as connection:
        connection.send(b"GET /bytes/1 HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % daemon.port)
        daemon.ctl_ok("debug", "tags")
        daemon.stop()


def refused(daemon):
    """The message of a daemon that refused to start."""
    code = daemon.process.wait(10)
    assert code == 1, code
    return daemon.process.stderr


@pytest.mark.parametrize("lines, expected", [
    ("no_such.so\n", "plugin.config:1:1: plugin \"no_such.so\" cannot be used: "),
    ("# one\nheader_note.so \"X\n", "plugin.config:2:16: a quote that is not closed"),
    ("header_note.so\n", "plugin.config:1:1: plugin header_note: it did not call TSPluginRegister"),
    (f"{TESTS}/ts_bad_undefined_symbol.so\n", "plugin.config:1:1: plugin ts_bad_undefined_symbol: it needs TSTransformCreate, which is not offered"),
    (f"{TESTS}/ts_bad_throws_at_start.so\n", "plugin.config:1:1: plugin ts_bad_throws_at_start: an exception came out of TSPluginInit"),
    (f"{TESTS}/ts_bad_throws_at_load.so\n", "plugin.config:1:1: plugin ts_bad_throws_at_load: an exception came out of a static initialiser"),
])
def test_a_plugin_that_cannot_be_used_is_named_and_nothing_starts(start, lines, expected):
    daemon = start(lines, wait=False)
    assert expected in refused(daemon)


def test_check_reads_plugin_config_and_loads_nothing(start_daemon, tt_origin, start):
    daemon = start("ts_bad.so\nheader_note.so X-Note \"hello\n", "--check", wait=False)
    message = refused(daemon)
    assert "plugin.config:1:1: plugin \"ts_bad.so\"" in message and "plugin.config:2:23: a quote" in message
    fine = start(f"{TESTS}/ts_bad_throws_at_start.so\n", "--check", wait=False)
    assert fine.process.wait(10) == 0


def test_plugins_are_found_below_the_folder_a_record_names(start):
    daemon = start("ts_flavours.so\n", "--set", f"proxy.config.plugin.plugin_dir={TESTS}", wait=False)
    assert "plugin ts_flavours: it has no TSPluginInit" in refused(daemon)


def test_a_changed_plugin_config_needs_a_restart_and_reload_says_so(start):
    daemon = start("header_note.so X-Note hello\n")
    assert "plugin.config" not in daemon.ctl_ok("config", "reload")
    (daemon.config / "plugin.config").write_text("header_note.so X-Note other\n")
    assert "plugin.config" in daemon.ctl_ok("config", "reload")
    assert get(daemon.port, "/bytes/1").field("X-Note") == "hello"
    (daemon.config / "plugin.config").write_text("no_such.so\n")
    refusal = daemon.ctl("config", "reload")
    assert refusal.returncode != 0 and "plugin.config:1:1" in refusal.stdout + refusal.stderr


def test_the_guides_sample_works(start, tmp_path):
    root = pathlib.Path(__file__).resolve().parents[2]
    source = tmp_path / "hello.cc"
    source.write_text(re.search(r"```cpp\n(.*?)```", (root / "docs/plugin_guide.md").read_text(), re.S)[1])
    subprocess.run(["g++", "-std=c++17", "-O2", "-shared", "-fPIC", f"-I{root}/proxy/plugin/include", source, "-o", tmp_path / "hello.so"],
                   check=True)
    daemon = start(f'{tmp_path}/hello.so "a stranger"\n', "-T", "hello")
    assert get(daemon.port, "/bytes/1").field("X-Hello") == "a stranger"
    assert "greeted a stranger, status 200" in plugin_lines(daemon, "hello")[-1].text


def test_a_plugin_sees_http2_as_it_sees_http1(start):
    daemon = start("header_note.so X-Note hello 50\n", "-T", "header_note")
    with Http2(daemon.port) as client:
        for stream in (1, 3):
            client.request(stream, "/bytes/5")
            reply = client.reply(stream)
            assert reply.status == 200 and reply.field("x-note") == "hello"
    lines = [line for line in plugin_lines(daemon) if line.tag == "header_note" and line.scope.startswith("c")]
    assert len({line.scope for line in lines}) == 2  # one connection, two transactions
    assert len({line.scope.split()[0] for line in lines}) == 1
