#!/bin/sh
# Another user connects to an agent's socket without a pause: each jprof snap gets its dump all the same, also through
# the child that connects with the process's rights. tests/live/agent_peers.sh has what the flood costs the process.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
[ "$(id -u)" -eq 0 ] || skip "not root: nobody else can be"
command -v python3 >/dev/null || skip "no python3 here"
need_agent
build waits waits.c
chmod 0755 "$tmp"
mkdir -m 0777 d
cp "$agent" libjprof-agent.so
agent=$tmp/libjprof-agent.so
JPROF_AGENT=for=all
export JPROF_AGENT

# flooded PREFIX: a process whose socket is a file beside its dumps, or has no file where that cannot be
flooded() {
    env LD_PRELOAD="$jemalloc:$agent" MALLOC_CONF="prof:true,prof_prefix:$1" ./waits >target.out 2>target.err </dev/null &
    pid=$!
    started="$started $pid"
    until_true 60 announced "$pid" || { cat target.err; echo "no agent"; exit 1; }
    python3 "$here/../live/flood.py" "$pid" 3600 only >flood.out 2>flood.err &
    flood=$!
    started="$started $flood"
    until_true 60 grep -q flooding flood.out
    for round in 1 2 3; do
        works "$jprof" snap "$pid" -o "x$round.jprof"
        check "no bundle" [ -s "x$round.jprof" ]
        rm -f "x$round.jprof"
    done
    check "no flood: $(cat flood.err)" alive "$flood"
    stop "$flood"
    lives "$pid"
    stop "$pid"
}

flooded "$tmp/d/app"
flooded /nowhere/app
finish
