#!/bin/sh
# Peak memory of text and info, by the size of generated dumps: sh bench/memory.sh JPROF [MB]
# Measure a release build. The dumps are made in a directory that is removed.
set -eu

jprof=$1
mb=${2:-60}
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# peak NAME SHAPE...: one line of the table in docs/internals/design.md
peak() {
    name=$1
    shift
    python3 "$here/shape.py" "$@" >"$tmp/dump"
    size=$(wc -c <"$tmp/dump")
    line="| $name"
    for mode in --text info; do
        /usr/bin/time -f %M -o "$tmp/kb" "$jprof" "$mode" "$tmp/dump" >"$tmp/out" 2>"$tmp/err"
        line="$line | $(awk -v size="$size" '{ printf "%.2f", $1 * 1024 / size }' "$tmp/kb")"
    done
    echo "$line |"
}
peak "20,000 addresses, stacks of 80 frames" 80 20000 "$mb"
peak "20,000 addresses, stacks of 25 frames" 25 20000 "$mb"
peak "20,000 addresses, stacks of 5 frames" 5 20000 "$mb"
peak "all addresses different and in one missing file, stacks of 80" 80 0 "$mb"
peak "the same, stacks of 25" 25 0 "$mb"
peak "all different, outside all files, stacks of 25" 25 0 "$mb" outside
