#!/bin/sh
# The four leaks of docs/famous.md, as that page has them: `jprof diff` of two snapshots names file and line in its first five
# lines, and `jprof keepers` who keeps it. Of the blocks that Fiddle gave the amount is known: 50,000 of 1024 bytes.
# usage: sh famous.sh AGENT SUBJECT JPROF
jprof=$(readlink -f "$3")
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here, or none that this C library can load"
JPROF_AGENT_LIB=$agent JPROF_JEMALLOC=$jemalloc HOME=$tmp
export JPROF_AGENT_LIB JPROF_JEMALLOC HOME
mkfifo orders
exec 3<>orders
said=0

# tell WORD N: until the program has said it so often
tell() {
    until_true eval '[ "$(grep -c "^'"$1"'" out)" -ge '"$2"' ]' || { cat err; echo "$name.rb does not say $1"; exit 1; }
}
# leak NAME LIBRARY...: early.jprof, late.jprof and what diff says of them; not where the program's libraries are missing
leak() {
    name=$1
    shift
    for library; do
        ruby -e "require '$library'" 2>/dev/null || { echo "no $library for this ruby: $name.rb was not run"; return 1; }
    done
    rm -f ./*.jprof out
    cp "$here/../../samples/famous/$name.rb" .
    "$jprof" run --dir="$tmp/d" -- ruby "$name.rb" <orders >out 2>err &
    pid=$!
    started="$started $pid"
    tell ready 1
    "$jprof" snap --gc "$pid" -o early.jprof >snap.out 2>&1 || { cat snap.out; exit 1; }
    echo >&3
    tell "done" 1
    "$jprof" snap --gc --objects "$pid" -o late.jprof >snap.out 2>&1 || { cat snap.out; exit 1; }
    kill -TERM "$pid"
    wait "$pid" 2>/dev/null
    "$jprof" diff early.jprof late.jprof >grown 2>grown.err
    grep -v '^$' grown | head -n 5 >answer
    said=$((said + 1))
}
line_of() { # TEXT: its number
    grep -nF "$1" "$name.rb" | cut -d : -f 1
}

if leak fiddle fiddle; then
    at="fiddle.rb:$(line_of 'Fiddle.malloc(1024) }')"
    check "fiddle: diff does not begin with $at" grep -qE "^1  GROWING .*$at Object#leak" answer
    "$jprof" diff --json early.jprof late.jprof >json
    # shellcheck disable=SC2016
    check "fiddle: not 50,000 blocks of 1024 bytes by five standard errors" jq -e --arg at "$at" '.rows[0] |
        (.name | contains($at)) and ((.growth - 51200000) | fabs) < 5 * .error' json
fi
if leak iseqs; then
    check "iseqs: diff does not name the line" grep -qE "^1  GROWING .*iseqs.rb:$(line_of 'module_eval(') Views.compile" answer
    check "iseqs: diff does not say that it is compiled code" grep -qF "Ruby's own code" grown
fi
if leak statements sqlite3; then
    check "statements: diff does not name prepare" grep -qE '^1  GROWING .*SQLite3::Database#prepare' answer
    check "statements: diff does not name the line" grep -qE "^   from +statements.rb:$(line_of '@db.prepare')" answer
    "$jprof" keepers late.jprof >kept
    check "statements: keepers does not name the pools" grep -qF 'StatementPool (10 of them)' kept
fi
if leak subscribers active_support; then
    check "subscribers: diff does not name the line" grep -qE "^1  GROWING .*subscribers.rb:$(line_of "'x' * 4_000") Logging#call" answer
    "$jprof" keepers late.jprof >kept
    check "subscribers: keepers does not name who keeps it" grep -q '^A Hash of 10 in ActiveSupport::Notifications::Fanout @string_subscribers keeps' kept
fi
check "only $said of four were run" [ "$said" -ge 2 ]
finish
