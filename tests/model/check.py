#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Has spin check the model of OneWriterMultiReader, and that it sees each fault that the model can be given.

usage: check.py MODEL.pml [--long]

Each run is a verifier of its own: `spin -a`, compiled, every interleaving tried. Without --long the smaller
numbers of threads (some seconds); with it larger ones too, which take up to 1 GB. Two readers and two writers with store buffers are more than
3 GB hold (some 10^8 states), and are not among them.
"""
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


@dataclasses.dataclass(frozen=True)
class Check:
    name: str
    defines: str
    claim: str = ""       # an ltl formula of the model; empty: assertions and end states
    finds: str = ""       # what spin must complain of; empty: of nothing
    options: str = ""     # for the verifier


def size(readers, counted, writers):
    return f"-DREADERS={readers} -DCOUNTED={counted} -DWRITERS={writers}"


SHORT = [
    Check("two readers, one writer", size(2, 0, 1)),
    Check("one reader, two writers", size(1, 0, 2)),
    Check("a reader with a slot and one without", size(1, 1, 1)),
    Check("the try forms", size(1, 0, 1) + " -DTRY"),
    Check("without membarrier(2)", size(1, 0, 2) + " -DSYMMETRIC"),
    Check("a waiting writer gets in", size(1, 0, 2), "writer_gets_in"),
    Check("a waiting writer gets in, two readers", size(2, 0, 1), "writer_gets_in"),
    Check("a reader gets in while writers keep coming", size(1, 0, 2), "reader_gets_in"),
    Check("fault: no barrier", size(1, 0, 1) + " -DFAULT_NO_BARRIER", finds="assertion violated", options="-E"),
    Check("fault: nobody wakes the writer", size(1, 0, 1) + " -DFAULT_NO_WAKE", finds="invalid end state"),
    Check("fault: those let in are not counted", size(1, 0, 2) + " -DFAULT_NOT_COUNTED", finds="assertion violated",
          options="-E"),
    Check("fault: queued writers go first", size(1, 0, 2) + " -DFAULT_WRITERS_FIRST", "reader_gets_in", "acceptance cycle"),
    Check("fault: a waiting writer gives way", size(1, 0, 1) + " -DFAULT_GIVES_WAY", "writer_gets_in", "acceptance cycle"),
]
LONG = [
    Check("the try forms, two readers", size(2, 0, 1) + " -DTRY"),
    Check("two readers, two writers, without membarrier(2)", size(2, 0, 2) + " -DSYMMETRIC"),
]


def run(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def verify(model, check):
    """None, or what is wrong; and a line for the reader."""
    with tempfile.TemporaryDirectory() as folder:
        live = ["-DLIVE"] if check.claim else []
        status, said = run(["spin", "-a", *check.defines.split(), *live, str(model)], folder)
        if status != 0:
            return said, ""
        kind = ["-DNFAIR=8"] if check.claim else ["-DSAFETY"]
        status, said = run(["cc", "-O1", "-w", "-DCOLLAPSE", "-DMEMLIM=3000", *kind, "pan.c", "-o", "pan"], folder)
        if status != 0:
            return said, ""
        claim = ["-a", "-f", "-N", check.claim] if check.claim else []
        _, said = run(["./pan", "-m4000000", "-n", *claim, *check.options.split()], folder)
    errors = re.search(r"errors: (\d+)", said)
    states = re.search(r"(\S+) states, stored", said)
    line = f"{check.name}: {states[1] if states else '?'} states"
    if errors is None or "max search depth too small" in said or "out of memory" in said or not states:
        return said, line
    if not check.finds:
        return (said if errors[1] != "0" else None), line
    if errors[1] == "0" or check.finds not in said:
        return f"spin should have found '{check.finds}':\n{said}", line
    return None, f"{line}, found: {check.finds}"


def main(arguments):
    checks = SHORT + (LONG if "--long" in arguments else [])
    model = pathlib.Path(next(one for one in arguments if one != "--long")).resolve()
    for tool in ("spin", "cc"):
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is missing; its package is in cmake/deps.cmake")
    wrong = 0
    # The long ones fill the memory: one at a time.
    at_once = 1 if "--long" in arguments else os.cpu_count()
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for complaint, line in pool.map(lambda one: verify(model, one), checks):
            print(line, flush=True)
            if complaint is not None:
                wrong += 1
                print(complaint, flush=True)
    print(f"{len(checks) - wrong} of {len(checks)} as they must be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
