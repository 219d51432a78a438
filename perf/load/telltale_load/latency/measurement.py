# SPDX-License-Identifier: Apache-2.0
"""The runs: each round runs every variant of a trouble once, in an order of its own, at half the rate of off."""
import dataclasses
import os
import random
import sys
import threading

from .. import Failed, h2load
from ..servers import fetch
from . import strace
from .figures import HARMLESS, TROUBLED, Fact, Run, percentile

_RUN_S = 2.0
_RUN_LIMIT_S = 90.0
_TRIAL_REQUESTS = 20_000
_WATCHED_REQUESTS_PER_CONNECTION = 20


class Measurement:
    """Of one trouble, which is entered."""

    def __init__(self, trouble, settings, *, folder, placement):
        self._trouble = trouble
        self._settings = settings
        self._folder = folder
        self._core = placement.others
        self._target = f"/bytes/{settings.size}?cc=max-age=3600"
        self.rate = 0.0  # requests/s, half of what is served with debug off
        self.facts = []

    def measure(self):
        """The runs; facts has what was seen besides."""
        self._choose_rate()
        order = random.Random(self._settings.seed)
        runs, ends = [], []
        for number in range(1, self._settings.rounds + 1):
            variants = list(self._trouble.variants)
            order.shuffle(variants)
            for variant in variants:
                runs.append(self._undisturbed(number, variant) if variant not in (TROUBLED, HARMLESS)
                            else self._troubled(number, variant, ends))
            print(f"{self._trouble.name}, round {number}/{self._settings.rounds}: " + "; ".join(
                f"{run.variant} p99 {run.p99_us:,} us" for run in runs[-len(variants):]), file=sys.stderr, flush=True)
        self._gather(runs, ends)
        return runs

    def _choose_rate(self):
        fetch(self._trouble.telltale.port, self._target)
        trial = max(self._settings.requests or _TRIAL_REQUESTS, self._settings.connections)
        self._load(trial)
        self.rate = self._load(trial).requests_per_second / 2
        self.requests = self._settings.requests or max(int(self.rate * _RUN_S), self._settings.connections)

    def _load(self, requests, **named):
        telltale = self._trouble.telltale
        output = h2load.run(f"http://127.0.0.1:{telltale.port}{self._target}", requests=requests,
                            connections=self._settings.connections, size_bytes=self._settings.size, core=self._core,
                            timeout_s=_RUN_LIMIT_S, **named)
        telltale.must_run()
        return output

    def _timed(self, number, variant):
        log = self._folder / "h2load.log"
        log.unlink(missing_ok=True)
        output = self._load(self.requests, rate=self.rate, log_file=log)
        times = h2load.read_log(log.read_text(), self.requests)
        return Run(number, self._trouble.name, variant, self.requests, output.requests_per_second,
                   percentile(times, 0.5), percentile(times, 0.99), max(times))

    def _counts(self):
        """Debug lines that were produced, and those counted as lost."""
        output = self._trouble.telltale.output()
        return self._trouble.telltale.hits(), output["records dropped"] + output["lines lost by sinks"]

    def _undisturbed(self, number, variant):
        self._trouble.undisturbed()
        return self._timed(number, variant)

    def _troubled(self, number, variant, ends):
        produced, lost = self._counts()
        self._trouble.begin(variant)
        with _Meanwhile(self._trouble, self._core) as meanwhile:
            run = self._timed(number, variant)
        now_produced, now_lost = self._counts()
        ends += self._trouble.end()
        return dataclasses.replace(run, answers=len(meanwhile.answers), longest_answer_s=max(meanwhile.answers, default=0.0),
                                   produced=now_produced - produced, lost=now_lost - lost)

    def _gather(self, runs, ends):
        """Facts of all rounds: each holds if it held every time."""
        name, troubled = self._trouble.name, [run for run in runs if run.variant == TROUBLED]
        for what in dict.fromkeys(fact.what for fact in ends):
            same = [fact for fact in ends if fact.what == what]
            first_bad = next((fact for fact in same if not fact.met), None)
            self.facts.append(first_bad or Fact(name, what, True, f"{same[0].why}; {len(same)} times of {len(same)}"))
        if not self._trouble.sinks():
            return
        answers = [run.answers for run in troubled]
        self.facts.append(Fact(name, "ttctl answers meanwhile", min(answers) > 0,
                               f"{sum(answers)} times, the slowest in {max(run.longest_answer_s for run in troubled):.3f} s"))
        lost = [run.lost for run in troubled]
        self.facts.append(Fact(name, "what is lost is counted", min(lost) > 0,
                               f"in a run, at least {min(lost):,} of {troubled[lost.index(min(lost))].produced:,} lines"))
        self.facts.append(self._no_call_on_a_sink())

    def _no_call_on_a_sink(self):
        """Watches the worker for a while: not timed, since strace slows it."""
        requests = _WATCHED_REQUESTS_PER_CONNECTION * self._settings.connections
        self._trouble.undisturbed()
        self._trouble.begin(TROUBLED)
        sinks = self._trouble.sinks()
        calls = strace.watch(self._trouble.telltale.worker_tid, self._folder, core=self._core,
                             action=lambda: self._load(requests))
        self._trouble.end()
        touched = {sink: dict(calls.on[sink]) for sink in sinks if sink in calls.on}
        if not calls.counts:
            raise Failed("strace saw no call of the worker")
        return Fact(self._trouble.name, "a worker makes no call on a sink's descriptor", not touched,
                    f"{touched or ''} of the calls of {requests:,} requests: {calls}".strip())


class _Meanwhile:
    """What goes on beside the load, on the generator's core, in a thread; its exception is raised on leaving."""

    def __init__(self, trouble, core):
        self._trouble = trouble
        self._core = core
        self._over = threading.Event()
        self._failure = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._trouble.answers = self.answers = []
        self._thread.start()
        return self

    def _run(self):
        os.sched_setaffinity(0, {self._core})  # of this thread, and of what it starts
        try:
            self._trouble.meanwhile(self._over)
        except Exception as failure:  # pylint: disable=broad-except
            self._failure = failure

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()
        if self._failure:
            raise self._failure
