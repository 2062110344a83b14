#!/bin/sh
# Two children of one Ruby run different code, whose stacks get the same numbers in both tables. Each dump alone, both merged, one
# subtracted from the other, and as bundles: no line of the other, and each line has what it keeps.
# usage: sh ruby_children.sh AGENT SUBJECT JPROF
jprof=$(readlink -f "$3")
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here, or none that this C library can load"
command -v jq >/dev/null || skip "no jq here (Debian: jq)"

# 2000 Strings of 3072 bytes each: in the parent, in each child by a line of its own, and in both children by one that both have.
cat >children.rb <<'END'
KEPT = []
TEXT = "def own = 2000.times { KEPT << 's' * 3050 }"
def common = 2000.times { KEPT << "c" * 3050 }
def later = 2000.times { KEPT << "l" * 3050 }
common
2.times do |child|
  fork do
    GC.start
    eval(TEXT, TOPLEVEL_BINDING, "child#{child + 1}.rb")
    own
    later
    sleep 0.05 until File.exist?("go#{child + 1}")
    $stdout.puts Process.pid
    $stdout.flush
    sleep
  end
end
Process.waitall
END
LD_PRELOAD=$agent:$jemalloc MALLOC_CONF=prof:true,lg_prof_sample:12,prof_prefix:$tmp/d/app ruby --disable-gems children.rb >pids 2>cried &
pid=$!
started="$started $pid"
touch go1
until_true eval '[ "$(wc -l <pids)" -ge 1 ]'
touch go2
until_true eval '[ "$(wc -l <pids)" -ge 2 ]'
for child in 1 2; do
    one=$(sed -n "${child}p" pids)
    started="$started $one"
    check "a snapshot of child $child: $(cat snapped 2>&1)" eval '"$jprof" snap "$one" -o child$child.jprof >snapped 2>&1'
done

# rows WHAT OPTION...: "LINE KILOBYTES ..." of the test's own lines by name, in order.
rows() {
    "$jprof" --json --top=0 "$@" 2>said | jq -r '[.rows[] | select(.flat != 0 and (.name | test("child|rb:[0-9]+ Object#(common|later)")))
        | {name: (.name | sub(".*/"; "") | split(" ")[0]), kb: (.flat / 1000 | round)}] | sort_by(.name)[] | "\(.name) \(.kb)"' >rows.out
    tr '\n' ' ' <rows.out
}

# has LINE LEAST MOST: kilobytes. 2000 of 3072 bytes, of which each is sampled with 53 %: 6144 +-130.
has() {
    awk -v line="$1" -v least="$2" -v most="$3" '$1 == line && $2 >= least && $2 <= most { found = 1 } END { exit !found }' rows.out
}

for child in 1 2; do
    other=$((3 - child))
    got=$(rows child$child.jprof)
    check "child $child: $got" eval 'has child$child.rb:1 5500 6800 && has children.rb:3 5500 6800 && has children.rb:4 5500 6800'
    check "child $child has a line of child $other: $got" eval '! grep -q "child$other" rows.out'
done
got=$(rows child1.jprof child2.jprof)
check "merged: $got" eval 'has child1.rb:1 5500 6800 && has child2.rb:1 5500 6800 && has children.rb:3 11200 13400 &&
    has children.rb:4 11200 13400'
got=$(rows --diff_base=child1.jprof child2.jprof)
check "subtracted: $got" eval 'has child1.rb:1 -6800 -5500 && has child2.rb:1 5500 6800'
check "what both have from the parent is no difference: $got" eval '! grep -q "^children.rb:3" rows.out'
check "what both made is little: $got" eval '! grep -q "^children.rb:4" rows.out || has children.rb:4 -1000 1000'
grep '^child' rows.out
finish
