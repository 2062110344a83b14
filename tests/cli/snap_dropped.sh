#!/bin/sh
# Programs that give up root after the start are dumped by root's collector, whoever may write or enter the directory for
# dumps; so are those that have no directory at all.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
[ "$(id -u)" -eq 0 ] || skip "only root can give up root"
need_agent
unset JPROF_AGENT MALLOC_CONF LD_PRELOAD
build become become.c
chmod 0755 "$tmp"
cp "$agent" libjprof-agent.so
JPROF_AGENT_LIB=$tmp/libjprof-agent.so
export JPROF_AGENT_LIB

# dropped COMMAND...: jprof run of become, begun by COMMAND, whose agent is there before root is given up; it is dumped.
dropped() {
    rm -f go x.jprof
    "$@" "$jprof" run --sample=12 -- ./become "$tmp/go" >target.out 2>target.err </dev/null &
    pid=$!
    started="$started $pid"
    until_true 60 announced "$pid" || { cat target.err; echo "no agent"; exit 1; }
    : >go
    until_true 60 grep -q ready target.out
    check "still root" [ "$(stat -c %u "/proc/$pid")" = 65534 ]
    works "$jprof" snap "$pid" -o x.jprof
    has x.jprof "$pid/dump.heap"
    check "garbage of no Ruby" [ "$(cat next)" = "jprof: next: jprof x.jprof" ]
    lives "$pid"
    stop "$pid"
}
TMPDIR=$tmp
export TMPDIR
dropped env
check "the directory is not private" [ "$(stat -c %a jprof-0)" = 700 ]
rm -rf jprof-0
dropped env TMPDIR=/no/such/directory
check "not said" grep -q 'no dump goes to a file then' target.err
if unshare -m true 2>/dev/null; then
    mkdir readonly
    dropped unshare -m sh -c 'mount -t tmpfs -o ro none readonly && exec env TMPDIR="$PWD/readonly" "$@"' sh
    check "not said" grep -q 'Read-only file system.*no dump goes to a file then' target.err
fi
finish
