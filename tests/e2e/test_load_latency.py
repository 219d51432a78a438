# SPDX-License-Identifier: Apache-2.0
"""What ./tt load latency concludes is believed; and what it sees besides any timing is so."""
import dataclasses
import os
import re

import pytest

from telltale_e2e.load import load
from telltale_e2e.process import BUILD

from telltale_load.gates import MET, MISSED
from telltale_load.latency import figures as latency, strace
from telltale_load.latency.trouble import FullDisk


def test_a_percentile_is_a_time_that_was_measured():
    times = list(range(1, 101))
    assert [latency.percentile(times, share) for share in (0, 0.5, 0.99, 1)] == [1, 50, 99, 100]
    assert latency.percentile([5], 0.99) == 5
    assert latency.percentile([1] * 98 + [7, 9], 0.99) == 7


def latency_runs(p99, rate=100.0, **named):
    out = []
    for number in (1, 2, 3):
        for variant, share in ((latency.OFF, (100, 100.0)), (latency.OFF_AGAIN, (110, 100.0)),
                               (latency.TROUBLED, (p99, rate))):
            out.append(latency.Run(number, "pipe", variant, 1000, share[1], 50, share[0] * number, 900, **named))
    return out


@pytest.mark.parametrize("p99, rate, expected", [
    (125, 97.0, [MET, MET]), (126, 97.0, [MISSED, MET]), (125, 96.9, [MET, MISSED]), (50, 200.0, [MET, MET])])
def test_gates_of_latency_and_throughput_in_trouble(p99, rate, expected):
    assert [one.state for one in latency.verdicts(latency_runs(p99, rate), [])] == expected


@pytest.mark.parametrize("slowest, answers, expected", [(1.0, 3, MET), (1.001, 3, MISSED), (0.0, 0, MISSED)])
def test_ttctl_must_answer_within_a_second_where_that_is_judged(slowest, answers, expected):
    runs = latency_runs(100, answers=answers, longest_answer_s=slowest)
    runs += [dataclasses.replace(run, variant=latency.HARMLESS) for run in runs if run.variant == latency.OFF]
    assert latency.verdicts(runs, [])[2].state == expected


def test_a_fact_that_is_none_is_a_missed_gate():
    facts = [latency.Fact("pipe", "what is lost is counted", met, "so") for met in (True, False)]
    assert [one.state for one in latency.verdicts(latency_runs(100), facts)[2:]] == [MET, MISSED]


def test_calls_are_counted_by_descriptor_and_what_strings_say_is_no_descriptor():
    calls = strace.Calls("""\
epoll_wait(5<anon_inode:[eventpoll]>, [{events=EPOLLIN, data={u32=1, u64=1}}], 64, -1) = 1
recvfrom(9<socket:[77]>, "GET /\\"2</log>\\" HTTP/1.1", 4096, 0, NULL, NULL) = 20
[pid  7] writev(2<pipe:[5]>, [{iov_base="x", iov_len=1}], 1) = 1
epoll_ctl(5<anon_inode:[eventpoll]>, EPOLL_CTL_ADD, 2<pipe:[5]>, {events=0}) = 0
write(3</var/log/a b>, "y", 1)          = 1
futex(0x7f00, FUTEX_WAKE_PRIVATE, 1)    = 1
strace: Process 7 detached
""")
    assert dict(calls.counts) == {"epoll_wait": 1, "recvfrom": 1, "writev": 1, "epoll_ctl": 1, "write": 1, "futex": 1}
    assert dict(calls.on["pipe:[5]"]) == {"writev": 1, "epoll_ctl": 1}
    assert dict(calls.on["/var/log/a b"]) == {"write": 1}
    assert "/log" not in calls.on


@pytest.mark.parametrize("trouble", ["pipe", "stopped-reader", "full-device", "full-disk", "stopped-journald", "absent-journald", "pattern"])
def test_in_each_kind_of_trouble_the_daemon_answers_counts_and_recovers(trouble):
    if trouble == "full-disk" and FullDisk.missing():
        pytest.skip(FullDisk.missing())
    # As many as fill any ring, pipe or disk of it.
    done = load("--trouble", trouble, "--rounds", "1", "--requests", "2560", script="latency.py",
                env={**os.environ, "TELLTALE_BUILD": str(BUILD)})
    assert done.returncode == 0, done.stderr
    facts = [line for line in done.stdout.splitlines() if re.match(rf"(met|MISSED) +{trouble}: ", line)
             and " times that of " not in line and "throughput" not in line and "within 1 s" not in line]
    assert len(facts) == (1 if trouble == "pattern" else 4), done.stdout
    assert all(line.startswith("met") for line in facts), facts


@pytest.mark.parametrize("arguments, why", [
    (["--trouble", "flood"], "flood"), (["--rounds", "0"], "'0' is not a whole number"),
    (["--requests", "63"], "--requests 63 leaves some of 64 connections"), (["--debug", "text"], "--debug"),
])
def test_a_wrong_command_line_of_latency_is_refused_with_the_reason(arguments, why):
    done = load(*arguments, script="latency.py")
    assert done.returncode == 2
    assert why in done.stderr
