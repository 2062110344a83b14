#!/bin/sh
# Tags of a program in the dump: on threads and fibers each its own, none where none was handed on, texts that stay what they
# were; and nothing that a program puts in a tag's place does harm. The truth is the method that allocates.
# usage: sh ruby_tags.sh AGENT SUBJECT
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here"
root=$(CDPATH= cd -- "$here/../.." && pwd)
${CC:-cc} -O1 -fPIC -shared -ftls-model=initial-exec -o label.so "$here/label.c" 2>/dev/null || skip "no compiler here"
words=
lg=12
options=

# script TEXT ARGUMENT...: of Ruby, which ends well.
script() {
    text=$1
    shift
    # shellcheck disable=SC2086
    LD_PRELOAD="$agent:$tmp/label.so:$jemalloc" MALLOC_CONF="prof:true,lg_prof_sample:$lg,prof_prefix:$tmp/d/app" \
        JPROF_AGENT=$words ruby $options -I "$root/ruby/lib" -r"$here/label.rb" -rjprof -e "$text" "$@" >said 2>cried </dev/null
    status=$?
    check "$options $text: $(head -n 3 cried)" test $status -eq 0
}

judge() {
    python3 "$here/rubytable.py" "$@"
}

# is_tagged TEXT DUMP: as the methods' numbers say.
is_tagged() {
    judge tagged "$2" '- work {n}' >judged 2>&1
    check "$options $1: $(cat judged)" test $? -eq 0
    echo "$options $1: $(cat judged)"
}

# What each of work_1, work_2 ... allocates is kept, OBJECTS of SIZE bytes in blocks of 2048, and is under the tag of its number.
define='OBJECTS, SIZE = 3000, 2000
        def kept(numbers) = File.write("x.heap.kept", numbers.map { |n| "#{n} #{OBJECTS} 2048\n" }.join)
        (1..20).each { |n| eval "def work_#{n}(i) = $keep << %q(w) * (#{SIZE} + 1)" }
        def tagged(n, &block) = Jprof.tag("work #{n}", &block)
        def other = $keep << "o" * 2000'

for options in '' --yjit; do
    if [ "$options" ] && ! ruby $options -e 1 2>/dev/null; then continue; fi
    script "$define"'
        threads = (1..8).map { |n| Thread.new {
          20.times { tagged(n) { (OBJECTS / 20).times { |i| send("work_#{n}", i); Thread.pass if i % 10 == 0 } }
                     other } } }
        fibers = (11..14).map { |n| Fiber.new {
          tagged(n) { OBJECTS.times { |i| send("work_#{n}", i); Fiber.yield if i % 3 == 0 } } } }
        fibers.each { |f| f.resume; other } while fibers.select!(&:alive?) || fibers.any?
        threads.each(&:join)
        kept([*1..8, *11..14])
        dump "x.heap"'
    is_tagged "8 threads and 4 fibers" x.heap
done
options=

# Threads and fibers that were handed a tag have it, others have none; collections and compaction on the way.
script "$define"'
    GC.auto_compact = true if GC.respond_to?(:auto_compact=)
    work = Queue.new
    pool = Array.new(3) { Thread.new { while (job = work.pop) do job.call end } }
    done = Queue.new
    tagged(1) do
      OBJECTS.times { |i| work << Jprof.wrap { work_1(i); done << 1 } }
      OBJECTS.times { |i| work << -> { other; done << 1 } }
      OBJECTS.times { |i| Thread.new { other }.join if i % 100 == 0; Fiber.new { other }.resume }
      (2 * OBJECTS).times { done.pop }
    end
    tagged(2) { Fiber.new(&Jprof.wrap { OBJECTS.times { |i| work_2(i) } }).resume }
    tagged(3) { tagged(4) { OBJECTS.times { |i| work_4(i) } }; OBJECTS.times { |i| work_3(i) } }
    kept([1, 2, 3, 4])
    GC.compact if GC.respond_to?(:compact)
    pool.each { work << nil }.each(&:join)
    dump "x.heap"'
is_tagged "handed on" x.heap

# What Ruby allocates anew after a collection, or in a job of C, is nobody's, whoever it interrupts. In 3.2
# arrays of five lie in their objects, and from 3.3 on there is no such.
script "$define"'
    tagged(1) do
      20000.times { |i| $keep << [i, i, i, i, i] }
      count = GC.count
      Object.new until GC.count > count + 3
      OBJECTS.times { |i| work_1(i) }
    end
    kept([1])
    dump "x.heap"'
is_tagged "beside jobs" x.heap
{ judge tags x.heap ':0 after-gc'; judge tags x.heap ':0 job'; } >jobs
check "jobs: $(cat jobs)" eval '! grep -v "no tag$" jobs | grep .'
if ruby -e 'exit RUBY_VERSION < "3.2"'; then check "jobs: $(cat jobs)" grep -q "no tag$" jobs; fi

# A finalizer runs in the middle of whatever it interrupts, here twice: in GC.start, and between two instructions.
script "$define"'
    ended = 0
    end_of_an_object = proc { ended += 1; other }
    tagged(1) do
      OBJECTS.times { ObjectSpace.define_finalizer(Object.new, end_of_an_object) }
      GC.start
      OBJECTS.times { |i| ObjectSpace.define_finalizer(Object.new, end_of_an_object); work_1(i) }
      count = GC.count
      Object.new until GC.count > count + 3
    end
    raise "#{ended} of #{2 * OBJECTS} finalizers ran" if ended < OBJECTS
    kept([1])
    dump "x.heap"'
is_tagged "beside finalizers" x.heap

# A child goes on counting by itself: equal numbers, other texts.
script "$define"'
    tagged(1) { OBJECTS.times { |i| work_1(i) } }
    child = fork { tagged(2) { OBJECTS.times { |i| work_2(i) } }; kept([1, 2]); File.rename("x.heap.kept", "c.heap.kept")
                   dump "c.heap"; exit!(0) }
    tagged(3) { OBJECTS.times { |i| work_3(i) } }
    Process.wait(child)
    kept([1, 3])
    dump "x.heap"'
is_tagged "a parent" x.heap
is_tagged "its child" c.heap
check "its number 2 is another" test "$(grep -a '^t 2 ' x.heap.ruby) $(grep -a '^t 2 ' c.heap.ruby)" = "t 2 - work 3 t 2 - work 2"

# The agent's own dump; kinds; characters; one more than fit.
start ruby -I "$root/ruby/lib" -rjprof -e '
    keep = []
    Jprof.tag("GET /users/:id", :route) { 2000.times { keep << "x" * 3000 } }
    Jprof.tag("Mail%Job\n\u00e9", :job) { 2000.times { keep << "x" * 3000 } }
    400.times { |i| Jprof.tag("many #{i}") { 9.times { keep << "x" * 3000 } } }
    File.write("ready", "")
    loop { keep << "x" * 100; sleep 0.001 }'
until_true test -e ready
field .ok dump >/dev/null
heap=$(ls d/*.heap)
judge tags "$heap" | cut -d ' ' -f 3- >texts
check "a route: $(head -n 3 texts)" grep -qxF 'route GET /users/:id' texts
check "a job, escaped" grep -aqF 't 2 job Mail%25Job%0Aé' "$heap.ruby"
check "other: $(tail -n 3 texts)" grep -qxF -e '- other' texts
check "at most 257: $(grep -ac '^t ' "$heap.ruby")" test "$(grep -ac '^t ' "$heap.ruby")" -le 257
check "all texts are known: $(grep unknown texts)" eval '! grep -q unknown texts'
end "$pid"
rm -f d/*

# What is no tag.
script "$define"'
    [-1, 0, 258, 1 << 40, 1 << 70, 1.5, "1", :a, nil, true, Object.new, [1], 77].each do |strange|
      Thread.current[:__jprof_tag] = strange
      200.times { other }
    end
    Thread.current[:__jprof_tag] = nil
    tagged(1) { OBJECTS.times { |i| work_1(i) } }
    dump "x.heap"'
check "strange values: $(judge tags x.heap)" eval 'judge tags x.heap "#other" | grep -vE "no tag$|unknown$" | grep -c . | grep -qx 0'
check "a number without a text" eval 'judge tags x.heap "#other" | grep -q "unknown$"'
check "texts are read all the same" eval 'judge tags x.heap "#work_1" | grep -q " - work 1$"'
script 'Thread.current[:__jprof_tag] = 3; Jprof.send(:remove_const, :TEXTS); 900.times { $keep << "x" * 3000 }; dump "x.heap"'
check "no texts: $(judge tags x.heap)" eval 'judge tags x.heap | grep -q unknown'
words=ruby=off
script "$define; tagged(1) { 900.times { |i| work_1(i) } }; dump 'x.heap'"
check "ruby=off" eval '! grep -aq "^t " x.heap.ruby'
finish
