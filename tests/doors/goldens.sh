#!/bin/sh
# Every report of small samples beside what it was when it was looked at: golden/SOURCE.OPERATION.FORMAT.
# JPROF_ACCEPT=1 writes them anew: look at the difference before it is committed.
. "$(dirname "$0")/../cli/lib.sh"
golden=$root/tests/doors/golden
command -v python3 >/dev/null || skip "no python3 here, which compares numbers"

# Copies: their names are short, and they are newer than the files that name them, which else would be noted.
cp "$heaps/jemalloc-5.3.0.heap" "$heaps/jemalloc-5.3.1.heap" "$heaps/hand-4.heap" "$heaps/faults/names.heap" .
if [ -f "$cases/totals.txt" ]; then cp "$cases/ruby31/cext.0.heap" "$cases/ruby31/cext.1.heap" .; fi
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
if [ -f "$cases/totals.txt" ]; then
    for format in csv json speedscope diff-collapsed collapsed; do
        report cext.diff $format --top=5 --focus=row_new --diff_base=cext.0.heap "$ruby" \
            cext.1.heap
    done
    report cext.grown dhat --drop_negative --focus=row_new --base=cext.0.heap "$ruby" \
        cext.1.heap
fi
finish
