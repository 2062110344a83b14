#!/bin/sh
# jprof diff: which rows grew, with which verdict, on dumps whose truth samples/cases/README.md has.
. "$(dirname "$0")/lib.sh"
. "$here/diff_lib.sh"

# first TEXT: among the first five lines that are not empty.
first() {
    grep -v '^$' out | head -n 5 >head
    check "not in the first five lines: $1" grep -qE -e "$1" head
}
r31=$cases/ruby31

# ---- growth within its error, with the right owner ----
diff_of "--sysroot=$cases/sysroot" "$r31/cext.0.heap" "$r31/cext.1.heap"
judge "row_new" 'rows[0]["name"] == "row_new" and holds(rows[0], 20.48) and rows[0]["verdict"] == "growing"'
judge "row_new: where" 'rows[0]["file"].endswith("leaky.c") and rows[0]["line"] == 5 and "leaky" in rows[0]["kind"]'
judge "no times" 'd["seconds"] is None and d["memory_last"] is None and d["same_program"]'
run "$jprof" diff "--sysroot=$cases/sysroot" "$r31/cext.0.heap" "$r31/cext.1.heap"
first '^1  GROWING .* row_new  leaky/leaky[.]c:5$'
works "$jprof" diff "--sysroot=$cases/sysroot" --lines "$r31/cext.0.heap" "$r31/cext.1.heap"
first 'row_new.*leaky[.]c:5'
first '^ruby3.1, 2 dumps; no times, so no pace; without GC$'
for kind in fiddle:51.2:fiddle:lib iseq:37:compiled:group string:22.4:String:group hash:16.8:keys:group hash:16.8:Hash:group; do
    IFS=: read -r name mega owner by <<KIND
$kind
KIND
    diff_of "--sysroot=$cases/sysroot" "--by=$by" "$r31/$name.0.heap" "$r31/$name.1.heap"
    judge "$name: whose it is" "row('$owner') in rows[:2] and near(row('$owner')['growth'] / 1e6, $mega, .06)"
    judge "$name: no GC is known of" 'rows[0]["verdict"] == "maybe_garbage" and not d["collected"]'
    diff_of "--sysroot=$cases/sysroot" "--by=$by" --assume-gc "$r31/$name.0.heap" "$r31/$name.1.heap"
    judge "$name: with GC" 'rows[0]["verdict"] == "growing" and d["collected"]'
done

# ---- the page has what is said of a suspect in whole texts, each with its word ----
works "$jprof" diff --html -o page.html "--sysroot=$cases/sysroot" "$r31/nokogiri.0.heap" "$r31/nokogiri.1.heap"
python3 - page.html >details <<'END'
import base64, json, re, sys, zlib
page = zlib.decompress(base64.b64decode(re.search('id="data">([^<]*)<', open(sys.argv[1]).read())[1])).split(b"\0")[0].decode()
for word, text in json.loads(re.search(r'"details": (\[.*?\]\])', page)[1]):
    print(word + ":", text)
END
check "a text is in two: $(cat details)" grep -qx 'from: .*xmlSAX2StartElement > .*xmlNewDocText' details
check "a detail without its word" eval '! grep -q "^:" details'

# ---- nothing grew ----
for n in 1 2; do cp "$r31/cext.1.heap" "idle.$n.heap" && made_at "17900000$n" "idle.$n.heap"; done
works "$jprof" diff "$of_cases" idle.1.heap idle.2.heap
prints 'Nothing grew by more than chance'
prints 'would have been( seen|$)'
prints_no 'growing|leak suspect|maybe garbage'

# ---- Puma without GC ----
p=$cases/puma
diff_of "--sysroot=$cases/sysroot" --by=group "$p/w0.1.jprof" "$p/w0.2.jprof" "$p/w0.3.jprof"
judge "nokogiri" 'row("nokogiri")["verdict"] in ("maybe_garbage", "up_and_down")'
judge "json" 'row("json")["verdict"] in ("maybe_garbage", "up_and_down")'
judge "no other suspect" 'not any(r["verdict"] == "leak_suspect" and "leaky" not in r["name"] for r in rows)'
diff_of "--sysroot=$cases/sysroot" "$p/w0.1.jprof" "$p/w0.2.jprof" "$p/w0.3.jprof"
judge "row_new is not lost" 'holds(row("row_new"), 1.43) and rows[0]["name"] == "row_new" and rows[0]["verdict"] == "leak_suspect"'
run "$jprof" diff "--sysroot=$cases/sysroot" "$p/w0.1.jprof" "$p/w0.2.jprof" "$p/w0.3.jprof"
first '^1  LEAK SUSPECT  [+]1.3 MB [(][+]-1.0[)]  row_new  leaky/leaky[.]c:5$'
for by in function group lib; do
    diff_of "--sysroot=$cases/sysroot" --by=$by "$p/w0.3.jprof" "$p/w0.4.jprof"
    judge "S3 to S4 accuses ($by)" 'not any(r["verdict"] in ("leak_suspect", "growing", "maybe_garbage") for r in rows)'
done
diff_of "--sysroot=$cases/sysroot" --by=group "$p/w0.1.jprof" "$p/w0.2.jprof" "$p/w0.3.jprof" "$p/w0.4.jprof" "$p/w0.5.jprof"
judge "five snapshots" 'len(row("nokogiri")["values"]) == 5 and row("nokogiri")["verdict"] == "up_and_down"'
judge "values add up" 'all(abs(r["values"][-1] - r["values"][0] - r["growth"]) < 2 for r in rows)'
judge "rows add up to malloc" 'abs(sum(r["growth"] for r in rows if r["part"] == "live") - d["malloc"]["growth"]) < 200'

# ---- outside the profile ----
is_quiet "$jprof" diff "$of_cases" "$cases/real/redmine-boot.jprof" "$cases/real/redmine-steady.jprof"
first 'Memory grew from 161 to 268 MB'
first 'GROWING.*freed, kept by jemalloc'
prints_no '^ +beside' # no line keeps what was freed
check "80 columns" awk 'length > 80 && !/jprof/ { bad = 1 } END { exit bad }' out
diff_of "--sysroot=$cases/sysroot" "$cases/real/redmine-boot.jprof" "$cases/real/redmine-steady.jprof"
judge "dirty pages lead" 'rows[0]["part"] == "kept" and near(mb(rows[0]["growth"]), 56.4, .1)'
judge "only free slots grew" 'next(r for r in rows if r["part"] == "gc_heap")["verdict"] == "turnover"'
judge "RSS" 'near(mb(d["memory_last"] - d["memory_first"]), 107.7, .001) and d["memory"] == [d["memory_first"], d["memory_last"]] and d["seconds"] == 131 and d["collected"]'
run "$jprof" diff "$of_cases" "$cases/ruby33/slots.0.jprof" "$cases/ruby33/slots.1.jprof"
prints_no '^ +beside' # the GC's own books are no line that fills its heap
first "GROWING  [+]133 MB  Ruby's GC heap"
first ', 4 seconds between the snapshots'
prints '^ +[+]4[.]7 .* 4[.]8 +GC bookkeeping$' # below the heap, to which it belongs, and nowhere else
prints_no '(growing|suspect).*GC bookkeeping'
prints_no '^   pace|a minute|an hour'
diff_of "--sysroot=$cases/sysroot" "$cases/ruby33/slots.0.jprof" "$cases/ruby33/slots.1.jprof"
judge "130 MB in slots lead" 'rows[0]["part"] == "gc_heap" and near(mb(rows[0]["growth"]), 130, .05)'

# ---- a leak in the rows of many functions, of which none grew beyond chance ----
# spread N: twenty stacks of so many samples each.
spread() {
    python3 -c 'import sys; print("401000=50," + ",".join("%x=%s" % (0x600100 + 0x40 * i, sys.argv[1]) for i in range(20)))' "$1"
}
puma='puma 6.6.0 (tcp://0.0.0.0:1) [shop]'
xml=lib=/opt/lib/libxml2.so.2
for n in 5 10 15; do
    bundle "ruby.$n" "17|5|master|$puma|$(spread $n)|rss=$((90 + n))|ruby=3.1.2|program=/usr/bin/ruby3.1|$xml|why=JPROF_AGENT has ruby=off"
    bundle "server.$n" "17|5||server|$(spread $n)|rss=$((90 + n))|$xml"
done
for later in ruby.15 "ruby.10 ruby.15"; do
    # shellcheck disable=SC2086
    works "$jprof" diff "$nowhere" --assume-gc ruby.5 $later
    first '^1  (LEAK SUSPECT|GROWING)  [+]19[.][0-9] MB [(][+]-[0-9.]+[)]  other libraries: libxml2'
    prints '^To have lines of Ruby:  JPROF_AGENT=ruby=on jprof run -- bundle exec puma$'
    # shellcheck disable=SC2086
    diff_of "$nowhere" --assume-gc ruby.5 $later
    judge "rows are groups, and JSON says it" 'd["grouped"] and rows[0]["name"] == "other libraries: libxml2"'
    # shellcheck disable=SC2086
    run "$jprof" diff "$nowhere" --assume-gc --by=function ruby.5 $later
    prints_no 'LEAK SUSPECT|GROWING'
    # shellcheck disable=SC2086
    run "$jprof" diff "$nowhere" server.5 $(echo "$later" | sed "s/ruby/server/g")
    first 'chance, but all of malloc did: by 19[.][0-9] MB [(][+]-'
    next=$(sed -n 's/^Next:  jprof //p' out)
    prints_no 'lines of Ruby'
done
# shellcheck disable=SC2086
run "$jprof" $next
first '^1  LEAK SUSPECT .* libxml2'
# Nothing else is said where the lines are missing for a reason that no command removes.
bundle other.1 "17|5|master|$puma|$(spread 5)|rss=90|ruby=3.1.2|program=/usr/bin/ruby3.1|why=this Ruby does not export rb_x"
bundle other.2 "17|5|master|$puma|$(spread 9)|rss=95|ruby=3.1.2|program=/usr/bin/ruby3.1|why=this Ruby does not export rb_x"
run "$jprof" diff "$nowhere" other.1 other.2
prints_no 'lines of Ruby: '
run "$jprof" explain "$nowhere" ruby.5 ruby.15
prints '^To have lines of Ruby: JPROF_AGENT=ruby=on jprof run -- bundle exec puma$'

# ---- a page has one number for the growth of all memory ----
works "$jprof" diff "$of_cases" --html -o page.html "$cases/real/redmine-boot.jprof" "$cases/real/redmine-steady.jprof"
check "growth on a page: $(cat judge)" python3 - >judge 2>&1 <<'PYTHON'
import base64, json, re, zlib
page = json.loads(zlib.decompress(base64.b64decode(re.search(r'id="data"[^>]*>([^<]+)<', open("page.html").read())[1])).split(b"\0")[0])["answer"]
rows = {row["part"]: row for row in page["explain"]["rows"] if row["depth"] == 0}
grown = page["diff"]["memory_last"] - page["diff"]["memory_first"]
assert rows["total"]["growth"] == page["explain"]["growth"] == grown, (rows["total"], grown)
assert "(+%.0f MB)" % (grown / 1048576) in page["sentences"][0], page["sentences"]
assert not any("Rss" in text for text in page["sure"]), page["sure"]
for row in page["diff"]["rows"]:
    if row["part"] in rows and row["part"] != "live":
        assert row["growth"] == rows[row["part"]]["growth"], row
PYTHON

# ---- doors ----
works "$jprof" diff "$of_cases" --csv "$r31/cext.0.heap" "$r31/cext.1.heap"
check "CSV" python3 -c 'import csv; r = list(csv.DictReader(open("out"))); assert int(r[0]["growth"]) > 19e6 and r[0]["verdict"] == "growing" and int(r[0]["value2"]) > 19e6'
run "$jprof" diff "$of_cases" --markdown "$r31/cext.0.heap" "$r31/cext.1.heap"
prints '^[|] [+]19.3 [|] 0.5 [|] 0.0 [|] 19.3 [|] growing [|] `'
works "$jprof" diff "$of_cases" -o report.txt "$r31/cext.0.heap" "$r31/cext.1.heap"
check "-o" grep -q 'GROWING' report.txt
run "$jprof" diff "$of_cases" --by=stack "$r31/cext.0.heap" "$r31/cext.1.heap"
prints 'growing .* < .* < '

# ---- the next command is one that works, as it is printed ----
# next_works: it has the word jprof once, and gives a report.
next_works() {
    next=$(sed -n 's/^\(Next\|Look\): *jprof //p' out)
    check "there is a next command" test -n "$next"
    checks=$((checks + 1))
    (eval "\"\$jprof\" $next") >next.out 2>next.err </dev/null || fail "does not work: jprof $next: $(cat next.err)"
}
mkdir -p "it's a root/usr/lib" 'a b'
cp "$r31/cext.0.heap" "a b/it's \$0.heap"
cp "$r31/cext.1.heap" "a b/last.heap"
works "$jprof" diff --sysroot="it's a root" --names=/x,/y --no-packs "a b/it's \$0.heap" "a b/last.heap"
prints "^Next:  jprof diff --html -o growth.html --sysroot='it'.''s a root' --names=/x,/y --no-packs 'a b/it'.''s [\$]0.heap' 'a b/last.heap'\$"
next_works
check "no page" grep -q '^<!DOCTYPE html>' growth.html
run "$jprof" diff "$of_cases" --member=9233 "$cases/real/redmine-boot.jprof" "$cases/real/redmine-steady.jprof"
prints '^Next:  jprof explain --sysroot=/[^ ]* --member=9233 /'
cp "$cases/real/redmine-boot.jprof" ./-boot.jprof
works "$jprof" diff "$of_cases" -- -boot.jprof "$cases/real/redmine-steady.jprof"
prints '^Next:  jprof explain --sysroot=/[^ ]* [.]/-boot.jprof /'
next_works
cp "$jprof" "a program"
run "$jprof" diff "$of_cases" "./a program" "$r31/cext.0.heap" "$r31/cext.1.heap"
prints "^Next:  jprof diff --html -o growth.html --sysroot=/[^ ]* '[.]/a program' /"
# A page has no rows that are stacks.
run "$jprof" diff "$of_cases" --by=stack --assume-gc "$r31/cext.0.heap" "$r31/cext.1.heap"
prints '^Next:  jprof diff --html -o growth.html --sysroot=/[^ ]* --assume-gc /'
exits_with 1 "$jprof" diff --sysroot="it's a root" "a b/last.heap"
says_like "one alone: jprof explain --sysroot='it'.''s a root' 'a b/last.heap'\$"

# ---- what few seconds, and few objects, do not say ----
# heap FILE BYTES OBJECT-SIZE...: a dump with one stack, sampled at 128 KB.
heap() {
    file=$1
    shift
    total=0
    for bytes; do total=$((total + bytes)); done
    printf 'heap_v2/131072\n  t*: %d: %d [0: 0]\n  t0: %d: %d [0: 0]\n@ 0x1001 0x2001\n  t*: %d: %d [0: 0]\n  t0: %d: %d [0: 0]\n@ 0x1002 0x2001\n  t*: 500: 500000 [0: 0]\n  t0: 500: 500000 [0: 0]\n' \
        $(($# + 500)) $((total + 500000)) $(($# + 500)) $((total + 500000)) $# $total $# $total >"$file"
    printf '\nMAPPED_LIBRARIES:\n00001000-00100000 r-xp 00000000 08:01 1 /usr/bin/prog\n' >>"$file"
}
large=104857600
heap one.1.heap
heap one.2.heap
heap one.3.heap $large
for n in 1 2 3; do made_at "17900000$n" "one.$n.heap"; done
run "$jprof" diff "$nowhere" one.1.heap one.3.heap
first '^1  ONE JUMP  [+]100 MB'
first '^   what .*one object of 100 MB$|^The heap grew .* One jump makes'
prints_no 'leak suspect|LEAK|GROWING'
run "$jprof" diff "$nowhere" one.1.heap one.2.heap one.3.heap
prints ' one jump '
prints_no 'leak suspect|LEAK|GROWING'
exits_with 3 "$jprof" check "$nowhere" one.1.heap one.3.heap
heap few.2.heap $large
heap few.3.heap $large $large
run "$jprof" diff "$nowhere" one.1.heap few.2.heap few.3.heap
first '^1  GROWING  [+]200 MB'
prints_no 'leak suspect|LEAK'
# ---- a mean is that of the size class that grew most ----
mixed() {
    printf 'heap_v2/1\n  t*: %d: %d [0: 0]\n' $(($1 + $2 + 10)) $(($1 * 16384 + $2 * 16 + 160))
    printf '@ 0x401000 0x402000\n  t*: %d: %d [0: 0]\n@ 0x401000 0x403000\n  t*: %d: %d [0: 0]\n' "$1" $(($1 * 16384)) "$2" $(($2 * 16))
    printf '@ 0x404000 0x403000\n  t*: 10: 160 [0: 0]\n\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 1 /usr/bin/prog\n'
}
mixed 0 0 >mixed.1.heap
mixed 1000 3000 >mixed.2.heap
run "$jprof" diff "$nowhere" mixed.1.heap mixed.2.heap
prints '^   what .*16[.]0 KB on average, about 1,000 more of them$'
mixed 1000 500000 >mixed.2.heap
run "$jprof" diff "$nowhere" mixed.1.heap mixed.2.heap
prints '^   what .*16[.]0 KB on average, about 1,000 more of them [(]67 %[)]$'

# ---- a line that refreshes what another filled: perhaps, where size class and sum are equal; the verdict stays ----
bundle cache.1 "17|5||server|401000=400/400,402000=5/5"
bundle cache.2 "17|5||server|401000=3/400,402000=405/405"
run "$jprof" diff "$nowhere" cache.1 cache.2
prints '^1  GROWING .*server[+]0x2000'
prints '^   beside   perhaps it refreshes what server[+]0x1000 filled, which lost as much,'
bundle cache.2 "17|5||server|401000=3/400,402000=805/805"
run "$jprof" diff "$nowhere" cache.1 cache.2
prints '^1  GROWING .*server[+]0x2000'
prints_no '^   beside'

# ---- whose it is: the application of a title; what a program was started by ----
for title in 'sidekiq 7.1.2 shop [0 of 5 busy]:shop: Sidekiq' 'sidekiq 7.1.2 shop [5 of 5 busy] stopping:shop: Sidekiq' 'sidekiq 7.1.2  [0 of 5 busy]:sidekiq' \
    'puma 6.6.0 (tcp//0) [shop]:shop: Puma' 'puma 6.6.0 (tcp//0):puma'; do
    for n in 1 2; do bundle "title.$n" "90|1||${title%%:*}|401000=4$n/9$n|program=/usr/bin/ruby3.1"; done
    run "$jprof" diff "$nowhere" title.1 title.2
    first "^${title#*:}[,;]"
done
for started in redis-server:redis-server redis:redis; do
    for n in 1 2; do bundle "started.$n" "90|1||redis-server *:6379|401000=4$n/9$n|program=/usr/bin/redis-check-rdb|started=${started%:*}|rss=$n"; done
    run "$jprof" diff "$nowhere" started.1 started.2
    first "^${started#*:},"
done

# ---- what grew is named where it is no suspect, too ----
heap full.1.heap
heap full.2.heap $large $large $large $large $large $large $large $large $large $large
cp full.2.heap full.3.heap
for n in 1 2 3; do made_at "17900000$n" "full.$n.heap"; done
diff_of "--sysroot=$cases/sysroot" full.1.heap full.2.heap full.3.heap
judge "levelled off" '"Nothing grew" not in d["answer"] and " No leak suspect. What grew most: prog+0x1 +1000 MB (100 %), levelled off." in d["answer"]'
heap full.3.heap $large $large $large $large $large
diff_of "--sysroot=$cases/sysroot" full.1.heap full.2.heap full.3.heap
judge "up and down" '" No leak suspect. What grew most: prog+0x1 +500 MB (100 %), up and down." in d["answer"]'
cp full.2.heap full.1.heap && cp full.2.heap full.3.heap
diff_of "--sysroot=$cases/sysroot" full.1.heap full.2.heap full.3.heap
judge "nothing" '" Nothing grew by more than chance." in d["answer"]'

# The first row is the one that grew most for sure, which is not always the one that grew most: the head names both.
bundle some.1 "17|5||server|401000=50/50,402000=200/200"
bundle some.2 "17|5||server|401000=80/80,402000=240/290"
works "$jprof" diff "$nowhere" some.1 some.2
prints ' What grew most: server[+]0x2000$'
prints '^[+]3[.]8 MB [(]57 %[)], growing'
prints ' The first of 2 growing rows makes 43 %'
bundle some.2 "17|5||server|401000=100/100,402000=240/290"
run "$jprof" diff "$nowhere" some.1 some.2
prints ' What grew most makes'
# What may have grew by chance, and by more: the head says what it leaves out.
run "$jprof" diff "$of_cases" "$cases/puma/w0.2.jprof" "$cases/puma/w0.3.jprof"
prints '^beyond chance: not explained [+]4[.]7 MB .37 %., minor change'
prints '^ *[+]6[.]5  .*too early to tell'
# A long verdict has two blanks behind it, too.
bundle some.2 "17|5||server|401000=60/64,402000=200/200"
run "$jprof" diff "$nowhere" some.1 some.2
prints ' too early to tell  server'

# ---- sizes, rules of one's own, whole stacks on a terminal ----
diff_of "--sysroot=$cases/sysroot" --by=size "$r31/cext.0.heap" "$r31/cext.1.heap"
judge "objects of row_new" 'rows[0]["name"] == "objects of 1 KB" and holds(rows[0], 20.48) and all(r["name"].startswith("objects of ") for r in rows)'
printf '[lists] our data\nfn rb_str_times\nwhat price lists\ndo drop old ones\n' >our.rules
diff_of "--sysroot=$cases/sysroot" --by=group --rules=our.rules --assume-gc "$r31/string.0.heap" "$r31/string.1.heap"
judge "a rule of one's own" 'rows[0]["name"] == "our data: lists" and near(rows[0]["growth"] / 1e6, 22.4, .06) and rows[0]["what"] == "price lists" and rows[0]["do"] == "drop old ones"'
exits_with 3 "$jprof" check "--sysroot=$cases/sysroot" --by=group --rules=our.rules --assume-gc "$r31/string.0.heap" "$r31/string.1.heap"
prints '^1  .* our data: lists$'
printf '[lists] our data\nfun rb_str_times\n' >wrong.rules
exits_with 1 "$jprof" diff "$of_cases" --rules=wrong.rules "$r31/string.0.heap" "$r31/string.1.heap"
says_like '^jprof: wrong.rules:2: is no line of a file of rules'
exits_with 1 "$jprof" diff "$of_cases" --rules=missing.rules "$r31/string.0.heap" "$r31/string.1.heap"
says_like '^jprof: missing.rules: cannot be read as rules'
TERM=dumb LC_ALL=C python3 "$here/on_tty.py" 24x80 "$jprof" diff --by=stack "--sysroot=$cases/sysroot" "$r31/cext.0.heap" "$r31/cext.1.heap" >out
check "a stack has no lines for its callers: $(cat out)" grep -Eq '^          < [^ ]+ < [^ ]+' out
check "a row of a stack has its innermost function: $(cat out)" grep -Eq '^ +[+]19[.][0-9] .* growing +row_new *$' out
check "80 by 24" awk 'length > 80 && !/^Next:/ { bad = 1 } END { exit bad || NR > 24 }' out

# ---- messages on a terminal: words stay whole, and a command has lines of its own ----
cp "$r31/cext.0.heap" a.heap
cp "$r31/cext.1.heap" b.heap
TERM=dumb LC_ALL=C python3 "$here/on_tty.py" 24x80 "$jprof" --sysroot=empty-root a.heap b.heap >out
check "no message of two lines: $(cat out)" grep -q '^jprof: 2 dumps are added up' out
check "80 columns: $(cat out)" awk 'length > 80 && !/^Next:/ { bad = 1 } END { exit bad }' out
TERM=dumb LC_ALL=C python3 "$here/on_tty.py" 24x80 "$jprof" diff --names=/a/directory/with/packs --no-packs b.heap >out
check "the command begins a line: $(cat out)" grep -q '^jprof explain .*b.heap$' out

# ---- what is wrong ----
exits_with 1 "$jprof" diff "$r31/cext.0.heap"
says_like '^jprof: diff takes two snapshots or more'
exits_with 1 "$jprof" diff "$r31/cext.0.heap" nothing.heap
works "$jprof" diff "$of_cases" "$r31/cext.0.heap" "$cases/ruby33/slots.1.jprof"
prints 'have no stack in common|the later one is of'
works "$jprof" diff --help
prints '^usage: jprof diff'
# What all of malloc has, and what lies outside, does not depend on a filter; names of snapshots lose what they share.
works "$jprof" diff "$of_cases" --focus=sqlite "$cases/real/redmine-boot.jprof" "$cases/real/redmine-steady.jprof"
prints '^   [+]11[.]5    2[.]3     97[.]4    108[.]9  all of malloc$'
prints '^  growth  [+]-95%     boot   steady  verdict '
for n in 1 2; do bundle "still.$n" "17|5||server|401000=50|rss=60|time=17900000$n.5"; done
works "$jprof" diff "$nowhere" still.1 still.2
prints '^Memory did not change: '
works "$jprof" diff "$of_cases" "$cases/ruby31/cext.0.heap" "$cases/ruby33/slots.1.jprof"
check "growth of one program from another" eval '! grep -qE "GROWING|LEAK|third snapshot" out'
finish
