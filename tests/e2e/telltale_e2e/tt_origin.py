# SPDX-License-Identifier: Apache-2.0
"""The program tt-origin, as an origin with many ordinary pages."""
import json

from .client import get
from .ports import free_port
from .process import Process, program


def pattern(count):
    """The content of /bytes/N and /chunked/N."""
    period = bytes(range(33, 33 + 89))
    return (period * (count // 89 + 1))[:count]


class TtOrigin:
    def __init__(self, *arguments, port=None):
        self.port = port or free_port()
        self.process = Process([program("tt-origin"), "--listen", f"127.0.0.1:{self.port}", *arguments])
        self.process.wait_for_line("tt-origin: ready")

    def hits(self, path=None):
        """Requests that came for `path`; without it, the whole answer of /hits."""
        answer = json.loads(get(self.port, "/hits").content)
        return answer if path is None else answer["paths"].get(path, 0)

    def close(self):
        self.process.kill()
