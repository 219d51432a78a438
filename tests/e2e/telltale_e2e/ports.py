# SPDX-License-Identifier: Apache-2.0
"""Ports for servers of the tests.

Test files run side by side. Each process takes a block of ports for its whole life, by holding the first of
the block, so that no other takes a port between a look at it and the bind of the server it is meant for.
Blocks lie below the range that the kernel gives to outgoing connections.
"""
import itertools
import random
import socket

_BLOCK = 200
_FIRST, _LAST = 12000, 32000
_holder = None  # the bound socket that holds this process's block
_ports = None


def _take_block():
    global _holder, _ports
    blocks = list(range(_FIRST, _LAST, _BLOCK))
    random.shuffle(blocks)
    for first in blocks:
        holder = socket.socket()
        try:
            holder.bind(("127.0.0.1", first))
        except OSError:
            holder.close()
            continue
        _holder = holder
        _ports = itertools.cycle(range(first + 1, first + _BLOCK))
        return
    raise RuntimeError("no free block of ports on 127.0.0.1")


def free_port():
    """A port of 127.0.0.1 that nobody listens on; the same again only after a whole round of the block."""
    if _holder is None:
        _take_block()
    for port in itertools.islice(_ports, _BLOCK):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("every port of this process's block is taken")
