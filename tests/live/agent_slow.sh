#!/bin/sh
# A file system that does not answer the agent: nobody who forks or exits waits for it.
. "$(dirname "$0")/agent_lib.sh"
command -v strace >/dev/null || skip "no strace here"
strace -o calls -e inject=getpid:delay_enter=1 true 2>/dev/null || skip "strace may not trace here, or knows no delays"
check "slow" python3 "$here/slow.py" "$subject" "$agent" "$jemalloc" "$tmp/d"
cat check.out
finish
