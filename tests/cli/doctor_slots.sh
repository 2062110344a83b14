#!/bin/sh
# The row slots of jprof doctor, by an agent that says what it is told: of a Ruby whose way of allocating nobody knows yet it is no
# warning, of others it is one.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
python3=$(command -v python3) || skip "no python3 here"
"$python3" -c 'import os; os.memfd_create' 2>/dev/null || skip "this python3 knows no memfd"
mkdir d
of_no_machine "$heaps/jemalloc-5.3.0.heap" >good.heap

for version in 3.2.11:ok 4.0.5:ok 3.3.8:warn 3.1.2:warn; do
    rm -f ready
    "$python3" "$here/src/fake_agent.py" "$tmp/d" "honest,ruby=${version%:*}" "$tmp/good.heap" >target.out 2>target.err </dev/null &
    pid=$!
    started="$started $pid"
    until_true 60 test -e ready || { cat target.err; exit 1; }
    run "$jprof" doctor "$pid"
    prints "^${version#*:} +slots  +.*slots"
    check "another word on ${version%:*}" [ "$(grep -c ' slots  ' out)" = 1 ]
    stop "$pid"
done
prints '^warn +slots  +.*not sampled: not so'
finish
