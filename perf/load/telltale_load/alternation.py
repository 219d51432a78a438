# SPDX-License-Identifier: Apache-2.0
"""The alternation: the servers, the object in their caches, and one run of each variant a round.

The daemon is started once and its debug output switched between runs, so that all its variants are one
process with one memory layout; a peer has a process for each of its variants. That every run was served from the cache
is shown, not assumed: the origin's count of requests for the object must not move, and the answers before and after
must carry an Age where the proxy sends one.
"""
import contextlib
import dataclasses
import math
import random
import sys
import time

from . import Failed, h2load
from .debug import ALL_TAGS, FOLLOWED, debug
from .figures import CLIENT, OFF, OFF_AGAIN, UNMATCHED, Run, of_debug, peer_on, shared, third
from .followed import FollowedClient
from .machine import cpu_time_ns, threads
from .peers import PEERS
from .report import run_text
from .servers import Origin, fetch
from .telltale import Telltale

_UNMATCHED_PATTERN = "^nomatch$"
_FILL_S = 20.0
_FILL_REQUESTS_PER_CONNECTION = 20
_RUN_S = 2.0
_RUN_LIMIT_S = 90.0
_TRIAL_REQUESTS = 20_000


def own_variants(chosen, share_core):
    """The variants of our daemon, for those chosen with --debug."""
    found = [OFF, UNMATCHED, OFF_AGAIN] if UNMATCHED in chosen else [OFF, OFF_AGAIN]
    for name in chosen:
        if of_debug(name):
            found += [name, shared(name)] if share_core else [name]
            if name != CLIENT:  # so few lines that a lower rate says nothing more
                found.append(third(name))
    return found


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
            self._telltale = ending.enter_context(contextlib.closing(Telltale(
                self._programs, self._folder, proxy_core, self._origin.port, others=[other_core])))
            variants = own_variants(self._settings.debug, self._settings.share_core)
            self._proxies = {variant: self._telltale for variant in variants}
            self._debug = {name: debug(name, self._telltale, self._settings.tags)
                           for name in map(of_debug, variants) if name}
            self.writes = bool(self._debug)
            for name in self._settings.against:
                for on in (False, True) if PEERS[name].debug_words else (False,):
                    self._proxies[peer_on(name) if on else name] = ending.enter_context(contextlib.closing(
                        PEERS[name](folder=self._folder, core=proxy_core, origin_port=self._origin.port, debug=on)))
            self._content = fetch(self._origin.port, self._target)[2]
            self._fill_caches()
            self._choose_requests()
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

    def _generate(self, proxy, requests, rate=None):
        """A run of load: how many requests, in how many seconds."""
        if rate is None and CLIENT in self._settings.debug and self._rates:
            done, seconds = self._load_with_followed(proxy, requests)
        else:
            output = self._load(proxy, requests, rate=rate)
            done, seconds = requests, output.seconds
        if self._origin.hits(self._path) != self._hits:
            raise Failed(f"{proxy.name} asked the origin for {self._path} during a run: that was not the cache")
        return done, seconds

    def _load_with_followed(self, proxy, requests):
        """As _load(), with one of the connections from another address: in every variant, so that all are alike."""
        others = self._settings.connections - 1
        with FollowedClient(proxy.port, self._target, address=FOLLOWED, core=self._placement.others,
                            rate=self._rates[proxy] / self._settings.connections) as client:
            asked = requests * others // self._settings.connections
            output = self._load(proxy, asked, connections=others)
            followed = client.requests
        return asked + followed, output.seconds

    def _load(self, proxy, requests, *, connections=None, rate=None):
        with proxy.awake():
            try:
                output = h2load.run(f"http://127.0.0.1:{proxy.ports[self._settings.proto]}{self._target}",
                                    requests=requests, connections=connections or self._settings.connections,
                                    size_bytes=self._settings.size, proto=self._settings.proto, rate=rate,
                                    core=self._placement.others, timeout_s=_RUN_LIMIT_S)
            except Failed as failure:
                raise Failed(f"{proxy.name}: {failure}") from None
        proxy.must_run()
        return output

    def _choose_requests(self):
        """As many as the fastest proxy serves in _RUN_S, found by a trial run that also warms them."""
        trial = max(self._settings.requests or _TRIAL_REQUESTS, self._settings.connections)
        self._rates = {}
        self._rates = {proxy: trial / self._generate(proxy, trial)[1] for proxy in set(self._proxies.values())}
        connections, most = self._settings.connections, max(self._rates.values())
        self.requests = self._settings.requests or max(math.ceil(most * _RUN_S / 1000) * 1000, connections)
        self.third_rate = self._rates[self._telltale] / 3
        self._third_requests = max(math.ceil(self.requests / 3), connections)

    def _run(self, number, variant):
        proxy = self._proxies[variant]
        if proxy is not self._telltale:
            return self._measured(number, variant)
        name = of_debug(variant)
        proxy.share_core(variant == shared(name))
        return self._run_writing(number, variant, self._debug[name]) if name else self._run_quiet(number, variant)

    def _run_quiet(self, number, variant):
        """Of our daemon, where no line may come up."""
        if variant == UNMATCHED:
            on = self._telltale.debug_on(_UNMATCHED_PATTERN)
            if on:
                raise Failed(f"'{_UNMATCHED_PATTERN}' should match no tag; it turned on {' '.join(on)}")
        else:
            self._telltale.debug_off()
        before = self._telltale.output()
        run = self._measured(number, variant)
        after = self._telltale.output()
        made = sum(after[what] - before[what] for what in ("records written", "records dropped"))
        if made:
            raise Failed(f"{made} debug records came up under '{variant}', where none should")
        return run

    def _run_writing(self, number, variant, kind):
        self._telltale.debug_off()
        hits, lost = self._telltale.hits(), self._lost()
        kind.on()
        rate = self.third_rate if variant == third(kind.name) else None
        # Writing the lines is a cost of this run.
        run = self._measured(number, variant, rate, until=self._telltale.settled_output)
        kind.off()
        self._telltale.settled_output()
        lines = kind.lines(self._telltale.hits() - hits, run.requests)
        kind.empty()
        return dataclasses.replace(run, produced=lines.produced, kept=lines.kept, gaps=lines.gaps,
                                   dropped=self._lost() - lost, all_tags=self._settings.tags == ALL_TAGS)

    def _lost(self):
        counted = self._telltale.output()
        return counted["records dropped"] + counted["lines lost by sinks"]

    def _measured(self, number, variant, rate=None, until=lambda: None):
        """A run, and what the proxy used until then."""
        proxy = self._proxies[variant]
        ours = proxy is self._telltale
        before = _used(proxy, ours)
        done, seconds = self._generate(proxy, self.requests if rate is None else self._third_requests, rate)
        until()
        cpu, waited, backend = (now - then for now, then in zip(_used(proxy, ours), before))
        return Run(number, variant, done, done / seconds, seconds, cpu, waited, self._settings.proto,
                   backend_ns=backend, backend_apart=ours and proxy.backend_apart)


def _used(proxy, ours):
    """CPU time, time waited for its core, and the backend's CPU time so far."""
    if ours:
        return cpu_time_ns(proxy.pid), proxy.waited_ns(), proxy.backend_ns()
    return cpu_time_ns(proxy.pid), sum(thread.waited_ns for thread in threads(proxy.pid)), 0
