#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./tt load: what does debug output cost while it is off, and how does Telltale stand beside another proxy?

perf/README.md says what is measured and how to read it. Exit status: 0 measured; 1 a gate was missed, with
--gate; 2 wrong command line; 3 nothing could be measured; 130 interrupted.
"""
import argparse
import json
import os
import pathlib
import random
import re
import signal
import sys
import tempfile

from telltale_load import Failed, figures, h2load, machine, report
from telltale_load.alternation import Alternation
from telltale_load.peers import PEERS

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "perf" / "results"


def _between(low, high):
    def number(text):
        if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from {low:,} to {high:,}")
        return int(text)
    return number


def _protocol(text):
    if text not in h2load.PROTOCOLS:
        raise argparse.ArgumentTypeError(f"there is no protocol '{text}'; h1 is HTTP/1.1, h2 is HTTP/2")
    return text


def _name(text):
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a name of letters, digits, '.', '_' and '-'")
    if (RESULTS / f"{text}.json").exists():
        raise argparse.ArgumentTypeError(f"perf/results/{text}.json exists, and results are not overwritten")
    return text


def settings_of(arguments):
    parser = argparse.ArgumentParser(
        prog="./tt load",
        description="Measures a cached object through one proxy on one core, with debug off, on but matching no "
                    "tag, and off again, in alternation.",
        epilog="Exit status: 0 measured, 1 a gate was missed (with --gate), 2 wrong command line, 3 nothing could "
               "be measured.")
    parser.add_argument("--rounds", type=_between(1, 1000), default=10,
                        help="each runs every variant once; 10 by default")
    parser.add_argument("--requests", type=_between(1, 100_000_000),
                        help="in each run; by default as many as take about 2 s")
    parser.add_argument("--connections", type=_between(1, 10_000), default=64, help="64 by default")
    parser.add_argument("--size", type=_between(1, 1_000_000), default=1024,
                        help="of the object, in bytes; 1024 by default")
    parser.add_argument("--proto", type=_protocol, default="h1",
                        help="h1: HTTP/1.1 (the default); h2: HTTP/2, ten streams on each connection")
    parser.add_argument("--tags", metavar="RE", help="also measure with debug on and this pattern of tags")
    parser.add_argument("--against", action="append", choices=list(PEERS), default=[],
                        help="also measure this proxy, in the same rounds, also with its own debug output on and matching "
                             "nothing where it has that; may be given for each of them")
    parser.add_argument("--seed", type=_between(0, 2**32), help="of the order within each round; by default random")
    parser.add_argument("--gate", action="store_true", help="exit status 1 if a gate is missed")
    parser.add_argument("--save", metavar="NAME", type=_name, help="write all runs to perf/results/NAME.json")
    settings = parser.parse_args(arguments)
    if settings.requests is not None and settings.requests < settings.connections:
        parser.error(f"--requests {settings.requests} leaves some of {settings.connections} connections without one")
    settings.against = list(dict.fromkeys(settings.against))
    if settings.seed is None:
        settings.seed = random.SystemRandom().randrange(1_000_000)
    return settings


def programs():
    """The folder of the programs; TELLTALE_BUILD names another build than ./tt build makes."""
    folder = pathlib.Path(os.environ.get("TELLTALE_BUILD", ROOT / "build" / "release")) / "bin"
    for name in ("telltale", "ttctl", "tt-origin"):
        if not (folder / name).exists():
            raise Failed(f"{folder / name} is not built; ./tt build does that")
    return folder


def _interrupt(_number, _frame):
    """The first signal ends the measurement in order; the next ones do not disturb that."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def measure(settings):
    placement = machine.place(*machine.usable_cores())
    facts = machine.facts(ROOT, placement)
    for name in settings.against:
        facts[name] = machine.first_line(PEERS[name].program(), PEERS[name].version_option)
        if PEERS[name].debug_words:
            facts[figures.peer_on(name)] = PEERS[name].debug_words
    with tempfile.TemporaryDirectory(prefix="tt-load-") as folder, \
            Alternation(settings, programs=programs(), folder=pathlib.Path(folder), placement=placement) as alternation:
        facts["each run"] = (f"{alternation.requests:,} requests, {settings.connections} connections, "
                             f"{h2load.PROTOCOLS[settings.proto].words}, "
                             f"{settings.size:,} bytes from the cache")
        facts["seed"] = settings.seed
        print(report.facts_text(facts), flush=True)
        return facts, alternation.measure()


def main():
    settings = settings_of(sys.argv[1:])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        facts, runs = measure(settings)
    except Failed as failure:
        print(f"tt load: {failure}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("tt load: interrupted", file=sys.stderr)
        return 130
    print(report.report_text(runs), end="")
    if settings.save:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{settings.save}.json").write_text(
            json.dumps(report.saved(facts, vars(settings), runs), indent=1) + "\n")
        print(f"saved to perf/results/{settings.save}.json")
    missed = any(verdict.state == figures.MISSED for verdict in figures.verdicts(runs))
    return 1 if settings.gate and missed else 0


if __name__ == "__main__":
    sys.exit(main())
