# SPDX-License-Identifier: Apache-2.0
"""What the manuals show is what the programs print."""
import pathlib
import re
import shlex
import subprocess

import pytest

from telltale_e2e.process import program

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


def samples(page):
    """[(arguments of ttctl, what it prints)] of the blocks of a page that begin with `$ ttctl`, block by block."""
    found = []
    for block in re.findall(r"^```\n(\$ ttctl .*?)^```$", (DOCS / page).read_text(), re.S | re.M):
        found.append([(shlex.split(command)[1:], printed) for command, _, printed in
                      (part.partition("\n") for part in re.split(r"^\$ ", block, flags=re.M)[1:])])
    return found


def settled(text):
    """The text without what differs from one daemon to the next."""
    text = re.sub(r"(?<=: )/\S*(?=/logs/diags\.log)", "/srv/telltale/var", text)
    text = re.sub(r" +\d+ +\d+$", "  N  N", text, flags=re.M)  # sites and hits
    text = re.sub(r"(?<=^ends: )[\d.]+(?= s left$)|(?<=^sites on: )\d+$", "N", text, flags=re.M)
    return re.sub(r"(?<=\S) {2,}", "  ", text)  # the width of a table's columns


@pytest.mark.parametrize("block", samples("control.md"), ids=lambda block: " ".join(block[0][0])[:40])
def test_a_sample_of_the_control_page_is_what_ttctl_prints(start_daemon, block):
    daemon = start_daemon()
    for arguments, printed in block:
        done = daemon.ctl(*arguments)
        got, expected = settled(done.stdout + done.stderr).splitlines(), settled(printed).splitlines()
        if "..." in expected:  # some lines of a list
            assert all(line in got for line in expected if line != "..."), "\n".join(got)
        else:
            assert got == expected


def test_the_control_page_has_samples_of_every_kind():
    assert {arguments[0] for block in samples("control.md") for arguments, _ in block} >= {"config", "debug"}


def commands(*before):
    text = subprocess.run([program("ttctl"), *before, "--help"], capture_output=True, text=True, timeout=20, check=True).stdout
    names = re.findall(r"^  (\w+) ", text.partition("Subcommands:")[2], re.M)
    return [leaf for name in names for leaf in (commands(*before, name) or [(*before, name)])]


def test_the_control_page_lists_every_command_of_ttctl():
    page = (DOCS / "control.md").read_text()
    found = commands()
    assert len(found) >= 10
    for command in found:
        assert re.search(rf"^{' '.join(command)}\b", page, re.M), command


def test_the_page_on_the_life_of_a_request_lists_every_tag(start_daemon):
    daemon = start_daemon()
    listed = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", (DOCS / "life_of_a_request.md").read_text(), re.M))))
    tags = {line.rsplit(None, 3)[-3] for line in daemon.ctl_ok("debug", "tags").splitlines()[1:]}
    assert tags and tags <= listed, tags - listed


def test_the_sink_that_the_manual_shows_is_the_example_that_is_built_and_run():
    example = (DOCS.parent / "lib" / "diag" / "examples" / "own_sink.cc").read_text().split("\n", 2)[2]
    assert f"```cpp\n{example}```" in (DOCS / "diagnostics.md").read_text()
