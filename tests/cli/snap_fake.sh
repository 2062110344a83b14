#!/bin/sh
# jprof snap and an agent that does not do as it should: one line, exit 1, nothing made; and never a file that is not
# the process's own.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
python3=$(command -v python3) || skip "no python3 here"
"$python3" -c 'import os; os.memfd_create' 2>/dev/null || skip "this python3 knows no memfd"
mkdir d
cp "$heaps/jemalloc-5.3.0.heap" d/good.heap

# fake LIE [DUMP]: a process with such an agent; sets $pid.
fake() {
    rm -f ready
    "$python3" "$here/src/fake_agent.py" "$tmp/d" "$@" >target.out 2>target.err </dev/null &
    pid=$!
    started="$started $pid"
    until_true 60 test -e ready || { cat target.err; exit 1; }
}

# refuses LIKE OPTIONS...: snap of $pid
refuses() {
    like=$1
    shift
    run "$jprof" snap "$pid" -o x.jprof "$@"
    exits 1
    says_like "^jprof: process $pid: $like"
    check "a file was made" [ ! -e x.jprof ]
    nothing_like . jprof-part
}

# takes OPTIONS...
takes() {
    rm -f x.jprof
    run "$jprof" snap "$pid" -o x.jprof "$@"
    exits 0
    has x.jprof "$pid/dump.heap"
    tar xOf x.jprof "$pid/dump.heap" >inside.heap
    same "it is another dump" inside.heap "$heaps/jemalloc-5.3.0.heap"
    rm -f x.jprof
}

fake honest good.heap
takes --keep-dumps
check "the dump is gone" [ -e d/good.heap ]
run "$jprof" snap "$pid" -o x.jprof --gc
exits 0
says "jprof: process $pid: garbage was not collected (timed out); dumped without"
check "the dump is still there" [ ! -e d/good.heap ]
rm -f x.jprof
refuses "its file .*good.heap cannot be read: No such file or directory"
cp "$heaps/jemalloc-5.3.0.heap" d/good.heap
run "$jprof" snap "$pid" -o x.jprof --signal=USR2 --timeout=1
exits 1
says "jprof: process $pid: no dump app.$pid.*.heap appeared within 1 s of the signal; give more with --timeout" \
    "jprof: process $pid: its agent's last error: no room at all"
stop "$pid"

fake abstract good.heap
takes --keep-dumps
stop "$pid"
fake inactive good.heap
run "$jprof" snap "$pid" -o x.jprof --keep-dumps
exits 0
says "jprof: process $pid: is not sampling (prof_active:false): the dump holds what was sampled before"
rm -f x.jprof
stop "$pid"
fake silent
refuses "its agent does not answer in time; give more with --timeout" --timeout=1
lives "$pid"
stop "$pid"
fake hangup
refuses "its agent hung up without an answer"
lives "$pid"
stop "$pid"
fake die
refuses "its agent hung up without an answer: the process ended, or began another program"
# An exec in the middle harms nobody.
fake exec
refuses "its agent (hung up without an answer|has hung up)"
until_true 20 sh -c "tr '\\0' ' ' <'/proc/$pid/cmdline' | grep -q '^sleep 600'" || fail "it is no sleep"
lives "$pid"
stop "$pid"
fake error
refuses "its agent says: the dump failed:.x0aNo space left on device"
stop "$pid"
fake endless
refuses "its agent answers without end"
stop "$pid"
fake protocol
refuses "its agent speaks protocol 2, this jprof 1"
stop "$pid"
fake pid
refuses "the agent that it names is that of process $((pid + 1))"
stop "$pid"
fake ticks
refuses "has ended, and another has its pid"
stop "$pid"
fake device
refuses "its agent cannot be reached at /dev/null: .*socket"
stop "$pid"
fake directory
refuses "its agent cannot be reached at $tmp/d: .*socket"
stop "$pid"

# ---- files that are none of its dumps ------------------------------------------------------------------------
fake honest /dev/zero
refuses "its file zero cannot be read: it is not a regular file"
stop "$pid"
mkfifo d/fifo
fake honest fifo
refuses "its file fifo cannot be read: it is not a regular file"
stop "$pid"
ln -s good.heap d/link
fake honest link
refuses "its file link cannot be read: it is not a regular file"
stop "$pid"
fake honest ../../../../../../../../nowhere.heap
refuses "its file .*nowhere.heap cannot be read: No such file"
stop "$pid"
fake sidecar good.heap
refuses "its file .*good.heap.json cannot be read: No such file"
check "the dump is gone" [ -e d/good.heap ]
stop "$pid"
echo 'no dump' >d/text.heap
fake honest text.heap
run "$jprof" snap "$pid" -o x.jprof
exits 1
says_like '^jprof: text.heap'
check "a file was made" [ ! -e x.jprof ]
stop "$pid"
rm -f d/good.heap
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups /usr/bin/python3"
if [ "$(id -u)" -eq 0 ] && $nobody -c '' 2>/dev/null; then
    # Another user's process cannot have root read a file of root's for it.
    cp "$heaps/jemalloc-5.3.0.heap" d/roots.heap
    chmod 0600 d/roots.heap
    chmod 0777 "$tmp" d
    rm -f ready target.*
    $nobody "$here/src/fake_agent.py" "$tmp/d" honest roots.heap >target.out 2>target.err </dev/null &
    pid=$!
    started="$started $pid"
    until_true 60 test -e ready || { cat target.err; exit 1; }
    refuses "its file roots.heap cannot be read: it belongs to another user than the process"
    check "root's file is gone" [ -e d/roots.heap ]
    chmod 0755 "$tmp"
fi
finish
