#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./tt bench instructions: how many instructions does a request cost, with debug off and on without a match?

One worker under callgrind answers a fixed script of requests: hits, revalidations, ranges, HEAD, misses, uploads.
Instructions are counted, not timed, so a busy machine does no harm. What depends on time is the worker's tick; its
cost is taken from an idle stretch, and as often as it ran it is subtracted. "off again" shows what noise is left.
Exit status: 0 measured, 1 a gate was missed, 3 nothing could be measured.

Gates: modes 1 and 3 without a match within 0.1 % of off, and no function differs by 0.1 instructions a request (one
instruction more in one of the script's eleven kinds of request) and by more than twice its noise; mode 2 adds a fixed
cost per connection and nothing per request.
"""
import pathlib
import socket
import sys
import tempfile
import time

from telltale_load import Failed
from telltale_load.callgrind import Counter
from telltale_load.command import programs
from telltale_load.servers import Origin
from telltale_load.telltale import Telltale

ROUNDS = 300  # of the script, over one connection
LIMIT = 0.001
LEAST = 0.1  # instructions a request
TICK = "telltale::net::Worker::wait_for_tick()"  # runs once a tick and not otherwise
NO_MATCH = "no_tag_begins_like_this"

_HEAD = "Host: 127.0.0.1:{port}\r\nUser-Agent: instructions\r\nAccept: */*\r\n"
_HIT = "/bytes/1024?cc=max-age=86400"
SCRIPT = (
    [f"GET {_HIT} HTTP/1.1\r\n{_HEAD}\r\n"] * 6
    + [f"HEAD {_HIT} HTTP/1.1\r\n{_HEAD}\r\n",
       f"GET {_HIT} HTTP/1.1\r\n{_HEAD}Range: bytes=10-19\r\n\r\n",
       f"GET /bytes/300?cc=no-store HTTP/1.1\r\n{_HEAD}\r\n",
       f"POST /content HTTP/1.1\r\n{_HEAD}Content-Length: 5\r\n\r\nhello",
       f"GET /no/such HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n"])


class Client:
    """One connection; each request waits for its answer, so that nothing but the requests decides what is done."""

    def __init__(self, port):
        self._port = port
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, request):
        self._socket.sendall(request.format(port=self._port).encode())
        got = b""
        while b"\r\n\r\n" not in got:
            got += self._more()
        head, _, content = got.partition(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        left = 0 if request.startswith("HEAD") else int(fields[b"content-length"]) - len(content)
        while left > 0:
            left -= len(self._more())

    def _more(self):
        got = self._socket.recv(65536)
        if not got:
            raise Failed("the proxy closed the connection within the script")
        return got

    def close(self):
        self._socket.close()


def run(port, rounds, connections=1):
    for _ in range(connections):
        client = Client(port)
        for _ in range(rounds // connections):
            for request in SCRIPT:
                client.ask(request)
        client.close()


def set_mode(proxy, mode, tags=NO_MATCH, client_ip="127.0.0.9"):
    proxy.ctl("config", "set", "proxy.config.diags.debug.client_ip", client_ip)
    proxy.ctl("config", "set", "proxy.config.diags.debug.tags", tags)
    proxy.ctl("config", "set", "proxy.config.diags.debug.enabled", str(mode))


VARIANTS = {"off": 0, "mode 1, unmatched": 1, "mode 3, unmatched": 3, "mode 2, unmatched": 2, "off again": 0}


def without_ticks(found, idle):
    ticks = found.get(TICK, 0) / idle[TICK]
    return {name: own - ticks * idle.get(name, 0) for name, own in found.items()}


def idle_ticks(counter):
    counter.start()
    time.sleep(2)
    return counter.stop("idle", TICK)


def measure(proxy, counter):
    """By variant: own instructions by function, over ROUNDS of the script in one connection and in ROUNDS of them."""
    found = {}
    idle = idle_ticks(counter)
    for name, mode in VARIANTS.items():
        set_mode(proxy, mode)
        run(proxy.port, 30)
        for connections in (1, ROUNDS):
            counter.start()
            run(proxy.port, ROUNDS, connections)
            found[name, connections] = without_ticks(counter.stop(name.replace(" ", "-"), TICK), idle)
            print(f"{name}, {connections} connection{'s' * (connections > 1)}: "
                  f"{sum(found[name, connections].values()) / (ROUNDS * len(SCRIPT)):,.1f} instructions a request", flush=True)
    return found


def differing(one, other, requests, least):
    """Functions whose own instructions a request differ by more than `least`."""
    all_names = set(one) | set(other)
    by = {name: (other.get(name, 0) - one.get(name, 0)) / requests for name in all_names}
    return {name: d for name, d in sorted(by.items(), key=lambda item: -abs(item[1])) if abs(d) > least}


def report(found):
    requests = ROUNDS * len(SCRIPT)
    good = True

    def verdict(met, text):
        nonlocal good
        good = good and met
        print(f"{'met   ' if met else 'MISSED'}  {text}")

    off = found["off", 1]
    total = sum(off.values())
    noise = differing(off, found["off again", 1], requests, 0)
    print(f"\noff again against off: {sum(found['off again', 1].values()) / total - 1:+.4%}\n")
    for name in ("mode 1, unmatched", "mode 3, unmatched"):
        change = sum(found[name, 1].values()) / total - 1
        verdict(abs(change) <= LIMIT, f"{name}, against off: {change:+.4%}, at most {LIMIT:.1%}")
        others = {f: d for f, d in differing(off, found[name, 1], requests, LEAST).items() if abs(d) > 2 * abs(noise.get(f, 0))}
        verdict(not others, f"{name}: no function differs" + "".join(f"\n        {d:+.3f} a request  {f}" for f, d in others.items()))
    for name in ("mode 2, unmatched",):
        one = sum(found[name, 1].values()) - total
        many = sum(found[name, ROUNDS].values()) - sum(found["off", ROUNDS].values())
        per_connection = many / ROUNDS
        verdict(abs(one - per_connection) <= LIMIT * total,
                f"{name}: {per_connection:+,.1f} instructions a connection, and {(one - per_connection) / requests:+.3f} a request")
    return good


def main():
    try:
        with tempfile.TemporaryDirectory(prefix="tt-instructions-") as name:
            folder = pathlib.Path(name)
            origin = Origin(programs(), folder, 0)
            try:
                proxy = Telltale(programs(), folder, 0, origin.port, under=Counter.command(folder))
                try:
                    good = report(measure(proxy, Counter(proxy.pid, folder)))
                finally:
                    proxy.close()
            finally:
                origin.close()
    except Failed as failure:
        print(f"tt bench instructions: {failure}", file=sys.stderr)
        return 3
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
