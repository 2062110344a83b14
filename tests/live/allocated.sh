#!/bin/sh
# What was allocated, freed and is live on each line of Ruby, under jprof run --alloc: beside known amounts.
# usage: sh allocated.sh AGENT SUBJECT JPROF
jprof=$(readlink -f "$3")
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here, or none that this C library can load"
cat >work.rb <<'RUBY'
require 'fiddle'
$keep = Array.new(30_000); $n = -1 # as large as it gets: one that grows would be memory of the lines below
def kept = 20_000.times { $keep[$n += 1] = Fiddle.malloc(1024) }            # line 3: 20,480,000 bytes, all live
def freed = 30_000.times { Fiddle.free(Fiddle.malloc(1024)) }               # line 4: 30,720,000 bytes, none live
def some = 40_000.times { |i| a = Fiddle.malloc(1024); i % 4 == 0 ? $keep[$n += 1] = a : Fiddle.free(a) } # line 5: a quarter
kept
freed
some
p = Fiddle::Pointer[[Fiddle::Pointer['work.heap'].to_i].pack('J')]
mallctl = Fiddle::Function.new(Fiddle::Handle::DEFAULT['mallctl'], [Fiddle::TYPE_VOIDP] * 4 + [Fiddle::TYPE_SIZE_T], Fiddle::TYPE_INT)
mallctl.call('prof.dump', nil, nil, p, 8).zero? or abort 'no dump'
RUBY
JPROF_AGENT_LIB=$agent JPROF_JEMALLOC=$jemalloc "$jprof" run --alloc --sample=10 --dir="$tmp/d" -- ruby --disable-gems work.rb >said 2>&1
check "the program: $(head -n 3 said)" test -s work.heap

# near NUMBER TRUTH ALL: within 5 %; of nothing, 2 % of ALL. Of 1024 bytes, one allocation in 1.6 is sampled (1 - 1/e), so that
# of the fewest, 10,000, one standard error is sqrt(1/e / 6321) = 0.76 %.
near() {
    awk "BEGIN { exit !($2 > 0 ? $1 > 0.95 * $2 && $1 < 1.05 * $2 : $1 >= 0 && $1 < 0.02 * $3) }"
}
# line LINE ALLOCATED FREED LIVE
line() {
    row=$(jq -r ".rows[] | select(.name | test(\"$1 \")) | \"\(.flat) \(.freed) \(.live)\"" json)
    # shellcheck disable=SC2086
    set -- "$1" "$2" "$3" "$4" $row
    check "line $1: allocated ${5:-}, not $2" near "${5:--1}" "$2" "$2"
    check "line $1: freed ${6:-}, not $3" near "${6:--1}" "$3" "$2"
    check "line $1: live ${7:-}, not $4" near "${7:--1}" "$4" "$2"
}
"$jprof" --ruby=only --alloc_space --json work.heap >json 2>err
line 'work.rb:3' 20480000 0 20480000
line 'work.rb:4' 30720000 30720000 0
line 'work.rb:5' 40960000 30720000 10240000
"$jprof" --ruby=only --alloc_objects --json work.heap >json 2>err
line 'work.rb:3' 20000 0 20000
line 'work.rb:4' 30000 30000 0
line 'work.rb:5' 40000 30000 10000

# The text, by line: Fiddle's own lines are C, so the lines that call are those of cum; and by site.
"$jprof" --lines --ruby=only --alloc_space work.heap >out 2>err
check "text by line: $(head -n 3 out)" grep -Eq ' freed +[0-9.]+  live +[0-9.]+$' out
"$jprof" --ruby=only --alloc_space work.heap >out 2>err
check "text: $(grep work.rb:5 out)" grep -Eq 'work\.rb:5 .* freed +(2[789]|3[01])\.[0-9]  live +(9|1[01])\.[0-9]$' out
"$jprof" --lines --alloc_space work.heap >out 2>err
check "as jeprof's on a pipe: $(head -n 3 out)" eval '! grep -q " freed " out'
finish
