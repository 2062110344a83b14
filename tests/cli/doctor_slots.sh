#!/bin/sh
# The row slots of jprof doctor, by an agent that says what it is told: of a Ruby whose way of allocating nobody knows yet it is no
# warning, of others it is one.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_fakes

for version in 3.2.11:ok 4.0.5:ok 3.3.8:warn 3.1.2:warn; do
    fake "honest,ruby=${version%:*}"
    run "$jprof" doctor "$pid"
    prints "^${version#*:} +slots  +.*slots"
    check "another word on ${version%:*}" [ "$(grep -c ' slots  ' out)" = 1 ]
    stop "$pid"
done
prints '^warn +slots  +.*not sampled: not so'
finish
