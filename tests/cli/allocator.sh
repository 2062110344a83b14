#!/bin/sh
# The allocator's frames go, and only they: a function of the program's own called `free` in mid-stack,
# C++'s operator new, and a jemalloc that is a part of the program, with and without a prefix.
# Every block is sampled (lg_prof_sample:0), so the amounts are known: size classes of jemalloc.
. "$(dirname "$0")/lib.sh"
find_jemalloc
flags='-g -O1 -fno-optimize-sibling-calls'

# holds NAME BYTES: the row that has exactly these flat bytes.
holds() {
    prints "^ *$2 +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ $1\$"
}

# below NAME BYTES: the row that holds nothing itself, and passes BYTES through.
below() {
    prints "^ *0 +0\\.0% +[^ ]+ +$2 +[^ ]+ $1\$"
}

# ---- functions of one's own with an allocator's names, in mid-stack ----
build midfree midfree.c $flags -fno-builtin
profiled lg_prof_sample:0 ./midfree midfree.heap
for fold in alloc none std vm; do
    works "$jprof" --show_bytes --fold=$fold midfree midfree.heap
    holds below_free 512000
    for name in free calloc main; do below $name 512000; done
done
if command -v jeprof >/dev/null; then
    HOME=$tmp jeprof --text --show_bytes midfree midfree.heap >out 2>err </dev/null
    what="jeprof, which cuts the stack there: else this test shows nothing"
    prints_no below_free
    prints '^ *512000 .* main$'
fi

# ---- C++ ----
build news news.cc $flags -std=c++17
profiled lg_prof_sample:0 ./news news.heap
for view in --fold=none --fold=alloc --cum --lines --addresses --full-names; do
    works "$jprof" --show_bytes $view news news.heap
    prints_no 'operator new'
    prints_no 'malloc'
done
run "$jprof" --show_bytes --fold=none news news.heap
holds shop::one_by_one 307200
holds shop::arrays 409600
holds shop::nothrow 614400
holds shop::aligned 409600
holds shop::sell 1536000
holds shop::many 3072000
holds 'shop::shelf::operator\(\)' 614400
holds 'shop::\(anonymous namespace\)::hidden' 1024000
holds 'lambda at news.cc:'$(grep -n 'auto .*= \[' "$here/src/news.cc" | head -n 1 | cut -d : -f 1) 716800
below main 8785920
run "$jprof" --show_bytes --full-names news news.heap
holds 'shop::sell\(int\)' 716800
holds 'shop::sell\(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&\)' 819200
holds 'void shop::many<int>\(int\)' 1024000
holds 'void shop::many<long>\(long\)' 2048000
holds 'shop::shelf::operator\(\)\(int\) const' 614400
holds 'shop::\(anonymous namespace\)::hidden\(\)' 1024000
holds 'main::\{lambda\(int\)#1\}::operator\(\)\(int\) const' 716800

# ---- jemalloc inside the program ----
find_archive() {
    for archive in /usr/lib/*/libjemalloc.a /usr/lib/libjemalloc.a /usr/local/lib/libjemalloc.a; do
        [ -f "$archive" ] && return
    done
    skip "no libjemalloc.a here (Debian: libjemalloc-dev)"
}

# inside_rows PROGRAM DUMP
inside_rows() {
    check "libjemalloc.so is mapped" eval "! grep -q 'libjemalloc\\.so' $2"
    for fold in none alloc; do
        works "$jprof" --show_bytes --fold=$fold "$1" "$2"
        for name in by_malloc by_calloc by_realloc by_aligned_alloc by_mallocx; do holds $name 512000; done
        holds large 4096000
        below main 6656000
        prints_no 'prof_|je_|alloc_prep|imalloc|_rjem|arena|tcache'
        prints_no ' (malloc|calloc|realloc|mallocx|aligned_alloc)$'
    done
}

find_archive
system='-lstdc++ -lm -pthread -ldl'
build inside inside.c $flags "$archive" $system
check "malloc is not the program's own" eval "nm inside | grep -q ' T malloc\$'"
MALLOC_CONF=prof:true,lg_prof_sample:0 timeout 300 ./inside inside.heap || exit 1
inside_rows ./inside inside.heap

nm -g --defined-only "$archive" 2>/dev/null |
    awk '$2 ~ /^[A-Z]$/ && $3 !~ /^(je_|_Z|__)/ { print $3, "_rjem_" $3 }' | sort -u >prefixed
objcopy --redefine-syms=prefixed "$archive" prefixed.a 2>err || { cat err; exit 1; }
build prefixed inside.c $flags '-DPREFIXED(name)=_rjem_##name' prefixed.a $system
check "malloc has no prefix" eval "nm prefixed | grep -q ' T _rjem_malloc\$'"
check "there is a malloc without a prefix, too" eval "! nm prefixed | grep -q ' T malloc\$'"
MALLOC_CONF=prof:true,lg_prof_sample:0 timeout 300 ./prefixed prefixed.heap || exit 1
inside_rows ./prefixed prefixed.heap
finish
