# SPDX-License-Identifier: Apache-2.0
"""The daemon with a configuration folder of its own, and its control program."""
import json
import shutil
import socket
import subprocess

from .lines import parse_lines
from .ports import free_port
from .process import Process, program
from .waiting import wait_until


def _merged(base, changes):
    out = dict(base)
    for key, value in changes.items():
        both = isinstance(value, dict) and isinstance(out.get(key), dict)
        out[key] = _merged(out[key], value) if both else value
    return out


def _yaml(node, indent=0):
    """A mapping of mappings and scalars as block YAML; text is always quoted."""
    out = ""
    for key, value in node.items():
        out += " " * indent + key + ":"
        out += "\n" + _yaml(value, indent + 2) if isinstance(value, dict) else f" {json.dumps(value)}\n"
    return out


class Daemon:
    """Writes a configuration folder and runs the daemon on it.

    records    changes to the records below, as nested mappings (without the outer "records")
    remap      lines of remap.config, where {port} is the listener's port; default: all to origin_port
    texts      files of the folder word for word, name -> text; they replace what the above would write
    arguments  further arguments of the daemon
    wait       wait for the ready line
    runtime    another runtime folder
    read_stderr=False  leaves stderr a pipe that nobody reads
    redirect   what a shell does to its descriptors: ">&-"
    under      a command that runs it
    """

    def __init__(self, folder, *, origin_port=None, records=None, remap=None, texts=None, arguments=(),
                 control=None, runtime=None, wait=True, read_stderr=True, port=None, redirect=None, under=()):
        self.port = port or free_port()
        self.config = folder / "config"
        self.runtime = runtime or folder / "var"
        self.control = control or folder / "control.sock"
        self.config.mkdir(exist_ok=True)
        self.write(records or {}, remap, origin_port)
        for name, text in (texts or {}).items():
            (self.config / name).write_text(text.replace("{port}", str(self.port)))
        self._arguments = [*under, program("telltale"), "--config", self.config, "--control", self.control,
                           "--runtime", self.runtime, *arguments]
        if redirect:
            self._arguments = ["sh", "-c", f'exec "$@" {redirect}', "sh", *self._arguments]
        self._read_stderr = read_stderr
        self.process = None
        self.ready = None
        self.start(wait)

    def write(self, records, remap=None, origin_port=None):
        """Writes records.yaml and remap.config anew."""
        base = {"exec_thread": {"autoconfig": {"enabled": 0}, "limit": 2},
                "http": {"server_ports": f"{self.port}:ip-in=127.0.0.1"},
                "diags": {"debug": {"enabled": 0}, "output": {"debug": "L", "error": "EL"}}}
        (self.config / "records.yaml").write_text(_yaml({"records": _merged(base, records)}))
        if remap is None:
            remap = [f"map http://127.0.0.1:{{port}}/ http://127.0.0.1:{origin_port or 1}/"]
        lines = "".join(line.replace("{port}", str(self.port)) + "\n" for line in remap)
        (self.config / "remap.config").write_text(lines)

    def start(self, wait=True):
        self.process = Process(self._arguments, self._read_stderr)
        if wait and self._read_stderr:
            self.ready = self.process.wait_for_line("telltale: ready")
        elif wait:
            wait_until(self._accepts, "the daemon to accept")

    def _accepts(self):
        assert self.process.exit_code is None, "the daemon ended"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def ctl(self, *arguments, timeout=20.0):
        """ttctl with these arguments: CompletedProcess with returncode, stdout, stderr."""
        return subprocess.run([program("ttctl"), "--control", str(self.control), *map(str, arguments)],
                              capture_output=True, text=True, timeout=timeout, check=False,
                              stdin=subprocess.DEVNULL)

    def ctl_ok(self, *arguments):
        """ttctl that must succeed; its stdout."""
        done = self.ctl(*arguments)
        assert done.returncode == 0, f"ttctl {arguments} ended with {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout

    def diags_log(self, contains=None, timeout=10.0):
        """The text of diags.log. The log is written by a thread of its own: with `contains`, waits for it.
        After stop() the text is complete."""
        path = self.runtime / "logs" / "diags.log"

        def read():
            return path.read_text("utf-8", "replace") if path.exists() else ""
        if contains is not None:
            wait_until(lambda: contains in read(), f"{contains!r} in diags.log", timeout)
        return read()

    def diags_lines(self, contains=None):
        return parse_lines(self.diags_log(contains))

    def logs(self):
        """Every byte the daemon wrote: all files below its runtime folder, and stderr."""
        files = [p for p in self.runtime.rglob("*") if p.is_file()]
        return b"".join(p.read_bytes() for p in files) + self.process.stderr.encode()

    def stop(self):
        """Ends it as an operator would; it must end cleanly. Returns its stderr."""
        code = self.process.stop()
        assert code == 0, f"the daemon ended with {code}:\n{self.process.stderr}"
        return self.process.stderr

    def close(self):
        self.process.kill()
        recorder = self.runtime / "recorder"
        if recorder.is_symlink() and str(recorder.readlink()).startswith("/dev/shm/telltale-"):
            shutil.rmtree(recorder.readlink(), ignore_errors=True)
