#!/bin/sh
# A Ruby that loads a file, and one that compiles, at the moment of the agent's first job, starts and ends as without it.
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here"
i=0
while [ $i -lt 3000 ]; do
    echo "def m$i(a, b = $i) = [a, b, 'text $i', { k$i: a }].map { |x| x.to_s }"
    i=$((i + 1))
done >large.rb

starts() {
    what=$1
    shift
    for lg in 12 15 16 17 18 19 20; do
        LD_PRELOAD="$agent:$jemalloc" MALLOC_CONF="prof:true,lg_prof_sample:$lg,prof_prefix:$tmp/d/app" \
            ruby "$@" >said 2>cried </dev/null
        status=$?
        check "$what, lg $lg: status $status: $(head -n 2 cried)" test $status -eq 0 -a "$(cat said)" = whole
    done
}

starts "gems" -e 'puts "whole"'
starts "json" -rjson -e 'puts "whole"'
starts "a large file" --disable-gems -r./large.rb -e 'puts "whole"'
starts "the script loads it" --disable-gems -e 'load "./large.rb"; puts "whole"'
starts "eval" --disable-gems -e 't = File.read("large.rb"); 2.times { eval t; RubyVM::InstructionSequence.compile t }; puts "whole"'
finish
