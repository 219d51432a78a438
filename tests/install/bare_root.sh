#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Shows that a bare Debian 12 and the two commands of the README are enough: makes a root file system with
# mmdebstrap (minbase: no compiler, no CMake, no Python, no git), puts a fresh clone of the last commit into
# it, and types the command there. Not part of ./tt test: it needs root, mmdebstrap and Debian's archive,
# and installs and compiles everything anew. Packages come from where this machine's apt takes them.
#
#   tests/install/bare_root.sh run    ./tt run, then the commands it prints, SIGTERM
#   tests/install/bare_root.sh test   ./tt test
#   tests/install/bare_root.sh both   one after the other, in one root
set -euo pipefail
repository=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")

fail() { printf 'bare_root: %s\n' "$*" >&2; exit 1; }
say() { printf '\n#### bare_root: %s\n' "$*" >&2; }

what=${1-}
[[ $what == run || $what == test || $what == both ]] || fail "usage: $0 run|test|both"
((EUID == 0)) || fail "needs root, to make device nodes and to chroot"
command -v mmdebstrap >/dev/null || fail "needs the package mmdebstrap"

root=$(mktemp -d "${TMPDIR:-/var/tmp}/telltale-bare.XXXXXX")
trap 'rm -rf --one-file-system "$root" "$root.apt.conf"' EXIT

say "making $root"
sources=()
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
  [[ -f $file ]] && sources+=("$file")
done
apt-config dump | grep -E '^Acquire::(https?::[Pp]roxy|Check-)' >"$root.apt.conf" || true
mmdebstrap --quiet --variant=minbase --aptopt="$root.apt.conf" bookworm "$root" "${sources[@]}"
for tool in git cmake python3 g++ curl; do
  [[ ! -e $root/usr/bin/$tool ]] || fail "the root is not bare: it has $tool"
done
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
git clone -q --no-hardlinks "$repository" "$root/telltale"

# inside COMMAND: bash in the root, with its own processes and mounts, which end with it.
inside() {
  unshare --mount --pid --fork --kill-child --mount-proc="$root/proc" \
    bash -c 'mount --rbind /dev "$1/dev" && exec chroot "$1" env -i HOME=/root CI=true LANG=C.UTF-8 \
      PATH=/usr/sbin:/usr/bin:/sbin:/bin bash -euc "$2" </dev/null' bash "$root" "$1"
}

if [[ $what != test ]]; then
  say "./tt run"
  inside '
    cd /telltale
    ./tt run >/tmp/run.out &
    tt=$!
    until grep -q "^Ctrl-C ends both" /tmp/run.out; do
      kill -0 $tt || { echo "./tt run ended" >&2; exit 1; }
      sleep 0.2
    done
    cat /tmp/run.out
    # What it says is worth trying, typed as it stands there.
    sed -n "s/^  //p" /tmp/run.out >/tmp/worth_trying
    bash -eux /tmp/worth_trying
    for ((tries = 0; tries < 50; ++tries)); do
      ! grep -q " DEBUG (http" configs/demo/var/logs/diags.log || break
      sleep 0.1
    done
    ((tries < 50)) || { echo "no debug line came" >&2; exit 1; }
    bytes=$(curl -fsS http://127.0.0.1:8080/bytes/60 | wc -c)
    [[ $bytes == 60 ]] || { echo "60 bytes were expected, $bytes came" >&2; exit 1; }
    kill -TERM $tt
    wait $tt
  '
  say "./tt run: the printed commands work, SIGTERM ended it cleanly"
fi
if [[ $what != run ]]; then
  say "./tt test"
  inside 'cd /telltale && ./tt test'
  say "./tt test: passed"
fi
