# SPDX-License-Identifier: Apache-2.0
"""A real documentation tree, whole, through the proxy: every byte right, and the second time from the cache."""
import itertools
import os
import pathlib
import subprocess
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

import pytest

from telltale_e2e import Connection
from telltale_e2e.h2 import Http2

TREE = pathlib.Path("/usr/share/doc/cmake-data/html")  # of Debian's cmake-doc


@pytest.fixture(scope="module")
def files():
    found = {}
    for folder, _, names in os.walk(TREE):
        for name in names:
            path = pathlib.Path(folder, name)
            if path.is_symlink():
                continue  # out of the tree, which tt-origin does not follow
            found["/files/" + urllib.parse.quote(str(path.relative_to(TREE)))] = path.read_bytes()
    assert len(found) > 1000, f"{TREE}: the package cmake-doc should have brought more than {len(found)} files"
    return found


def fetch_all(port, files):
    """Fetches every file over one connection; returns how many came with an Age, from the cache."""
    from_cache = 0
    with Connection(port) as connection:
        for target, content in files.items():
            response = connection.request(target=target)
            assert response.status == 200, target
            assert response.content == content, f"{target}: other bytes than the file"
            from_cache += response.field("Age") is not None
    return from_cache


def test_a_documentation_tree_arrives_byte_for_byte_and_comes_from_the_cache_the_second_time(
        start_daemon, start_tt_origin, files):
    origin = start_tt_origin("--files", str(TREE))
    proxy = start_daemon(origin_port=origin.port, records={"cache": {"ram_cache": {"size": 1 << 28}}})
    assert fetch_all(proxy.port, files) == 0
    asked = origin.hits()["total"]
    assert asked == len(files)
    assert fetch_all(proxy.port, files) == len(files)
    assert origin.hits()["total"] == asked, "the second pass went to the origin"


def fetch_all_over_http2(port, files):
    """As fetch_all(). Not with curl: 7.88, Debian's, ends with its error 16 when it asks a second time on an HTTP/2
    connection that began with prior knowledge, whatever the server."""
    from_cache = 0
    with Http2(port) as client:
        for stream, (target, content) in zip(itertools.count(1, 2), files.items()):
            client.request(stream, target)
            reply = client.reply(stream)
            assert reply.status == 200, target
            assert reply.content == content, f"{target}: other bytes than the file"
            from_cache += reply.field("age") is not None
    return from_cache


def test_over_http2_the_tree_arrives_byte_for_byte_and_comes_from_the_cache_the_second_time(
        start_daemon, start_tt_origin, files):
    origin = start_tt_origin("--files", str(TREE))
    proxy = start_daemon(origin_port=origin.port, records={"cache": {"ram_cache": {"size": 1 << 28}}})
    for from_cache in (0, len(files)):
        assert fetch_all_over_http2(proxy.port, files) == from_cache
        assert origin.hits()["total"] == len(files)


def test_nghttp_gets_files_of_the_tree_byte_for_byte_and_from_the_cache_the_second_time(
        start_daemon, start_tt_origin, files):
    """A client that is not ours. One file each time: nghttp writes all it gets into one stream."""
    origin = start_tt_origin("--files", str(TREE))
    proxy = start_daemon(origin_port=origin.port)
    by_size = sorted(files, key=lambda target: len(files[target]))
    some = by_size[:: len(by_size) // 60] + by_size[-5:]

    def fetch(target):
        return subprocess.run(["nghttp", f"http://127.0.0.1:{proxy.port}{target}"], capture_output=True, timeout=60,
                              check=True).stdout
    for _ in range(2):
        with ThreadPoolExecutor(4) as threads:
            for target, content in zip(some, threads.map(fetch, some)):
                assert content == files[target], f"{target}: other bytes than the file"
        assert origin.hits()["total"] == len(set(some))
