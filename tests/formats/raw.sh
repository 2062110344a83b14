#!/bin/sh
# What Perl jeprof --raw writes, with its dump behind it, is read as jeprof reads it.
# usage: raw.sh JPROF SOURCE_ROOT SCRATCH
set -eu
jprof=$(realpath "$1") scratch=$3
jemalloc=$(ls /usr/lib/*/libjemalloc.so.2 /usr/lib/libjemalloc.so.2 2>/dev/null | head -n 1)
skip() {
    echo "$*"
    exit 77
}
[ -n "$jemalloc" ] || skip "no libjemalloc.so.2 here (Debian: libjemalloc2)"
command -v jeprof >/dev/null || skip "no jeprof here (Debian: libjemalloc-dev)"
command -v c++ >/dev/null || skip "no c++ here (Debian: g++)"
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
export LC_ALL=C HOME="$scratch" JEPROF_TMPDIR="$scratch"

die() {
    echo "$*"
    exit 1
}

cat >held.cc <<'END'
#include <cstdlib>
struct Row {
	void *p = nullptr;
	__attribute__((noinline)) Row &operator--() { p = malloc(30000); return *this; }
	__attribute__((noinline)) Row &operator-(int n) { for (; n; n--) p = malloc(5000); return *this; }
};
namespace keep {
__attribute__((noinline)) void *rows(int n) { void *p = nullptr; while (n--) p = malloc(2000); return p; }
}
int main() { Row row; --row; row - 7; return keep::rows(500) == nullptr; }
END
c++ -g -O1 -o held held.cc
LD_PRELOAD=$jemalloc MALLOC_CONF=prof:true,prof_final:true,lg_prof_sample:0,prof_prefix:held ./held
mv held.*.heap held.heap 2>/dev/null || skip "this libjemalloc.so.2 makes no dumps"
jeprof --raw ./held held.heap >raw 2>/dev/null || true
grep -q '^--- heap' raw || die "jeprof wrote no symbols: $(head -n 3 raw)"
cat held.heap >>raw

# The file is not asked: it is gone.
mv held moved
"$jprof" --fold=none --show_bytes --lib_prefix=/nowhere raw >out 2>err || die "jprof: $(cat err)"
for row in 'keep::rows' 'Row::operator--' 'Row::operator-' 'main'; do
    awk -v row="$row" '{ name = $6; for (i = 7; i <= NF; i++) name = name " " $i } name == row { found = 1 } END { exit !found }' out ||
        die "no row $row: $(cat out)"
done
jeprof --text --show_bytes raw >perl 2>/dev/null || die "jeprof does not read its own file"
[ "$(head -n 1 out)" = "$(head -n 1 perl)" ] || die "$(head -n 1 out), jeprof has $(head -n 1 perl)"
for name in keep::rows main; do
    ours=$(awk -v n="$name" '$6 == n { print $1, $4 }' out)
    theirs=$(awk -v n="$name" '$6 == n { print $1, $4 }' perl)
    [ "$ours" = "$theirs" ] || die "$name: $ours, jeprof has $theirs"
done
