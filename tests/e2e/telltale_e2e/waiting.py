# SPDX-License-Identifier: Apache-2.0
"""Waiting for something to become true, with a deadline."""
import time


def wait_until(predicate, what="the condition", timeout=10.0):
    """Returns the first true value of predicate(); fails when there is none within `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while True:
        value = predicate()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout:g} s for {what}")
        time.sleep(0.01)
