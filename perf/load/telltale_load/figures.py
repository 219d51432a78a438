# SPDX-License-Identifier: Apache-2.0
"""Runs, what is computed from them, and the gates.

A machine's speed drifts within minutes, so variants are never compared by their medians: a ratio is taken
within each round, where they ran one after the other, and the median is that of the ratios. "off again"
against "off" is a comparison of a thing with itself; its ratios are the noise.
"""
import statistics
from dataclasses import dataclass

OFF, UNMATCHED, OFF_AGAIN, MATCHED = "off", "on, unmatched", "off again", "on, matched"
HAPROXY = "haproxy"  # the peer with gates
PEER_NAMES = (HAPROXY, "nginx", "trafficserver")

BUSY = 0.95  # a proxy whose core is less busy could have served more than the generator asked for
DISTURBED = 0.03  # share of a run for which the proxy was ready to run and did not: other work on its core
ALIKE = 0.01
RATE_AGAINST_PEER, CPU_AGAINST_PEER = {"h1": 1.2, "h2": 1.4}, 0.75  # least requests/s by protocol, most CPU
MET, MISSED, NOT_JUDGED = "met", "MISSED", "not judged"


def peer_on(peer):
    """The variant of a peer whose own debug output is on and matches nothing."""
    return f"{peer}, on"


VARIANTS = [OFF, UNMATCHED, OFF_AGAIN, MATCHED, *(name for peer in PEER_NAMES for name in (peer, peer_on(peer)))]


@dataclass(frozen=True)
class Run:
    round: int
    variant: str
    requests: int
    requests_per_second: float
    seconds: float
    cpu_ns: int  # of the whole process of the proxy
    waited_ns: int
    lines_written: int = 0
    records_dropped: int = 0
    proto: str = "h1"

    @property
    def cpu_us_per_request(self):
        return self.cpu_ns / 1000 / self.requests

    @property
    def busy(self):
        """Share of the run's time for which the proxy had its core."""
        return self.cpu_ns / 1e9 / self.seconds

    @property
    def waited(self):
        return self.waited_ns / 1e9 / self.seconds


@dataclass(frozen=True)
class Spread:
    median: float
    low: float
    high: float
    first_quartile: float
    third_quartile: float

    @classmethod
    def of(cls, values):
        values = sorted(values)
        first, _, third = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
        return cls(statistics.median(values), values[0], values[-1], first, third)

    def distance(self, point):
        """How far from the point the middle half of the values reaches."""
        return max(abs(self.first_quartile - point), abs(self.third_quartile - point))


@dataclass(frozen=True)
class Verdict:
    gate: str
    state: str  # MET, MISSED or NOT_JUDGED
    why: str


def of_variant(runs, variant, figure):
    """Spread of a figure (the name of a field or property of Run) over the runs of a variant."""
    return Spread.of([getattr(run, figure) for run in runs if run.variant == variant])


def ratios(runs, variant, base, figure):
    """Spread of figure(variant) / figure(base), taken within each round."""
    of = {(run.round, run.variant): getattr(run, figure) for run in runs}
    return Spread.of([of[number, variant] / of[number, base] for number, name in of if name == variant])


def generator_bound(runs, *variants):
    """Those of the variants under which the proxy's core was not busy: their requests/s are the generator's."""
    return [name for name in variants if of_variant(runs, name, "busy").median < BUSY]


def verdicts(runs):
    """The gates that these runs can answer."""
    found = [_alike(runs, "requests_per_second", "requests/s"), _alike(runs, "cpu_us_per_request", "CPU per request")]
    if any(run.variant == HAPROXY for run in runs):
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
    return Verdict(gate, MET if abs(median - 1) <= max(ALIKE, noise) else MISSED, why)


def _rate_against_peer(runs):
    least = RATE_AGAINST_PEER[runs[0].proto]
    gate = f"{OFF} / {HAPROXY}, requests/s: at least {least}"
    median = ratios(runs, OFF, HAPROXY, "requests_per_second").median
    bound = generator_bound(runs, OFF, HAPROXY)
    if bound:
        return Verdict(gate, NOT_JUDGED, f"{median:.3f}; generator-bound: {'; '.join(bound)}")
    return Verdict(gate, MET if median >= least else MISSED, f"{median:.3f}")


def _cpu_against_peer(runs):
    gate = f"{OFF} / {HAPROXY}, CPU per request: at most {CPU_AGAINST_PEER}"
    median = ratios(runs, OFF, HAPROXY, "cpu_us_per_request").median
    return Verdict(gate, MET if median <= CPU_AGAINST_PEER else MISSED, f"{median:.3f}")
