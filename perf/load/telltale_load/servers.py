# SPDX-License-Identifier: Apache-2.0
"""Servers of a measurement, and the origin; the proxy under test is in telltale.py, other proxies are in peers/.

Each runs on 127.0.0.1 with a configuration of its own, on the core it is given, in the foreground. Close()
ends it.
"""
import contextlib
import http.client
import json
import os
import random
import socket
import time

from . import Failed
from .machine import start, stop

_START_S = 30


def free_port():
    """A port of 127.0.0.1 nobody listens on now, below the range the kernel gives to outgoing connections."""
    for _ in range(200):
        port = random.SystemRandom().randint(12000, 30000)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise Failed("no free port found on 127.0.0.1")


def fetch(port, target):
    """One GET: (status code, fields with names in lower case, content)."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", target, headers={"Connection": "close"})
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise Failed(f"GET {target} from port {port}: {error!r}") from None
    finally:
        connection.close()


class Server:
    """A started server. name, port, pid; ready once the constructor returns. ports: by protocol, for the load; port
    speaks HTTP/1.1. output: where its stdout and stderr go; by default to a file, which words() reads."""

    def __init__(self, name, port, arguments, *, folder, core, environment=None, h2_port=None, output=None):
        self.name = name
        self.port = port
        self.ports = {"h1": port, "h2": h2_port or port}
        self._log = folder / f"{name}.log"
        with open(self._log, "wb") as log:
            self._process = start(arguments, core=core, output=log if output is None else output,
                                  environment=environment)
        self.pid = self._process.pid
        try:
            self._wait_until_ready()
        except BaseException:
            self.close()
            raise

    def _ready(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def _wait_until_ready(self):
        deadline = time.monotonic() + _START_S
        while True:
            self.must_run()
            if self._ready():
                return
            if time.monotonic() > deadline:
                raise Failed(f"{self.name} was not ready within {_START_S} s:\n{self.words()}")
            time.sleep(0.02)

    def words(self):
        return self._log.read_text("utf-8", "replace").strip() or "(it said nothing)"

    def must_run(self):
        if self._process.poll() is not None:
            raise Failed(f"{self.name} ended with status {self._process.returncode}:\n{self.words()}")

    tells_age = True  # an answer from the cache carries Age

    def awake(self):
        """While this context lasts, it serves; only peers do not at other times."""
        return contextlib.nullcontext()

    def close(self):
        stop(self._process)


class Origin(Server):
    def __init__(self, programs, folder, core):
        port = free_port()
        super().__init__("tt-origin", port, [programs / "tt-origin", "--listen", f"127.0.0.1:{port}"],
                         folder=folder, core=core)

    def hits(self, path):
        """How many requests came for this path."""
        return json.loads(fetch(self.port, "/hits")[2])["paths"].get(path, 0)
