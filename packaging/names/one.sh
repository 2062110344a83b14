#!/bin/sh
# What make.sh does for one recipe, in a mount namespace of its own.
# usage: sh one.sh JPROF OUTPUT_DIRECTORY CACHE MIRROR SUITE ARCHITECTURE SOURCE VERSION LIBRARY...
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
jprof=$1 output=$2 cache=$3 mirror=$4
shift 4
suite=$1 arch=$2 source=$3 version=$4
shift 4

# chroot_of SUITE: its directory, made if it is not there.
chroot_of() {
    root=$cache/$1
    if [ ! -e "$root/ready" ]; then
        # sid has no updates, and its packages no /bin of their own.
        merged=
        [ "$1" != sid ] || merged=--merged-usr
        debootstrap --variant=buildd $merged "$1" "$root" "$mirror" >&2
        places="$mirror $1"
        [ "$1" = sid ] || places="$places
$mirror $1-updates
$mirror-security $1-security"
        echo "$places" | sed 's/.*/deb & main\ndeb-src & main/' >"$root/etc/apt/sources.list"
        cp /etc/resolv.conf "$root/etc/resolv.conf"
        # Whether the mirror is dated, and the way to it, hold inside, too.
        apt-config dump | sed -En '/^Acquire::(https?::Proxy[ :]|Check-)/p' >"$root/etc/apt/apt.conf.d/00host"
        chroot "$root" sh -ec 'apt-get -qq update; DEBIAN_FRONTEND=noninteractive apt-get -qq -y upgrade;
            DEBIAN_FRONTEND=noninteractive apt-get -qq -y install dpkg-dev fakeroot' >&2
        touch "$root/ready"
    fi
    echo "$root"
}

# wanted_version ROOT SOURCE VERSION: "=VERSION", or nothing, which is the newest, for - or where the mirror has that one no more.
wanted_version() {
    [ "$3" != - ] || return 0
    if chroot "$1" apt-cache showsrc "$2" | grep -qxF "Version: $3"; then
        echo "=$3"
    else
        echo "$2: the mirror has no $3 any more; the newest is taken" >&2
    fi
}

# build LIBRARY...: the package in its place in the root, once.
build() {
    [ ! -e "$root$place/done" ] || return 0
    rm -rf "${root:?}$place" # of a build that was ended
    wanted=$(wanted_version "$root" "$source" "$version")
    mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
    nice -n "${JPROF_NAMES_NICE:-19}" chroot "$root" sh -euc "$(cat "$here/compile.sh")" compile \
        "$native" "$arch" "$source" "$wanted" "$place" "$@" >&2
}

# The files of the tree that have these names and symbols; of several the first.
library() {
    find "$1" -name "$2" -type f | sort | while read -r file; do
        if readelf -SW "$file" | grep -q ' \.symtab '; then
            echo "$file"
            break
        fi
    done
}

root=$(chroot_of "$suite")
native=$(chroot "$root" dpkg --print-architecture)
place=/build/$source$([ "$arch" = "$native" ] || echo "-$arch")
build "$@"

# A file without a soname is an extension: its pack has the source's name, too.
built=$(cat "$root$place"/*/debian/changelog | sed -n '1s/.*(\(.*\)).*/\1/p')
release=$(sed -n 's/^VERSION_ID="\(.*\)"/\1/p' "$root/etc/os-release")
release=${release:-$suite}
for name in "$@"; do
    file=$(library "$root$place" "$name")
    [ -n "$file" ] || { echo "$source: there is no $name with symbols" >&2; exit 1; }
    readelf -dW "$file" | grep -q SONAME && prefix= || prefix=$source-
    pack=$output/$prefix${name%%.so*}_${built}_debian${release}_$arch.jnames
    rm -f "$pack"
    "$jprof" names learn -o "$pack" --version="$built" --source="$source" --distribution="Debian $release" "$file"
    ls -l "$pack"
done
