#!/bin/sh
# The table beside a dump: every dump has its own, it is bounded, epochs are closed by dumps, and where something is
# missing a dump is what it was before, and the agent says why.
# By hand: ruby_tables.sh AGENT SUBJECT --walks=200 --evals=1000000
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here"
shift 2
walks=20
evals=3000
for word; do
    case $word in
    --walks=*) walks=${word#*=} ;;
    --evals=*) evals=${word#*=} ;;
    *) echo "FAIL: usage: ruby_tables.sh AGENT SUBJECT [--walks=N] [--evals=N]"; exit 1 ;;
    esac
done
${CC:-cc} -O1 -fPIC -shared -ftls-model=initial-exec -o label.so "$here/label.c" 2>/dev/null || skip "no compiler here"
words=

# script TEXT ARGUMENT...: of Ruby, whose dumps are made by dump(PATH); $lg is its rate, $more what MALLOC_CONF says besides.
lg=12
more=
script() {
    text=$1
    shift
    LD_PRELOAD="$agent:$tmp/label.so:$jemalloc" MALLOC_CONF="prof:true,lg_prof_sample:$lg,prof_prefix:$tmp/d/app$more" \
        JPROF_AGENT=$words ruby --disable-gems -r"$here/label.rb" -e "$text" "$@" >said 2>cried </dev/null
    status=$?
    check "$text: $(head -n 3 cried)" test $status -eq 0
}

judge() {
    python3 "$here/rubytable.py" "$@"
}

# the I-th word of a line
nth() {
    echo "$1" | cut -d ' ' -f "$2"
}

# ---- every dump ----
# jemalloc's own: by bytes allocated, at new peaks, and at the end; the program's. Few samples: with many
# stacks and prof_gdump jemalloc locks itself up (gdump.sh).
more=,lg_prof_interval:24,prof_gdump:true,prof_final:true
lg=21
script '20.times { |i| $keep << Fiddle.malloc(3_000_000) }
        dump "d/own.heap"'
more=
lg=12
# kind of dump, and a pattern of its name
judge_last() {
    # The first peaks were before the agent.
    # shellcheck disable=SC2086
    heaps=$(grep -ls jprof-ids $2 | tail -n 2)
    check "dumps: $1" test -n "$heaps"
    for heap in $heaps; do check "$1, $heap: $(judge shape "$heap" 2>&1 | tail -n 1)" judge shape "$heap"; done
}
judge_last "after so many bytes" 'd/app.*.i[0-9]*.heap'
judge_last "at a peak" 'd/app.*.u[0-9]*.heap'
judge_last "at the end" 'd/app.*.f.heap'

# What the collector allocates for itself, here the stack of what it has to mark, is nobody's line.
script '$keep = Array.new(600_000) { |i| [i] }
        3.times { GC.start }
        dump "d/marks.heap"'
check "the collector's own: $(grep '^m ' d/marks.heap.ruby)" grep -q '^m [0-9]* 0 in-gc 0$' d/marks.heap.ruby
judge_last "the program's" d/own.heap
check "each has one" test "$(grep -ls jprof-ids d/*.heap | wc -l)" -eq "$(ls d/*.heap.ruby | wc -l)"
check "parts: $(ls d | grep part)" eval '! ls d | grep -q part'
rm -f d/*
script 'LABEL_DUMP.call("/dev/null"); LABEL_DUMP.call("d/missing/x.heap"); Dir.mkdir("d/dir.heap.ruby"); dump "d/dir.heap"
        File.write("d/x.heap.ruby.part", "left"); File.write("d/x.heap.ruby", "old"); dump "d/x.heap"'
check "no file of a device: $(ls /dev/null.ruby* 2>&1)" eval '! ls /dev/null.ruby*'
check "replaces what was left: $(ls d)" eval 'judge shape d/x.heap && ! ls d | grep part'
rm -rf d/*

start ruby -e '$stdout.sync = true; keep = []; loop { keep << "x" * 5000; keep.shift if keep.size > 900; sleep 0.001 }'
until_true eval 'field .ruby_stacks report | grep -q true'
check "report: $(field '"\(.ruby_stacks) \(.ruby_stacks_why) \(.epochs) \(.tables)"' report)" \
    test "$(field '"\(.ruby_stacks) \(.ruby_stacks_why) \(.epochs) \(.tables)"' report)" = "true null true true"
field .ok dump >/dev/null
heap=$(ls d/*.heap)
check "the directory of the process: $(grep -a '^directory' "$heap.ruby")" grep -aqxF "directory $(readlink -f "$tmp")" "$heap.ruby"
check "side-car: $(jq -c '[.table, .ruby.stacks, (.ruby.interpreter | length)]' "$heap.json")" \
    jq -e '.table == .dump + ".ruby" and .ruby.stacks and (.ruby.interpreter | length) > 1' "$heap.json"
check "its line" eval 'judge bytes "$heap" "-e:1 " | grep -q ......'
check "mode" test "$(stat -c %a "$heap.ruby")" = 600
check "not asked for" eval 'python3 "$here/handover.py" "$pid" | jq -e ".fds == 2 and .table == null"'
check "handed over" eval 'python3 "$here/handover.py" "$pid" tables=1 | jq -e ".fds == 3 and .table == .dump + \".ruby\""'
check "and is that dump's: $(judge shape handed.heap 2>&1)" judge shape handed.heap
end "$pid"
rm -f d/*

# ---- epochs ----
words=epoch=1s
script 'def first = 2000.times { $keep << Fiddle.malloc(3000) }
        first
        dump "one.heap"
        def later = 2000.times { $keep << Fiddle.malloc(3000) }
        later
        sleep 1.2
        def last = 2000.times { $keep << Fiddle.malloc(3000) }
        last
        dump "two.heap"
        fork { def child = 2000.times { $keep << Fiddle.malloc(3000) }
               child
               dump "child.heap"
               exit!(0) }
        Process.wait'
words=
after=$(nth "$(judge bounds one.heap)" 2)
early=$(judge epochs two.heap '#first') later=$(judge epochs two.heap '#later') last=$(judge epochs two.heap '#last')
check "what was there before the dump, $early, is in epochs before $after" test "${early%%:*}" -lt "$after"
then=$(judge epochs one.heap '#first')
check "and there are only fewer: $then, $early" test "${early%%:*}" -eq "${then%%:*}" -a "${early#*:}" -le "${then#*:}" -a \
    "${early#*:}" -gt 900
check "what came later, $later, is in $after" test "${later%%:*}" -eq "$after"
check "an epoch is a second: $last" test "${last%%:*}" -gt "$after"
check "a child goes on: $(judge epochs child.heap '#child')" \
    test "$(judge epochs child.heap '#child' | cut -d : -f 1)" -ge "$(nth "$(judge bounds two.heap)" 2)"
# when it began, its first epoch, how many forks
began() {
    grep -a '^start ' "$1.ruby" | cut -d ' ' -f 2-
}
check "the parent is none's child: $(began two.heap)" test "$(began two.heap | cut -d ' ' -f 2-)" = "1 0"
own=$(began child.heap | cut -d ' ' -f 2)
check "the child is: $(began child.heap)" test "$(began child.heap | cut -d ' ' -f 3)" -eq 1 -a "$own" -gt 1
check "what is its own is in its epochs, from $own on" test "$(judge epochs child.heap '#child' | cut -d : -f 1)" -ge "$own"
last_of_parent=$(judge epochs child.heap '#last' | sed 's/.* //')
check "and what came over the fork, $last_of_parent, before" test "${last_of_parent%%:*}" -lt "$own"
check "and has what it inherited" eval 'judge epochs child.heap "#first" | grep -q "^${early%%:*}:[0-9]*$"'
more=,prof_accum:true
script '2000.times { $keep << Fiddle.malloc(3000) }; dump "x.heap"'
more=
check "prof_accum: no epochs: $(judge epochs x.heap "-e:1 ")" eval 'judge epochs x.heap "-e:1 " | grep -q "^None:"'

# ---- bounds ----
script '8.times { |i|
          eval "def v#{i}(n)\n s = %q(a) * 200\n n == 0 ? s : send(:\"v\#{R.rand(8)}\", n - 1)\nend", nil, "v#{i}.rb" }
        R = Random.new(1)
        ARGV[0].to_i.times { v0(2500) }
        ARGV[1].to_i.times { |i| eval("%q(x) * 900", nil, "gen#{i}.rb") }
        def leak = 2000.times { $keep << Fiddle.malloc(3000) }
        leak
        dump "x.heap"' "$walks" "$evals"
got=$(judge shape x.heap)
check "a visitor of random methods: $got" test "$(nth "$got" 2)" -le 201
check "fewer nodes than there is room for: $got" test "$(nth "$got" 1)" -lt 262144
check "a new leak shows its line: $(judge bytes x.heap '#leak')" test "$(judge bytes x.heap '#leak')" -gt 5000000
echo "$got, $(judge bytes x.heap '#leak') bytes of the new leak"

# What is sampled once takes none of the room that is kept back for lines: texts of up to 900 bytes fill all of it.
lg=11
script 'ARGV[0].to_i.times { |i| eval("%q(x) * 4000", nil, "#{"long" * (i % 4 * 75)}#{i}.rb") }
        def leak = 2000.times { $keep << Fiddle.malloc(3000) }
        leak
        dump "x.heap"' $((evals < 16000 ? 16000 : evals))
lg=12
check "a new leak after many names: $(judge bytes x.heap '#leak')" test "$(judge bytes x.heap '#leak')" -gt 5000000
echo "$(judge shape x.heap '#leak'), $(judge bytes x.heap '#leak') bytes of the new leak after many names"

# Room comes back with dumps.
script '8.times { |i|
          eval "def v#{i}(n)\n s = %q(a) * 200\n n == 0 ? s : send(:\"v\#{R.rand(8)}\", n - 1)\nend", nil, "v#{i}.rb" }
        R = Random.new(1)
        20.times { v0(2500) }
        GC.start
        2.times { |i| dump "#{i}.heap"; sleep 3.2 }
        dump "x.heap"
        def leak = (1..2000).each { $keep << Fiddle.malloc(3000) }
        leak
        dump "x.heap"'
check "whole stacks again: $(judge shape x.heap '#leak')" eval '! judge shape x.heap "#leak" | grep -q full'
check "with its line" test "$(judge bytes x.heap '#leak')" -gt 5000000

# ---- what is missing ----
script 'def deep(n) = n.zero? ? 300.times { $keep << Fiddle.malloc(3000) } : deep(n - 1)
        deep 1000
        dump "x.heap"'
check "innermost 160 and outermost 40: $(judge shape x.heap '#deep')" test "$(judge shape x.heap '#deep' | cut -d ' ' -f 2-)" = "201 cut"

# without TEXT COMMAND...: a Ruby that is started this way says TEXT, and its dumps have nothing of the agent.
without() {
    reason=$1
    shift
    start "$@" ruby -e 'keep = []; 900.times { keep << "x" * 5000 }; sleep'
    check "$reason: $(field .ruby_stacks_why report)" eval 'field .ruby_stacks_why report | grep -q "$reason"'
    field .ok dump >/dev/null
    heap=$(ls d/*.heap)
    check "$reason: no table, and a dump: $(ls d)" eval 'test ! -e "$heap.ruby" && ! grep -q jprof-ids "$heap"'
    check "$reason: $(jq -r .ruby.stacks_why "$heap.json")" eval 'jq -r .ruby.stacks_why "$heap.json" | grep -q "$reason"'
    end "$pid"
    rm -f d/*
}
words=ruby=off
without "ruby=off"
words=
finish
