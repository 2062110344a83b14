#!/bin/sh
# Installs what is missing, builds, runs all tests; the last line counts them.
# usage: sh tests/run.sh [BUILDDIR]
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

# RESULT, name without its suite, first line of output; parted by tabs.
results() {
    python3 -c '
import json, sys
sys.stdout.reconfigure(errors="replace")
for line in open(sys.argv[1]):
    test = json.loads(line)
    said = (test.get("stdout") or test.get("stderr") or "").strip() or "no reason given"
    name = test["name"].rpartition(" / ")[2]
    print(test["result"], name, " ".join(said.splitlines()[0].split()), sep="\t")
' "$1"
}

# Fails where a test failed or none ran.
count() {
    awk -F '\t' -v strict="${CI:-}" '
        FILENAME == "tests/may-skip" { if ($0 !~ /^#/) may_skip[$0] = 1; next }
        $1 == "OK" || $1 == "EXPECTEDFAIL" { passed++; next }
        $1 != "SKIP" { failed++; next }
        { print "skipped: " $2 ": " $3 }
        strict == "true" && !($2 in may_skip) {
            print "failed: " $2 ": must not skip in CI, unless tests/may-skip names it"
            failed++
            next
        }
        { skipped++ }
        END {
            printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
            exit failed > 0 || passed == 0
        }
    ' tests/may-skip -
}

build=${1:-build-tests}
case $build in
/*) ;;
*) if [ $# -gt 0 ]; then build=$PWD/$build; fi ;;
esac
CDPATH= cd -- "$(dirname -- "$0")/.."

if [ "${JPROF_NO_INSTALL:-}" != 1 ]; then sh packaging/deps.sh build tests; fi
command -v meson >/dev/null || die "no meson; run again without JPROF_NO_INSTALL=1"

configure
meson compile -C "$build"

# A sanitizer's finding must not look like the status 1 that a test expects, nor go on with status 0.
export ASAN_OPTIONS="${ASAN_OPTIONS:-exitcode=99}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-exitcode=99:halt_on_error=1:print_stacktrace=1}"

log=$build/meson-logs/testlog.json
rm -f "$log"
status=0
meson test -C "$build" --print-errorlogs || status=$?
[ -f "$log" ] || : >"$log"
results "$log" | count || status=1
exit "$status"
