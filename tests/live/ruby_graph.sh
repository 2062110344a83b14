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

# Beside what ObjectSpace.dump_all says of the same objects.
cat >both.rb <<'END'
require 'objspace'
class Item
  def initialize(i) = (@a = "name #{i}" * (i % 9); @b = [i, "tag"]; @c = { id: i })
end
KEPT = (0...3000).to_h { |i| ["key#{i}", Item.new(i)] }
LONG = (0..9).map { |n| Array.new(n, &:to_s) } << (1..5000).to_a
def KEPT.own = 1
Pair = Struct.new(:a, :b)
PAIRS = Array.new(99) { |i| Pair.new(i, i.to_s) }
GC.start
GC.disable
file = File.open('both.ndjson', 'w')
File.write('both', '')
sleep 0.02 until File.exist?('go')
ObjectSpace.dump_all(output: file)
file.close
File.write('done', '')
sleep
END
start ruby both.rb
until_true test -e both
python3 "$here/graphs.py" "$pid" both.ndjson >judged 2>&1
cat judged
check "not what dump_all says" grep -qx equal judged
end "$pid"

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

# Nobody reads it: the child ends.
cat >large.rb <<'END'
KEPT = Array.new(300_000) { |i| "text #{i}" }
LARGE = "x" * 150_000_000
GC.start
File.write('large', '')
sleep 0.01 until File.exist?('write')
step = 0
loop { LARGE.setbyte((step += 4096) % LARGE.bytesize, 65) }
END
start ruby large.rb
until_true test -e large
check "left: $(python3 "$here/graphs.py" "$pid" leave 2>&1)" lives "$pid"
check "left children: $(ps --ppid "$pid" -o pid=)" test -z "$(ps --ppid "$pid" -o pid=)"

# It would have too much for itself: the program writes all its memory anew.
check "copies" test "$(python3 "$here/graphs.py" "$pid" "$PWD/write" 2>&1 | tee word)" = ended
cat word
check "it lives" lives "$pid"
end "$pid"

# The control group has no room, or runs short.
if [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then
    . "$here/group_lib.sh"
    rm -f large write
    wrap=$(in_group 2 400000000 390000000 0)
    start ruby large.rb
    until_true test -e large
    reply=$(field '"\(.ok) \(.graph) \(.graph_why)"' 'dump fds=1 objects=1 graph=1 timeout=20000')
    check "no room: $reply" sh -c 'echo "$1" | grep -qE "^true false its control group.* has 9 MB of memory left, .* may take [0-9]+ MB: raise"' sh "$reply"
    end "$pid"
    rm -f large
    wrap=$(in_group 2 400000000 1000000 0)
    start ruby large.rb
    until_true test -e large
    used=/proc/$pid/root/sys/fs/cgroup/box/memory.current
    check "runs short" test "$(python3 "$here/graphs.py" "$pid" "$used" 2>&1 | tee word)" = ended
    cat word
    check "it lives on" lives "$pid"
    end "$pid"
fi
finish
