#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the C++ sample out of README.md, builds it, runs it, and looks for its line."""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--include", required=True)
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("readme", type=pathlib.Path)
    parser.add_argument("compiler")
    args = parser.parse_args()
    samples = re.findall(r"```cpp\n(.*?)```", args.readme.read_text(), re.S)
    if len(samples) != 1:
        sys.exit(f"{args.readme}: expected one C++ sample, found {len(samples)}")
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "sample.cc"), pathlib.Path(folder, "sample")
        source.write_text(samples[0])
        subprocess.run([args.compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{args.include}", source, "-o", program,
                        args.library, f"-Wl,-rpath,{args.library.parent}", "-lfmt", "-pthread"], check=True)
        run = subprocess.run([program], stderr=subprocess.PIPE, text=True, check=True, timeout=60)
    if not re.search(r"DEBUG \(demo\) <.*sample.cc:\d+ \(main\)> the answer is 42 kind=number\n", run.stderr):
        sys.exit(f"the sample's line is missing:\n{run.stderr}")


if __name__ == "__main__":
    main()
