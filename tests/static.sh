#!/bin/sh
# jprof-static: its reports are those of the program that is linked with libraries, byte for byte, and it works where nothing is but
# itself and /proc. Needs root, for chroot.
# usage: sh tests/static.sh STATIC BUILD    STATIC: of packaging/static.sh; BUILD: of meson setup --buildtype=release
set -eu
static=$(realpath "$1/jeprof-c/jprof-static") jprof=$(realpath "$2/jeprof-c/jprof") agent=$(realpath "$2/agent/libjprof-agent.so")
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cases=$root/samples/cases
tmp=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf --one-file-system "$tmp"' EXIT
fail() {
    echo "FAIL: $*"
    for file in "$tmp"/out "$tmp"/err; do sed 's/^/    /' "$file" 2>/dev/null | head -n 12; done
    exit 1
}

if [ "$(id -u)" -ne 0 ]; then echo "not root: chroot is not allowed" && exit 77; fi
if readelf -lW "$static" | grep -q INTERP; then fail "it is not static"; fi
size=$(stat -c %s "$static")
[ "$size" -le 8388608 ] || fail "it has $size bytes"

# ---- equal bytes ----------------------------------------------------------------------------------------------------
# The one has its packs of names in itself, the other in a folder.
mkdir -p "$tmp/data/jprof/names" "$tmp/none"
cp "$root"/packaging/names/*.jnames "$tmp/data/jprof/names"
export JPROF_CACHE=
compared=0
equal() { # ARGUMENTS...
    wanted=0 status=0
    XDG_DATA_HOME=$tmp/data "$jprof" "$@" >"$tmp/wanted" 2>"$tmp/wanted.err" </dev/null || wanted=$?
    XDG_DATA_HOME=$tmp/none "$static" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
    [ "$status" -eq "$wanted" ] || fail "status $status, not $wanted: $*"
    if grep -q 'unknown option' "$tmp/err"; then fail "there is no $*"; fi
    cmp "$tmp/wanted" "$tmp/out" && cmp "$tmp/wanted.err" "$tmp/err" || fail "other bytes: $*"
    compared=$((compared + 1))
}
cd "$root/samples"
# All that the program's own help calls a report, but for pictures and what asks a terminal or opens a browser.
reports=$("$jprof" --help | sed -n '/^What is printed/,/^$/s/^  --\([a-z]*\).*/\1/p' | grep -vxE 'svg|pdf|png|gif|ps|web|interactive' |
    sed 's/^peek$/peek=malloc/; s/^list$/list=./; s/^disasm$/disasm=row/')
[ "$(echo "$reports" | wc -l)" -ge 19 ] || fail "not all reports are in --help"
rows='functions lines files addresses libs sites by=kind by=group by=tag cum errors mean-size ages inuse_objects alloc_space fold=none ruby=only'
for file in cases/ruby31/*.heap cases/ruby33/*.jprof cases/puma/*.jprof cases/puma/*.heap cases/real/*.jprof heaps/*.heap heaps/faults/*; do
    sysroot=${file%%/*}/sysroot
    for form in $reports; do
        equal --show_bytes "--$form" "--sysroot=$sysroot" "$file"
    done
    for row in $rows; do
        equal "--$row" "--sysroot=$sysroot" "$file"
    done
    equal "--sysroot=$sysroot" "$file"
    equal info --all "--sysroot=$sysroot" "$file"
    for form in '' --json --html; do
        equal explain $form "--sysroot=$sysroot" "$file"
    done
done
for pair in 'ruby31/cext.0.heap ruby31/cext.1.heap' 'ruby33/slots.0.jprof ruby33/slots.1.jprof' \
    'puma/w0.1.jprof puma/w0.3.jprof' 'real/redmine-boot.jprof real/redmine-steady.jprof'; do
    for form in --json --csv --markdown --html --objects --by=function --by=line --by=file --by=lib --by=group --by=tag --by=stack; do
        equal diff "$form" --sysroot=cases/sysroot "cases/${pair% *}" "cases/${pair#* }"
    done
    equal diff --sysroot=cases/sysroot "cases/${pair% *}" "cases/${pair#* }"
    equal --base="cases/${pair% *}" --sysroot=cases/sysroot "cases/${pair#* }"
    equal check --max-growth=1MB --sysroot=cases/sysroot "cases/${pair% *}" "cases/${pair#* }"
    equal check --github --max-growth=1MB --sysroot=cases/sysroot "cases/${pair% *}" "cases/${pair#* }"
    equal explain --sysroot=cases/sysroot "cases/${pair% *}" "cases/${pair#* }"
done
for command in '' bundle cache check diff doctor explain info keepers names run serve snap watch; do
    # shellcheck disable=SC2086
    equal $command --help
done

# A stripped libruby has most of its names from a pack.
jemalloc=$(cc -print-file-name=libjemalloc.so.2)
[ -f "$jemalloc" ] || { echo "no libjemalloc.so.2 here (Debian: libjemalloc2)" && exit 77; }
LD_PRELOAD=$jemalloc MALLOC_CONF=prof:true,lg_prof_sample:8,prof_final:true,prof_prefix:$tmp/ruby \
    ruby -e 'a = (1..20000).map { |i| i.to_s * 100 }'
equal --show_bytes --top=0 "$tmp"/ruby.*.heap
XDG_DATA_HOME=$tmp/none "$static" --show_bytes --top=0 --no-packs "$tmp"/ruby.*.heap >"$tmp/wanted" 2>"$tmp/err"
unnamed() { awk '/libruby.*!0x/ { n++ } END { print n + 0 }' "$1"; }
packed=$(($(unnamed "$tmp/wanted") - $(unnamed "$tmp/out")))
[ "$packed" -gt 50 ] || fail "its own packs name $packed functions of libruby"

# ---- an empty root --------------------------------------------------------------------------------------------------
mkdir -p "$tmp/empty/proc" "$tmp/empty/tmp"
chmod 1777 "$tmp/empty/tmp"
cp "$static" "$tmp/empty/jprof"
cp "$cases/ruby31/cext.1.heap" "$tmp/empty/tmp/a.heap"
cp -R "$cases/sysroot" "$tmp/empty/tmp/sysroot"
# inside USER ARGUMENTS...: jprof in the empty root.
inside() {
    unshare --mount sh -c 'empty=$1 user=$2; shift 2; mount -t proc proc "$empty/proc" && exec chroot "--userspec=$user" "$empty" /jprof "$@"' \
        sh "$tmp/empty" "$@" >"$tmp/out" 2>"$tmp/err"
}
inside 1000:1000 --show_bytes --sysroot=/tmp/sysroot /tmp/a.heap || fail "a report"
sed -n 2p "$tmp/out" | grep -q ' row_new$' || fail "row_new is not named first"
if inside 0:0 --svg /tmp/a.heap; then fail "it draws pictures"; fi
grep -q '^jprof: .*--dot works' "$tmp/err" || fail "it does not say what to do without pictures"

cat >"$tmp/keep.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
char *kept[4000];
__attribute__((noinline)) void keep_rows(void) { for (int i = 0; i < 4000; i++) kept[i] = calloc(1, 2000); }
int main(void) { keep_rows(); puts("ready"); fflush(stdout); while (getppid() > 1) sleep(1); return 0; }
END
cc -g -O1 -o "$tmp/keep" "$tmp/keep.c"
# start PRELOAD: the program, with what is preloaded.
start() {
    LD_PRELOAD=$1 JPROF_AGENT=for=all MALLOC_CONF=${2:-} "$tmp/keep" >"$tmp/ready" &
    pid=$!
    until grep -qs ready "$tmp/ready"; do kill -0 "$pid" || fail "the program does not start"; sleep 0.1; done
}
stop() { kill "$pid" && wait "$pid" || true; rm "$tmp/ready"; }

start "$jemalloc"
inside 0:0 "$pid" || fail "explain of a process that nobody prepared"
grep -q 'by size  2048 bytes 7.8' "$tmp/out" || fail "not its 4,000 blocks"
inside 0:0 snap -o /tmp/keep.jprof "$pid" || fail "snap"
inside 0:0 explain /tmp/keep.jprof || fail "explain of the snapshot"
grep -q 'by size  2048 bytes 7.8' "$tmp/out" || fail "not its 4,000 blocks, in the snapshot"
stop

cd "$tmp" # the agent's socket is where dumps go
start "$jemalloc:$agent" prof:true,lg_prof_sample:12
inside 0:0 snap -o /tmp/prepared.jprof "$pid" || fail "snap of a process that is prepared"
inside 0:0 --text /tmp/prepared.jprof || fail "a report of that"
sed -n 2,3p "$tmp/out" | grep -q ' keep_rows$' || fail "keep_rows is not named first"
inside 0:0 doctor "$pid" || [ $? -eq 1 ] || fail "doctor"
grep -q "$pid" "$tmp/out" "$tmp/err" || fail "doctor does not look at $pid"
stop
# A program that cannot be profiled is started all the same, and the reason is said.
inside 0:0 run -- /jprof --version || fail "run"
grep -q '^jprof [0-9.]*;' "$tmp/out" || fail "run does not start the program"
[ -s "$tmp/err" ] || fail "run does not say why it does not profile"
pid=
echo "jprof-static: $size bytes; $compared reports are equal; $packed functions of libruby by its own packs; in an empty root"
