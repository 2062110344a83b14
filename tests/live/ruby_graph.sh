#!/bin/sh
# The graph of Ruby's objects: what is in it, by a reader of its own; that the program sees nothing of the child that
# writes it; and that none of these hangs, beside threads that are in zlib, sockets and OpenSSL. JPROF_GRAPHS: so many.
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here"
words=
start ruby "$here/graphs.rb"
until_true test -e counts
check "graphs" sh -c 'timeout 900 python3 "$1/graphs.py" "$2" "$3" >graphs 2>&1' sh "$here" "$pid" "${JPROF_GRAPHS:-60}"
cat graphs
check "all whole" grep -qx "${JPROF_GRAPHS:-60} of ${JPROF_GRAPHS:-60} whole, children left: 0" graphs
check "one line of it" test "$(wc -l <graphs)" = 1
touch stop
until_true grep -q "^works on" said
check "the program: $(cat said)" grep -qx 'works on: true, noticed: \[\]' said
check "cried" test ! -s cried

# Where several ractors are, there is a reason instead.
cat >ractors.rb <<'END'
$VERBOSE = nil
Ractor.new { sleep }
File.write('ractors', '')
sleep
END
start ruby ractors.rb
until_true test -e ractors
reply=$(python3 "$here/ask.py" "$pid" 'dump fds=1 objects=1 graph=1 timeout=5000')
check "ractors: $reply" sh -c 'echo "$1" | jq -e "(.graph | not) and .graph_why" >/dev/null' sh "$reply"
end "$pid"
finish
