#!/bin/sh
# Reports of small samples, as they were looked at and found good: tests/golden/SOURCE.OP.txt. After a change that is
# wanted: JPROF_GOLDEN=write sh tests/views/golden.sh JPROF, and look at what git diff shows.
. "$(dirname "$0")/../cli/lib.sh"
[ -f "$cases/totals.txt" ] || skip "no samples here"
golden=$root/tests/golden
cd "$root" || exit 1

# golden NAME ARGUMENTS...
golden() {
    name=$1
    shift
    what="golden $name"
    "$jprof" "$@" >"$tmp/out" 2>"$tmp/err" || { cat "$tmp/err"; echo "failed: $*"; exit 1; }
    sed 's/^creator: jprof .*/creator: jprof/' "$tmp/out" >"$tmp/is"
    if [ "${JPROF_GOLDEN:-}" = write ]; then cp "$tmp/is" "$golden/$name.txt"; fi
    checks=$((checks + 1))
    cmp -s "$golden/$name.txt" "$tmp/is" && return
    failures=$((failures + 1))
    echo "FAIL: $name is not as it was (<):"
    diff "$golden/$name.txt" "$tmp/is" | head -n 20
}
threads="--sysroot=samples/heaps/sysroot --show_bytes"
ruby="--sysroot=samples/cases/sysroot --show_bytes"
source=--source-path=samples/heaps/src
golden threads.tree $threads --tree samples/heaps/jemalloc-5.3.0.heap
golden threads.traces $threads --traces samples/heaps/jemalloc-5.3.0.heap
golden threads.peek $threads '--peek=^rows_keep$|^main$' samples/heaps/jemalloc-5.3.0.heap
golden threads.list $threads '--list=^(row_new|rows_keep|work|main)$' $source samples/heaps/jemalloc-5.3.0.heap
golden threads.callgrind $threads --callgrind samples/heaps/jemalloc-5.3.0.heap
golden cext.tree $ruby --tree --top=40 samples/cases/ruby31/cext.1.heap
golden cext.list $ruby --list=row_new samples/cases/ruby31/cext.1.heap
golden cext.diff-tree $ruby --tree --base=samples/cases/ruby31/cext.0.heap samples/cases/ruby31/cext.1.heap
golden cext.diff-peek $ruby --peek=row_new --diff_base=samples/cases/ruby31/cext.0.heap samples/cases/ruby31/cext.1.heap
golden cext.peek-errors $ruby --errors '--peek=row_new|rb_yield$' samples/cases/ruby31/cext.1.heap
# The errors of a function are those of the table.
"$jprof" $ruby --errors samples/cases/ruby31/cext.1.heap 2>"$tmp/err" |
    sed -nE 's/.* (row_new|rb_yield) +flat (-|\+-[0-9]+).* cum (\+-[0-9]+) .*/\1 \2 \3/p' | sort >"$tmp/should"
sed -nE 's/.*\| (row_new|rb_yield)  flat (-|\+-[0-9]+)  cum (\+-[0-9]+)$/\1 \2 \3/p' "$golden/cext.peek-errors.txt" | sort >"$tmp/is"
what="--errors of --peek"
check "not two functions" [ "$(wc -l <"$tmp/should")" -eq 2 ]
same "not those of the table (<)" "$tmp/should" "$tmp/is"
golden puma.tree-libs $ruby --tree --libs samples/cases/puma/w0.3.heap
golden puma.traces-diff $ruby --traces --top=3 --base=samples/cases/puma/w0.1.heap samples/cases/puma/w0.3.heap
cd "$tmp" || exit 1
finish
