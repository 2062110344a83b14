#!/bin/sh
# Every report of small samples beside what it was when it was looked at: tests/golden/SOURCE.OPERATION.FORMAT.
# JPROF_ACCEPT=1 writes them anew: look at the difference before it is committed.
. "$(dirname "$0")/../cli/lib.sh"
golden=$root/tests/golden
command -v python3 >/dev/null || skip "no python3 here, which compares numbers"

# Copies: their names are short, and they are newer than the files that name them, which else would be noted.
cp "$heaps/jemalloc-5.3.0.heap" "$heaps/jemalloc-5.3.1.heap" "$heaps/hand-4.heap" "$heaps/faults/names.heap" .
cp "$cases/ruby31/cext.0.heap" "$cases/ruby31/cext.1.heap" .
threads=$of_heaps ruby=$of_cases

# report SOURCE.OPERATION FORMAT ARGUMENT...
report() {
    name=$1.$2 format=$2
    shift 2
    works "$jprof" --$format "$@"
    # The version is not theirs to tell.
    sed 's/"version":"[0-9.]*"/"version":"VERSION"/' out >"$name"
    if [ "${JPROF_ACCEPT:-}" = 1 ]; then cp "$name" "$golden/$name"; fi
    check "$name: $(python3 "$root/tests/doors/compare.py" "$golden/$name" "$name" 2>&1)" \
        python3 "$root/tests/doors/compare.py" "$golden/$name" "$name"
}

all() {
    source=$1
    shift
    for format in csv json speedscope dhat collapsed; do report "$source" $format "$@"; done
}

all threads.plain "$threads" jemalloc-5.3.0.heap
report threads.lines csv --lines "$threads" jemalloc-5.3.0.heap
report threads.lines speedscope --lines --alloc_objects "$threads" jemalloc-5.3.0.heap
report threads.each csv --thread='*' --top=2 "$threads" jemalloc-5.3.0.heap
all hand.plain "$nowhere" hand-4.heap
report hand.plain flame "$nowhere" hand-4.heap
report names.plain csv "$nowhere" names.heap
report names.plain json "$nowhere" names.heap
# Two jemallocs' dumps are of two runs: all of it is subtracted by file and offset.
report threads.diff json --diff_base=jemalloc-5.3.0.heap "$threads" jemalloc-5.3.1.heap
report threads.diff csv --diff_base=jemalloc-5.3.0.heap "$threads" jemalloc-5.3.1.heap
for format in csv json speedscope collapsed; do
    report cext.diff $format --top=5 --focus=row_new --diff_base=cext.0.heap "$ruby" \
        cext.1.heap
done
report cext.grown dhat --drop_negative --focus=row_new --base=cext.0.heap "$ruby" \
    cext.1.heap

# ---- text, to the byte; file names are those of the checkout ----
# exact NAME ARGUMENT...
exact() {
    name=$1
    shift
    (cd "$root" && "$jprof" "$@") >out 2>err || fail "$name: exit status $?"
    sed 's/^creator: jprof .*/creator: jprof/' out >"$name"
    if [ "${JPROF_ACCEPT:-}" = 1 ]; then cp "$name" "$golden/$name"; fi
    what="golden $name"
    same "$name is not as it was (<)" "$golden/$name" "$name"
}
dump=samples/heaps/jemalloc-5.3.0.heap
threads="--sysroot=samples/heaps/sysroot --show_bytes" ruby="--sysroot=samples/cases/sysroot --show_bytes"
late=samples/cases/ruby31/cext.1.heap base=--base=samples/cases/ruby31/cext.0.heap
exact threads.graph.dot --dot --sysroot=samples/heaps/sysroot $dump
exact threads.cluster.dot --dot --cluster --errors --alloc_objects --sysroot=samples/heaps/sysroot $dump
exact threads.libs.dot --dot --libs --sysroot=samples/heaps/sysroot $dump
exact cext.diff.dot --dot --nodecount=40 $base --sysroot=samples/cases/sysroot $late
exact threads.tree.txt $threads --tree $dump
exact threads.traces.txt $threads --traces $dump
exact threads.peek.txt $threads '--peek=^rows_keep$|^main$' $dump
exact threads.list.txt $threads '--list=^(row_new|rows_keep|work|main)$' --source-path=samples/heaps/src $dump
exact threads.callgrind.txt $threads --callgrind $dump
exact cext.tree.txt $ruby --tree --top=40 $late
exact cext.list.txt $ruby --list=row_new $late
exact cext.diff-tree.txt $ruby --tree $base $late
exact cext.diff-peek.txt $ruby --peek=row_new --diff_base=samples/cases/ruby31/cext.0.heap $late
exact cext.peek-errors.txt $ruby --errors '--peek=row_new|rb_yield$' $late
exact puma.tree-libs.txt $ruby --tree --libs samples/cases/puma/w0.3.heap
exact puma.traces-diff.txt $ruby --traces --top=3 --base=samples/cases/puma/w0.1.heap samples/cases/puma/w0.3.heap
# The errors of a function are those of the table.
(cd "$root" && "$jprof" $ruby --errors $late) 2>err |
    sed -nE 's/.* (row_new|rb_yield) +flat (-|\+-[0-9]+).* cum (\+-[0-9]+) .*/\1 \2 \3/p' | sort >should
sed -nE 's/.*\| (row_new|rb_yield)  flat (-|\+-[0-9]+)  cum (\+-[0-9]+)$/\1 \2 \3/p' "$golden/cext.peek-errors.txt" | sort >is
what="--errors of --peek"
check "not two functions" [ "$(wc -l <should)" -eq 2 ]
same "not those of the table (<)" should is
finish
