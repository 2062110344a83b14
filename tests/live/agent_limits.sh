#!/bin/sh
# Where the agent cannot do its work, `jprof snap` and `jprof doctor` give the true reason, and the program goes on.
jprof=$(readlink -f "$3")
. "$(dirname "$0")/agent_lib.sh"
cc=${CC:-cc}
$cc -O1 -o deny "$here/deny.c" || skip "no compiler here"
./deny socket true || skip "no seccomp filters here"
chmod 755 . && chmod 777 d

is_told() {
    is_announced "$1" || grep -q 'p 4[0-9a-f]*0000 .*libjprof-agent' "/proc/$1/maps"
}

has_begun() {
    [ -s said ] || ! lives "$pid"
}

# launch LIMITS COMMAND...: in the background, in a shell after LIMITS (a line of shell), its number in $pid.
launch() {
    limits=$1
    shift
    rm -f said
    # shellcheck disable=SC2086
    $wrap sh -c "$limits"' && exec "$@"' sh env LD_PRELOAD="$agent:$jemalloc" MALLOC_CONF="$conf" JPROF_AGENT="$words" \
        "$@" >said 2>cried </dev/null &
    pid=$!
    started="$started $pid"
    until_true has_begun
}

# snap_says TEXT DOCTOR-TEXT: of $pid, and never that prof:true is missing.
snap_says() {
    snap=$("$jprof" snap -o "$tmp/out" "$pid" 2>&1)
    check "snap, for $1: $snap" eval 'echo "$snap" | grep -q -- "'"$1"'"'
    check "snap blames prof:true: $snap" eval '! echo "$snap" | grep -q "no prof:true"'
    row=$("$jprof" doctor "$pid" 2>&1 | grep -A 1 '^[a-z]* *agent ')
    check "doctor, for $2: $row" eval 'echo "$row" | grep -q -- "'"$2"'"'
    check "lives, with $1" lives "$pid"
    end "$pid"
}

launch 'ulimit -n 6' "$subject" hold wait
until_true is_told "$pid"
snap_says 'raise ulimit -n' 'raise ulimit -n'
launch 'ulimit -n 4' "$subject" hold wait
snap_says 'could not make a pipe.*raise ulimit -n' 'could not make a pipe'

for call in memfd_create socket bind; do
    wrap="./deny $call"
    launch true "$subject" hold wait
    until_true is_told "$pid"
    case $call in
    memfd_create) snap_says 'memfd_create.*seccomp' 'memfd_create.*seccomp' ;;
    *) snap_says 'could not open a control socket: .*seccomp' 'could not open a control socket.*seccomp' ;;
    esac
done
wrap=

words=
launch true "$subject" hold wait
snap_says 'serves Rubies alone' 'serves Rubies alone'
words=for=all,socket=off
launch true "$subject" hold wait
until_true is_told "$pid"
snap_says 'JPROF_AGENT=for=all,socket=off' 'without a socket'
words=for=other
launch true "$subject" hold wait
snap_says 'called other' 'called other'
words=off,for=all
launch true "$subject" hold wait
snap_says 'switched off' 'switched off'
words=for=all

conf=prof_prefix:$tmp/d/app
launch true "$subject" hold wait
snap=$("$jprof" snap -o "$tmp/out" "$pid" 2>&1)
check "snap, without profiling: $snap" eval 'echo "$snap" | grep -q "MALLOC_CONF has no prof:true"'
end "$pid"
conf=prof:true,lg_prof_sample:12,prof_prefix:$tmp/d/app

# A jemalloc inside the program, whose mallctl nobody sees.
archive=$($cc -print-file-name=libjemalloc.a)
if [ -f "$archive" ] && $cc -o inside "$here/subject.c" "$archive" -lm -lpthread -ldl -lstdc++ 2>/dev/null; then
    allocator=$jemalloc jemalloc=
    launch true ./inside hold wait
    snap_says 'exports mallctl' 'mallctl'
    jemalloc=$allocator
fi

# Too little memory for the agent, at whatever point that strikes: a process that lives without it lives on, and tells.
launch true "$subject" wait
until_true is_told "$pid"
size=$(sed -n 's/^VmSize:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status")
end "$pid"
told=0
for less in 1000 600 400 200 -200 -8000 -20000; do
    launch "ulimit -v $((size - less))" "$subject" wait
    [ -s said ] || continue
    check "ulimit -v, $less KiB less" until_true is_told "$pid"
    sleep 0.3
    check "ulimit -v, $less KiB less: lives" lives "$pid"
    is_announced "$pid" || { told=$((told + 1)) && snap_says 'ulimit -v' 'ulimit -v'; }
    end "$pid"
done
check "no process was short of memory near $size KiB" test $told -gt 2

# Of a limited address space the agent takes its library, a stack and two pages before it is asked (1.2 MB). When less
# than 64 MiB are left it takes nothing at all, gives the reason, and serves again when there is more.
in_use() {
    sed -n 's/^VmSize:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status"
}
is_settled() { # it sleeps, and takes no more
    bare=$(in_use)
    sleep 0.3
    grep -q '^State:[[:space:]]*S' "/proc/$pid/status" && test "$bare" = "$(in_use)"
}
limit="ulimit -Sv $((size + 200000))"
ours=$agent agent=
launch "$limit" "$subject" hold wait
until_true is_settled
end "$pid"
agent=$ours
# The program's thread may need one more of jemalloc's extents for what is sampled by chance, which has 4 MiB by then: the
# smallest of five runs is what the agent takes.
for attempt in 1 2 3 4 5; do
    launch "$limit" "$subject" hold wait
    until_true is_announced "$pid"
    used=$(in_use)
    [ $((used - bare)) -ge 1900 ] && [ "$attempt" -lt 5 ] || break
    end "$pid"
done
check "unasked, the agent takes $((used - bare)) KiB of address space" test $((used - bare)) -lt 1900
prlimit --pid "$pid" --as=$(((used + 60000) * 1024)):
kill -USR2 "$pid"
until_true grep -q '^ShdPnd:[[:space:]]*0*$' "/proc/$pid/status"
for request in report stats activate dump 'dump gc=1 fds=1'; do
    # shellcheck disable=SC2086
    reply=$(ask "$pid" $request | cut -c 1-200)
    check "$request, 60 MB left: $reply" eval 'echo "$reply" | grep -q "false.*ulimit -v leaves less than 64 MiB"'
done
check "a signal's dump, 60 MB left: $(ls d)" test "$(count_dumps)" -eq 0
check "refused, the agent took $(($(in_use) - used)) KiB" test "$(in_use)" -eq "$used"
prlimit --pid "$pid" --as=$(((used + 70000) * 1024)):
check "last_error: $(field .last_error report)" eval 'field .last_error report | grep -q "ulimit -v"'
check "70 MB left: a dump" test "$(field .ok dump)" = true
rm -f d/*.heap*
prlimit --pid "$pid" --as=$(((used + 20000) * 1024)):
snap_says 'ulimit -v leaves less than 64 MiB' 'ulimit -v leaves less than 64 MiB'

# A dump that hits the size limit harms nobody, not at exit either, where a thread of the program's writes it.
launch 'ulimit -f 4' "$subject" hold wait
until_true is_announced "$pid"
reply=$(ask "$pid" dump)
check "ulimit -f: $reply" eval 'echo "$reply" | grep -qi "file too large"'
check "ulimit -f: lives" lives "$pid"
end "$pid"
words=for=all,on=exit
(ulimit -f 4 && LD_PRELOAD="$agent:$jemalloc" MALLOC_CONF="$conf" JPROF_AGENT=$words exec "$subject" hold exit)
check "ulimit -f at exit" test $? -eq 3
words=for=all

# As another user: no more threads, and an agent's file that only root may read.
[ "$(id -u)" = 0 ] || finish
user=$((60000 + $$ % 4000))
wrap="setpriv --reuid=$user --regid=$user --clear-groups"
$wrap true || finish
cp "$subject" own-subject && chmod 755 own-subject && own=$tmp/own-subject
mkdir shared && cp "$agent" shared && chmod 755 shared && ours=$agent && agent=$tmp/shared/${agent##*/} && chmod 644 "$agent"
user_wrap=$wrap wrap="$wrap prlimit --nproc=1"
launch true "$own" hold wait
until_true is_told "$pid"
snap_says 'could not start its thread.*ulimit -u' 'could not start its thread.*ulimit -u'
chmod 600 "$agent"
wrap=$user_wrap
launch true "$own" hold wait
snap_says "LD_PRELOAD names jprof's agent, and it is not loaded.*user $user" 'did not load it'
agent=$ours
finish
