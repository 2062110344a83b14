#!/bin/sh
# Programs whose every allocation is sampled print what they print without the agent, and end as they end then.
# By hand: ruby_hammer.sh AGENT SUBJECT --runs=20 --lgs="0 1 2 6 12" --ruby="ruby --yjit"; it then prints a table.
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here"
shift 2
runs=1
lgs="0"
ruby=ruby
for word; do
    case $word in
    --runs=*) runs=${word#*=} ;;
    --lgs=*) lgs=${word#*=} ;;
    --ruby=*) ruby=${word#*=} ;;
    *) echo "FAIL: usage: ruby_hammer.sh AGENT SUBJECT [--runs=N] [--lgs=\"LG...\"] [--ruby=\"COMMAND\"]"; exit 1 ;;
    esac
done

# Ruby sends its experimental features' warnings to stderr, which is not compared.
same() {
    what=$1
    shift
    LD_PRELOAD=$jemalloc $ruby --disable-gems "$@" >expected 2>/dev/null </dev/null
    expected=$?
    for lg in $lgs; do
        bad=0 run=0
        while [ $run -lt "$runs" ]; do
            { LD_PRELOAD=$agent:$jemalloc MALLOC_CONF="prof:true,lg_prof_sample:$lg,prof_prefix:$tmp/d/app" \
                $ruby --disable-gems "$@" >said 2>cried </dev/null; } 2>/dev/null
            status=$?
            if [ $status -ne $expected ] || ! cmp -s expected said; then
                bad=$((bad + 1)) was=$status
                head -n 3 cried >last
            fi
            run=$((run + 1))
        done
        check "$what, lg $lg: $bad of $runs differ, the last with status ${was:-} for $expected: $(cat last 2>/dev/null)" \
            test $bad -eq 0
        [ "$runs" -lt 5 ] || echo "$what, lg $lg: $bad of $runs differ"
    done
}

same "threads" -e '
  q = Queue.new
  8.times.map { |i| Thread.new { 60.times { |j| q << "#{i} #{j}" * 3 } } }.each(&:join)
  p q.size, Thread.list.size'
same "fibers" -e '
  fs = 20.times.map { |i| Fiber.new { 10.times { |j| Fiber.yield "#{i}.#{j}" } } }
  p 10.times.map { fs.map(&:resume).join(" ") }.join.sum'
same "ractors" -W0 -e 'p 3.times.map { |i| Ractor.new(i) { |n| 40.times.map { |j| "#{n} #{j}" * 2 }.join.sum } }.sum(&:take)'
same "GC.stress" -e 'GC.stress = true; p 12.times.map { |i| [i.to_s * 9, { i => i }] }.flatten.size; GC.stress = false'
same "compaction" -e '
  GC.auto_compact = true if GC.respond_to?(:auto_compact=)
  p 6.times.sum { |i| a = 200.times.map { |j| "#{i} #{j}" * 2 }; GC.compact if GC.respond_to?(:compact); a.join.sum }'
same "fork" -e '
  r = 4.times.map { |i| fork { x = 50.times.map { |j| "c#{i} #{j}" }; exit x.size == 50 ? i : 99 } }
  p r.map { |pid| Process.wait2(pid)[1].exitstatus }'
same "deep recursion" -e '
  def down(n) = n.zero? ? "end" * 9 : down(n - 1)
  p down(3000)
  def lost(n) = [1].map { lost(n + 1) }
  begin lost(0) rescue p $!.class end
  def gone = gone + "x"
  begin gone rescue p $!.class end'
same "exceptions" -e '
  p 60.times.map { |i| begin raise ArgumentError, "no #{i}" rescue $!.message.size ensure "e" * i end }.sum
  p catch(:out) { 9.times { |i| [1].each { throw :out, i if i == 7 } } }'
same "eval" -e '
  p 60.times.sum { |i| eval("def m#{i} = \"x\" * #{i}; m#{i}.size", TOPLEVEL_BINDING, "gen#{i}.rb", i + 1) }
  p 20.times.sum { |i| Class.new { define_method(:m) { i }; class_eval "def n = m.to_s * 3", "c.rb", 9 }.new.n.to_i }
  o = Object.new; o.instance_eval("@a = %w[x y]; def self.z = @a.join"); p o.z; undef z rescue p $!.class'
same "signals" -e '
  n = 0; trap(:USR1) { n += "s#{n}".size }
  20.times { Process.kill(:USR1, $$); sleep 0.001; "work" * 50 }
  p n > 0'
same "at_exit" -e '
  at_exit { puts 30.times.map { |i| "late #{i}" }.join.sum; exit 3 }
  ObjectSpace.define_finalizer("x".dup, proc { 30.times { |i| "f" * i } })'
same "finalizers" -e '
  60.times { |i| ObjectSpace.define_finalizer(Object.new, proc { "gone #{i}" * 3 }) }
  3.times { GC.start; 50.times.map(&:to_s) }; puts "x"'
same "singletons and modules" -e '
  m = Module.new { def hello = "h" * 20 }
  p 40.times.sum { |i| o = Object.new; o.extend(m); def o.own = hello * 2; o.own.size }
  p 20.times.map { Class.new(Struct.new(:a, :b)).new("a" * 9, "b" * 9).to_a.join }.join.size'
same "tracepoints and methods" -e '
  n = 0; TracePoint.new(:call, :c_call) { n += 1; "t" * 20 }.enable { 30.times { |i| i.to_s * 3 } }; p n > 30
  def kw(a:, b: "b" * 9, **o, &c) = c.(a + b); p kw(a: "a", z: 1) { |s| s * 3 }
  p method(:kw).to_proc.(a: "q") { _1.upcase }, [3, 1, 2].sort_by { -_1 }.map(&:to_s).inject(:+)'
same "exit in a thread" -e 'Thread.new { 20.times { |i| "t" * i }; exit 4 }.join; sleep'
same "exec" -e 'x = 20.times.map(&:to_s); exec("sh", "-c", "echo #{x.join}")'
same "abort" -e 'x = 20.times.map(&:to_s); abort x.join'
finish
