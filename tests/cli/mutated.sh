#!/bin/sh
# Damaged object files of all kinds, by tests/fuzz/mutated.py: root's jprof snap of a process that has them mapped, a bundle of
# its dump, and the reports of both lose names at most, and say whose. By hand: JPROF_MUTATED=ROUNDS (1) of JPROF_MUTATED_FILES
# (30) libraries each; JPROF_MUTATED_FIRST=NUMBER (0) for others than those, or for one again.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_agent
for tool in python3 objcopy strip xz "${CC:-cc}" "${CXX:-c++}"; do
    command -v "$tool" >/dev/null || skip "no $tool here"
done
mutated="$root/tests/fuzz/mutated.py"
python3 -B "$mutated" build files "${JPROF_MUTATED_FILES:-30}" || skip "the compiler cannot make them"
JPROF_AGENT=for=all
export JPROF_AGENT
start "lg_prof_sample:0" files/holder "$tmp"/files/*.so
what="damaged files"
check "a round failed" python3 -B "$mutated" rounds files "$jprof" "$pid" "${JPROF_MUTATED_FIRST:-0}" "${JPROF_MUTATED:-1}"
lives "$pid"
finish
