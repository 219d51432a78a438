# SPDX-License-Identifier: Apache-2.0
"""The gates of ./tt load."""
from dataclasses import dataclass

from .figures import (BINARY, CLIENT, HAPROXY, OFF, OFF_AGAIN, RECORDER, TEXT, UNMATCHED, WRITING, generator_bound,
                      of_debug, of_variant, ratios, third)

ALIKE = 0.01
RATE_AGAINST_PEER, CPU_AGAINST_PEER = {"h1": 1.2, "h2": 1.4}, 0.75  # least requests/s by protocol, most CPU
RATE_AGAINST_OFF = {RECORDER: 0.85, BINARY: 0.70, TEXT: 0.40, CLIENT: 0.97}
KEPT_OF_PRODUCED = {BINARY: 0.80, TEXT: 0.50}
MET, MISSED, NOT_JUDGED = "met", "MISSED", "not judged"


@dataclass(frozen=True)
class Verdict:
    gate: str
    state: str  # MET, MISSED or NOT_JUDGED
    why: str


def verdict(gate, met, why):
    return Verdict(gate, MET if met else MISSED, why)


def verdicts(runs):
    """The gates that these runs can answer."""
    found = []
    there = {run.variant for run in runs}
    if UNMATCHED in there:
        found += [_alike(runs, "requests_per_second", "requests/s"),
                  _alike(runs, "cpu_us_per_request", "CPU per request")]
    for name in WRITING:
        if name in there:
            found += _of_writing(runs, name)
    if HAPROXY in there:
        found += [_rate_against_peer(runs), _cpu_against_peer(runs)]
    return found


def _alike(runs, figure, words):
    gate = f"{UNMATCHED} / {OFF}, {words}: within {ALIKE:.0%}, or within the noise where that is wider"
    median = ratios(runs, UNMATCHED, OFF, figure).median
    noise = ratios(runs, OFF_AGAIN, OFF, figure).distance(1)
    why = f"{median:.4f}; noise ({OFF_AGAIN} / {OFF}, its middle half) {noise:.2%}"
    bound = generator_bound(runs, OFF, UNMATCHED) if figure == "requests_per_second" else []
    if bound:
        return Verdict(gate, NOT_JUDGED, f"{why}; generator-bound: {'; '.join(bound)}")
    return verdict(gate, abs(median - 1) <= max(ALIKE, noise), why)


def _of_writing(runs, name):
    mine = [run for run in runs if run.variant == name]
    found = [_rate_against_off(runs, name)]
    if name in KEPT_OF_PRODUCED:
        least = KEPT_OF_PRODUCED[name]
        kept = of_variant(runs, name, "kept_share").median
        found.append(_if_all_tags(mine, verdict(f"{name}, kept of produced: at least {least:.0%}", kept >= least,
                                                f"{kept:.1%}")))
    if name == RECORDER:
        gaps = sum(run.gaps for run in runs if of_debug(run.variant) == RECORDER)
        found.append(verdict(f"{name}: each thread's newest lines are all there", gaps == 0, f"{gaps:,} missing"))
    else:
        lost = [run.unaccounted for run in runs if of_debug(run.variant) == name]
        worst = max(lost, key=abs)
        found.append(verdict(f"{name}, kept + counted drops = produced, in every run", worst == 0,
                             f"{len(lost)} runs; unaccounted at most {abs(worst):,}"))
    slow = [run for run in runs if run.variant == third(name)]
    if slow:
        dropped = sum(run.dropped for run in slow)
        found.append(_if_all_tags(slow, verdict(f"{third(name)} of the rate of {OFF}: no drop", dropped == 0,
                                                f"{dropped:,} dropped of {sum(run.produced for run in slow):,}")))
    return found


def _rate_against_off(runs, name):
    """Judged by requests/s, also where the generator was the slower one: generator, worker and backend share the
    cores, and that is what the gate is about. What the worker's core alone says stands beside it."""
    least = RATE_AGAINST_OFF[name]
    median = ratios(runs, name, OFF, "requests_per_second").median
    by_cpu = 1 / ratios(runs, name, OFF, "core_us_per_request").median
    bound = generator_bound(runs, OFF, name)
    why = f"{median:.3f}; by CPU time on the proxy's core {by_cpu:.3f}"
    if bound:
        why += f"; generator-bound: {'; '.join(bound)}"
    return _if_all_tags([run for run in runs if run.variant == name],
                        verdict(f"{name} / {OFF}, requests/s: at least {least}", median >= least, why))


def _if_all_tags(runs, judged):
    if all(run.all_tags for run in runs):
        return judged
    return Verdict(judged.gate, NOT_JUDGED, f"{judged.why}; only some tags were on")


def _rate_against_peer(runs):
    least = RATE_AGAINST_PEER[runs[0].proto]
    gate = f"{OFF} / {HAPROXY}, requests/s: at least {least}"
    median = ratios(runs, OFF, HAPROXY, "requests_per_second").median
    bound = generator_bound(runs, OFF, HAPROXY)
    if bound:
        return Verdict(gate, NOT_JUDGED, f"{median:.3f}; generator-bound: {'; '.join(bound)}")
    return verdict(gate, median >= least, f"{median:.3f}")


def _cpu_against_peer(runs):
    gate = f"{OFF} / {HAPROXY}, CPU per request: at most {CPU_AGAINST_PEER}"
    median = ratios(runs, OFF, HAPROXY, "cpu_us_per_request").median
    return verdict(gate, median <= CPU_AGAINST_PEER, f"{median:.3f}")
