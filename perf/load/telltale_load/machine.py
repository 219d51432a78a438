# SPDX-License-Identifier: Apache-2.0
"""Processes on chosen cores, the CPU time they used, and the facts of the machine that a reader needs."""
import ctypes
import os
import pathlib
import platform
import signal
import subprocess
import time
from dataclasses import dataclass

_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Placement:
    proxy: int  # the core of the proxy under test
    others: int  # the core of generator and origin
    remark: str  # what this placement means for the figures


def place(cores, siblings):
    """Which core for what. cores: those we may use; siblings: core -> the threads of its physical core."""
    cores = sorted(cores)
    proxy = cores[-1]
    if len(cores) == 1:
        return Placement(proxy, proxy, f"only one core: proxy, generator and origin share core {proxy}")
    apart = [core for core in cores[:-1] if core not in siblings.get(proxy, ())]
    if apart:
        return Placement(proxy, apart[0], f"proxy on core {proxy}, generator and origin on core {apart[0]}")
    return Placement(proxy, cores[0], f"proxy on core {proxy}, generator and origin on core {cores[0]}, "
                                      "which are two threads of one physical core and slow each other")


def usable_cores():
    """The cores this process may use, and the siblings of each: arguments of place()."""
    cores = os.sched_getaffinity(0)
    siblings = {}
    for core in cores:
        text = _read(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
        siblings[core] = _numbers(text) if text else {core}
    return cores, siblings


def _numbers(text):
    """{0, 1, 4} of the kernel's list 0-1,4."""
    found = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def start(arguments, *, core, output, environment=None):
    """Starts a program on one core, or on several, in a session of its own so that Ctrl-C reaches only us; we end it.

    taskset and setpriv replace themselves by the program, so the process id is the program's. Should we be
    killed, the kernel ends it. output: where stdout and stderr go.
    """
    cores = str(core) if isinstance(core, int) else ",".join(map(str, sorted(core)))
    command = ["taskset", "--cpu-list", cores, "setpriv", "--pdeathsig", "KILL", "--", *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                            start_new_session=True, env={**os.environ, **(environment or {})})


def stop(process):
    """Ends it, whatever its state; returns when it is gone."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdout:
        process.stdout.close()


def cpu_time_ns(pid):
    """User and system time of the whole process so far, threads that have ended included."""
    clock = ctypes.c_int()
    error = _LIBC.clock_getcpuclockid(pid, ctypes.byref(clock))
    if error:
        raise OSError(error, os.strerror(error))
    return time.clock_gettime_ns(clock.value)


@dataclass(frozen=True)
class ThreadTimes:
    tid: int
    name: str
    ran_ns: int
    waited_ns: int  # ready to run while something else had the core


def threads(pid):
    """ThreadTimes of each thread of the process that lives now."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        fields = _read(task / "schedstat").split()
        if len(fields) == 3:
            found.append(ThreadTimes(int(task.name), _read(task / "comm").strip(), int(fields[0]), int(fields[1])))
    return found


def filesystem(path):
    """The kind of filesystem a path is on: tmpfs, ext2/ext3, overlayfs."""
    return first_line("stat", "-f", "-c", "%T", str(path)) or "unknown"


def facts(root, placement):
    """What a reader must know to judge the figures, in the order to print it."""
    cpu = [line.partition(":")[2].strip() for line in _read("/proc/cpuinfo").splitlines()
           if line.startswith("model name")]
    found = {"cpu": cpu[0] if cpu else platform.machine(),
             "cores": f"{os.cpu_count()}, of which usable {len(os.sched_getaffinity(0))}",
             "placement": placement.remark,
             "kernel": platform.release(),
             "load average at start": "{:.2f} {:.2f} {:.2f}".format(*os.getloadavg()),
             "h2load": first_line("h2load", "--version")}
    governor = _read(f"/sys/devices/system/cpu/cpu{placement.proxy}/cpufreq/scaling_governor").strip()
    if governor:
        found["frequency governor"] = governor
    commit = first_line("git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12")
    if commit:
        found["commit"] = commit
    return found


def _read(path):
    try:
        return pathlib.Path(path).read_text("utf-8", "replace")
    except OSError:
        return ""


def first_line(*command):
    """The first line a command prints; empty when it cannot be had."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True,
                              stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return ""
    return (done.stdout or done.stderr).partition("\n")[0].strip()  # nginx -v prints to stderr
