# SPDX-License-Identifier: Apache-2.0
"""Runs h2load once and believes nothing it did not show.

h2load ends with exit status 0 when every request failed, and some versions freeze or report zero results.
So each run has a time limit, and its counts are compared with what was asked for. Runs are by count (-n),
where all counts must be equal; by time (-D) "started" exceeds "done" by what was in flight at the end.
"""
import re
import subprocess
from dataclasses import dataclass

from . import Failed
from .machine import start, stop

_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
_SPOKEN = re.compile(r"^Application protocol: (\S+)$", re.M)
_FINISHED = re.compile(r"^finished in ([\d.]+)(us|ms|s), ([\d.]+) req/s", re.M)
_REQUESTS = re.compile(r"^requests: (\d+) total, (\d+) started, (\d+) done, (\d+) succeeded, "
                       r"(\d+) failed, (\d+) errored, (\d+) timeout", re.M)
_CODES = re.compile(r"^status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx", re.M)
_TRAFFIC = re.compile(r"^traffic: .*?\((\d+)\) data$", re.M)


@dataclass(frozen=True)
class Protocol:
    words: str
    arguments: tuple
    spoken: str  # as h2load names what was spoken


PROTOCOLS = {"h1": Protocol("HTTP/1.1", ("--h1",), "http/1.1"),
             "h2": Protocol("HTTP/2 with 10 streams on each", ("-m10",), "h2c")}


@dataclass(frozen=True)
class Output:
    seconds: float
    requests_per_second: float
    total: int
    started: int
    done: int
    succeeded: int
    failed: int
    errored: int
    timeout: int
    codes: tuple  # answers with 2xx, 3xx, 4xx, 5xx
    data_bytes: int  # content of all answers together
    spoken: str


def parse(text):
    """Output of the text that h2load printed; Failed when a line of it is missing."""
    found = [pattern.search(text) for pattern in (_FINISHED, _REQUESTS, _CODES, _TRAFFIC, _SPOKEN)]
    if not all(found):
        raise Failed(f"h2load printed no result:\n{text.strip() or '(nothing)'}")
    finished, requests, codes, traffic, spoken = found
    return Output(float(finished[1]) * _UNITS[finished[2]], float(finished[3]),
                  *(int(count) for count in requests.groups()),
                  tuple(int(count) for count in codes.groups()), int(traffic[1]), spoken[1])


def faults(output, *, requests, size_bytes, proto="h1"):
    """What is wrong with a run of that many requests for an object of that size; empty when nothing is."""
    wrong = [f"{name}: {getattr(output, name)} instead of {requests}"
             for name in ("total", "started", "done", "succeeded") if getattr(output, name) != requests]
    wrong += [f"{name}: {getattr(output, name)} instead of 0"
              for name in ("failed", "errored", "timeout") if getattr(output, name) != 0]
    if output.codes != (requests, 0, 0, 0):
        wrong.append("status codes 2xx, 3xx, 4xx, 5xx: {}, {}, {}, {}".format(*output.codes))
    if output.data_bytes != requests * size_bytes:
        wrong.append(f"content: {output.data_bytes} bytes instead of {requests} x {size_bytes}")
    if output.spoken != PROTOCOLS[proto].spoken:
        wrong.append(f"{output.spoken} was spoken instead of {PROTOCOLS[proto].spoken}")
    if not output.requests_per_second > 0:
        wrong.append("0 requests/s")
    return wrong


def run(url, *, requests, connections, size_bytes, core, timeout_s, proto="h1", rate=None, log_file=None,
        program="h2load"):
    """One checked run on the given core: its Output. Errors: Failed, also after timeout_s.

    rate: requests/s of all connections together, in place of as many as get done: h2load sends one request of each
    connection at every tick. log_file: where it notes every request; read_log() reads that.
    """
    arguments = [str(program), *PROTOCOLS[proto].arguments, "-t1", f"-c{connections}", "-n", str(requests)]
    if rate is not None:
        arguments.append(f"--rps={rate / connections:.3f}")
    if log_file is not None:
        arguments.append(f"--log-file={log_file}")
    arguments.append(url)
    process = start(arguments, core=core, output=subprocess.PIPE)
    try:
        text = process.communicate(timeout=timeout_s)[0].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        raise Failed(f"h2load did not end within {timeout_s:.0f} s: {' '.join(arguments)}") from None
    finally:
        stop(process)
    if process.returncode != 0:
        raise Failed(f"h2load ended with status {process.returncode}:\n{text.strip()}")
    output = parse(text)
    wrong = faults(output, requests=requests, size_bytes=size_bytes, proto=proto)
    if wrong:
        raise Failed("h2load's run is not valid: " + "; ".join(wrong))
    return output


def read_log(text, requests):
    """The times of all requests in microseconds, from the text of h2load's log file.

    A line a request, parted by tabs: its start since 1970 in microseconds, the status code or -1, and how many
    microseconds it took; h2load may add columns. Errors: Failed, where one is missing or did not succeed.
    """
    times = []
    for number, line in enumerate(text.splitlines(), 1):
        columns = line.split("\t")
        if len(columns) < 3 or not all(re.fullmatch(r"-?\d+", column) for column in columns[:3]):
            raise Failed(f"line {number} of h2load's log is not start, status and time: {line!r}")
        if not 200 <= int(columns[1]) <= 299 or int(columns[2]) < 0:
            raise Failed(f"line {number} of h2load's log is no success: {line!r}")
        times.append(int(columns[2]))
    if len(times) != requests:
        raise Failed(f"h2load's log has {len(times):,} requests instead of {requests:,}")
    return times
