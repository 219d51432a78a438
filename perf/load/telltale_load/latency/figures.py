# SPDX-License-Identifier: Apache-2.0
"""How long requests took, undisturbed and in trouble; and the gates.

As in ./tt load, what is compared ran in one round, and the median of the ratios is judged.
"""
import math
from dataclasses import dataclass

from ..figures import OFF, OFF_AGAIN, of_variant, ratios
from ..gates import verdict

P99_MOST, THROUGHPUT_LEAST = 1.25, 0.97  # against OFF
ANSWER_S_MOST = 1.0  # of ttctl, where that is judged
TROUBLED = "trouble"
HARMLESS = "harmless pattern"
VARIANTS = (OFF, OFF_AGAIN, HARMLESS, TROUBLED)


@dataclass(frozen=True)
class Run:
    round: int
    trouble: str  # which kind of it is tried
    variant: str
    requests: int
    requests_per_second: float
    p50_us: int
    p99_us: int
    longest_us: int
    answers: int = 0  # of ttctl meanwhile
    longest_answer_s: float = 0.0
    produced: int = 0  # debug lines
    lost: int = 0  # of these, counted as such


@dataclass(frozen=True)
class Fact:
    """What was seen to be so or not, apart from any timing."""
    trouble: str
    what: str
    met: bool
    why: str


def percentile(times, share):
    """The time that this share of the times does not exceed: nearest rank."""
    ordered = sorted(times)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def verdicts(runs, facts):
    """One list for all kinds of trouble."""
    found = []
    for trouble in dict.fromkeys([run.trouble for run in runs]):
        mine = [run for run in runs if run.trouble == trouble]
        p99 = ratios(mine, TROUBLED, OFF, "p99_us").median
        noise = ratios(mine, OFF_AGAIN, OFF, "p99_us").median
        rate = ratios(mine, TROUBLED, OFF, "requests_per_second").median
        found += [verdict(f"{trouble}: p99 at most {P99_MOST} times that of {OFF}", p99 <= P99_MOST,
                          f"{p99:.3f}; {OFF_AGAIN} {noise:.3f}"),
                  verdict(f"{trouble}: throughput at least {THROUGHPUT_LEAST} of that of {OFF}",
                          rate >= THROUGHPUT_LEAST, f"{rate:.4f}")]
        if any(run.variant == HARMLESS for run in mine):
            slowest = of_variant(mine, TROUBLED, "longest_answer_s").high
            answers = sum(run.answers for run in mine if run.variant == TROUBLED)
            found.append(verdict(f"{trouble}: ttctl refused or answered within {ANSWER_S_MOST:g} s",
                                 answers > 0 and slowest <= ANSWER_S_MOST, f"{answers} times, the slowest {slowest:.3f} s"))
    return found + [verdict(f"{fact.trouble}: {fact.what}", fact.met, fact.why) for fact in facts]
