#!/bin/sh
# Memory from startup, growing, levelled off, turnover and one jump, in a C program and in a Ruby: each is known from one
# dump, and the samples of each stack and epoch are those of jemalloc's own record.
# A diff of two dumps knows them, too.
# The agent's clock goes on by a day in a moment, so a machine that is busy changes nothing.
# By hand: held.sh AGENT SUBJECT JPROF --runs=20
jprof=$(readlink -f "$3")
. "$(dirname "$0")/agent_lib.sh"
shift 3
runs=2
for word; do
    case $word in
    --runs=*) runs=${word#*=} ;;
    *) echo "FAIL: usage: held.sh AGENT SUBJECT JPROF [--runs=N]"; exit 1 ;;
    esac
done
${CC:-cc} -O1 -g -rdynamic -o held "$here/held.c" 2>/dev/null || skip "no compiler here"
${CC:-cc} -O1 -fPIC -shared -DHELD_LIBRARY -o held.so "$here/held.c"
conf=prof:true,lg_prof_sample:15,prof_unbias:false,prof_recent_alloc_max:-1

# run_one SEED COMMAND...
run_one() {
    seed=$1
    shift
    rm -f x.heap x.heap.ruby
    LD_PRELOAD="$agent:$tmp/held.so:$jemalloc" MALLOC_CONF=$conf JPROF_AGENT=for=all "$@" "$seed" x.heap recent early.heap >said 2>&1 </dev/null ||
        { echo "the workload: $(head -n 3 said)"; return 1; }
    "$jprof" --ages --json --top=0 x.heap >json 2>said || { echo "jprof: $(head -n 3 said)"; return 1; }
    python3 "$here/agejudge.py" x.heap recent json || return 1
    "$jprof" diff --assume-gc --json early.heap x.heap >diff 2>said || { echo "jprof diff: $(head -n 3 said)"; return 1; }
    python3 "$here/growjudge.py" diff
}

i=1
while [ $i -le "$runs" ]; do
    check "C, seed $i" run_one $i ./held
    if has_ruby; then check "Ruby, seed $i" run_one $i ruby --disable-gems "$here/held.rb"; fi
    i=$((i + 1))
done

check "the schema of diff" python3 "$here/../doors/values.py" schema "$here/../../docs/internals/diff.schema.json" diff
"$jprof" diff --assume-gc early.heap x.heap >out 2>err
check "the first suspect: $(head -n 5 out)" grep -Eq '^1  LEAK SUSPECT .* [^ ]*growing' out
check "its ages: $(grep ' age ' out)" grep -Eq '^   age      begun 2[0-9]\.[0-9] hours ago; under 1 h 1?[0-9] %, 1 to 6 h [123]?[0-9] %, over 6 h [5-9][0-9] %$' out
check "the schema" python3 "$here/../doors/values.py" schema "$here/../../docs/internals/json.schema.json" json

# ---- what people see ----
"$jprof" --ages x.heap >out 2>err
check "parts, a picture and the shape: $(grep growing out)" \
    grep -Eq 'growing +last hour +[0-9]\.[0-9]  older +1[0-9]\.[0-9]  startup +0\.0  \[ .{9}\]  growing \([0-9]+ samples\)$' out
check "nothing besides: $(cat err)" test ! -s err
"$jprof" --older=9h --newer=12h x.heap >out 2>err
check "between: $(cat out)" grep -q growing out
check "the borders are in steps: $(cat err)" test "$(grep -c '^jprof: --[a-z]*=[0-9]*h: ages are known in steps; the nearest border' err)" -le 2
"$jprof" --older=95m --top=1 x.heap >out 2>err
check "a border in an epoch: $(cat err)" grep -q '^jprof: --older=95m: .* is that of 1\?[0-9.]* [hm]' err
"$jprof" --older=2d x.heap >out 2>err
check "nothing is so old: $(cat out)" test $? -eq 0 -a "$(grep -vc '^Total' out)" -eq 0
check "says so: $(cat err)" grep -q '^jprof: nothing is so old' err
"$jprof" --newer=2d --top=1 x.heap >out 2>err
check "all is newer: $(cat err)" test ! -s err
cp x.heap alone.heap
"$jprof" --ages alone.heap >out 2>err
check "without its table" test $? -eq 1 -a ! -s out
check "says what to do: $(cat err)" grep -q 'FILE.ruby has to be beside FILE$' err
for words in --older=soon --newer=0s --older=-1h "--older=1h --newer=1h" "--ages --svg" "--ages --tree"; do
    # shellcheck disable=SC2086
    "$jprof" $words x.heap >out 2>err
    check "$words is refused: $(cat err)" test $? -eq 1 -a ! -s out -a "$(wc -l <err)" -eq 1
done

# ---- a fork ----
cat >forked.c <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
extern int mallctl(const char *, void *, size_t *, void *, size_t) __attribute__((weak));
static void *volatile kept[20000];
__attribute__((noinline)) static void preload(void) { for (int i = 0; i < 9000; i++) kept[i] = malloc(1000); }
__attribute__((noinline)) static void worker(void) { for (int i = 9000; i < 20000; i++) kept[i] = malloc(1000); }
int main(void)
{
	const char *path = "forked.heap";
	preload();
	if (fork() == 0) {
		worker();
		mallctl("prof.dump", NULL, NULL, &path, sizeof path);
		_exit(0);
	}
	wait(NULL);
	return 0;
}
END
${CC:-cc} -O1 -g -o forked forked.c
LD_PRELOAD="$agent:$jemalloc" MALLOC_CONF=prof:true,lg_prof_sample:15 JPROF_AGENT=for=all ./forked
"$jprof" --ages forked.heap >out 2>err
check "what came over a fork: $(grep preload out)" grep -q 'preload.*startup  *0\.0  before the fork  *[1-9]' out
check "and what is the child's: $(grep worker out)" grep -q 'worker.*startup  *[1-9][0-9.]*  before the fork  *0\.0' out
finish
