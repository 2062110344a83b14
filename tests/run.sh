#!/bin/sh
# Installs what is missing, builds, and runs the tests of the gate; the last line counts them.
# usage: sh tests/run.sh [--all | --changed] [BUILDDIR]
#   --all       all tests. Some depend on load, chance or this machine's packages: the list at the end says which
#   --changed   those tests of the gate whose suites cover the files that differ from the commit in .ci/base
# JPROF_NO_INSTALL=1 installs nothing. With CI=true only what tests/may-skip names may skip.
set -eu

die() {
    echo "tests/run.sh: $*" >&2
    exit 1
}

# A directory that cannot be used again (half made, of another meson) is made anew, and so is one
# older than build-dev.ini, which meson reads only once. `--wipe` needs the very files that may be broken.
configure() {
    if [ -d "$build/meson-private" ]; then
        if ! [ build-dev.ini -nt "$build/meson-private/coredata.dat" ] &&
            meson setup --reconfigure "$build"; then return; fi
        rm -rf "$build"
    fi
    meson setup --native-file build-dev.ini "$build"
}

which=gate
case ${1:-} in
--all | --changed)
    which=${1#--}
    shift
    ;;
-*) die "there is no option $1; the options are --all and --changed" ;;
esac
build=${1:-build-tests}
case $build in
/*) ;;
*) if [ $# -gt 0 ]; then build=$PWD/$build; fi ;;
esac
CDPATH= cd -- "$(dirname -- "$0")/.."

if [ "${JPROF_NO_INSTALL:-}" != 1 ]; then
    sh packaging/deps.sh build tests
    [ "$which" != all ] || sh packaging/deps.sh slow
fi
command -v meson >/dev/null || die "no meson; run again without JPROF_NO_INSTALL=1"

configure
meson compile -C "$build"

case $which in
gate) set -- --suite gate ;;
all) set -- ;;
changed)
    names=$(python3 tests/choose.py "$build" changed)
    [ -n "$names" ] || die "no file differs from the commit in .ci/base"
    # shellcheck disable=SC2086
    set -- $names
    ;;
esac
sh tests/judged.sh "$build" "$@"
python3 tests/results.py count "$build/meson-logs/results.json"
