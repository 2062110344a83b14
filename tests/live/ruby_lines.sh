#!/bin/sh
# Each sample's innermost line is the one that allocated: no other's that had its place before, or runs by chance. The truth
# is a label that the program sets, which a hook of its own adds to the stack.
# By hand: ruby_lines.sh AGENT SUBJECT --evals=15000 --lg=12 --ruby="ruby --yjit"
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here"
shift 2
evals=1200
lg=12
ruby=ruby
for word; do
    case $word in
    --evals=*) evals=${word#*=} ;;
    --lg=*) lg=${word#*=} ;;
    --ruby=*) ruby=${word#*=} ;;
    *) echo "FAIL: usage: ruby_lines.sh AGENT SUBJECT [--evals=N] [--lg=LG] [--ruby=\"COMMAND\"]"; exit 1 ;;
    esac
done
${CC:-cc} -O1 -fPIC -shared -ftls-model=initial-exec -o label.so "$here/label.c" 2>/dev/null || skip "no compiler here"

# script TEXT ARGUMENT...: of Ruby, whose dumps are made by dump(PATH).
script() {
    text=$1
    shift
    LD_PRELOAD="$agent:$tmp/label.so:$jemalloc" MALLOC_CONF="prof:true,lg_prof_sample:$lg,prof_prefix:$tmp/d/app" \
        $ruby -r"$here/label.rb" -e "$text" "$@" >said 2>cried </dev/null || { echo "FAIL: $text"; cat cried; exit 1; }
}

judge() {
    python3 "$here/rubytable.py" "$@"
}

# labels WHAT TEMPLATE...: of the dump x.heap; $which says of which line.
which=labels
labels() {
    what=$1
    shift
    got=$(judge $which x.heap '*/label.rb:*' '*/fiddle.rb:*' "$@") # what sets the label, and calls
    right=$?
    check "$what: $got" test $right -eq 0
    echo "$what: $got"
}

# What is evaluated outside of methods is <main>, from Ruby 3.4 on <compiled>.
# A collected method gives its place to another one.
for mode in plain compact; do
    script 'GC.auto_compact = true if ARGV[1] == "compact" && GC.respond_to?(:auto_compact=)
        ARGV[0].to_i.times { |i|
          n = i + 1
          labelled(n) { eval("\n$keep << Fiddle.malloc(3000)", TOPLEVEL_BINDING, "gen_#{n}.rb", n % 7 + 1) }
          GC.start if i % 200 == 0 }
        dump "x.heap"' "$evals" $mode
    labels "evals, $mode" 'gen_{n}.rb:{n%7+2} <*>' '-e:4 *'
done
script 'ARGV[0].to_i.times { |i|
          n = i + 1
          labelled(n) {
            eval("def again = $keep << Fiddle.malloc(3000)", TOPLEVEL_BINDING, "gen_#{n}.rb", n % 5 + 1)
            again }
          Object.send(:undef_method, :again) if i.odd?
          GC.start if i % 200 == 0 }
        dump "x.heap"' "$evals"
labels "methods defined anew" 'gen_{n}.rb:{n%5+1} Object#again' '-e:4 *' '-e:5 *' 'gen_{n}.rb:{n%5+1} <*>'

# Nor does a caller keep its name.
script 'def leaf = $keep << Fiddle.malloc(3000)
        class Shop; def sell(n) = eval("\nleaf", binding, "sold.rb", 70); def leaf = $keep << Fiddle.malloc(3000); end
        ARGV[0].to_i.times { |i|
          n = i + 1
          labelled(n) { n.odd? ? eval("\nleaf", TOPLEVEL_BINDING, "gen_#{n}.rb", n % 7 + 1) : Shop.new.sell(n) }
          GC.start if i % 200 == 0 }
        dump "x.heap"' "$evals"
which=callers
labels "callers" 'gen_{n}.rb:{n%7+2} <*>' '(eval):71 Shop#sell' '-e:[1-9] *'
which=labels

script 'def leaf = $keep << Fiddle.malloc(20_000)
        (ARGV[0].to_i / 4).times { |i|
          n = i + 1
          labelled(n) { eval("leaf", TOPLEVEL_BINDING, "gen_#{n}.rb", 1) }
          GC.start }
        dump "x.heap"' "$evals"
which=callers
labels "callers, each at the place of the last" 'gen_{n}.rb:1 <*>' '-e:[1-9] *'

which=outer
# So far outside that the agent would take it over from the thread's last stack, were it not for the collection.
script 'def leaf = $keep << Fiddle.malloc(20_000)
        def one = leaf
        def two = one
        def three = two
        def four = three
        (ARGV[0].to_i / 2).times { |i|
          n = i + 1
          labelled(n) { eval("four", TOPLEVEL_BINDING, "gen_#{n}.rb", 1) }
          GC.start }
        dump "x.heap"' "$evals"
labels "outer callers, each at the place of the last" 'gen_{n}.rb:1 <*>'
which=labels

# Ruby gives the path of the method around it; the line is that of the text.
script 'def within(n) = eval("\n$keep << Fiddle.malloc(3000)", binding, "gen_#{n}.rb", n % 7 + 1)
        class Shop; def sell(n) = instance_eval("$keep << Fiddle.malloc(3000)", "sold_#{n}.rb", 1); end
        def outer(n) = labelled(n) { n.odd? ? within(n) : Shop.new.sell(n) }
        ARGV[0].to_i.times { |i| outer(i + 1); GC.start if i % 200 == 0 }
        dump "x.heap"' "$evals"
labels "evals within a method" 'gen_{n}.rb:{n%7+2} Object#within' '-e:1 Object#within' \
    'sold_{n}.rb:1 Shop#sell' '-e:2 Shop#sell' '-e:3 Object#outer'

# One text in many classes; what the frames have in common is all but the class.
script 'text = "def keep(n)\n $keep << Fiddle.malloc(3000)\nend\ndef self.make(n)\n $keep << Fiddle.malloc(3000)\nend"
        50.times { |k| Object.const_set("K#{k}", Class.new).class_eval(text, "shared.rb", 1) }
        ARGV[0].to_i.times { |i|
          n = i + 1
          k = Object.const_get("K#{n % 50}")
          labelled(n) { i % 2 == 0 ? k.new.keep(n) : k.make(n) }
          GC.start if i % 200 == 0 }
        dump "x.heap"' "$evals"
labels "50 classes" 'shared.rb:2 K{n%50}#keep' 'shared.rb:5 K{n%50}.make' '-e:6 *'
script 'module Keeps; def keep(n) = $keep << Fiddle.malloc(3000); end
        ks = 50.times.map { |k| Object.const_set("I#{k}", Class.new { include Keeps }).new }
        ARGV[0].to_i.times { |i| labelled(i + 1) { ks[i % 50].keep(i) } }
        dump "x.heap"' "$evals"
labels "a module in 50 classes" '-e:1 Keeps#keep' '-e:3 *'
script 'text = "def keep(n)\n $keep << Fiddle.malloc(3000)\nend"
        ARGV[0].to_i.times { |i|
          n = i + 1
          c = Object.const_set("Gone#{n}", Class.new)
          c.class_eval(text, "shared.rb", 1)
          o = c.new
          labelled(n) { o.keep(n) }
          Object.send(:remove_const, "Gone#{n}")
          o = c = nil
          GC.start if i % 100 == 0 }
        dump "x.heap"' "$evals"
labels "classes dropped and made anew" 'shared.rb:2 Gone{n}#keep' '-e:7 *'

# What survives a collection is allocated anew by whoever runs then, in Ruby to 3.2.
script 'def creator(n) = n.times { |i| $keep << [i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7] }
        def innocent = 60_000.times { Object.new }
        def busy(n) = n.times { |i| i.to_s * 3 }
        8.times { creator(9000); innocent; busy(12_000) }
        dump "x.heap"'
for line in innocent busy; do
    check "bytes of a line that keeps nothing, $line: $(judge share x.heap "Object#$line") %" \
        eval 'echo "$(judge share x.heap "Object#$line") < 2" | grep -q "^[01][.]"'
done

# Four workloads of the kinds of memory that programs keep: the line that is labelled with its own number, in at least 95 % of
# the samples that are made while it runs, and no other line in the rest. (Arrays that a Ruby to 3.2 moves: see above.)
workload() {
    script "$2
        dump 'x.heap'"
    labels "workload $1" '-e:{n} *' '<internal:*'
}
workload "strings" '1500.times { |i|
        labelled(2) { $keep << "text #{i} " * 90 }
        labelled(3) { $keep << "a,b".gsub(",", ";" * 900) }
        labelled(4) { $keep << [i, "c" * 500, 1.5].join("-" * 300) } }'
workload "hashes" '400.times { |i|
        labelled(2) { $keep << Hash.new { |h, k| h[k] = k }.tap { |h| 60.times { |k| h[k] } } }
        labelled(3) { $keep << $keep[-1].merge("x" => i) }
        labelled(4) { $keep << $keep[-2].to_a.to_h.transform_values(&:to_s) } }'
workload "code" '250.times { |i|
        labelled(2) { $keep << Regexp.new("(a|b+)#{i}[c-z]{2,9}" * 12) }
        labelled(3) { $keep << Class.new { 20.times { |m| define_method("m#{m}_#{i}") { m } } } }
        labelled(4) { $keep << Struct.new(*Array.new(30) { |m| :"f#{m}_#{i}" }) } }'
workload "buffers" 'require "zlib"; require "stringio"
      200.times { |i|
        labelled(3) { $keep << Zlib::Deflate.deflate("text #{i}" * 900) }
        labelled(4) { $keep << StringIO.new.tap { |s| 300.times { s << "line of text #{i}\n" } } }
        labelled(5) { $keep << Marshal.dump((1..300).to_h { |k| ["key #{k}", k] }) } }'

# After boot, in which one Ruby takes more than the other: 3.2 all of its transient heap, by malloc.
script 'dump "boot.heap"
        100_000.times { |i| p = Fiddle.malloc(1024); Fiddle.free(p) if i.odd? }
        dump "x.heap"'
after=$(judge bounds boot.heap)
got=$(judge bytes x.heap "-e:2 ")
check "51200000 bytes of Fiddle.malloc: $got" test "$got" -gt 49000000 -a "$got" -lt 53400000
stacks=$(judge ruby x.heap "${after#* }")
echo "with a Ruby stack: $stacks %"
check "with a Ruby stack: $stacks %" eval 'echo "$stacks" | grep -q "^9[5-9]\|^100"'

# Children count on from the same numbers.
script 'def common = 2000.times { $keep << Fiddle.malloc(3000) }
        common
        2.times { |c| fork {
          eval("def own = 2000.times { |i| LABEL_SET.call(#{c + 1}); $keep << Fiddle.malloc(3000); LABEL_SET.call(0) }",
               TOPLEVEL_BINDING, "child#{c + 1}.rb")
          own
          dump "child#{c + 1}.heap"
          exit!(0) } }
        Process.waitall'
for child in 1 2; do
    mv child$child.heap x.heap
    mv child$child.heap.ruby x.heap.ruby
    labels "child $child" 'child{n}.rb:1 *'
    check "the parent's line in child $child" test "$(judge bytes x.heap 'Object#common')" -gt 4000000
done
finish
