#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A disabled site is one compare with memory and one branch, for each compiler.

Compiles sites.cc as an executable and as a -fPIC library, disassembles it, and follows the
path on which no site is on. Without the compares and branches of its sites, that path must be, instruction
for instruction, the twin function that has no site. Also: as many hot bytes and list items as sites, in
sections of their own, also after the linkers' garbage collection; and no STB_GNU_UNIQUE symbol, which would
pin a library in memory after dlclose().
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# function (mangled or plain), its twin, its sites
PAIRS = [
    ("core_with_site", "core_twin", 1),
    ("inline_with_site", "inline_twin", 1),
    ("_Z8instanceI3SsnEiRT_", "template_twin", 1),
    ("specific_with_site", "specific_twin", 1),
    ("two_with_sites", "two_twin", 2),
]
SITES = sum(sites for _, _, sites in PAIRS)
LINKERS = ("bfd", "gold", "lld")
COMPARE = re.compile(r"cmpb \$0x0,(0x[0-9a-f]+)?\(%r\w+\)$")


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nfailed:\n{done.stdout}{done.stderr}")
    return done.stdout


class Code:
    """Instructions by address, and functions by name."""

    def __init__(self, path):
        self.instructions, self.order, self.functions = {}, [], {}
        for line in run("objdump", "-d", "--no-show-raw-insn", path).splitlines():
            if head := re.match(r"([0-9a-f]+) <([^>]+)>:$", line):
                self.functions[head[2]] = int(head[1], 16)
            elif code := re.match(r"\s*([0-9a-f]+):\s+(\S.*?)\s*(#.*)?$", line):
                self.instructions[int(code[1], 16)] = re.sub(r"\s+", " ", code[2])
        self.order = sorted(self.instructions)
        self.following = dict(zip(self.order, self.order[1:]))

    def disabled_path(self, name):
        """What runs while every site is off, without padding; and how many compares it passed."""
        at, path, sites = self.functions[name], [], 0
        while len(path) < 200:
            text = self.instructions[at]
            following = self.following.get(at)
            if COMPARE.match(text):
                branch = self.instructions[following]
                if not re.match(r"jne\b", branch):
                    sys.exit(f"{name}: a compare is followed by {branch!r}, not by a branch to code that is out of the way")
                sites += 1
                at = self.following[following]
            elif jump := re.match(r"jmp ([0-9a-f]+)", text):
                at = int(jump[1], 16)
            else:
                if not re.match(r"(nop|endbr64|xchg %ax,%ax|data16|cs nop)", text):
                    path.append(text)
                if text.startswith("ret"):
                    return path, sites
                at = following
        sys.exit(f"{name}: no return found")


def check_pairs(compiler, kind, binary, pairs):
    code = Code(binary)
    for name, twin, expected in pairs:
        path, sites = code.disabled_path(name)
        plain, none = code.disabled_path(twin)
        if sites != expected or none != 0:
            sys.exit(f"{compiler}, {kind}, {name}: {sites} compares on the disabled path, expected {expected}")
        if path != plain:
            sys.exit(f"{compiler}, {kind}, {name}: a disabled site costs more than a compare and a branch:\n"
                     + "\n".join(path) + "\nwithout a site:\n" + "\n".join(plain))


def check(compiler, kind, binary):
    check_pairs(compiler, kind, binary, PAIRS)
    check_listed(compiler, kind, binary)


def check_listed(compiler, kind, binary):
    """Every site has its byte and its list item, and there are no others."""
    for name, size in (("telltale_hot", SITES), ("telltale_rec", 8 * SITES)):
        section = re.search(name + r"\s+PROGBITS\s+\S+\s+\S+\s+([0-9a-f]+)", run("readelf", "-SW", binary))
        if section is None or int(section[1], 16) != size:
            sys.exit(f"{compiler}, {kind}: {name} is not {size} bytes: {section and section[0]}")


def check_not_unique(path):
    unique = [line for line in run("readelf", "--dyn-syms", "-W", path).splitlines() if " UNIQUE " in line]
    if unique:
        sys.exit(f"{path}: these symbols keep it in memory after dlclose():\n" + "\n".join(unique))


def can_link_lto(compiler, linker, folder):
    """Does this linker have the compiler's plug-in? That of another version of LLVM has not."""
    source = folder / "nothing.cc"
    source.write_text("int nothing() { return 0; }\n")
    linked = subprocess.run([compiler, "-flto", "-shared", "-fPIC", f"-fuse-ld={linker}", source, "-o", folder / "nothing.so"],
                            capture_output=True, check=False)
    # lld takes what g++ wrote for its plug-in for an object without code.
    return linked.returncode == 0 and "nothing" in run("nm", "-D", folder / "nothing.so")


class Objects:
    """sites.cc and main.cc as objects: each is compiled once with the same flags, however often it is linked."""

    def __init__(self, compiler, include, folder):
        self._common = [compiler, "-std=c++20", "-O2", "-g0", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden",
                        "-fvisibility-inlines-hidden", "-I", include]
        self._folder = folder
        self._made = {}

    def __call__(self, source, *flags):
        made = self._made.get((source, flags))
        if made is None:
            made = self._made[source, flags] = self._folder / f"{len(self._made)}.o"
            run(*self._common, *flags, "-c", HERE / source, "-o", made)
        return made


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--include", required=True)
    options.add_argument("--library", required=True)
    options.add_argument("--plugin", required=True)
    options.add_argument("compilers", nargs="+")
    options = options.parse_args()
    for program in (*options.compilers, *(f"ld.{linker}" for linker in LINKERS)):
        if shutil.which(program) is None:
            sys.exit(f"{program} is missing; its package is in cmake/deps.cmake")
    with tempfile.TemporaryDirectory() as folder:
        for compiler in options.compilers:
            objects = Objects(compiler, options.include, pathlib.Path(folder))
            libraries = [options.library, "-lfmt"]
            program = pathlib.Path(folder) / "program"
            run(compiler, "-pie", objects("sites.cc", "-fPIE"), objects("main.cc", "-fPIE"), "-o", program, *libraries,
                f"-Wl,-rpath,{pathlib.Path(options.library).parent}")
            library = pathlib.Path(folder) / "library.so"
            run(compiler, "-shared", objects("sites.cc", "-fPIC"), "-o", library, *libraries)
            check(compiler, "executable", program)
            check(compiler, "library", library)
            check_not_unique(library)
            combinations = []
            for linker in LINKERS:
                collecting = [f"-fuse-ld={linker}", "-Wl,--gc-sections", "-o", library, *libraries]
                run(compiler, "-shared", objects("sites.cc", "-fPIC", "-ffunction-sections"), *collecting)
                check_listed(compiler, f"library linked by {linker} with garbage collection", library)
                if not can_link_lto(compiler, linker, pathlib.Path(folder)):
                    continue
                whole = ("-flto", "-ffunction-sections")
                for kind, sources, position, flags in (("library", ("sites.cc",), "-fPIC", ("-shared",)),
                                                       ("executable", ("sites.cc", "main.cc"), "-fPIE", ("-pie", "-rdynamic"))):
                    run(compiler, "-O2", position, *flags, *whole, *(objects(source, position, *whole) for source in sources),
                        *collecting)
                    check_listed(compiler, f"{kind} linked by {linker} with LTO and garbage collection", library)
                combinations.append(linker)
            if not combinations:
                sys.exit(f"{compiler}: no linker here links its LTO objects; cmake/deps.cmake names one")
            print(f"{compiler}: {SITES} disabled sites, each one compare and one branch, in the executable and in a library; "
                  f"as many with LTO by {', '.join(combinations)}")
    check_not_unique(options.plugin)


if __name__ == "__main__":
    main()
