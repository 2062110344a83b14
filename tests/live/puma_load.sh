#!/bin/sh
# A Puma under load, restarted both ways again and again, while jprof snap takes its dumps; see puma_load.py.
# usage: puma_load.sh AGENT SUBJECT JPROF [OPTIONS OF puma_load.py]
jprof=$(readlink -f "$3") # the library leaves this directory
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here"
command -v puma >/dev/null || skip "no puma here (Debian: puma)"
shift 3
[ $# -gt 0 ] || set -- --snaps=6 --seconds=6
unset JPROF_AGENT
for way in --rate=200 --phased; do
    echo "$way:"
    python3 "$here/puma_load.py" "$jprof" "$agent" "$jemalloc" "$way" "$@" || failures=$((failures + 1))
    checks=$((checks + 1))
done
finish
