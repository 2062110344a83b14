#!/bin/sh
# jprof snap --signal: only what the agent owns is sent; --trust-handler for programs with a handler of their own.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_ruby
need_agent
ruby_app
mkdir d

# ---- the agent's own --------------------------------------------------------------------------------------
start "lg_prof_sample:14,prof_prefix:$tmp/d/app" "$ruby" "$app"
is_quiet "$jprof" snap --signal=USR2 "$pid" -o signal.jprof
has signal.jprof "$pid/agent.json"
has signal.jprof "$pid/frames"
check "not by a signal" [ "$(tar xOf signal.jprof "$pid/agent.json" | grep -oE '"reason": ?"[a-z]*"' | tr -d ' ')" = '"reason":"signal"' ]
works "$jprof" --show_bytes signal.jprof
no_dumps d
works "$jprof" snap --signal=12 "$pid" -o number.jprof
exits_with 1 "$jprof" snap --signal=USR1 "$pid" -o other.jprof
says "jprof: process $pid: its agent handles signal USR2, not USR1; leave out --signal, the socket needs none"
lives "$pid"
# Dumps that are there already are not taken for the new one.
kill -USR2 "$pid"
until_true 20 sh -c 'ls d | grep -q heap$' || fail "no dump by hand"
before=$(ls d | grep 'heap$')
works "$jprof" snap --signal=USR2 "$pid" -o third.jprof
check "the wrong one was removed" [ "$(ls d | grep 'heap$')" = "$before" ]
stop "$pid"

# A dump directory that is relative, and a working directory that is another one.
mkdir rel rel/sub
(cd rel && cp "../$app" . && ln -s ../ready ready 2>/dev/null; exec env LD_PRELOAD="$jemalloc:$agent" MALLOC_CONF=prof:true,lg_prof_sample:14,prof_prefix:sub/app "$ruby" "$app" ../rel.ready) >/dev/null 2>&1 &
pid=$!
started="$started $pid"
until_true 60 test -e rel.ready || exit 1
works "$jprof" snap "$pid" -o rel1.jprof
works "$jprof" snap --signal=USR2 "$pid" -o rel2.jprof
no_dumps rel/sub

# ---- not the agent's --------------------------------------------------------------------------------------
start "prof_prefix:$tmp/d/app" "$ruby" -e 'trap("USR2") { File.write("trapped", "") }; File.write("ready", ""); loop { sleep 1 }'
exits_with 1 "$jprof" snap --signal=USR2 "$pid" -o trap.jprof
says_like "process $pid: USR2 is not the agent's: the program has installed a handler of its own"
check "the signal was sent" [ ! -e trapped ]
works "$jprof" snap "$pid" -o trap.jprof
lives "$pid"
stop "$pid"
start "prof_prefix:$tmp/d/app" env JPROF_AGENT=signal=none "$ruby" "$app"
exits_with 1 "$jprof" snap --signal=USR2 "$pid" -o none.jprof
says_like "process $pid: its agent handles no signal, not USR2"
lives "$pid"
stop "$pid"
start "prof_prefix:$tmp/d/app" env JPROF_AGENT=socket=off "$ruby" "$app"
for way in --gc --signal=USR2; do
    exits_with 1 "$jprof" snap "$way" "$pid" -o off.jprof
    says_like "process $pid: jprof's agent is loaded, but has no socket: JPROF_AGENT="
done
lives "$pid"
stop "$pid"
# A plain Ruby has a bit for USR2 in SigCgt and dies of it.
start_bare prof:true "$ruby" "$app"
exits_with 1 "$jprof" snap --signal=USR2 "$pid" -o plain.jprof
lives "$pid"
stop "$pid"

# ---- a handler that the user vouches for ----------------------------------------------------------------------
build handler handler.c -O1 -g -ljemalloc
handler() {
    start_bare "prof:true,lg_prof_sample:12,$1" ./handler ${2:+"$2"}
}
trust() {
    run "$jprof" snap --signal=USR2 --trust-handler=USR2 "$@"
}
handler "prof_prefix:$tmp/d/own"
exits_with 1 "$jprof" snap --signal=USR2 "$pid" -o h.jprof
says_like "process $pid: has jemalloc, but not jprof's agent"
lives "$pid"
trust "$pid" -o h.jprof
exits 0
lives "$pid"
run "$jprof" --show_bytes h.jprof
prints ' h_alloc$'
has_no h.jprof agent.json
check "the program's own dump was removed" [ "$(ls d | grep -c "^own\.$pid\.")" -eq 1 ]
# What is named like its table, and is of no dump, is neither taken nor removed.
echo 'no table' >"d/own.$pid.0.m0.heap.ruby"
trust --dump-dir="$tmp/d" "$pid" -o h2.jprof
exits 0
has_no h2.jprof frames
check "another table was removed" [ -e "d/own.$pid.0.m0.heap.ruby" ]
stop "$pid"
handler prof_prefix:own late
trust "$pid" -o late.jprof
exits 0
is_quiet "$jprof" --show_bytes late.jprof
prints ' h_alloc$'
tar xOf late.jprof "$pid/dump.heap" >late.heap
same "it was taken before it was complete" late.heap "own.$pid.0.m0.heap"
# The same name is written over, and still seen.
trust "$pid" -o late2.jprof
exits 0
stop "$pid"
handler prof_prefix:own never
trust --timeout=1 "$pid" -o never.jprof
exits 1
says_like "process $pid: no dump own\.$pid\.\*\.heap appeared within 1 s of the signal"
check "a file was made" [ ! -e never.jprof ]
lives "$pid"
exits_with 1 "$jprof" snap --signal=USR1 --trust-handler=USR1 "$pid" -o usr1.jprof
says "jprof: process $pid: has no handler for USR1, which would end it: not sent"
lives "$pid"
stop "$pid"
handler prof_prefix:own die
trust "$pid" -o die.jprof
exits 1
says "jprof: process $pid: has ended meanwhile"
handler prof_prefix:/nowhere/at/all
trust "$pid" -o nowhere.jprof
exits 1
says_like "process $pid: the directory of its dumps \(prof_prefix /nowhere/at/all\) cannot be read: No such file"
lives "$pid"
finish
