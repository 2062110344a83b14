#!/bin/sh
# Memory has a limit that ends in one line; TERM and INT end every phase, and nothing is left.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"

# dump STACKS: each of 30 frames, all addresses different
dump() {
    awk -v n="$1" 'BEGIN {
        print "heap_v2/524288\n  t*: 1: 100 [0: 0]"
        for (i = 0; i < n; i++) {
            line = "@"
            for (f = 0; f < 30; f++)
                line = line sprintf(" 0x7f%010x", a++ * 16)
            print line "\n  t*: 1: 100 [0: 0]"
        }
        print "\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 42 /opt/x"
    }'
}
dump 5000 >some.heap

# ---- the limit ----
for command in "--text" info "bundle -o out.jprof"; do
    for limit in 1M 5M; do
        what="$command --max-memory=$limit"
        exits_with 1 "$jprof" $command "$nowhere" --max-memory=$limit some.heap
        check "not one line" [ "$(wc -l <err)" = 1 ]
        check "does not say what to do" grep -q "needs more memory than the ${limit%M} MB .*--max-memory=SIZE" err
        check "a file is left" [ ! -e out.jprof ]
    done
done
works "$jprof" --text "$nowhere" --max-memory=4G "$heaps/hand-4.heap"
exits_with 1 "$jprof" --text "$nowhere" --max-memory=lots "$heaps/hand-4.heap"
check "no word on the size" grep -q "max-memory=lots: give a size" err

# What cannot be of its kind is refused by its size, before it is read.
truncate -s 3G sparse
for option in names maps perf-map; do
    exits_with 1 "$jprof" --text --max-memory=1G --$option=sparse some.heap
    check "is read" grep -q '^jprof: sparse: is larger than the [0-9]* MiB that such a file may have$' err
done
rm sparse

# What memory is too short to unpack is not called damaged: debug information of 250 MB, which is 250 KB in the file.
what="debug information that is too large"
cat >subject.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) void *keep(size_t n) { return malloc(n); }
int main(void) { return keep(10) == 0; }
END
truncate -s 250M zeros
if ${CC:-cc} -g -no-pie subject.c -o subject 2>cc.err && nm subject >symbols 2>nm.err &&
    objcopy --update-section .debug_str=zeros subject 2>objcopy.err && objcopy --compress-debug-sections=zlib subject 2>objcopy.err; then
    printf 'heap_v2/524288\n  t*: 1: 100 [0: 0]\n@ 0x%x\n  t*: 1: 100 [0: 0]\n\nMAPPED_LIBRARIES:\n00401000-00402000 r-xp 00001000 08:01 42 %s\n' \
        $((0x$(sed -n 's/ T keep$//p' symbols) + 4)) "$tmp/subject" >unpacked.heap
    works sh -c 'ulimit -v 200000; exec "$@"' sh "$plain" info unpacked.heap
    check "called damaged" eval '! grep -q damaged out'
    check "no word on memory" eval '! grep -q "is compressed" out || tr "\n" " " <out | grep -q "memory is short"'
fi
rm -f zeros subject

# The control group's limit, where one may be made.
what="a control group"
group=
for dir in /sys/fs/cgroup /sys/fs/cgroup/memory; do
    [ -z "$group" ] && [ "$sanitized" = false ] && [ -e "$dir/cgroup.procs" ] &&
        mkdir "$dir/jprof-limits.$$" 2>/dev/null && group=$dir/jprof-limits.$$
done
limit_file=$group/memory.max
[ -e "$limit_file" ] || limit_file=$group/memory.limit_in_bytes
if [ -n "$group" ] && dump 20000 >big.heap && echo 24M >"$limit_file" 2>/dev/null; then
    exits_with 1 sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$group" "$jprof" --text big.heap
    check "not one line about the control group" grep -q "(its control group has [0-9]* MB left); --max-memory" err
fi
[ -z "$group" ] || rmdir "$group"

# ---- signals ----
# A shell lets what runs in the background ignore INT.
default=$(env --default-signal=INT,TERM true 2>/dev/null && echo env --default-signal=INT,TERM)
signals=TERM
[ -z "$default" ] || signals="TERM INT"

# start COMMAND...: in the background; $pid is its own
start() {
    $default "$@" >start.log 2>&1 &
    pid=$!
}

# Graphviz is in a child, which goes with the program.
has_graphviz() {
    drawer=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null)
    drawer=${drawer%% *}
    grep -qs libgvc "/proc/${drawer:-none}/maps"
}
drawer_has_ended() { (pid=$drawer && has_ended); }
has_ended() { case $(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null) in '' | Z*) ;; *) false ;; esac }

# ends_by SIGNAL: because of it
ends_by() {
    kill -s "$1" $pid 2>/dev/null || fail "it had ended before"
    check "does not end" until_true 4 has_ended
    has_ended || kill -s KILL $pid
    wait $pid
    status=$?
    case $1 in TERM) wanted=143 ;; *) wanted=130 ;; esac
    check "ended with $status" [ $status = $wanted ]
}

mkdir reports made
TMPDIR=$tmp/made
export TMPDIR
mkfifo pipe
awk 'BEGIN {
    srand(1)
    print "heap_v2/524288\n  t*: 1: 100 [0: 0]"
    for (i = 0; i < 6000; i++) {
        line = "@"
        for (f = 0; f < 12; f++)
            line = line sprintf(" 0x%x", 4194304 + 64 * int(rand() * 3000))
        print line "\n  t*: 9: 9000000 [0: 0]"
    }
    print "\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 42 /opt/x"
}' >tangle.heap

# never_ending: a dump, on and on; the file `fed` comes when half a megabyte of it was taken, which no pipe holds
never_ending() {
    stack="@ 0x7f0000001000 0x7f0000002000
  t*: 1: 100 [0: 0]"
    printf 'heap_v2/524288\n  t*: 1: 100 [0: 0]\n'
    yes "$stack" | head -n 20000
    : >fed
    exec yes "$stack"
}
"$jprof" --svg "$nowhere" "$heaps/hand-4.heap" >probe.svg 2>probe.err
grep -q 'built without libgvc' probe.err && pictures=false || pictures=true

for signal in $signals; do
    what="$signal while it waits for its input"
    start "$jprof" --text -o reports/a pipe
    exec 9>pipe
    ends_by $signal
    exec 9>&-

    what="$signal while it reads"
    rm -f fed
    exec 9<>pipe
    start "$jprof" --text -o reports/b pipe
    never_ending >pipe 2>/dev/null 9>&- &
    check "does not read" until_true 4 [ -e fed ]
    ends_by $signal
    exec 9>&-

    [ $pictures = true ] || continue
    what="$signal while it lays out a graph"
    start "$jprof" --svg --nodecount=100000 --nodefraction=0 --edgefraction=0 -o reports/d tangle.heap
    check "lays out nothing" until_true 4 has_graphviz
    sleep 0.3
    ends_by $signal
    check "its child goes on" until_true 4 drawer_has_ended
done
[ $pictures = true ] || echo "built without libgvc: no graph was laid out"
what="after all signals"
left=$(find reports made ! -type d)
check "something is left: $left" [ -z "$left" ]

finish
