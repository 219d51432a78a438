#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./tt bench idle: what a daemon that has nothing to do takes, with debug on and every sink in use.

All tags go to stdout, stderr, the text log and the binary log, and are armed for the flight recorder; some requests have
made lines. Then nothing happens for ten seconds. Time comes from the scheduler's own count of each thread (schedstat),
wake-ups from its voluntary context switches. It is the median of three stretches, as somebody may ask in one.

Exit status: 0 measured, 1 a gate was missed, 3 nothing could be measured.
"""
import pathlib
import statistics
import sys
import tempfile
import time

from telltale_load import Failed, machine
from telltale_load.command import programs
from telltale_load.servers import Origin, fetch
from telltale_load.telltale import Telltale

STRETCH_S, STRETCHES = 10, 3
CORE_SHARE_MAX = 0.005
WAKE_UPS_MAX = 50  # a second
SETTLE_S = 2
ROUTES = "OELB"
OUTPUT = "proxy.config.diags.output."
BACKEND = "telltale-diag"


def wake_ups(pid, tid):
    status = pathlib.Path(f"/proc/{pid}/task/{tid}/status").read_text("ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("voluntary_ctxt_switches"))


def look(pid):
    """By thread: name, nanoseconds it ran, times it woke up."""
    return {one.tid: (one.name, one.ran_ns, wake_ups(pid, one.tid)) for one in machine.threads(pid)}


def stretch(pid):
    """By name of thread: share of a core and wake-ups a second while nothing happens."""
    before, start = look(pid), time.monotonic()
    time.sleep(STRETCH_S)
    after, took = look(pid), time.monotonic() - start
    found = {}
    for tid, (name, ran, woke) in after.items():
        _, ran_before, woke_before = before.get(tid, (name, 0, 0))
        share, rate = found.get(name, (0.0, 0.0))
        found[name] = (share + (ran - ran_before) / 1e9 / took, rate + (woke - woke_before) / took)
    return found


def measure(proxy):
    for level in ("debug", "status", "note", "warning", "error"):
        proxy.set_record(OUTPUT + level, ROUTES)
    proxy.set_record("proxy.config.telltale.recorder.tags", ".")
    if not proxy.debug_on("."):
        raise Failed("no tag is on with all of them armed")
    for n in range(200):
        fetch(proxy.port, f"/bytes/1?n={n % 10}")
    lines = proxy.settled_output()["lines written"]
    if lines < 200:
        raise Failed(f"200 requests made {lines} lines")
    time.sleep(SETTLE_S)
    return [stretch(proxy.pid) for _ in range(STRETCHES)]


def report(stretches):
    good = True
    names = sorted({name for found in stretches for name in found})
    print(f"median of {STRETCHES} stretches of {STRETCH_S} s    share of a core    wake-ups a second")

    def line(name, shares, rates):
        share, rate = statistics.median(shares), statistics.median(rates)
        print(f"  {name:28} {share:14.3%} {rate:20.1f}")
        return share, rate

    for name in names:
        line(name, *zip(*(found.get(name, (0.0, 0.0)) for found in stretches)))
    sums = [(sum(s for s, _ in found.values()), sum(r for _, r in found.values())) for found in stretches]
    share, rate = line("all threads", *zip(*sums))
    for met, text in ((share < CORE_SHARE_MAX, f"{share:.3%} of a core, below {CORE_SHARE_MAX:.1%}"),
                      (rate < WAKE_UPS_MAX, f"{rate:.1f} wake-ups a second, below {WAKE_UPS_MAX}")):
        good = good and met
        print(f"{'met   ' if met else 'MISSED'}  the whole daemon: {text}")
    return good


def main():
    try:
        with tempfile.TemporaryDirectory(prefix="tt-idle-") as name:
            folder = pathlib.Path(name)
            placement = machine.place(*machine.usable_cores())
            origin = Origin(programs(), folder, placement.others)
            try:
                proxy = Telltale(programs(), folder / "telltale", placement.proxy, origin.port, others=[placement.others])
                try:
                    return 0 if report(measure(proxy)) else 1
                finally:
                    proxy.close()
            finally:
                origin.close()
    except Failed as failure:
        print(f"tt bench idle: {failure}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
