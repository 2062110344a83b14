#!/bin/sh
# jprof snap from outside: processes in pid, mount and network namespaces of their own, files that were deleted,
# another user's process.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_agent
command -v python3 >/dev/null || skip "no python3 here"
[ "$(id -u)" -eq 0 ] || skip "only root can make namespaces here"
unshare --pid --fork --mount true 2>/dev/null || skip "no namespaces can be made here"
export JPROF_AGENT=for=all

build plugin.so plugin.c -O1 -shared -fPIC
build host host.c -O1 -ldl

# ---- deleted files --------------------------------------------------------------------------------------------
mkdir d
start "lg_prof_sample:12,prof_prefix:$tmp/d/host" ./host
cp plugin.so kept.so
rm plugin.so
works "$jprof" snap "$pid" -o deleted.jprof
mv host elsewhere
run "$jprof" --show_bytes deleted.jprof
prints ' plugin_keep$'
mv elsewhere host
# The file was deleted, and another stands in its place: build-id and inode tell.
echo 'int plugin_keep(void) { return 1; }' >other.c
"${CC:-gcc}" -shared -fPIC -o plugin.so other.c
works "$jprof" snap "$pid" -o replaced.jprof
run "$jprof" --show_bytes replaced.jprof
prints ' plugin_keep$'
stop "$pid"
cp kept.so plugin.so

# ---- pid and mount namespaces -------------------------------------------------------------------------------------
cat >inside.sh <<'END'
mount -t tmpfs none "$1" && cd "$1" && mkdir dumps lib && cp "$2/host" . && cp "$2/plugin.so" lib/ || exit 1
LD_PRELOAD=$4:$3 MALLOC_CONF=prof:true,lg_prof_sample:12,prof_prefix:$1/dumps/app exec ./host lib/plugin.so
END
mkdir private
unshare --pid --fork --mount --mount-proc --net --kill-child sh inside.sh "$tmp/private" "$tmp" "$agent" "$jemalloc" >ns.out 2>ns.err &
outer=$!
started="$started $outer"
find_inner() {
    pid=$(cat "/proc/$outer/task/$outer/children" 2>/dev/null)
    pid=${pid%% *}
    [ -n "$pid" ] && announced "$pid" && [ -e "/proc/$pid/root$tmp/private/ready" ]
}
until_true 60 find_inner || { cat ns.err; fail "the process in namespaces did not start"; }
check "its files can be seen from here" [ ! -e private/host ]
check "it is not pid 1" grep -qE '^NSpid:.*[[:space:]]1$' "/proc/$pid/status"
is_quiet "$jprof" snap "$pid" -o inner.jprof
lives "$pid"
check "a dump was left" [ "$(ls "/proc/$pid/root$tmp/private/dumps" | grep -c heap)" -eq 0 ]
check "not named by the pid that was given" [ "$(bundle_key inner.jprof 'm[0]["pid"]')" = "$pid" ]
works "$jprof" --show_bytes inner.jprof
prints ' plugin_keep$'
run "$jprof" info --all inner.jprof
prints 'same (build|inode).*private/lib/plugin.so'
works "$jprof" snap --signal=USR2 "$pid" -o inner2.jprof
run "$jprof" --show_bytes inner2.jprof
prints ' plugin_keep$'
works "$jprof" snap --children-of="$outer" -o inner3.jprof
run "$jprof" snap
prints "^ *$pid +$outer .* yes +yes, lg 12 +\./host"

# From inside: a collector that shares the namespaces.
cat >collector.sh <<'END'
cd "$1" && exec "$2" snap 1 -o fromwithin.jprof
END
if command -v nsenter >/dev/null; then
    works nsenter -t "$pid" -p -m -r sh "$tmp/collector.sh" "$tmp/private" "$jprof"
    cp "/proc/$pid/root$tmp/private/fromwithin.jprof" . || fail "no bundle inside"
    run "$jprof" --show_bytes fromwithin.jprof
    prints ' plugin_keep$'
fi
kill -KILL "$outer"
wait "$outer" 2>/dev/null
check "the collector took something along" [ ! -e private/host ]

# ---- a socket in the abstract namespace of another network ----------------------------------------------------------
rm -f ready
unshare --net "$(command -v python3)" "$here/src/fake_agent.py" "$tmp/d" abstract "$heaps/jemalloc-5.3.0.heap" >target.out 2>target.err &
pid=$!
started="$started $pid"
until_true 60 test -e ready || { cat target.err; exit 1; }
works "$jprof" snap "$pid" -o net.jprof
has net.jprof "$pid/dump.heap"
lives "$pid"
stop "$pid"

# ---- another user ------------------------------------------------------------------------------------------------------
if command -v setpriv >/dev/null; then
    nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
    chmod 0755 "$tmp"
    mkdir theirs
    chown 65534:65534 theirs
    rm -f theirs/ready
    (cd theirs && exec $nobody env LD_PRELOAD="$jemalloc:$agent" MALLOC_CONF=prof:true,lg_prof_sample:12,prof_prefix:dump/app sh -c 'mkdir dump && exec ../host ../kept.so') >their.out 2>their.err &
    pid=$!
    started="$started $pid"
    until_true 60 test -e theirs/ready || { cat their.err; exit 1; }
    until_true 20 announced "$pid"
    works "$jprof" snap "$pid" -o theirs.jprof
    run "$jprof" --show_bytes theirs.jprof
    prints ' plugin_keep$'
    # What it has mapped and could not open any more is not opened for it either: nor once it is deleted, when root alone
    # finds it. One that it could read is.
    # named BUNDLE: its own names, whatever a reader finds beside it
    named() { tar xOf "$1" "$pid/symbols.pb.gz" | gunzip >names && grep -q plugin_keep names; }
    named_not() { ! named "$1"; }
    chmod 0600 kept.so
    works "$jprof" snap "$pid" -o closed.jprof
    check "a file that the process may not read was read" named_not closed.jprof
    ln kept.so kept2.so
    rm kept.so
    works "$jprof" snap "$pid" -o closed2.jprof
    check "a deleted file that the process may not read was read" named_not closed2.jprof
    chmod 0644 kept2.so
    works "$jprof" snap "$pid" -o open.jprof
    check "a deleted file that the process may read was not" named open.jprof
    mv kept2.so kept.so
    # Code that it made itself is named by the list that it wrote, which belongs to it.
    if [ "$(uname -m)" = x86_64 ]; then
        build jitter jitter.c -O1
        rm -f theirs/ready
        (cd theirs && exec $nobody env LD_PRELOAD="$jemalloc:$agent" MALLOC_CONF=prof:true,lg_prof_sample:12,prof_prefix:dump/app ../jitter) >their.out 2>their.err &
        jitter=$!
        started="$started $jitter"
        until_true 60 test -e theirs/ready || { cat their.err; exit 1; }
        until_true 20 announced "$jitter"
        works "$jprof" snap "$jitter" -o jit.jprof
        says "jprof: process $jitter: code made at run time is named by /proc/$jitter/root/tmp/perf-$jitter.map"
        rm -f "/tmp/perf-$jitter.map"
        run "$jprof" --show_bytes --cum jit.jprof
        prints ' made_at_run_time$'
        stop "$jitter"
    fi
    # Not the other way round.
    start "lg_prof_sample:12,prof_prefix:$tmp/d/host" ./host
    if $nobody "$jprof" --version >/dev/null 2>&1; then
        exits_with 1 $nobody "$jprof" snap "$pid" -o theirs/x.jprof
        says "jprof: process $pid: its memory may not be read: you are user 65534, and it is of user 0; run jprof as root, with CAP_SYS_PTRACE"
        lives "$pid"
    fi
fi
finish
