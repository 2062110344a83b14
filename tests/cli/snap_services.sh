#!/bin/sh
# jprof snap --puma: several Pumas of one host never come into one bundle. Stand-ins with Puma's titles.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_agent
command -v python3 >/dev/null || skip "no python3 here"
sleep=$(command -v sleep)

# lists REGEX: a line of standard error is like that.
lists() {
    check "standard error lacks: $1" grep -qE -e "$1" err
}

# stand_in TITLE [WORKERS]: a process of that title in the background, with so many workers; sets $pid.
cat >stand_in.py <<'END'
import os, sys
sleep, title, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
for i in range(workers):
    if not os.fork():
        os.execv(sleep, ["puma: cluster worker %d: %d [x]" % (i, os.getppid()), "1000"])
os.execv(sleep, [title, "1000"])
END
stand_in() {
    LD_PRELOAD="$jemalloc:$agent" MALLOC_CONF=prof:true JPROF_AGENT=for=all python3 stand_in.py "$sleep" "$1" "$2" &
    pid=$!
    started="$started $pid"
    until_true 60 is_titled "$pid" "$1" "$2" || { echo "did not start: $1"; exit 1; }
    for worker in $(cat /proc/"$pid"/task/*/children); do started="$started $worker"; done
}
is_titled() {
    [ "$(tr '\0' '\n' <"/proc/$1/cmdline" | head -n 1)" = "$2" ] && announced "$1" &&
        [ "$(cat /proc/"$1"/task/*/children | wc -w)" -eq "$3" ] &&
        for p in $(cat /proc/"$1"/task/*/children); do
            tr '\0' '\n' <"/proc/$p/cmdline" | head -n 1 | grep -q '^puma: ' && announced "$p" || return 1
        done
}

# Here other tests may have Pumas, so that there are two at least.
stand_in 'puma 6.6.0 (tcp://0.0.0.0:1) [one]' 2
one=$pid
stand_in 'puma 6.6.0 (tcp://0.0.0.0:2) [two]' 0
two=$pid
is_refused "$jprof" snap --puma
check "no bundle may be made" [ "$(ls | grep -c '\.jprof$')" -eq 0 ]
lists '^jprof: [0-9]+ Pumas run here, and a bundle of several would add them up; take one by its pid:$'
lists "^jprof:   jprof snap --puma=$one +puma 6.6.0 \(tcp://0.0.0.0:1\) \[one\], 2 workers$"
lists "^jprof:   jprof snap --puma=$two +puma 6.6.0 \(tcp://0.0.0.0:2\) \[two\], one process$"
for command in watch explain; do
    exits_with 1 "$jprof" $command --puma
    lists "^jprof:   jprof $command --puma=$one +puma 6.6.0 \(tcp://0.0.0.0:1\) \[one\], 2 workers$"
done
exits_with 1 "$jprof" snap --puma --match=nothing_is_called_so
lists '^jprof: [0-9]+ Pumas run here'

# Each command that it names takes that one alone.
works "$jprof" snap --puma="$one" -o one.jprof
check "not the master and two workers" [ "$(bundle_key one.jprof 'sorted(i["role"] for i in m)')" = "['master', 'worker', 'worker']" ]
works "$jprof" snap --puma="$two" -o two.jprof
check "not the one" [ "$(bundle_key two.jprof '[i["pid"] for i in m]')" = "[$two]" ]

# Where one runs alone, it is taken: in a namespace that has no others.
if unshare --pid --fork --mount-proc true 2>/dev/null; then
    cat >alone.sh <<'END'
LD_PRELOAD="$1:$2" MALLOC_CONF=prof:true JPROF_AGENT=for=all python3 stand_in.py "$3" 'puma 6.6.0 (tcp://0.0.0.0:3) [x]' 2 &
until [ "$(grep -l /memfd:jprof-agent: /proc/[0-9]*/maps 2>/dev/null | wc -l)" -eq 3 ] &&
    [ "$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | grep -cE '^puma[: ]')" -eq 3 ]; do sleep 0.05; done
"$4" snap --puma -o alone.jprof
END
    works unshare --pid --fork --mount-proc --kill-child sh alone.sh "$jemalloc" "$agent" "$sleep" "$jprof"
    check "not the cluster" [ "$(bundle_key alone.jprof 'len(m)')" = 3 ]
fi
finish
