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
if "$ruby" -e 'exit RUBY_VERSION >= "3.4"'; then
    # Ruby 3.4 does not tell of finalizers, and a fiber stands for the one before it.
    left_out='6 8'
else
    left_out=
fi
while read -r number keeper; do
    case " $left_out " in *" $number "*) continue ;; esac
    name=$(printf 'P%02d' "$number")
    what="$name"
    works "$jprof" keepers --top=0 "--class=^$name\$" planted.jprof
    tr -s ' \n' ' ' <out >joined
    check "$(grep -o ' path.*' joined)" grep -q "path \(.* > \)*$keeper > $name keeps:" joined
done <<'END'
1 Object > Hash
2 Cvar > Array
3 Ruby > Ractor > Thread
4 a global variable > Proc > local variables of a block
5 a global variable > Object
6 a global variable > Fiber
7 a global variable
8 a finalizer > Array > Proc > local variables of a block
9 Civ > Hash
10 Ruby > Ractor > Thread > Hash
11 a global variable > Thread
12 Sub > Proc > local variables of a block
13 a global variable > Enumerator > Enumerator::Generator > Proc > local variables of a block
14 a global variable > ST
15 a global variable > Hash
16 a global variable > Method
17 at_exit > Proc > local variables of a block
18 a global variable > Thread::Queue > Array
19 a global variable > TracePoint > Proc > local variables of a block
20 a global variable > RuntimeError
21 a global variable > Set > Hash
22 a global variable > Binding > local variables of a block
END

# Without --objects there is none, and --gc alone counts.
works "$jprof" snap --gc --symbols=later "$pid" -o counted.jprof
exits_with 1 "$jprof" keepers counted.jprof
finish
