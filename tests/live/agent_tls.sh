#!/bin/sh
# However much of a thread's stack the program's TLS takes, the agent dumps, in forked children too.
# By hand: agent_tls.sh AGENT SUBJECT KIB...
. "$(dirname "$0")/agent_lib.sh"
shift 2
[ $# -gt 0 ] || set -- 0 236 240 252 1000 4096

# dumps PID WHAT: it says all it can, which goes deepest, and lives.
dumps() {
    reply=$(ask "$1" dump stats)
    check "$2: $(echo "$reply" | cut -c 1-200)" \
        test "$(echo "$reply" | jq -r '"\(.ok) \((.dump // .stats.jemalloc.version) | length > 0)"' | xargs)" = "true true true true"
    check "$2: lives" lives "$1"
}

for kib; do
    ${CC:-cc} -O1 -DTLS_KIB=$kib -pthread -o tls "$here/tls.c" || skip "no compiler here"
    start ./tls
    until_true test -s said
    child=$(cat said)
    started="$started $child"
    dumps "$pid" "$kib KiB of TLS"
    until_true is_announced "$child"
    dumps "$child" "$kib KiB of TLS, in a child"
    end "$child"
    end "$pid"
    check "$kib KiB of TLS: $(ls -A d)" dumps_are_whole
    rm -rf d/* d/.j*
done
finish
