#!/bin/sh
# The program with every kind of input, and what it says of those that it refuses.
# usage: cli.sh JPROF SOURCE_ROOT SCRATCH
set -eu
jprof=$(realpath "$1") root=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch/nothing"
cd "$scratch"
export LC_ALL=C

die() {
    echo "$*"
    exit 1
}

# Runs jprof; its output goes to out and err, and its status must be STATUS.
run() {
    want=$1
    shift
    status=0
    "$jprof" "$@" >out 2>err || status=$?
    [ $status -eq "$want" ] || die "jprof $*: status $status, not $want: $(cat err)"
}

# The last run said this, in one line.
said() {
    [ "$(grep -c "$1" err)" -eq 1 ] || die "should say once \"$1\": $(cat err)"
}

total() { sed -n 's/^Total: //p' out; }

heap=$root/samples/heaps/jemalloc-5.3.0.heap
sysroot=--sysroot=$root/samples/heaps/sysroot nothing=--sysroot=nothing
run 0 --show_bytes "$sysroot" "$heap"
cp out plain
[ "$(total)" = '2988079 B' ] || die "total: $(total)"

# Compressed, as a file and on standard input; alone and after a program.
gzip -c "$heap" >a.heap.gz
run 0 --show_bytes "$sysroot" a.heap.gz
cmp -s out plain || die "a.heap.gz reads differently"
run 0 --show_bytes "$sysroot" - <a.heap.gz
cmp -s out plain || die "a.heap.gz on standard input reads differently"
run 0 --show_bytes "$sysroot" a.heap.gz a.heap.gz
[ "$(total)" = '5976158 B' ] || die "two compressed dumps: $(total)"
run 0 --show_bytes --base=a.heap.gz "$sysroot" "$heap"
said 'nothing changed'
run 0 info "$sysroot" a.heap.gz
grep -q '^format *heap_v2, a sample every 1024 bytes' out || die "info: $(head -n 3 out)"
grep -q '^threads *9' out || die "info lists no threads"
for tool in xz zstd; do
    command -v $tool >/dev/null || continue
    $tool -c <"$heap" >a.packed
    run 0 --show_bytes "$sysroot" a.packed
    cmp -s out plain || die "$tool reads differently"
done
printf 'BZh91AY&SY\027\162\105\070\120\220\000\000\000\000' >a.packed # nothing, by bzip2
run 1 "$sysroot" a.packed
said 'is compressed by bzip2; unpack it first, by bunzip2'

# Cut: what was before counts, one line says so, and the status is 0.
gzip -c "$root/samples/cases/ruby31/iseq.1.heap" | head -c 8000 >cut.gz
run 0 --show_bytes "$nothing" cut.gz
said 'cut or damaged'
[ -n "$(total)" ] || die "nothing of the sound part"
run 0 info "$nothing" cut.gz
said 'cut or damaged'
run 0 --base=cut.gz "$nothing" cut.gz
said 'cut or damaged'

# profile.proto out and in; -o and standard output are the same.
run 0 --proto -o p.pb.gz "$sysroot" "$heap"
[ ! -s out ] || die "-o writes to standard output too"
run 0 --proto "$sysroot" "$heap"
cmp -s out p.pb.gz || die "-o and standard output differ"
run 0 --show_bytes "$sysroot" p.pb.gz
head -n 4 out >a
head -n 4 plain >b
cmp -s a b || die "p.pb.gz reads differently: $(cat a)"
run 0 --show_bytes "$sysroot" p.pb.gz "$heap"
[ "$(total)" = '5976158 B' ] || die "proto and dump added: $(total)"
run 0 info "$sysroot" p.pb.gz
grep -q '^format *profile.proto' out || die "info: $(head -n 3 out)"
run 0 --text -o t.txt --show_bytes "$sysroot" "$heap"
cmp -s t.txt plain || die "--text -o differs"
run 1 --proto --text "$sysroot" "$heap"
said 'exclude each other'
run 1 --proto -o nowhere/p.pb.gz "$sysroot" "$heap"
said 'nowhere/p.pb.gz: cannot be written'
run 1 --proto -o /dev/full "$sysroot" "$heap"
said '/dev/full: cannot be written'
if command -v script >/dev/null; then
    script -qec "'$jprof' --proto '$sysroot' '$heap'" /dev/null </dev/null >tty 2>&1 && die "a terminal gets binary data"
    grep -q 'give -o FILE' tty || die "what is said on a terminal: $(cat tty)"
fi

# What is refused, in one sentence.
printf -- '--- contentionz 1 ---\ncycles/second = 1\n' >contention
run 1 contention
said 'contention profile'
printf '\0\0\0\0\3\0\0\0\0\0\0\0\20\47\0\0\0\0\0\0' >cpu
run 1 cpu
said 'cpu profile'
gzip -c contention >contention.gz
run 1 contention.gz
said 'contention profile'
head -c 5 a.heap.gz >tiny.gz
run 1 tiny.gz
said 'cut or damaged'
run 1 info contention
said 'contention profile'
