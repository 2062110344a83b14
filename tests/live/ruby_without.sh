#!/bin/sh
# Where Ruby stacks cannot be had, a program runs and its dumps are as without them, and report, side-car, doctor and
# info say why. What this machine's Ruby and jemalloc have is taken away in copies of the agent, one name each: it looks
# for names that nobody has. The way back is the same: what is missing beside that, reports say of any program.
# By hand: ruby_without.sh AGENT SUBJECT JPROF --all (each of Ruby's functions), JPROF_JEMALLOC=a libjemalloc.so.2 of 5.2
jprof=$(readlink -f "$3")
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here"
whole=$agent
all=${4:-}
words=

# lacks NAME [OTHER]: the agent from now on is one that does not find it, or looks for OTHER, of the same length.
lacks() {
    agent=$tmp/$1.so
    python3 - "$whole" "$agent" "$1" "${2:-${1%?}~}" <<'PY'
import sys
source, target, name, other = sys.argv[1:]
with open(source, "rb") as file:
    code = file.read()
ends = b"\0" + name.encode() + b"\0"
if ends not in code:
    sys.exit(f"the agent does not look for {name}")
with open(target, "wb") as file:
    file.write(code.replace(ends, b"\0" + other.encode() + b"\0"))
PY
}

# Its output is the same however it is profiled; all of it is known when it waits.
cat >app.rb <<'RB'
$kept = []
class Shop
  def keep = 900.times { |i| $kept << "x" * 5000 + i.to_s }
end
Shop.new.keep
GC.start
puts $kept.sum(&:size)
$stdout.flush
sleep if ARGV[0]
RB
ruby app.rb >expected

is_out() {
    cmp -s said expected
}

has_why() {
    field .ruby_stacks_why report | grep -q -- "$1"
}

# says WHY FIX: a process of $agent has no Ruby stacks, for WHY, and doctor gives FIX.
says() {
    why=$1 fix=$2
    start ruby --disable-gems app.rb wait
    until_true is_out
    until_true has_why "$why"
    check "$why: report: $(field '"\(.ruby_stacks) \(.epochs) \(.ruby_stacks_why)"' report)" \
        eval 'field .ruby_stacks report | grep -q false && has_why "$why"'
    row=$("$jprof" doctor "$pid" 2>&1 | grep -A 1 '^[a-z]* *ruby ')
    check "$why: doctor: $row" eval 'echo "$row" | grep -q "^warn .*no Ruby stacks: .*$why" && echo "$row" | grep -q -- "-> .*$fix"'
    check "$why: a dump" test "$(field .ok dump)" = true
    heap=$(ls d/*.heap)
    check "$why: side-car: $(jq -c .ruby.stacks_why "$heap.json")" eval 'jq -r .ruby.stacks_why "$heap.json" | grep -q -- "$why"'
    info=$("$jprof" info "$heap" 2>&1)
    check "$why: info: $info" eval 'echo "$info" | grep -q "no Ruby stacks were taken: .*$why"'
    check "$why: no row of Ruby's: $("$jprof" "$heap" 2>&1 | grep app.rb)" eval '! "$jprof" "$heap" | grep -q app.rb'
    check "$why: a bundle" "$jprof" snap -o b.jprof "$pid"
    info=$("$jprof" info b.jprof 2>&1)
    check "$why: info of it: $info" eval 'echo "$info" | grep -q "no Ruby stacks were taken: .*$why"'
    check "$why: lives" lives "$pid"
    end "$pid"
    ended "$why"
    rm -rf d/* b.jprof
}

# ended WHAT: from start to end it does what it does without the agent.
ended() {
    # shellcheck disable=SC2086
    $wrap env LD_PRELOAD="$agent:$jemalloc" MALLOC_CONF="$conf" JPROF_AGENT="$words" ruby --disable-gems app.rb >said 2>cried \
        </dev/null
    check "$1: ends, with status $?: $(head -n 2 cried)" eval 'cmp said expected && test ! -s cried'
}

if "$jprof" doctor -- env LD_PRELOAD="$agent:$jemalloc" MALLOC_CONF=prof:true ruby app.rb 2>&1 |
    grep '^warn *ruby ' >row; then
    check "doctor on a command: $(cat row)" grep -q "jemalloc 5\.[0-2]" row
    says "this jemalloc has no hook" "5.3 or later"
    echo "jemalloc before 5.3: $jemalloc"
    finish
fi

words=ruby=off
says "JPROF_AGENT has ruby=off" "man jprof-ruby"
words=
lacks experimental.hooks.prof_backtrace
says "this jemalloc has no hook" "man jprof-ruby"
lacks rb_profile_frames
says 'does not [a-z]* \(rb_profile_frames\|whether a thread still runs\)' "man jprof-ruby"
# Ruby to 3.2 shows it by this name, where it exports that; from 3.3 on rb_profile_frames looks for the context itself.
if ruby -e 'exit RUBY_VERSION < "3.3"' &&
    nm -D "$(ldd "$(command -v ruby)" | sed -n 's/.*=> \(.*libruby[^ ]*\) .*/\1/p')" 2>/dev/null | grep -q ruby_current_ec; then
    lacks ruby_current_ec
    says "does not show whether a thread still runs" "man jprof-ruby"
fi
lacks ruby_thread_has_gvl_p
says "does not export all functions by which the agent asks" "man jprof-ruby"
lacks _Unwind_Backtrace
says "no library here shows _Unwind_Backtrace" "man jprof-ruby"

# ---- ulimit -v ----
# The program's own peak, and a little more, are enough with the agent, too. jemalloc asks for more at a time than it
# needs, so that the peak differs by 6 MB from run to run, and a program fails by itself now and then near it: a limit
# counts as too low for the agent where three runs with it fail and three without it do not.
agent=$whole
own_peak() {
    LD_PRELOAD=$jemalloc MALLOC_CONF=$conf ruby --disable-gems -e '
        load "app.rb"; puts File.read("/proc/self/status")[/VmPeak:\s+(\d+)/, 1]' | tail -n 1
}
peak=$(for run in 1 2 3 4 5; do own_peak; done | sort -n | tail -n 1)

# fails_thrice PRELOADED: within $limit; what it said last is in cried.
fails_thrice() {
    for run in 1 2 3; do
        prlimit --as="$limit" env LD_PRELOAD="$1" MALLOC_CONF="$conf" JPROF_AGENT= ruby --disable-gems app.rb >said 2>cried \
            </dev/null && cmp -s said expected && [ ! -s cried ] && return 1
    done
    return 0
}
for more in 3000 5000 8000 11000 14000; do
    limit=$(((peak + more) * 1024))
    check "$more KiB more than its $peak KiB" eval '! fails_thrice "$agent:$jemalloc" || { head -n 2 cried; fails_thrice "$jemalloc"; }'
done
# Ruby 3.3 needs 500 MB at its peak: what is left at the start is enough for the agent.
if [ "$peak" -lt 300000 ]; then
    wrap="prlimit --as=$(((peak + 150000) * 1024))"
    says "ulimit -v leaves" "man jprof-ruby"
fi
wrap=

# ---- each of Ruby's functions ----
# right NAME: without it lines are the right ones all the same, or none.
right() {
    start ruby --disable-gems app.rb wait
    until_true is_out
    until_true eval '! has_why "before Ruby was up"'
    why=$(field '"\(.ruby_stacks) \(.ruby_stacks_why)"' report)
    check "without $1: a dump" test "$(field .ok dump)" = true
    rows=$("$jprof" --top=1 d/*.heap 2>/dev/null)
    case $why in
    true*) check "without $1: $rows" eval 'echo "$rows" | grep -q " app.rb:3 .*keep"' ;;
    *) check "without $1, $why: $rows" eval '! "$jprof" d/*.heap 2>/dev/null | grep -q app.rb' ;;
    esac
    echo "without $1: $why, $(jq -c '.ruby.interpreter | length' d/*.json) functions of the interpreter"
    end "$pid"
    ended "without $1"
    rm -rf d/*
}
names="ruby_version rb_mod_name rb_define_singleton_method rb_postponed_job_flush ruby_vm_destruct"
[ "$all" != --all ] || names=$(sed -n 's/^\t"\(rb_[a-zA-Z0-9_]*\|ruby_[a-z_]*\)",$/\1/p' "$here/../../agent/ruby/ruby_api.c")
for name in $names; do
    lacks "$name" && right "$name"
done
agent=$whole

# ---- a job that comes too early ----
# The agent learns by Kernel#tap, once Ruby has it. This one waits for zap, which the program defines late.
cat >late.rb <<'RB'
$kept = []
class Shop
  def early = 300.times { |i| $kept << "x" * 5000 + i.to_s }
  def keep = 900.times { |i| $kept << "x" * 5000 + i.to_s }
end
5.times { Shop.new.early }
exit 1 unless fork { Shop.new.early; exit! 0 }.then { |child| Process.wait2(child)[1].success? }
puts "early"
$stdout.flush
sleep 0.05 until File.exist?("go")
module Kernel
  def zap
    yield self
    self
  end
end
5.times { Shop.new.early }
sleep 0.1
Shop.new.keep
puts "late"
$stdout.flush
sleep
RB
lacks tap zap
start ruby --disable-gems late.rb
until_true grep -q early said
check "too early: $(field .ruby_stacks_why report)" has_why "before Ruby was up"
touch go
until_true grep -q late said
check "then it learns: $(field .ruby_stacks_why report)" eval 'field .ruby_stacks report | grep -q true'
field .ok dump >/dev/null
check "the interpreter: $(jq -c .ruby.interpreter d/*.json)" jq -e '.ruby.interpreter | length > 1' d/*.json
check "its lines: $("$jprof" --top=3 d/*.heap 2>&1)" eval '"$jprof" --top=3 d/*.heap 2>/dev/null | grep -q " late.rb:4 Shop#keep"'
end "$pid"
agent=$whole
rm -rf d/*

# ---- older bundles, and programs that are no Ruby ----
start ruby --disable-gems app.rb wait
until_true is_out
until_true eval 'field .ruby_stacks report | grep -q true'
field .ok dump >/dev/null
heap=$(ls d/*.heap)
check "with all of it: $("$jprof" info "$heap" 2>&1)" eval '! "$jprof" info "$heap" 2>&1 | grep -q "no Ruby stacks"'
check "and doctor: $("$jprof" doctor "$pid" 2>&1 | grep ' ruby ')" eval '"$jprof" doctor "$pid" 2>&1 | grep -q "^ok *ruby .*have Ruby stacks"'
end "$pid"
JPROF_AGENT=ruby=off
export JPROF_AGENT
words=ruby=off
rm -rf d/*
start ruby --disable-gems app.rb wait
until_true is_out
field .ok dump >/dev/null
heap=$(ls d/*.heap)
jq -c 'del(.ruby.stacks, .ruby.stacks_why, .ruby.object, .ruby.interpreter, .table) | .version = "0.1.0"' "$heap.json" >older &&
    mv older "$heap.json"
"$jprof" bundle -o old.jprof "$heap"
mv d/*.json away.json
"$jprof" "$heap" >bare 2>/dev/null
check "an old bundle: $("$jprof" info old.jprof 2>&1)" \
    eval '"$jprof" info old.jprof 2>&1 | grep -q "no Ruby stacks were taken: agent 0\.1\.0, which made the dump, takes none"'
check "its rows are those of the dump alone" eval '"$jprof" old.jprof 2>/dev/null | cmp - bare'
check "nothing is known of the bare dump: $("$jprof" info "$heap" 2>&1)" eval '! "$jprof" info "$heap" 2>&1 | grep -q "no Ruby stacks were"'
end "$pid"
unset JPROF_AGENT
rm -rf d/*

words=for=all
start "$subject" hold wait
row=$("$jprof" doctor "$pid" 2>&1 | grep ' ruby ')
check "a C program has no such row: $row" test -z "$row"
field .ok dump >/dev/null
heap=$(ls d/*.heap)
info=$("$jprof" info "$heap" 2>&1)
check "nor such a note: $info" eval '! echo "$info" | grep -q "Ruby stacks were"'
check "a C program's rows: $("$jprof" "$heap" 2>&1)" eval '"$jprof" "$heap" 2>/dev/null | grep -q hold'
"$jprof" --ruby=off "$heap" >off 2>&1
check "with and without Ruby's" eval '"$jprof" "$heap" 2>&1 | cmp - off'
end "$pid"
finish
