#!/bin/sh
# Object files whose symbols and debug information were damaged, by tests/fuzz/mutate_elf.py: a report of a dump, and root's
# jprof snap of a process that has such a file mapped, lose names at most. JPROF_MUTATED=2000: how many (24).
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_agent
command -v python3 >/dev/null || skip "no python3 here"
find_jemalloc
cat >lib.c <<'END'
#include <stdlib.h>
#include <string.h>
static void *volatile kept;
static inline __attribute__((always_inline)) void *inner(size_t n) { return memset(malloc(n), 1, n); }
void fill(void) { kept = inner(100000); }
END
printf '#include <fcntl.h>\n#include <unistd.h>\nvoid fill(void);\nint main(void) { fill(); close(open("ready", O_CREAT | O_WRONLY, 0600)); for (;;) pause(); }\n' >main.c
${CC:-cc} -g3 -O2 -fPIC -shared -o lib.so lib.c && cp lib.so sound.so || skip "no compiler"
${CC:-cc} -g -o main main.c lib.so -Wl,-rpath,"$tmp" || skip "no compiler"
JPROF_AGENT=for=all
export JPROF_AGENT
start "lg_prof_sample:0" ./main
run "$jprof" snap --symbols=later -o later.jprof "$pid"
exits 0
run "$jprof" --show_bytes --lines later.jprof
exits 0
prints ' 114688 .* inner .*lib\.c:4$'
sed -n 1p out >total

lost=0
number=0
while [ "$number" -lt "${JPROF_MUTATED:-24}" ]; do
    python3 "$root/tests/fuzz/mutate_elf.py" sound.so lib.so "$number" || { fail "mutate_elf.py"; break; }
    rm -f now.jprof
    run "$jprof" snap -o now.jprof "$pid"
    exits 0
    ! grep -q 'crashed\|takes too\|damaged' err || lost=$((lost + 1))
    run "$jprof" --show_bytes --lines now.jprof
    exits 0
    sed -n 1p out >now.total
    same "number $number: another total (>)" total now.total
    # Its names are found here.
    run "$jprof" --show_bytes --lines later.jprof
    exits 0
    check "number $number: names of another file are missing" grep -q ' main ' out
    [ "$failures" -eq 0 ] || { cp lib.so "/tmp/mutated-$number.so"; break; }
    number=$((number + 1))
done
lives "$pid"
echo "$number damaged files: of $lost the child crashed, or did not end"
finish
