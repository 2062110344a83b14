#!/bin/sh
# jprof snap --objects and jprof keepers: 38 keepers of a real Ruby, each of another kind, are named.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_ruby
need_agent
mkdir d
held=
if command -v cc >/dev/null && cc -shared -fPIC -o held.so "$here/held.c" 2>cc.err; then held=yes; fi
start "lg_prof_sample:17,prof_prefix:$tmp/d/app" "$ruby" "$here/planted_keepers.rb"
works "$jprof" snap --objects --symbols=later "$pid" -o planted.jprof
lives "$pid"
# The agent takes the child away when it looks at it next.
has_no_child() { ! ps --ppid "$pid" -o pid= | grep -q .; }
check "the child is left" until_true 10 has_no_child
# kept_by NUMBER PATH: so the objects of that class are kept
kept_by() {
    name=$(printf 'P%02d' "$1")
    what="$name"
    works "$jprof" keepers --top=0 "--class=^$name\$" planted.jprof
    tr -s ' \n' ' ' <out >joined
    check "$(grep -o ' path.*' joined)" grep -qF -e "path $2 > $name keeps:" -e " > $2 > $name keeps:" joined
    prints_no WeakMap
}
while read -r number keeper; do
    kept_by "$number" "$keeper"
done <<'END'
1 K_HASH (constant) > Hash[:a]
2 @@cache of Cvar > Array
4 $proc (global) > Proc > local variables of a block
5 $sing (global) > Object > @sing of its singleton class
6 $fiber (global) > Fiber
7 $glob (global)
8 a finalizer > Array > Proc > local variables of a block
9 @reg of Civ > Hash[:k]
10 Thread > Hash[:tv]
11 $th (global) > Thread
12 Sub > method dm > Proc > local variables of a block
13 $enum (global) > Enumerator > Enumerator::Generator > Proc > local variables of a block
14 $str (global) > ST
15 $idh (global) > Hash
16 $meth (global) > Method
17 at_exit > Proc > local variables of a block
18 $q (global) > Thread::Queue > Array
19 $tp (global) > TracePoint > Proc > local variables of a block
20 $err (global) > RuntimeError @ctx
21 $set (global) > Set @hash > Hash
22 $cur (global) > Binding > local variables of a block
23 $app (global) > Throttle @seen > Hash
24 POOL (constant) > Pool @connections > Array > Connection @query_cache > Hash > Array
25 LOG (constant) > Logger @formatter > Proc > local variables of a block
26 Report > method title > Proc > local variables of a block
28 @kept of LateReport
29 Ruby > Ractor
30 STRONG (constant) > Array
34 $later (global) > Object @block > Proc > Method
35 @@shared of Comparable
36 Ruby > Proc > Method
37 Sub > INNER of its singleton class > Hash[:a]
38 $own (global) > Object > @mine of its singleton class > Array
END
# Each step of a lazy Enumerator is two objects more.
kept_by 27 'Enumerator::Lazy > Enumerator > Array'
check "$(cat joined)" grep -qF 'path $lazy (global) > Enumerator::Lazy > ' joined
# What extensions keep is Ruby's own in some versions.
if [ -n "$held" ]; then
    works "$jprof" keepers --top=0 '--class=^P31$' planted.jprof
    check "$(cat out)" grep -qE "^ *path  *(a C extension's global|Ruby) > P31$" out
    works "$jprof" keepers --top=0 '--class=^P32$' planted.jprof
    check "$(cat out)" grep -qE '^ *path  *Ruby > P32$' out
fi
# It has the name of what it is of.
works "$jprof" keepers --top=0 '--class=^Array$' planted.jprof
prints_no 'singleton class of an? (Class|Module)'
if "$ruby" -e 'exit Fiber.respond_to?(:[])'; then
    kept_by 33 'Fiber > Hash[:request]'
fi
# What a thread has by a key is its fiber's, which is an object of its own from Ruby 3.3 on.
works "$jprof" keepers --top=0 '--class=^P03$' planted.jprof
check "$(grep '^ *path' out)" grep -qE 'path  *Thread( > Fiber)?\[:tl\] > P03$' out

# Without --objects there is none, and --gc alone counts.
works "$jprof" snap --gc --symbols=later "$pid" -o counted.jprof
exits_with 1 "$jprof" keepers counted.jprof
finish
