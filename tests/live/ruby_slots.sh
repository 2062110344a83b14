#!/bin/sh
# Samples of the objects in slots of Ruby's own heap, judged by the program: ruby_slots.rb.
# usage: sh ruby_slots.sh AGENT SUBJECT
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no Ruby here"

# by WORDS COMMAND...: its output is in the files said and cried.
by() {
    words=$1
    shift
    timeout 120 env LD_PRELOAD="$agent:$jemalloc" MALLOC_CONF="prof:true,lg_prof_sample:17,prof_prefix:$tmp/d/app" JPROF_AGENT="$words" \
        ruby $yjit "$here/ruby_slots.rb" "$@" >said 2>cried </dev/null
}

# What each kind of Ruby has to do: with YJIT, where it was built, methods are compiled when they are called twice.
each_kind() {
    by slots=1b,epoch=off deaths "$1" 20000 || cat cried
    check "deaths, all sampled ($yjit): $(cat said)" grep -qx "$(($1 * 20000)) 0 0" said
    by slots=1b,epoch=off cover || cat cried
    check "coverage ($yjit): $(awk '$3 < 99' said)" awk '$3 < 99 { bad++ } END { exit bad + (NR < 20) > 0 }' said
    by slots=16k,epoch=off lines 10 30000 || cat cried
    check "objects of lines ($yjit): $(cat said)" awk '($3 - $2) ^ 2 > 25 * $4 ^ 2 || $4 < 1 || $4 > $2 / 10 { bad++ } END { exit bad + (NR != 2) > 0 }' said
}

yjit=
each_kind 4
if ruby --yjit -e 'exit defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled?' 2>/dev/null; then
    yjit='--yjit --yjit-call-threshold=2'
    each_kind 2
    yjit=
fi
by slots=1b,epoch=off fork 4 || cat cried
check "forks: $(cat said)" grep -qx "0 wrong" said
by slots=16k ractors || cat cried
check "ractors: $(head -n 1 said)" eval 'head -n 1 said | grep -q "several ractors"'
words=slots=64k
start ruby -e '10000.times { +"x" * 1000 } until File.exist?("stop"); sleep 60'
until_true eval 'field .ruby_slots report | grep -q true'
check "report: $(field '"\(.ruby_slots) \(.ruby_slots_why)"' report)" test "$(field '"\(.ruby_slots) \(.ruby_slots_why)"' report)" = "true null"
check "an option is refused: $(LD_PRELOAD="$agent:$jemalloc" MALLOC_CONF=prof:true JPROF_AGENT=slots=1x ruby -e 1 2>&1)" \
    eval 'LD_PRELOAD="$agent:$jemalloc" MALLOC_CONF=prof:true JPROF_AGENT=slots=1x ruby -e 1 2>&1 | grep -q "not understood: slots=1x"'
finish
