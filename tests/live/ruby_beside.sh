#!/bin/sh
# Leaks of small objects, whose bytes lie in Ruby's GC heap, in what Ruby to 3.2 has moved, and in the stacks of fibers: no
# line is the largest row. The first five lines of diff name the line of the leak all the same.
# usage: sh ruby_beside.sh AGENT SUBJECT JPROF
jprof=$(readlink -f "$3")
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here, or none that this C library can load"
cat >leaks.rb <<'RB'
require 'json'
class Leak
  def initialize = @kept = []
  LINES = { rows: __LINE__ + 1, hashes: __LINE__ + 2, words: __LINE__ + 3, fibers: __LINE__ + 4 }
  def rows = @kept << JSON.parse("[#{(['{"k":"some value here","n":[1,2,3]}'] * 40).join(',')}]")
  def hashes = @kept << (0...60).to_h { |i| [i, i.to_s] }
  def words = @kept.concat(('word ' * 300).split)
  def fibers = @kept << Enumerator.new { |y| loop { y << 1 } }.tap(&:next)
end
kind, count = ARGV[0].to_sym, ARGV[1].to_i
leak = Leak.new
$stdout.sync = true
100.times { leak.send(kind) }
puts 'ready'
$stdin.gets
count.times { leak.send(kind) }
puts Leak::LINES[kind], 'done'
sleep
RB
mkfifo orders

# grown KIND COUNT: two snapshots of a process in which it grew, and the line that it is on.
grown() {
    rm -f ./*.jprof out # of the one before, whose "ready" is none of this one
    exec 3<>orders
    LD_PRELOAD=$agent:$jemalloc MALLOC_CONF=prof:true,lg_prof_sample:13,prof_prefix:$tmp/d/app JPROF_AGENT=slots=8k \
        ruby --disable-gems leaks.rb "$1" "$2" <orders >out 2>err &
    pid=$!
    started="$started $pid"
    until_true grep -q ready out || { cat err; exit 1; }
    "$jprof" snap --gc "$pid" -o early.jprof >snap.out 2>snap.err || { cat snap.err; exit 1; }
    echo more >&3
    until_true grep -q done out || { cat err; exit 1; }
    "$jprof" snap --gc "$pid" -o late.jprof >snap.out 2>snap.err || { cat snap.err; exit 1; }
    line=$(grep '^[0-9]' out)
    end "$pid"
    "$jprof" diff early.jprof late.jprof >screen 2>&1
    grep -v '^$' screen | head -n 5 >answer
    "$jprof" check late.jprof early.jprof >order 2>&1
    check "$1: the wrong order: $(head -n 1 order)" eval 'grep -q "no times" screen || grep -q "^jprof: the snapshots were not given in the order of their times" order'
    check "$1: line $line is not in the first five: $(cat screen)" grep -q "leaks.rb:$line" answer
}

grown rows 1500
check "nothing leads to the lines that a GC has lost: $(cat screen)" \
    eval '! grep -q "^1 .*creator not known" screen || tr -s " \n" " " <screen | grep -q "do Ruby 3.3 or later shows the lines that make them"'
grown hashes 1500
grown words 400
grown fibers 300
check "nothing is said of fibers: $(cat screen)" eval '! grep -q "thread stacks (not" screen || grep -q "fibers that are kept" screen'
finish
