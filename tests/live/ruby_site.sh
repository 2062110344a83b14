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
finish
