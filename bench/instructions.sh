#!/bin/sh
# Instructions that jprof takes, in millions, counted by valgrind: of `jprof --text` without kept names, when they are kept,
# and when they were kept; of `jprof info`.
#
#     sh bench/instructions.sh JPROF DUMP...
#
# Names are found in the program itself (--no-sandbox): its child is out of sight of valgrind. They hardly change from run to run, so they show what a busy machine's times hide. Measure a release build.
set -eu

[ $# -ge 2 ] && command -v valgrind >/dev/null || {
    echo "instructions: give a jprof and dumps; needs valgrind" >&2
    exit 2
}
jprof=$1
shift
kept=$(mktemp -d)
trap 'rm -rf "$kept"' EXIT

# count COMMAND...: in millions.
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null |
        sed -n 's/.*I *refs: *//p' | tr -d , | awk '{ printf "%.1f\n", $1 / 1e6 }'
}

printf '%10s %10s %10s %10s  %s\n' without first second info dump
for dump; do
    rm -rf "$kept/names"
    printf '%10s %10s %10s %10s  %s\n' "$(JPROF_CACHE='' count "$jprof" --no-sandbox --text "$dump")" \
        "$(JPROF_CACHE=$kept/names count "$jprof" --no-sandbox --text "$dump")" \
        "$(JPROF_CACHE=$kept/names count "$jprof" --no-sandbox --text "$dump")" \
        "$(JPROF_CACHE='' count "$jprof" --no-sandbox info "$dump")" "$dump"
done
