#!/bin/sh
# jprof run and jprof doctor with the agent: real Rubies, a Puma, a C program.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_ruby
need_agent
unset JPROF_AGENT MALLOC_CONF LD_PRELOAD
LD_PRELOAD=$agent "$ruby" -e 1 2>/dev/null || skip "the agent is for another C library than $ruby"
JPROF_AGENT_LIB=$agent
export JPROF_AGENT_LIB
ruby_app

# run_in_background COMMAND...: by jprof run; it makes the file `ready` when it is. Sets $pid.
run_in_background() {
    rm -f ready
    "$jprof" run --jemalloc="$jemalloc" --dir="$tmp/d" "$@" >target.out 2>target.err </dev/null &
    pid=$!
    started="$started $pid"
    until_true 60 test -e ready || { cat target.err; echo "did not start: $*"; exit 1; }
}

# row VERDICT CHECK REGEX
row() {
    prints "^$1 +$2  +.*$3"
}

doctor() {
    run "$jprof" doctor "$1"
}

# ---- a Ruby that jprof started: nothing to mend but symbols
run_in_background -- "$ruby" "$app"
check "not announced" until_true 30 announced "$pid"
doctor "$pid"
exits 0
says
row ok program 'a Ruby'
row ok config.prof 'the agent is active'
row ok options "by the agent: prof:true,prof_active:true,lg_prof_sample:17,prof_accum:false,prof_prefix:$tmp/d/"
row ok prof_active 'samples are taken'
row ok agent 'answers; 0 dumps'
row ok signal '12 \(USR2\) makes a dump'
row ok directory "$tmp/d may be written"
prints ' 0 bad, 0 unknown$'
works "$jprof" snap "$pid" -o one.jprof
doctor "$pid"
row ok agent 'answers; 1 dumps'
exits_with 1 "$jprof" doctor
prints "^ *$pid .*yes, lg 17.*$app"
says 'jprof: look at one of these: jprof doctor PID'
# It does not answer: stopped, not ended.
kill -STOP "$pid"
doctor "$pid"
exits 1
row bad agent 'does not answer'
kill -CONT "$pid"
lives "$pid"
# Its directory goes away, and the socket with it.
rm -rf d
doctor "$pid"
exits 1
row bad directory 'No such file'
row bad agent 'does not answer: .*the file is gone'
lives "$pid"
stop "$pid"

# ---- a file system that is too small for a dump: what the agent says of its last one
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
    mkdir -p d
    rm -f ready
    unshare -m sh -c 'mount -t tmpfs -o size=16k none d && exec "$@"' sh \
        "$jprof" run --jemalloc="$jemalloc" --dir="$tmp/d" -- "$ruby" "$app" >target.out 2>&1 </dev/null &
    pid=$!
    started="$started $pid"
    until_true 60 test -e ready || { cat target.out; echo "did not start in a namespace"; exit 1; }
    exits_with 1 "$jprof" snap --keep-dumps "$pid" -o small.jprof
    doctor "$pid"
    exits 1
    row warn agent 'its last error: .*[Nn]o space'
    row bad space '0.0 MB free'
    lives "$pid"
    stop "$pid"
fi

# ---- other states of the agent
run_in_background --inactive -- "$ruby" "$app"
until_true 30 announced "$pid"
doctor "$pid"
exits 0
row warn prof_active 'no samples are taken now'
# What doctor says helps; twice, it tells that it did nothing.
works "$jprof" snap --activate "$pid"
prints "^$pid: samples are taken from now on\$"
doctor "$pid"
row ok prof_active 'samples are taken'
run "$jprof" snap --activate "$pid"
prints "^$pid: samples are taken, as before\$"
works "$jprof" snap --deactivate "$pid"
prints "^$pid: samples are not taken from now on\$"
doctor "$pid"
row warn prof_active 'no samples are taken now'
exits_with 1 "$jprof" snap --activate "$pid" $$
prints "^$pid: samples are taken from now on\$"
says_like "process $$: has neither jemalloc nor jprof's agent"
lives "$pid"
stop "$pid"
cat >trap.rb <<'END'
trap("USR2") { }
$0 = "a title that is longer than all arguments and the environment " * 200
File.write("ready", "")
sleep
END
run_in_background -- "$ruby" trap.rb
until_true 30 announced "$pid"
doctor "$pid"
exits 0
row warn signal 'unless the program has a trap for it'
row unknown preload 'written its title over it'
row ok options 'by the agent'
stop "$pid"
JPROF_AGENT=off
export JPROF_AGENT
run_in_background -- "$ruby" "$app"
doctor "$pid"
row warn agent 'is loaded, but is switched off: JPROF_AGENT=off'
stop "$pid"
unset JPROF_AGENT

# ---- without agent, without jemalloc
start_bare "prof:true,prof_prefix:$tmp/app" "$ruby" "$app"
doctor "$pid"
exits 0
row warn agent 'none'
row warn signal 'kills a plain Ruby.*SigCgt \(set here\)'
stop "$pid"
rm -f ready
"$ruby" "$app" &
pid=$!
started="$started $pid"
until_true 60 test -e ready
doctor "$pid"
exits 1
row bad jemalloc 'none is loaded'
lives "$pid"
stop "$pid"

# ---- a program that is no Ruby: the agent is told to be active there
cat >ready.c <<'END'
#include <fcntl.h>
#include <unistd.h>
int main(void) { close(creat("ready", 0600)); for (;;) pause(); }
END
"${CC:-gcc}" -o no-ruby ready.c
run_in_background -- ./no-ruby
check "not announced" until_true 30 announced "$pid"
doctor "$pid"
exits 0
row ok agent answers
row ok signal 'makes a dump'
stop "$pid"

# ---- a Puma with two workers
if command -v puma >/dev/null; then
    printf 'run ->(env) { [200, {}, ["ok"]] }\n' >config.ru
    printf 'workers 2\nthreads 1, 1\nbind "unix://%s/s.sock"\non_worker_boot { |i| File.write("ready#{i}", "") }\n' "$tmp" >puma.rb
    "$jprof" run --jemalloc="$jemalloc" --dir="$tmp/d" --label=web -- puma -C puma.rb config.ru >target.out 2>&1 </dev/null &
    master=$!
    started="$started $master"
    if until_true 60 test -e ready0 -a -e ready1; then
        workers=$(cat "/proc/$master/task/$master/children")
        started="$started $workers"
        until_true 30 announced "$master"
        doctor "$master"
        exits 0
        row ok program 'puma master'
        row ok agent answers
        row warn signal 'hot-restarts a Puma'
        for worker in $workers; do
            until_true 30 announced "$worker"
            doctor "$worker"
            exits 0
            row ok program 'puma worker'
            row ok agent answers
            row warn signal 'does nothing to a Puma worker'
        done
        run "$jprof" doctor
        prints "^ *$master .*master"
        lives "$master"
    else
        cat target.out
        fail "no Puma came up"
    fi
fi
finish
