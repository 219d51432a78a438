# SPDX-License-Identifier: Apache-2.0
"""Runs, and what is computed from them. The gates are in gates.py.

A machine's speed drifts within minutes, so variants are never compared by their medians: a ratio is taken
within each round, where they ran one after the other, and the median is that of the ratios. "off again"
against "off" is a comparison of a thing with itself; its ratios are the noise.
"""
import statistics
from dataclasses import dataclass

OFF, UNMATCHED, OFF_AGAIN = "off", "on, unmatched", "off again"
RECORDER, BINARY, TEXT, CLIENT = "recorder", "binary", "text", "client"  # debug output that is on
WRITING = (RECORDER, BINARY, TEXT, CLIENT)
HAPROXY = "haproxy"  # the peer with gates
PEER_NAMES = (HAPROXY, "nginx", "trafficserver")

BUSY = 0.95  # a proxy whose core is less busy could have served more than the generator asked for
DISTURBED = 0.03  # share of a run for which the proxy was ready to run and did not: other work on its core


def peer_on(peer):
    """The variant of a peer whose own debug output is on and matches nothing."""
    return f"{peer}, on"


def shared(variant):
    """The same with the backend on the worker's core."""
    return f"{variant}, shared core"


def third(variant):
    """The same at a third of the requests/s that are served with debug off."""
    return f"{variant}, at a third"


def of_debug(variant):
    """What of WRITING a variant is, whichever its core and rate; None: nothing of it."""
    return next((name for name in WRITING if variant in (name, shared(name), third(name))), None)


VARIANTS = [OFF, UNMATCHED, OFF_AGAIN,
            *(form for name in WRITING for form in (name, shared(name), third(name))),
            *(name for peer in PEER_NAMES for name in (peer, peer_on(peer)))]


@dataclass(frozen=True)
class Run:
    round: int
    variant: str
    requests: int
    requests_per_second: float
    seconds: float
    cpu_ns: int  # of the whole process of the proxy
    waited_ns: int  # of what belongs on the proxy's core
    proto: str = "h1"
    backend_ns: int = 0  # of cpu_ns, the debug writer's
    backend_apart: bool = False  # it had another core to run on
    all_tags: bool = True
    # Debug lines: how many the sites made, how many are there to be read, how many were counted as lost.
    produced: int = 0
    kept: int = 0
    dropped: int = 0
    gaps: int = 0  # of the recorder: lines missing among those that are there

    @property
    def cpu_us_per_request(self):
        return self.cpu_ns / 1000 / self.requests

    @property
    def backend_us_per_request(self):
        return self.backend_ns / 1000 / self.requests

    @property
    def core_us_per_request(self):
        """Without what the debug writer did elsewhere."""
        return self._core_ns / 1000 / self.requests

    @property
    def _core_ns(self):
        return self.cpu_ns - (self.backend_ns if self.backend_apart else 0)

    @property
    def busy(self):
        """Share of the run's time for which the proxy had its core."""
        return self._core_ns / 1e9 / self.seconds

    @property
    def waited(self):
        return self.waited_ns / 1e9 / self.seconds

    @property
    def lines_per_request(self):
        return self.produced / self.requests

    @property
    def kept_share(self):
        return self.kept / self.produced if self.produced else 0.0

    @property
    def unaccounted(self):
        """Lines that are neither there nor counted as lost; negative: more than were made."""
        return self.produced - self.kept - self.dropped


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
        first, _, third_ = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
        return cls(statistics.median(values), values[0], values[-1], first, third_)

    def distance(self, point):
        """How far from the point the middle half of the values reaches."""
        return max(abs(self.first_quartile - point), abs(self.third_quartile - point))


def of_variant(runs, variant, figure):
    """Spread of a figure (the name of a field or property of a run) over the runs of a variant."""
    return Spread.of([getattr(run, figure) for run in runs if run.variant == variant])


def ratios(runs, variant, base, figure):
    """Spread of figure(variant) / figure(base), taken within each round."""
    of = {(run.round, run.variant): getattr(run, figure) for run in runs}
    return Spread.of([of[number, variant] / of[number, base] for number, name in of if name == variant])


def generator_bound(runs, *variants):
    """Those of the variants under which the proxy's core was not busy: their requests/s are the generator's."""
    return [name for name in variants if of_variant(runs, name, "busy").median < BUSY]
