#!/bin/sh
# Runs tests of a build. Those that fail, at most eight, run twice more, alone: what passes then both times is "unsteady", a
# defect to find, of the test or of what it tests. BUILDDIR/meson-logs/results.json has a line for each test.
# usage: sh tests/judged.sh BUILDDIR ARGUMENTS...   ARGUMENTS are those of meson test
set -eu
build=$1
shift
logs=$build/meson-logs
results=$(dirname -- "$0")/results.py

# A sanitizer's finding must not look like the status 1 that a test expects, nor go on with status 0.
export ASAN_OPTIONS="${ASAN_OPTIONS:-exitcode=99}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-exitcode=99:halt_on_error=1:print_stacktrace=1}"

# run LOG ARGUMENTS...: tests whose results go to LOG. $limit, if set, is the most seconds that they may take.
run() {
    log=$logs/$1
    shift
    rm -f "$log" "$logs/testlog.json"
    # shellcheck disable=SC2086
    ${limit:+timeout $limit} meson test -C "$build" --print-errorlogs "$@" || true
    [ ! -f "$logs/testlog.json" ] || mv "$logs/testlog.json" "$log"
}

# One more than there are processors, because tests also wait.
limit=
run first.json --num-processes $(($(nproc) + 1)) "$@"
rm -f "$logs/again.json"
failed=$(python3 "$results" failed "$logs/first.json") || echo "more than eight tests failed: none is tried again"
if [ -n "$failed" ]; then
    # Not --repeat, which ends at the first failure.
    limit=150
    for time in 1 2; do
        # shellcheck disable=SC2086
        run again.$time.json --no-rebuild --num-processes 1 $failed
        [ ! -f "$logs/again.$time.json" ] || cat "$logs/again.$time.json" >>"$logs/again.json"
    done
fi
python3 "$results" judge "$logs/first.json" "$logs/again.json" >"$logs/results.json"
