# SPDX-License-Identifier: Apache-2.0
"""What the commands of ./tt load have in common: values on the command line, where programs are, how they end."""
import argparse
import os
import pathlib
import random
import re
import signal
import sys

from . import Failed

ROOT = pathlib.Path(__file__).resolve().parents[3]
RESULTS = ROOT / "perf" / "results"
EXIT_STATUS = ("Exit status: 0 measured, 1 a gate was missed (with --gate), 2 wrong command line, 3 nothing could "
               "be measured.")


def between(low, high):
    """The type of an option: a whole number in these bounds."""
    def number(text):
        if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from {low:,} to {high:,}")
        return int(text)
    return number


def result_name(text):
    """The type of --save."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a name of letters, digits, '.', '_' and '-'")
    if (RESULTS / f"{text}.json").exists():
        raise argparse.ArgumentTypeError(f"perf/results/{text}.json exists, and results are not overwritten")
    return text


def add_common_options(parser):
    parser.add_argument("--rounds", type=between(1, 1000), default=10,
                        help="each runs every variant once; 10 by default")
    parser.add_argument("--requests", type=between(1, 100_000_000),
                        help="in each run; by default as many as take about 2 s")
    parser.add_argument("--connections", type=between(1, 10_000), default=64, help="64 by default")
    parser.add_argument("--size", type=between(1, 1_000_000), default=1024,
                        help="of the object, in bytes; 1024 by default")
    parser.add_argument("--seed", type=between(0, 2**32), help="of the order within each round; by default random")
    parser.add_argument("--gate", action="store_true", help="exit status 1 if a gate is missed")
    parser.add_argument("--save", metavar="NAME", type=result_name, help="write all runs to perf/results/NAME.json")


def check_common_options(parser, settings):
    """Refuses what does not go together, and chooses a seed where none was given."""
    if settings.requests is not None and settings.requests < settings.connections:
        parser.error(f"--requests {settings.requests} leaves some of {settings.connections} connections without one")
    if settings.seed is None:
        settings.seed = random.SystemRandom().randrange(1_000_000)


def build():
    """The build to measure; TELLTALE_BUILD names another than ./tt build makes."""
    return pathlib.Path(os.environ.get("TELLTALE_BUILD", ROOT / "build" / "release")).resolve()


def programs():
    """The folder of the programs."""
    folder = build() / "bin"
    for name in ("telltale", "ttctl", "tt-origin"):
        if not (folder / name).exists():
            raise Failed(f"{folder / name} is not built; ./tt build does that")
    return folder


def save(name, text):
    """Keeps a measurement in perf/results."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(text)
    print(f"saved to perf/results/{name}.json")


def _interrupt(_number, _frame):
    """The first signal ends the measurement in order; the next ones do not disturb that."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def exit_status(name, measure):
    """Runs measure() to its end, or to a signal's: the exit status."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        return measure()
    except Failed as failure:
        print(f"{name}: {failure}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        return 130
