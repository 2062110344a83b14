#!/bin/sh
# Code made at run time, named by a perf map.
. "$(dirname "$0")/lib.sh"

build jit -gdwarf-5
heap=jit/truth.jit.heap

# names TEXT ARGUMENTS...: the three addresses get these names; TEXT is said.
names() {
    text=$1
    shift
    "$FRAMES" --functions "$@" >got || fail "frames $*: status $?: $(cat got)"
    grep -q '^1000 LazyCompile:~Object#each app.rb:3$' got || fail "frames $*: $(cat got)"
    grep -q '^1017 new_function$' got || fail "frames $*: the later entry counts: $(cat got)"
    grep -q '^1034 \[anon [0-9a-f]*\]+0x9000$' got || fail "frames $*: $(cat got)"
    grep -qF -- "$text" got || fail "frames $*: nothing says \"$text\": $(cat got)"
}

none() {
    "$FRAMES" --functions "$@" >got || fail "frames $*: status $?: $(cat got)"
    [ "$(grep -c '\[anon [0-9a-f]*\]+0x' got)" = 3 ] || fail "frames $*: $(cat got)"
}

none $heap
grep -qF 'made at run time (JIT)' got || fail "$(cat got)"
names '1 of 3 addresses here are in no entry of the perf map' --perf-map=jit/truth.map $heap
"$JPROF" info --all --perf-map=jit/truth.map $heap >info
grep -q ' JIT ' info || fail "info has no column: $(cat info)"
grep -q '\[anon ' info || fail "$(cat info)"
"$JPROF" info --all $heap | grep -qF -- --perf-map=FILE || fail "info does not advise"
"$JPROF" --show_bytes --fold=none --perf-map=jit/truth.map $heap | grep -q '1017.* new_function$' || fail "jprof --perf-map"

# 0x, blanks, CR; faulty lines are counted; the last line, cut, is not believed.
{
    printf 'not an entry\r\n'
    sed 's/^/0x/; s/$/\r/' jit/truth.map
    printf 'zz 10 x\n10 20\n10 zz x\nffffffffffffffff 10 too far\n10\n\n0 0 empty\n7f 1'
} >mixed.map
names 'the perf map has 6 lines that do not read START SIZE NAME; the first is line 1' --perf-map=mixed.map $heap
awk '{ printf "%s", (NR > 1 ? "\n" : "") $0 }' jit/truth.map >cut.map
"$FRAMES" --functions --perf-map=cut.map $heap | grep -q '^1017 an old function$' || fail "a cut line is believed"

for bad in /dev/null "$work" "$work/nowhere.map" mixed.bin; do
    head -c 5000 "$FRAMES" >mixed.bin
    status=0
    "$FRAMES" --perf-map="$bad" $heap >got || status=$?
    case $bad,$status in
    /dev/null,1 | *,1) ;;
    *) fail "--perf-map=$bad: status $status: $(cat got)" ;;
    esac
done
: >empty.map
none --perf-map=empty.map $heap

# Everything overlaps everything: no harm.
awk 'BEGIN { for (i = 0; i < 200000; i++) printf "%x fffffffffff00000 f%d\n", i, i }' >overlap.map
"$FRAMES" --functions --perf-map=overlap.map $heap | grep -q '^1000 f199999$' || fail "overlapping entries"

# Of the process that the dump is of, by the dump's name; below a sysroot, so that /tmp is left alone.
mkdir -p root/tmp
cp jit/truth.map root/tmp/perf-4711.map
cp $heap app.4711.3.i3.heap
names 'note: code made at run time is named by' --sysroot=root --pid=4711 $heap
"$JPROF" --sysroot=root --show_bytes --fold=none app.4711.3.i3.heap >report 2>said
grep -q 'new_function$' report || fail "not used by itself: $(cat report said)"
grep -q 'named by root/tmp/perf-4711.map' said || fail "not told: $(cat said)"
for name in 4711.3.i3.heap app.4711.heap app.4711.i3.heap app.x4711.3.i3.heap app.4712.3.i3.heap; do
    cp $heap "$name"
    "$JPROF" --sysroot=root --show_bytes --fold=none "$name" >report 2>said
    ! grep -q 'new_function$' report || fail "$name: used"
done
"$JPROF" --sysroot=root --fold=none --diff_base=app.4712.3.i3.heap app.4711.3.i3.heap >report 2>said || true
! grep -q 'named by' said || fail "used for a difference of two processes: $(cat said)"
"$JPROF" --sysroot=root --fold=none app.4711.3.i3.heap app.4712.3.i3.heap >report 2>said
! grep -q "named by" said || fail "used for two processes"

none --sysroot=root --pid=12 $heap
! grep -q note: got || fail "a list that is not there is noted: $(cat got)"
rm root/tmp/perf-4711.map
mkfifo root/tmp/perf-4711.map
none --sysroot=root --pid=4711 $heap
grep -q 'note: /tmp/perf-4711.map is not a regular file, and is not used' got || fail "$(cat got)"
rm root/tmp/perf-4711.map
cp jit/truth.map root/tmp/perf-4711.map
chmod 666 root/tmp/perf-4711.map
none --sysroot=root --pid=4711 $heap
grep -q 'may be written by anybody, and is not used' got || fail "$(cat got)"
chmod 644 root/tmp/perf-4711.map
if [ "$(id -u)" = 0 ]; then
    chown 12345 root/tmp/perf-4711.map
    none --sysroot=root --pid=4711 $heap
    grep -q 'belongs to another user, and is not used' got || fail "$(cat got)"
fi
