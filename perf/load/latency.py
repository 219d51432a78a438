#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./tt load latency: how long do requests take while a sink does not take lines, or a pattern is hard to match?

perf/README.md says what is measured and how to read it. Exit status: as load.py.
"""
import argparse
import dataclasses
import json
import pathlib
import sys
import tempfile

from telltale_load import Failed, command, gates, machine, report
from telltale_load.figures import of_variant, ratios
from telltale_load.latency.figures import OFF, VARIANTS, verdicts
from telltale_load.latency.journald import AbsentJournald, StoppedJournald
from telltale_load.latency.measurement import Measurement
from telltale_load.latency.pattern import Pattern
from telltale_load.latency.trouble import SINKS
from telltale_load.servers import Origin

TROUBLES = {kind.name: kind for kind in (*SINKS, StoppedJournald, AbsentJournald, Pattern)}


def settings_of(arguments):
    parser = argparse.ArgumentParser(
        prog="./tt load latency", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measures how long requests for a cached object take, at half the requests/s that are served with debug\n"
                    "off: undisturbed, and in trouble, in alternation. Kinds of trouble:\n\n"
                    + "\n".join(f"  {name:<16}{kind.words}" for name, kind in TROUBLES.items()),
        epilog=command.EXIT_STATUS)
    command.add_common_options(parser)
    parser.add_argument("--trouble", action="append", choices=list(TROUBLES), default=[],
                        help="only this kind; may be given several times")
    settings = parser.parse_args(arguments)
    command.check_common_options(parser, settings)
    settings.trouble = list(dict.fromkeys(settings.trouble)) or list(TROUBLES)
    return settings


def report_text(runs, facts, skipped):
    out = [f"{len({run.round for run in runs})} rounds; median (lowest .. highest)"]
    for trouble in dict.fromkeys(run.trouble for run in runs):
        mine = [run for run in runs if run.trouble == trouble]
        out += ["", f"{trouble}: {TROUBLES[trouble].words}",
                f"{'variant':<20}{'p99, us':<28}{'p50, us':<10}{'longest, us':<13}{'requests/s':<12}{'p99 / off':<26}requests/s / off"]
        for name in (name for name in VARIANTS if any(run.variant == name for run in mine)):
            p99 = of_variant(mine, name, "p99_us")
            p99_text = f"{p99.median:,.0f} ({p99.low:,.0f} .. {p99.high:,.0f})"
            ratio, rate = ratios(mine, name, OFF, "p99_us"), ratios(mine, name, OFF, "requests_per_second")
            ratio_text = f"{ratio.median:.3f} ({ratio.low:.3f} .. {ratio.high:.3f})"
            out.append(f"{name:<20}{p99_text:<28}{of_variant(mine, name, 'p50_us').median:<10,.0f}"
                       f"{of_variant(mine, name, 'longest_us').high:<13,.0f}"
                       f"{of_variant(mine, name, 'requests_per_second').median:<12,.0f}{ratio_text:<26}{rate.median:.4f}")
    out.append("")
    if len({run.round for run in runs}) < report.FEW_ROUNDS:
        out += [report.FEW_ROUNDS_TEXT, ""]
    out += [f"{'skipped':<12}{name}: {why}" for name, why in skipped.items()]
    out += [f"{one.state:<12}{one.gate}: {one.why}" for one in verdicts(runs, facts)]
    return "\n".join(out) + "\n"


def measure(settings, facts):
    """Runs, what was seen besides, and what could not be tried."""
    placement = machine.place(*machine.usable_cores())
    facts.update(machine.facts(command.ROOT, placement))
    skipped = {name: why for name in settings.trouble if (why := TROUBLES[name].missing())}
    if set(skipped) == set(settings.trouble):
        raise Failed("; ".join(f"{name}: {why}" for name, why in skipped.items()))
    runs, seen = [], []
    programs = command.programs()
    with tempfile.TemporaryDirectory(prefix="tt-latency-") as name:
        folder = pathlib.Path(name)
        origin = Origin(programs, folder, placement.others)
        try:
            for kind in (TROUBLES[name] for name in settings.trouble if name not in skipped):
                with kind(programs=programs, build=command.build(), folder=folder, placement=placement,
                          origin_port=origin.port) as trouble:
                    measurement = Measurement(trouble, settings, folder=folder, placement=placement)
                    runs += measurement.measure()
                    seen += measurement.facts
                    facts[kind.name] = f"{measurement.requests:,} requests in each run, at {measurement.rate:,.0f} a second"
        finally:
            origin.close()
    facts["seed"] = settings.seed
    return runs, seen, skipped


def run(settings):
    facts = {}
    runs, seen, skipped = measure(settings, facts)
    print(report.facts_text(facts))
    print(report_text(runs, seen, skipped), end="")
    judged = verdicts(runs, seen)
    if settings.save:
        command.save(settings.save, json.dumps(
            {"version": 1, "facts": facts, "settings": vars(settings), "skipped": skipped,
             "verdicts": [dataclasses.asdict(one) for one in judged],
             "runs": [dataclasses.asdict(one) for one in runs]}, indent=1) + "\n")
    return 1 if settings.gate and any(one.state == gates.MISSED for one in judged) else 0


if __name__ == "__main__":
    chosen = settings_of(sys.argv[1:])
    sys.exit(command.exit_status("tt load latency", lambda: run(chosen)))
