#!/bin/sh
# Fortran: procedures of one name in two modules, contained ones and the main program's are functions of their own, by debug
# information and by the linker's names alone. The truth is what each allocates.
# usage: modules.sh JPROF SOURCE
set -eu
jprof=$(realpath "$1") source=$(realpath "$2")
skip() {
    echo "$*"
    exit 77
}
jemalloc=$(ls /usr/lib/*/libjemalloc.so.2 /usr/lib/libjemalloc.so.2 2>/dev/null | head -n 1)
[ -n "$jemalloc" ] || skip "no libjemalloc.so.2 here (Debian: libjemalloc2)"
command -v gfortran >/dev/null || skip "no gfortran here (Debian: gfortran)"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
failed=0

# expect NAME REALS: a row of this name has what an array of so many REALs takes, and no more than its size class.
expect() {
    awk -v name="$1" -v want="$((4 * $2))" '
        { row = $6; if (row == name && $1 >= want && $1 <= want * 1.25) found = 1 }
        END { exit !found }' rows || {
        failed=1
        echo "$what: no row $1 of $((4 * $2)) bytes:"
        cat rows
    }
}

# run WORDS...: compiles with these options and leaves the rows of its dump in the file `rows`
run() {
    what="gfortran $*"
    rm -f ./*.heap
    gfortran "$@" -o subject "$source" || { echo "cannot compile"; exit 1; }
    LD_PRELOAD=$jemalloc MALLOC_CONF=prof:true,prof_final:true,lg_prof_sample:0,prof_prefix:f ./subject
    "$jprof" --show_bytes ./subject f.*.heap >rows 2>err || { cat err; exit 1; }
}

for level in -O0 -O1 -O3; do
    run -g $level
    expect mod_a::fill 10000
    expect mod_a::fill::inner 20000
    expect mod_b::fill 40000
    expect mod_b::fill::inner 120000
    expect mod_a::table_grow 70000
    expect outside 150000
    expect prog::inner 310000
done
run -O0
expect mod_a::fill 10000
expect mod_b::fill 40000
expect mod_a::table_grow 70000
exit $failed
