#!/bin/sh
# Makes all that a page of releases holds, from the commit that is checked out: the sources, jprof-static with the agents in an archive,
# the gem, these two for aarch64, too, Debian's packages, a list of parts and the sums. One commit gives the same bytes, whenever it is done.
# usage: sh packaging/release.sh DIRECTORY    on Debian 12; root makes the packages, too, in bare systems
# SOURCE_DATE_EPOCH: the time of all files, else the commit's. JPROF_DEBIANS: for which packages are made, "bookworm trixie".
# JPROF_MACHINES: for which the archive and the gem are made: this one, and aarch64 from x86_64.
# JPROF_NO_INSTALL=1 installs nothing.
set -eu

die() {
    echo "release.sh: $*" >&2
    exit 1
}
step() { echo "release.sh: at $(($(date +%s) - start)) s: $*"; }

# FOLDER/NAME as a tar with one time, one owner and the rights that git keeps.
tar_of() { # FOLDER NAME
    tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -cf - -C "$1" "$2"
}

# The commit, or a checkout that came without its history.
sources() { # INTO
    if [ -e .git ]; then
        git -c safe.directory='*' archive HEAD | tar -x -C "$1"
    else
        find . -mindepth 1 -maxdepth 1 ! \( -type d -name 'build*' \) -print0 | tar --exclude=__pycache__ -c --null -T - | tar -x -C "$1"
    fi
}

quietly() { # LOG COMMAND...
    log=$1
    shift
    "$@" >"$work/$log.log" 2>&1 || {
        tail -n 40 "$work/$log.log" >&2
        die "$* failed"
    }
}

# jprof-static in the places where a tar -C PREFIX --strip-components=1 wants it, with the agents, manual pages and completion.
static_tree() { # INTO MACHINE FOLDER-OF-STATIC FOLDER-OF-GLIBC
    mkdir -p "$1/bin" "$1/lib/jprof" "$1/share/doc/jprof"
    cp "$3/jeprof-c/jprof-static" "$1/bin/jprof"
    ln -s jprof "$1/bin/jprof-snap"
    cp "$3/agent/libjprof-agent.so" "$1/lib/jprof/libjprof-agent-musl.so"
    cp "$4/agent/libjprof-agent.so" "$1/lib/jprof/libjprof-agent-glibc.so"
    "$2-linux-gnu-strip" --strip-unneeded "$1"/lib/jprof/*.so
    DESTDIR=$work/installed quietly install meson install -C build
    share=$(find "$work/installed" -type d -name man)/..
    cp -r "$share/man" "$share/bash-completion" "$share/fish" "$share/zsh" "$1/share"
    cp "$share/doc/jprof/jprof.html" LICENSE "$1/share/doc/jprof"
    sh packaging/notices.sh "$1/share/doc/jprof/parts" "$2"
}

# Debian's packages, in a bare system of that suite.
debs_of() { # SUITE
    root=$work/$1
    mkdir -p "$root/etc/dpkg/dpkg.cfg.d"
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/throw-away"
    quietly "debootstrap-$1" debootstrap --variant=minbase "$1" "$root" http://deb.debian.org/debian
    for part in "debian $1" "debian $1-updates" "debian-security $1-security"; do
        echo "deb http://deb.debian.org/$part main"
    done >"$root/etc/apt/sources.list"
    apt-config dump | sed -En '/^Acquire::(https?::Proxy[ :]|Check-)/p' >"$root/etc/apt/apt.conf.d/00host"
    cp /etc/resolv.conf "$root/etc"
    mkdir "$root/src"
    sources "$root/src"
    # shellcheck disable=SC2016
    quietly "packages-$1" unshare --mount --pid --fork --kill-child sh -euc 'mount -t proc proc "$1/proc"
        exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C SOURCE_DATE_EPOCH="$2" \
            sh /src/packaging/debian-build.sh /debs' sh "$root" "$SOURCE_DATE_EPOCH"
    find "$root/debs" -name '*.deb' ! -name '*-dbgsym_*' -exec cp -t "$output" {} +
    rm -rf --one-file-system "$root"
}

[ $# -eq 1 ] || die "usage: sh packaging/release.sh DIRECTORY"
start=$(date +%s)
mkdir -p "$1"
output=$(CDPATH='' cd -- "$1" && pwd)
[ -z "$(ls "$output")" ] || die "$output is not empty"
CDPATH='' cd -- "$(dirname -- "$0")/.."
own=$(uname -m)
if [ "$own" = x86_64 ]; then other=aarch64 group=cross; else other='' group=musl; fi
machines=${JPROF_MACHINES-$own $other}
if [ "${JPROF_NO_INSTALL:-}" != 1 ]; then sh packaging/deps.sh build "$group"; fi
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -c safe.directory='*' log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
umask 022
home=$(sed -n 's/^ *JPROF=\([^ ]*\).*/\1/p' README.md)
version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" meson.build | head -n 1)
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT

name=jprof-$version
mkdir "$work/$name"
sources "$work/$name"
tar_of "$work" "$name" | xz -T1 -9 >"$output/$name.tar.xz"
debians=${JPROF_DEBIANS-bookworm trixie}
if [ -n "$debians" ] && ! { [ "$(id -u)" -eq 0 ] && command -v debootstrap >/dev/null; }; then
    echo "release.sh: no packages of $debians: that needs root and debootstrap" >&2
    debians=
fi
for suite in $debians; do
    debs_of "$suite"
    step "packages of $suite"
done

cd "$work/$name"
quietly setup meson setup --buildtype=release -Dauto_features=enabled build
quietly compile meson compile -C build
step "built"
for machine in $machines; do
    JPROF_NO_INSTALL=1 quietly "static-$machine" sh packaging/static.sh "build-$machine" "$machine"
    glibc=build
    if [ "$machine" != "$own" ]; then glibc=build-$machine/glibc; fi
    static=$name-$machine-linux
    static_tree "$work/$static" "$machine" "build-$machine" "$glibc"
    tar_of "$work" "$static" | gzip -n -9 >"$output/$static.tar.gz" # slim images have no xz
    quietly gem sh packaging/gem.sh "build-$machine" "$glibc" "$output" "$machine"
    step "$static"
done
sh packaging/notices.sh "$work/notices"
cd "$output"
python3 -B "$work/$name/packaging/spdx.py" "$version" "$home" "$work/notices" ./* >"$work/spdx.json"
mv "$work/spdx.json" "$name.spdx.json"
sha256sum -- * >"$work/sums"
mv "$work/sums" SHA256SUMS
step "$(ls | wc -l) files, $(du -sk . | cut -f 1) KB"
