#!/bin/sh
# --errors adds to the end of each line and changes nothing before it.
# usage: columns.sh JPROF SAMPLES
set -eu
jprof=$1
samples=$2
sysroot=--sysroot=$samples/cases/sysroot
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
status=0

bad() {
    echo "$*"
    status=1
}

# Each line of the plain report begins the same line of the other, and what follows has this form. No backslashes:
# gawk's -v takes them out, mawk's leaves them in.
number='-?[0-9]+([.][0-9][0-9])?'
range="[+]-$number +[[]$number, $number[]] +n=[0-9]+( [(](few samples|within error)[)])?"
check() {
    "$jprof" "$sysroot" "$@" >"$dir/plain" 2>/dev/null
    "$jprof" "$sysroot" --errors "$@" >"$dir/errors" 2>/dev/null
    [ "$(wc -l <"$dir/plain")" -gt 1 ] || bad "$*: no report"
    awk -v plain="$dir/plain" -v range="$range" '
        { if ((getline before <plain) != 1 || index($0, before "  ") != 1) { print "changed: " $0; wrong = 1; next } }
        { after = substr($0, length(before) + 1) }
        NR == 1 && after !~ "^  [+]-.* standard error, [[].*[]] with 95 % confidence, n=[0-9]+( [(](few samples|within error)[)])? samples$" { print "Total: " after; wrong = 1 }
        NR > 1 && after !~ "^ *  flat (-|" range ") *  cum (-|" range ")$" { print "row: " after; wrong = 1 }
        END { if (getline before <plain) { print "a line is missing"; wrong = 1 } exit wrong }
    ' "$dir/errors" || bad "jprof --errors $*"
}

# The line on how many rows of a difference are accused by chance: one in twenty of those that have an error; none where
# these are few.
chance() {
    rows=$("$jprof" "$sysroot" --json --errors "$@" 2>/dev/null | grep -cE '"flat_range":\{"error":(0\.0*[1-9]|[1-9])')
    "$jprof" "$sysroot" --errors "$@" 2>"$dir/said" >/dev/null
    [ "$rows" -ge 10 ] || { ! grep 'by chance' "$dir/said" || bad "chance $*: said of $rows rows"; return; }
    grep -q "of $rows rows about $(((rows + 10) / 20)) may be accused by chance" "$dir/said" ||
        bad "chance $*: not $rows rows: $(grep 'by chance' "$dir/said")"
}

late=$samples/cases/puma/w0.3.heap
early=$samples/cases/puma/w0.2.heap
check "$late"
check --show_bytes --cum "$late"
chance --base="$early" "$late"
made() { # OBJECTS: in each of 40 places
    awk -v n="$1" 'BEGIN {
        print "heap_v2/524288\n  t*: " 40 * n ": " 40 * n * 100000 " [0: 0]"
        for (i = 0; i < 40; i++)
            printf "@ 0x%x 0x9000000\n  t*: %d: %d [0: 0]\n", 0x8000000 + 4096 * i, n, n * 100000
        print "\nMAPPED_LIBRARIES:\n08000000-09100000 r-xp 00000000 08:01 42 /opt/x"
    }'
}
made 20 >"$dir/early.heap"
made 60 >"$dir/late.heap"
chance --addresses --fold=none --base="$dir/early.heap" "$dir/late.heap"
[ "$rows" -ge 10 ] || bad "chance: only $rows rows"
check --inuse_objects --top=7 "$late"
check --base="$early" "$late"
check --diff_base="$early" --inuse_objects --lines "$late"
check "$early" "$late"
check --alloc_space --addresses "$samples/heaps/jemalloc-5.3.0.heap"
check "$samples/heaps/faults/names.heap"

# Why a range is wider than need be is one line on standard error, and only with --errors.
"$jprof" "$sysroot" --errors --base="$early" "$late" 2>&1 >"$dir/errors" | grep -c 'prof_accum:true' >"$dir/count" || :
[ "$(cat "$dir/count")" = 1 ] || bad "the note on upper bounds comes $(cat "$dir/count") times"
if "$jprof" "$sysroot" --base="$early" "$late" 2>&1 >"$dir/errors" | grep -q 'prof_accum:true'; then bad "a note without --errors"; fi
exit "$status"
