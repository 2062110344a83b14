#!/bin/sh
# The row slots of jprof doctor, by an agent that says what it is told: of each Ruby whose objects it could sample it is a
# warning where it does not.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_fakes

for version in 4.0.5 3.3.8 3.2.11 3.1.2; do
    fake "honest,ruby=$version"
    run "$jprof" doctor "$pid"
    prints '^warn +slots  +.*not sampled: not so'
    check "another word on $version" [ "$(grep -c ' slots  ' out)" = 1 ]
    stop "$pid"
done
finish
