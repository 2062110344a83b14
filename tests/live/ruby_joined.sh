#!/bin/sh
# Native and Ruby parts of a stack, joined: C that Ruby calls, Ruby that C calls back (Fiddle closures, Nokogiri's SAX), C frames
# 60 and 100 deep. The truth are lines that the program wrote down itself.
# usage: sh ruby_joined.sh AGENT SUBJECT JPROF
jprof=$(readlink -f "$3")
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here, or none that this C library can load"
${CC:-cc} -O1 -fno-optimize-sibling-calls -fPIC -shared -o libdeep.so "$here/nested.c" 2>/dev/null || skip "no compiler here"

# 64 native frames are kept, or as many as `native` says.
for option in '' --yjit native=20; do
    words=
    native=64
    case $option in
    native=*) words=$option native=${option#*=} option= ;;
    esac
    if [ "$option" ] && ! ruby $option -e 1 2>/dev/null; then continue; fi
    cp "$here/joined.rb" .
    LD_PRELOAD=$agent:$jemalloc MALLOC_CONF=prof:true,lg_prof_sample:11,prof_prefix:$tmp/d/app JPROF_AGENT=$words \
        ruby $option joined.rb "$tmp/libdeep.so" 300 >said 2>cried || { cat said cried; echo "FAIL: ruby $option"; exit 1; }
    check "ruby $option $words" python3 "$here/joined.py" "$jprof" x.heap lines $native
    sed 's/^/    /' check.out
    rm -f x.heap x.heap.ruby lines
done
finish
