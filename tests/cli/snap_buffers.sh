#!/bin/sh
# jprof snap --objects and jprof keepers: lines whose memory is buffers of objects, and who keeps them. The truth is the
# program's own: __LINE__ and the constant.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_ruby
need_agent
mkdir d
# A String is copied somewhere else, as html_escape does it: then a third one has its buffer.
cat >buffers.rb <<'END'
require 'stringio'
class Escaper
  def escape(text) = text.dup
end
KEPT = {}
LISTS = []
TABLES = []
TEXTS = []
def strings(n)
  n.times { |i| KEPT[i] = Escaper.new.escape((i.to_s.rjust(10) * 1200) + 'x') } ; $strings = __LINE__
end
def arrays(n)
  n.times { |i| LISTS << Array.new(3000, i) } ; $arrays = __LINE__
end
def tables(n)
  n.times do |i|
    t = {}
    500.times { |k| t[k] = i } ; $tables = __LINE__
    TABLES << t
  end
end
# StringIO's own record is malloc's, and Ruby counts it nowhere.
def data(n)
  n.times { TEXTS << StringIO.new } ; $data = __LINE__
end
strings(500)
GC.start
File.write('ready', '')
sleep 0.02 until File.exist?('go')
strings(2500)
arrays(1500)
tables(1000)
data(20_000)
GC.start
File.write('lines', "#{$strings} #{$arrays} #{$tables} #{$data}")
File.write('done', '')
sleep
END
# joined REGEX: on standard output, whose lines are one
joined() {
    tr -s ' \n' ' ' <out >joined
    check "$(cat joined) lacks $1" grep -qE -e "$1" joined
}
most='(9[0-9]|100) %'
start "lg_prof_sample:17,prof_prefix:$tmp/d/app" "$ruby" buffers.rb
works "$jprof" snap --gc --symbols=later "$pid" -o first.jprof
touch go
until_true 60 test -e done
read -r strings arrays tables data <lines
works "$jprof" snap --gc --objects --symbols=later "$pid" -o last.jprof
lives "$pid"
has last.jprof '.*/buffers'

# The line that allocated most of what a keeper keeps is the one of the buffers, not that of the copies' slots.
works "$jprof" keepers --top=0 last.jprof
joined " an Array of 1,500 in LISTS and others: [0-9.]* MB path [^%]* made at buffers.rb:$arrays in arrays $most "
joined " a Hash of 2,500 in KEPT and others: [0-9.]* MB path [^%]* made at buffers.rb:$strings in strings $most "

# kept_by LINE KEEPER: so most of what the line allocated is kept, and its bytes are about those that it has
kept_by() {
    works "$jprof" keepers "--line=buffers.rb:$1\$" last.jprof
    joined " $2 and others keeps $most of it "
}
kept_by "$strings" 'A Hash of 2,500 in KEPT'
kept_by "$arrays" 'An Array of 1,500 in LISTS'
kept_by "$tables" 'An Array of 1,000 in TABLES'
kept_by "$data" 'An Array of 20,000 in TEXTS'

# In diff each line that grew says its keeper.
works "$jprof" diff first.jprof last.jprof
joined " buffers.rb:$arrays Object#arrays from .* kept by an Array of 1,500 in LISTS and others, $most of them, by [0-9]+ samples "
works "$jprof" diff --json --top=0 first.jprof last.jprof
python3 - "$strings" "$arrays" "$tables" "$data" <<'END' || fail "who keeps it, in JSON: $(cat out)"
import json
import sys
rows = {r["line"]: r for r in json.load(open("out"))["rows"] if (r["file"] or "").endswith("buffers.rb")}
for line, keeper in zip(sys.argv[1:], ["KEPT", "LISTS", "TABLES", "TEXTS"]):
    kept_by = rows[int(line)]["kept_by"]
    print(line, keeper, kept_by)
    assert kept_by["holder"].startswith(keeper) and kept_by["share"] > 0.9 and kept_by["samples"] >= 5
END

# A snapshot without that member says no line for the Hash: few slots are sampled, and those of copies.
mkdir parts
tar xf last.jprof -C parts
rm parts/*/buffers
(cd parts && tar cf ../older.jprof bundle.json */*)
works "$jprof" keepers --top=0 older.jprof
joined " a Hash of 2,500 in KEPT and others: [0-9.]* MB path [^%]*"
prints_no 'made at .*buffers.rb:'
finish
