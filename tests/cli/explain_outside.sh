#!/bin/sh
# jprof explain of a process that nobody prepared: what jemalloc's own tables in its memory say, beside mallctl and /proc.
# PARKED_HEAP: tests/unit/parked_heap.c, which allocates, says what mallctl counts, and waits.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
find_jemalloc
command -v python3 >/dev/null || skip "no python3 here"
. "$here/parked.sh"
# schema_of COMMAND FILE: its JSON is as docs/internals says.
schema_of() {
    python3 "$root/tests/doors/values.py" schema "$root/docs/internals/$1.schema.json" "$2" >judge 2>&1 || fail "schema: $(tail -n 1 judge)"
}
memory_of() {
    grep -E '^Vm(RSS|PTE|Swap):' "/proc/$1/status"
}
# judge WHAT EXPRESSION: of the JSON explanation in the file d, and the counts that the process said
judge() {
    checks=$((checks + 1))
    python3 -c 'import json, sys
d = json.load(open("d"))
said = dict(line.split()[-2:] for line in open("said") if not line.startswith("class"))
told = json.load(open("told")) if sys.argv[2:] else {}
row = lambda part: next(r["bytes"] for r in d["rows"] if r["part"] == part)
parts = {r["part"] for r in d["rows"]}
top = [r for r in d["rows"] if r["depth"] == 0]
sizes = [r for r in d["rows"] if r["part"] == "group"]
sys.exit(0 if eval(sys.argv[1]) else str([(r["part"], r["bytes"]) for r in top]))' "$2" ${3:+"$3"} 2>judge || fail "$1: $(cat judge)"
}

# ---- without a profile, and with one that nobody can ask for ----
for conf in dirty_decay_ms:-1 prof:true,lg_prof_sample:12,dirty_decay_ms:-1; do
    park "$jemalloc" "$conf" "$parked" 4
    memory_of "$pid" >before
    is_quiet "$jprof" explain --json "$pid"
    memory_of "$pid" >after
    same "$conf: its memory changed" before after
    mv out d
    schema_of explain d
    judge "$conf: anonymous memory is one row" '"anonymous" not in parts'
    judge "$conf: the rows do not add up" 'abs(sum(r["bytes"] for r in top[:-1]) - d["total"]) < 100'
    judge "$conf: not explained" '"not_explained" not in parts or abs(row("not_explained")) < .03 * d["total"]'
    judge "$conf: the sizes are not all of it" 'sum(r["bytes"] for r in sizes) == row("live")'
    judge "$conf: the number of blocks" 'sum(r["objects"] for r in sizes) == next(r["objects"] for r in top if r["part"] == "live")'
    # Sampled objects in caches: 16 KB each, of which a page or two are memory; others, too, may never have been touched.
    judge "$conf: the caches of threads" '0 < row("thread_caches") <= int(said["cached"])'
    case $conf in prof*) ;; *)
        # But for what was never touched: libstdc++, which jemalloc is linked with, reserves 72704 bytes.
        judge "live memory is not what jemalloc has" \
            '0 <= int(said["allocated"]) - int(said["cached"]) - row("live") <= 81920'
        ;;
    esac
    unpark
done

# ---- a program with a jemalloc of its own, and one that is preloaded and idle: that of Rails' image, for whatever runs there ----
if [ -x "${parked}_static" ]; then
    park "$jemalloc" dirty_decay_ms:-1 "${parked}_static" 4
    is_quiet "$jprof" explain --json "$pid"
    mv out d
    judge "two jemallocs: not explained" '"not_explained" not in parts or abs(row("not_explained")) < .03 * d["total"]'
    judge "two jemallocs: live memory is not what its own has" \
        '0 <= int(said["allocated"]) - int(said["cached"]) - row("live") <= 81920'
    unpark
fi

# ---- for people ----
park "$jemalloc" dirty_decay_ms:-1 "$parked" 2
is_quiet "$jprof" explain "$pid"
check "the head" eval 'sed "/^$/q" out | tr "\n" " " | grep -qE "^process $pid: [^ ]*, up for less than a minute: [0-9.]+ MB, [0-9.]+ of it in malloc +\$"'
prints '^ +[0-9.]+ +[0-9]+ %  live malloc memory, [0-9,]+ blocks$'
prints '^ +[0-9.]+ +by size  [0-9]+ bytes [0-9.]+, '
prints '^Read from outside \(jemalloc 5\.3[^ ]*\), and the process ran on\.$'
prints '^   jprof run -- COMMAND  '
prints_no 'Why:|anonymous memory|Who keeps'
check "a line of more than 80 columns" awk 'length > 80 { bad = 1 } END { exit bad }' out
nothing_like . '\.jprof$|\.heap|\.json$'
prints ' 0[.]0 +0 %  '
what="a terminal of few lines"
python3 "$here/on_tty.py" 24x80 "$jprof" explain "$pid" | tr -d '\r' >out
prints '^[.]{3} more: --top=0$'
prints_no ' 0[.]0 +0 %  '
head -n 1 out >first
works "$jprof" "$pid"
head -n 1 out >second
same "jprof PID is not explain PID" first second
unpark

# ---- the profile of a program with prof:true, which has no agent: what prof.dump writes ----
park "$jemalloc" prof:true,lg_prof_sample:12,prof_sys_thread_name:true "$parked" 4 "$tmp/told.heap"
is_quiet "$jprof" explain "$pid"
prints '^It samples \(prof:true\): jprof snap PID has its profile\.$'
works "$jprof" snap "$pid" -o profile.jprof
says
check "not what comes next" grep -qx 'jprof: read from outside, with its profile; next: jprof profile.jprof' next
stacks_of() { # but for threads that have no samples, and the address of the epoch: all are of the first minute here
    sed -e '/^MAPPED_LIBRARIES/,$d' -e '/^  t[0-9]*: 0: 0 /d' -e 's/ 0x70000005$//'
}
tar xOf profile.jprof "$pid/dump.heap" >found.heap
stacks_of <told.heap >told
stacks_of <found.heap >found
check "no stacks" [ "$(grep -c '^@' told)" -ge 2 ]
same "the profile is not what prof.dump wrote" told found
works "$jprof" --text profile.jprof
prints ' fill$'
# Its ages: the epochs of its samples, with times that jemalloc noted.
tar xOf profile.jprof "$pid/frames" >table
check "not one epoch, of the first minute: $(cat table)" [ "$(grep -c '^e ' table)" = 1 ]
check "the epoch has no times: $(cat table)" awk -v now="$(date +%s.%N)" \
    '/^start/ { began = $2 } /^e 2 / { begin = $3; runs = $4 } END { exit !(began == begin && runs == "-" && now - began >= 0 && now - began < 120) }' table
works "$jprof" --ages profile.jprof
prints ' fill +later +0\.0  startup +[0-9.]+  \[#'
works "$jprof" explain --json profile.jprof
mv out d
judge "the rows of a snapshot with a profile do not add up" 'abs(sum(r["bytes"] for r in top[:-1]) - d["total"]) < 100'
judge "not explained with a profile" '"not_explained" not in parts or abs(row("not_explained")) < .03 * d["total"]'
judge "what the profiler takes" '"profiler" in parts'
works "$jprof" explain "$pid" -o kept.jprof
tar xOf kept.jprof "$pid/dump.heap" | stacks_of >found
same "what explain keeps has another profile" told found
if command -v gcore >/dev/null && gcore -o profiled "$pid" >/dev/null 2>&1; then
    works "$jprof" explain "profiled.$pid"
    prints '^It samples \(prof:true\): jprof explain -o FILE.jprof CORE has its profile\.$'
    prints '^Ages there are from its first sample to its last, not to its end\.$'
    works "$jprof" explain "profiled.$pid" -o core.jprof
    tar xOf core.jprof "$pid/dump.heap" | stacks_of >found
    same "the core has another profile" told found
    tar xOf core.jprof "$pid/frames" >table
    check "a core's ages: $(cat table)" awk '/^time/ { end = $2 } /^start/ { began = $2; first = $3; forks = $4 } /^e / { epochs++ }
        END { exit !(epochs == 1 && first == 2 && forks == 0 && end - began >= 0 && end - began < 60) }' table
    works "$jprof" --ages core.jprof
    prints ' startup +[0-9.]+ '
    rm "profiled.$pid"
fi
works "$jprof" snap --referrers "$pid" -o pointed.jprof
works "$jprof" explain --by=referrer pointed.jprof
prints '^ +[0-9.]+ +data of files  parked_heap [0-9.]+'
unpark

# ---- a snapshot: kept by explain, or made by snap; it explains the same, and two of them say what grew ----
# A line makes it grow: 20,000 times calloc(1, 1000), which are objects of 1024 bytes.
cat >grows.py <<'END2'
import ctypes, sys
c = ctypes.CDLL(None)
c.calloc.restype = ctypes.c_void_p
print("end", flush=True)
for line in sys.stdin:
    kept = [c.calloc(1, 1000) for i in range(20000)]
    for at in kept:
        ctypes.memset(at, 1, 1000)
    open("grown", "w").close()
END2
park "$jemalloc" dirty_decay_ms:-1 python3 grows.py
is_quiet "$jprof" explain "$pid" -o first.jprof
sed -n '/share/,/^Read/p' out >live_rows
is_quiet "$jprof" explain first.jprof
prints "^python3[.0-9]* [(]$pid[)]: [0-9.]+ MB, [0-9.]+ of it in malloc\$"
sed -n '/share/,/^Read/p' out >kept_rows
check "nothing was explained" grep -q 'live malloc memory' live_rows
same "the snapshot does not say what the process did" live_rows kept_rows
prints '^   jprof run -- COMMAND  '
echo go >&9
until_true 60 test -e grown || skip "it does not grow"
is_quiet "$jprof" snap "$pid" -o second.jprof
prints '^second\.jprof$'
check "not what comes next" grep -q 'read from outside; which line made it only .*jprof run -- COMMAND.* next: jprof explain second.jprof' next
is_quiet "$jprof" diff first.jprof second.jprof
prints '^1  [A-Z ]+  \+[12][0-9]\.[0-9] MB  objects of 1024 bytes$'
prints '^ +\+[0-9.]+ .* past live memory'
prints '^Which line made it:  jprof run -- COMMAND$'
works "$jprof" diff --json first.jprof second.jprof
python3 "$root/tests/doors/values.py" schema "$root/docs/internals/diff.schema.json" out >judge 2>&1 || fail "schema: $(tail -n 1 judge)"
works "$jprof" explain --json first.jprof second.jprof
mv out d
echo end 0 >said
judge "growth by size" 'abs(next(r["objects_growth"] for r in sizes if r["object_size"] == 1024) - 20000) < 100'
is_quiet "$jprof" explain first.jprof "$pid"
prints 'objects of 1024 bytes'
exits_with 1 "$jprof" second.jprof
says 'jprof: second.jprof: was read from outside of its processes, and has no profile; jprof explain says what it holds, and jprof diff what grew'
exits_with 1 "$jprof" diff "$heaps/hand-4.heap" second.jprof
says_like "second.jprof: was read from outside, and cannot be compared with .*hand-4.heap, which has a profile"
works "$jprof" watch --count=2 --every=0.1s "$pid"
prints '^ +\+?[0-9.]+ .* all of malloc$'
unpark
park "" "" /bin/sh -c 'echo end; read x'
exits_with 1 "$jprof" snap "$pid" -o none.jprof
says_like "process $pid: has neither jemalloc nor jprof's agent"
nothing_like . '^none.jprof$'
unpark

# ---- what nothing points to, in a unit that shows it: five blocks ----
cat >few.py <<'END2'
import ctypes, sys
c = ctypes.CDLL(None)
c.calloc.restype = ctypes.c_void_p
hidden = [c.calloc(1, 700) for i in range(5)]
print("end 0", flush=True)
sys.stdin.read()
END2
park "$jemalloc" "" python3 few.py
is_quiet "$jprof" explain --unreachable "$pid"
prints '^No pointer was found to [1-9][0-9.]* KB, [0-9]+ blocks\.$'
prints '^      KB   blocks   bytes  what is in them$'
prints '^ +[0-9.]*[1-9][0-9.]* +[5-9] +768  no content that jprof knows$'
works "$jprof" check --max-unreachable=1MB "$pid"
prints '^PASS: no pointer was found to [1-9][0-9.]* KB of live memory; the limit is 1 MB$'
unpark

# ---- what nothing points to: 3,000 blocks whose addresses only Python's integers have, which hide them; 2,000 in an array ----
cat >lost.py <<'END2'
import ctypes, sys
c = ctypes.CDLL(None)
c.calloc.restype = ctypes.c_void_p
hidden = [c.calloc(1, 5000) for i in range(3000)]
kept = (ctypes.c_void_p * 2000)(*[c.calloc(1, 5000) for i in range(2000)])
print("end 0", flush=True)
sys.stdin.read()
END2
# With a profile also what allocated them, by those that were sampled; where none was, that is said.
park "$jemalloc" prof:true,lg_prof_sample:12 python3 lost.py
is_quiet "$jprof" explain --unreachable "$pid"
prints '^What allocated them is an estimate: (19|2[0-3])[0-9][0-9] of these blocks were sampled\.$'
prints '^ +1[3-5]\.[0-9]+ +0\.[0-9]+ +[0-9]+  all of them$'
is_quiet "$jprof" explain --unreachable --json "$pid"
mv out d
schema_of explain d
judge "the estimate of what is lost" 'abs(d["unreachable"]["bytes"] - row("unreachable")) < 5 * (d["unreachable"]["high"] - d["unreachable"]["low"]) / 2 / 1.96'
works "$jprof" explain -o estimate.jprof --unreachable "$pid"
works "$jprof" explain --unreachable --json estimate.jprof
check "a snapshot has another estimate" python3 -c 'import json
assert json.load(open("d"))["unreachable"] == json.load(open("out"))["unreachable"]'
if command -v gcore >/dev/null && gcore -o estimated "$pid" >/dev/null 2>&1; then
    works "$jprof" explain --unreachable --json "estimated.$pid"
    check "a core has another estimate" python3 -c 'import json
live, core = (json.load(open(name))["unreachable"] for name in ("d", "out"))
assert live["samples"] == core["samples"] and live["bytes"] == core["bytes"]'
    rm "estimated.$pid"
fi
unpark
mkdir estimate && (cd estimate && tar xf ../estimate.jprof && rm "$pid/unreachable.heap" && tar cf ../none.jprof bundle.json "$pid")
works "$jprof" explain --unreachable none.jprof
prints '^None of them was sampled: what allocated them is not known\.$'
park "$jemalloc" "" python3 lost.py
memory_of "$pid" >before
is_quiet "$jprof" explain --unreachable --addresses "$pid"
memory_of "$pid" >after
same "its memory changed by a look for pointers" before after
prints '^No pointer was found to 1[45]\.[0-9]+ MB, [0-9]+ blocks\.$'
prints '^ +1[45]\.[0-9]+ +(29[0-9][0-9]|3000) +5120  no content that jprof knows$'
check "no addresses" eval 'n=$(grep -c "^0x[0-9a-f]* 5120$" out); [ "$n" -gt 2900 ] && [ "$n" -le 3000 ]'
works "$jprof" snap --unreachable "$pid" -o lost.jprof
memory_of "$pid" >before
exits_with 3 "$jprof" check --max-unreachable=1MB "$pid"
memory_of "$pid" >after
same "its memory changed by a check" before after
prints '^FAIL: no pointer was found to 1[45]\.[0-9]+ MB of live memory; the limit is 1 MB$'
prints "^Look:     jprof explain --unreachable $pid\$"
works "$jprof" check --max-unreachable=20MB --json -o judged.json "$pid"
schema_of check judged.json
check "$(cat judged.json)" python3 -c 'import json
d = json.load(open("judged.json"))
assert d["result"] == "pass" and d["limit"] == 20 << 20 and 2900 * 5120 < d["unreachable"] <= 3010 * 5120 < d["live"]'
if command -v gcore >/dev/null && gcore -o zeros "$pid" >/dev/null 2>&1; then
    works "$jprof" explain "zeros.$pid"
    check "zeros that calloc() wrote are memory that was never touched" eval '! grep -E "^ +-[1-9][0-9.]* .* not explained" out'
fi
unpark
works "$jprof" explain --unreachable --json lost.jprof
mv out d
schema_of explain d
judge "what nothing points to" '2900 < next(r["objects"] for r in d["rows"] if r["part"] == "lost" and r["object_size"] == 5120) <= 3000'
judge "it is no part of live memory" 'row("lost") <= row("unreachable") <= row("live")'
exits_with 3 "$jprof" check --max-unreachable=1MB lost.jprof
prints '^FAIL: no pointer was found to 1[45]\.[0-9]+ MB of live memory; the limit is 1 MB$'
works "$jprof" check --max-unreachable=20MB lost.jprof
exits_with 1 "$jprof" check --max-unreachable=1MB first.jprof
prints '^CANNOT TELL: first.jprof: it does not say to what no pointer leads$'
exits_with 1 "$jprof" check --max-unreachable=1MB --json "$$"
mv out judged.json
schema_of check judged.json
check "$(cat judged.json)" grep -q '"result": "cannot_tell", "why": "process .*", "judged": 0,$' judged.json
exits_with 3 "$jprof" check --max-unreachable=30% --json lost.jprof
mv out judged.json
schema_of check judged.json
exits_with 1 "$jprof" check --max-unreachable=1MB --github lost.jprof
says 'jprof: --max-unreachable judges one snapshot, process or core, and takes no other limit, format or baseline beside it'
exits_with 1 "$jprof" check --max-unreachable=1MB 4999999
says 'jprof: process 4999999: there is no such process'
works "$jprof" explain --unreachable first.jprof
says_like 'to what no pointer leads is not known'
exits_with 1 "$jprof" --unreachable first.jprof
says 'jprof: --unreachable is for jprof explain'

# ---- Perl's own stacks and its lists of all values: the C stack has words that point into the middle of those ----
if command -v perl >/dev/null; then
    park "$jemalloc" "" perl -e '$h{"key $_"} = { name => "v" x ($_ % 200), list => [1 .. 20] } for 1 .. 20000; $| = 1; print "end 0\n"; <STDIN>'
    is_quiet "$jprof" explain --json --by=referrer "$pid"
    mv out d
    judge "stacks have what Perl's variables have" \
        'sum(r["bytes"] for r in d["rows"] if r["part"] == "kind" and r["name"] == "data of files") > .9 * row("live")'
    unpark
fi

# ---- a core of a process that stands still says what the process did, to the byte ----
if command -v gcore >/dev/null; then
    park "$jemalloc" dirty_decay_ms:-1 "$parked" 4
    for look in --unreachable --by=referrer; do
        "$jprof" explain --json "$look" "$pid" >"live$look.json"
    done
    gcore -o core "$pid" >/dev/null 2>&1 || echo "gcore makes no core here"
    unpark
fi
if [ -s "core.$pid" ]; then
    for look in --unreachable --by=referrer; do
        is_quiet "$jprof" explain --json "$look" "core.$pid"
        mv out "core$look.json"
        python3 - "$look" >judge 2>&1 <<'END2' || fail "$look: the core differs: $(head -n 1 judge)"
import json, sys
live, core = ({(r["part"], r["name"], r["object_size"]): (r["bytes"], r["objects"]) for r in json.load(open(f"{which}{sys.argv[1]}.json"))["rows"]
               if r["part"] in ("live", "kind", "group", "fragmentation", "thread_caches", "unreachable", "lost")} for which in ("live", "core"))
sys.exit(str(sorted(set(live.items()) ^ set(core.items()), key=str)) if live != core or len(live) < 5 else 0)
END2
    done
    works "$jprof" "core.$pid"
    prints "^core\\.$pid [(]$pid[)]: [0-9.]+ MB, [0-9.]+ of it in malloc\$"
    prints '^Read from a core \(jemalloc 5\.3'
    works "$jprof" explain --unreachable --addresses "core.$pid"
    prints 'and the registers of$'
    sed 1d out >whole
    works "$jprof" check --max-unreachable=20MB "core.$pid"
    prints '^PASS: no pointer was found to [0-9.]+ MB of live memory; the limit is 20 MB$'
    # With holes that a copy made, where gdb's segments begin anywhere; compressed, as systemd-coredump keeps it.
    cp --sparse=always "core.$pid" core.holes
    gzip -c1 "core.$pid" >core.packed
    for copy in core.holes core.packed; do
        works "$jprof" explain --unreachable --addresses "$copy"
        sed 1d out >copied
        same "$copy" whole copied
    done
    head -c 200000 core.packed >core.damaged
    exits_with 1 "$jprof" explain core.damaged
    says_like 'core.damaged: .*(cut|damaged)'
    head -c 3000000 "core.$pid" >cut
    exits_with 1 "$jprof" explain cut
    says_like 'cut: the core was cut: [0-9.]* MB of it are missing, and what jemalloc'
fi

# ---- what was never touched is in no row; freed pages have their advice ----
park "$jemalloc" dirty_decay_ms:-1 python3 -c 'import ctypes, sys
c = ctypes.CDLL(None)
c.calloc.restype = c.malloc.restype = ctypes.c_void_p
never = c.calloc(1, 64 << 20)
for i in range(64):
    freed = ctypes.c_void_p(c.malloc(1 << 20))
    ctypes.memset(freed, 1, 1 << 20)
    c.free(freed)
print("end", flush=True)
sys.stdin.read()'
works "$jprof" --json "$pid"
mv out d
echo end 0 >said
judge "a row is below 0" 'all(r["bytes"] >= 0 for r in top if r["part"] not in ("swapped", "not_explained"))'
judge "memory that was never touched is live" 'row("live") < 32 << 20'
judge "not explained" '"not_explained" not in parts or abs(row("not_explained")) < .03 * d["total"]'
judge "no advice where freed pages are kept" '[h["help"] for h in d["helps"]][:1] == ["decay"] and d["helps"][0]["saves"] == row("dirty")'
unpark

# ---- a Ruby: its objects by type and class, beside what it counts itself; nothing of its strings ----
if command -v ruby >/dev/null; then
    mkdir -p gems/some-1.0/lib
    echo 'class OfGem; end' >gems/some-1.0/lib/some.rb
    echo 'class Cart; end' >shop.ru
    cat >shop.rb <<'END2'
require "objspace"
require "./gems/some-1.0/lib/some"
load "./shop.ru"
CARTS = Array.new(300) { Cart.new }
class PriceList; class Entry; def initialize(i) = @i = i; end; end
class Order < String; end
Pair = Struct.new(:a, :b)
KEPT = [Array.new(20_000) { |i| PriceList::Entry.new(i) }, Array.new(3_000) { Order.new("secret-of-a-string" * 9) },
        Array.new(700) { Pair.new(1, 2) }, Array.new(500) { OfGem.new }]
class Tags < Array; end
class Index < Hash; end
BUFFERS = [Array.new(20_000) { Tags.new(40, 1) }, Array.new(1_000) { |i| h = Index.new; 20.times { |k| h[k] = i }; h },
           Array.new(2_000) { Mutex.new }, Array.new(4_000) { |i| "text #{i} " * 100 }]
SINGLE = KEPT[1].first(100).each { |o| def o.alone; end }
PAST = IO::Buffer.new(40 << 20, IO::Buffer::MAPPED)
(0...40 << 20).step(4096) { |at| PAST.set_value(:U8, at, 1) }
GC.start
GC.disable
File.open("dump.ndjson", "w") { |file| ObjectSpace.dump_all(output: file) }
counts = ObjectSpace.count_objects
# What is printed from here on makes some 130 Strings.
counts.each { |type, n| puts "#{type.to_s.delete_prefix("T_")} #{n}" }
puts "ruby #{RUBY_VERSION}"
puts "end 1"
STDOUT.flush
STDIN.read
END2
    park "$jemalloc" "" ruby -W0 --disable-gems shop.rb
    works "$jprof" --json "$pid"
    mv out d
    schema_of explain d
    count='{r["name"]: r["objects"] for r in d["rows"] if r["part"] == "object_class"}'
    type='{r["name"].upper(): r["objects"] for r in d["rows"] if r["part"] == "object_type"}'
    judge "classes and their numbers" "[$count.get(n) for n in ('PriceList::Entry', 'Order', 'Pair', 'OfGem')] == [20000, 3000, 700, 500]"
    judge "types and their numbers" "all(abs($type.get(n, 0) - int(said[n])) < 300 for n in ('OBJECT', 'STRING', 'ARRAY', 'HASH', 'CLASS', 'DATA', 'STRUCT'))"
    judge "own classes" '{r["name"] for r in d["rows"] if r.get("own")} == {"PriceList::Entry", "Order", "Pair", "Tags", "Index", "Cart"}'
    judge "Ruby: not explained" '"not_explained" not in parts or abs(row("not_explained")) < .01 * d["total"]'
    # Up to Ruby 3.2 the kernel may join another mapping to that of the transient heap, which then is in this row, too.
    judge "what the program mapped itself" '0 <= row("past_malloc") - (40 << 20) < (1 << 20 if "transient_heap" in parts or said["ruby"] >= "3.3" else 32 << 20)'
    # By what points to it, beside ObjectSpace.dump_all: which objects have memory beside their slots, and how much. How large
    # slots are, and what of a Hash or a String is in them, each Ruby says. T_DATA by its type, too.
    cat >told.py <<'END2'
import collections, json
objects = [json.loads(line) for line in open("dump.ndjson")]
names = {o["address"]: o.get("name") for o in objects if o.get("type") == "CLASS"}
told = collections.defaultdict(lambda: [0, 0])
for o in objects:
    beside = o.get("memsize", 0) - o.get("slot_size", 40)
    if beside > 0:
        entry = told[o.get("imemo_type") or names.get(o.get("class"))]
        entry[0] += 1
        entry[1] += beside
json.dump({str(name): entry for name, entry in told.items()}, open("told", "w"))
END2
    python3 told.py 2>judge || fail "dump_all: $(tail -n 1 judge)"
    memory_of "$pid" >before
    is_quiet "$jprof" explain --json --by=referrer "$pid"
    memory_of "$pid" >after
    same "its memory changed" before after
    mv out d
    schema_of explain d
    of='{r["name"]: (r["objects"], r["bytes"]) for r in sizes}'
    kind='{r["name"]: r["bytes"] for r in d["rows"] if r["part"] == "kind"}'
    judge "what Arrays hold" "$of['Tags'] == (20000, 20000 * 320)"
    judge "what Hashes hold: $(cat told)" "told['Index'][0] == 1000 and 2000 <= $of['Index'][0] <= 3100 and told['Index'][1] <= $of['Index'][1] <= 1.05 * told['Index'][1]" told
    judge "what data is" "$of['Thread::Mutex (mutex)'][0] >= 2000"
    judge "what Strings hold" "4000 <= told['String'][0] and abs($of['String'][0] - told['String'][0]) < 300" told
    judge "compiled code" "told['iseq'][1] > 50000 and 0.9 * told['iseq'][1] <= $of['compiled code'][1] <= 1.3 * told['iseq'][1]" told
    judge "the kinds are not all of it" "sum($kind.values()) == row('live')"
    judge "what nothing points to" "$kind.get('nothing that was read', 0) < .01 * row('live')"
    works "$jprof" snap --referrers "$pid" -o ruby.jprof
    tar xOf ruby.jprof "$pid/heap.json" >heap.json
    check "no referrers" grep -q '"kind": *"ruby"' heap.json
    check "contents of strings" eval '! grep -q "text 1" heap.json'
    works "$jprof" explain --by=referrer ruby.jprof
    prints '^ +[0-9.]+ +Ruby data  Tags 6\.1, '
    exits_with 1 "$jprof" --by=referrer ruby.jprof
    says 'jprof: --by=referrer is for jprof explain'
    run "$jprof" "$pid"
    prints '^Who keeps its Ruby objects: jprof keepers PID$'
    prints '^Your classes: PriceList::Entry 20,000 objects \([0-9.]+ MB of slots\), Tags 20,000( |$)'
    prints_no 'secret-of-a-string'
    prints '^ +[0-9.]+ +[0-9]+ %  stacks of threads and fibers$'
    unpark
    # ---- two snapshots that have what points to the memory: 10,000 Strings of 2 KB came, which a size does not say ----
    cat >pointed.rb <<'END2'
KEPT = Array.new(1_000) { |i| "x" * 2_000 }
puts "end"
STDOUT.flush
while STDIN.gets
  KEPT.concat(Array.new(10_000) { |i| "x" * 2_000 })
  File.write("pointed", "1")
end
END2
    park "$jemalloc" "" ruby -W0 --disable-gems pointed.rb
    works "$jprof" snap --referrers "$pid" -o pointed0.jprof
    works "$jprof" snap "$pid" -o sizes0.jprof
    echo go >&9
    until_true 60 test -e pointed || skip "it does not grow"
    works "$jprof" snap --referrers "$pid" -o pointed1.jprof
    is_quiet "$jprof" diff --by=referrer pointed0.jprof pointed1.jprof
    prints '^1  MAYBE GARBAGE  \+(19|20)\.[0-9] MB  Ruby data: String$'
    prints '^  growth .*  what points to it  '
    is_quiet "$jprof" diff --by=referrer --json pointed0.jprof pointed1.jprof
    python3 "$root/tests/doors/values.py" schema "$root/docs/internals/diff.schema.json" out >judge 2>&1 || fail "schema: $(tail -n 1 judge)"
    check "rows by size beside those by referrer, or not all of it" python3 -c 'import json, sys
d = json.load(open("out"))
live = [r for r in d["rows"] if r["part"] == "live"]
assert not [r for r in live if r["name"].startswith("objects of")]
assert abs(sum(r["growth"] for r in live) - d["malloc"]["growth"]) <= .01 * d["malloc"]["growth"]'
    is_quiet "$jprof" diff pointed0.jprof pointed1.jprof
    prints '^1  MAYBE GARBAGE  \+(19|20)\.[0-9] MB  Ruby data: String$'
    for given in '--by=size pointed0.jprof' sizes0.jprof; do
        # shellcheck disable=SC2086
        is_quiet "$jprof" diff $given pointed1.jprof
        prints '^1  MAYBE GARBAGE  \+[12][0-9]\.[0-9] MB  objects of 2048 bytes$'
    done
    exits_with 1 "$jprof" diff --by=referrer sizes0.jprof pointed1.jprof
    says 'jprof: what points to the memory is not known of each snapshot: take them with jprof snap --referrers'
    exits_with 1 "$jprof" diff --by=referrer --html -o page.html pointed0.jprof pointed1.jprof
    says 'jprof: a page has no rows by referrer; leave that --by out with --html'
    unpark
fi

# ---- one in a chroot: libruby lies where the process sees it ----
archdir=$(ruby -e 'print RbConfig::CONFIG["rubyarchdir"]' 2>/dev/null)
binary=$(ruby -e 'print RbConfig.ruby' 2>/dev/null)
if [ "$(id -u)" -eq 0 ] && command -v chroot >/dev/null && [ -d "$archdir/enc" ]; then
    mkdir jail
    libraries=$(ldd "$binary" "$jemalloc" | grep -o '/[^ :]*' | sort -u)
    # shellcheck disable=SC2086
    cp -L --parents $libraries "$binary" "$jemalloc" jail && cp -r --parents "$archdir/enc" jail
    if chroot jail "$binary" --disable-gems -e 'exit 7' >/dev/null 2>&1; [ $? -eq 7 ]; then
        park "$jemalloc" "" chroot jail "$binary" --disable-gems -e 'class Caged; end
KEPT = Array.new(4_000) { Caged.new }
puts "end 1"
STDOUT.flush
STDIN.read'
        works "$jprof" explain --json "$pid"
        mv out d
        judge "classes of a process in a chroot" 'next((r["objects"] for r in d["rows"] if r["part"] == "object_class" and r["name"] == "Caged"), 0) == 4000'
        unpark
    fi
fi

# ---- a Ruby without jemalloc: its objects, and glibc's arenas beside what malloc_stats says of them ----
if command -v ruby >/dev/null && ruby -rfiddle -e 'Fiddle.dlopen(nil)["malloc_stats"]' 2>/dev/null; then
    cat >other.rb <<'END2'
require "fiddle"
require "objspace"
class Cart; def initialize(i) = @i = i; end
class Tags < Array; end
class Index < Hash; end
class Note < String; end
KEPT = [Array.new(30_000) { |i| Cart.new(i) }, Array.new(20_000) { |i| Tags.new(40, i) },
        Array.new(3_000) { h = Index.new; 20.times { |k| h[k] = k }; h }, Array.new(4_000) { |i| Note.new("") << "text #{i} " * 60 }, Note.new("", capacity: 3_000_000) << "z" * 3_000_000]
HELD = []
LOCK = Mutex.new
threads = 4.times.map { Thread.new { held = Array.new(20_000) { "x" * 900 }; LOCK.synchronize { HELD << held.each_slice(10).map(&:first) }; held = nil; Thread.stop } }
sleep 0.01 until HELD.size == 4 && threads.all?(&:stop?)
2.times { GC.start }
GC.disable
Fiddle::Function.new(Fiddle.dlopen(nil)["malloc_stats"], [], Fiddle::TYPE_VOID).call
[Tags, Index, Note].each { |c| slot = ObjectSpace.memsize_of(c.new); puts "#{c} #{ObjectSpace.each_object(c).sum { |o| ObjectSpace.memsize_of(o) - slot }}" }
puts "end 1"
STDOUT.flush
STDIN.read
END2
    park "" "" sh -c 'exec ruby -W0 --disable-gems other.rb 2>stats'
    memory_of "$pid" >before
    is_quiet "$jprof" explain --json "$pid"
    memory_of "$pid" >after
    same "the memory of a Ruby without jemalloc changed" before after
    mv out d
    schema_of explain d
    judge "classes without jemalloc" 'next(r["objects"] for r in d["rows"] if r["part"] == "object_class" and r["name"] == "Cart") == 30000'
    judge "the rows do not add up" 'abs(sum(r["bytes"] for r in top[:-1]) - d["total"]) < 100'
    judge "anonymous memory" '"gc_heap" in parts and row("anonymous") > 5 << 20'
    judge "own classes without jemalloc" '{r["name"] for r in d["rows"] if r.get("own")} == {"Cart", "Tags", "Index", "Note"}'
    # What they have in malloc, beside ObjectSpace.memsize_of less that of an empty one, which has its slot alone: malloc
    # gives up to 16 bytes more for each block.
    memory_of "$pid" >before
    is_quiet "$jprof" explain --json --by=referrer "$pid"
    memory_of "$pid" >after
    same "its memory changed by a look for owners" before after
    mv out d
    schema_of explain d
    of='{r["name"]: (r["objects"], r["bytes"]) for r in sizes}'
    judge "Arrays, Hashes and Strings in malloc: $(grep -E 'Tags|Index|Note' said | tr '\n' ' ')" "all(0.97 * int(said[n]) <= $of[n][1] <= 1.05 * int(said[n]) for n in ('Tags', 'Index', 'Note'))"
    judge "their number" "$of['Tags'][0] == 20000 and $of['Note'][0] == 4001"
    judge "more than there is" 'sum(r["bytes"] for r in d["rows"] if r["part"] == "kind") <= row("anonymous")'
    works "$jprof" snap --referrers "$pid" -o owned.jprof
    works "$jprof" explain --by=referrer owned.jprof
    prints '^ +[0-9.]+ +Ruby data  .*Tags 6\.[0-9], '
    works "$jprof" snap "$pid" -o other.jprof
    tar xOf other.jprof "$pid/heap.json" >heap.json
    cat >arenas.py <<'END2'
import json, re
has = json.load(open("heap.json"))["malloc"]
arenas = [[int(n) for n in re.findall(r"= +(\d+)", part)[:2]] for part in open("stats").read().split("Arena ")[1:]]
unused = sum(system - used for system, used in arenas[1:])
assert has["name"] == "glibc" and has["arenas"] == len(arenas) > 2, (has, len(arenas))
assert abs(has["unused"] - unused) <= 0.02 * unused + 65536 and unused > 1 << 20, (has, unused)
END2
    python3 arenas.py 2>judge || fail "arenas: $(tail -n 1 judge)"
    works "$jprof" explain other.jprof
    prints 'malloc memory \(glibc, [0-9]+ arenas\), and what else was mapped$'
    prints '^[12]  set MALLOC_ARENA_MAX=2 in its environment, or use jemalloc  '
    works "$jprof" diff other.jprof ruby.jprof
    prints 'malloc and all other together$'
    prints_no 'nan'
    unpark
fi

# ---- a jemalloc that is not known is refused with its version ----
cat >unknown.c <<'END2'
const char version_of_it[] = "9.8.7-0-g0123456789012345678901234567890123456789";
END2
${CC:-cc} -shared -fPIC -o libjemalloc.so.9 unknown.c || skip "no compiler here"
park "$tmp/libjemalloc.so.9" "" /bin/sh -c 'echo end; read x'
works "$jprof" explain "$pid"
tr '\n' ' ' <out >one_line
check "the version is not said" grep -q 'Not read: its jemalloc (.*libjemalloc.so.9, 9.8.7-0) has no tables that jprof knows' one_line
prints 'anonymous memory'
unpark

finish
