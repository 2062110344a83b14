#!/bin/sh
# Makes packs of names for libraries of Debian, out of their source packages: built once more with the package's own options, in a
# chroot of its suite, where they keep their symbols. Needs root, debootstrap, a mirror, and for a Ruby 4 to 25 minutes.
# usage: sh make.sh JPROF OUTPUT_DIRECTORY [SUITE SOURCE]...     all of `recipes`, or these
# JPROF_NAMES_CACHE: where chroots and builds are kept (/var/cache/jprof-names); what was built is not built again.
# JPROF_NAMES_NICE: how nice builds are to other programs (19).
# JPROF_NAMES_MIRROR: the mirror (http://deb.debian.org/debian).
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
[ $# -ge 2 ] || { sed -n 's/^# usage: //p' "$0" >&2; exit 1; }
jprof=$(CDPATH= cd -- "$(dirname -- "$1")" && pwd)/${1##*/}
output=$(CDPATH= cd -- "$2" && pwd)
shift 2
wanted=" $* "
cache=${JPROF_NAMES_CACHE:-/var/cache/jprof-names}
mirror=${JPROF_NAMES_MIRROR:-http://deb.debian.org/debian}
mkdir -p "$cache"

# chroot_of SUITE: its directory, made if it is not there.
chroot_of() {
    root=$cache/$1
    if [ ! -e "$root/ready" ]; then
        debootstrap --variant=buildd "$1" "$root" "$mirror" >&2
        for suite in "$1" "$1-updates"; do
            echo "deb $mirror $suite main"
            echo "deb-src $mirror $suite main"
        done >"$root/etc/apt/sources.list"
        echo "deb $mirror-security $1-security main" >>"$root/etc/apt/sources.list"
        echo "deb-src $mirror-security $1-security main" >>"$root/etc/apt/sources.list"
        cp /etc/resolv.conf "$root/etc/resolv.conf"
        chroot "$root" sh -ec 'apt-get -qq update; DEBIAN_FRONTEND=noninteractive apt-get -qq -y upgrade;
            DEBIAN_FRONTEND=noninteractive apt-get -qq -y install dpkg-dev fakeroot' >&2
        touch "$root/ready"
    fi
    echo "$root"
}

# build ROOT SOURCE VERSION: in /build/SOURCE there, once. VERSION may be -: the newest.
build() {
    [ ! -e "$1/build/$2/done" ] || return 0
    version=$(version_of "$1" "$2" "$3")
    mount -t proc proc "$1/proc"
    trap 'umount "$1/proc"' EXIT
    nice -n "${JPROF_NAMES_NICE:-19}" chroot "$1" sh -ec "
        export DEBIAN_FRONTEND=noninteractive DEB_BUILD_OPTIONS='nocheck parallel=$(nproc)'
        mkdir -p /build/$2 && cd /build/$2
        apt-get -qq -y build-dep '$2$version'
        apt-get -qq source '$2$version'
        cd */
        debian/rules build >../log 2>&1
        touch ../done" >&2
    umount "$1/proc"
    trap - EXIT
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

grep -v '^#' "$here/recipes" | while read -r suite source version files; do
    case $wanted in '  ' | *" $suite $source "*) ;; *) continue ;; esac
    root=$(chroot_of "$suite")
    build "$root" "$source" "$version"
    built=$(sed -n 's/^Version: //p' "$root/build/$source"/*.dsc | head -n 1)
    release=$(sed -n 's/^VERSION_ID="\(.*\)"/\1/p' "$root/etc/os-release")
    for name in $files; do
        file=$(library "$root/build/$source" "$name")
        [ -n "$file" ] || { echo "$source: there is no $name with symbols" >&2; exit 1; }
        pack=$output/${name%%.so*}_${built}_debian${release}_amd64.jnames
        rm -f "$pack"
        "$jprof" names learn -o "$pack" --version="$built" --source="$source" --distribution="Debian $release" "$file"
        ls -l "$pack"
    done
done
