# SPDX-License-Identifier: Apache-2.0
"""All tags go to a journald that does not read, or is not there. It is a socket of ours: what matters is what its queue
takes, and a real one would want the processor that is measured."""
import os
import pathlib
import socket

from .trouble import Sink


class StoppedJournald(Sink):
    name, words, letter = "stopped-journald", "journald is stopped: its socket is there, and nobody reads it", "J"

    def open_sink(self, ending):
        self._path = self.folder / "journal"
        self._listener = None
        ending.callback(self._leave)
        self._listen()
        self.start_daemon(ending)
        self.telltale.set_record("proxy.config.telltale.diag.journald.socket", self._path)
        self._arrived = b""

    def _listen(self):
        self._leave()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._listener.bind(str(self._path))

    def _leave(self):
        if self._listener is not None:
            self._listener.close()
            self._path.unlink()
        self._listener = None

    def _read(self):
        while self._listener is not None:
            try:
                self._arrived += self._listener.recv(1 << 20)
            except BlockingIOError:
                break

    def undisturbed(self):
        super().undisturbed()
        self.clear()

    def release(self):
        self.clear()

    def has(self, mark):
        self._read()
        return mark in self._arrived

    def clear(self):
        self._read()
        self._arrived = b""

    def sinks(self):
        """Its datagram sockets: it has no other than those of its sinks."""
        lines = pathlib.Path("/proc/net/unix").read_text("ascii", "replace").splitlines()[1:]
        datagram = {fields[6] for fields in map(str.split, lines) if fields[4] == "0002"}
        links = [os.readlink(fd) for fd in pathlib.Path(f"/proc/{self.telltale.pid}/fd").iterdir()]
        return [link for link in links if link.startswith("socket:[") and link[8:-1] in datagram]


class AbsentJournald(StoppedJournald):
    name, words = "absent-journald", "journald is gone, and its socket too"

    def begin(self, variant):
        self._leave()
        super().begin(variant)

    def release(self):
        self._listen()
        self._arrived = b""

    def undisturbed(self):
        if self._listener is None:
            self._listen()
        super().undisturbed()
