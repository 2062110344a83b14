#!/bin/sh
# jprof explain PID and --puma: the process is snapped first and no file is left; one that runs without a profile.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_ruby
need_agent
command -v python3 >/dev/null || skip "no python3 here"
ruby_app
mkdir d
none() { # neither a bundle nor a dump
    nothing_like . '\.jprof$|\.heap|\.json$'
    no_dumps d
}
status_kb() { # PID KEY
    awk -v key="$2:" '$1 == key { print $2 }' "/proc/$1/status"
}
# judge WHAT FILE EXPRESSION: holds of a JSON explanation d; row(PART) in bytes
judge() {
    checks=$((checks + 1))
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
def row(part):
    return next(r["bytes"] for r in d["rows"] if r["part"] == part)
parts = {r["part"] for r in d["rows"]}
top = [r for r in d["rows"] if r["depth"] == 0]
sys.exit(0 if eval(sys.argv[2]) else str([(r["part"], r["bytes"]) for r in top]))' "$2" "$3" 2>judge || fail "$1: $(cat judge)"
}

# ---- under profiling ----
start "lg_prof_sample:17,prof_prefix:$tmp/d/app" "$ruby" "$app"
one=$pid
is_quiet "$jprof" explain --gc "$one"
check "the head" eval 'sed "/^$/q" out | tr "\n" " " | grep -qE "^process $one: [^ ]*, up for less than a minute: [0-9.]+ MB, [0-9.]+ of it in malloc[. ]"'
prints '^ +[0-9.]+ +[0-9]+ %  live malloc memory$'
# Before 3.2 with what of it is in objects: all slots have one size.
prints "^ +[0-9.]+ +[0-9]+ %  Ruby's GC heap(: [0-9.]+ in objects, [0-9.]+ in free slots)?$"
prints '^ +[0-9.]+ +100 %  RSS'
none
lives "$one"
works "$jprof" explain --json "$one"
mv out one.out
judge "it is not the process's RSS" one.out "abs(d['total'] / 1024 - $(status_kb "$one" VmRSS)) < 8000"
python3 "$root/tests/doors/values.py" schema "$root/docs/internals/explain.schema.json" one.out >judge 2>&1 || fail "schema: $(tail -n 1 judge)"

# ---- what is kept, and compared with ----
is_quiet "$jprof" explain --gc "$one" -o kept.jprof
has kept.jprof "$one/dump.heap"
check "mode" [ "$(stat -c %a kept.jprof)" = 600 ]
works "$jprof" explain kept.jprof "$one"
prints '^     MB  share  growth  where$'
exits_with 1 "$jprof" explain "$one" -o kept.jprof
says_like '^jprof: kept.jprof: exists already'
exits_with 1 "$jprof" explain "$one" -o kept.txt
says 'jprof: kept.txt: with a process -o keeps the snapshot: give it a name that ends in .jprof; the text goes to standard output'
check "made" [ ! -e kept.txt ]
exits_with 1 "$jprof" explain --gc kept.jprof
says 'jprof: --gc is for live processes: give a pid, or --puma'
exits_with 1 "$jprof" --puma kept.jprof
says 'jprof: --puma is for jprof explain'
# A file of that name is meant.
cp kept.jprof 4711
works "$jprof" explain 4711
prints "^ruby[0-9.]* [(]$one[)]: [0-9.]+ MB, "
rm 4711

# ---- what is not explained: at most a tenth of RssAnon, with a sample for 4 KB too, much garbage, and threads ----
cat >garbage.rb <<'END'
$held = (1..50000).map { |i| "x" * 100 + i.to_s }
garbage = (1..150_000).map { |i| "y" * (30 + i % 500) }
garbage = nil
300.times { |i| eval("def m#{i}(x) x + #{i} end") }
$threads = (1..10).map { Thread.new { sleep } }
File.write("ready", Process.pid.to_s)
sleep
END
for lg in 12 17; do
    start "lg_prof_sample:$lg,prof_prefix:$tmp/d/app" "$ruby" garbage.rb
    for gc in --gc ''; do
        works "$jprof" explain --json $gc "$pid"
        mv out rest.out
        python3 "$root/tests/doors/values.py" schema "$root/docs/internals/explain.schema.json" rest.out >judge 2>&1 || fail "schema: $(tail -n 1 judge)"
        judge "lg $lg $gc: it does not add up" rest.out 'abs(sum(r["bytes"] for r in top[:-1]) - d["total"]) < 100'
        judge "lg $lg $gc: not explained" rest.out "'not_explained' not in parts or abs(row('not_explained')) < .1 * 1024 * $(status_kb "$pid" RssAnon)"
        judge "lg $lg $gc: neither the GC heap nor what was mapped past malloc" rest.out "len(parts & {'gc_heap', 'past_malloc'}) == 1"
        judge "lg $lg $gc: the agent's tables" rest.out "0 < row('tables') <= 16 << 20"
        judge "lg $lg $gc: more freed pages than memory" rest.out "'dirty' not in parts or row('dirty') < d['total']"
    done
    lives "$pid"
    stop "$pid"
done

# ---- 400 threads: jemalloc counts the caches of threads as allocated and as metadata: the sum has them once ----
cat >threads.rb <<'END'
run = Queue.new
$threads = (1..400).map { Thread.new { run << 1; sleep } }
400.times { run.pop }
$held = (1..50000).map { |i| "x" * 100 + i.to_s }
File.write("ready", Process.pid.to_s)
sleep
END
start "lg_prof_sample:12,prof_prefix:$tmp/d/app" "$ruby" threads.rb
works "$jprof" explain --json "$pid"
mv out threads.out
judge "internal: $(grep -c internal threads.out)" threads.out "row('internal') > 400 * 20000"
judge "they are in no row of live memory" threads.out "row('internal_live') == row('internal') == -row('counted_twice')"
judge "... and are said to be in no sample" threads.out "abs(row('not_sampled')) < .2 * row('internal')"
stop "$pid"

# ---- 2000 objects of 24 KB: a page beside each is no gap between objects, and not for arenas to save ----
cat >large.rb <<'END'
$held = (1..2000).map { "x" * 24_000 }
File.write("ready", Process.pid.to_s)
sleep
END
rm -f ready
start "lg_prof_sample:17,narenas:8,prof_prefix:$tmp/d/app" "$ruby" large.rb
works "$jprof" explain --json "$pid"
mv out large.out
python3 "$root/tests/doors/values.py" schema "$root/docs/internals/explain.schema.json" large.out >judge 2>&1 || fail "schema: $(tail -n 1 judge)"
judge "padding" large.out "abs(row('large_padding') / (2000 * 4096) - 1) < .2"
works "$jprof" explain "$pid"
prints 'fragmentation: [0-9.]+ of it are a page beside each large object'
prints_no 'narenas'
stop "$pid"

# ---- what nothing points to: 3,000 blocks of 5 KB whose addresses only integers have. The same process without them has no such line. ----
cat >lost.py <<'END'
import ctypes, signal, sys
c = ctypes.CDLL(None)
c.calloc.restype = ctypes.c_void_p
hidden = [c.calloc(1, 5000) for i in range(int(sys.argv[1]))]
kept = (ctypes.c_void_p * 2000)(*[c.calloc(1, 5000) for i in range(2000)])
open("ready", "w").write("1")
while True:
    signal.pause()
END
export JPROF_AGENT=for=all
for hidden in 3000 20; do
    start "lg_prof_sample:12,prof_prefix:$tmp/d/app" python3 lost.py "$hidden"
    is_quiet "$jprof" explain "$pid"
    if [ "$hidden" = 20 ]; then
        prints_no 'No pointer was found'
        is_quiet "$jprof" explain --json "$pid"
        prints_no '"unreachable"'
        stop "$pid"
        continue
    fi
    check "no line for what nothing points to" eval 'tr "\n" " " <out | grep -qE "No pointer was found to 1[45]\.[0-9] MB of live malloc memory, (2,9[0-9][0-9]|3,0[0-9][0-9]) blocks, most of it in those of 5120 bytes:    jprof explain --unreachable $pid  "'
    is_quiet "$jprof" explain --json "$pid"
    mv out lost.out
    python3 "$root/tests/doors/values.py" schema "$root/docs/internals/explain.schema.json" lost.out >judge 2>&1 || fail "schema: $(tail -n 1 judge)"
    judge "what nothing points to" lost.out "2900 * 5120 < row('unreachable') < 3100 * 5120 and 'lost' not in parts and 'group' in parts"
    is_quiet "$jprof" explain --unreachable "$pid"
    prints '^ +1[45]\.[0-9]+ +(29[0-9][0-9]|3000) +5120  '
    prints_no 'start it with'
    is_quiet "$jprof" explain --by=referrer "$pid"
    prints '^ +1[45]\.[0-9] +nothing that was read$'
    works "$jprof" snap --unreachable --referrers "$pid" -o lost.jprof
    works "$jprof" explain lost.jprof
    prints '^   jprof explain --unreachable lost.jprof$'
    works "$jprof" explain --unreachable lost.jprof
    prints '^ +1[45]\.[0-9]+ +(29[0-9][0-9]|3000) +5120  '
    works "$jprof" explain --by=referrer lost.jprof
    prints '^ +1[45]\.[0-9] +nothing that was read$'
    works "$jprof" explain --json -o glanced.jprof "$pid"
    has glanced.jprof "$pid/outside.json"
    rm -f lost.jprof glanced.jprof
    exits_with 3 "$jprof" check --max-unreachable=1MB "$pid"
    lives "$pid"
    stop "$pid"
done
unset JPROF_AGENT

# ---- and which lines allocated it: of 30,000 and 70,000 blocks of 1,024 bytes half are freed, and nobody has the addresses of the others ----
cat >lost.rb <<'END'
require 'fiddle'
def some(n) = n.times.map { Fiddle.malloc(1024) }
def more(n) = n.times.map { Fiddle.malloc(1024) }
lists = [some(30_000), more(70_000)]
lists.each { |all| all.each_slice(2) { |address, _| Fiddle.free(address) } }
lists = nil
GC.start
File.write('ready', '')
sleep
END
if "$ruby" -rfiddle -e 1 2>/dev/null; then
    start "lg_prof_sample:15,prof_prefix:$tmp/d/app" "$ruby" lost.rb
    is_quiet "$jprof" explain --unreachable "$pid"
    prints '^No pointer was found to 4[89]\.[0-9]+ MB, (49[89]|500)[0-9]+ blocks\.$'
    prints '^What allocated them is an estimate: 1[3-9][0-9][0-9] of these blocks were sampled\.$'
    prints '^ +3[0-9]\.[0-9]+ +[12]\.[0-9]+ +[0-9]+  lost\.rb:3 Object#more$'
    works "$jprof" snap --unreachable "$pid" -o lines.jprof
    works "$jprof" explain --unreachable --json lines.jprof
    mv out lost.out
    python3 "$root/tests/doors/values.py" schema "$root/docs/internals/explain.schema.json" lost.out >judge 2>&1 || fail "schema: $(tail -n 1 judge)"
    # At five standard errors.
    check "lines of lost blocks: $(cat lost.out)" python3 -c 'import json
lost = json.load(open("lost.out"))["unreachable"]
near = lambda row, blocks: abs(row["bytes"] - blocks * 1024) < 5 * (row["high"] - row["low"]) / 2 / 1.96
rows = {row["name"]: row for row in lost["rows"]}
assert near(lost, 50000) and near(rows["lost.rb:2 Object#some"], 15000) and near(rows["lost.rb:3 Object#more"], 35000)
assert sum(row["samples"] for row in rows.values()) == lost["samples"]'
    rm lines.jprof
    stop "$pid"
fi

# ---- what points to it, of two snapshots that have a profile, too: each block is counted, and no sample ----
cat >points.rb <<'END'
KEPT = []
def keep(n) = n.times { |i| KEPT << "text #{i} " * 400 }
keep(100)
GC.start
File.write('ready', '')
sleep 0.05 until File.exist?('more')
keep(3000)
GC.start
File.write('kept', '')
sleep
END
start "lg_prof_sample:17,prof_prefix:$tmp/d/app" "$ruby" points.rb
works "$jprof" snap --gc --referrers --symbols=later "$pid" -o points0.jprof
touch more
until_true 60 test -e kept
works "$jprof" snap --gc --referrers --symbols=later "$pid" -o points1.jprof
works "$jprof" diff --by=referrer points0.jprof points1.jprof
prints '^1  GROWING  \+1[0-9]\.[0-9] MB  Ruby data: String$'
prints '^  growth .*  what points to it  '
prints_no 'points.rb|start the program with jprof run'
works "$jprof" diff --by=referrer --json points0.jprof points1.jprof
python3 "$root/tests/doors/values.py" schema "$root/docs/internals/diff.schema.json" out >judge 2>&1 || fail "schema: $(tail -n 1 judge)"
check "rows of samples beside what points to it, or not all of that" python3 -c 'import json
d = json.load(open("out"))
live = [r for r in d["rows"] if r["part"] == "live"]
assert not [r for r in live if r["samples"]]
assert abs(sum(r["growth"] for r in live) - d["malloc"]["growth"]) <= .01 * d["malloc"]["growth"]'
works "$jprof" diff points0.jprof points1.jprof
prints ' points\.rb:2 Object#keep'
rm points0.jprof points1.jprof
stop "$pid"

# ---- buffers that leave RSS behind: each eighth is kept, and so every slab. The first five lines name size and line. ----
cat >buffers.rb <<'END'
def fill
  buffers = Array.new(60_000) { "x" * 1500 }
  $kept = buffers.each_slice(8).map(&:first)
  buffers.clear
end
Signal.trap("USR1") do
  fill
  GC.start
  File.write("filled", "1")
end
File.write("ready", Process.pid.to_s)
loop { sleep 1 }
END
start "lg_prof_sample:17,prof_prefix:$tmp/d/app" "$ruby" buffers.rb
works "$jprof" explain --gc "$pid" -o before.jprof
kill -USR1 "$pid"
until_true 60 test -e filled
works "$jprof" explain --gc before.jprof "$pid" -o after.jprof
grep -v '^$' out | head -n 5 >first
check "the first five lines do not name the size" grep -q 'Fragmentation grew by .* of 1536 bytes' first
check "... nor the line" grep -q 'buffers.rb:2' first
stop "$pid"
rm before.jprof after.jprof

# ---- 26,000 stacks, as of fibers: smaps has 36 MB ----
cat >stacks.py <<'END'
import ctypes, mmap, os, time
libc, count, page = ctypes.CDLL(None, use_errno=True), 26000, 4096
space = mmap.mmap(-1, 2 * count * page, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for i in range(2 * count):
    space[i * page] = 1
start = ctypes.addressof(ctypes.c_char.from_buffer(space))
for i in range(count):
    if libc.mprotect(ctypes.c_void_p(start + 2 * i * page), ctypes.c_size_t(page), 0):
        raise OSError(ctypes.get_errno(), "mprotect")
open("ready", "w").write(str(os.getpid()))
time.sleep(1e6)
END
rm -f ready
python3 stacks.py >stacks.txt 2>&1 </dev/null &
pid=$!
started="$started $pid"
until_true 60 test -s ready
works "$jprof" explain --json "$pid"
mv out stacks.out
judge "not all stacks are counted" stacks.out "abs(row('stacks') / (26000 * 4096) - 1) < .05"
stop "$pid"

# ---- without agent, profile, jemalloc or Ruby: what /proc says, what cannot be known, how to start it ----
rm -f ready
python3 -c 'import time; kept = b"x" * (20 << 20); open("ready", "w").close(); time.sleep(600)' >bare.txt 2>&1 </dev/null &
bare=$!
started="$started $bare"
until_true 60 test -e ready
is_quiet "$jprof" explain "$bare"
prints "^process $bare: [^ ]*, up for less than a minute; it runs without a profile\$"
prints "^ +[0-9.]+ +[0-9]+ %  anonymous memory: malloc and all other together\$"
prints "^Why: it has neither jemalloc nor jprof's agent"
prints '^   jprof run -- COMMAND  '
check "growth, or advice" lacks out 'growth|What would help'
check "a line of more than 80 columns" awk 'length > 80 { bad = 1 } END { exit bad }' out
rm kept.jprof
works "$jprof" explain --json "$bare"
mv out bare.out
judge "parts" bare.out 'parts == {"anonymous", "stacks", "files", "total"} or parts == {"anonymous", "stacks", "files", "total", "not_explained"}'
judge "it does not add up" bare.out 'sum(r["bytes"] for r in top[:-1]) == d["total"]'
judge "not RSS" bare.out "abs(d['total'] / 1024 - $(status_kb "$bare" VmRSS)) < 500"
judge "anonymous memory" bare.out "0 <= $(status_kb "$bare" RssAnon) * 1024 - row('anonymous') - row('stacks') < 3e6"
python3 "$root/tests/doors/values.py" schema "$root/docs/internals/explain.schema.json" bare.out >judge 2>&1 || fail "schema: $(tail -n 1 judge)"
works "$jprof" explain "$bare" -o kept.jprof
says 'jprof: kept.jprof: was not made: what /proc says alone is no snapshot to keep'
check "made" [ ! -e kept.jprof ]
lives "$bare"
stop "$bare"
exits_with 1 "$jprof" explain "$bare"
says "jprof: process $bare: there is no such process"

# A program that lies on a tmpfs is no shared memory, though the kernel counts it with that; what is mapped shared is.
python=$(readlink -f /usr/bin/python3) # of the system: one that is all in a library has next to nothing itself
if [ -x "$python" ] && [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] && shm=$(mktemp -d /dev/shm/jprof.XXXXXX); then
    trap 'end_started; umount "$tmp/full" 2>/dev/null; cd / && rm -rf "$tmp" "$shm"' EXIT
    cp "$python" "$shm/python"
    for mapped in 0 8; do
        rm -f ready
        PYTHONHOME=$("$python" -c 'import sys; print(sys.prefix)') "$shm/python" -c "import mmap, time
kept = mmap.mmap(-1, ($mapped << 20) or 1)
kept.write(b'x' * len(kept))
open('ready', 'w').close()
time.sleep(600)" >bare.txt 2>&1 </dev/null &
        bare=$!
        started="$started $bare"
        until_true 60 test -e ready
        check "nothing of it is on the tmpfs" [ "$(status_kb "$bare" RssShmem)" -gt $((mapped * 1024 + 1024)) ]
        works "$jprof" explain --json "$bare"
        mv out bare.out
        judge "shared memory" bare.out "$mapped << 20 <= next((r['bytes'] for r in top if r['part'] == 'shared_memory'), 0) <= ($mapped << 20) + 4096"
        judge "it does not add up" bare.out 'sum(r["bytes"] for r in top[:-1]) == d["total"]'
        stop "$bare"
    done
fi

# jemalloc, and no agent
start_bare prof:true "$ruby" "$app"
works "$jprof" explain "$pid"
prints '^Read from outside \(jemalloc '
prints '^ +[0-9.]+ +[0-9]+ %  live malloc memory, [0-9,]+ blocks$'
prints_no '^Why:'
lives "$pid"
none

# V8's heap, beside what V8 says of it
if node=$(command -v node); then
    cat >app.js <<'END'
const kept = Array.from({ length: 200000 }, (_, i) => ({ i, s: "abc" + i }));
require("fs").writeFileSync("ready", "" + require("v8").getHeapStatistics().total_physical_size);
setInterval(() => kept.length, 1e9);
END
    launch "" "" "$node" app.js
    works "$jprof" explain --json "$pid"
    mv out v8.out
    judge "V8's heap" v8.out "0.93 * $(cat ready) < row('v8_heap') < 1.03 * $(cat ready)"
    judge "it does not add up" v8.out 'sum(r["bytes"] for r in top[:-1]) == d["total"]'
    run "$jprof" explain "$pid"
    prints "V8's heap, for JavaScript$"
    lives "$pid"
    stop "$pid"
    # with the agent: it is neither unexplained nor freed pages of jemalloc's
    export JPROF_AGENT=for=all
    start "lg_prof_sample:17,prof_prefix:$tmp/d/app" "$node" app.js
    unset JPROF_AGENT
    works "$jprof" snap "$pid" -o v8.jprof
    works "$jprof" explain --json v8.jprof
    mv out v8.out
    judge "V8's heap beside a dump" v8.out "0.93 * $(cat ready) < row('v8_heap') < 1.03 * $(cat ready)"
    judge "not explained" v8.out 'sum(abs(r["bytes"]) for r in top if r["part"] == "not_explained") < 0.03 * d["total"]'
    stop "$pid"
fi
finish
