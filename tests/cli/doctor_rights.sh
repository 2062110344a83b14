#!/bin/sh
# What root's doctor and the lists of processes do for a process that it could not do itself: nothing. The process names
# a socket, libraries and a directory that are none of its business.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
[ "$(id -u)" -eq 0 ] || skip "only root can be told to do what others may not"
command -v setpriv >/dev/null || skip "no setpriv here (Debian: util-linux)"
need_agent
command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null || skip "no strace here, or it may not trace"
python3=/usr/bin/python3
user=65534
as_user="setpriv --reuid=$user --regid=$user --clear-groups"
$as_user $python3 -c 'import os; os.memfd_create' 2>/dev/null || skip "other users have no $python3 here that knows memfd"
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # a leak check fails under a tracer
export ASAN_OPTIONS
chmod 0755 "$tmp"
mkdir -m 0700 roots
cp "$agent" roots/libjemalloc.so.2

# A listener of root's at a path that the process names; each connection is a line of `connected`.
cat >listener.py <<'END'
import socket
server = socket.socket(socket.AF_UNIX)
server.bind("roots/socket")
server.listen(8)
open("listening", "w").close()
while True:
    client = server.accept()[0]
    with open("connected", "a") as seen:
        seen.write("x\n")
    client.close()
END
$python3 listener.py &
started="$started $!"
until_true 60 test -e listening
: >connected

# It announces that socket as its agent's.
cat >target.py <<'END'
import mmap, os, sys, time
fd = os.memfd_create("jprof-agent:1:12:" + sys.argv[1])
os.ftruncate(fd, 4096)
page = mmap.mmap(fd, 4096)
print("ready", flush=True)
time.sleep(3600)
END

# target SOCKET ASSIGNMENT...: sets $pid
target() {
    name=$1
    shift
    $as_user env "$@" $python3 target.py "$name" >target.out 2>target.err &
    pid=$!
    started="$started $pid"
    until_true 60 grep -q ready target.out
}

# not_as_root COMMAND...: whoever is root opens nothing of the process's by path, and connects to nothing of its. Other
# processes of this machine may have agents that root may ask.
not_as_root() {
    run strace -f -qq -o trace "$@"
    check "root connected" [ ! -s connected ]
    check "nothing was traced" grep -q "/proc/$pid/" trace
    main=$(sed -n '1s/ .*//p' trace)
    grep "^$main " trace | grep -E "open(at|at2)?\(|connect\(|readlink" >own
    check "root opened something below its root: $(grep -m 1 "/proc/$pid/root/" own)" no_line "/proc/$pid/root/" own
    check "root opened something of the process's: $(grep -m 1 "$tmp/roots" own)" no_line "$tmp/roots" own
    grep 'connect(' own | grep -F -e "$tmp" -e "/proc/$pid/" >reached
    check "root connected: $(head -n 1 reached)" [ ! -s reached ]
}

# One of root's own, which the lists ask.
build waits waits.c
env LD_PRELOAD="$agent:$jemalloc" JPROF_AGENT=for=all MALLOC_CONF="prof:true,prof_prefix:$tmp/own" ./waits >own.out 2>&1 &
started="$started $!"
until_true 60 grep -q ready own.out

# Where the agent answers, snap does without the directory.
for loaded in "$agent:$jemalloc" "$jemalloc"; do
    : >own.out
    env LD_PRELOAD="$loaded" JPROF_AGENT=for=all MALLOC_CONF="prof:true,prof_prefix:$tmp/nowhere/own" ./waits >own.out 2>&1 &
    pid=$!
    started="$started $pid"
    until_true 60 grep -q ready own.out
    [ "$loaded" = "$jemalloc" ] || until_true 60 announced "$pid"
    run "$jprof" doctor "$pid"
    if [ "$loaded" = "$jemalloc" ]; then
        prints '^bad +directory +.*/nowhere, where dumps are to go: No such file or directory$'
    else
        prints '^warn +directory +.*/nowhere, where dumps are to go: No such file or directory; jprof snap gets dumps from memory all the same$'
    fi
    stop "$pid"
done

target "$tmp/roots/socket" MALLOC_CONF="prof:true,prof_prefix:$tmp/roots/app"
not_as_root "$jprof" doctor "$pid"
prints '^bad +agent +.*may not reach it there'
not_as_root "$jprof" doctor
prints "^ *$pid .* yes, silent"
not_as_root "$jprof" snap
prints "^ *$pid .* yes, silent"
stop "$pid"

# A library that the process may not read is not read for it.
target "" LD_PRELOAD="$tmp/roots/libjemalloc.so.2"
not_as_root "$jprof" doctor "$pid"
prints "^unknown +preload +LD_PRELOAD names $tmp/roots/libjemalloc.so.2: Permission denied"
finish
