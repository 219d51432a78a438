#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A site with an int, a string and a double takes fewer than 120 bytes of code, for each compiler.

Compiles a function with 100 such sites and one with 200: the difference is what 100 sites take, in the function and
out of its way. What all sites of these argument types share is in both, and is not counted.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

FEW, MANY = 100, 200
MOST_BYTES = 120


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nfailed:\n{done.stdout}{done.stderr}")
    return done.stdout


def source(sites):
    lines = "".join(f'  Dbg(size_dbg, "line {n}: id={{}} host={{}} took={{}}", id, host, took);\n  asm volatile("" ::: "memory");\n'
                    for n in range(sites))
    return ("#include <string_view>\n#include <telltale/diag/dbg.h>\n"
            'namespace { constexpr telltale::diag::DbgCtl size_dbg{"size"}; }\n'
            f"void sites(int id, std::string_view host, double took) {{\n{lines}}}\n")


def code_bytes(compiler, include, folder, sites):
    file, made = folder / f"sites{sites}.cc", folder / f"sites{sites}.o"
    file.write_text(source(sites))
    run(compiler, "-std=c++20", "-O2", "-g0", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-I", include, "-c", file,
        "-o", made)
    sections = [line.split() for line in run("size", "-A", made).splitlines()]
    return sum(int(columns[1]) for columns in sections if columns and columns[0].startswith(".text"))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--include", required=True)
    options.add_argument("compilers", nargs="+")
    options = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for compiler in options.compilers:
            few, many = (code_bytes(compiler, options.include, pathlib.Path(name), sites) for sites in (FEW, MANY))
            each = (many - few) / (MANY - FEW)
            # A compare and a branch are 13 bytes: less, and what is counted is not the sites.
            if not 13 < each < MOST_BYTES:
                sys.exit(f"{compiler}: a site with three arguments takes {each:.1f} bytes of code, expected fewer than {MOST_BYTES}")
            print(f"{compiler}: a site with three arguments takes {each:.1f} bytes of code")


if __name__ == "__main__":
    main()
