#!/bin/sh
# Children, new images with the same pid, daemons, namespaces.
. "$(dirname "$0")/agent_lib.sh"

children() {
    cat "/proc/$1/task/"*/children
}

start "$subject" hold fork hold wait
until_true test -s said
child=$(cat said)
check "it is a child" test "$child" -ne "$pid"
check "the child announces none" until_true is_announced "$child"
check "the child answers for its parent" test "$(ask "$child" report | jq .pid)" -eq "$child"
check "the parent answers for its child" test "$(field .pid report)" -eq "$pid"
kill -USR2 "$child"
check "no dump of the child" until_true test -e "d/app.$child.0.j0.heap"
kill -USR2 "$pid"
check "no dump of the parent" until_true test -e "d/app.$pid.0.j0.heap"
check "whole" dumps_are_whole
inherited=$(ls -l "/proc/$child/fd" | grep -cE 'pipe:|socket:')
check "descriptors of the agent in the child: $inherited" test "$inherited" -eq "$(ls -l "/proc/$pid/fd" | grep -cE 'pipe:|socket:')"
end "$child"
check "the parent's end" eval 'wait $pid; test $? -eq 137'
rm -rf d/* d/.j*

# A socket of a dead process goes when the next agent starts in its directory; a live one's stays.
start "$subject" hold wait
first=$pid
start "$subject" hold wait
second=$pid
end "$second"
check "killed, it leaves its socket" test -S d/.jprof-agent."$second".*.sock
start "$subject" hold wait
check "the dead one's socket is still there" until_true eval '! ls d/.jprof-agent.$second.*'
check "the live one's socket is gone" test "$(ask "$first" report | jq .pid)" -eq "$first"
end "$first"
end "$pid"
rm -rf d/* d/.j*

# exit() takes its socket along.
with() { LD_PRELOAD="$agent:$jemalloc" MALLOC_CONF="$conf" JPROF_AGENT=$words "$@"; }
with "$subject" hold exit
check "exit status" test $? -eq 3
check "exit leaves a socket" test -z "$(ls -A d)"

# The same pid after exec: numbers go on, nothing is overwritten.
start "$subject" hold ready exec
check "before" test "$(field .dump dump)" = "$tmp/d/app.$pid.0.j0.heap"
old=$(ls d/.jprof-agent.*)
: >ready
until_true test -s said
check "no agent after exec" until_true is_announced "$pid"
check "after" test "$(field .dump dump)" = "$tmp/d/app.$pid.1.j0.heap"
check "the old image's socket" test ! -e "$old"
check "whole" dumps_are_whole
end "$pid"
rm -rf d/* d/.j*

rm ready

# As daemon(3) does it.
rm -f said
with "$subject" hold daemon wait >said </dev/null
until_true test -s said
pid=$(cat said)
started="$started $pid"
check "no agent in the daemon" until_true is_announced "$pid"
check "the daemon" test "$(field .dump dump)" = "$tmp/d/app.$pid.0.j0.heap"
kill -USR2 "$pid"
check "its signal" until_true has_dumps 2
kill "$pid"
rm -rf d/* d/.j*

# One that closes what is not its own, and opens files with those numbers: they get nothing.
start "$subject" hold ready close wait
check "before descriptors are closed" test "$(field .ok report)" = true
: >ready
until_true test -s said
kill -USR2 "$pid"
ask "$pid" report >/dev/null 2>&1
check "no answer after descriptors were closed" until_true eval 'test "$(field .ok dump)" = true'
kill -USR2 "$pid"
check "no dump by signal after descriptors were closed" until_true has_dumps 2
check "the agent wrote into the program's file" test ! -s own
check "lives" lives "$pid"
end "$pid"
rm -rf d/* d/.j*

if has_ruby; then
    words=
    cat >storm.rb <<'END'
300.times { Process.wait(fork { exit!(0) }) }
100.times { Process.wait(spawn("true")) }
100.times { Process.wait(fork { exec("true") }) }
4.times.map { Thread.new { 50.times { Process.wait(fork { "a" * 100_000; exit!(0) }) } } }.each(&:join)
4.times.map { fork { sleep 30 } }.each { |pid| Process.kill(:KILL, pid); Process.wait(pid) }
puts :done
$stdout.flush
sleep 60
END
    start ruby storm.rb
    ask "$pid" dump dump dump >/dev/null
    check "fork storm" until_true grep -qx done said
    check "after the storm" test "$(field .ok 'dump gc=1')" = true
    check "sockets of children that ended at once: $(ls -A d | grep -c sock)" test "$(ls -A d | grep -c sock)" -le 5
    check "whole" dumps_are_whole
    check "cried" test ! -s cried
    end "$pid"
    rm -rf d/* d/.j*

    # Whichever thread forks: a child that goes on with Ruby has an agent, though it makes nothing.
    start ruby -e 'a = fork { sleep }; b = c = nil; Thread.new { b = fork { c = fork { sleep }; puts c; $stdout.flush; sleep } }.join
        puts a, b; $stdout.flush; sleep'
    until_true eval 'test "$(wc -l <said)" -eq 3'
    for child in $(cat said); do
        started="$started $child"
        check "no agent in a child" until_true is_announced "$child"
        check "the child's answer" test "$(ask "$child" dump | jq -r .dump)" = "$tmp/d/app.$child.0.j0.heap"
        kill -USR2 "$child"
        check "the child's dump by signal" until_true test -e "d/app.$child.1.j1.heap"
        kill -KILL "$child"
    done
    end "$pid"
    rm -rf d/* d/.j*
    # One that only comes to exec does not pay for a thread.
    if command -v strace >/dev/null; then
        strace -f -e trace=clone,clone3 -o calls -E LD_PRELOAD="$agent:$jemalloc" -E MALLOC_CONF="$conf" \
            ruby -e '$kept = (0..100_000).map(&:to_s); 20.times { Process.wait(spawn("true")) }'
        check "threads of the agent: $(grep -c CLONE_THREAD calls)" test "$(grep -c CLONE_THREAD calls)" -le 3
    fi
    words=for=all
fi

# pid 1 of a namespace, asked from outside.
if [ "$(id -u)" -eq 0 ] && unshare --pid --mount --fork true 2>/dev/null; then
    rm -f said
    unshare --pid --mount --fork --mount-proc --kill-child \
        env LD_PRELOAD="$agent:$jemalloc" MALLOC_CONF="$conf" JPROF_AGENT=for=subject "$subject" hold wait \
        >said 2>cried </dev/null &
    outer=$!
    started="$started $outer"
    until_true test -s said
    check "it is not pid 1" test "$(cat said)" = 1
    pid=$(children "$outer" | tr -d ' ')
    check "no agent in pid 1" until_true is_announced "$pid"
    check "pid 1 from outside" test "$(ask --root "/proc/$pid/root" "$pid" dump | jq -r .dump)" = "$tmp/d/app.1.0.j0.heap"
    kill -USR2 "$pid"
    check "USR2 to pid 1" until_true has_dumps 2
    check "lives" lives "$pid"
    check "whole" dumps_are_whole
    end "$outer"
else
    echo "no pid namespace here: not root"
fi
finish
