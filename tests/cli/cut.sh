#!/bin/sh
# A dump that is cut at any byte: never a crash, never silence, never a total that is not that of whole
# stacks. The totals are worked out here from the dump's text: an object of mean size x is sampled with
# the probability 1 - exp(-x / rate). test_cuts.c cuts real dumps at every byte, with sanitizers.
. "$(dirname "$0")/lib.sh"
whole=$heaps/jemalloc-5.3.0.heap
[ -f "$whole" ] || skip "no samples here"
size=$(wc -c <"$whole")
maps_at=$(sed '/^MAPPED_LIBRARIES:/,$d' "$whole" | wc -c)

# `OFFSET TOTAL` for each stack: from OFFSET on, the total of all stacks up to it.
awk '
    { at += length($0) + 1 }
    NR == 1 { rate = substr($0, 9) }
    /^@/ { in_stack = 1 }
    in_stack && $1 == "t*:" {
        n = $2 + 0; s = $3 + 0
        if (n) s /= 1 - exp(-(s / n) / rate)
        total += s
        print at - 1, int(total)
        in_stack = 0
    }
    /^MAPPED_LIBRARIES:/ { exit }
' "$whole" >totals
check "no stacks in the sample" [ "$(wc -l <totals)" -ge 5 ]

# total_at OFFSET: what a dump of so many bytes holds.
total_at() {
    awk -v at="$1" '$1 <= at { total = $2 } END { print total + 0 }' totals
}

# cut_at BYTES
cut_at() {
    head -c "$1" "$whole" >cut.heap
    run "$jprof" --show_bytes --sysroot="$heaps/sysroot" cut.heap
    what="a dump cut at byte $1"
    check "exit status $status" [ "$status" -le 1 ]
    check "more than a line on standard error for the cut and one for the names" [ "$(wc -l <err)" -le 2 ]
    check "not silent" grep -qE '^jprof: cut\.heap' err
    total=$(total_at "$1")
    if [ "$total" -eq 0 ]; then
        exits 1
        prints_nothing
    else
        exits 0
        check "the total is not $total" grep -qx "Total: $total B" out
    fi
}

# Every byte of the second stack, and a prime stride through the rest. In the maps a cut shows only
# inside a line.
second=$(sed '2q' totals | tail -n 1 | cut -d ' ' -f 1)
at=0
while [ "$at" -lt "$maps_at" ]; do
    cut_at "$at"
    if [ "$at" -ge $((second - 40)) ] && [ "$at" -lt $((second + 8)) ]; then at=$((at + 1)); else at=$((at + 17)); fi
done
while [ "$at" -lt "$size" ]; do
    if [ "$(head -c "$at" "$whole" | tail -c 1 | wc -l)" -eq 0 ]; then cut_at "$at"; fi
    at=$((at + 211))
done
cp "$whole" cut.heap
is_quiet "$jprof" --show_bytes --sysroot="$heaps/sysroot" cut.heap
prints "^Total: $(total_at "$size") B\$"
finish
