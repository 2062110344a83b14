#!/bin/sh
# From a live Ruby to the line: `jprof snap` asks its agent, and the first row of the bundle is the
# line that allocates, with what it says that it holds. By the socket, by USR2, into files; and `jprof bundle` of the files.
# usage: sh ruby_site.sh AGENT SUBJECT JPROF
jprof=$(readlink -f "$3")
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here, or none that this C library can load"
cat >held.rb <<'RUBY'
require 'fiddle'
class Held
  def keep = 20_000.times { Fiddle.malloc(1024) }                   # line 3: 20,480,000 bytes are kept
  def drop = 20_000.times { Fiddle.free(Fiddle.malloc(1024).to_i) } # line 4: nothing is
end
Held.new.keep
Held.new.drop
puts 'ready'
$stdout.flush
sleep
RUBY
LD_PRELOAD=$agent:$jemalloc MALLOC_CONF=prof:true,lg_prof_sample:14,prof_prefix:$tmp/d/app ruby held.rb >ready 2>ready.err &
pid=$!
started="$started $pid"
tries=0
until grep -q ready ready; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || { cat ready.err; echo "the Ruby is not ready"; exit 1; }
    sleep 0.1
done

# The first row, and whether the interval of its flat value holds the truth, widened to three errors.
first_row() {
    "$jprof" --json "$@" >report.json 2>report.err || { cat report.err; exit 1; }
    jq -r '.rows[0].name' report.json
}
holds() {
    jq -e ".rows[0] | .flat - 3 * .flat_range.error <= $1 and .flat + 3 * .flat_range.error >= $1" report.json >/dev/null
}
truth=20480000

"$jprof" snap "$pid" -o socket.jprof >snap.out 2>snap.err || { cat snap.err; exit 1; }
check "the first row is $(first_row socket.jprof)" [ "$(first_row socket.jprof)" = "held.rb:3 Held#keep" ]
check "line 3 has $(jq .rows[0].flat report.json) bytes" holds $truth
check "line 4 has memory" [ -z "$(jq -r '.rows[] | select(.name == "held.rb:4 Held#drop" and .flat > 200000) | .name' report.json)" ]
check "snap says something of Ruby stacks" [ -z "$(grep 'Ruby stacks' snap.err)" ]
check "the text report begins with something else" [ "$("$jprof" socket.jprof 2>/dev/null | sed -n '2s/.* \(held.rb:[0-9]* .*\)/\1/p')" = "held.rb:3 Held#keep" ]

"$jprof" snap --signal=USR2 "$pid" -o signal.jprof >snap.out 2>snap.err || { cat snap.err; exit 1; }
check "by USR2 the first row is $(first_row signal.jprof)" [ "$(first_row signal.jprof)" = "held.rb:3 Held#keep" ]
"$jprof" snap --keep-dumps "$pid" -o files.jprof >snap.out 2>snap.err || { cat snap.err; exit 1; }
check "from files the first row is $(first_row files.jprof)" [ "$(first_row files.jprof)" = "held.rb:3 Held#keep" ]
dump=$(ls "$tmp"/d/app.*.heap | tail -n 1)
check "the dump has no table beside it" [ -s "$dump.ruby" ]
check "of the file the first row is $(first_row "$dump")" [ "$(first_row "$dump")" = "held.rb:3 Held#keep" ]
"$jprof" bundle -o again.jprof "$dump" 2>bundle.err || { cat bundle.err; exit 1; }
mv "$dump.ruby" away
check "from a bundle of files the first row is $(first_row again.jprof)" [ "$(first_row again.jprof)" = "held.rb:3 Held#keep" ]
check "without its table the dump has lines of Ruby" [ "$(first_row "$dump")" != "held.rb:3 Held#keep" ]

# Two children of one parent with code of their own, whose numbers go on from the same ones: in a sum and in a
# difference each line has what its own child has there, and the other child adds nothing to it.
cat >twins.rb <<'RUBY'
require 'fiddle'
MALLCTL = Fiddle::Function.new(Fiddle::Handle::DEFAULT['mallctl'], [Fiddle::TYPE_VOIDP] * 4 + [Fiddle::TYPE_SIZE_T],
                               Fiddle::TYPE_INT)
def dump(path)
  name = Fiddle::Pointer["#{path}\0"]
  MALLCTL.call(Fiddle::Pointer["prof.dump\0"], nil, nil, Fiddle::Pointer[[name.to_i].pack('J')], 8).zero? or abort 'no dump'
end
$keep = []
1000.times { $keep << Fiddle.malloc(2000) } # line 9: of the parent
%w[left right].each_with_index do |name, i|
  fork do
    50.times { |k| eval("def #{name}#{k} = $keep << Fiddle.malloc(#{3000 + 1000 * i})", nil, "#{name}.rb", 10 + k) }
    20.times { 50.times { |k| send("#{name}#{k}") } }
    dump "#{name}.heap"
    exit!(0)
  end
end
Process.waitall.all? { |_, status| status.success? } or abort 'a child'
RUBY
LD_PRELOAD=$agent:$jemalloc MALLOC_CONF=prof:true,lg_prof_sample:12,prof_prefix:$tmp/d/app ruby twins.rb >twins.out 2>&1 ||
    { cat twins.out; exit 1; }
# The rows of both children's code, in whole bytes: NAME BYTES.
rows_of() {
    "$jprof" --json "$@" 2>/dev/null | jq -r '.rows[] | select(.name | test("^(left|right)\\.rb:")) | select(.flat != 0) | "\(.name) \(.flat | round)"' | sort
}
rows_of left.heap >left
rows_of right.heap >right
check "a child has few lines of its own" [ "$(wc -l <left)" -ge 40 -a "$(wc -l <right)" -ge 40 ]
check "a child has lines of the other" eval '! grep -q ^right left && ! grep -q ^left right'
rows_of left.heap right.heap >both
sort left right | diff - both >changed 2>&1
check "the sum has other rows than the children: $(head -n 3 changed)" [ ! -s changed ]
rows_of --diff_base=left.heap right.heap >apart
sed 's/ \([0-9]*\)$/ -\1/' left | sort - right | diff - apart >changed 2>&1
check "the difference has other rows: $(head -n 3 changed)" [ ! -s changed ]
finish
