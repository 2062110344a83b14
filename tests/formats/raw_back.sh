#!/bin/sh
# What --raw writes says the same rows when it is read back, without any object file: names with and without parameters,
# what folds, lines and files, and a static allocator's functions beside a program's own.
# usage: raw_back.sh JPROF SOURCE_ROOT SCRATCH
set -eu
jprof=$(realpath "$1") source=$2 scratch=$3
jemalloc=$(ls /usr/lib/*/libjemalloc.so.2 /usr/lib/libjemalloc.so.2 2>/dev/null | head -n 1)
skip() {
    echo "$*"
    exit 77
}
[ -n "$jemalloc" ] || skip "no libjemalloc.so.2 here (Debian: libjemalloc2)"
command -v c++ >/dev/null || skip "no c++ here (Debian: g++)"
rm -rf "$scratch"
mkdir -p "$scratch/gone"
cp "$source/tests/formats/raw_back.cc" "$scratch"
cd "$scratch"
export LC_ALL=C
unset JPROF_OPTS 2>/dev/null || :
failed=0

# back DUMP PROGRAM WORDS...: the rows of the dump, and of what --raw makes of it, with these options.
back() {
    dump=$1 program=$2
    shift 2
    "$jprof" --raw "$@" ./"$program" "$dump" >raw 2>err || { echo "--raw $*: $(cat err)"; exit 1; }
    for rows in --functions --lines --files --addresses --libs --full-names --fold=alloc --fold=none '--fold=vm --cum'; do
        "$jprof" --show_bytes $rows "$@" ./"$program" "$dump" >dump.rows 2>err || { echo "$rows: $(cat err)"; exit 1; }
        mv "$program" gone
        "$jprof" --show_bytes $rows "$@" --lib_prefix=/nowhere --sysroot="$scratch/gone" raw >raw.rows 2>err ||
            { echo "raw $rows: $(cat err)"; exit 1; }
        mv "gone/$program" .
        [ "$(wc -l <dump.rows)" -gt 2 ] || { echo "$program $rows: few rows: $(cat dump.rows)"; exit 1; }
        sort dump.rows >dump.sorted
        sort raw.rows >raw.sorted
        cmp -s dump.sorted raw.sorted || {
            failed=1
            echo "$program $rows $*: rows of the dump (<) and of its raw file (>)"
            diff dump.sorted raw.sorted | head -n 20
        }
    done
}

conf=prof:true,prof_final:false,lg_prof_sample:0,prof_accum:true
compile() {
    c++ "$@" || { echo "cannot compile with $*"; exit 1; }
}
for options in '-g -O2' '-g0 -O1'; do
    compile $options -o held raw_back.cc
    LD_PRELOAD=$jemalloc MALLOC_CONF=$conf ./held first.heap second.heap || skip "this libjemalloc.so.2 makes no dumps"
    back second.heap held
done
back second.heap held --alloc_space

# jemalloc inside of the program, which has a function my_malloc of its own.
archive=$(ls /usr/lib/*/libjemalloc.a 2>/dev/null | head -n 1)
if [ -n "$archive" ]; then
    compile -g -O1 -rdynamic -o whole raw_back.cc "$archive" -lpthread -ldl -lm
    MALLOC_CONF=$conf ./whole first.heap whole.heap
    back whole.heap whole
fi

# Rust, with its names as the compiler has them, and by its v0 scheme.
if command -v rustc >/dev/null; then
    cp "$source/tests/formats/raw_back.rs" .
    for scheme in '' '-C symbol-mangling-version=v0'; do
        rustc -g -O $scheme -o rust raw_back.rs 2>err || { echo "rustc $scheme: $(cat err)"; exit 1; }
        rm -f rust.*.heap
        LD_PRELOAD=$jemalloc MALLOC_CONF=prof:true,prof_final:true,lg_prof_sample:0,prof_prefix:rust ./rust
        back rust.*.heap rust
    done
fi
exit $failed
