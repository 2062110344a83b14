#!/bin/sh
# jprof watch: snap and diff in a loop, on a terminal and on a pipe, with nothing left behind; of one process and of a Puma.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_ruby
need_agent
command -v python3 >/dev/null || skip "no python3 here"
cat >grow.rb <<'END'
KEPT = []
def grow = 100.times { KEPT << 'g' * 4000 }
sleep 0.1 until File.exist?('go') || File.write('ready', '')
loop { grow; sleep 0.2 }
END
mkdir d
start "lg_prof_sample:15,prof_prefix:$tmp/d/app" "$ruby" grow.rb
: >go
is_quiet "$jprof" watch --gc --every=1s --count=3 "$pid"
check "three answers" [ "$(grep -cE "^process $pid, every (1 second|1000 ms): [123] snapshots? since [0-9:]+$" out)" -eq 3 ]
prints '^What has grown is shown after the second snapshot[.]$'
prints 'grow.rb:2 Object#grow'
prints ' [0-9]+ more$'
prints_no '[(]--top'
check "an escape on a pipe" lacks out "$(printf '\033')"
nothing_like d 'heap|json|ruby$'
nothing_like . '[.]jprof$'
lives "$pid"
works "$jprof" watch --every=1s --count=3 "$pid"
prints '^   do       start watch with --gc: then the snapshots hold no garbage$'
prints 'with --gc[.]$'
prints_no '[(]--top|jprof snap|--assume-gc'
if [ -c /dev/full ]; then
    exits_with 1 sh -c 'exec "$1" watch --every=1h "$2" >/dev/full' sh "$jprof" "$pid"
    says_like '^jprof: standard output cannot be written: No space left on device$'
fi
exits_with 1 "$jprof" watch --every=0 "$pid"
says_like '^jprof: --every=0: give a time'
for words in "" "$pid $pid" "--puma $pid"; do
    # shellcheck disable=SC2086
    exits_with 1 "$jprof" watch $words
    says_like '^jprof: watch takes one process'
done
exits_with 1 "$jprof" watch "$$"
says_like "^jprof: process $$ runs without a profile: .*jprof explain $$ says"
as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
if [ "$(id -u)" -eq 0 ] && $as_nobody "$jprof" --version >/dev/null 2>&1; then
    # shellcheck disable=SC2086
    exits_with 1 $as_nobody "$jprof" watch "$$"
    says_like "^jprof: process $$: its memory may not be read: you are user 65534, and it is of user 0"
fi
# A signal while a process does not answer, in the second snapshot: one was taken, so the status is 0.
for signal in INT TERM; do
    rm -f out
    # What a shell starts in the background ignores INT.
    env --default-signal=INT "$jprof" watch --every=0.5s "$pid" >out 2>err </dev/null &
    watcher=$!
    until_true 60 grep -q 'after the second snapshot' out || fail "no first snapshot"
    kill -STOP "$pid"
    asks() { for fd in /proc/"$watcher"/fd/*; do readlink "$fd"; done | grep -q '^socket:'; }
    until_true 60 asks || fail "it does not ask the process again"
    kill -"$signal" "$watcher"
    status=0
    wait "$watcher" || status=$?
    what="$signal in the second snapshot"
    exits 0
    kill -CONT "$pid"
done
works python3 "$here/watch_terminal.py" "$jprof" "$pid" 2
prints '^[0-9]+ checks, 0 failures$'
nothing_like d 'heap|json|ruby$'
nothing_like . '[.]jprof$'
# Hints are for who watches: the third snapshot comes by itself. Two are too few without ages.
rm -f go
export JPROF_AGENT=ruby=off
start "lg_prof_sample:15,prof_prefix:$tmp/d/app" "$ruby" grow.rb
unset JPROF_AGENT
: >go
works "$jprof" watch --gc --every=1s --count=2 "$pid"
prints '^1  GROWING  '
prints '^   do       wait for a third snapshot: of two a filling cache looks like a leak$'
prints_no 'take a third|lines of Ruby: '
# Objects that fill Ruby's GC heap: the line that makes them; without samples of slots they lie outside.
cat >slots.rb <<'END'
KEPT = []
sleep 0.1 until File.exist?('go') || File.write('ready', '')
loop { 40_000.times { KEPT << Object.new }; sleep 0.2 }
END
rm -f go
start "lg_prof_sample:19,prof_prefix:$tmp/d/app" "$ruby" slots.rb
: >go
works "$jprof" watch --gc --every=2s --count=2 "$pid"
prints '^1  (GROWING|LEAK SUSPECT) .* slots.rb:3 '
rm -f go ready
JPROF_AGENT=slots=off
export JPROF_AGENT
start "lg_prof_sample:19,prof_prefix:$tmp/d/app" "$ruby" slots.rb
unset JPROF_AGENT
: >go
works "$jprof" watch --gc --every=2s --count=2 "$pid"
prints "^[12]  (GROWING|LEAK SUSPECT) .* Ruby's GC heap [(]not in the profile[)]$"
prints '^   what     Object [+][0-9.]+ MB [(][+][0-9,]+[)]'
prints '^   do       find what keeps them: jprof snap --objects, then jprof keepers$'
if puma=$(command -v puma); then
    rack_app
    printf '%s\n' 'workers 2' 'threads 1, 1' 'preload_app!' "bind 'unix://puma.sock'" "before_fork { File.write('ready', '') }" >puma.rb
    start "lg_prof_sample:12,prof_prefix:$tmp/d/app" "$ruby" "$puma" -C puma.rb config.ru
    grep_workers() { for p in $(cat /proc/"$pid"/task/*/children); do tr '\0' '\n' <"/proc/$p/cmdline"; done | grep -c '^puma: cluster worker ' | grep -qx 2; }
    until_true 60 grep_workers || { cat target.err; exit 1; }
    works "$jprof" watch "--puma=$pid" --gc --every=1s --count=2
    prints "^process $pid, every (1 second|1000 ms): 2 snapshots since "
    prints ': Puma, master and 2 workers, '
    kill -TERM "$pid"
    wait "$pid" 2>/dev/null
fi
works "$jprof" watch --help
prints '^usage: jprof watch'
finish
