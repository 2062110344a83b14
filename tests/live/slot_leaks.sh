#!/bin/sh
# Leaks of Ruby's own objects, on the lines that made them: slot_leaks.py.
# usage: sh slot_leaks.sh AGENT SUBJECT JPROF
jprof=$(readlink -f "$3")
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no Ruby here"
python3 "$here/slot_leaks.py" "$jprof" "$agent" "$jemalloc" >said 2>&1
rc=$?
cat said
check "leaks: $(grep ': .*;\|: .*line: ' said)" [ "$rc" -eq 0 ]
finish
