# SPDX-License-Identifier: Apache-2.0
"""The daemon under test, on cores of our choice, and what ttctl does with it."""
import json
import os
import pathlib
import socket
import subprocess
import time

from . import Failed, machine
from .servers import Server, free_port

_RECORDS = """\
# One worker, as the measurement gives the proxy one core; debug is switched with ttctl. Logs are rolled as always, but
# stay readable as they are: their lines are counted.
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
      warning: L
  telltale:
    diag:
      logfile:
        compress: 0
"""
_BACKEND = "telltale-diag"
_SETTLE_S = 20
_CTL_S = 20


class Telltale(Server):
    """core: its worker's. others: cores that its other threads may use besides; none: all share the worker's.

    under: a command that runs it, as valgrind does. stderr: where that goes; by default to a file, words() has it.
    """

    def __init__(self, programs, folder, core, origin_port, *, others=(), under=(), plugins="", stderr=None):
        port = free_port()
        self.folder = folder
        self._core, self._others = core, set(others) - {core}
        config = folder / "config"
        config.mkdir(parents=True)
        (config / "records.yaml").write_text(_RECORDS.format(port=port))
        (config / "remap.config").write_text(f"map http://127.0.0.1:{port}/ http://127.0.0.1:{origin_port}/\n")
        (config / "plugin.config").write_text(plugins)
        self._program = programs / "ttctl"
        self._socket = folder / "control.sock"
        self.logs = folder / "var" / "logs"
        super().__init__("telltale", port, [*under, programs / "telltale", "--config", config, "--runtime", folder / "var",
                                            "--control", self._socket],
                         folder=folder, core={core, *self._others}, output=stderr)
        self.backend_apart = bool(self._others)
        self._place()

    def _ready(self):
        """Also the control socket. What it says on stderr may go where nobody can read it."""
        return super()._ready() and self.try_ctl("status", timeout_s=5).returncode == 0

    # ---- cores

    def share_core(self, share):
        """Whether all its threads are to be on the worker's core."""
        self.backend_apart = bool(self._others) and not share
        self._place()

    def _place(self):
        for thread in machine.threads(self.pid):
            worker = thread.name.startswith("worker-")
            cores = {self._core} if worker or not self.backend_apart else {self._core, *self._others}
            try:
                os.sched_setaffinity(thread.tid, cores)
            except ProcessLookupError:
                continue  # it ended meanwhile

    @property
    def worker_tid(self):
        return next(thread.tid for thread in machine.threads(self.pid) if thread.name.startswith("worker-"))

    def backend_ns(self):
        return sum(thread.ran_ns for thread in machine.threads(self.pid) if thread.name == _BACKEND)

    def waited_ns(self):
        return sum(thread.waited_ns for thread in machine.threads(self.pid)
                   if not (self.backend_apart and thread.name == _BACKEND))

    # ---- ttctl

    def ttctl(self, *arguments):
        """The command line of a command."""
        return [str(part) for part in (self._program, "--control", self._socket, *arguments)]

    def try_ctl(self, *arguments, timeout_s=_CTL_S):
        """A command of ttctl: its process, ended."""
        try:
            return subprocess.run(self.ttctl("--json", *arguments), capture_output=True, text=True, timeout=timeout_s,
                                  stdin=subprocess.DEVNULL, check=False)
        except subprocess.TimeoutExpired:
            raise Failed(f"ttctl {' '.join(map(str, arguments))} did not end within {timeout_s} s") from None

    def ctl(self, *arguments, timeout_s=_CTL_S):
        """The daemon's answer to a command of ttctl. Errors: Failed when it is refused."""
        done = self.try_ctl(*arguments, timeout_s=timeout_s)
        if done.returncode != 0:
            raise Failed(f"ttctl {' '.join(map(str, arguments))} ended with status {done.returncode}: "
                         f"{(done.stderr or done.stdout).strip()}")
        return json.loads(done.stdout)

    def enable_over_socket(self, pattern):
        """What 'ttctl debug enable --tags' asks, without a process for it: the status of the answer."""
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(_CTL_S)
            control.connect(str(self._socket))
            content = json.dumps({"tags": pattern}).encode()
            control.sendall(b"POST /v1/debug/enable HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                            b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(content) + content)
            return int(control.recv(64).split(b" ")[1])

    def set_record(self, name, value):
        self.ctl("config", "set", name, value)

    def debug_off(self):
        self.ctl("debug", "disable")
        on = [tag["tag"] for tag in self.ctl("debug", "tags")["tags"] if tag["state"] != "off"]
        if on:
            raise Failed(f"tags are on after 'debug disable': {' '.join(on)}")

    def debug_on(self, pattern, *options):
        """Switches the pattern on: the tags it turned on."""
        return self.ctl("debug", "enable", "--tags", pattern, *options)["tags_on"]

    def hits(self):
        """How many debug lines its sites have made so far."""
        return sum(tag["hits"] for tag in self.ctl("debug", "tags")["tags"])

    def output(self):
        """The counters of the status' output section."""
        return self.ctl("status")["status"]["output"]

    def settled_output(self):
        """output() once the writer thread has written what is queued.

        That is when a look finds few new lines, not none: asking may itself be worth a line.
        """
        deadline = time.monotonic() + _SETTLE_S
        before = self.output()
        while True:
            time.sleep(0.05)
            now = self.output()
            if now["lines written"] - before["lines written"] < 100:
                return now
            if time.monotonic() > deadline:
                raise Failed(f"the debug lines of a run were not all written {_SETTLE_S} s after it")
            before = now

    def log_files(self, name):
        """A file in its log folder, and what was rolled from it."""
        path = pathlib.Path(name)
        return sorted(self.logs.glob(f"{path.stem}*{path.suffix}*"))

    def empty_log(self, name):
        """A run with debug on writes gigabytes; the daemon appends, so the file may be cut under it."""
        for path in self.log_files(name):
            if path.name == name:
                os.truncate(path, 0)
            else:
                path.unlink()
