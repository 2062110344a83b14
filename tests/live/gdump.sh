#!/bin/sh
# Shows that jemalloc locks itself up with prof_gdump:true, without the agent: docs/internals/reliability.md. Run by hand.
# usage: gdump.sh JEMALLOC [RUNS]
set -u
jemalloc=$1
runs=${2:-5}
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
${CC:-cc} -O1 -fno-optimize-sibling-calls -o "$tmp/gdump" "$here/gdump.c" || exit 1
for gdump in false true; do
    locked=0 run=0
    while [ $run -lt "$runs" ]; do
        rm -f "$tmp"/d.*
        LD_PRELOAD=$jemalloc MALLOC_CONF=prof:true,lg_prof_sample:0,prof_gdump:$gdump,prof_prefix:$tmp/d \
            timeout -s KILL 20 "$tmp/gdump" 20000 >"$tmp/said" 2>&1 || locked=$((locked + 1))
        run=$((run + 1))
    done
    echo "prof_gdump:$gdump: $locked of $runs runs did not end"
done
