#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./tt load: what does debug output cost, off and on, and how does Telltale stand beside another proxy?

perf/README.md says what is measured and how to read it. Exit status: 0 measured; 1 a gate was missed, with
--gate; 2 wrong command line; 3 nothing could be measured; 130 interrupted.
"""
import argparse
import json
import pathlib
import sys
import tempfile

from telltale_load import command, figures, gates, h2load, machine, report
from telltale_load.alternation import Alternation
from telltale_load.debug import ALL_TAGS
from telltale_load.peers import PEERS

_DEBUG = {"off": figures.OFF, "unmatched": figures.UNMATCHED, **{name: name for name in figures.WRITING}}


def _protocol(text):
    if text not in h2load.PROTOCOLS:
        raise argparse.ArgumentTypeError(f"there is no protocol '{text}'; h1 is HTTP/1.1, h2 is HTTP/2")
    return text


def settings_of(arguments):
    parser = argparse.ArgumentParser(
        prog="./tt load",
        description="Measures a cached object through one proxy on one core, with debug off, on but matching no "
                    "tag, on and writing, and off again, in alternation. ./tt load latency measures how long requests "
                    "take while something is wrong; ./tt load latency --help says what.",
        epilog=command.EXIT_STATUS)
    command.add_common_options(parser)
    parser.add_argument("--proto", type=_protocol, default="h1",
                        help="h1: HTTP/1.1 (the default); h2: HTTP/2, ten streams on each connection")
    parser.add_argument("--debug", action="append", choices=list(_DEBUG), default=[],
                        help="what to measure beside off and off again; may be given several times. unmatched (the "
                             "default): on, and nothing matches; recorder: into the flight recorder alone; binary, "
                             "text: to that file; client: text of one connection's client; off: nothing besides")
    parser.add_argument("--tags", metavar="RE", default=ALL_TAGS,
                        help="which tags those that write turn on; by default all")
    parser.add_argument("--share-core", action="store_true",
                        help="also measure those that write with the backend thread on the worker's core")
    parser.add_argument("--against", action="append", choices=list(PEERS), default=[],
                        help="also measure this proxy, in the same rounds, also with its own debug output on and matching "
                             "nothing where it has that; may be given for each of them")
    settings = parser.parse_args(arguments)
    command.check_common_options(parser, settings)
    settings.against = list(dict.fromkeys(settings.against))
    settings.debug = [_DEBUG[name] for name in dict.fromkeys(settings.debug)] or [figures.UNMATCHED]
    if figures.CLIENT in settings.debug and settings.proto != "h1":
        parser.error("--debug client follows a client that speaks HTTP/1.1: not with --proto h2")
    if figures.CLIENT in settings.debug and settings.connections < 2:
        parser.error("--debug client follows one connection of several: not with --connections 1")
    if not set(settings.debug) & set(figures.WRITING):
        for option, given in (("--tags", settings.tags != ALL_TAGS), ("--share-core", settings.share_core)):
            if given:
                parser.error(f"{option} says how to measure what writes: give --debug {', '.join(figures.WRITING[:-1])} "
                             f"or {figures.WRITING[-1]} with it")
    return settings


def measure(settings):
    placement = machine.place(*machine.usable_cores())
    facts = machine.facts(command.ROOT, placement)
    for name in settings.against:
        facts[name] = machine.first_line(PEERS[name].program(), PEERS[name].version_option)
        if PEERS[name].debug_words:
            facts[figures.peer_on(name)] = PEERS[name].debug_words
    with tempfile.TemporaryDirectory(prefix="tt-load-") as folder, \
            Alternation(settings, programs=command.programs(), folder=pathlib.Path(folder),
                        placement=placement) as alternation:
        facts["each run"] = (f"{alternation.requests:,} requests, {settings.connections} connections, "
                             f"{h2load.PROTOCOLS[settings.proto].words}, "
                             f"{settings.size:,} bytes from the cache")
        if alternation.writes:
            facts["debug lines"] = (f"tags {settings.tags}, files on {machine.filesystem(folder)}; the backend may use "
                                    f"either core; a third is {alternation.third_rate:,.0f} requests/s")
        facts["seed"] = settings.seed
        print(report.facts_text(facts), flush=True)
        return facts, alternation.measure()


def run(settings):
    facts, runs = measure(settings)
    print(report.report_text(runs), end="")
    if settings.save:
        command.save(settings.save, json.dumps(report.saved(facts, vars(settings), runs), indent=1) + "\n")
    missed = any(verdict.state == gates.MISSED for verdict in gates.verdicts(runs))
    return 1 if settings.gate and missed else 0


if __name__ == "__main__":
    chosen = settings_of(sys.argv[1:])
    sys.exit(command.exit_status("tt load", lambda: run(chosen)))
