#!/bin/sh
# Seven planted leaks: a C extension, a cache of Strings, Hashes of more than 8 entries, symbols and methods, Nokogiri
# documents, threads, Arrays. The first screen of one command, 24 lines, names file and line of each.
# usage: sh ruby_leaks.sh AGENT SUBJECT JPROF
jprof=$(readlink -f "$3")
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here, or none that this C library can load"
with=
ruby -e 'require "nokogiri"' 2>/dev/null && with=nokogiri
ruby -rrbconfig -e 'c = RbConfig::CONFIG; puts "-I#{c["rubyhdrdir"]}", "-I#{c["rubyarchhdrdir"]}"' >flags
# shellcheck disable=SC2046
${CC:-cc} -shared -fPIC -O1 $(cat flags) "$here/../../samples/app/ext/leaky.c" -o leaky.so 2>cc.err && with="$with leaky"
mkfifo orders
exec 3<>orders
# shellcheck disable=SC2086
LD_PRELOAD=$agent:$jemalloc MALLOC_CONF=prof:true,lg_prof_sample:14,prof_prefix:$tmp/d/app JPROF_AGENT=slots=8k \
    ruby "$here/ruby_leaks.rb" $with <orders >out 2>err &
pid=$!
started="$started $pid"
answers() { until_true grep -q "^$1$" out || { cat err; echo "the Ruby is not $1"; exit 1; }; }
answers ready
"$jprof" snap --gc "$pid" -o early.jprof >snap.out 2>snap.err || { cat snap.err; exit 1; }
echo more >&3
answers done
"$jprof" snap --gc "$pid" -o late.jprof >snap.out 2>snap.err || { cat snap.err; exit 1; }
"$jprof" --diff_base=early.jprof late.jprof 2>hints | head -n 24 >screen
"$jprof" diff early.jprof late.jprof >grown
grep -v '^$' grown | head -n 5 >answer
version=$(grep '^[0-9]' out)
check "leaks that grew: $with" [ "$(grep -c '^[A-Z][a-z]* [0-9]*$' out)" -eq $((5 + $(echo "$with" | wc -w))) ]
while read -r name line; do
    case $name in
    [0-9]* | ready | done) continue ;;
    esac
    check "$version: no row of line $line, where $name grow" grep -qE "ruby_leaks.rb:$line( $name#add|, 100 %)" screen
    # Of gems the line is in --json, as `from`; what Lists hold is too little to be beyond chance.
    case $name in Documents | Lists) continue ;; esac
    check "$version: diff does not say that line $line grew" grep -qE "growing .*ruby_leaks.rb:$line $name#add" grown
done <out
case $version in
3.1.* | 3.2.*) ;; # what they move goes to the lines of the objects that have it, as far as their samples tell
*) check "$version: a creator is not known" eval '! grep -q "creator not known" screen hints' ;;
esac
check "$version: diff does not name a leak in its first five lines" grep -qE '^1  GROWING .*ruby_leaks.rb:[0-9]+' answer
[ "$failures" -eq 0 ] || cat screen hints grown
echo "Ruby $version, with $with"
finish
