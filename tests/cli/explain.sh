#!/bin/sh
# jprof explain: tables that add up, beside what /proc, jemalloc and Ruby told of real processes: Redmine, a worker of Puma.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "no python3 here"

# judge WHAT FILE EXPRESSION: holds of a JSON explanation d; row(PART) is the first of it, in MB.
judge() {
    checks=$((checks + 1))
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
def row(part, key="bytes"):
    return next(r[key] for r in d["rows"] if r["part"] == part) / 1048576
def near(value, truth, share):
    return abs(value - truth) <= abs(truth) * share
top = [r for r in d["rows"] if r["depth"] == 0]
sys.exit(0 if eval(sys.argv[2]) else 1)' "$2" "$3" || fail "$1"
}
schema() {
    python3 "$root/tests/doors/values.py" schema "$root/docs/explain.schema.json" "$1" >judge 2>&1 || fail "schema: $(tail -n 1 judge)"
}
adds_up='abs(sum(r["bytes"] for r in top[:-1]) - d["total"]) < 100 and top[-1]["bytes"] == d["total"]'
anon() { # FILE MEMBER: RssAnon in bytes
    tar xOf "$1" "$2/status" | awk '/^RssAnon:/ { print $2 * 1024 }'
}

# ---- Redmine, from boot to steady: samples/cases/README.md has the truth ----
boot=$cases/real/redmine-boot.jprof
steady=$cases/real/redmine-steady.jprof
run "$jprof" explain --json "$boot" "$steady"
exits 0
says
cp out redmine.json
schema redmine.json
judge "it does not add up" redmine.json "$adds_up"
judge "growth does not add up" redmine.json 'abs(sum(r["growth"] or 0 for r in top[:-1]) - d["growth"]) < 100'
judge "RSS" redmine.json 'near(row("total"), 268.4, .001) and near(row("total", "growth"), 107.7, .001)'
judge "dirty pages" redmine.json 'near(row("dirty", "growth"), 56.4, .1)'
judge "live" redmine.json 'near(row("live", "growth"), 19.2, .1)'
judge "fragmentation" redmine.json 'near(row("fragmentation", "growth"), 9.1, .1)'
judge "GC heap" redmine.json 'near(row("gc_heap", "growth"), 16.7, .1)'
judge "metadata" redmine.json 'near(row("metadata", "growth"), 7.5, .1)'
judge "not explained: more than a tenth" redmine.json "abs(row('not_explained')) < $(anon "$steady" 9233) / 1048576 * .1"
judge "the first advice" redmine.json 'd["helps"][0]["help"] == "decay" and near(d["helps"][0]["saves"], row("dirty") * 1048576, .01)'
judge "sqlite's cache grew by 5.1" redmine.json 'near(next(r["growth"] for r in d["rows"] if r["part"] == "group" and "sqlite" in r["name"]) / 1048576, 5.1, .1)'
judge "half of the slots are free" redmine.json 'near(row("gc_free"), 36.75 * 476248 / 961030, .01)'
run "$jprof" explain "$boot" "$steady"
exits 0
says
prints '^  118[.]3   44 %   [+]17[.]6  live malloc memory$'
prints '^   59[.]3          [+]56[.]5    freed pages [(]dirty[)]$'
prints '^  268[.]4  100 %  [+]107[.]7  RSS$'
prints '^1  add to MALLOC_CONF: background_thread:true,dirty_decay_ms:1000 +59 MB$'
check "a line of more than 80 columns" awk 'length > 80 && !/[.]jprof/ { bad = 1 } END { exit bad }' out
run "$jprof" explain "$steady"
exits 0
check "growth of one snapshot" eval '! grep -q "grew\|growth" out'

# ---- Puma without GC, a sample for 128 KB: not explained is at most a tenth of RssAnon ----
for s in 1 2 3 4 5; do
    bundle=$cases/puma/w0.$s.jprof
    run "$jprof" explain --json "$bundle"
    exits 0
    cp out puma.json
    schema puma.json
    judge "w0.$s does not add up" puma.json "$adds_up"
    judge "w0.$s: not explained" puma.json "abs(row('not_explained')) < $(anon "$bundle" dump) / 1048576 * .1"
    judge "w0.$s: the GC heap, by GC.stat" puma.json "row('gc_heap') * 1048576 == 16384 * $(tar xOf "$bundle" dump/gcstat.json | awk '/^heap_allocated_pages/ { print $2 }')"
    judge "w0.$s: nothing is shown of what is not known" puma.json 'not [r for r in d["rows"] if r["bytes"] is None]'
done

# ---- a bare dump: what malloc gave, and what a dump does not know ----
run "$jprof" explain --json "$heaps/jemalloc-5.3.0.heap"
exits 0
cp out bare.json
schema bare.json
judge "a dump has no RSS" bare.json 'd["total"] is None and {r["part"] for r in d["rows"]} <= {"live", "kind", "group"}'
judge "no error" bare.json 'top[0]["low"] < top[0]["bytes"] < top[0]["high"]'
run "$jprof" explain "$heaps/jemalloc-5.3.0.heap"
exits 0
prints '^To see them: jprof snap PID, and then jprof explain of that file$'

# ---- what it refuses ----
run "$jprof" explain "$boot" "$steady" "$steady"
exits 1
says 'jprof: explain takes one snapshot, or two: the earlier one and the later one'
run "$jprof" explain --svg "$boot"
exits 1
says 'jprof: explain prints text, or with --json JSON; --svg is for reports'
run "$jprof" explain -o x.txt "$boot"
exits 0
check "no file" grep -q 'live malloc memory' x.txt
finish
