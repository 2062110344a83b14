#!/bin/sh
# jprof snap --objects: Ruby's live objects by type and class, against what Ruby itself counts; and explain of them.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_ruby
need_agent
command -v python3 >/dev/null || skip "no python3 here"
mkdir d
cat >objects.rb <<'END'
class Basket
  def initialize(i) = (@a = i; @b = 2)
end
Row = Struct.new(:a, :b)
module Shop; class Order; end; end
def more(n)
  $strings = Array.new(n) { |i| "x" * 100 + i.to_s }
  $baskets = Array.new(n / 2) { |i| Basket.new(i) }
  $rows = Array.new(n / 4) { |i| Row.new(i, 1) }
  $orders = Array.new(n / 8) { Shop::Order.new }
  $baskets.first(10).each { |b| def b.own = 1 } # singleton classes
  $nameless = Array.new(3000) { Class.new.new }
end
# What Ruby says, and a word that it is there.
def tell(path)
  GC.start
  count = [Basket, Row, Shop::Order].map { |c| ObjectSpace.each_object(c).count }
  File.write("counts", (count + [ObjectSpace.each_object(String).count]).join(" "))
  File.write(path, "1")
end
churn = Thread.new { loop { 100.times { |i| [i.to_s, { i => [i] }] }; sleep 0.001 } } if ARGV[0] == "churn"
Signal.trap("USR1") { more(80_000); tell("grown") }
more(40_000)
tell("ready")
loop { sleep }
END

# judge WHAT EXPRESSION: of the explanation d in `json`; told: what Ruby counted
judge() {
    checks=$((checks + 1))
    python3 -c 'import json, sys
d = json.load(open("json"))
told = [int(w) for w in open("counts").read().split()]
types = {r["name"]: r for r in d["rows"] if r["part"] == "object_type"}
classes = {r["name"]: r for r in d["rows"] if r["part"] == "object_class"}
def row(part):
    return next(r for r in d["rows"] if r["part"] == part)
sys.exit(0 if eval(sys.argv[1]) else 1)' "$2" || fail "$1"
}
explain() {
    works "$jprof" explain --json "$@"
    cp out json
    python3 "$root/tests/doors/values.py" schema "$root/docs/internals/explain.schema.json" json >judge 2>&1 || fail "schema: $(tail -n 1 judge)"
}
start "lg_prof_sample:17,prof_prefix:$tmp/d/app" "$ruby" objects.rb
is_quiet "$jprof" snap --gc --objects "$pid" -o first.jprof
lives "$pid"
explain first.jprof
judge "classes" 'told[0] == classes["Basket"]["objects"] == 20000 and told[1] == classes["Row"]["objects"] == 10000 and told[2] == classes["Shop::Order"]["objects"] == 5000'
judge "strings" 'abs(types["String"]["objects"] - told[3]) < 2000'
judge "instances of nameless classes" 'classes["a class without a name"]["objects"] >= 1'
judge "slots: of 40 bytes, or of several sizes" '40 * 20000 <= classes["Basket"]["bytes"] <= 160 * 20000'
judge "more slots with objects than in all" 'sum(r["bytes"] for r in types.values()) <= row("gc_heap")["bytes"]'
judge "not what GC.stat says is in objects" 'abs(sum(r["bytes"] for r in types.values()) - row("gc_objects")["bytes"]) < .1 * row("gc_objects")["bytes"]'
judge "growth of one snapshot" 'all(r["objects_growth"] is None for r in types.values())'
kill -USR1 "$pid"
until_true 60 test -e grown
works "$jprof" snap --gc --objects "$pid" -o second.jprof
explain first.jprof second.jprof
judge "growth" '(classes["Basket"]["objects_growth"], classes["Row"]["objects_growth"], classes["Shop::Order"]["objects_growth"]) == (20000, 10000, 5000)'
run "$jprof" explain first.jprof second.jprof
prints '^Objects in Ruby.s GC heap, by type'
prints '^ +[0-9.]+ MB +[+][0-9.]+ MB  Basket [(]40000, [+]20000[)]$'
works "$jprof" diff first.jprof second.jprof
prints " objects.rb:$(grep -n 'strings = ' objects.rb | head -n 1 | cut -d: -f1) "
prints "all of malloc and Ruby's objects$"
prints_no '^ .* String [(][+]'
works "$jprof" diff --heap=malloc first.jprof second.jprof
prints "^1  GROWING  [+][0-9.]+ MB  Ruby's GC heap [(]not in the profile[)]$"
prints '^   what     .*String [+][0-9.]+ MB [(][+][0-9,]+[)]'
prints '^ +[+][0-9.]+ +[0-9.]+ +[0-9.]+ +String [(][+][0-9,]+[)]$'
run "$jprof" diff --json first.jprof second.jprof
cp out json
python3 "$root/tests/doors/values.py" schema "$root/docs/internals/diff.schema.json" json >judge 2>&1 || fail "schema: $(tail -n 1 judge)"
checks=$((checks + 1))
python3 -c 'import json
more = {o["name"]: o["objects_growth"] for o in json.load(open("json"))["objects"] if o["class"]}
assert (more["Basket"], more["Row"], more["Shop::Order"]) == (20000, 10000, 5000), more' 2>judge || fail "diff: $(tail -n 1 judge)"

# With --gc by itself, but not without it or against --no-objects, and never of what is no Ruby.
works "$jprof" snap --gc "$pid" -o by-gc.jprof
explain by-gc.jprof
judge "not counted with --gc" 'classes["Basket"]["objects"] == 40000'
for how in '' '--gc --no-objects'; do
    rm -f plain.jprof
    # shellcheck disable=SC2086
    works "$jprof" snap $how "$pid" -o plain.jprof
    explain plain.jprof
    judge "counted unasked: $how" 'not types and not classes'
    tar xOf plain.jprof "$pid/agent.json" | python3 -c 'import json, sys; sys.exit(json.load(sys.stdin)["ruby"]["objects"] is not None)' || fail "the side-car has objects: $how"
done
run "$jprof" explain plain.jprof
prints '^To see what is in it: jprof snap --objects [0-9]+$'
stop "$pid"
rm -f ready
JPROF_AGENT=for=all launch "$jemalloc:$agent" "prof:true,prof_prefix:$tmp/d/sh" sh -c 'touch ready; sleep 600 & wait'
works "$jprof" snap --objects "$pid" -o sh.jprof
says_like "^jprof: process $pid: its objects cannot be counted"
stop "$pid"

# While threads allocate and collect: JPROF_OBJECTS_ROUNDS more than a few by hand.
start "lg_prof_sample:12,prof_prefix:$tmp/d/app" "$ruby" objects.rb churn
for round in $(seq "${JPROF_OBJECTS_ROUNDS:-5}"); do
    rm -f churn.jprof
    works "$jprof" snap --objects --symbols=later "$pid" -o churn.jprof
done
explain churn.jprof
judge "classes while others allocate" 'classes["Basket"]["objects"] == 20000 and classes["Row"]["objects"] == 10000'
lives "$pid"
stop "$pid"
rm -f ready

# With another ractor, which may change the heap meanwhile, nothing is counted; from Ruby 3.3 on it counts them itself.
cat >ractor.rb <<'END'
Warning[:experimental] = false
$other = Ractor.new { Ractor.receive }
Thread.new { loop { "x" * 5000; sleep 0.001 } }
class Kept; end
KEPT = []
File.write("ready", Process.pid.to_s)
2.times do |i|
  sleep 0.05 until File.exist?("grow#{i}")
  200_000.times { KEPT << Kept.new }
  GC.start
  File.write("grown#{i}", "")
end
sleep
END
start "lg_prof_sample:12,prof_prefix:$tmp/d/app" "$ruby" ractor.rb
works "$jprof" snap --objects --symbols=later "$pid" -o ractor.jprof
tar xOf ractor.jprof "$pid/agent.json" | python3 -c 'import json, sys; sys.exit(json.load(sys.stdin)["ruby"]["objects"] is not None)' || fail "objects were counted beside a ractor"
lives "$pid"
# The child that draws the graph may not walk there: it is read from outside, and who keeps what is known.
says_like "^jprof: process $pid: the graph of its objects was read from outside, without names of variables: it has several ractors"
for i in 0 1; do
    touch "grow$i"
    until_true 60 test -e "grown$i"
    works "$jprof" snap --gc --objects --symbols=later "$pid" -o "ractor$i.jprof"
done
works "$jprof" keepers ractor1.jprof
prints 'Array of 400,000'
works "$jprof" keepers "$pid"
prints 'Array of 400,000'
works "$jprof" diff ractor.jprof ractor0.jprof ractor1.jprof
prints "^[123]  (LEAK SUSPECT|GROWING) .* Ruby's GC heap [(]not in the profile[)]$"
prints '^   do       jprof keepers of the last snapshot says what keeps its objects$'
lives "$pid"
finish
