#!/bin/sh
# jprof explain --copied: what a fork and its parent no longer share, beside the kernel's Private_Dirty and what was changed.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_ruby
find_jemalloc
command -v python3 >/dev/null || skip "no python3 here"
cat >forks.rb <<'END'
class Order; attr_accessor :n; def initialize(n) = @n = n; end
$strings = Array.new(300_000) { |i| "string number #{i}" }
$orders = Array.new(100_000) { |i| Order.new(i) }
GC.start
GC.disable
def child(name) = fork { yield; File.write("#{name}.new", Process.pid.to_s); File.rename("#{name}.new", name); sleep }
child("strings") { 3000.times { |i| $strings[i * 100] << "x" } }
child("orders") { 2000.times { |i| $orders[i * 50].n = -1 } }
def free = ObjectSpace.count_objects[:FREE]
child("gone") { before = free; $strings = nil; GC.enable; GC.start; File.write("slots", free - before) }
child("idle") { }
File.write("ready", "") # it waits for none: each look would make Strings where a child made some
sleep
END
there() { [ -e strings ] && [ -e orders ] && [ -e gone ] && [ -e idle ]; }

# within NAME: what was copied and what is new are the kernel's Private_Dirty within 5 % and 0.3 MB.
within() {
    dirty=$(sed -n 's/^Private_Dirty: *\([0-9]*\) kB/\1/p' "/proc/$1/smaps_rollup")
    copied=$(sed -n 's/^ *\([0-9.]*\)  100 %  copied since the fork$/\1/p' out)
    fresh=$(tr '\n' ' ' <out | sed -n 's/.*shared, \([0-9.]*\) MB are new since.*/\1/p')
    check "$copied and $fresh MB, Private_Dirty $dirty kB" awk -v d="$dirty" -v c="$copied" -v f="$fresh" \
        'BEGIN { x = (c + f) - d / 1024; exit !(c != "" && (x < 0 ? -x : x) < 0.05 * d / 1024 + 0.3) }'
}

for preload in "$jemalloc" ""; do
    rm -f strings orders gone idle
    launch "$preload" "" "$ruby" forks.rb
    parent=$pid
    until_true 60 there || fail "not all children wrote their files: $(ls)"
    started="$started $(cat strings) $(cat orders) $(cat gone) $(cat idle)"
    is_quiet "$jprof" explain --copied "$(cat strings)"
    prints '^ +[0-9.]+ +[89][0-9] %  30[0-9][0-9] String objects that were changed$'
    within "$(cat strings)"
    works "$jprof" explain --copied "$(cat orders)"
    prints '^ +[0-9.]+ +[89][0-9] %  200[0-9] Order objects that were changed$'
    within "$(cat orders)"
    works "$jprof" explain --copied "$(cat gone)"
    # Of 300,000 Strings, but for those of whole pages that Ruby gave back: the slots that it counts as free now.
    swept=$(sed -n 's/^ *[0-9.]* *[0-9]* %  \([0-9]*\) slots whose objects are gone$/\1/p' out)
    check "$swept slots whose objects are gone, $(cat slots) by Ruby" awk -v s="$swept" -v r="$(cat slots)" \
        'BEGIN { exit !(r > 200000 && s > 0.98 * r && s < 1.02 * r) }'
    within "$(cat gone)"
    works "$jprof" explain --copied "$(cat idle)"
    prints 'nothing to$|nothing to speak'
    prints_no 'what was changed on these pages'
    is_quiet "$jprof" explain --copied "$parent"
    prints "^4 processes that were forked from process $parent$"
    prints '^ +[0-9.]+ +[0-9]+ %  50[0-9] Order objects that were changed$'
    lives "$parent"
    end_started
done

# A cluster by its titles: one line beside where its memory is, and the figures of all workers.
cat >cluster.rb <<'END'
$0 = "puma 5.6.5 (unix://none) [shop]"
$strings = Array.new(300_000) { |i| "string number #{i}" }
GC.start
GC.disable
2.times do |n|
  fork do
    $0 = "puma: cluster worker #{n}: #{Process.ppid} [shop]"
    3000.times { |i| $strings[i * 100] << "x" }
    File.write("worker#{n}", Process.pid.to_s)
    sleep
  end
end
File.write("ready", "")
sleep
END
rm -f worker0 worker1
launch "$jemalloc" "" "$ruby" cluster.rb
until_true 60 eval '[ -s worker0 ] && [ -s worker1 ]' || fail "no workers: $(ls)"
started="$started $(cat worker0) $(cat worker1)"
is_quiet "$jprof" explain --puma="$pid"
tr '\n' ' ' <out >one_line
check "not one line of what was copied: $(cat one_line)" grep -qE \
    '  Copied since the fork: [0-9]+\.[0-9] of [0-9]+\.[0-9] MB in each worker, [0-9]+\.[0-9] MB of it for 30[0-9][0-9] String objects that were changed \(--copied\)\.  ' one_line
is_quiet "$jprof" explain --json --puma="$pid"
mv out d
cat >figures.py <<'END'
import json, re, sys
d = json.load(open("d"))
c, rows = d["copied"], d["copied"]["rows"]
assert c["parent"] == int(sys.argv[1]) and c["processes"] == 2 == d["processes"] - 1, c
assert abs(sum(r["bytes"] for r in rows) - c["bytes"]) < 100, c
strings = next(r for r in rows if r["kind"] == "objects" and r["name"] == "String")
assert 3000 <= strings["objects"] < 3100 and strings["bytes"] > 0.8 * c["bytes"], strings
dirty = [int(re.search(r"Private_Dirty: *(\d+)", open(f"/proc/{open(w).read()}/smaps_rollup").read())[1]) << 10 for w in ("worker0", "worker1")]
assert abs(c["bytes"] + c["new"] - sum(dirty) / 2) < 0.05 * sum(dirty) / 2 + 300000, (c, dirty)
END
python3 "$root/tests/doors/values.py" schema "$root/docs/internals/explain.schema.json" d >judge 2>&1 || fail "schema: $(tail -n 1 judge)"
python3 figures.py "$pid" 2>judge || fail "figures: $(tail -n 1 judge)"
works "$jprof" explain --copied --json "$(cat worker1)"
mv out d
python3 "$root/tests/doors/values.py" schema "$root/docs/internals/explain.schema.json" d >judge 2>&1 || fail "schema: $(tail -n 1 judge)"
check "of one worker" [ "$(python3 -c 'import json; print(json.load(open("d"))["copied"]["processes"])')" = 1 ]
is_quiet "$jprof" explain --json "$pid"
check "of a process alone" eval '! grep -q "\"copied\"" out'
end_started

# What is no fork, and what has no answer.
exits_with 1 "$jprof" explain --copied "$$"
says_like "^jprof: process $$: it was not forked from its parent's program, and no child was forked from it"
exits_with 1 "$jprof" explain --copied 4999999
says 'jprof: process 4999999: there is no such process'
for words in "" "$$ $$" x.jprof; do
    # shellcheck disable=SC2086
    exits_with 1 "$jprof" explain --copied $words
    says_like '^jprof: --copied is for one live process that was forked'
done
exits_with 1 "$jprof" explain --copied --json "$$"
says_like "^jprof: process $$: it was not forked from its parent's program, and no child was forked from it"
exits_with 1 "$jprof" explain --copied --html "$$"
says_like '^jprof: --copied prints text or JSON'
exits_with 1 "$jprof" --copied "$$"
finish
