#!/bin/sh
# jprof-snap in a root where nothing is but itself, the agent and /proc: it takes a snapshot of a process outside, which jprof
# names. Needs root, for chroot.
# usage: sh tests/collector.sh JPROF_SNAP AGENT JPROF     for a musl process: CC=musl-cc JPROF_JEMALLOC=FILE and the agent for musl
set -eu
snap=$(realpath "$1") agent=$(realpath "$2") jprof=$(realpath "$3")
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
tmp=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf --one-file-system "$tmp"' EXIT
fail() {
    echo "FAIL: $*"
    for file in "$tmp"/out "$tmp"/err; do sed 's/^/    /' "$file" 2>/dev/null | head -n 12; done
    exit 1
}

if [ "$(id -u)" -ne 0 ]; then echo "not root: chroot is not allowed" && exit 77; fi
jemalloc=${JPROF_JEMALLOC:-$(${CC:-cc} -print-file-name=libjemalloc.so.2)}
[ -f "$jemalloc" ] || { echo "no libjemalloc.so.2 here (Debian: libjemalloc2)" && exit 77; }
if readelf -lW "$snap" | grep -q INTERP; then fail "jprof-snap is not static"; fi
size=$(stat -c %s "$snap")
[ "$size" -lt 3600000 ] || fail "jprof-snap has $size bytes"

cat >"$tmp/keep.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
char *kept[4000];
__attribute__((noinline)) void keep_rows(void) { for (int i = 0; i < 4000; i++) kept[i] = calloc(1, 2000); }
int main(void) { keep_rows(); puts("ready"); fflush(stdout); while (getppid() > 1) sleep(1); return 0; }
END
${CC:-cc} -g -O1 -o "$tmp/keep" "$tmp/keep.c"
empty=$tmp/empty
mkdir -p "$empty/proc" "$empty/tmp"
chmod 1777 "$empty/tmp"
cp "$snap" "$agent" "$empty"
cd "$tmp" # the agent's socket is where dumps go
JPROF_AGENT=for=all LD_PRELOAD=$jemalloc:$agent MALLOC_CONF=prof:true,lg_prof_sample:12 "$tmp/keep" >"$tmp/ready" &
pid=$!
until grep -q ready "$tmp/ready"; do kill -0 "$pid" || fail "the program does not start"; sleep 0.1; done

# inside ARGUMENTS...: jprof-snap in the empty root.
inside() {
    unshare --mount sh -c 'empty=$1; shift; mount -t proc proc "$empty/proc" && exec chroot "$empty" /jprof-snap "$@"' sh "$empty" "$@" \
        >"$tmp/out" 2>"$tmp/err"
}

inside --version || fail "--version"
grep -q '^jprof-snap [0-9.]*$' "$tmp/out" || fail "--version says something else"
inside snap "$pid" -o /tmp/keep.jprof || fail "snap"
"$jprof" --text "$empty/tmp/keep.jprof" >"$tmp/out" 2>"$tmp/err" || fail "jprof does not read the snapshot"
sed -n 2,3p "$tmp/out" | grep -q ' keep_rows$' || fail "keep_rows is not named first"
inside doctor "$pid" || [ $? -eq 1 ] || fail "doctor"
grep -q "$pid" "$tmp/out" "$tmp/err" || fail "doctor does not look at $pid"

cp "$root/samples/cases/ruby31/cext.1.heap" "$empty/tmp/a.heap"
inside bundle --symbols=later -o /tmp/a.jprof /tmp/a.heap || fail "bundle --symbols=later"
"$jprof" --text --sysroot="$root/samples/cases/sysroot" "$empty/tmp/a.jprof" >"$tmp/out" 2>"$tmp/err" || fail "jprof does not read the bundle"
grep -q ' row_new$' "$tmp/out" || fail "the names did not come later"

# A program that cannot be profiled is started all the same, and the reason is said.
inside run -- /jprof-snap --version || fail "run"
grep -q '^jprof-snap [0-9.]*$' "$tmp/out" || fail "run does not start the program"
[ -s "$tmp/err" ] || fail "run does not say why it does not profile"
if inside --text /tmp/a.heap; then fail "a report is not refused"; fi
grep -q 'reports are made by jprof' "$tmp/err" || fail "it does not say who makes reports"
echo "jprof-snap: $size bytes, in an empty root"
