# SPDX-License-Identifier: Apache-2.0
"""The servers of a measurement: the origin and the proxy under test; the other proxies are in peers/.

Each runs on 127.0.0.1 with a configuration of its own, on the core it is given, in the foreground. Close()
ends it.
"""
import contextlib
import http.client
import json
import os
import random
import socket
import subprocess
import time

from . import Failed
from .machine import start, stop

_START_S = 30

_RECORDS = """\
# One worker, as the measurement gives the proxy one core; debug is switched with ttctl.
records:
  exec_thread:
    autoconfig:
      enabled: 0
    limit: 1
  http:
    server_ports: "{port}:ip-in=127.0.0.1"
  diags:
    debug:
      enabled: 0
    output:
      debug: L
      error: L
"""


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
    speaks HTTP/1.1."""

    def __init__(self, name, port, arguments, *, folder, core, environment=None, h2_port=None):
        self.name = name
        self.port = port
        self.ports = {"h1": port, "h2": h2_port or port}
        self._log = folder / f"{name}.log"
        with open(self._log, "wb") as log:
            self._process = start(arguments, core=core, output=log, environment=environment)
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


class Telltale(Server):
    def __init__(self, programs, folder, core, origin_port, under=()):
        """under: a command that runs it, as valgrind does."""
        port = free_port()
        config = folder / "config"
        config.mkdir()
        (config / "records.yaml").write_text(_RECORDS.format(port=port))
        (config / "remap.config").write_text(f"map http://127.0.0.1:{port}/ http://127.0.0.1:{origin_port}/\n")
        self._ttctl = [programs / "ttctl", "--control", folder / "control.sock", "--json"]
        self._diags_log = folder / "var" / "logs" / "diags.log"
        super().__init__("telltale", port, [*under, programs / "telltale", "--config", config, "--runtime", folder / "var",
                                            "--control", folder / "control.sock"], folder=folder, core=core)

    def _ready(self):
        return "telltale: ready" in self.words()  # the control socket too

    def ctl(self, *arguments):
        """The daemon's answer to a command of ttctl. Errors: Failed when it is refused."""
        try:
            done = subprocess.run([*self._ttctl, *arguments], capture_output=True, text=True, timeout=20,
                                  stdin=subprocess.DEVNULL, check=False)
        except subprocess.TimeoutExpired:
            raise Failed(f"ttctl {' '.join(arguments)} did not end within 20 s") from None
        if done.returncode != 0:
            raise Failed(f"ttctl {' '.join(arguments)} ended with status {done.returncode}: "
                         f"{(done.stderr or done.stdout).strip()}")
        return json.loads(done.stdout)

    def debug_off(self):
        self.ctl("debug", "disable")
        on = [tag["tag"] for tag in self.ctl("debug", "tags")["tags"] if tag["state"] != "off"]
        if on:
            raise Failed(f"tags are on after 'debug disable': {' '.join(on)}")

    def debug_on(self, pattern):
        """Switches the pattern on: the tags it turned on."""
        return self.ctl("debug", "enable", "--tags", pattern)["tags_on"]

    def output(self):
        """The counters of the status' output section."""
        return self.ctl("status")["status"]["output"]

    def settled_output(self):
        """output() once the writer thread has written what is queued.

        That is when a look finds few new lines, not none: asking may itself be worth a line.
        """
        deadline = time.monotonic() + 20
        before = self.output()
        while True:
            time.sleep(0.05)
            now = self.output()
            if now["lines written"] - before["lines written"] < 100:
                return now
            if time.monotonic() > deadline:
                raise Failed("the debug lines of a run were not all written 20 s after it")
            before = now

    def empty_log(self):
        """Matched runs write gigabytes; the daemon appends, so the file may be cut under it."""
        os.truncate(self._diags_log, 0)
