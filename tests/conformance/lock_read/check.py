#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""An undisturbed read of OneWriterMultiReader is two dozen plain instructions, for each compiler.

Compiles read.cc with -fPIC, as a plugin is, disassembles read_once() and follows the path on which no branch
is taken: the branches to what is rare must be the taken ones. On it there is no call, no locked instruction
and no fence, two stores at most (to the thread's slot) and at most LONGEST instructions.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LONGEST = 24
LOCKED = re.compile(r"^(lock |xchg|mfence|lfence|sfence|cpuid)")
STORE = re.compile(r"^mov\w* [^,(]+,.*\(")
BRANCH = re.compile(r"^j(?!mp)\w+ ")


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nfailed:\n{done.stdout}{done.stderr}")
    return done.stdout


def straight_path(library):
    """The instructions of read_once() up to its return, no branch taken, padding left out."""
    path, inside = [], False
    for line in run("objdump", "-d", "--no-show-raw-insn", library).splitlines():
        if re.match(r"[0-9a-f]+ <read_once>:$", line):
            inside = True
        elif inside and (code := re.match(r"\s*[0-9a-f]+:\s+(\S.*?)\s*(#.*)?$", line)):
            text = re.sub(r"\s+", " ", code[1])
            if not re.match(r"(nop|endbr64|xchg %ax,%ax|data16|cs nop)", text):
                path.append(text)
            if text.startswith(("ret", "jmp")):
                return path
    sys.exit("no return found in read_once()")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--include", required=True)
    options.add_argument("--library", required=True)
    options.add_argument("compilers", nargs="+")
    options = options.parse_args()
    for compiler in options.compilers:
        if shutil.which(compiler) is None:
            sys.exit(f"{compiler} is missing; its package is in cmake/deps.cmake")
        with tempfile.TemporaryDirectory() as folder:
            library = pathlib.Path(folder) / "read.so"
            run(compiler, "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-I", options.include,
                HERE / "read.cc", "-o", library, options.library)
            path = straight_path(library)
        faults = [text for text in path if LOCKED.match(text) or text.startswith("call")]
        if not path[-1].startswith("ret"):
            faults.append("it leaves by " + path[-1])
        if len(path) > LONGEST:
            faults.append(f"{len(path)} instructions")
        if sum(1 for text in path if STORE.match(text)) != 2:
            faults.append("not two stores")
        if sum(1 for text in path if BRANCH.match(text)) != 4:
            faults.append("not four branches")
        if faults:
            sys.exit(f"{compiler}: an undisturbed read is not what it should be ({'; '.join(faults)}):\n" + "\n".join(path))
        print(f"{compiler}: {len(path)} instructions")


main()
