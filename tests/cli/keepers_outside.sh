#!/bin/sh
# jprof keepers PID of a Ruby that nobody prepared: the same keepers as in ObjectSpace.dump_all of the same objects, with as
# many objects and bytes; and a core, where gdb can make one.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_ruby
find_jemalloc
command -v python3 >/dev/null || skip "no python3 here"
start_bare '' "$ruby" "$here/kept_outside.rb"
works "$jprof" keepers --top=6 "$pid"
mv out outside
lives "$pid"
check "$(head -n 3 outside)" grep -q "^process $pid: " outside
check "its end" grep -q '^Read from outside: ' outside

# The same in a snapshot.
works "$jprof" snap --objects "$pid" -o kept.jprof
works "$jprof" keepers --top=6 kept.jprof
works "$jprof" keepers --class=Item --top=0 kept.jprof
prints 'a Hash of 20,000 in Object'

# One that was chosen by line has none; Strings have no contents.
exits_with 1 "$jprof" keepers --line=x "$pid"
exits_with 1 "$jprof" keepers --strings "$pid"
exits_with 1 "$jprof" keepers 999999999

if command -v gcore >/dev/null && gcore -o core "$pid" >gcore.out 2>&1; then
    works "$jprof" keepers --top=6 "core.$pid"
    mv out of_core
fi
touch go
until_true 60 test -e dumped
works "$jprof" keepers --top=0 dump.ndjson
python3 - <<'END' || fail "$(cat outside out)"
import os, re

def rows(path):
    """{what keeps: (bytes, objects)} of the table."""
    found = {}
    for line in open(path):
        row = re.match(r" *([0-9.]+) +[0-9]+ % +([0-9,]+)  (an? .*?)(?: and others)?\s*$", line)
        if row:
            found[row.group(3)] = (float(row.group(1)), int(row.group(2).replace(",", "")))
    return found

# RubyVM of Ruby 3.3 has 1 MB, which ObjectSpace alone says, and keeps nothing.
truth = dict([row for row in rows("out").items() if row[0] != "a RubyVM in a global variable"][:6])
assert len(truth) == 6 and all(objects > 5000 for _, objects in truth.values()), truth
for path in "outside", "of_core":
    if not os.path.exists(path):
        continue
    for what, (size, objects) in rows(path).items():
        assert what in truth, (path, what, truth)
        assert abs(objects - truth[what][1]) <= 0.05 * truth[what][1], (path, what, objects, truth[what])
        assert abs(size - truth[what][0]) <= 0.15 * truth[what][0] + 0.1, (path, what, size, truth[what])
    assert rows(path).keys() == truth.keys(), (path, rows(path), truth)
END
stop "$pid"

# With another malloc there is a reason in one sentence.
rm -f ready go dumped
launch '' '' "$ruby" "$here/kept_outside.rb"
exits_with 1 "$jprof" keepers "$pid"
check "$(cat err)" grep -q 'with jemalloc alone' err
finish
