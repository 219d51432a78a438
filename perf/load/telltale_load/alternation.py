# SPDX-License-Identifier: Apache-2.0
"""The alternation: the servers, the object in their caches, and one run of each variant a round.

The daemon is started once and its debug output switched between runs, so that all its variants are one
process with one memory layout; a peer has a process for each of its variants. That every run was served from the cache is shown, not assumed: the origin's
count of requests for the object must not move, and the answers before and after must carry an Age where the
proxy sends one.
"""
import contextlib
import math
import random
import sys
import time

from . import Failed, h2load
from .figures import MATCHED, OFF, OFF_AGAIN, UNMATCHED, Run, peer_on
from .machine import cpu_time_ns, waited_ns
from .peers import PEERS
from .report import run_text
from .servers import Origin, Telltale, fetch

_UNMATCHED_PATTERN = "^nomatch$"
_FILL_S = 20.0
_FILL_REQUESTS_PER_CONNECTION = 20
_RUN_S = 2.0
_RUN_LIMIT_S = 90.0
_TRIAL_REQUESTS = 20_000


class Alternation:
    """A context manager: entering starts the servers and fills the caches, leaving ends them all."""

    def __init__(self, settings, *, programs, folder, placement):
        self._settings = settings
        self._programs = programs
        self._folder = folder
        self._placement = placement
        self._path = f"/bytes/{settings.size}"
        self._target = self._path + "?cc=max-age=3600"
        self._ending = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as ending:
            proxy_core, other_core = self._placement.proxy, self._placement.others
            self._origin = ending.enter_context(contextlib.closing(Origin(self._programs, self._folder, other_core)))
            self._telltale = ending.enter_context(contextlib.closing(
                Telltale(self._programs, self._folder, proxy_core, self._origin.port)))
            self._proxies = {variant: self._telltale for variant in (OFF, UNMATCHED, OFF_AGAIN)}
            if self._settings.tags is not None:
                self._proxies[MATCHED] = self._telltale
            for name in self._settings.against:
                for debug in (False, True) if PEERS[name].debug_words else (False,):
                    self._proxies[peer_on(name) if debug else name] = ending.enter_context(contextlib.closing(
                        PEERS[name](folder=self._folder, core=proxy_core, origin_port=self._origin.port, debug=debug)))
            self._content = fetch(self._origin.port, self._target)[2]
            self._fill_caches()
            self.requests = self._settings.requests or self._requests_of_a_run()
            self._ending = ending.pop_all()
        return self

    def __exit__(self, *_):
        self._ending.close()

    def measure(self):
        """All rounds, each in an order of its own: the runs, in the order they were made."""
        order = random.Random(self._settings.seed)
        runs = []
        for number in range(1, self._settings.rounds + 1):
            variants = list(self._proxies)
            order.shuffle(variants)
            made = [self._run(number, variant) for variant in variants]
            runs += made
            print(f"round {number}/{self._settings.rounds}: {'; '.join(map(run_text, made))}",
                  file=sys.stderr, flush=True)
        for proxy in set(self._proxies.values()):
            self._must_be_cached(proxy)
        return runs

    def _fill_caches(self):
        for proxy in set(self._proxies.values()):
            self._fill_cache(proxy)
            # HAProxy keeps an object that came over HTTP/2 under another key.
            self._load(proxy, _FILL_REQUESTS_PER_CONNECTION * self._settings.connections)
        self._hits = self._origin.hits(self._path)

    def _fill_cache(self, proxy):
        """Asks until it answers from its cache: Traffic Server opens its own only after it accepts."""
        deadline = time.monotonic() + _FILL_S
        while True:
            with proxy.awake():
                fetch(proxy.port, self._target)
                time.sleep(0.1)
            try:
                return self._must_be_cached(proxy)
            except Failed:
                if time.monotonic() > deadline:
                    raise

    def _must_be_cached(self, proxy):
        hits = self._origin.hits(self._path)
        with proxy.awake():
            status, fields, content = fetch(proxy.port, self._target)
        if status != 200 or content != self._content:
            raise Failed(f"{proxy.name} answered {self._target} with {status} and {len(content)} bytes")
        if (proxy.tells_age and "age" not in fields) or self._origin.hits(self._path) != hits:
            raise Failed(f"{proxy.name} does not serve {self._target} from its cache: {fields}")

    def _generate(self, proxy, requests):
        output = self._load(proxy, requests)
        if self._origin.hits(self._path) != self._hits:
            raise Failed(f"{proxy.name} asked the origin for {self._path} during a run: that was not the cache")
        return output

    def _load(self, proxy, requests):
        with proxy.awake():
            try:
                output = h2load.run(f"http://127.0.0.1:{proxy.ports[self._settings.proto]}{self._target}",
                                    requests=requests, connections=self._settings.connections,
                                    size_bytes=self._settings.size, proto=self._settings.proto,
                                    core=self._placement.others, timeout_s=_RUN_LIMIT_S)
            except Failed as failure:
                raise Failed(f"{proxy.name}: {failure}") from None
        proxy.must_run()
        return output

    def _requests_of_a_run(self):
        """As many as the fastest proxy serves in _RUN_S, found by a trial run that also warms them."""
        trial = max(_TRIAL_REQUESTS, self._settings.connections)
        rate = max(self._generate(proxy, trial).requests_per_second for proxy in set(self._proxies.values()))
        return max(math.ceil(rate * _RUN_S / 1000) * 1000, self._settings.connections)

    def _switch(self, variant):
        if variant in (OFF, OFF_AGAIN):
            self._telltale.debug_off()
        elif variant == UNMATCHED:
            on = self._telltale.debug_on(_UNMATCHED_PATTERN)
            if on:
                raise Failed(f"'{_UNMATCHED_PATTERN}' should match no tag; it turned on {' '.join(on)}")
        elif not self._telltale.debug_on(self._settings.tags):
            raise Failed(f"--tags '{self._settings.tags}' turns no tag on; ttctl debug tags lists them")

    def _run(self, number, variant):
        proxy = self._proxies[variant]
        ours = proxy is self._telltale
        if ours:
            self._switch(variant)
        counted = self._telltale.output()
        cpu, waited = cpu_time_ns(proxy.pid), waited_ns(proxy.pid)
        output = self._generate(proxy, self.requests)
        if variant == MATCHED:
            counted_after = self._telltale.settled_output()  # writing the lines is a cost of this run
        cpu, waited = cpu_time_ns(proxy.pid) - cpu, waited_ns(proxy.pid) - waited
        if variant != MATCHED:
            counted_after = self._telltale.output()
        written, dropped, lines = (counted_after[name] - counted[name]
                                   for name in ("records written", "records dropped", "lines written"))
        if variant == MATCHED:
            self._telltale.debug_off()
            self._telltale.empty_log()
        elif written or dropped:
            raise Failed(f"{written + dropped} debug records came up under '{variant}', where none should")
        return Run(number, variant, self.requests, output.requests_per_second, output.seconds, cpu, waited,
                   lines if variant == MATCHED else 0, dropped, self._settings.proto)
