# SPDX-License-Identifier: Apache-2.0
"""Rules, sites, leases, preview, follow and all off, as an operator uses them."""
import json
import re
import signal
import subprocess
import threading
import time

import pytest

from telltale_e2e import Connection, get, wait_until
from telltale_e2e.process import program

RULES = "proxy.config.telltale.debug.rules"


def debug_lines(daemon):
    """The debug lines of a daemon that was stopped, so that none is still on its way."""
    daemon.stop()
    return [line for line in daemon.diags_lines() if line.level == "DEBUG"]


def sites(daemon, *selection):
    return json.loads(daemon.ctl_ok("--json", "debug", "sites", *selection))["sites"]


# ---- rules

@pytest.mark.parametrize("how", ["lease", "config set", "--set", "records.yaml"])
def test_the_same_rules_work_everywhere(start_daemon, tt_origin, how):
    rules = "-tag=http_hdrs; -text=answered; tag=cache file=cache_lookup.cc"
    records, arguments = {}, []
    if how == "records.yaml":
        records = {"diags": {"debug": {"enabled": 1, "tags": "http$"}}, "telltale": {"debug": {"rules": rules}}}
    if how == "--set":
        arguments = ["-T", "http$", "--set", f"{RULES}={rules}"]
    daemon = start_daemon(origin_port=tt_origin.port, records=records, arguments=arguments)
    if how == "lease":
        daemon.ctl_ok("debug", "enable", "--tags", "http$", *[word for rule in rules.split(";") for word in (f"--rule={rule.strip()}",)])
    if how == "config set":
        daemon.ctl_ok("config", "set", RULES, "--", rules)
        daemon.ctl_ok("config", "set", "proxy.config.diags.debug.tags", "http$")
        daemon.ctl_ok("config", "set", "proxy.config.diags.debug.enabled", "1")
    get(daemon.port, "/bytes/1?ruled")
    lines = debug_lines(daemon)
    assert {line.tag for line in lines} == {"http", "cache"}
    assert not any("answered" in line.text for line in lines)
    assert all("cache_lookup.cc" in line.whole for line in lines if line.tag == "cache")


@pytest.mark.parametrize("bad, number, offset", [("tag=a; fiel=x", 2, 7), ("line=0", 1, 5), ("tag=(", 1, 5), ("tag=a tag=b", 1, 6)])
def test_a_bad_rule_is_refused_with_its_number_and_offset_and_changes_nothing(proxy, bad, number, offset):
    proxy.ctl_ok("debug", "enable", "--rule", "tag=cache")
    for command in (["debug", "enable", "--rule", bad], ["config", "set", RULES, bad]):
        done = proxy.ctl(*command)
        assert done.returncode == 1
        assert f"rule {number}: " in done.stderr and f"offset {offset}" in done.stderr, done.stderr
    get(proxy.port, "/bytes/1")
    assert {line.tag for line in debug_lines(proxy)} == {"cache"}


def test_a_start_with_a_bad_rule_is_refused_and_names_record_and_rule(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, records={"telltale": {"debug": {"rules": "tag=a; bogus=x"}}}, wait=False)
    wait_until(lambda: daemon.process.exit_code is not None, "the daemon to end")
    assert daemon.process.exit_code != 0
    assert RULES.removeprefix("proxy.config.") in daemon.process.stderr and "rule 2" in daemon.process.stderr


def test_a_rule_narrows_to_one_function_and_one_line(proxy):
    site = next(s for s in sites(proxy, "--tags", "http$") if "answered" in s["format"])
    proxy.ctl_ok("debug", "enable", "--rule", f"file={site['file']} line={site['line']} function={site['function']}")
    get(proxy.port, "/bytes/1")
    lines = debug_lines(proxy)
    assert len(lines) == 1 and "answered 200" in lines[0].text


# ---- sites

def test_sites_are_complete_before_anything_ran_and_count_their_hits(proxy):
    before = sites(proxy)
    assert len(before) > 40
    assert {"http", "http1", "cache", "remap", "origin", "net"} <= {site["tag"] for site in before}
    assert all(site["state"] == "off" and site["hits"] == 0 for site in before)
    assert len({site["id"] for site in before}) == len(before)
    proxy.ctl_ok("debug", "enable", "--tags", "remap")
    get(proxy.port, "/bytes/1")
    on = sites(proxy, "--on")
    assert on and {site["tag"] for site in on} == {"remap"}
    assert any(site["hits"] == 1 for site in on)
    assert sum(site["hits"] for site in sites(proxy, "--tags", "http1")) == 0


def test_why_names_lease_record_and_rule(proxy):
    proxy.ctl_ok("config", "set", "proxy.config.diags.debug.tags", "cache")
    proxy.ctl_ok("config", "set", "proxy.config.diags.debug.enabled", "1")
    proxy.ctl_ok("debug", "enable", "--tags", "http", "--rule=-tag=http1")
    text = proxy.ctl_ok("debug", "sites", "--tags", "http1", "--why")
    assert "off by base: no rule matches" in text and "nearest: tags: tag=cache, but not its tag" in text
    assert re.search(r"off by lease \d+: rule 1: -tag=http1", text)


# ---- who

def test_the_client_is_known_before_its_first_byte_and_until_its_last(proxy):  # AC-23
    proxy.ctl_ok("debug", "enable", "--tags", ".*", "--client-ip", "::ffff:127.0.0.2, 10.0.0.0/8")
    for source in ("127.0.0.1", "127.0.0.2"):
        with Connection(proxy.port, source=source):  # says nothing
            pass
    proxy.diags_log(contains="connection closed: the client ended it; requests: 0")
    for source in ("127.0.0.1", "127.0.0.2"):
        with Connection(proxy.port, source=source) as connection:
            connection.request(target=f"/bytes/1?cc=no-store&of-{source}-")
            connection.request(target=f"/bytes/2?cc=no-store&of-{source}-")
    lines = debug_lines(proxy)
    connections = list(dict.fromkeys(line.scope.split()[0] for line in lines))
    assert len(connections) == 2 and "of-127.0.0.1" not in "".join(line.whole for line in lines)
    for number, connection in enumerate(connections):
        of_it = [line for line in lines if line.scope.split()[0] == connection]
        assert "127.0.0.2" in of_it[0].text and "accepted" in of_it[0].text
        assert "connection closed: " in of_it[-1].text
        assert (len([line for line in of_it if line.tag == "origin"]) > 0) == (number == 1)


# ---- leases

def test_a_lease_ends_by_its_time_and_says_so(proxy):
    answer = proxy.ctl_ok("debug", "enable", "--tags", "http", "--for", "300ms", "--reason", "short look")
    assert "reason: short look" in answer
    proxy.diags_log(contains="its time is up; lines: ")
    assert proxy.ctl_ok("debug", "leases") == "no lease is open\n"
    get(proxy.port, "/bytes/1?too-late")
    assert not any("too-late" in line.text for line in debug_lines(proxy))


def test_of_a_limit_of_lines_exactly_so_many_come(proxy):
    proxy.ctl_ok("debug", "enable", "--tags", "http1|http$", "--max-lines", "5")

    def traffic():
        for _ in range(10):
            get(proxy.port, "/bytes/1")
    threads = [threading.Thread(target=traffic) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    proxy.diags_log(contains="its lines are spent; lines: 5")
    assert proxy.ctl_ok("debug", "leases") == "no lease is open\n"
    assert len(debug_lines(proxy)) == 5


def test_a_lease_lasts_ten_minutes_where_it_does_not_say_and_shows_who_opened_it(proxy):
    answer = proxy.ctl_ok("debug", "enable", "--tags", "http")
    assert re.search(r"ends: (600\.0|599\.\d) s left", answer)
    leases = json.loads(proxy.ctl_ok("--json", "debug", "leases"))["leases"]
    assert len(leases) == 1 and re.fullmatch(r"uid \d+ pid \d+", leases[0]["owner"])
    assert 590_000 < leases[0]["ends_in_ms"] <= 600_000


def test_one_lease_is_ended_or_replaced_and_the_others_stay(proxy):
    for tags in ("cache$", "remap$", "http1$"):
        proxy.ctl_ok("debug", "enable", "--tags", tags, "--append")
    ids = [lease["id"] for lease in json.loads(proxy.ctl_ok("--json", "debug", "leases"))["leases"]]
    proxy.ctl_ok("debug", "end", ids[0])
    proxy.ctl_ok("debug", "enable", "--tags", "origin$", "--replace", ids[1])
    assert proxy.ctl("debug", "end", ids[0]).returncode == 1
    get(proxy.port, "/bytes/1")
    assert {line.tag for line in debug_lines(proxy)} == {"origin", "http1"}


# ---- all off

@pytest.mark.parametrize("how", ["disable --all", "SIGUSR1"])
def test_all_off_wins_over_tags_option_records_and_leases(start_daemon, tt_origin, how):
    daemon = start_daemon(origin_port=tt_origin.port, arguments=["-T", "http"],
                          records={"telltale": {"debug": {"rules": "tag=cache"}}})
    daemon.ctl_ok("debug", "enable", "--tags", "net")
    get(daemon.port, "/bytes/1?is-before")
    daemon.diags_log(contains="is-before")
    if how == "SIGUSR1":
        daemon.process.send_signal(signal.SIGUSR1)
        daemon.diags_log(contains="SIGUSR1: switched debug off; leases ended: 1")
    else:
        daemon.ctl_ok("debug", "disable", "--all")
    assert sites(daemon, "--on") == []
    get(daemon.port, "/bytes/1?is-after")
    assert daemon.ctl_ok("debug", "leases") == "no lease is open\n"
    assert "proxy.config.diags.debug.enabled: 0" in daemon.ctl_ok("config", "get", "proxy.config.diags.debug.enabled")
    assert not any("is-after" in line.text for line in debug_lines(daemon))


# ---- preview

def test_a_preview_counts_and_writes_nothing(proxy):
    done = []
    thread = threading.Thread(target=lambda: done.append(json.loads(
        proxy.ctl_ok("--json", "debug", "preview", "--tags", "http$|http1", "--for", "1s"))))
    thread.start()
    wait_until(lambda: sites(proxy, "--tags", "http1")[0]["state"] == "counted", "the preview to count")
    for _ in range(20):
        get(proxy.port, "/bytes/1?quiet")
    thread.join()
    preview = done[0]
    assert {row["name"] for row in preview["tags"]} == {"http", "http1"}
    http = next(row for row in preview["tags"] if row["name"] == "http")
    assert http["lines"] >= 40 and 40 < http["bytes"] / http["lines"] < 400
    assert 0.9 < preview["seconds"] <= 1.0 and len(preview["sites"]) <= 10
    assert 0 < preview["core_share"] < 0.1
    assert proxy.ctl_ok("debug", "leases") == "no lease is open\n"
    assert debug_lines(proxy) == []


# ---- follow

def follow(daemon, *selection):
    """Runs ttctl debug follow in the background; returns a function that waits for what it printed."""
    out = []
    thread = threading.Thread(target=lambda: out.append(daemon.ctl("debug", "follow", "--next", *selection)))
    thread.start()
    wait_until(lambda: "follow" in daemon.ctl_ok("debug", "leases"), "somebody to follow")

    def result():
        thread.join()
        assert out[0].returncode == 0, out[0].stderr
        return out[0].stdout
    return result


def test_follow_shows_all_lines_of_the_next_transaction_that_matches_and_no_others(proxy):
    shown = follow(proxy, "--path", r"^/bytes/7\?", "--client", "127.0.0.2", "--method", "GET", "--host", "127.0.0.1")
    get(proxy.port, "/bytes/6?other-path", source="127.0.0.2")
    get(proxy.port, "/bytes/7?other-client")
    get(proxy.port, "/bytes/7?this-one", source="127.0.0.2")
    get(proxy.port, "/bytes/7?the-next", source="127.0.0.2")
    text = shown()
    lines = text.splitlines()
    assert re.fullmatch(r"transaction \d+: ended", lines[-1])
    number = lines[-1].split()[1].rstrip(":")
    assert "this-one" in text and "other" not in text and "the-next" not in text
    assert all(re.search(rf"\{{c\d+ t{number}\b", line) for line in lines[:-1]), text
    tags = {match[1] for line in lines if (match := re.search(r"DEBUG \(([^)]+)\)", line))}
    assert {"http", "http_hdrs", "remap", "cache", "origin"} <= tags
    assert "answered 200" in lines[-2]
    assert proxy.ctl_ok("debug", "leases") == "no lease is open\n"
    # The log has the same lines, and no others.
    assert len(debug_lines(proxy)) == len(lines) - 1


def test_follow_ends_when_nothing_matches_in_time(proxy):
    done = proxy.ctl("debug", "follow", "--next", "--path", "no-such-path", "--for", "300ms")
    assert done.returncode == 0 and done.stdout == "no transaction matched before the lease ended\n"
    get(proxy.port, "/bytes/1?no-such-path")
    assert debug_lines(proxy) == []


def test_follow_is_one_at_a_time_and_ends_with_its_lease(proxy):
    shown = follow(proxy, "--path", "never")
    second = proxy.ctl("debug", "follow", "--next")
    assert second.returncode == 1 and "one at a time" in second.stderr
    proxy.ctl_ok("debug", "disable")
    assert shown() == "no transaction matched before the lease ended\n"
    shown = follow(proxy)
    get(proxy.port, "/bytes/1?now-it-is")
    assert "now-it-is" in shown()


def test_follow_refuses_a_path_that_is_no_pattern(proxy):
    done = proxy.ctl("debug", "follow", "--next", "--path", "(")
    assert done.returncode == 1 and "--path" in done.stderr
    assert proxy.ctl_ok("debug", "leases") == "no lease is open\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("command, said", [(["follow", "--next"], "interrupted: no transaction had matched"),
                                           (["preview", "--tags", ".*", "--for", "60s"], "nothing was written")])
def test_what_is_interrupted_switches_off_what_it_switched_on(proxy, command, said, number):
    ttctl = subprocess.Popen([program("ttctl"), "--control", str(proxy.control), "debug", *command],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: "lease 1" in proxy.ctl_ok("debug", "leases"), "the lease to be open")
    ttctl.send_signal(number)
    out, err = ttctl.communicate(timeout=20)
    assert said in out and (err, ttctl.returncode) == ("", 0)
    assert proxy.ctl_ok("debug", "leases") == "no lease is open\n"


@pytest.mark.parametrize("option, value, matches", [
    ("--host", "LOCALHOST", True), ("--host", "localhost:{port}", True), ("--host", "localhost:1", False), ("--host", "other", False),
    ("--method", "get", True), ("--method", "GET", True), ("--method", "POST", False),
])
def test_follow_takes_host_and_method_as_they_are_typed(proxy, option, value, matches):
    ttctl = subprocess.Popen([program("ttctl"), "--control", str(proxy.control), "debug", "follow", "--next", "--for", "60s",
                              option, value.format(port=proxy.port)], stdout=subprocess.PIPE, text=True)
    wait_until(lambda: "lease 1" in proxy.ctl_ok("debug", "leases"), "the lease to be open")
    get(proxy.port, "/bytes/1", host=f"localhost:{proxy.port}")
    if not matches:
        ttctl.send_signal(signal.SIGINT)
    out, _ = ttctl.communicate(timeout=20)
    assert ("GET /bytes/1" in out) == matches, out


@pytest.mark.parametrize("option, value, said", [
    ("--host", "a b", 'ttctl: refused: --host: "a b" is not a host; expected '),
    ("--host", "a:99999", 'ttctl: refused: --host: "a:99999" is not a host; expected '),
    ("--method", "GE T", 'ttctl: refused: --method: "GE T" is not a method; expected '),
])
def test_follow_refuses_what_no_request_can_have(proxy, option, value, said):
    refused = proxy.ctl("debug", "follow", "--next", option, value)
    assert refused.returncode == 1 and refused.stderr.startswith(said), refused.stderr
    assert proxy.ctl_ok("debug", "leases") == "no lease is open\n"
