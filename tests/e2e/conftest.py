# SPDX-License-Identifier: Apache-2.0
"""Fixtures: each makes any number of its kind in one test and ends them all after it."""
import pytest

from telltale_e2e import Daemon, Origin, TtOrigin
from telltale_e2e.journald import Journald, need_journald


def _maker(make):
    made = []

    def one(*arguments, **named):
        made.append(make(*arguments, **named))
        return made[-1]
    yield one
    for thing in reversed(made):
        thing.close()


@pytest.fixture
def start_daemon(tmp_path):
    """start_daemon(origin_port=..., records={...}): a running Daemon in a folder of its own."""
    count = 0

    def make(*arguments, **named):
        nonlocal count
        count += 1
        folder = tmp_path / f"d{count}"
        folder.mkdir()
        return Daemon(named.pop("folder", folder), *arguments, **named)
    yield from _maker(make)


@pytest.fixture
def start_origin():
    """start_origin(parts...): a scripted Origin."""
    yield from _maker(Origin)


@pytest.fixture
def start_tt_origin():
    """start_tt_origin(arguments...): the program tt-origin."""
    yield from _maker(TtOrigin)


@pytest.fixture
def tt_origin(start_tt_origin):
    return start_tt_origin()


@pytest.fixture
def proxy(start_daemon, tt_origin):
    """A daemon in front of tt-origin; its .origin is that."""
    daemon = start_daemon(origin_port=tt_origin.port)
    daemon.origin = tt_origin
    return daemon


@pytest.fixture
def journald():
    """A real systemd-journald of the test's own. Skips where there can be none."""
    need_journald()
    one = Journald()
    yield one
    one.close()
