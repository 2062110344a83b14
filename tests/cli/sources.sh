#!/bin/sh
# Source files by their full paths: relative ones are so to the directory of the compiler (DW_AT_comp_dir). Two libraries
# have a src/util.c each, and one of them is compiled by two ways to its file.
. "$(dirname "$0")/lib.sh"
find_jemalloc
tmp_real=$(cd "$tmp" && pwd -P)
for lib in a b; do
    mkdir -p $lib/src $lib/sub
    printf '#include <stdlib.h>\nstatic void *volatile %s_kept, *volatile %s_kept2;\nvoid %s_fill%s(void)\n{\n\t%s_kept%s = malloc(100000);\n}\n' \
        $lib $lib $lib '' $lib '' >$lib/src/util.c
    (cd $lib && ${CC:-cc} -g -O0 -fPIC -c -o one.o src/util.c &&
        sed "s/_fill/_more/; s/_kept = /_kept2 = /" src/util.c >tmp.c && mv tmp.c src/util.c &&
        cd sub && ${CC:-cc} -g -O0 -fPIC -c -o ../two.o ../src/util.c &&
        cd .. && ${CC:-cc} -shared -o lib$lib.so one.o two.o) || skip "no compiler"
done
printf 'void a_fill(void), a_more(void), b_fill(void), b_more(void);\nint main(void) { a_fill(); a_more(); b_fill(); b_more(); }\n' >main.c
${CC:-cc} -g -O0 -o main main.c a/liba.so b/libb.so -Wl,-rpath,"$tmp_real/a:$tmp_real/b" || skip "no compiler"
profiled "prof_final:true,lg_prof_sample:0,prof_prefix:$tmp/main" ./main
mv main.*.f.heap main.heap
works "$jprof" --files --show_bytes main.heap
for lib in a b; do
    prints "^ *229376 +[^ ]+ +[^ ]+ +229376 +[^ ]+ $tmp_real/$lib/src/util\\.c\$"
done
check "a relative path" eval '! grep -q " src/util\.c" out'
run "$jprof" --list='^a_more$' main.heap
prints "^ROUTINE .* a_more in $tmp_real/a/src/util\\.c\$"
prints 'malloc\(100000\)'
finish
