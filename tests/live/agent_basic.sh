#!/bin/sh
# What the agent answers, and that it is not seen otherwise.
. "$(dirname "$0")/agent_lib.sh"

exports() {
    readelf -W --dyn-syms "$agent" | awk '$7 ~ /^[0-9]+$/ && $5 != "LOCAL" && $8 !~ /^rb_.*@JPROF_AGENT$/ { print; bad = 1 } END { exit bad }'
}
needs_libc_alone() {
    ! readelf -dW "$agent" | grep NEEDED | grep -vE 'libc\.|libpthread\.|libdl\.|ld-'
}
check "exports something" exports
check "needs more than libc" needs_libc_alone

rm said
"$subject" wait >said </dev/null &
started=$!
until_true test -s said
plain=$(ls "/proc/$!/fd" | wc -l)
end $!

# Without profiling, or for another program, nothing: no thread, no handler, no descriptor.
inert() {
    rm said
    LD_PRELOAD="$agent:$jemalloc" MALLOC_CONF="$1" JPROF_AGENT="$2" "$subject" wait >said 2>cried </dev/null &
    pid=$!
    started="$started $pid"
    until_true test -s said
    check "$2 $1: a thread" test "$(ls "/proc/$pid/task" | wc -l)" -eq 1
    check "$2 $1: announced" eval '! is_announced "$pid"'
    check "$2 $1: a descriptor" test "$(ls "/proc/$pid/fd" | wc -l)" -eq "$plain"
    check "$2 $1: cries" test ! -s cried
    end "$pid"
}
inert "$conf" for=ruby
inert "$conf" for=other
inert "$conf" off
inert prof:false for=all
if command -v strace >/dev/null; then
    # No system call but those of the loader: the same as with a library that does nothing.
    echo 'void unused(void) {}' >empty.c
    ${CC:-cc} -shared -fPIC -o empty.so empty.c
    calls() { env -u JPROF_AGENT strace -f -E LD_PRELOAD="$1:$jemalloc" -E MALLOC_CONF=prof:true "$subject" 2>&1 | grep -oE '^[a-z0-9_]+\(' | sort | uniq -c | grep -vE 'mprotect|mmap|munmap|pread|close|fstat|read|open'; }
    calls "$agent" >with
    calls "$tmp/empty.so" >without
    check "an inert agent makes system calls" diff without with
fi

words=for=subject
start "$subject" hold wait
check "not asked for, but cried" test ! -s cried
check "report" test "$(field '"\(.ok) \(.protocol) \(.pid) \(.program) \(.prof_active) \(.lg_sample) \(.signal) \(.signal_owned) \(.ruby) \(.dumps) \(.last_error)"' report)" = \
    "true 1 $pid subject true 12 12 true null 0 null"
check "start time" test "$(field .start_ticks report)" = "$(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f20)"
check "boot id" test "$(field .boot_id report)" = "$(cat /proc/sys/kernel/random/boot_id)"
check "prefix" test "$(field .prefix report)" = "$tmp/d/app"
check "thread's name" grep -qx jprof-agent "/proc/$pid/task/"*/comm
blocked=$(for task in "/proc/$pid/task/"*; do grep -qx jprof-agent "$task/comm" && sed -n 's/^SigBlk:\t//p' "$task/status"; done)
check "the thread takes signals: $blocked" test "$blocked" = fffffffe7ffbfeff -o "$blocked" = fffffffc7ffbfeff

reply=$(ask "$pid" 'dump label=boot gc=1')
# A program without Ruby has epochs, too, and no note is made of the stacks that it cannot have.
table=$(echo "$reply" | jq -r .dump).ruby
check "no table" grep -q '^jprof-table 1$' "$table"
check "no epoch, or a reason where none is needed" eval 'grep -q "^e 1 " "$table" && grep -q "^ruby - off *\$" "$table"'
check "dump: $reply" test "$(echo "$reply" | jq -r '"\(.ok) \(.dump) \(.sidecar) \(.seq) \(.gc)"')" = \
    "true $tmp/d/app.$pid.0.j0.heap $tmp/d/app.$pid.0.j0.heap.json 0 no ruby"
check "the second" test "$(field .dump dump)" = "$tmp/d/app.$pid.1.j1.heap"
check "whole" dumps_are_whole
json=d/app.$pid.0.j0.heap.json
check "side-car" jq -e --argjson pid "$pid" '.jprof_agent == 1 and .reason == "socket" and .label == "boot" and .seq == 0
    and .dump == "app.\($pid).0.j0.heap" and .pid == $pid and .program == "subject" and .ruby == null
    and (.time > 1600000000) and (.milliseconds >= 0) and .malloc_stats.jemalloc.opt.lg_prof_sample == 12' "$json"
check "the program comes first" test "$(jq -r '.objects[0].path' "$json")" = "$(readlink -f "$subject")"
jq -r '.objects[] | select(.path | startswith("/")) | "\(.path) \(.base) \(.build_id)"' "$json" >objects
check "fewer objects than the program, agent, jemalloc and libc" test "$(wc -l <objects)" -ge 4
while read -r path base id; do
    check "$path: build-id" test "$id" = "$(readelf -nW "$path" | sed -n 's/.*Build ID: //p')"
    # Where the first byte of the file lies.
    check "$path: base" eval 'grep -F "$(readlink -f "$path")" "/proc/$pid/maps" | grep -qE "^0*${base#0x}-[0-9a-f]+ r-.p 00000000 "'
done <objects

check "stats" test "$(field '.ok and .stats.jemalloc.stats.allocated > 10000000' stats)" = true
check "deactivate" test "$(field .was deactivate)" = true
check "inactive" test "$(field .prof_active report)" = false
check "activate" test "$(field .was activate)" = false
check "active" test "$(field .prof_active report)" = true
check "two requests on one line's connection" test "$(ask "$pid" report stats report | jq -r .ok | sort -u)" = true

for line in '' nonsense 'dump label=../x' 'dump label=' 'dump gc=2' 'dump timeout=99999999' 'dump what' 'DUMP' '{"a":1}'; do
    check "refused: $line" test "$(field '"\(.ok) \(.error | length > 10)"' "$line")" = "false true"
done
cat >hostile.py <<'END'
import os, re, socket, sys, time
name = re.search(r"jprof-agent:\d+:\d+:(.*) \(deleted\)", open(f"/proc/{sys.argv[1]}/maps").read()).group(1)
def client():
    c = socket.socket(socket.AF_UNIX)
    c.connect(name)
    c.settimeout(20)
    return c
c = client(); c.sendall(b"x" * 10000 + b"\n")
assert b'"ok":false' in c.recv(1000)                 # over-long: told, and closed
try:
    assert c.recv(1000) == b""
except ConnectionResetError:
    pass
c = client(); c.sendall(os.urandom(3000) + b"\n"); assert b'"ok":false' in c.recv(1000)
for _ in range(50):                                  # gone in the middle of a request, and of a reply
    c = client(); c.sendall(b"rep"); c.close()
    c = client(); c.sendall(b"stats\n" * 20); c.close()
slow = client(); slow.sendall(b"rep"); time.sleep(0.2); slow.sendall(b"ort\n"); assert b'"ok":true' in slow.recv(4096)
deaf = client(); deaf.sendall(b"stats\n" * 100)      # never reads: closed after some seconds
silent = [client() for _ in range(12)]               # more than there are places
c = client(); c.sendall(b"report\n"); assert b'"ok":true' in c.recv(4096)
END
check "hostile clients" timeout 300 python3 hostile.py "$pid"
check "lives" lives "$pid"
for i in 1 2 3 4; do ask "$pid" dump dump dump >"both$i" & asking="${asking:-} $!"; done
wait $asking
check "several clients at once" test "$(cat both? | jq -r 'select(.ok) | .dump' | sort -u | wc -l)" -eq 12
check "all whole" dumps_are_whole

if command -v strace >/dev/null; then
    # What is interrupted when the tracer comes is shown as begun anew, and the last of the clients above is closed
    # after some seconds; after that there is nothing.
    strace -f -p "$pid" -o calls 2>/dev/null &
    tracer=$!
    started="$started $tracer"
    is_traced() { ! grep -h '^TracerPid:' /proc/"$pid"/task/*/status | grep -q '[^0-9]0$'; }
    check "strace does not come to it" until_true is_traced
    quiet=false
    for try in 1 2 3 4 5 6; do
        before=$(wc -l <calls)
        sleep 3
        if [ "$(wc -l <calls)" -eq "$before" ]; then quiet=true; break; fi
    done
    check "system calls while idle: $(tail -n 3 calls)" "$quiet"
    field .ok report >/dev/null
    check "strace sees nothing" until_true eval 'test "$(wc -l <calls)" -gt "$before"'
    kill "$tracer"
    wait "$tracer" 2>/dev/null
fi
end "$pid"

# Peers: another user is not answered.
if [ "$(id -u)" -eq 0 ]; then
    chmod 755 "$tmp" && chmod 777 d
    start "$subject" hold wait
    cat >other.py <<'END'
import os, socket, sys
os.setgroups([])
os.setuid(65534)
c = socket.socket(socket.AF_UNIX)
c.connect(sys.argv[1])
c.settimeout(20)
try:
    c.sendall(b"report\n")
    assert c.recv(4096) == b""
except (BrokenPipeError, ConnectionResetError):
    pass
END
    name=$(sed -n 's/.*jprof-agent:[0-9]*:[0-9]*:\(.*\) (deleted)/\1/p' "/proc/$pid/maps")
    check "another user is answered" python3 other.py "$name"
    end "$pid"
fi

words=for=all,bogus,every=
start "$subject" wait
check "an unknown word is not said once" test "$(grep -c 'not understood: bogus,every=;' cried)" -eq 1
end "$pid"
words=for=all,socket=off,signal=none
start "$subject" wait
check "socket=off,signal=none" grep -q '/memfd:jprof-agent:1:0: (deleted)' "/proc/$pid/maps"
end "$pid"
# Without descriptors left: it goes on, the agent does not spin, and answers when there are some again.
rm -f ready empty
words=for=all
start "$subject" hold ready fill wait
: >ready
until_true eval '[ "$(ls "/proc/$pid/fd" | wc -l)" -ge 60 ]'
ask "$pid" report >late &
asked=$!
started="$started $asked"
thread=$(grep -l '^jprof-agent$' "/proc/$pid/task"/*/comm)
ticks() {
    sed 's/.*) //' "${thread%comm}stat" | awk '{ print $12 + $13 }'
}
before=$(ticks)
sleep 2
check "spins: $before, $(ticks)" test $(($(ticks) - before)) -lt 20
check "lives" lives "$pid"
: >empty
wait "$asked"
check "asked when there were none" test "$(jq .ok late)" = true
end "$pid"
rm -f ready empty

finish
