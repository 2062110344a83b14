#!/bin/sh
# jprof diff --objects: what a real Ruby made after the first snapshot and keeps, by its own count, and which lines made
# it; and that objects which lie where equal ones died are told by samples alone.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_ruby
need_agent
mkdir d
cat >born.rb <<'END'
require 'objspace'
class Item
  attr_reader :b
  def initialize(i) = (@a = i; @b = "item #{i} " * 8)
end
class Shelf
  @items = {}
  class << self
    attr_reader :items
  end
end
CACHE = Array.new(40_000) { |i| Item.new(i) }
def fill(from, to) = from.upto(to - 1) { |i| Shelf.items[i] = Item.new(i) }
# Lines with what they made, by Ruby's own count.
def note_lines
  items = Shelf.items.values
  at = { 4 => items.map(&:b), method(:fill).source_location[1] => items }
  File.write('of_lines', at.map { |line, made| "#{line} #{made.sum { |o| ObjectSpace.memsize_of(o) }}\n" }.join)
end
# Half of it dies, and its slots are free before others of the class are made.
def renew
  20_000.times { |i| CACHE[i * 2] = nil }
  nil
end
def again
  20_000.times { |i| CACHE[i * 2] = Item.new(i) }
  made = Array.new(20_000) { |i| [CACHE[i * 2], CACHE[i * 2].b] }.flatten
  File.write('truth', made.sum { |o| ObjectSpace.memsize_of(o) })
end
File.write('ready', '')
steps = [-> { fill(0, 30_000); note_lines }, -> { fill(30_000, 50_000) }, -> { renew }, -> { again }, -> { GC.compact }]
steps.each_with_index do |step, i|
  sleep 0.02 until File.exist?("go#{i}")
  step.call
  GC.start
  File.write("done#{i}", '')
end
sleep
END
step() {
    touch "go$1"
    until_true 60 test -e "done$1"
}
snap() {
    works "$jprof" snap --gc --objects --symbols=later "$pid" -o "$1.jprof"
}
# objects_of NAME: how many the row of that keeper has
objects_of() {
    sed -n "s/^ *[0-9][0-9.]*  *\([0-9,][0-9,]*\)  [a-z].*$1.*/\1/p" out | head -n 1 | tr -d ,
}
# joined REGEX: on standard output, whose lines are one
joined() {
    tr -s ' \n' ' ' <out >joined
    check "$(cat joined) lacks $1" grep -qE -e "$1" joined
}
JPROF_AGENT=slots=8k
export JPROF_AGENT
start "lg_prof_sample:17,prof_prefix:$tmp/d/app" "$ruby" born.rb
snap a
step 0
snap b
step 1
snap c
works "$jprof" diff --objects a.jprof b.jprof c.jprof
joined "Three snapshots of process .*; what was born after the first and lives in the second and the third: "
joined " objects at least\. By [0-9,]* samples it is "
prints "kept by"
made=$(objects_of '@items of Shelf')
check "of 60,000 Items and Strings $made" test "${made:-0}" -ge 59000 -a "${made:-0}" -le 60600
prints "^ *path  *@items of Shelf > Hash > Item"
prints "^ *made at .*born.rb:4 *[0-9]* % .of [0-9]* samples.$"

# Each line has its class, its keeper, and its bytes within the error.
joined ' 1 \+[0-9.]+ [KM]B \(\+-[0-9.]+\) [^ ]*born.rb:4 what String \(100 %\) kept by a Hash of 50,000 in @items of Shelf ([^ ]*born.rb:7 )?path @items of Shelf > Hash > Item '
python3 - <<'END' || fail "bytes of lines: $(cat out of_lines)"
import re
table = re.search(r"\+-95% *samples *made at *\((..)\)\n(.*?)\n\n", open("out").read(), re.S)
unit = {"KB": 1024, "MB": 1 << 20}[table[1]]
found = re.findall(r"^ *([0-9.]+) +([0-9.]+) +[0-9,]+  (.*)$", table[2], re.M)
rows = {site.rsplit(":", 1)[-1]: (float(born), float(error)) for born, error, site in found}
for line in open("of_lines"):
    line, truth = line.split()
    born, error = (unit * number for number in rows[line])
    print(line, born, error, truth)
    assert 0 < error < 0.5 * born and abs(born - float(truth)) < 2.5 * error
END

what="a terminal"
LC_ALL=C.UTF-8 python3 "$here/on_tty.py" 24x80 "$jprof" diff --objects a.jprof b.jprof c.jprof | tr -d '\r' >out
check "more than 24 lines and a prompt: $(wc -l <out)" [ "$(wc -l <out)" -le 22 ]
prints '^Three snapshots of process '
prints '^1  .*±'
prints '^   kept by  a Hash of 50,000 in @items of Shelf'
prints '^\.\.\. more: --top=0$'
prints_no '\+-'
what="all since the first"
works "$jprof" diff --objects a.jprof c.jprof
made=$(objects_of '@items of Shelf')
check "of 100,000 in all $made" test "${made:-0}" -ge 98000 -a "${made:-0}" -le 100700

# 20,000 Items die and as many are made: those in their slots are not counted, and samples say so.
step 2
step 3
snap d
works "$jprof" diff --objects c.jprof d.jprof
python3 - <<'END' || fail "the estimate: $(cat out)"
import re
text = " ".join(open("out").read().split())
unit = {"KB": 1 / 1024, "MB": 1, "bytes": 1 / 1048576}
size = r"([0-9.]+) (KB|MB|bytes)"
least, least_unit = re.search(size + " in [0-9,]+ objects at least", text).groups()
mean, mean_unit, error, error_unit = re.search(r"samples it is " + size + r" \(\+-" + size, text).groups()
least, mean, error = float(least) * unit[least_unit], float(mean) * unit[mean_unit], float(error) * unit[error_unit]
truth = float(open("truth").read()) / 1048576
print(least, mean, error, truth)
assert least < 0.85 * truth and abs(mean - truth) < 2.5 * error
END

# Where objects were moved, addresses tell nothing; nor do they where the process is another.
step 4
snap e
exits_with 1 "$jprof" diff --objects d.jprof e.jprof
says_like "GC.compact moved objects between the two"
exits_with 1 "$jprof" diff --objects --json c.jprof d.jprof
says_like "objects are compared as text alone"
works "$jprof" snap --gc --symbols=later "$pid" -o counted.jprof
exits_with 1 "$jprof" diff --objects counted.jprof e.jprof
says_like "has no graph of the objects of process"
exits_with 1 "$jprof" diff --objects e.jprof
says_like "give two or three snapshots"
finish
