# SPDX-License-Identifier: Apache-2.0
"""What ./tt load concludes is believed: its reading of h2load, its arithmetic and its clean-up are tested.

Where a run is needed a stand-in takes the place of h2load, but where lines are counted that the daemon wrote.
"""
import dataclasses
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading

import pytest

from telltale_e2e import wait_until
from telltale_e2e.load import LOAD, load
from telltale_e2e.process import BUILD

from telltale_load import Failed, debug, figures, gates, h2load, machine, report
from telltale_load.alternation import own_variants
from telltale_load.followed import FollowedClient
from telltale_load.peers import PEERS
from telltale_load.peers.peer import Peer
from telltale_load.servers import free_port
from telltale_load.figures import (BINARY, CLIENT, HAPROXY, OFF, OFF_AGAIN, RECORDER, TEXT, UNMATCHED,
                                   WRITING, Run, shared, third)
from telltale_load.gates import MET, MISSED, NOT_JUDGED

GOOD = """\
starting benchmark...
spawning thread #0: 4 total client(s). 2000 total requests
Application protocol: http/1.1
progress: 100% done

finished in 364.13ms, 5492.51 req/s, 6.66MB/s
requests: 2000 total, 2000 started, 2000 done, 2000 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 2000 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 2.42MB (2541968) total, 374.98KB (383984) headers (space savings 0.00%), 1.95MB (2048000) data
                     min         max         mean         sd        +/- sd
time for request:       29us     16.99ms       700us      1.74ms    89.40%
"""


def children_of(pid):
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(stat.parent.name))
        except OSError:
            continue  # it ended while we looked
    return found


# ---- h2load

def test_a_good_run_is_read_and_has_no_fault():
    output = h2load.parse(GOOD)
    assert (output.seconds, output.requests_per_second) == (pytest.approx(0.36413), 5492.51)
    assert (output.codes, output.data_bytes) == ((2000, 0, 0, 0), 2048000)
    assert h2load.faults(output, requests=2000, size_bytes=1024) == []


@pytest.mark.parametrize("text, seconds", [("2.05s", 2.05), ("871us", 0.000871), ("12.50ms", 0.0125)])
def test_every_unit_of_h2loads_durations_is_read(text, seconds):
    assert h2load.parse(GOOD.replace("364.13ms", text)).seconds == pytest.approx(seconds)


@pytest.mark.parametrize("line", ["finished in", "requests:", "status codes:", "traffic:", "Application protocol:"])
def test_output_that_lacks_a_line_is_refused(line):
    text = "".join(one for one in GOOD.splitlines(True) if not one.startswith(line))
    with pytest.raises(Failed, match="no result"):
        h2load.parse(text)


@pytest.mark.parametrize("old, new, fault", [
    ("2000 total, 2000 started", "2001 total, 2001 started", "total: 2001"),
    ("2000 started", "2001 started", "started: 2001"),
    ("2000 done", "1999 done", "done: 1999"),
    ("2000 succeeded", "1999 succeeded", "succeeded: 1999"),
    ("0 failed", "1 failed", "failed: 1"),
    ("0 errored", "1 errored", "errored: 1"),
    ("0 timeout", "1 timeout", "timeout: 1"),
    ("2000 2xx, 0 3xx, 0 4xx", "1999 2xx, 0 3xx, 1 4xx", "1999, 0, 1, 0"),
    ("(2048000) data", "(2047999) data", "2047999 bytes"),
    ("5492.51 req/s", "0.00 req/s", "0 requests/s"),
    ("protocol: http/1.1", "protocol: h2c", "h2c was spoken instead of http/1.1"),
])
def test_a_count_that_is_off_by_one_is_a_fault(old, new, fault):
    assert old in GOOD
    found = h2load.faults(h2load.parse(GOOD.replace(old, new)), requests=2000, size_bytes=1024)
    assert any(fault in one for one in found)


def test_a_run_with_zero_results_is_a_fault_in_every_count():
    none = GOOD.replace("2000 ", "0 ").replace("(2048000)", "(0)").replace("5492.51", "0.00")
    assert len(h2load.faults(h2load.parse(none), requests=2000, size_bytes=1024)) == 7


def stand_in(folder, script):
    path = folder / "h2load"
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(0o755)
    return path


def run_stand_in(folder, script, timeout_s=20.0, **named):
    return h2load.run("http://127.0.0.1:1/", requests=2000, connections=4, size_bytes=1024,
                      core=min(os.sched_getaffinity(0)), timeout_s=timeout_s,
                      program=stand_in(folder, script), **named)


def test_a_run_is_asked_for_by_count_over_http1(tmp_path):
    output = run_stand_in(tmp_path, f'echo "$*" >{tmp_path}/asked; cat <<END\n{GOOD}END')
    assert output.done == 2000
    assert (tmp_path / "asked").read_text() == "--h1 -t1 -c4 -n 2000 http://127.0.0.1:1/\n"


def test_a_run_over_http2_has_ten_streams_on_each_connection(tmp_path):
    good = GOOD.replace("http/1.1", "h2c")
    run_stand_in(tmp_path, f'echo "$*" >{tmp_path}/asked; cat <<END\n{good}END', proto="h2")
    assert (tmp_path / "asked").read_text() == "-m10 -t1 -c4 -n 2000 http://127.0.0.1:1/\n"


def test_a_run_at_a_rate_parts_it_among_the_connections_and_logs_where_it_is_told(tmp_path):
    run_stand_in(tmp_path, f'echo "$*" >{tmp_path}/asked; cat <<END\n{GOOD}END', rate=30_001, log_file="/l")
    assert (tmp_path / "asked").read_text() == "--h1 -t1 -c4 -n 2000 --rps=7500.250 --log-file=/l http://127.0.0.1:1/\n"


def test_the_time_of_each_request_is_read_from_its_log():
    assert h2load.read_log("1796068040661491\t200\t2499\n1796068040661507\t204\t39\tmore\n", 2) == [2499, 39]


@pytest.mark.parametrize("text, why", [
    ("1\t200\t5\n", "1 requests instead of 2"), ("1\t200\t5\n" * 3, "3 requests instead of 2"),
    ("1\t200\t5\n2\t-1\t5\n", "line 2 of h2load's log is no success"), ("1\t404\t5\n", "line 1 .* no success"),
    ("1\t200\n", "line 1 .* not start, status and time"), ("1 200 5\n", "line 1 .* not start"),
    ("1\t200\t5us\n", "line 1 .* not start"),
])
def test_a_log_that_is_short_or_tells_of_a_failure_is_refused(text, why):
    with pytest.raises(Failed, match=why):
        h2load.read_log(text, 2)


def test_a_run_that_freezes_is_ended_and_fails(tmp_path):
    with pytest.raises(Failed, match="did not end within"):
        run_stand_in(tmp_path, "exec sleep 600", timeout_s=1.0)
    assert children_of(os.getpid()) == []


def test_a_run_that_ends_badly_or_counts_wrongly_fails(tmp_path):
    with pytest.raises(Failed, match="status 7:\nno such option"):
        run_stand_in(tmp_path, "echo no such option >&2; exit 7")
    with pytest.raises(Failed, match="not valid: succeeded: 1999"):
        run_stand_in(tmp_path, f"cat <<END\n{GOOD.replace('2000 succeeded', '1999 succeeded')}END")


# ---- the machine

@pytest.mark.parametrize("cores, siblings, placement", [
    ({0, 1}, {0: {0}, 1: {1}}, (1, 0)),
    ({0, 1, 2, 3}, {3: {2, 3}, 2: {2, 3}, 1: {0, 1}, 0: {0, 1}}, (3, 0)),
    ({2, 3, 4}, {4: {2, 4}}, (4, 3)),
])
def test_proxy_and_generator_get_different_physical_cores(cores, siblings, placement):
    placed = machine.place(cores, siblings)
    assert (placed.proxy, placed.others) == placement
    assert "two threads" not in placed.remark


def test_a_placement_that_bends_the_figures_is_told():
    assert "only one core" in machine.place({5}, {5: {5}}).remark
    shared = machine.place({0, 1}, {0: {0, 1}, 1: {0, 1}})
    assert (shared.proxy, shared.others) == (1, 0)
    assert "two threads of one physical core" in shared.remark


def test_cpu_time_of_another_process_is_what_it_used():
    with subprocess.Popen([sys.executable, "-c", "sum(range(3_000_000)); print(flush=True); input()"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        used = machine.cpu_time_ns(child.pid)
        child.stdin.close()
        _, _, usage = os.wait4(child.pid, 0)
        child.returncode = 0
    assert 0 < used <= (usage.ru_utime + usage.ru_stime) * 1e9 * 1.01


# ---- figures

def runs_of(*rounds, busy=0.99, waited=0.0, proto="h1"):
    """A Run for each variant of each round: {variant: (requests/s, CPU us per request)}."""
    out = []
    for number, variants in enumerate(rounds, 1):
        for variant, (rate, cpu_us) in variants.items():
            requests = 1000
            cpu_ns = int(requests * cpu_us * 1000)
            seconds = cpu_ns / 1e9 / busy
            out.append(Run(number, variant, requests, rate, seconds, cpu_ns, int(seconds * waited * 1e9),
                           proto=proto))
    return out


def test_a_run_tells_cpu_per_request_and_how_busy_the_core_was():
    run = Run(1, OFF, 200_000, 100_000.0, 2.0, 1_800_000_000, 50_000_000)
    assert (run.cpu_us_per_request, run.busy, run.waited) == (9.0, 0.9, 0.025)


def test_ratios_are_taken_within_a_round_so_that_a_drifting_machine_does_not_show():
    runs = runs_of(*({OFF: (speed, 4), UNMATCHED: (speed * 1.1, 4)} for speed in (100, 150, 200, 130)))
    ratio = figures.ratios(runs, UNMATCHED, OFF, "requests_per_second")
    assert (ratio.median, ratio.low, ratio.high) == (pytest.approx(1.1),) * 3


def test_spread_has_median_ends_and_quartiles():
    spread = figures.Spread.of([5, 1, 4, 2, 3])
    assert (spread.low, spread.first_quartile, spread.median, spread.third_quartile, spread.high) == (1, 2, 3, 4, 5)
    assert spread.distance(2.5) == 1.5
    assert figures.Spread.of([7]).median == figures.Spread.of([7]).third_quartile == 7


def states(runs):
    return [verdict.state for verdict in gates.verdicts(runs)]


def alike(unmatched_cpu, again_cpu, **named):
    return runs_of(*[{OFF: (100, 4.0), UNMATCHED: (100, unmatched_cpu), OFF_AGAIN: (100, again_cpu)}] * 3, **named)


def test_one_percent_is_alike_and_two_are_not():
    assert states(alike(4.036, 4.0)) == [MET, MET]
    assert states(alike(4.08, 4.0)) == [MET, MISSED]
    assert states(alike(3.92, 4.0)) == [MET, MISSED]


def test_where_the_noise_is_wider_than_one_percent_it_is_the_limit_and_is_stated():
    verdict = gates.verdicts(alike(4.08, 4.12))[1]
    assert verdict.state == MET
    assert "3.00%" in verdict.why


def test_requests_per_second_of_an_idle_proxy_are_not_judged_but_its_cpu_time_is():
    runs = alike(4.08, 4.0, busy=0.949)
    assert states(runs) == [NOT_JUDGED, MISSED]
    assert "generator-bound" in report.report_text(runs)
    assert "generator-bound" not in report.report_text(alike(4.0, 4.0, busy=0.951))


@pytest.mark.parametrize("rate, cpu, busy, expected", [
    (120, 3.0, 0.99, [MET, MET]), (119, 3.0, 0.99, [MISSED, MET]), (120, 3.01, 0.99, [MET, MISSED]),
    (119, 3.0, 0.90, [NOT_JUDGED, MET]),
])
def test_gates_against_haproxy(rate, cpu, busy, expected):
    one = {OFF: (rate, cpu), UNMATCHED: (rate, cpu), OFF_AGAIN: (rate, cpu), HAPROXY: (100, 4.0)}
    assert states(runs_of(one, one, busy=busy))[2:] == expected


@pytest.mark.parametrize("rate, expected", [(140, MET), (139, MISSED)])
def test_over_http2_the_gate_against_haproxy_is_higher(rate, expected):
    one = {OFF: (rate, 3.0), UNMATCHED: (rate, 3.0), OFF_AGAIN: (rate, 3.0), HAPROXY: (100, 4.0)}
    assert states(runs_of(one, one, proto="h2"))[2:] == [expected, MET]


def test_every_peer_is_compared_with_telltale_and_with_itself_but_only_haproxy_has_gates():
    one = {OFF: (100, 4.0), UNMATCHED: (100, 4.0), OFF_AGAIN: (100, 4.0), "nginx": (50, 8.0), "nginx, on": (40, 10.0),
           "trafficserver": (25, 16.0), "trafficserver, on": (5, 80.0)}
    runs = runs_of(one, one)
    assert len(gates.verdicts(runs)) == 2
    text = report.report_text(runs)
    for label, ratio in (("off / nginx", "2.0000"), ("off / trafficserver", "4.0000"), ("nginx, on / nginx", "0.8000"),
                         ("trafficserver, on / trafficserver", "0.2000")):
        assert f"\n{label:<36}{ratio} (" in text


# ---- debug output that is on

def writing(name, *, rate=100.0, produced=1000, kept=1000, dropped=0, core_cpu=4.0, **named):
    """Three rounds of off at 100 requests/s and 4 us, and of one variant."""
    runs = runs_of(*[{OFF: (100.0, 4.0), OFF_AGAIN: (100.0, 4.0)}] * 3)
    mine = runs_of(*[{name: (rate, core_cpu)}] * 3)
    return runs + [dataclasses.replace(run, produced=produced, kept=kept, dropped=dropped, **named) for run in mine]


@pytest.mark.parametrize("name, least", [(RECORDER, 85), (BINARY, 70), (TEXT, 40), (CLIENT, 97)])
def test_each_way_of_writing_has_its_least_share_of_the_requests(name, least):
    assert states(writing(name, rate=least))[0] == MET
    assert states(writing(name, rate=least - 0.1))[0] == MISSED


@pytest.mark.parametrize("name, least", [(BINARY, 800), (TEXT, 500)])
def test_of_the_lines_produced_a_share_must_be_kept(name, least):
    assert states(writing(name, kept=least, dropped=1000 - least))[1:] == [MET, MET]
    assert states(writing(name, kept=least - 1, dropped=1001 - least))[1:] == [MISSED, MET]


@pytest.mark.parametrize("kept, dropped", [(900, 99), (900, 101), (1001, 0)])
@pytest.mark.parametrize("name", [BINARY, TEXT, CLIENT])
def test_one_line_unaccounted_for_in_one_run_is_a_missed_gate(name, kept, dropped):
    runs = writing(name)
    assert MISSED not in states(runs)
    runs[-1] = dataclasses.replace(runs[-1], kept=kept, dropped=dropped)
    assert states(runs)[-1] == MISSED
    assert f"at most {abs(1000 - kept - dropped)}" in gates.verdicts(runs)[-1].why


def test_one_line_missing_among_the_recorders_newest_is_a_missed_gate():
    runs = writing(RECORDER, kept=300)
    assert states(runs) == [MET, MET]
    runs[-1] = dataclasses.replace(runs[-1], gaps=1)
    assert states(runs) == [MET, MISSED]


@pytest.mark.parametrize("name", [RECORDER, BINARY, TEXT])
def test_one_drop_at_a_third_of_the_rate_is_a_missed_gate(name):
    slow = [run for run in writing(third(name), rate=33.0) if run.variant == third(name)]
    assert states(writing(name) + slow)[-1] == MET
    slow[1] = dataclasses.replace(slow[1], kept=999, dropped=1)
    assert states(writing(name) + slow)[-1] == MISSED


def test_with_only_some_tags_on_what_depends_on_their_number_is_not_judged():
    runs = writing(TEXT, rate=10, kept=1, dropped=998, all_tags=False)
    assert states(runs) == [NOT_JUDGED, NOT_JUDGED, MISSED]


def test_the_gate_of_requests_is_judged_where_the_generator_is_slow_and_the_cpu_time_stands_beside_it():
    runs = writing(TEXT, rate=50, core_cpu=5.0)
    runs = [dataclasses.replace(run, seconds=run.seconds * 1.1) for run in runs]
    judged = gates.verdicts(runs)[0]
    assert judged.state == MET
    assert "0.500; by CPU time on the proxy's core 0.800; generator-bound" in judged.why


def test_a_backend_with_a_core_of_its_own_does_not_count_to_the_proxys():
    run = Run(1, TEXT, 1000, 100.0, 1.0, 1_400_000_000, 0, backend_ns=600_000_000, backend_apart=True)
    assert (run.cpu_us_per_request, run.backend_us_per_request, run.core_us_per_request) == (1400, 600, 800)
    assert run.busy == 0.8
    together = dataclasses.replace(run, backend_apart=False)
    assert (together.core_us_per_request, together.busy) == (1400, 1.4)


def test_the_variants_of_a_measurement_follow_from_what_was_asked():
    assert own_variants([UNMATCHED], False) == [OFF, UNMATCHED, OFF_AGAIN]
    assert own_variants([OFF], False) == [OFF, OFF_AGAIN]
    assert own_variants([TEXT, CLIENT], True) == [OFF, OFF_AGAIN, TEXT, shared(TEXT), third(TEXT), CLIENT, shared(CLIENT)]
    assert all(variant in figures.VARIANTS for variant in own_variants([UNMATCHED, *WRITING], True))


def test_a_report_shows_both_cores_lines_and_losses():
    runs = writing(TEXT, kept=600, dropped=399) + writing(shared(TEXT), kept=500, dropped=500)[-3:]
    text = report.report_text(runs)
    assert f"\n{TEXT + ' / off':<36}1.0000 (" in text and f"\n{shared(TEXT) + ' / off':<36}1.0000 (" in text
    assert re.search(r"\ntext +1\.00 +1,000 +60\.0% +399 +1\n", text)
    assert re.search(r"\ntext, shared core +1\.00 +1,000 +50\.0% +500 +0\n", text)


def test_debug_lines_are_counted_and_those_of_the_library_are_not(tmp_path):
    line = b"[2026-11-30T10:00:00.123456Z] [worker-0] %s (%s) <http1/session.cc:95 (run)> {c1 t2} text [x] DEBUG (http)\n"
    (tmp_path / "log").write_bytes(line % (b"DEBUG", b"http") * 3 + line % (b"DEBUG", b"diag") + line % (b"NOTE", b"http")
                                   + b"[2026-11-30T10:00:00.123456Z] [main] NOTE serving\n")
    assert debug.count_lines(tmp_path / "log") == 3
    assert debug.count_lines_of(["cat", tmp_path / "log"]) == 3
    with pytest.raises(Failed, match="status 1: .*No such file"):
        debug.count_lines_of(["cat", str(tmp_path / "none")])


def test_lines_are_counted_across_the_pieces_a_file_is_read_in(tmp_path):
    (tmp_path / "log").write_bytes(b"[t] [w] DEBUG (http) %s\n" % (b"x" * 1000) * 9000)
    assert debug.count_lines(tmp_path / "log") == 9000


@pytest.mark.parametrize("lines_of, missing", [
    ({1: 2, 2: 6, 3: 6, 4: 9}, 0), ({1: 6, 2: 5, 3: 6, 4: 1}, 1), ({1: 6, 2: 6, 4: 6, 5: 6}, 6), ({1: 6, 2: 6, 3: 0, 4: 5, 5: 6}, 7),
])
def test_a_gap_in_the_recorders_lines_is_found(lines_of, missing):
    transactions = [transaction for transaction, count in lines_of.items() for _ in range(count)] + [0]
    assert debug.gaps(transactions) == (6, missing)


@pytest.mark.parametrize("transactions", [[], [0, 0], [1, 1, 2, 2], [1, 2, 3]])
def test_too_few_lines_of_the_recorder_are_no_evidence(transactions):
    with pytest.raises(Failed, match="too few"):
        debug.gaps(transactions)


def test_the_workers_lines_of_the_run_are_picked_from_a_dump():
    since, worker = "2026-11-30T10:00:00.000002Z", {"time": "2026-11-30T10:00:00.000002Z", "thread": "worker-0"}
    events = [worker | {"tag": "http", "connection": 7, "transaction": 3}, worker | {"thread": "main", "tag": "control"},
              worker | {"tag": "diag", "lost": 3}, {"time": since, "tag": "diag"}, worker | {"tag": "http1"},
              worker | {"time": "2026-11-30T10:00:00.000001Z", "tag": "http", "transaction": 2}]
    text = "".join(json.dumps(event) + "\n" for event in events)
    assert debug.transactions_of_dump(text, since) == [3, 0]


class OneClient:
    """Serves one connection with the same answer to each request, `answers` times, and then closes it."""

    def __init__(self, answer, answers):
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self.served, self.address = 0, None
        self._thread = threading.Thread(target=self._serve, args=(answer, answers), daemon=True)
        self._thread.start()

    def _serve(self, answer, answers):
        connection, (self.address, _) = self._server.accept()
        with connection:
            while self.served < answers and connection.recv(65536).endswith(b"\r\n\r\n"):
                self.served += 1
                for part in answer:
                    connection.sendall(part)

    def close(self):
        self._thread.join(20)
        self._server.close()


def test_the_followed_client_comes_from_its_own_address_and_counts_what_was_answered():
    server = OneClient([b"HTTP/1.1 200 OK\r\nContent-", b"Length: 5\r\n\r\nhe", b"llo"], 10**9)
    client = FollowedClient(server.port, "/x", address="127.0.0.2", core=min(os.sched_getaffinity(0)), rate=10_000)
    with client:
        wait_until(lambda: client.requests >= 5, "five answers")
    server.close()
    assert server.address == "127.0.0.2"
    assert client.requests == server.served


@pytest.mark.parametrize("answer, why", [(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", "an answer began with b'HTTP/1.1 500"),
                                         (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "the proxy closed its connection")])
def test_a_followed_client_that_is_not_served_is_a_failure(answer, why):
    server = OneClient([answer], 1)
    client = FollowedClient(server.port, "/x", address="127.0.0.2", core=min(os.sched_getaffinity(0)), rate=10_000)
    with pytest.raises(Failed, match=why):
        with client:
            wait_until(lambda: client.failure, "its failure")
    server.close()


@pytest.mark.parametrize("name, fact", [
    (TEXT, "kept + counted drops = produced"), (BINARY, "kept + counted drops = produced"),
    (CLIENT, "kept + counted drops = produced"), (RECORDER, "each thread's newest lines are all there"),
])
def test_no_line_is_lost_uncounted_while_it_is_measured(name, fact):
    done = load("--debug", name, "--rounds", "1", "--requests", "6400", "--share-core",
                env={**os.environ, "TELLTALE_BUILD": str(BUILD)})
    assert done.returncode == 0, done.stderr
    judged = [line for line in done.stdout.splitlines() if f"{name}" in line and fact in line]
    assert len(judged) == 1 and judged[0].startswith("met"), done.stdout


@pytest.mark.parametrize("name", figures.PEER_NAMES)
def test_every_peer_has_a_configuration_without_a_gap(name):
    assert list(PEERS) == list(figures.PEER_NAMES)
    files = {"haproxy": "haproxy.cfg", "nginx": "nginx.conf", "trafficserver": "trafficserver.config"}
    wanted = {"TT_PROXY_PORT": "1", "TT_PROXY_H2_PORT": "2", "TT_ORIGIN_PORT": "3", "TT_FOLDER": "/f", "TT_DEBUG": "0"}
    assert "TT_" not in PEERS[name].configuration(files[name], wanted).replace("${TT_...}", "")


def test_a_peer_is_named_with_the_way_to_install_it(monkeypatch):
    monkeypatch.setattr(PEERS["nginx"], "binary", "no-such-program")
    with pytest.raises(Failed, match="./tt load --against nginx installs it"):
        PEERS["nginx"].program()


class Resting(Peer):
    """A stand-in that only accepts connections, as a peer."""
    name, binary = "resting", "python3"

    def __init__(self, folder):
        port = free_port()
        code = f"import socket, time; s = socket.create_server(('127.0.0.1', {port})); time.sleep(600)"
        super().__init__(["-c", code], port, folder=folder, core=min(os.sched_getaffinity(0)))

    def state(self):
        return pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_peer_rests_but_while_it_is_measured_and_ends_from_rest(tmp_path):
    peer = Resting(tmp_path)
    wait_until(lambda: peer.state() == "T", "its rest")
    with peer.awake():
        wait_until(lambda: peer.state() != "T", "its waking")
    wait_until(lambda: peer.state() == "T", "its rest")
    peer.close()
    assert children_of(os.getpid()) == []


def test_a_report_shows_each_variant_and_says_when_it_is_no_evidence():
    text = report.report_text(alike(4.0, 4.0, waited=0.2))
    assert all(f"\n{variant:<23}100 (100 .. 100)" in text for variant in (OFF, UNMATCHED, OFF_AGAIN))
    assert "disturbed" in text and "few rounds" in text
    quiet = report.report_text(runs_of(*[{OFF: (9, 4), UNMATCHED: (9, 4), OFF_AGAIN: (9, 4)}] * 10))
    assert "disturbed" not in quiet and "few rounds" not in quiet


def test_saved_results_hold_every_run():
    runs = alike(4.0, 4.0)
    content = json.loads(json.dumps(report.saved({"cpu": "x"}, {"seed": 1}, runs)))
    assert [run["variant"] for run in content["runs"]] == [run.variant for run in runs]
    assert content["runs"][0]["cpu_us_per_request"] == 4.0


# ---- the command

@pytest.mark.parametrize("arguments, why", [
    (["--proto", "h3"], "no protocol 'h3'"),
    (["--rounds", "0"], "'0' is not a whole number from 1"), (["--rounds", "2.5"], "'2.5' is not a whole number"),
    (["--requests", "63"], "--requests 63 leaves some of 64 connections"), (["--size", "1000001"], "'1000001'"),
    (["--against", "squid"], "squid"), (["--debug", "loud"], "loud"),
    (["--tags", "http"], "--tags says how to measure what writes: give --debug recorder, binary, text or client"),
    (["--share-core", "--debug", "unmatched"], "--share-core says how"),
    (["--debug", "client", "--proto", "h2"], "HTTP/1.1: not with --proto h2"),
    (["--debug", "client", "--connections", "1", "--requests", "5"], "not with --connections 1"),
    (["--save", "../x"], "'../x' is not a name"),
])
def test_a_wrong_command_line_is_refused_with_the_reason(arguments, why):
    done = load(*arguments)
    assert done.returncode == 2
    assert why in done.stderr


def test_without_a_build_it_says_what_to_do(tmp_path):
    done = load(env={**os.environ, "TELLTALE_BUILD": str(tmp_path)})
    assert done.returncode == 3
    assert "./tt build" in done.stderr


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)])
def test_interrupted_or_killed_it_leaves_no_process(tmp_path, number, status):
    stand_in(tmp_path, f"[[ $1 == --version ]] && exit; touch {tmp_path}/runs; exec sleep 600")
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "TELLTALE_BUILD": str(BUILD),
                   "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, LOAD / "load.py"], env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            wait_until(lambda: (tmp_path / "runs").exists() or process.poll() is not None, "the first run", 60)
            children = children_of(process.pid)
        finally:
            process.send_signal(number)
            words = process.stderr.read().decode()
        assert process.wait(60) == status, words
    assert len(children) == 3, words  # origin, proxy, generator
    wait_until(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in children), "their ends")


def test_a_generator_that_shows_nothing_is_a_failure(tmp_path):
    stand_in(tmp_path, "exit 0")
    done = load(env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "TELLTALE_BUILD": str(BUILD)})
    assert done.returncode == 3
    assert "h2load printed no result" in done.stderr
