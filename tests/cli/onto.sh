#!/bin/sh
# No report goes onto a file that was read for it, whatever led to that file: debug information, an option, a directory, a pid.
. "$(dirname "$0")/lib.sh"
find_jemalloc
cat >kept.c <<'END'
#include <stdlib.h>
static void *volatile kept;
void keep_it(void)
{
	kept = malloc(100000);
}
END
echo 'void keep_it(void); int main(void) { keep_it(); return 0; }' >main.c
${CC:-cc} -g -O0 -fPIC -shared -Wl,-soname,libkept.so.1 -o libkept.so.1 kept.c &&
    ${CC:-cc} -g -O0 -o main main.c libkept.so.1 -Wl,-rpath,"$(pwd -P)" || skip "no compiler"
profiled "prof_final:true,lg_prof_sample:0,prof_prefix:$tmp/main" ./main
mv main.*.f.heap main.heap
ln kept.c hard.c
ln -s kept.c link.c

# refused FILE WORDS...: says so, and the file is as it was
refused() {
    onto=$1
    shift
    cp "$onto" before
    is_refused "$jprof" "$@"
    check "does not say why: $(cat err)" grep -q ': cannot be written: it is read for this report; give another name with -o$' err
    same "$onto is not what it was" before "$onto"
    check "something was left: $(ls -A)" eval '! ls -A | grep -q jprof-part'
}
refused kept.c --list=keep_it -o kept.c main.heap
refused kept.c --list=. -o "$tmp/kept.c" main main.heap
refused kept.c --list=keep_it -o hard.c main.heap
refused kept.c --list=keep_it -o link.c main.heap
ln -s kept.c page.html
refused kept.c --html -o page.html main.heap
run "$jprof" --disasm=keep_it main.heap
[ "$status" -ne 0 ] || refused kept.c --disasm=keep_it -o kept.c main.heap
mkdir sources
cp kept.c main.c sources
refused sources/kept.c --list=keep_it --source-path=sources -o sources/kept.c main.heap
echo 'list keep_it > kept.c' | "$jprof" --interactive main.heap >out 2>err
same "a session's report went onto its source" before kept.c

# What was not read is replaced as ever: the source of another function, and a report.
printf '%s\n' '/* nothing is read of it */' >other.c
for again in 1 2; do
    works "$jprof" --list=keep_it -o other.c main.heap
    check "a report in place of another file" grep -q 'ROUTINE .* keep_it' other.c
done
cp kept.c kept.kept
works "$jprof" --text -o kept.c main.heap
check "a report that shows no source" grep -q keep_it kept.c
mv kept.kept kept.c

# A pack of names that was found in its directory.
mkdir -p data/jprof/names
works "$jprof" names learn -o data/jprof/names/kept.jnames libkept.so.1
XDG_DATA_HOME=$tmp/data
export XDG_DATA_HOME
mv libkept.so.1 whole.so
strip -o libkept.so.1 whole.so 2>/dev/null || cp whole.so libkept.so.1
ln data/jprof/names/kept.jnames pack
refused data/jprof/names/kept.jnames --text -o pack main.heap
echo 'top > pack' | "$jprof" --interactive main.heap >out 2>err
same "a session's report went onto a pack that gave it names" before data/jprof/names/kept.jnames
mv whole.so libkept.so.1

# The list of a JIT compiler that the dump's pid leads to.
cat >jit.4711.0.f.heap <<'END'
heap_v2/1
  t*: 1: 1000 [0: 0]
  t0: 1: 1000 [0: 0]
@ 0x7f0000001010
  t*: 1: 1000 [0: 0]
  t0: 1: 1000 [0: 0]

MAPPED_LIBRARIES:
7f0000001000-7f0000002000 rwxp 00000000 00:00 0 
END
mkdir -p root/tmp
echo '7f0000001000 100 made_at_run_time' >root/tmp/perf-4711.map
run "$jprof" --text --sysroot=root jit.4711.0.f.heap
prints 'made_at_run_time'
refused root/tmp/perf-4711.map --text --sysroot=root -o root/tmp/perf-4711.map jit.4711.0.f.heap
finish
