# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests drive the real programs with.

Everything listens on 127.0.0.1. Nothing sleeps to be right: a test waits for what it expects, with a
deadline (wait_until), or is told (a ready line, an event).
"""
from . import h2
from .client import Connection, Response, Truncated, get, raw, request_bytes
from .daemon import Daemon
from .lines import Line, parse_lines
from .origin import Origin, Received
from .ports import free_port
from .tt_origin import TtOrigin, pattern
from .waiting import wait_until

__all__ = ["Connection", "Daemon", "Line", "Origin", "Received", "Response", "Truncated", "TtOrigin",
           "free_port", "get", "h2", "parse_lines", "pattern", "raw", "request_bytes", "wait_until"]
