#!/bin/sh
# Dumps in memory, handed over by descriptors or copied; and what the agent does where the kernel denies it something.
. "$(dirname "$0")/agent_lib.sh"
hand_over() { python3 "$here/handover.py" "$@" >reply 2>&1; }
says() { test "$(jq -r "$1" reply)" = "$2"; }
is_whole() { grep -q '^heap_v2/' handed.heap && grep -q '^MAPPED_LIBRARIES:' handed.heap && jq -e '.objects | length > 3' handed.json; }
files() { ls -A d | grep -v '\.sock$'; }

start "$subject" hold wait
check "fds is not announced" test "$(field .fds report)" = true
check "no descriptors" hand_over "$pid" label=x
check "reply: $(cat reply)" says '"\(.ok) \(.dump) \(.sidecar) \(.fds) \(.seq) \(.gc)"' \
    "true app.$pid.0.j0.heap app.$pid.0.j0.heap.json 2 0 not asked"
check "what came" is_whole
check "side-car" jq -e --argjson pid "$pid" '.dump == "app.\($pid).0.j0.heap" and .label == "x" and .pid == $pid and .direct == null' handed.json
check "a file was made: $(files)" eval '! files'
check "the next" hand_over "$pid"
check "its name" says .dump "app.$pid.1.j1.heap"
check "a file after all" test "$(field '"\(.dump) \(.fds)"' dump)" = "$tmp/d/app.$pid.0.j2.heap null"
check "its side-car" jq -e '.direct == null' "d/app.$pid.0.j2.heap.json"
check "whole" dumps_are_whole
check "the agent keeps what it handed over" eval '! ls -l /proc/"$pid"/task/*/fd | grep jprof-dump'
check "lives" lives "$pid"
# Its own table of descriptors: only the pipe is in the program's.
thread=$(grep -l '^jprof-agent$' "/proc/$pid/task"/*/comm)
check "a socket in the program's table" eval '! ls -l "/proc/$pid/fd" | grep socket:'
check "no socket in the agent's table" eval 'ls -l "${thread%comm}fd" | grep socket:'
check "the program's files in the agent's table" test "$(ls -l "${thread%comm}fd" | grep -cE '/said|/cried|/dev/null')" -eq 0
end "$pid"
rm -rf d/* d/.j*

# A directory that nobody can write, or that is not there, does not matter.
conf=prof:true,lg_prof_sample:12,prof_prefix:$tmp/missing/app
start "$subject" hold wait
check "no descriptors without a directory" hand_over "$pid"
check "without a directory: $(cat reply)" says '"\(.ok) \(.fds)"' "true 2"
end "$pid"
conf=prof:true,lg_prof_sample:12,prof_prefix:$tmp/d/app

# What the program prints to is at its end as soon as it closes it: the agent keeps no copy.
check "a pipe of the program stays open" eval 'python3 -c "
import subprocess, sys
p = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
assert p.stdout.readline()
assert p.stdout.read() == b\"\"
p.kill()" env LD_PRELOAD="$agent:$jemalloc" MALLOC_CONF="$conf" JPROF_AGENT=for=all "$subject" hold later hush wait'
rm -rf d/* d/.j*

python3 "$here/deny.py" socket true || { echo "no seccomp here"; finish; }

# A dump that is too large for what its control group, or one above it, has left is written directly.
if [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then
    cat >cgroup.sh <<'END'
# usage: cgroup.sh GROUP=MAX,HIGH,CURRENT,INACTIVE... -- COMMAND...: the last group is the command's
mount -t tmpfs none /sys/fs/cgroup
while [ "$1" != -- ]; do
    dir=/sys/fs/cgroup/${1%%=*}
    mkdir -p "$dir"
    echo "${1#*=}" | {
        IFS=, read -r max high current inactive
        echo "$max" >"$dir/memory.max"
        echo "$high" >"$dir/memory.high"
        echo "$current" >"$dir/memory.current"
        printf 'anon 1\ninactive_file %s\n' "$inactive" >"$dir/memory.stat"
    }
    echo "0::/${1%%=*}" >cgroup.txt
    shift
done
shift
mount --bind cgroup.txt "/proc/$$/cgroup"
exec "$@"
END
    words=for=subject
    # Slowed down from there on (where the group may have no more at all nothing is dumped: agent_group); a group with more
    # used of it is not one with less left.
    for groups in box=max,100000000,99900000,0 \
        'box=100000000000,max,80000000000,0 box/inner=max,1000000,790000,0'; do
        wrap="unshare --mount --propagation private sh cgroup.sh $groups --"
        start "$subject" hold wait
        check "$groups: no reply" hand_over "$pid"
        check "$groups: directly: $(cat reply)" says '"\(.ok) \(.fds) \(.dump)"' "true 0 $tmp/d/app.$pid.0.j0.heap"
        check "$groups: why: $(cat reply)" jq -e '.why | test("only [0-9]+ KB of memory are left")' reply
        check "$groups: in its side-car" \
            jq -e '.direct | test("only [0-9]+ KB of memory are left")' "d/app.$pid.0.j0.heap.json"
        check "$groups: whole" dumps_are_whole
        end "$pid"
        rm -rf d/* d/.j*
    done
    wrap='unshare --mount --propagation private sh cgroup.sh box=max,100000000,99900000,90000000 --'
    start "$subject" hold wait
    check "no descriptors" hand_over "$pid"
    check "file pages count as used: $(cat reply)" says .fds 2
    end "$pid"
    words=for=all
fi

# denied NAMES: starts the subject without these calls; it need not announce itself.
denied() {
    rm -f said cried
    python3 "$here/deny.py" "$1" env LD_PRELOAD="$agent:$jemalloc" MALLOC_CONF="$conf" JPROF_AGENT=for=all "$subject" hold wait \
        >said 2>cried </dev/null &
    pid=$!
    started="$started $pid"
    until_true test -s said
}
signalled() {
    kill -USR2 "$pid"
    check "$1: no dump by signal" until_true eval 'ls d/app.$pid.0.j?.heap'
    check "$1: whole" dumps_are_whole
    check "$1: lives" lives "$pid"
}
denied memfd_create
signalled memfd_create
check "memfd_create: announced" eval '! is_announced "$pid"'
check "memfd_create: side-car" jq -e '.direct == "memfd_create: Operation not permitted"' "d/app.$pid.0.j0.heap.json"
check "memfd_create: $(cat cried)" grep -q '^libjprof-agent: .*memfd_create: Operation not permitted' cried
check "memfd_create: a socket that nobody finds" eval '! ls d/.jprof-agent.*.sock'
end "$pid"
rm -rf d/* d/.j*
for call in socket bind; do
    denied $call
    check "$call: not announced" until_true is_announced "$pid"
    check "$call: announced with a socket" grep -q '/memfd:jprof-agent:1:12: (deleted)' "/proc/$pid/maps"
    check "$call: $(cat cried)" until_true grep -q "^libjprof-agent: .*$call: Operation not permitted" cried
    signalled $call
    end "$pid"
    rm -rf d/* d/.j*
done
# Neither a table of its own nor memory of others: as well as it can.
denied close_range,unshare,process_vm_readv,renameat2
check "shared: not announced" until_true is_announced "$pid"
check "shared: no descriptors" hand_over "$pid"
check "shared: what came" is_whole
check "shared: an object without a build-id" jq -e '[.objects[] | select(.build_id == null)] | length == 0' handed.json
signalled shared
check "shared: said something" test ! -s cried
end "$pid"
rm -rf d/* d/.j*
finish
