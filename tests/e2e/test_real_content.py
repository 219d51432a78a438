# SPDX-License-Identifier: Apache-2.0
"""A real documentation tree, whole, through the proxy: every byte right, and the second time from the cache."""
import os
import pathlib
import subprocess
import urllib.parse

import pytest

from telltale_e2e import Connection

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


def fetch_all_with_curl(port, files, folder):
    """Fetches every file over one HTTP/2 connection; returns how many came with an Age, from the cache."""
    places = {target: folder / str(number) for number, target in enumerate(files)}
    (folder / "urls").write_text("".join(f'url = "http://127.0.0.1:{port}{target}"\noutput = "{place}"\n'
                                         for target, place in places.items()))
    said = subprocess.run(["curl", "-sS", "--http2-prior-knowledge", "--fail", "-K", folder / "urls",
                           "-w", "%{http_version} age=%header{age}\\n"], capture_output=True, text=True, timeout=200, check=True)
    lines = said.stdout.splitlines()
    assert len(lines) == len(files) and all(line.startswith("2 ") for line in lines), said.stderr
    for target, place in places.items():
        assert place.read_bytes() == files[target], f"{target}: other bytes than the file"
    return sum(not line.endswith("age=") for line in lines)


def test_over_http2_the_tree_arrives_byte_for_byte_and_comes_from_the_cache_the_second_time(
        start_daemon, start_tt_origin, files, tmp_path):
    origin = start_tt_origin("--files", str(TREE))
    proxy = start_daemon(origin_port=origin.port, records={"cache": {"ram_cache": {"size": 1 << 28}}})
    for name, from_cache in (("first", 0), ("second", len(files))):
        (tmp_path / name).mkdir()
        assert fetch_all_with_curl(proxy.port, files, tmp_path / name) == from_cache
        assert origin.hits()["total"] == len(files)
