#!/bin/sh
# Makes packs of names for libraries of Debian, out of their source packages: built once more with the package's own options, in a
# chroot of its suite, where they keep their symbols; for another architecture by Debian's cross compilers. Needs root, debootstrap,
# a mirror, and for a Ruby 4 to 25 minutes. What cannot be made is reported; the rest is made all the same.
# usage: sh make.sh JPROF OUTPUT_DIRECTORY [SUITE ARCHITECTURE SOURCE]...     all of `recipes`, or these
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

failed=
while read -r suite arch source rest; do
    case $suite in '#'*) continue ;; esac
    case $wanted in '  ' | *" $suite $arch $source "*) ;; *) continue ;; esac
    # shellcheck disable=SC2086
    unshare -m sh "$here/one.sh" "$jprof" "$output" "$cache" "$mirror" "$suite" "$arch" "$source" $rest </dev/null ||
        failed="$failed $suite/$arch/$source"
done <"$here/recipes"
[ -z "$failed" ] || { echo "no packs of$failed" >&2; exit 1; }
