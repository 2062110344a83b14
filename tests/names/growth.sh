#!/bin/sh
# What grew between two dumps of one process, known to the byte: 20000 rows of 1000 bytes, which
# jemalloc rounds up to 1024, by three static functions of leaky.so. The lines are where leaky.c
# says. usage: growth.sh JPROF CASES
set -eu
jprof=$1 cases=$2
truth=20480000

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
source=/srv/app/ext/leaky/leaky.c

line_of() {
    grep -n "^static.* [*]*$1(" "$cases/sysroot$source" | head -n 1 | cut -d : -f 1
}

# The value of column $2 in the row of a function; clones of it count as itself.
value() {
    awk -v column="$2" -v row="$1(\\\\.[a-z0-9.]+)? $source:$(line_of "$1")\$" '
        $0 ~ " " row { sum += $column }
        END { printf "%.0f", sum }
    ' "$dir/report"
}

# The standard error by the dump itself: n samples of mean size s at rate R, p = 1-exp(-s/R), have
# the variance n s^2 (1-p) / p^2; here all are of size 1024.
bounds=$(awk -v truth=$truth -v s=1024 '
    /^heap_v2/ { split($0, first, "/"); rate = first[2] }
    END { p = 1 - exp(-s / rate); n = truth / s * p; e = 3 * sqrt(n * s * s * (1 - p)) / p
          printf "%.0f %.0f", truth - e, truth + e }
' "$cases/ruby31/cext.1.heap")
low=${bounds% *} high=${bounds#* }

check() {
    if [ "$2" -lt "$low" ] || [ "$2" -gt "$high" ]; then
        echo "$option: $1: $2 bytes, expected $low to $high"
        status=1
    fi
}

status=0
for option in --sysroot="$cases/sysroot" --lib_prefix="$cases/sysroot"; do
    "$jprof" --lines --show_bytes --cum "$option" --diff_base="$cases/ruby31/cext.0.heap" "$cases/ruby31/cext.1.heap" \
        >"$dir/report" 2>"$dir/err" || { cat "$dir/err"; exit 1; }
    check 'row_new alone' "$(value row_new 1)"
    check row_new "$(value row_new 4)"
    check tokenize "$(value tokenize 4)"
    check parse_row "$(value parse_row 4)"
done
exit $status
