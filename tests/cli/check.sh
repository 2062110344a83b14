#!/bin/sh
# jprof check: exit status, limits, the baseline and GitHub's annotations, on dumps whose truth samples/cases/README.md has.
. "$(dirname "$0")/lib.sh"
. "$here/diff_lib.sh"
r31=$cases/ruby31
p=$cases/puma
slots="$cases/ruby33/slots.0.jprof $cases/ruby33/slots.1.jprof"
cext="--sysroot=$cases/sysroot $r31/cext.0.heap $r31/cext.1.heap"
schema() {
    python3 "$root/tests/doors/values.py" schema "$root/docs/internals/check.schema.json" "$1" >judge 2>&1 || fail "schema: $(tail -n 1 judge)"
}
result() {
    run "$jprof" check --json "$@"
    cp out json
    schema json
}
holds() {
    checks=$((checks + 1))
    python3 -c 'import json, sys
d = json.load(open("json"))
sys.exit(0 if eval(sys.argv[1]) else 1)' "$1" || fail "$1"
}

# ---- red, green, and what cannot be told ----
exits_with 3 "$jprof" check "$of_cases" $slots
prints '^FAIL: 1 of [0-9]+ rows grew by more than 5 MB from slots[.]0 to slots[.]1'
prints "^1  [+]133 MB  Ruby's GC heap"
prints '^seen +growth of .* or more'
exits_with 3 "$jprof" check $cext
prints '^1  [+]19.3 MB [(][+]-0.5[)]  row_new  leaky/leaky[.]c:5$'
for n in 1 2; do cp "$r31/iseq.1.heap" "later.$n.heap" && made_at "17900000$n" "later.$n.heap"; done
cp "$r31/cext.1.heap" idle.1.heap && made_at 1790000000.5 idle.1.heap
cp "$r31/cext.1.heap" idle.2.heap && made_at 1790000060.5 idle.2.heap
is_quiet "$jprof" check "$of_cases" idle.1.heap idle.2.heap
prints '^PASS: none of [0-9]+ rows grew by more than 5 MB from idle[.]1 to idle[.]2 '
prints '^seen +growth of [0-9.]+ KB or more'
exits_with 1 "$jprof" check "$of_cases" --max-growth=10KB idle.1.heap idle.2.heap
prints '^CANNOT TELL: one sample for 4 KB is too few for a limit of 10 KB'
prints '^seen +growth of [0-9.]+ KB or more'
exits_with 1 "$jprof" check "$of_cases" "$r31/string.0.heap" "$r31/string.1.heap"
prints '^CANNOT TELL: .* may be garbage, for no GC ran'
exits_with 3 "$jprof" check "$of_cases" --assume-gc "$r31/string.0.heap" "$r31/string.1.heap"
exits_with 1 "$jprof" check "$of_cases" "$r31/cext.0.heap" "$cases/ruby33/slots.1.jprof"
prints '^CANNOT TELL: the two have no stack in common|^CANNOT TELL: the later one is of'
works "$jprof" check "$of_cases" "$cases/real/redmine-boot.jprof" "$cases/real/redmine-steady.jprof"
prints '^PASS: 1 of [0-9]+ rows grew by more than 5 MB, which is accepted or has stopped$'
prints "^          [+]16[.]7 MB  Ruby's GC heap"
exits_with 3 "$jprof" check "$of_cases" --json --github $slots
checks=$((checks + 1))
python3 -c 'import json; json.load(open("out"))' || fail "annotations in JSON"
exits_with 3 "$jprof" check --ignore=row_new --max-total=300% $cext
prints 'all memory [+]19.3 MB, limit 300 %: FAIL'

# ---- another order than that of the times is turned, and said ----
# turns FILES WORDS...: the command says that it is turned, and prints what it does of the files in their order.
turns() {
    wrong=$1 right=$2
    shift 2
    # shellcheck disable=SC2086
    run "$plain" "$@" $right
    cp out in_order
    expected=$status
    cp err err.in_order
    # shellcheck disable=SC2086
    run "$plain" "$@" $wrong
    exits "$expected"
    same "not the output of the right order" in_order out
    check "not said that it was turned, once" [ "$(grep -c '^jprof: the snapshots were not given in the order of their times; they are compared from ' err)" = 1 ]
    grep -v '^jprof: the snapshots were not given in the order' err >err.rest
    same "other words than in the right order" err.in_order err.rest
}
boot=$cases/real/redmine-boot.jprof steady=$cases/real/redmine-steady.jprof
turns "$steady $boot" "$boot $steady" check "$of_cases"
turns "$steady $boot" "$boot $steady" check "$of_cases" --json
turns "$steady $boot" "$boot $steady" diff "$of_cases"
turns "$steady $boot" "$boot $steady" diff "$of_cases" --json
turns "$steady $boot" "$boot $steady" explain "$of_cases"
turns "--diff_base=$steady $boot" "--diff_base=$boot $steady" "$of_cases" --text
turns "--diff_base=$steady $boot" "--diff_base=$boot $steady" "$of_cases" --dot
turns "--diff_base=$steady $boot" "--diff_base=$boot $steady" "$of_cases" --html
turns "$steady $boot" "$boot $steady" diff "$of_cases" --html
for n in 1 2 3 4; do bundle "moment.$n" "17|5||server|401000=${n}00|rss=${n}0|time=1790000000.${n}50"; done
turns "moment.4 moment.2 moment.1 moment.3" "moment.1 moment.2 moment.3 moment.4" diff "$nowhere"
turns "moment.2 moment.1 moment.3" "moment.1 moment.2 moment.3" check "$nowhere" --max-growth=1G
# A copy has a time of its own, and the side-car that of the dump.
for n in 1 2; do
    of_no_machine "$r31/cext.$((n - 1)).heap" >"copied.$n.heap" && made_at "17900000$n.25" "copied.$n.heap"
    touch -d "2020-01-0$((3 - n))" "copied.$n.heap"
done
turns "copied.2.heap copied.1.heap" "copied.1.heap copied.2.heap" check "$nowhere"
# Where nothing tells, the order is as given, and --base subtracts what it names.
is_quiet "$plain" check "$of_cases" "$r31/cext.1.heap" "$r31/cext.0.heap"
run "$plain" "$of_cases" --base="$steady" "$boot"
check "--base was turned" no_line 'another order' err
# As jeprof it does as jeprof.
ln -s "$plain" jeprof
run ./jeprof --text --diff_base=copied.2.heap copied.1.heap
check "jeprof turned it" no_line 'another order' err

# ---- a snapshot is compared with another one ----
refused() {
    is_refused "$plain" "$@"
    says_like "^jprof: .*: is (given twice; a snapshot is compared with a later one, not with itself|the same snapshot as .*: all samples are equal, and nothing says that it was made at another time)$"
}
cp "$boot" again.jprof && cp "$r31/cext.1.heap" again.heap && gzip -c again.heap >again.heap.gz && ln -s "$boot" linked.jprof
"$plain" --proto -o one.pb.gz "$of_cases" "$boot" 2>/dev/null && "$plain" --proto -o other.pb.gz "$of_cases" again.jprof 2>/dev/null || fail "no profile.proto"
for pair in "$boot $boot" "$boot again.jprof" "$boot linked.jprof" "$r31/cext.1.heap again.heap" "again.heap again.heap.gz" \
    "one.pb.gz other.pb.gz" "$boot again.jprof $steady" "moment.1 moment.2 moment.2"; do
    # shellcheck disable=SC2086
    refused check "$of_cases" $pair
    # shellcheck disable=SC2086
    refused diff "$of_cases" $pair
done
refused explain "$of_cases" "$boot" again.jprof
refused "$of_cases" --text --diff_base="$boot" again.jprof
printf 'heap_v2/524288\n  t*: 0: 0 [0: 0]\n\nMAPPED_LIBRARIES:\n' >empty.heap
refused diff "$nowhere" empty.heap empty.heap
# Two processes may hold the same, and are two.
bundle two.1 "17|5||server|401000=100|rss=10"
bundle two.2 "18|9||server|401000=100|rss=10"
works "$plain" check "$nowhere" --max-growth=1G two.1 two.2
prints '^replaced between the two .*17 by 18'
run "$plain" check "$nowhere" --json --max-growth=1G two.1 two.2
check "JSON does not say it" eval 'grep -q "\"notes\": \[\"replaced between the two (17 by 18)" out'
cp out json
schema json

# ---- limits ----
works "$jprof" check --max-growth=25MB $cext
exits_with 3 "$jprof" check --max-growth=25MB --max-total=10MB $cext
prints 'all memory [+]19.3 MB, limit 10 MB: FAIL'
works "$jprof" check --max-growth=25MB --max-total=600% $cext
exits_with 3 "$jprof" check --max-growth=50% --sysroot="$cases/sysroot" "$r31/cext.0.heap" "$r31/cext.1.heap"
prints '^limit +50 % for each row, 1 MB at least [(]--max-growth[)]'
works "$jprof" check --ignore=row_new $cext
for few in '5B:5 bytes' '1500 b:1[.]5 KB' '2KB:2 KB' '0:0 MB'; do
    exits_with 1 "$jprof" check "$of_cases" --max-growth="${few%%:*}" idle.1.heap idle.2.heap
    prints "^CANNOT TELL: one sample for 4 KB is too few for a limit of ${few#*:}; growth of"
done
exits_with 1 "$jprof" check --max-growth=5 $cext
says 'jprof: --max-growth=5: of what? Give a unit, such as 5MB or 5%'
for wrong in 5X -3MB '' MB 0%; do
    exits_with 1 "$jprof" check --max-growth="$wrong" $cext
    says_like "^jprof: --max-growth"
done

# ---- JSON ----
result $cext
exits 3
holds 'd["result"] == "fail" and d["failed"][0]["name"] == "row_new" and d["limit"] == 5 << 20'
result --max-growth=25MB $cext
holds 'd["result"] == "pass" and d["failed"] == [] and d["seen"] == 65536'

# ---- one dip hides no leak, and what is up and down does not pass in silence ----
# dump FILE MB...: a dump with a stack for each, of objects of 1 MB.
dump() {
    file=$1
    shift
    total=0 at=16 stacks=
    for mb; do
        total=$((total + mb)) at=$((at + 1))
        stacks="$stacks@ 0x4$(printf '%02x' $at)000
  t*: $mb: $((mb * 1048576)) [0: 0]
"
    done
    printf 'heap_v2/524288\n  t*: %d: %d [0: 0]\n%s' $total $((total * 1048576)) "$stacks" >"$file"
    printf '\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 1 /usr/bin/prog\n' >>"$file"
}
series() {
    n=0
    rm -f step.*.heap
    for mb; do
        n=$((n + 1))
        dump step.$n.heap "$mb" 150
    done
}
series 100 500 460 900 1300 1700
result "$nowhere" step.?.heap
exits 3
holds '[r["verdict"] for r in d["failed"]] == ["leak_suspect"] and d["failed"][0]["growth"] > 1.5e9'
series 100 1000 700 1300 1000 1600
result "$nowhere" step.?.heap
exits 3
holds '[r["verdict"] for r in d["failed"]] == ["up_and_down"] and d["failed"][0]["growth"] > 1.5e9'
series 100 1000 700 1300 1000 103
result "$nowhere" --max-growth=20MB step.?.heap
exits 0
holds 'd["failed"] == []'

# ---- a row passes by the end of its interval: else nobody can tell, and what would help is said ----
exits_with 1 "$jprof" check "$nowhere" step.?.heap
prints '^CANNOT TELL: prog[+]0x11000 may have grown by more than 5 MB: by -[0-9.]+ to [+][0-9.]+'
prints '^Do:       run it under jprof run, which tells what stayed; or raise --max-growth$'
# accumulated MB CAME WENT...: objects of 16 bytes, of which so many samples came and went since the first dump.
churned() {
    printf 'heap_v2/131072\n  t*: 0: 0 [0: 0]\n' >churn.2.heap
    at=16
    while [ $# -gt 1 ]; do
        at=$((at + 1)) live=$((200 + $1 - $2)) ever=$((200 + $1))
        printf '@ 0x4%02x000\n  t*: %d: %d [%d: %d]\n' $at $live $((live * 16)) $ever $((ever * 16)) >>churn.2.heap
        shift 2
    done
    printf '\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 1 /usr/bin/prog\n' >>churn.2.heap
}
churned 0 0 0 0 && cp churn.2.heap churn.1.heap
churned 100 84 0 0 # 2 MB more, give or take 3.4
exits_with 1 "$jprof" check "$nowhere" churn.1.heap churn.2.heap
prints '^CANNOT TELL: prog[+]0x11000 may have grown by more than 5 MB: by -[0-9]+ to [+]5[0-9]+ KB'
prints '^Do:       sample more often [(]jprof run --sample=1[56][)]; or raise --max-growth to 6 MB$'
works "$jprof" check "$nowhere" --max-growth=6MB churn.1.heap churn.2.heap
churned 40 36 0 0
works "$jprof" check "$nowhere" churn.1.heap churn.2.heap

# ---- parts that are counted: what grew and fails nobody is said; it is shown where all memory fails ----
run "$jprof" check "$of_cases" "$cases/real/redmine-boot.jprof" "$cases/real/redmine-steady.jprof"
prints '^counted   [+]57[.]0 MB  freed, kept by jemalloc: in all memory alone [(]--max-total[)]$'
exits_with 3 "$jprof" check "$of_cases" --max-total=50MB --github "$cases/real/redmine-boot.jprof" "$cases/real/redmine-steady.jprof"
prints '^1  [+]57[.]0 MB  freed, kept by jemalloc [(]not in the profile[)]$'
prints '^::error title=jprof::all memory grew by more than it may; most of that is freed, kept by jemalloc$'
tr '\n' ' ' <out >line && mv line out # wrapped
prints '^app: Puma, 2 minutes between the snapshots FAIL: all memory grew by 108 MB from redmine-boot to redmine-steady [(]2 minutes[)], and may by 50 MB; what grew most is freed, kept by jemalloc [(]not in the profile[)], [+]57[.]0 MB, 53 % of that '
prints 'rows      1 of [0-9]+ rows grew by more than 5 MB, which is accepted or has stopped '

# ---- a percentage of nothing is 1 MB ----
series 0 200
result "$nowhere" --max-growth=5% step.?.heap
exits 3
holds '[r["values"][0] for r in d["failed"]] == [0]'
cp step.2.heap step.3.heap && made_at 1790000000 step.2.heap && made_at 1790000060 step.3.heap
result "$nowhere" --max-growth=5% step.2.heap step.3.heap
exits 0

# ---- what all memory may grow by does not depend on what can be said of rows ----
exits_with 3 "$jprof" check "$of_cases" --max-total=10MB "$r31/string.0.heap" "$r31/string.1.heap"
prints '^FAIL: all memory grew by [0-9.]+ (MB|KB) from string[.]0 to string[.]1, and may by 10 MB;'
prints '^rows      [0-9]+ of [0-9]+ rows grew by more than 5 MB and may be garbage$'
exits_with 3 "$jprof" check --max-growth=10KB --ignore=row_new --max-total=300% $cext
prints '^FAIL: all memory grew'

# ---- rows that lie outside are judged, and counted, where they can fail: of two snapshots Ruby's GC heap alone ----
run "$jprof" diff "$of_cases" --json --by=function $slots
cp out rows.json
result "$of_cases" $slots
holds 'd["judged"] == sum(r["part"] in ("live", "gc_heap") and not r["of_gc_heap"] for r in json.load(open("rows.json"))["rows"]) < len(json.load(open("rows.json"))["rows"])'
holds 'any(r["part"] != "live" for r in d["failed"])'

# ---- the baseline: without line numbers ----
works "$jprof" check --by=line --update-baseline $cext
check "no baseline" test -s jprof-baseline.json
check "a line number" eval '! grep -q "leaky.c:5" jprof-baseline.json'
check "key" grep -q '"file": "/srv/app/ext/leaky/leaky.c", "method": "row_new", "bytes": 20199631' jprof-baseline.json
works "$jprof" check --by=line $cext
prints '^accepted  1 row, by jprof-baseline.json'
sed -i 's/20199631, "comment": ""/1000, "comment": "known"/' jprof-baseline.json
exits_with 3 "$jprof" check --by=line $cext
run "$jprof" check --by=line --update-baseline $cext
check "the comment stays" grep -q '"comment": "known"' jprof-baseline.json
works "$jprof" check "$of_cases" --by=line later.1.heap later.2.heap
prints '^unused +row_new'
exits_with 1 "$jprof" check --baseline=none.json $cext
says_like 'none.json: cannot be read'
echo '[]' >jprof-baseline.json
exits_with 1 "$jprof" check $cext
says_like 'is no baseline'
rm jprof-baseline.json

# ---- GitHub ----
GITHUB_STEP_SUMMARY=$tmp/summary.md exits_with 3 "$jprof" check --github --by=line $cext
prints '^::error file=/srv/app/ext/leaky/leaky.c,line=5,title=jprof%3A [+]19.3 MB::row_new '
check "summary" grep -q '^| [+]19.3 |' summary.md
GITHUB_STEP_SUMMARY=/dev/full exits_with 1 "$jprof" check --github --by=line $cext
says 'jprof: /dev/full: cannot be written: No space left on device'
works "$jprof" check --help
prints '^usage: jprof check'
# ---- the first screen fits, and its commands work ----
long="a name of a snapshot that is so long that the first line would not fit.heap"
cp "$r31/cext.0.heap" "$long"
exits_with 3 "$jprof" check "--sysroot=$cases/sysroot" --by=lib --assume-gc "$long" "$r31/cext.1.heap"
check "80 columns" awk '/^Look/ { next } length > 80 { bad = 1 } END { exit bad }' out
prints '^FAIL: 1 of [0-9]+ rows grew'
prints "^Look:     jprof diff --html -o growth.html --sysroot=/.* --by=lib --assume-gc 'a name of .*[.]heap' /.*/cext[.]1[.]heap\$"
look=$(sed -n 's/^Look: *jprof//p' out)
works sh -c "\"\$0\" $look" "$jprof"
says_like 'jprof: the page holds the names of functions and files'
check "no page" grep -q '^<!DOCTYPE html>' growth.html
finish
