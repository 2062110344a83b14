#!/bin/sh
# Prints the folder with what jprof links with on musl, shared and static; makes it first, once, from Debian's sources.
# usage: sh sysroot.sh [MACHINE]    on Debian 12; packages: sh packaging/deps.sh musl
# MACHINE: this one, or aarch64 from x86_64; packages: sh packaging/deps.sh cross
# It is kept in $JPROF_DOWNLOADS (~/.cache/jprof). Whatever changes it changes its name.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)

machine=${1:-$(uname -m)}
if [ "$machine" = "$(uname -m)" ]; then gcc=gcc; else gcc=$machine-linux-gnu-gcc; fi
command -v musl-gcc "$gcc" >/dev/null || {
    echo "sysroot.sh: no musl-gcc or no $gcc here: sh packaging/deps.sh musl, for another machine than this one: cross" >&2
    exit 1
}
cache=${JPROF_DOWNLOADS:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/jprof}
# Its gcc-11 has the last unwinder that does without glibc.
key=$({
    cd "$here" && find . -type f | LC_ALL=C sort | xargs cat
    dpkg-query -W musl-dev libgcc-11-dev && "$gcc" --version
} | sha256sum | cut -c 1-12)
sysroot=$cache/musl-$machine-$key
mkdir -p "$cache"
# Two runs must not build it at once. Closed for what is started: a program left behind would keep the lock.
(
    flock 9
    if ! [ -d "$sysroot" ]; then
        # What has not been used for a week belongs to older recipes.
        find "$cache" -maxdepth 1 -name "musl-$machine-*" -mtime +7 -exec rm -rf {} +
        sh "$here/build.sh" "$cache" "$sysroot" "$machine" >&2 9>&-
    fi
) 9>"$cache/musl.lock"
touch "$sysroot"
echo "$sysroot"
