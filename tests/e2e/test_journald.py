# SPDX-License-Identifier: Apache-2.0
"""Debug output in a real systemd-journald, by the library alone: what is read back. test_journald_daemon.py has the daemon."""
import os
import subprocess

import pytest

from telltale_e2e.process import BUILD


def child(journald, *arguments):
    """The library in a process of its own; its stdout."""
    done = subprocess.run([BUILD / "tests" / "diag_journal_child", journald.socket, *map(str, arguments)],
                          capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def counts(text):
    words = text.split()
    return {name: int(value) for name, value in zip(words[::2], words[1::2])}


def test_j13_the_library_reads_back_as_it_was_written(journald):
    child(journald, "matrix")
    of_tag = journald.entries("DIAG_TAG=journal_child")
    assert [e["MESSAGE"] for e in of_tag] == ["matrix a=b\\tc"]
    entry = of_tag[0]
    expected = {"PRIORITY": "7", "SYSLOG_IDENTIFIER": "journal-child", "SYSLOG_FACILITY": "3", "SYSLOG_PID": entry["_PID"],
                "TID": entry["_PID"], "CODE_FILE": "tests/unit/diag/child/journal_child.cc", "CODE_FUNC": "matrix",
                "DIAG_TXN": "345", "DIAG_CONN": "12", "DIAG_PLUGIN": "header_note", "_TRANSPORT": "journal",
                "NUMBER": "-7", "MOST": "18446744073709551615", "REAL": "0.1", "YES": "true",
                "TEXT": "a\\x00b\\x1b[31m\\r\\xff=", "TWO_WORDS": "x\\ny"}
    assert {key: entry.get(key) for key in expected} == expected
    assert entry["CODE_LINE"].isdigit()
    # No more, and nothing twice (a list).
    ours = {key for key in entry if not key.startswith("_")} - set(expected)
    assert ours == {"MESSAGE", "CODE_LINE", "DIAG_TAG"}
    assert all(isinstance(value, str) for value in entry.values())

    of_us = journald.entries("-t", "journal-child")
    assert [(e["PRIORITY"], e["MESSAGE"]) for e in of_us] == [
        ("7", "matrix a=b\\tc"), ("6", "of level status"), ("5", "of level note"), ("4", "of level warning"),
        ("3", "of level error")]
    assert [e["MESSAGE"] for e in journald.entries("-t", "journal-child", "-p", "warning")] == [
        "of level warning", "of level error"]
    assert len(journald.entries("-p", "debug", "-t", "journal-child")) == 5


def test_b45_a_message_of_any_length_arrives_whole_or_says_what_is_missing(journald):
    child(journald, "sizes")
    messages = [e["MESSAGE"] for e in journald.entries("DIAG_TAG=journal_child")]
    assert [len(m) for m in messages[:-1]] == [1, 2039, 2040, 2041, 2048, 2049, 4096, 48 * 1024, 60000]
    assert all(m.endswith("!") for m in messages[:-1])
    assert messages[-1] == "x" * 60000 + "...[+1000 bytes]"


def test_j11_a_forked_child_has_its_own_number(journald):
    parent, forked = child(journald, "fork").split()
    numbers = {e["MESSAGE"]: (e["SYSLOG_PID"], e["_PID"]) for e in journald.entries("DIAG_TAG=journal_child")}
    assert numbers == {"of the parent": (parent, parent), "of the child": (forked, forked)}


def test_every_line_of_a_flood_is_there_or_counted(journald):
    made = counts(child(journald, "flood", 500))
    kept = journald.entries("DIAG_TAG=journal_child")
    assert made["produced"] == 500
    assert made["sent"] + made["dropped"] + made["by_rings"] == 500
    assert len(kept) == made["sent"]
    numbers = [int(e["MESSAGE"].split()[1]) for e in kept]
    assert numbers == sorted(set(numbers))


@pytest.fixture
def stderr_of(tmp_path):
    """stderr_of(socket, JOURNAL_STREAM): what the library writes to stderr where the variable says so; THIS stands for
    the file that is its stderr."""
    def run(socket, stream):
        path = tmp_path / "stderr"
        with open(path, "wb") as file:
            this = os.fstat(file.fileno())
            environment = dict(os.environ, JOURNAL_STREAM=stream.replace("THIS", f"{this.st_dev}:{this.st_ino}"))
            subprocess.run([BUILD / "tests" / "diag_journal_child", socket, "stderr"], stderr=file, env=environment,
                           check=True, timeout=60)
        return path.read_text()
    return run


def test_j10_a_stderr_that_is_the_journals_stream_becomes_entries_and_nothing_else(journald, stderr_of):
    assert stderr_of(journald.socket, "THIS") == ""
    assert [e["MESSAGE"] for e in journald.entries("-t", "journal-child")] == ["line 1 for stderr", "line 2 for stderr"]


@pytest.mark.parametrize("stream, notes", [("1:1", 0), ("", 0), ("THIS ", 1), ("x", 1)])
def test_j10_any_other_stderr_stays_as_it_is(journald, stderr_of, stream, notes):
    text = stderr_of(journald.socket, stream)
    assert text.count("for stderr") == 2
    assert text.count("JOURNAL_STREAM") == notes
    assert text.count("\n") == 2 + notes
    assert journald.entries("-t", "journal-child") == []


def test_j10_a_stream_without_a_socket_beside_it_stays_too(tmp_path, stderr_of):
    text = stderr_of(str(tmp_path / "none"), "THIS")
    assert text.count("for stderr") == 2
    assert "lines stay on stderr" in text
