#!/bin/sh
# Directories that are missing, full, not writable, hard to reach; dumps that were never finished.
. "$(dirname "$0")/agent_lib.sh"

# error_like REGEX: of the next dump, which must fail and leave nothing.
error_like() {
    want=$1
    reply=$(ask "$pid" dump)
    check "not refused: $reply" test "$(echo "$reply" | jq .ok)" = false
    check "the reason: $reply" eval 'echo "$reply" | jq -r .error | grep -qE "$want"'
    check "last_error" test "$(field .last_error report)" = "$(echo "$reply" | jq -r .error)"
    check "left behind" eval '! ls -A "$place" 2>/dev/null | grep -v "\.sock$"'
    check "lives" lives "$pid"
}

# Missing at the start: asked over the abstract socket; it works once the directory is there.
place=$tmp/missing
conf=prof:true,prof_prefix:$place/app
start "$subject" hold wait
check "announced in the abstract namespace" grep -q 'jprof-agent:1:12:@' "/proc/$pid/maps"
check "report has the reason" test "$(field '.last_error | test("No such file")' report)" = true
error_like "cannot write $place/app\.$pid\.0\.j0\.heap.part: No such file or directory; make that directory"
mkdir "$place"
check "once it is there" test "$(field .dump dump)" = "$place/app.$pid.0.j0.heap"
check "a last error after a good dump" test "$(field .last_error report)" = null
end "$pid"

# Files are their owner's alone, unless asked otherwise.
for asked in "" 0640 644; do
    mode=0${asked#0}
    [ -n "$asked" ] || mode=0600
    rm -f "$place"/app.*
    words=for=all,${asked:+mode=$asked}
    start "$subject" hold wait
    ask "$pid" dump >reply
    check "mode $mode: $(ls -l "$place")" \
        test "$(stat -c 0%a "$place"/app."$pid".0.j0.heap* | sort -u)" = "$mode"
    end "$pid"
done
words=for=all,mode=0400
start "$subject" wait
check "a mode that its owner cannot write" grep -q 'not understood: mode=0400;' cried
end "$pid"
words=for=all

# A relative prefix is one of the working directory.
mkdir -p work/sub
cd work || exit 1
conf=prof:true,prof_prefix:sub/app
start "$subject" hold wait
check "relative" test "$(field .dump dump)" = "$tmp/work/sub/app.$pid.0.j0.heap"
end "$pid"
conf=prof:true,prof_prefix:app
start "$subject" hold wait
check "relative, no directory" test "$(field .dump dump)" = "$tmp/work/app.$pid.0.j0.heap"
end "$pid"
cd "$tmp" || exit 1

# Longer than a socket's address.
long=$tmp/$(printf 'x%.0s' $(seq 100))
mkdir "$long"
conf=prof:true,prof_prefix:$long/app
start "$subject" hold wait
check "long: no socket file" test -S "$long"/.jprof-agent."$pid".*.sock
cd "$long" || exit 1
(cd "$long" && python3 - "$pid" <<'END') >reply
import glob, socket, sys
c = socket.socket(socket.AF_UNIX)
c.connect(glob.glob(f".jprof-agent.{sys.argv[1]}.*.sock")[0])
c.sendall(b"dump\n")
print(c.recv(9999).decode())
END
check "long: $(cat reply)" test "$(jq -r .dump reply)" = "$long/app.$pid.0.j0.heap"
cd "$tmp" || exit 1
end "$pid"

# Killed in the middle, again and again: nothing that looks whole but is not, and the next start sweeps.
place=$tmp/d
conf=prof:true,lg_prof_sample:0,prof_prefix:$place/app
cat >killed.py <<'END'
import subprocess, sys, time, os
for i in range(15):
    p = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    while "jprof-agent:" not in open(f"/proc/{p.pid}/maps").read():
        time.sleep(0.005)
    os.kill(p.pid, 12)
    time.sleep(i * 0.0005)
    p.kill()
    p.wait()
END
LD_PRELOAD='' python3 killed.py env LD_PRELOAD="$agent:$jemalloc" MALLOC_CONF="$conf" JPROF_AGENT=for=all "$subject" hold wait
# What the kill could leave, made by hand: a dead one's, and one that an agent holds.
: >d/app.1.7.j0.heap.part
: >d/app.1.7.j0.heap.json
: >d/app.1.8.j0.heap.part
: >d/other.1.8.j0.heap.part
: >d/app.notes.part
flock d/app.1.8.j0.heap.part sleep 30 &
holder=$!
started="$started $holder"
start "$subject" hold wait
check "not swept" test ! -e d/app.1.7.j0.heap.part -a ! -e d/app.1.7.j0.heap.json
check "another's was swept" test -e d/app.1.8.j0.heap.part -a -e d/other.1.8.j0.heap.part -a -e d/app.notes.part
rm d/*.part
check "a dump looks whole and is not" eval 'for f in d/*.heap; do [ ! -e "$f" ] || grep -q "^MAPPED_LIB" "$f" || exit 1; done'
check "a dump lacks its side-car" eval 'for f in d/*.heap; do [ ! -e "$f" ] || jq -e .objects "$f.json" || exit 1; done'
check "sockets of dead processes" test "$(ls -A d | grep -c sock)" -eq 1

# Numbers that are taken are not taken again.
: >"d/app.$pid.4.i4.heap"
check "after 4" test "$(field .dump dump)" = "$place/app.$pid.5.j0.heap"
: >"d/app.$pid.6.j1.heap.part"
check "part of another" test "$(field .seq dump)" -eq 7
end "$pid"

if [ "$(id -u)" -ne 0 ] || ! unshare --mount true 2>/dev/null; then
    echo "no full disk here: not root"
    finish
fi

# A disk of 8 KiB, less than a dump with its table, in a mount namespace that the subject alone is in; seen through /proc/PID/root.
mkdir small
echo 'mount -t tmpfs -o "$1" none small && shift && exec "$@"' >mount.sh
words=for=subject
conf=prof:true,lg_prof_sample:0,prof_prefix:$tmp/small/app
wrap='unshare --mount --propagation private sh mount.sh size=8k'
start "$subject" hold wait
ask() {
    python3 "$here/ask.py" --root "/proc/$pid/root" "$@"
}
place=/proc/$pid/root$tmp/small
error_like "cannot write $tmp/small/app\.$pid\.0\.j0\.heap(\.json|\.ruby)?: No space left on device; make room there"
kill -USR2 "$pid"
sleep 1
check "full, by signal: left behind" eval '! ls -A "$place" | grep -v "\.sock$"'
check "full, by signal: lives" lives "$pid"
end "$pid"
ask() {
    python3 "$here/ask.py" "$@"
}

# A file system that is read-only: the socket is abstract, the reason is told.
conf=prof:true,prof_prefix:$tmp/small/app
wrap='unshare --mount --propagation private sh mount.sh ro'
start "$subject" hold wait
place=/proc/$pid/root$tmp/small
error_like "Read-only file system; let this user write there"
end "$pid"

# Memory of a control group, whose files stand in place of the system's: a limit of 100 MB in the group above.
cat >cgroup.sh <<'END'
group=$1 used=$2 limit=$3 none=$4 line=$5
shift 5
mount -t tmpfs none /sys/fs/cgroup
mkdir -p "$group/box/app"
echo "$none" >"$group/box/app/$limit"
echo 100000000 >"$group/box/$limit"
echo 50000000 | tee "$group/box/$used" >"$group/box/app/$used"
echo "$line" >cgroup.txt
mount --bind cgroup.txt "/proc/$$/cgroup"
exec "$@"
END
rm -f d/* d/.j*
conf=prof:true,prof_prefix:$tmp/d/app
words=for=subject,at=cgroup:85%

# cgroup GROUP USED: starts the subject by $wrap; its memory comes up to the threshold.
cgroup() {
    start "$subject" hold wait
    sleep 2.5
    check "$1: below the threshold" test "$(count_dumps)" -eq 0
    echo 86000000 >"/proc/$pid/root$1/box/$2"
    check "$1: at=cgroup" until_true has_dumps 1
    check "$1: reason" test "$(jq -r .reason d/*.json)" = at
    end "$pid"
    rm -f d/* d/.j*
}
wrap='unshare --mount --propagation private sh cgroup.sh /sys/fs/cgroup memory.current memory.max max 0::/box/app'
cgroup /sys/fs/cgroup memory.current
wrap='unshare --mount --propagation private sh cgroup.sh /sys/fs/cgroup/memory memory.usage_in_bytes memory.limit_in_bytes'
wrap="$wrap 9223372036854771712 7:memory:/box/app"
cgroup /sys/fs/cgroup/memory memory.usage_in_bytes

# Another user's directory.
chmod 755 "$tmp"
mkdir -m 755 closed
conf=prof:true,prof_prefix:$tmp/closed/app
cat >as_nobody.py <<'END'
import os, sys
os.setgroups([])
os.setuid(65534)
os.execvp(sys.argv[1], sys.argv[1:])
END
for file in "$subject" "$agent" "$jemalloc"; do
    cp "$file" "$tmp" && chmod 755 "$tmp/${file##*/}"
done
agent=$tmp/${agent##*/}
jemalloc=$tmp/${jemalloc##*/}
words=for=subject
wrap='python3 as_nobody.py'
start "$tmp/${subject##*/}" hold wait
until_true is_announced "$pid"
place=$tmp/closed
error_like "Permission denied; let this user write there"
end "$pid"
finish
