#!/bin/sh
# However a Ruby ends, and whenever its first sampled allocation comes, it ends as it would without the agent.
# By hand: ruby_end.sh AGENT SUBJECT --runs=200 --lgs="12 13 14 15 16 17 18 19 20 21 22 23 24"; it then prints a table.
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here"
shift 2
runs=1
lgs="12 17 19 24"
for word; do
    case $word in
    --runs=*) runs=${word#*=} ;;
    --lgs=*) lgs=${word#*=} ;;
    *) echo "FAIL: usage: ruby_end.sh AGENT SUBJECT [--runs=N] [--lgs=\"LG...\"]"; exit 1 ;;
    esac
done
for name in late vm_exit in_gc fence; do
    ${CC:-cc} -O1 -D_GNU_SOURCE -fPIC -shared -o $name.so "$here/$name.c" || skip "no compiler here"
done

# ends STATUS WHAT RUBY-WORD...: at each rate, each time with that exit status. $late is what late.so allocates at the
# end, $more what MALLOC_CONF says besides, $first what is preloaded first.
late=
more=
first=
ends() {
    expected=$1 what=$2
    shift 2
    for lg in $lgs; do
        died=0 run=0
        while [ $run -lt "$runs" ]; do
            { LD_PRELOAD="$first$tmp/late.so:$agent:$jemalloc" MALLOC_CONF="prof:true,lg_prof_sample:$lg,prof_prefix:$tmp/d/app$more" \
                LATE=$late ruby "$@" >said 2>cried </dev/null; } 2>/dev/null
            status=$?
            [ $status -eq "$expected" ] || { died=$((died + 1)) was=$status && head -n 3 cried >last; }
            run=$((run + 1))
        done
        check "$what, lg $lg: $died of $runs died, the last with status ${was:-} for $expected: $(cat last 2>/dev/null)" \
            test $died -eq 0
        [ "$runs" -lt 50 ] || echo "$what, lg $lg: $died of $runs died"
    done
}

ends 0 "a plain script" -e 1
ends 0 "a plain script without gems" --disable-gems -e 1
ends 0 "many objects" --disable-gems -e '$kept = (0..60_000).map { |i| "object #{i}" * 3 }'
late=8x1073741824
ends 0 "8 GiB after the end, with gems" -e 1
ends 0 "8 GiB after the end" --disable-gems -e 1
late=20x20000
ends 0 "400 KB after the end" --disable-gems -e 1
late=4x1073741824
ends 3 "exit in at_exit" --disable-gems -e 'at_exit { $kept = Array.new(999) { "x" * 99 }; exit 3 }'
ends 4 "exit in a thread" --disable-gems -e 'Thread.new { exit 4 }.join; sleep'
ends 4 "exit beside threads" --disable-gems -e '4.times { Thread.new { loop { "x" * 9999 } } }; exit 4'
ends 5 "exit after fork" --disable-gems -e 'exit Process.wait2(fork { "x" * 99_999; exit 5 })[1].exitstatus'
ends 6 "exit! after fork" --disable-gems -e 'exit Process.wait2(fork { exit! 6 })[1].exitstatus'
ends 7 "exit!" --disable-gems -e 'exit! 7'
ends 1 "abort" --disable-gems -e 'abort "x"'
ends 143 "TERM" --disable-gems -e 'Process.kill :TERM, $$; sleep'
ends 0 "after fibers" --disable-gems -e 'Fiber.new { Fiber.yield 1 }.resume'
ends 0 "in a finalizer" --disable-gems -e 'ObjectSpace.define_finalizer("x".dup, proc { Array.new(999) { "x" * 99 } })'

# While the VM is taken down: also where what was freed is unmapped.
late=
ends 0 "an extension's last function" --disable-gems -r./vm_exit.so -e 1
more=,retain:false,dirty_decay_ms:0,muzzy_decay_ms:0,tcache:false
ends 0 "an extension's last function, freed memory unmapped" --disable-gems -r./vm_exit.so -e 1
ends 0 "an extension's last function, after fibers" --disable-gems -r./vm_exit.so -e 'Fiber.new { Fiber.yield 1 }.resume'
# The VM has freed what it kept of the thread by then.
first=$tmp/fence.so:
ends 0 "an extension's last function, freed memory out of reach" --disable-gems -r./vm_exit.so -e 1
ends 0 "an extension's last function, after fibers, freed memory out of reach" --disable-gems -r./vm_exit.so \
    -e 'Fiber.new { Fiber.yield 1 }.resume'
first=

# The first sample is one inside a collection, of what the marking keeps for itself.
more=,prof_active:false
ends 0 "first sample in a collection" --disable-gems -r./in_gc.so -e '
    $kept = Array.new(400_000) { Object.new }
    exit sample_in_gc > 0 || ENV["MALLOC_CONF"] !~ /lg_prof_sample:12/'
finish
