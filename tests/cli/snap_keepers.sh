#!/bin/sh
# jprof snap --objects and jprof keepers: 22 keepers of a real Ruby, each of another kind, are named.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_ruby
need_agent
mkdir d
start "lg_prof_sample:17,prof_prefix:$tmp/d/app" "$ruby" "$here/planted_keepers.rb"
works "$jprof" snap --objects --symbols=later "$pid" -o planted.jprof
lives "$pid"
# The agent takes the child away when it looks at it next.
has_no_child() { ! ps --ppid "$pid" -o pid= | grep -q .; }
check "the child is left" until_true 10 has_no_child
while read -r number keeper; do
    name=$(printf 'P%02d' "$number")
    what="$name"
    works "$jprof" keepers --top=0 "--class=^$name\$" planted.jprof
    tr -s ' \n' ' ' <out >joined
    check "$(grep -o ' path.*' joined)" grep -qF -e "path $keeper > $name keeps:" -e " > $keeper > $name keeps:" joined
done <<'END'
1 K_HASH (constant) > Hash[:a]
2 @@cache of Cvar > Array
4 $proc (global) > Proc > local variables of a block
5 $sing (global) > Object
6 $fiber (global) > Fiber
7 $glob (global)
8 a finalizer > Array > Proc > local variables of a block
9 @reg of Civ > Hash[:k]
10 Ruby > Ractor > Thread > Hash[:tv]
11 $th (global) > Thread
12 Sub > Proc > local variables of a block
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
END
# What a thread has by a key is its fiber's, which is an object of its own from Ruby 3.3 on.
works "$jprof" keepers --top=0 '--class=^P03$' planted.jprof
check "$(grep '^ *path' out)" grep -qE 'Ruby > Ractor > Thread( > Fiber)?\[:tl\] > P03$' out

# Without --objects there is none, and --gc alone counts.
works "$jprof" snap --gc --symbols=later "$pid" -o counted.jprof
exits_with 1 "$jprof" keepers counted.jprof
finish
