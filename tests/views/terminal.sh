#!/bin/sh
# --interactive on a terminal, by libedit: history, completion, ^C.
. "$(dirname "$0")/../cli/lib.sh"
command -v python3 >/dev/null || skip "no python3 here, which plays the terminal"
find_jemalloc
"$jprof" --version | grep -q 'libedit' || skip "built without libedit"
here_views=$here here=${here%/*}/cli
build subject parity.c -g -O0 -fno-optimize-sibling-calls -pthread
here=$here_views
profiled prof_active:false,prof_accum:true,lg_prof_sample:11 ./subject early.heap late.heap
# More than a terminal takes at once.
awk 'BEGIN {
    print "heap_v2/1\n  t*: 1: 1 [0: 0]"
    for (i = 0; i < 20000; i++) { printf "@"; for (k = 0; k < 20; k++) printf " 0x%x", 4096 + i * 64 + k; printf "\n  t*: 1: %d [0: 0]\n", 100 + i }
    print "\nMAPPED_LIBRARIES:\n00001000-10000000 r-xp 00000000 08:01 1 /x/prog" }' >big.heap
what=terminal
python3 "$here/terminal.py" "$jprof" subject late.heap big.heap >out 2>err || fail "see above"
checks=$((checks + 1))
cat out
finish
