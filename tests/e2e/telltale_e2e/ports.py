# SPDX-License-Identifier: Apache-2.0
"""Ports for servers of the tests."""
import random
import socket


def free_port():
    """A port of 127.0.0.1 nobody listens on now.

    From below the range that the kernel gives to outgoing connections, so that no connection takes it
    between this look and the server's own bind.
    """
    for _ in range(200):
        port = random.randint(12000, 30000)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no free port found on 127.0.0.1")
