#!/bin/sh
# The programs of samples/api, compiled with jprof.h alone: each is short, prints what jprof prints, and answers what is
# wrong with what it was given by the library's sentence.
# usage: CC=COMPILER CFLAGS=OPTIONS sh tests/api-samples.sh SOURCE_ROOT LIBJPROF_SO JPROF
set -eu
source=$1 library=$2 jprof=$3
LC_ALL=C
LSAN_OPTIONS="print_suppressions=0:suppressions=$source/tests/lsan.supp"
export LC_ALL LSAN_OPTIONS
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() {
    echo "$*"
    exit 1
}

mkdir "$tmp/include"
cp "$source/libjprof/jprof.h" "$tmp/include"
for name in top difference; do
    # shellcheck disable=SC2086
    ${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror ${CFLAGS:-} -I "$tmp/include" "$source/samples/api/$name.c" "$library" \
        -Wl,-rpath,"${library%/*}" -o "$tmp/$name" || fail "$name.c does not compile"
    lines=$(sed -n '/^int main/,$p' "$source/samples/api/$name.c" | wc -l)
    [ "$lines" -le 35 ] || fail "the main of $name.c has $lines lines: a sample has about 30"
done

# "BYTES NAME" of each row of a report on standard input that has bytes of its own, and of a program's output. jprof cuts
# what is behind the point and the programs round, so half a byte is less than what they may differ by.
rows_of_report() { tail -n +2 | awk '$1 != 0 { bytes = $1; sub(/^ *[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +/, ""); print bytes, $0 }'; }
rows_of_program() { sed -n 's/^ *+\{0,1\}\(-\{0,1\}[0-9]*\) bytes  /\1 /p'; }
same_rows() { # WHAT, of the files theirs and ours
    [ -s "$tmp/ours" ] || fail "$1: nothing was printed"
    paste -d '\n' "$tmp/theirs" "$tmp/ours" | awk '
        NR % 2 { bytes = $1; $1 = ""; name = $0; next }
        { off = $1 - bytes; $1 = ""; if (name != $0 || off > 1 || off < -1) { print name " is not" $0 " or is off by " off; exit 1 } }' ||
        fail "$1: not what jprof prints"
}

compared=0
for late in "$source"/samples/cases/ruby31/*.1.heap; do
    early=${late%.1.heap}.0.heap sysroot=$source/samples/cases/sysroot
    "$tmp/top" "$late" "$sysroot" >"$tmp/out"
    rows_of_program <"$tmp/out" >"$tmp/ours"
    "$jprof" --text --top=5 --show_bytes --sysroot="$sysroot" "$late" 2>/dev/null | rows_of_report >"$tmp/theirs"
    [ "$(wc -l <"$tmp/out")" = 5 ] || fail "top of $late does not print five rows"
    same_rows "top of $late"

    "$tmp/difference" "$early" "$late" "$sysroot" >"$tmp/out"
    grep -v ' bytes  in all$' "$tmp/out" | rows_of_program >"$tmp/ours"
    "$jprof" --text --show_bytes --sysroot="$sysroot" --base="$early" "$late" >"$tmp/report" 2>/dev/null
    rows_of_report <"$tmp/report" >"$tmp/theirs"
    [ "$(wc -l <"$tmp/ours")" = "$(wc -l <"$tmp/theirs")" ] || fail "difference of $late: another number of rows"
    same_rows "difference of $late"
    sed -n 's/^Total: \(-*[0-9]*\) B.*/\1 in all/p' "$tmp/report" >"$tmp/theirs"
    grep ' bytes  in all$' "$tmp/out" | rows_of_program >"$tmp/ours"
    same_rows "sum of $late"
    compared=$((compared + 1))
done
[ "$compared" -ge 5 ] || fail "only $compared pairs of dumps were compared"

# refuses SENTENCE PROGRAM ARGUMENT...: exit status 1, that line alone on standard error, nothing printed.
refuses() {
    sentence=$1
    shift
    status=0
    "$tmp/$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
    [ "$status" = 1 ] || fail "$*: exit status $status"
    [ ! -s "$tmp/out" ] || fail "$*: prints all the same"
    [ "$(wc -l <"$tmp/err")" = 1 ] && grep -qE "$sentence" "$tmp/err" || fail "$*: not '$sentence': $(cat "$tmp/err")"
}
printf 'heap_v2/524288\n@ 0x1\n  t*: 1: x\n' >"$tmp/faulty.heap"
dump=$source/samples/cases/ruby31/cext.1.heap
refuses "^$tmp/none.heap: .* .*" top "$tmp/none.heap"
refuses "^$tmp/faulty.heap:[0-9]+: .* .*" top "$tmp/faulty.heap"
refuses "^$source/README.md:1: .* .*" top "$source/README.md"
refuses "^$tmp/none: is no directory" top "$dump" "$tmp/none"
refuses "^$tmp/none.heap: .* .*" difference "$tmp/none.heap" "$dump"
refuses "^$tmp/none.heap: .* .*" difference "$dump" "$tmp/none.heap"
refuses "^$tmp/none: is no directory" difference "$dump" "$dump" "$tmp/none"
refuses '^usage: difference EARLY LATE' difference "$dump"
