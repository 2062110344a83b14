#!/bin/sh
# What a Ruby thread does for the agent, triggers, and that a program sees none of it.
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here"
words=

asks='"\(.reason) \(.ruby.gc) \(.ruby.gc_stat.count > 0) \(.ruby.why)"'
last() {
    jq -r "$1" "$(ls -t d/*.json | head -n 1)"
}

# The real-time signals from 37 on for which a process has handlers.
caught() {
    sed -n 's/^SigCgt:[[:space:]]*\(.......\).*/\1/p' "/proc/$1/status"
}

# How often the main thread began to wait.
waits() {
    sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' "/proc/$1/task/$1/status"
}

# program TEXT: whatever its threads are at, they come to GC.start and GC.stat, and go on.
program() {
    start ruby -e "$1"
    sleep 0.5
    check "$1: gc" test "$(field '"\(.ok) \(.gc)"' 'dump gc=1 timeout=20000')" = "true done"
    before=$(last .ruby.gc_stat.count)
    check "$1: side-car: $(last "$asks")" test "$(last "$asks")" = "socket done true null"
    field .ok 'dump gc=1 timeout=20000' >/dev/null
    check "$1: GC.count $before, $(last .ruby.gc_stat.count)" test "$(last .ruby.gc_stat.count)" -gt "$before"
    check "$1: a signal of its own: $(caught "$pid")" test "$(caught "$pid")" = 0000000
    check "$1: version" test "$(field .ruby report)" = "$(ruby -e 'print RUBY_VERSION')"
    check "$1: lives" lives "$pid"
    check "$1: cried" test ! -s cried
    check "$1: frames of the agent" python3 "$here/inner_frames.py" libjprof-agent d/*.heap
    end "$pid"
    rm -f d/*
}
program 'sleep 60'
program '$r, $w = IO.pipe; IO.select([$r])'
program '$r, $w = IO.pipe; $r.read'
program 'Thread.new { sleep }; Thread.new { loop { sleep 9 } }; Queue.new.pop'
program 'loop { i = 0; i += 1 while i < 1000 }'
program '4.times { Thread.new { loop { "x" * 10_000 } } }; sleep 60'
program '$r, $w = IO.pipe; Thread.new { IO.select([$r]) }.join'

# What a collection leaves to finalizers is freed before the dump, too: in a dump after it there is no less.
cat >fiddled.rb <<'END'
require 'fiddle'
def make = 400.times { Fiddle::Pointer.malloc(10_000, Fiddle::RUBY_FREE) }
make
File.write('made', '')
sleep 60
END
start ruby fiddled.rb
until_true test -e made
for i in 1 2; do
    field .ok 'dump gc=1 timeout=20000' >/dev/null
    last .malloc_stats.jemalloc.stats.allocated >"allocated$i"
done
check "finalizers had not run: $(cat allocated1), and then $(cat allocated2)" \
    test "$(cat allocated1)" -lt "$(($(cat allocated2) + 1000000))"
end "$pid"
rm -f d/*

# Nobody is woken for GC.stat alone; who is awake gives it.
start ruby -e 'sleep 60'
sleep 0.5
field .ok 'dump gc=1 timeout=20000' >/dev/null
before=$(waits "$pid")
for i in 1 2 3; do field .ok dump >/dev/null; done
check "asleep: $(last "$asks")" eval 'last "$asks" | grep -q "^socket not asked false no Ruby thread came to it"'
check "a plain dump has woken the main thread" test "$(waits "$pid")" -eq "$before"
field .ok 'dump gc=1 timeout=20000' >/dev/null
check "gc=1 has not" test "$(waits "$pid")" -gt "$before"
end "$pid"
rm -f d/*
start ruby -e 'loop { $a = Array.new(100) { "x" * 1000 } }'
sleep 0.5
field .ok dump >/dev/null
check "awake: $(last "$asks")" test "$(last "$asks")" = "socket not asked true null"
end "$pid"
rm -f d/*

# A C function that keeps the VM: the dump is made without.
echo '#include <time.h>
#include <unistd.h>
void spin(int s) { time_t end = time(0) + s; while (time(0) < end); }
void rest(int s) { time_t end = time(0) + s; while (time(0) < end) usleep(1000); }' >spin.c
${CC:-cc} -shared -fPIC -o spin.so spin.c || skip "no compiler here"
start ruby -rfiddle -e '
  spin = Fiddle::Function.new(Fiddle.dlopen("./spin.so")["spin"], [Fiddle::TYPE_INT], Fiddle::TYPE_VOID, need_gvl: true)
  sleep 0.5; puts 1; $stdout.flush; spin.call(30)'
until_true test -s said
sleep 0.2
reply=$(ask "$pid" 'dump gc=1 timeout=300')
check "a busy VM: $reply" test "$(echo "$reply" | jq -r '"\(.ok) \(.gc)"')" = "true timed out"
check "why: $(last .ruby.why)" test "$(last '"\(.ruby.gc) \(.ruby.gc_stat) \(.ruby.why | length > 10)"')" = "timed out null true"
end "$pid"
rm -f d/*

# One that keeps it after the collection: the GC.stat of the collection, no objects, and the reason.
start ruby -rfiddle -e '
  rest = Fiddle::Function.new(Fiddle.dlopen("./spin.so")["rest"], [Fiddle::TYPE_INT], Fiddle::TYPE_VOID, need_gvl: true)
  sleep 0.5; before = GC.count; puts 1; $stdout.flush
  nil until GC.count > before
  rest.call(60)'
until_true test -s said
reply=$(ask "$pid" 'dump gc=1 objects=1 timeout=3000')
check "busy after the collection: $reply" test "$(echo "$reply" | jq -r '"\(.ok) \(.gc)"')" = "true done"
check "its GC.stat, and no objects: $(last "$asks") $(last .ruby.objects.types[0])" test "$(last '"\(.ruby.gc_stat.count > 0) \(.ruby.objects)"')" = "true null"
check "why no objects: $(last .ruby.why)" eval 'last .ruby.why | grep -q "^the objects were not counted: .*raise timeout"'
end "$pid"
rm -f d/*

# Nothing of it is to be seen; exceptions, interrupts and fork go on as they did.
cat >watch.rb <<'END'
threads = []
pids = []
100.times do
  threads |= Thread.list
  begin
    raise "x"
  rescue => e
    sleep 0.01
    abort "lost #{$!.inspect}" unless $!.equal?(e)
  end
  pids << fork { exit!(GC.stat[:count] > 0 ? 0 : 1) } if rand < 0.2
end
pids.each { |pid| abort "child" unless Process.wait2(pid)[1].success? }
puts "threads #{threads.size}"
$stdout.flush
END
start ruby watch.rb
while lives "$pid" 2>/dev/null; do ask "$pid" 'dump gc=1 timeout=1000' >/dev/null 2>&1 || break; done
wait "$pid"
check "status" test $? -eq 0
check "threads: $(cat said)" test "$(cat said)" = "threads 1"
check "cried" test ! -s cried
rm -f d/* d/.j*

# While a program ends it may be asked, and ends.
for i in 1 2 3 4 5 6 7 8; do
    start ruby -e 'at_exit { 20.times { "x" * 100_000; sleep 0.01 } }; $kept = (0..200_000).map(&:to_s); sleep 0.1'
    while ask "$pid" 'dump gc=1 timeout=500' >/dev/null 2>&1; do :; done
    wait "$pid"
    check "asked while it ends: status" test $? -eq 0
done
rm -f d/* d/.j*

# Triggers.
words=every=1s
start ruby -e 'sleep 60'
check "every" until_true has_dumps 2
check "every: $(last "$asks")" test "$(last .reason)" = every
check "triggers" test "$(field .triggers report)" = every=1s
end "$pid"
rm -f d/* d/.j*

words=at=rss:150M
mkfifo go
start sh -c 'exec ruby -e "File.read(%q(go)); \$kept = %q(x) * 200_000_000; sleep 60"'
sleep 2
check "below the threshold" test "$(count_dumps)" -eq 0
: >go
check "at=rss" until_true has_dumps 1
check "at" test "$(last .reason)" = at
sleep 3
check "again without coming down" test "$(count_dumps)" -eq 1
end "$pid"
rm -f d/* d/.j*

words=on=exit
LD_PRELOAD="$agent:$jemalloc" MALLOC_CONF=$conf JPROF_AGENT=$words ruby -e '$kept = "x" * 1000_000; Process.wait(fork { exit!(0) })'
check "on=exit" test "$(count_dumps)" -eq 1 -a "$(last .reason)" = exit
check "whole" dumps_are_whole
rm -f d/* d/.j*
start ruby -e 'sleep 60'
until_true is_announced "$pid"
# Ruby's signal handler, which the agent's thread runs, writes to Ruby's own descriptors, and aborts where they are not.
thread=$(grep -l '^jprof-agent$' "/proc/$pid/task"/*/comm)
check "Ruby's descriptors are not the thread's" test "$(ls -l "${thread%comm}fd" | grep -c anon_inode)" = "$(ls -l "/proc/$pid/fd" | grep -c anon_inode)"
check "the program's pipes are not the thread's" test "$(readlink "${thread%comm}fd/2")" = "$(readlink "/proc/$pid/fd/2")"
sleep 0.5
kill "$pid"
wait "$pid"
check "TERM kills no more" test $? -eq 143
check "TERM leaves: $(ls -A d)" eval '! ls -A d | grep -q sock'
check "on=exit, by TERM" test "$(count_dumps)" -eq 1 -a "$(last .reason)" = exit
finish
