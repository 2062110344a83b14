#!/bin/sh
# Counts the instructions of a picture of 80 functions: all but Graphviz' layout must cost less than the layout.
# usage: sh bench/graph.sh JPROF [DUMP [OPTION...]]   of a release build; ends with 1 when it does not
set -eu
jprof=$1
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
shift
if [ $# -eq 0 ]; then
    set -- "$root/samples/cases/ruby31/cext.1.heap" "--sysroot=$root/samples/cases/sysroot"
fi
command -v callgrind_annotate >/dev/null || { echo "no valgrind here" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
valgrind --tool=callgrind --callgrind-out-file="$work/counts.%p" "$jprof" --svg --nodefraction=0 -o "$work/graph.svg" "$@" \
    >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 2; }
grep -c 'class="node' "$work/graph.svg" | sed 's/$/ functions/'
# The picture is drawn in a child, whose counts begin with the program's own up to the fork.
drawn=$(grep -l 'gvLayout' "$work"/counts.* | head -n 1)
callgrind_annotate --inclusive=yes "${drawn:-/dev/null}" 2>/dev/null | awk '
    { gsub(/,/, "", $1) }
    /PROGRAM TOTALS/ { all = $1 }
    / [^ ]*:gvLayout / && !layout { layout = $1 }
    END {
        if (!all || !layout) { print "nothing counted; is the build without Graphviz?"; exit 2 }
        printf "layout %.1f million instructions, all else %.1f million\n", layout / 1e6, (all - layout) / 1e6
        exit all - layout >= layout
    }'
