# SPDX-License-Identifier: Apache-2.0
"""Debug that costs no more than was asked for: rates, samples, transactions shown by their end, throttled errors."""
import json
import re
import threading

import pytest

from telltale_e2e import Connection, get, wait_until

INTERVAL = "proxy.config.diags.debug.throttling_interval_msec"


def debug_lines(daemon):
    """The debug lines of a daemon that was stopped, so that none is still on its way."""
    daemon.stop()
    return [line for line in daemon.diags_lines() if line.level == "DEBUG"]


def transaction_of(line):
    match = re.search(r"\bt(\d+)\b", line.scope)
    return int(match[1]) if match else None


def in_the_background(daemon, *command):
    """Runs ttctl debug COMMAND; returns a function that waits for what it printed."""
    out = []
    thread = threading.Thread(target=lambda: out.append(daemon.ctl("debug", *command, timeout=70)))
    thread.start()
    wait_until(lambda: "follow" in daemon.ctl_ok("debug", "leases"), "somebody to follow")

    def result():
        thread.join()
        assert out[0].returncode == 0, out[0].stderr
        return out[0].stdout
    return result


def refused(daemon, status, said, *command):
    done = daemon.ctl("debug", *command)
    assert done.returncode == status and said in done.stderr, done.stderr
    assert daemon.ctl_ok("debug", "leases") == "no lease is open\n"


# ---- rates

def test_a_lease_above_its_rate_loses_its_noisiest_sites_and_keeps_the_rest(proxy):
    answer = proxy.ctl_ok("debug", "enable", "--tags", "http$|remap|cache", "--max-rate", "20/s")
    assert "rate: at most 20 lines/s" in answer
    # One request writes more lines of http than of anything else; so many of them are soon too many.
    wait_until(lambda: get(proxy.port, "/bytes/1?loud").status and "taken back" in proxy.ctl_ok("debug", "leases"),
               "something to be taken back")
    leases = proxy.ctl_ok("debug", "leases")
    assert re.search(r"taken back  -file=\S+ line=\d+ module=telltale \(\d+ lines/s\)", leases), leases
    why = proxy.ctl_ok("debug", "sites", "--tags", "http$|remap|cache", "--why")
    assert re.search(r"off by lease 1: rule 1: -file=.* \(taken back at \d+ lines/s: the lease may have 20\)", why), why
    note = proxy.diags_log("writes more than its 20 lines/s; taken back from it: file=")
    assert len(re.findall("writes more than its", note)) >= 1
    lease = json.loads(proxy.ctl_ok("--json", "debug", "leases"))["leases"][0]
    assert lease["max_rate"] == 20 and lease["taken_back"][0]["lines_per_s"] > 20


def test_a_lease_below_its_rate_loses_nothing(proxy):
    proxy.ctl_ok("debug", "enable", "--tags", "http$", "--max-rate", "1000000/s")
    for _ in range(20):
        get(proxy.port, "/bytes/1?few")
    lease = json.loads(proxy.ctl_ok("--json", "debug", "leases"))["leases"][0]
    assert "taken_back" not in lease and lease["lines"] >= 40


@pytest.mark.parametrize("value", ["0/s", "100", "-1/s", "many/s", "1.5/s", "10/m", "/s"])
def test_a_rate_that_is_none_is_refused(proxy, value):
    refused(proxy, 2, "expected lines a second", "enable", "--tags", "http", f"--max-rate={value}")


# ---- samples

def test_a_sample_has_all_lines_of_some_transactions_and_none_of_the_others(proxy):
    assert "sample: 1 of 3 transactions" in proxy.ctl_ok("debug", "enable", "--tags", "http$|cache|remap", "--sample", "1/3")
    for i in range(60):
        get(proxy.port, f"/bytes/1?request={i}")
    assert "sample   1 of 3 transactions" in proxy.ctl_ok("debug", "leases")
    lines = debug_lines(proxy)
    by_transaction = {}
    for line in lines:
        by_transaction.setdefault(transaction_of(line), []).append(line)
    assert None not in by_transaction
    assert 5 <= len(by_transaction) <= 40
    for one in by_transaction.values():
        assert {"http", "cache", "remap"} == {line.tag for line in one}
        assert " for " in one[0].text and one[-1].text.startswith("answered 200")


def test_the_configuration_may_sample_too(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, arguments=["-T", "http$", "--set", "proxy.config.telltale.debug.sample=3"])
    assert re.search(r"sample\s+1/3 \(", daemon.ctl_ok("status"))
    for i in range(60):
        get(daemon.port, f"/bytes/1?request={i}")
    daemon.ctl_ok("config", "set", "proxy.config.telltale.debug.sample", "1")
    get(daemon.port, "/bytes/1?this-one-too")
    lines = debug_lines(daemon)
    assert 5 <= len({transaction_of(line) for line in lines}) <= 41
    assert any("this-one-too" in line.text for line in lines)


@pytest.mark.parametrize("value", ["1/0", "0/1", "2/3", "10", "1/x", "1/-2", "1/"])
def test_a_sample_that_is_none_is_refused(proxy, value):
    refused(proxy, 2, "expected one in so many transactions", "enable", "--tags", "http", f"--sample={value}")


def test_a_sample_out_of_range_is_refused(proxy):
    refused(proxy, 1, "expected 1 to 1000000", "enable", "--tags", "http", "--sample", "1/1000001")
    refused(proxy, 1, "expected 1 to 1000000000", "enable", "--tags", "http", "--max-rate", "1000000001/s")


# ---- transactions shown by their end

def test_only_transactions_that_end_with_the_status_are_shown(proxy):
    shown = in_the_background(proxy, "follow", "--status", "5xx,404", "--next", "2")
    for target in ("/bytes/1?good", "/status/503?bad", "/status/301?moved", "/bytes/2?good", "/status/404?missing", "/status/500?late"):
        get(proxy.port, target)
    text = shown()
    lines = text.splitlines()
    assert re.fullmatch(r"transaction \d+: answered 503 after [\d.]+ ms", lines[-2])
    assert re.fullmatch(r"transaction \d+: answered 404 after [\d.]+ ms", lines[-1])
    assert "?bad" in text and "?missing" in text
    assert not any(word in text for word in ("?good", "?moved", "?late"))
    numbers = [line.split()[1].rstrip(":") for line in lines[-2:]]
    for number in numbers:
        of_it = [line for line in lines[:-2] if re.search(rf"\bt{number}\b", line)]
        tags = {match[1] for line in of_it if (match := re.search(r"DEBUG \(([^)]+)\)", line))}
        assert {"http", "http_hdrs", "remap", "cache", "origin"} <= tags
        assert " for " in of_it[0] and "answered" in of_it[-1]
    assert all(re.search(rf"\bt({'|'.join(numbers)})\b", line) for line in lines[:-2])
    assert proxy.ctl_ok("debug", "leases") == "no lease is open\n"
    assert debug_lines(proxy) == []  # nowhere else


def test_only_slow_transactions_are_shown(proxy):
    shown = in_the_background(proxy, "follow", "--slower-than", "300", "--tags", "http$")
    get(proxy.port, "/bytes/1?fast")
    get(proxy.port, "/delay/600?slow")
    text = shown()
    assert "?slow" in text and "?fast" not in text
    milliseconds = float(re.search(r"answered 200 after ([\d.]+) ms\n\Z", text)[1])
    assert milliseconds >= 600
    assert "(http_hdrs)" not in text


def test_all_conditions_have_to_hold(proxy):
    shown = in_the_background(proxy, "follow", "--slower-than", "300ms", "--status", "200", "--path", "^/delay", "--for", "60s")
    get(proxy.port, "/status/500?no")
    get(proxy.port, "/delay/1?no")
    get(proxy.port, "/delay/500?yes")
    text = shown()
    assert "?yes" in text and "?no" not in text


def test_lines_that_others_ask_for_are_in_the_log_too(proxy):
    proxy.ctl_ok("debug", "enable", "--tags", "cache")
    shown = in_the_background(proxy, "follow", "--status", "404")
    get(proxy.port, "/bytes/1?good")
    get(proxy.port, "/status/404?missing")
    text = shown()
    assert {"http", "cache"} <= {match[1] for match in re.finditer(r"DEBUG \(([^)]+)\)", text)}
    lines = debug_lines(proxy)
    assert {line.tag for line in lines} == {"cache"} and len({transaction_of(line) for line in lines}) == 2


def test_a_follow_whose_time_is_up_shows_what_it_has(proxy):
    shown = in_the_background(proxy, "follow", "--status", "404", "--next", "5", "--for", "2s")
    get(proxy.port, "/status/404?one")
    text = shown()
    assert "?one" in text and text.endswith("time is up\n")
    assert re.search(r"transaction \d+: answered 404 after [\d.]+ ms\ntime is up\n\Z", text)
    done = proxy.ctl("debug", "follow", "--status", "500", "--for", "300ms")
    assert done.stdout == "no transaction matched before the lease ended\n"


def test_several_transactions_at_once_do_not_mix(proxy):
    shown = in_the_background(proxy, "follow", "--next", "4", "--path", "^/delay")
    threads = [threading.Thread(target=get, args=(proxy.port, f"/delay/300?number={i}")) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = shown().splitlines()
    numbers = [line.split()[1].rstrip(":") for line in lines[-4:]]
    assert len(set(numbers)) == 4
    order = [re.search(r"\bt(\d+)\b", line)[1] for line in lines[:-4]]
    blocks = [number for i, number in enumerate(order) if i == 0 or order[i - 1] != number]
    assert sorted(blocks) == sorted(numbers)  # each in one piece


@pytest.mark.parametrize("option, value, status, said", [
    ("--status", "9xx", 1, 'refused: --status: "9xx" is no status; expected a code from 100 to 599, a class from 1xx to 5xx, or none'),
    ("--status", "5xx,abc", 1, '"abc" is no status'),
    ("--status", "600", 1, '"600" is no status'),
    ("--status", "5xx,", 1, '"" is no status'),
    ("--slower-than", "0", 2, "expected milliseconds above 0"),
    ("--slower-than", "soon", 2, "expected milliseconds above 0"),
    ("--slower-than", "2h", 1, "expected 1 ms to 1 h"),
    ("--next", "0", 2, "expected 1 or more"),
    ("--next", "101", 1, "expected 1 to 100"),
])
def test_a_condition_that_is_none_is_refused(proxy, option, value, status, said):
    refused(proxy, status, said, "follow", f"{option}={value}")


@pytest.mark.parametrize("command, hint", [(["enable", "--tags", "a", "--max-rat", "1/s"], "--max-rate"),
                                           (["enable", "--tags", "a", "--samples", "1/2"], "--sample"),
                                           (["follow", "--state", "5xx"], "--status"),
                                           (["follow", "--slower", "5"], "--slower-than")])
def test_a_misspelt_option_is_answered_with_what_may_be_meant(proxy, command, hint):
    done = proxy.ctl("debug", *command)
    assert done.returncode == 2 and hint in done.stderr, done.stderr


# ---- throttled errors

def test_what_answers_a_command_is_written_however_often(start_daemon, tt_origin):
    daemon = start_daemon(origin_port=tt_origin.port, arguments=["--set", f"{INTERVAL}=1000"])
    # The refusal of a bad reload is somebody's answer: each is written.
    (daemon.config / "records.yaml").write_text("records: 7\n")
    for _ in range(3):
        assert daemon.ctl("config", "reload").returncode == 1
    assert re.search(r"held back\s+0\n", daemon.ctl_ok("status"))
    daemon.stop()
    reloads = [line.text for line in daemon.diags_lines() if line.text.startswith("reload: ")]
    assert len(reloads) >= 3 and all(reloads.count(text) == 3 for text in reloads)


def test_a_warning_that_repeats_itself_is_written_once_and_counted(start_daemon, tt_origin):
    limit = "proxy.config.telltale.net.connections_max=1"
    daemon = start_daemon(origin_port=tt_origin.port, records={"exec_thread": {"limit": 1}},
                          arguments=["--set", f"{INTERVAL}=1000", "--set", limit])

    def traffic():
        return json.loads(daemon.ctl_ok("--json", "status"))["status"]["traffic"]

    for i in range(1, 11):
        with Connection(daemon.port) as one:
            one.request(target="/bytes/1")
            with Connection(daemon.port) as another:
                assert another.closed_by_peer()
        wait_until(lambda: traffic()["connections open"] == 0, "the connection to be closed")
        assert traffic()["connections refused"] == i

    def seen():
        """How many warnings were written, and how many were told to be held back."""
        lines = [line.text for line in daemon.diags_lines() if line.level == "WARNING" and "connections are refused" in line.text]
        counts = [int(match[1]) for text in lines if (match := re.search(r" \[(\d+) more of these within [\d.]+ s are not written\]$", text))]
        return len(lines) - len(counts), sum(counts)

    wait_until(lambda: sum(seen()) == 10, "all to be told of")
    written, held_back = seen()
    status = json.loads(daemon.ctl_ok("--json", "status"))["status"]["output"]
    assert status["notes, warnings and errors held back"] == held_back
    daemon.stop()
    assert seen() == (written, held_back)
