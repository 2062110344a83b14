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
# A failure of the first log that the second log, of those tests run again alone, has as passed is UNSTEADY.
results() {
    python3 -c '
import json, sys
sys.stdout.reconfigure(errors="replace")
first, again = ([json.loads(line) for line in open(log)] for log in sys.argv[1:])
steady = {test["name"] for test in again if test["result"] == "OK"}
for test in first:
    output = (test.get("stdout") or test.get("stderr") or "").strip() or "no reason given"
    result = "UNSTEADY" if test["name"] in steady else test["result"]
    name = test["name"].rpartition(" / ")[2]
    print(result, name, " ".join(output.splitlines()[0].split()), sep="\t")
' "$1" "$2"
}

# The tests that failed, one name a line; nothing where more than three did: that is no chance.
failed_few() {
    python3 -c '
import json, sys
tests = map(json.loads, open(sys.argv[1]))
failed = [test["name"] for test in tests if test["result"] in ("FAIL", "ERROR", "TIMEOUT")]
if len(failed) <= 3:
    print("\n".join(name.rpartition(" / ")[2] for name in failed))
' "$1"
}

# Fails where a test failed or none ran.
count() {
    awk -F '\t' -v strict="${CI:-}" '
        FILENAME == "tests/may-skip" { if ($0 !~ /^#/) may_skip[$0] = 1; next }
        $1 == "OK" || $1 == "EXPECTEDFAIL" { passed++; next }
        $1 == "UNSTEADY" {
            print "unsteady: " $2 ": failed beside others, passed alone; its first output is above"
            passed++
            next
        }
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

# A test can fail once where a loaded machine starves a process that it watches, or by the chance of a sample. It runs a
# second time, alone; the output of both stays in the log. What passed only then is listed by name, and is a defect to find.
log=$build/meson-logs/testlog.json first=$build/meson-logs/first.json
rm -f "$log" "$first"
: >"$first"
meson test -C "$build" --print-errorlogs || true
[ ! -f "$log" ] || cp "$log" "$first"
: >"$log"
again=$(failed_few "$first")
if [ -n "$again" ]; then
    # shellcheck disable=SC2086
    meson test -C "$build" --no-rebuild --print-errorlogs --num-processes 1 $again || true
fi
results "$first" "$log" | count
