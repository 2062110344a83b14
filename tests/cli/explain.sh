#!/bin/sh
# jprof explain: tables that add up, beside what /proc, jemalloc and Ruby told of real processes: Redmine, a worker of Puma.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "no python3 here"
command -v zstd >/dev/null || skip "no zstd here"

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
    python3 "$root/tests/doors/values.py" schema "$root/docs/internals/explain.schema.json" "$1" >judge 2>&1 || fail "schema: $(tail -n 1 judge)"
}
adds_up='abs(sum(r["bytes"] for r in top[:-1]) - d["total"]) < 100 and top[-1]["bytes"] == d["total"]'
anon() { # FILE MEMBER: RssAnon in bytes
    tar xOf "$1" "$2/status" | awk '/^RssAnon:/ { print $2 * 1024 }'
}

# ---- Redmine, from boot to steady: samples/cases/README.md has the truth ----
boot=$cases/real/redmine-boot.jprof
steady=$cases/real/redmine-steady.jprof
old_agent='jprof: no Ruby stacks were taken: agent 0.1.0, which made the dump, takes none'
# No text is cut, however long. The head says whose memory it is, how much, and how much of that malloc gave.
long=$(printf 'n%.0s' $(seq 1 240)).jprof
cp "$boot" "$long"
run "$plain" explain "$of_cases" "$long"
prints '^app: Puma [(]9233[)]: [0-9.]+ MB, 100[.]7 of it in malloc$'
run "$plain" explain "$of_cases" --json "$long"
prints "\"file\": \"$long\""
# The head and the answer spell one number alike.
works "$jprof" explain "$of_cases" "$boot" "$steady"
prints '^app: Puma [(]9233[)]: 268 MB, '
prints 'Memory grew from 161 to 268 MB '
works "$jprof" explain "$of_cases" --json "$boot" "$steady"
says "$old_agent"
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
works "$jprof" explain "$of_cases" "$boot" "$steady"
says "$old_agent"
prints '^  118[.]3   44 %   [+]17[.]6  live malloc memory$'
prints '^   59[.]3          [+]56[.]5    freed pages [(]dirty[)]$'
prints '^  268[.]4  100 %  [+]107[.]7  RSS$'
prints '^1  add to MALLOC_CONF: background_thread:true,dirty_decay_ms:1000 +59 MB$'
check "a line of more than 80 columns" awk 'length > 80 && !/[.]jprof/ { bad = 1 } END { exit bad }' out
works "$jprof" explain "$of_cases" "$steady"
check "growth of one snapshot" eval '! grep -q "grew\|growth" out'

# ---- Puma without GC, a sample for 128 KB: not explained is at most a tenth of RssAnon ----
for s in 1 2 3 4 5; do
    bundle=$cases/puma/w0.$s.jprof
    works "$jprof" explain "$of_cases" --json "$bundle"
    cp out puma.json
    schema puma.json
    judge "w0.$s does not add up" puma.json "$adds_up"
    judge "w0.$s: not explained" puma.json "abs(row('not_explained')) < $(anon "$bundle" dump) / 1048576 * .1"
    judge "w0.$s: the GC heap, by GC.stat" puma.json "row('gc_heap') * 1048576 == 16384 * $(tar xOf "$bundle" dump/gcstat.json | awk '/^heap_allocated_pages/ { print $2 }')"
    judge "w0.$s: nothing is shown of what is not known" puma.json 'not [r for r in d["rows"] if r["bytes"] is None]'
done

# ---- two processes: each counts whole, then what they share is taken off; shares are of their memory ----
python3 - "$steady" <<'END'
import io, json, subprocess, sys, tarfile
files = {}
whole = subprocess.run(["zstd", "-dcq", sys.argv[1]], capture_output=True, check=True).stdout
archive = tarfile.open(fileobj=io.BytesIO(whole))
for entry in archive:
    files[entry.name] = archive.extractfile(entry).read()
top = json.loads(files.pop("bundle.json"))
top["members"] = [dict(top["members"][0], name=name, pid=int(name)) for name in ("17", "21")]
files["9233/smaps_rollup"] = files["9233/smaps_rollup"].replace(b"Pss:              ", b"Pss:                   100000 kB\nOld: ", 1)
with tarfile.open("two.jprof", "w", format=tarfile.USTAR_FORMAT) as out:
    def add(name, data):
        info = tarfile.TarInfo(name)
        info.size = len(data)
        out.addfile(info, io.BytesIO(data))
    add("bundle.json", json.dumps(top).encode())
    for name in ("17", "21"):
        for path, data in files.items():
            add(path.replace("9233", name), data)
END
works "$jprof" explain "$of_cases" --json two.jprof
cp out two.json
schema two.json
judge "two processes do not add up" two.json "$adds_up"
judge "Pss" two.json 'd["processes"] == 2 and d["total"] == 2 * 100000 * 1024 and near(row("shared"), 2 * (100000 / 1024 - 268.4), .01)'
run "$jprof" explain "$of_cases" two.jprof
prints '^  236[.]6  121 %  live malloc memory$'
prints '^  195[.]3         sum of Pss of 2 processes; shared memory counts once$'

# ---- Ruby 3.3: strings of 600 bytes lie in slots of 640, and in no profile ----
works "$jprof" explain "$of_cases" --json "$cases/ruby33/slots.0.jprof" "$cases/ruby33/slots.1.jprof"
cp out slots.json
judge "213,000 slots of 640 bytes" slots.json 'near(row("gc_heap", "growth"), 213000 * 640 / 1048576, .05)'
judge "what is free of slots of several sizes is not known" slots.json 'not [r for r in d["rows"] if r["part"] == "gc_free"]'
judge "not explained" slots.json "abs(row('not_explained')) < $(anon "$cases/ruby33/slots.1.jprof" "$(tar tf "$cases/ruby33/slots.1.jprof" | sed -n 's|/status$||p')") / 1048576 * .1"
run "$jprof" explain "$of_cases" "$cases/ruby33/slots.0.jprof" "$cases/ruby33/slots.1.jprof"
prints "Ruby's GC heap [+]133 MB[.]"

# ---- two snapshots: explain begins with the row, the line and the numbers that diff says first ----
same_answer() {
    works "$jprof" diff "$of_cases" --json "$@"
    cp out first.json
    works "$jprof" explain "$of_cases" "$@"
    check "$*: not the answer of diff" python3 - <<'END'
import json
diff, text = json.load(open("first.json")), " ".join(open("out").read().split())
assert diff["answer"] in text, diff["answer"]
suspects = [r for r in diff["rows"] if r["verdict"] in ("leak_suspect", "growing", "one_jump", "maybe_garbage")]
if diff["answer"].endswith(":"):
    behind = text.split(diff["answer"])[1]
    assert suspects[0]["part"] != "live" or behind.startswith(" " + suspects[0]["name"] + " +"), behind[:200]
END
}
same_answer "$cases/ruby33/slots.0.jprof" "$cases/ruby33/slots.1.jprof"
same_answer "$cases/real/redmine-boot.jprof" "$cases/real/redmine-steady.jprof"
# Where functions have no names both go by what the memory is for.
for of in cext string hash iseq; do
    same_answer "$cases/ruby31/$of.0.heap" "$cases/ruby31/$of.1.heap"
done
prints "Ruby's own code: compiled code [+]34[.]4"

# ---- the note below a report has these figures, too ----
same_figures() {
    run "$jprof" explain "$of_cases" --json "$@"
    cp out explained.json
    shift $(($# - 1))
    works "$jprof" "$of_cases" ${base:+"--base=$base"} "$1"
    check "$1: the note has other figures" python3 - "$base" <<'END'
import json, re, sys
note = " ".join(line for line in open("err") if "Ruby's GC heap" in line)
of = "growth" if sys.argv[1] else "bytes"
rows = {r["part"]: r[of] / 1048576 for r in json.load(open("explained.json"))["rows"] if not r["depth"] and r[of] is not None}
said = {"kept": "what was freed and jemalloc keeps", "fragmentation": "fragmentation", "metadata": "jemalloc's metadata", "profiler": "the profiler itself"}
for part, words in said.items():
    found = re.search(re.escape(words) + r" (?:is|(grew|shrank) by) ([0-9.]+) MB", note)
    value = (float(found[2]) * (-1 if found[1] == "shrank" else 1)) if found else 0
    assert abs(value - rows.get(part, 0)) < (.06 if found else 1), (words, value, rows.get(part))
assert "what was freed" in note, note
END
}
base='' && same_figures "$cases/puma/w0.3.jprof"
base=$cases/real/redmine-boot.jprof && same_figures "$base" "$cases/real/redmine-steady.jprof"

# A directory without debug files.
mkdir none

# ---- whose it is: what was really done lies within the interval, stripped libruby or not ----
# grew CASE GROUP MB: the growth of a group holds the truth of samples/cases/README.md, beside half a MB of other things
grew() {
    works "$jprof" explain --json --sysroot="$cases/sysroot" --debug-dir=none "$cases/ruby31/$1.0.heap" "$cases/ruby31/$1.1.heap"
    cp out grew.json
    judge "$1: $2 did not grow by $3" grew.json "[r for r in d['rows'] if r['part'] == 'group' and r['name'] == '$2' and r['growth_low'] - 5e5 <= $3 * 1e6 <= r['growth_high'] + 5e5]"
}
grew cext leaky.so 20.48
grew fiddle fiddle.so 51.2
grew string String 22.4
grew hash Hash 16.8
grew hash 'hash keys' 16.8
grew iseq 'compiled code' 36.09

# ---- rules of one's own ----
printf '[lists] our data\nfn rb_str_times\nwhat price lists\n' >our.rules
works "$jprof" explain --json --rules=our.rules --sysroot="$cases/sysroot" --debug-dir=none "$cases/ruby31/string.1.heap"
cp out rules.json
schema rules.json
judge "our rule" rules.json '[r for r in d["rows"] if r["name"] == "lists" and r["what"] == "price lists" and r["bytes"] > 2e7]'
# A rule that is built in is about Rubies: in another program str_dup is any function, and what called it is asked for.
cat >own.raw <<'END'
--- symbol
binary=/opt/own
0x0000000000001000 str_dup
0x0000000000001fff keep_names
0x0000000000002fff main
---
--- heap
heap_v2/1
  t*: 1: 1000000 [0: 0]
@ 0x1000 0x2000 0x3000
  t*: 1: 1000000 [0: 0]

MAPPED_LIBRARIES:
00001000-00004000 r-xp 00000000 08:01 42 /opt/own
END
printf '[names] our data\nfn keep_names\n' >names.rules
works "$jprof" explain "$nowhere" --json --rules=names.rules own.raw
cp out own.json
judge "a rule of a C program" own.json 'any(r["name"] == "names" and r["bytes"] == 1e6 for r in d["rows"])'
printf '[lists] our data\nfun rb_str_times\n' >wrong.rules
exits_with 1 "$jprof" explain "$of_cases" --rules=wrong.rules "$steady"
says "$old_agent" 'jprof: wrong.rules:2: is no line of a file of rules: [GROUP] KIND, then lib, fn, table, path, what or do'
exits_with 1 "$jprof" explain "$of_cases" --rules=missing.rules "$steady"
says "$old_agent" 'jprof: missing.rules: cannot be read as rules: No such file or directory'
exits_with 1 "$jprof" --rules=our.rules "$steady"
says 'jprof: --rules=FILE is for jprof explain'

# ---- a bare dump: what malloc gave, and what a dump does not know ----
works "$jprof" explain "$of_heaps" --json "$heaps/jemalloc-5.3.0.heap"
cp out bare.json
schema bare.json
judge "a dump has no RSS" bare.json 'd["total"] is None and {r["part"] for r in d["rows"]} <= {"live", "kind", "group"}'
judge "no error" bare.json 'top[0]["low"] < top[0]["bytes"] < top[0]["high"]'
works "$jprof" explain "$of_heaps" "$heaps/jemalloc-5.3.0.heap"
prints '^To see them: jprof snap PID, and then jprof explain of that file$'

# ---- names of nameless functions in bundles of the first jprof: libruby-3.1.so.3.1.2!0x69000 then ----
mkdir nothing
for bundle in "$boot" "$steady"; do
    works "$jprof" --sysroot=nothing --functions "$bundle"
    prints ' libruby-3[.]1!0x69000$'
    prints_no '[.]so[.][0-9.]+[!+]0x'
done

# ---- a name that is wider than its place: its two ends, and not "2 others" ----
cat >long.heap <<'END'
heap_v2/524288
  t*: 100: 81310459 [0: 0]
@ 0x7f2000001000 0x7f0000001000 0x560000001200
  t*: 90: 80310459 [0: 0]
@ 0x7f2000001000 0x7f1000001000 0x560000001200
  t*: 10: 1000000 [0: 0]

MAPPED_LIBRARIES:
560000000000-560000010000 r-xp 00000000 08:01 1  /opt/app/server
7f0000000000-7f0000010000 r-xp 00000000 08:01 2  /usr/lib/libwith_a_rather_long_name_of_its_module.cpython-311-gnu.so
7f1000000000-7f1000010000 r-xp 00000000 08:01 3  /usr/lib/libsmall.so.1
7f2000000000-7f2000010000 r-xp 00000000 08:01 4  /usr/lib/libjemalloc.so.2
END
works "$jprof" explain "$nowhere" long.heap
prints '^ +libwith_a_rat[^ ]*[.]{3}[^ ]*-gnu 93[.]7, libsmall 5[.]5$'
check "no line is wider than 80 columns" eval '! grep -q "^.\{81\}" out'

what="what rounds to nothing"
works "$jprof" explain "$of_cases" "$cases/puma/w0.3.jprof"
prints '^ +-0[.]1 +0 %  not explained \(below 0: '
prints_no '-0 %|-0[.]0 '

# ---- what it refuses ----
exits_with 1 "$jprof" explain "$boot" "$steady" "$steady"
says 'jprof: explain takes one snapshot, or two: the earlier one and the later one'
exits_with 1 "$jprof" explain --svg "$boot"
says 'jprof: explain prints text, with --json JSON, with --html a page; --svg is for reports'
works "$jprof" explain "$of_cases" -o x.txt "$boot"
check "no file" grep -q 'live malloc memory' x.txt
finish
