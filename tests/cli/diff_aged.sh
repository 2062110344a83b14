#!/bin/sh
# jprof diff and check of two dumps whose samples have ages and tags: two are enough for a leak suspect, whose block says since when
# and for which route. aged.py makes the dumps, and has their truth.
. "$(dirname "$0")/lib.sh"
. "$here/diff_lib.sh"
python3 "$here/aged.py" || fail "no dumps were made"

diff_of "$nowhere" --assume-gc early.heap late.heap
judge "ages" 'd["ages"] and d["collected"]'
judge "leak" 'row("price_list.rb:42")["verdict"] == "leak_suspect" and d["rows"][0]["name"].startswith("app/services/price_list.rb:42")'
judge "full" 'row("cache.rb")["verdict"] == "levelled_off"'
judge "a queue with a limit" 'row("queue.rb")["verdict"] == "turnover" and row("queue.rb")["kept"] == 0'
judge "since the start" 'row("boot.rb")["verdict"] == "startup" and row("boot.rb")["growth"] == 0'
judge "one jump" 'row("import.rb")["verdict"] == "one_jump"'
judge "what began a short time ago is no turnover" 'row("audit.rb")["verdict"] == "growing" and row("audit.rb")["shape"] == "turnover"'
judge "tags" '[(t["tag"], round(t["growth"] / row("price_list.rb")["growth"], 2)) for t in row("price_list.rb")["tags"]] == [("route GET /products/:id", .6), (None, .2), ("job PriceSyncJob", .2)]'
judge "since when" 'abs(row("price_list.rb")["begun"] - (72 - 1 - 2) * 600) <= 1200 and abs(row("import.rb")["begun"] - 33 * 600) <= 600'
judge "ages add up" 'all(abs(sum(a["bytes"] for a in r["ages"]) - r["values"][-1]) < 20 for r in d["rows"] if r["part"] == "live")'
works "$jprof" diff "$nowhere" --assume-gc early.heap late.heap
grep -v '^$' out | head -n 5 >head
check "not in the first five lines" grep -Eq '^1  LEAK SUSPECT  [+]30[.][0-9] MB [(][+]-[0-9.]+[)]  app/services/price_list.rb:42 PriceList#load$' head
prints '^   for      GET /products/:id 60 %, no tag 20 %, PriceSyncJob 20 %$'
prints '^   from     app/controllers/products_controller.rb:18 ProductsController#show$'
prints '^   age      begun 11[.][0-9] hours ago; under 1 h [89] %, 1 to 6 h 4[0-9] %, over 6 h [45][0-9] %$'
# What has a part from the startup did not begin when the rest came.
works "$jprof" diff "$nowhere" --assume-gc started.early.heap started.late.heap
prints '^   age      from startup 2[0-9] %; the rest came in the last 11[.][0-9] hours: under 1 h( [67] %,|$)'
prints_no 'begun'
# On a terminal the file and the line of a name are there, whatever follows them.
TERM=dumb python3 "$here/on_tty.py" 27x80 "$jprof" diff --sysroot=empty-root --assume-gc early.heap late.heap >out
check "a namespace in the place of the line: $(cat out)" grep -Eq ' one jump  *lib/import[.]rb:31 *$' out
# Three are judged as before, with ages, too.
for file in late.heap late.heap.json late.heap.ruby; do sed 's/"late/"later/; s/"time": /"time": 1/' $file >"later${file#late}"; done
diff_of "$nowhere" --assume-gc early.heap late.heap later.heap
judge "nothing came since" 'row("price_list.rb")["verdict"] == "levelled_off"'

# Without the table nothing says when: two are too few.
mkdir bare
cp early.heap late.heap bare/
diff_of "$nowhere" --assume-gc bare/early.heap bare/late.heap
judge "no ages" 'not d["ages"] and not any(r["verdict"] == "leak_suspect" for r in d["rows"]) and all(r["ages"] is None and r["shape"] is None for r in d["rows"])'
# Lines have 32 bits; a float has 24.
mkdir long
cp early.heap late.heap early.heap.json late.heap.json long/
for file in early.heap.ruby late.heap.ruby; do sed 's/^n 5 0 5 31 /n 5 0 5 16777217 /' $file >long/$file; done
diff_of --assume-gc long/early.heap long/late.heap
judge "a long file" 'row("import.rb")["line"] == 16777217'
# Of another process ages say nothing of growth.
mkdir other
for file in late.heap late.heap.json late.heap.ruby; do sed 's/^process 17 5/process 18 6/; s/"pid": 17, "start_ticks": 5/"pid": 18, "start_ticks": 6/' $file >other/$file; done
diff_of "$nowhere" --assume-gc early.heap other/late.heap
judge "another process" 'not d["ages"] and d["replaced"] == 1'

# ---- rows by tag ----
diff_of "$nowhere" --assume-gc --by=tag early.heap late.heap
judge "by tag" 'row("route GET /products/:id")["verdict"] == "leak_suspect" and row("job PriceSyncJob")["growth"] * 2.9 < row("route GET /products/:id")["growth"]'
run "$jprof" diff "$nowhere" --by=tag --assume-gc early.heap late.heap
prints '^  growth  .* allocated for '
exits_with 1 "$jprof" diff "$nowhere" --by=tag bare/early.heap bare/late.heap
says_like 'no stack of the dump has a tag'
# A snapshot without tags among those that have some.
sed 's/ 0x7e0000080003//; s/ 0x7e0000080005//' early.heap >untagged.heap
cp untagged.heap untagged.2.heap && made_at 1700000000 untagged.heap && made_at 1700000060 untagged.2.heap
diff_of "$nowhere" --assume-gc --by=tag untagged.heap untagged.2.heap late.heap
judge "no tag at first" 'row("route GET /products/:id")["values"][0] == 0'

# ---- check ----
exits_with 3 "$jprof" check "$nowhere" --assume-gc early.heap late.heap
prints '^1  [+]30[.][0-9] MB [(][+]-[0-9.]+[)]  app/services/price_list.rb:42 PriceList#load$'
prints '^   for      GET /products/:id 60 %'

# ---- one fall hides no leak that its ages show, and it did not grow in each step ----
works "$jprof" diff "$nowhere" --assume-gc early.heap middle.heap late.heap
prints '^1  LEAK SUSPECT .* app/services/price_list.rb:42 PriceList#load$'
prints '^   (pace|steps) .*: by its ages$'
prints_no 'grew in each step'
finish
