#!/bin/sh
# Two bundles of a service are compared process by process: what was replaced in between, and what else has nothing to do
# with each other, is one line and stands in JSON. The bundles are made here, by docs/internals/bundle.md.
. "$(dirname "$0")/lib.sh"
. "$here/diff_lib.sh"

# row ADDRESS KEY: of the JSON report out
row() {
    python3 -c 'import json, sys
rows = [r for r in json.load(open("out"))["rows"] if r["name"].endswith(sys.argv[1])]
print(eval("rows[0]" + sys.argv[2]) if rows else "no row")' "$1" "$2"
}
compared() {
    python3 -c 'import json; print(json.dumps(json.load(open("out")).get("compared"), separators=(",", ":")))'
}
# a line on standard error
warns() {
    check "standard error lacks: $1 ($(cat err))" grep -qE -e "$1" err
}
is_silent_of() {
    check "standard error has: $1" eval '! grep -qE -e "$1" err'
}
unlike='replaced between|not the same processes|no stack in common|a difference of two programs|is of Ruby'
puma='puma 6.6.0 (tcp://0.0.0.0:1) [shop]'
w0='puma: cluster worker 0: 17 [shop]'
w1='puma: cluster worker 1: 17 [shop]'

# ---- the same processes: nothing is said, and what did not change has no error ----
bundle early "17|1|master|$puma|401000=400/900" "21|5|worker|$w0|401100=300/300,401200=50/60" "22|6|worker|$w1|401100=300/300"
bundle late "17|1|master|$puma|401000=400/900" "21|5|worker|$w0|401100=300/300,401200=90/100" "22|6|worker|$w1|401100=300/300"
works "$jprof" "$nowhere" --json --addresses --diff_base=early late
is_silent_of "$unlike"
check "JSON: $(compared)" [ "$(compared)" = '{"same":3,"replaced":[],"only_now":[],"only_base":[],"common_stacks":true}' ]
check "what did not change: $(row 1100 '["flat"]')" [ "$(row 1100 '["flat"]')" = "no row" ]
check "what grew: $(row 1200 '["flat"]')" awk -v is="$(row 1200 '["flat"]')" 'BEGIN { exit !(is > 3.9e6 && is < 4.1e6) }'

# ---- a worker was replaced: by its number it meets the one before; those that stayed keep their errors ----
bundle late "17|1|master|$puma|401000=400/900" "45|99|worker|$w0|401100=310/320" "22|6|worker|$w1|401100=300/300"
works "$jprof" "$nowhere" --json --addresses --diff_base=early late
warns '^jprof: replaced between the two \(worker 0: 21 by 45\): what the old one held is gone and what the new one holds has come, which is no growth of one process$'
check "more than one line of it" [ "$(grep -cE "$unlike" err)" = 1 ]
check "JSON: $(compared)" [ "$(compared)" = '{"same":2,"replaced":[{"base":"21","now":"45"}],"only_now":[],"only_base":[],"common_stacks":true}' ]
check "the master did not change: $(row 1000 '["flat"]')" [ "$(row 1000 '["flat"]')" = "no row" ]
# 310 samples less 300 others: independent, sqrt(610) samples of 100.5 KB; not those of the worker that stayed.
check "the error of what was replaced: $(row 1100 '["flat_range"]["error"]')" \
    awk -v is="$(row 1100 '["flat_range"]["error"]')" 'BEGIN { exit !(is > 2.40e6 && is < 2.60e6) }'
run "$jprof" "$nowhere" --errors --addresses --diff_base=early late
warns '^jprof: errors are upper bounds: processes were replaced between the two'
is_silent_of 'prof_accum'

# ---- all workers replaced, a new one more: by role, a line each ----
bundle late "17|1|master|$puma|401000=400/900" "45|99|worker|$w0|401100=310/320" "46|99|worker|$w1|401100=310/320" \
    "47|99|worker|puma: cluster worker 2: 17 [shop]|401100=310/320"
run "$jprof" "$nowhere" --json --addresses --diff_base=early late
warns '^jprof: replaced between the two \(worker 0: 21 by 45, worker 1: 22 by 46\): '
warns '^jprof: not the same processes \(only in the later one: 47 \(worker\); only in the base: none\): all that these hold counts as new, or as gone$'
check "JSON: $(compared)" [ "$(compared)" = '{"same":1,"replaced":[{"base":"21","now":"45"},{"base":"22","now":"46"}],"only_now":["47"],"only_base":[],"common_stacks":true}' ]
run "$jprof" "$nowhere" --json --addresses --diff_base=late early
warns 'only in the later one: none; only in the base: 47 \(worker\)'
check "what is gone: $(row 1100 '["flat"]')" awk -v is="$(row 1100 '["flat"]')" 'BEGIN { exit !(is < -30e6) }'

# ---- the whole service was started anew: pid 17 is another process ----
bundle late "17|70|master|$puma|401000=400/900" "18|71|worker|$w0|401100=310/320" "19|71|worker|$w1|401100=310/320"
run "$jprof" "$nowhere" --json --addresses --diff_base=early late
warns '^jprof: replaced between the two \(master: 17 by 17, worker 0: 21 by 18, worker 1: 22 by 19\): '
# ... and by one role alone
run "$jprof" "$nowhere" --json --addresses --member=master --diff_base=early late
warns '^jprof: replaced between the two \(master: 17 by 17\): '

# ---- another program, another Ruby ----
bundle late '90|1||sidekiq 7.1.2 shop [0 of 5 busy]|401000=400/900'
run "$jprof" "$nowhere" --json --addresses --diff_base=early late
warns '^jprof: the later one is of sidekiq and the base of puma: a difference of two programs is no growth$'
bundle early '90|1||sidekiq 7.1.2 shop [0 of 5 busy]|401000=400/900|ruby=3.1.2'
bundle late '91|7||sidekiq 7.1.2 shop [1 of 5 busy]|401000=400/900|ruby=3.3.8'
run "$jprof" "$nowhere" --json --addresses --diff_base=early late
warns '^jprof: the later one is of Ruby 3.3.8 and the base of Ruby 3.1.2: what Ruby itself allocates is not to be compared$'
warns '^jprof: replaced between the two \(90 by 91\): '

# ---- no stack in common ----
bundle early "17|1|master|$puma|401000=400/900"
bundle late "17|1|master|$puma|401500=400/900"
run "$jprof" "$nowhere" --json --addresses --diff_base=early late
warns '^jprof: the two have no stack in common'
check "JSON: $(compared)" [ "$(compared)" = '{"same":1,"replaced":[],"only_now":[],"only_base":[],"common_stacks":false}' ]

# ---- plain dumps of two programs, which have the loader's stacks in common, and two of one ----
run "$jprof" "$of_cases" --diff_base="$cases/ruby31/string.0.heap" "$heaps/jemalloc-5.3.0.heap"
warns '^jprof: the later one is of threads and the base of ruby3[.]1: a difference of two programs is no growth$'
run "$jprof" diff "$of_cases" "$cases/ruby31/string.0.heap" "$heaps/jemalloc-5.3.0.heap"
check "diff does not say that they are of two programs" grep -q 'of threads and the base of ruby3[.]1' out
run "$jprof" diff "$of_cases" "$cases/ruby31/string.0.heap" "$cases/ruby31/string.1.heap"
prints_no 'two programs'
run "$jprof" "$of_heaps" --diff_base="$heaps/jemalloc-5.3.0.heap" "$heaps/jemalloc-5.3.1.heap"
check "one program is called two" no_line 'two programs' err

# ---- a member that is asked for, and a thread, need not be on both sides ----
bundle both "17|1|master|$puma|401000=400/900" "21|5|worker|$w0|401100=300/300"
exits_with 1 "$jprof" "$nowhere" --json --addresses --member=worker --diff_base=early both
warns '^jprof: early: has no member worker; it has 17 \(master\)$'
cp both again
exits_with 1 "$jprof" "$nowhere" --json --addresses --thread=t7 --diff_base=both again
warns '^jprof: no thread t7 in again'

# ---- dumps with a side-car know their process, too; without any, nobody knows ----
bundle x.tar '17|1|||401000=400/900' && tar xf x.tar 17/dump.heap && cp 17/dump.heap a.1.heap && sed 's/: 400:/: 500:/' a.1.heap >a.2.heap
for n in 1 2; do
    printf '{"jprof_agent":1,"dump":"a.%s.heap","pid":%s,"start_ticks":5,"boot_id":"b","program":"/opt/app/server"}' $n $n >a.$n.heap.json
done
run "$jprof" "$nowhere" --json --addresses --diff_base=a.1.heap a.2.heap
warns '^jprof: replaced between the two \(1 by 2\): '
rm a.1.heap.json
run "$jprof" "$nowhere" --json --addresses --diff_base=a.1.heap a.2.heap
is_silent_of "$unlike"
check "JSON: $(compared)" [ "$(compared)" = 'null' ]
finish
