#!/bin/sh
# The time that jprof takes beside other programs and beside itself, in turns, as a table:
#
#     sh bench/run.sh JPROF DIR [-n RUNS] [--mb MB] [--fleet N] [--units N] [WORD...]
#
# Makes its inputs in DIR by seed, those that are not there yet: a C++ program with 5 MB of debug information a unit (24),
# synthetic dumps of MB (200), of 64 threads and of 1000 frames, a fleet of N processes (200), and a dump of Ruby by
# make-dump.sh where Ruby and jemalloc are. WORDs choose rows by their names. What compares with a program that is not
# installed is left out, and said. Seconds are CPU time, user and system, with children; ratios are those of pairs.
# Measure a release build.
set -eu
[ $# -ge 2 ] || {
    echo "run: give a jprof and a directory for inputs" >&2
    exit 2
}
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
exec python3 "$here/rows.py" "$@"
