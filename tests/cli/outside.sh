#!/bin/sh
# Memory that no profile has: what a report says of it, beside /proc and what a real Ruby says of its own GC heap. And
# sums over several processes.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_ruby
need_agent
command -v python3 >/dev/null || skip "no python3 here"
mkdir d
# Strings that live in the GC heap's slots, in all versions; how large the heap is, at the moment of each dump.
cat >held.rb <<'END'
held = []
said = lambda do
  GC.start
  File.write("heap.part", GC.stat(:heap_allocated_pages) * GC::INTERNAL_CONSTANTS[:HEAP_PAGE_SIZE])
  File.rename("heap.part", "heap")
end
said.call
File.write("ready", "")
loop do
  sleep 0.02
  next unless File.exist?("grow")
  1_200_000.times { |i| held << "no malloc #{i}" }
  held << "x" * 20_000_000
  said.call
  File.delete("grow")
end
END
start "lg_prof_sample:14,prof_prefix:$tmp/d/app" "$ruby" held.rb

# value FILE EXPRESSION: of a JSON report d
value() {
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1])); n, b = d["outside"]["now"], d["outside"]["base"]
print(eval(sys.argv[2]))' "$1" "$2"
}
rss_of() { # BUNDLE
    python3 -c 'import re, sys; print(int(re.search(r"^RssAnon:\s*(\d+)", sys.stdin.read(), re.M)[1]) * 1024)' \
        <<END
$(tar xOf "$1" "$pid/status")
END
}
works "$jprof" snap --gc "$pid" -o before.jprof
cp heap heap.before
: >grow
until_true 60 [ ! -e grow ] || { cat target.err; exit 1; }
works "$jprof" snap --gc "$pid" -o after.jprof
cp heap heap.after

# ---- as JSON: by Ruby's own page size, and by /proc ----
works "$jprof" --json --base=before.jprof after.jprof
cp out diff.json
python3 "$root/tests/doors/values.py" schema "$root/docs/internals/json.schema.json" diff.json >judge 2>&1 || fail "schema: $(tail -n 1 judge)"
check "RssAnon now" [ "$(value diff.json 'int(n["rss_anon"])')" = "$(rss_of after.jprof)" ]
check "RssAnon before" [ "$(value diff.json 'int(b["rss_anon"])')" = "$(rss_of before.jprof)" ]
# A few pages may come or go between the program's word and the dump.
near_heap() { # VALUE TRUTH
    awk -v is="$1" -v truth="$2" 'BEGIN { off = is - truth; exit !(is > 0 && off < 3e6 && off > -3e6) }'
}
check "GC heap now" near_heap "$(value diff.json 'int(n["gc_heap"])')" "$(cat heap.after)"
check "GC heap before" near_heap "$(value diff.json 'int(b["gc_heap"])')" "$(cat heap.before)"
grown=$(($(cat heap.after) - $(cat heap.before)))
check "the GC heap grew by $grown only" [ "$grown" -gt 40000000 ]

# ---- in words: a line on standard error where there is no terminal, else below the total ----
number='[0-9]+[.][0-9]'
line="RssAnon grew by $number MB; $number MB of it are in this profile; Ruby's GC heap grew by $number MB(; [a-z' ]* (grew|shrank) by $number MB)*"
works "$jprof" --heap=malloc --base=before.jprof after.jprof
check "not one line: $(cat err)" [ "$(grep -cE "^jprof: $line\$" err)" = 1 ]
prints_no RssAnon
said=$(sed -n "s/.*GC heap grew by \\($number\\) MB.*/\\1/p; s/.*GC heap grew by \\([0-9]*\\.[0-9]\\) MB.*/\\1/p" err | head -n 1)
check "the line says $said MB" awk -v said="$said" -v truth="$grown" 'BEGIN { off = said * 1048576 - truth; exit !(off < 6e6 && off > -6e6) }'
run "$jprof" --heap=malloc after.jprof
check "no line for one" grep -qE "^jprof: RssAnon is $number MB; $number MB of it are in this profile; Ruby's GC heap has $number MB" err
# With Ruby's objects in the rows, what is left of the heap: both together are what it grew by.
works "$jprof" --base=before.jprof after.jprof
rest=$(sed -n "s/.*; the rest of Ruby's GC heap grew by \\([0-9.]*\\) MB.*/\\1/p" err)
works "$jprof" --heap=slots --base=before.jprof after.jprof
objects=$(sed -n 's/^Total: \([0-9.]*\) MB.*/\1/p' out)
check "$rest MB and $objects MB of objects are not $grown" awk -v both="$(echo "$rest $objects" | awk '{ print $1 + $2 }')" -v truth="$grown" \
    'BEGIN { off = both * 1048576 - truth; exit !(off < 6e6 && off > -6e6) }'
run "$jprof" --json after.jprof
check "JSON: said on standard error too" eval '! grep -q RssAnon err'
TERM=dumb python3 "$here/on_tty.py" 24x80 "$jprof" --heap=malloc --base=before.jprof after.jprof >lines 2>&1
what="on a terminal"
# Below the total, on as many lines as it takes; then how to see all rows.
sed -n '/ Total$/,$p' lines | tr '\n' ' ' >below
check "not below the total: $(cat below)" grep -qE "Total  $line [.][.][.] [0-9]+ more: --top=0 " below
check "lines of more than 80 columns" no_line '.{81}' lines
ln -s "$jprof" jeprof
run ./jeprof --base=before.jprof after.jprof
check "jeprof says it, too" eval '! grep -q RssAnon err'

# ---- bare dumps with their side-cars beside them: what these know, in reports and differences ----
for at in before after; do
    tar xOf $at.jprof "$pid/agent.json" >sidecar
    dump=$(python3 -c 'import json; print(json.load(open("sidecar"))["dump"])')
    mkdir -p "bare.$at"
    tar xOf $at.jprof "$pid/dump.heap" >"bare.$at/$dump"
    cp sidecar "bare.$at/$dump.json"
    eval "bare_$at=bare.$at/$dump"
done
# shellcheck disable=SC2154
works "$jprof" --json "$bare_after"
cp out bare.json
check "JSON: the GC heap of a bare dump" [ "$(value bare.json 'n["gc_heap"]')" = "$(value diff.json 'n["gc_heap"]')" ]
check "JSON: what jemalloc keeps" [ "$(value bare.json 'n["kept_by_jemalloc"]')" = "$(value diff.json 'n["kept_by_jemalloc"]')" ]
check "JSON: RssAnon, which no side-car has" [ "$(value bare.json 'n["rss_anon"]')" = None ]
heap="Ruby's GC heap"
run "$jprof" "$bare_after"
check "no line for a bare dump: $(cat err)" grep -qE "^jprof: $heap has $number MB; .* is $number MB; none of these is in this profile\$" err
# shellcheck disable=SC2154
run "$jprof" --json --base="$bare_before" "$bare_after"
cp out bare.json
check "JSON: of the base" [ "$(value bare.json 'b["gc_heap"]')" = "$(value diff.json 'b["gc_heap"]')" ]
run "$jprof" --base="$bare_before" "$bare_after"
check "no line for a difference of bare dumps: $(cat err)" grep -qE "^jprof: $heap grew by $number MB; (it|.*none of these) is (not )?in this profile\$" err
TERM=dumb python3 "$here/on_tty.py" 24x80 "$jprof" "--base=$bare_before" "$bare_after" >terminal 2>&1
what="bare dumps on a terminal"
check "not a line of it" eval "sed -n '/ Total\$/,\$p' terminal | grep -q \"$heap grew by\""
rm "$bare_after.json"
run "$jprof" "$bare_after"
check "a line without a side-car" eval '! grep -q "GC heap" err'

# ---- what was never touched is in the profile, and not in RssAnon: no comparison ----
echo 'require "fiddle"; GC.start; held = Fiddle.malloc(300_000_000); File.write("ready", ""); sleep 1000' >untouched.rb
start "lg_prof_sample:14,prof_prefix:$tmp/d/untouched" "$ruby" untouched.rb
works "$jprof" snap "$pid" -o untouched.jprof
check "RssAnon is not below the profile: no test" [ "$(rss_of untouched.jprof)" -lt 300000000 ]
run "$jprof" untouched.jprof
prints '^Total: 3[0-9][0-9]\.[0-9] MB$'
check "RssAnon beside more than that: $(cat err)" eval '! grep -q RssAnon err'
check "not a word of what jemalloc has beside" grep -qE "^jprof: .*(profiler itself|fragmentation|metadata|keeps) is $number MB" err
run "$jprof" --json untouched.jprof
cp out untouched.json
check "JSON" [ "$(value untouched.json 'n["rss_anon"]')" = None ]
stop "$pid"

# ---- several processes: each is counted whole ----
run "$jprof" after.jprof
prints '^Total: [0-9.]+ MB$'
cat >family.rb <<'END'
held = Array.new(3000) { "f" * 5000 }
2.times { fork { sleep 1000 } }
File.write("ready", "")
sleep 1000
END
start "lg_prof_sample:14,prof_prefix:$tmp/d/family" "$ruby" family.rb
family=$pid
children() {
    cat /proc/"$family"/task/*/children 2>/dev/null
}
all_up() {
    [ "$(children | wc -w)" = 2 ] && for p in $(children); do announced "$p" || return 1; done
}
until_true 60 all_up || skip "the children have no agent"
started="$started $(children)"
works "$jprof" snap "$family" --children-of="$family" -o family.jprof
pss=$(for p in $family $(children); do tar xOf family.jprof "$p/smaps_rollup" | sed -n 's/^Pss: *\([0-9]*\) kB/\1/p'; done |
    awk '{ sum += $1 } END { printf "%.0f", sum / 1024 }')
run "$jprof" family.jprof
prints "^Total: [0-9.]+ MB in 3 processes, each counted whole; what they share since the fork counts 3 times \\(sum of Pss $pss MB\\)\$"
# ---- differences that compare unlike things: a line each ----
for name in 17 21 45; do cp "$heaps/jemalloc-5.3.0.heap" app.$name.0.m0.heap; done
run "$jprof" bundle -o one.jprof app.17.0.m0.heap app.21.0.m0.heap
run "$jprof" bundle -o other.jprof app.17.0.m0.heap app.45.0.m0.heap
run "$jprof" --base=one.jprof other.jprof
check "a replaced process, not a word" grep -q '^jprof: not the same processes (only in the later one: 45; only in the base: 21): ' err
run "$jprof" --base=one.jprof one.jprof
check "the same processes" eval '! grep -q "not the same" err'
run "$jprof" --base="$heaps/hand-4.heap" "$heaps/jemalloc-5.3.0.heap"
check "two programs, not a word" grep -q '^jprof: the later one is of threads and the base of server: a difference of two programs is no growth' err

run "$jprof" --member="$family" family.jprof
prints '^Total: [0-9.]+ MB$'
finish
