# SPDX-License-Identifier: Apache-2.0
"""./tt installs what is missing, and says so first. Here it meets stand-ins for apt-get and its like."""
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOBODY = 65534
TOOLS = ("bash", "cat", "dirname", "env", "mkdir", "nproc", "readlink", "rm")


class Machine:
    """A folder with ./tt and the list of packages, and a PATH that holds TOOLS and stand-ins only."""

    def __init__(self, folder):
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir()
        (folder / "tree" / "cmake").mkdir(parents=True)
        shutil.copy(ROOT / "tt", folder / "tree")
        shutil.copy(ROOT / "cmake" / "deps.cmake", folder / "tree" / "cmake")
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        (folder / "installed").write_text("")
        self.stand_in("dpkg-query", f'while read -r p; do [[ $p != "$3" ]] || printf "ii "; done <{folder}/installed')
        self.stand_in("apt-get", f'printf "%s\\n" "DEBIAN_FRONTEND=$DEBIAN_FRONTEND $*" >>{folder}/apt.calls')
        self.stand_in("cmake", "exit 3")
        for path in (folder, folder / "tree"):
            path.chmod(0o777)

    def stand_in(self, name, script):
        path = self.bin / name
        path.write_text(f"#!{shutil.which('bash')}\n{script}\n")
        path.chmod(0o755)

    def installed(self, *packages):
        (self.folder / "installed").write_text("".join(f"{p}\n" for p in packages))

    def tt(self, *arguments, root=True):
        command = [str(self.folder / "tree" / "tt"), *arguments]
        if not root and os.geteuid() == 0:
            command = [shutil.which("setpriv"), f"--reuid={NOBODY}", "--clear-groups", "--", *command]
        return subprocess.run(command, env={"PATH": str(self.bin)}, capture_output=True, text=True, timeout=30,
                              stdin=subprocess.DEVNULL, check=False)

    @property
    def apt_calls(self):
        calls = self.folder / "apt.calls"
        return calls.read_text().splitlines() if calls.exists() else []


@pytest.fixture
def machine():
    with tempfile.TemporaryDirectory() as folder:
        yield Machine(pathlib.Path(folder))


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="what ./tt does as root")


def test_help_lists_every_command(machine):
    for arguments in ([], ["help"], ["--help"]):
        done = machine.tt(*arguments)
        assert done.returncode == 0
        for command in ("run", "build", "test", "load", "bench", "docs"):
            assert f"\n  {command} " in done.stdout


def test_an_unknown_command_is_refused(machine):
    done = machine.tt("no-such")
    assert done.returncode != 0 and "no-such" in done.stderr and machine.apt_calls == []


@as_root
def test_missing_packages_are_named_with_their_reasons_and_installed(machine):
    machine.installed("g++", "cmake", "ninja-build")
    done = machine.tt("build")
    assert "libpcre2-dev" in done.stderr and "tag patterns" in done.stderr
    assert "ninja-build " not in done.stderr
    update, install = machine.apt_calls
    assert update.startswith("DEBIAN_FRONTEND=noninteractive ") and update.endswith(" update")
    assert " install -y --no-install-recommends " in install
    assert "libpcre2-dev" in install.split() and "cmake" not in install.split() and "catch2" not in install.split()


@as_root
@pytest.mark.parametrize("arguments, package", [(["test"], "catch2"), (["docs"], "catch2"), (["run"], "curl"), (["load"], "nghttp2-client"),
                                                (["load", "--against", "haproxy"], "haproxy"),
                                                (["load", "--against=nginx", "--against", "haproxy"], "nginx"),
                                                (["load", "--against", "trafficserver"], "trafficserver"),
                                                (["bench"], "libbenchmark-dev")])
def test_each_command_asks_for_its_own_packages(machine, arguments, package):
    machine.tt(*arguments)
    asked = {name for call in machine.apt_calls if " install " in call for name in call.split()}
    assert package in asked
    for peer in ("haproxy", "nginx", "trafficserver"):
        assert (peer in asked) == any(peer in argument for argument in arguments)


def test_help_of_load_installs_and_builds_nothing(machine):
    (machine.folder / "tree" / "perf").symlink_to(ROOT / "perf")
    for arguments in (["load", "--help"], ["load", "--rounds", "2", "-h"]):
        done = machine.tt(*arguments)
        assert done.returncode == 0 and "--against" in done.stdout, done.stderr
        assert machine.apt_calls == [] and "to be installed" not in done.stderr and "building" not in done.stderr


def test_nothing_is_installed_when_nothing_is_missing(machine):
    words = [line.split() for line in (ROOT / "cmake" / "deps.cmake").read_text().splitlines()]
    machine.installed(*(word[1] for word in words if word and word[0] == "telltale_package(build"))
    done = machine.tt("build")
    assert machine.apt_calls == [] and "to be installed" not in done.stderr
    assert done.returncode != 0  # the stand-in for cmake fails, and ./tt does not hide it


def test_without_root_and_sudo_the_command_to_type_is_shown(machine):
    done = machine.tt("build", root=False)
    assert done.returncode != 0 and machine.apt_calls == []
    assert "apt-get install -y --no-install-recommends g++" in done.stderr


def test_without_root_sudo_is_used_where_it_exists(machine):
    machine.stand_in("sudo", f'printf "%s\\n" "$*" >>{machine.folder}/sudo.calls')
    machine.tt("build", root=False)
    first = (machine.folder / "sudo.calls").read_text().splitlines()[0]
    assert first.startswith("env DEBIAN_FRONTEND=noninteractive apt-get") and first.endswith("update")


def test_another_system_is_told_where_the_list_is(machine):
    (machine.bin / "dpkg-query").unlink()
    done = machine.tt("build")
    assert done.returncode != 0 and "cmake/deps.cmake" in done.stderr


def test_tests_that_could_not_be_built_fail(machine):
    words = [line.split() for line in (ROOT / "cmake" / "deps.cmake").read_text().splitlines()]
    machine.installed(*(word[1] for word in words if word and word[0] in ("telltale_package(build", "telltale_package(test")))
    (machine.folder / "tree" / "tests").symlink_to(ROOT / "tests")
    done = machine.tt("test")
    assert done.returncode != 0 and done.stdout.splitlines()[-1] == "0 passed, 3 failed"


@pytest.mark.parametrize("command", ["run", "build", "docs"])
def test_a_command_that_takes_no_argument_refuses_one(machine, command):
    done = machine.tt(command, "x")
    assert done.returncode != 0 and "'x'" in done.stderr and machine.apt_calls == []


def test_test_takes_no_other_argument_than_long(machine):
    done = machine.tt("test", "--lnog")
    assert done.returncode != 0 and "--lnog" in done.stderr and machine.apt_calls == []
