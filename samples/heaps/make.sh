#!/bin/sh
# Makes the dumps of this folder anew; README.md says what each one is for.
# Needs gcc, Debian 12's libjemalloc2 and, as /tmp/jprof-samples/VERSION/libjemalloc.so.2,
# the other versions, built as README.md says.
#
# Addresses and samples differ from run to run: totals.txt must be made anew too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=/tmp/jprof-samples # the dumps name the programs by this path
debian=/usr/lib/x86_64-linux-gnu/libjemalloc.so.2

mkdir -p $top
cp "$here"/src/*.c $top
cd $top
flags='-g -O1 -Wall -Wextra'
gcc $flags -o threads threads.c -pthread
gcc $flags -no-pie -o threads-nopie threads.c -pthread
gcc $flags -shared -fPIC -o addon.so addon.c
gcc $flags -Wl,--no-warn-rwx-segments -o maps maps.c

# profiled LIBJEMALLOC CONF COMMAND...
profiled() {
    lib=$1 conf=$2
    shift 2
    LD_PRELOAD=$lib MALLOC_CONF=prof:true,$conf "$@"
}

for version in 4.0.0 4.5.0; do
    profiled $top/$version/libjemalloc.so.2 lg_prof_sample:10,prof_accum:true \
        ./threads "$here/jemalloc-$version.heap"
done
profiled $debian lg_prof_sample:10,prof_accum:true ./threads "$here/jemalloc-5.3.0.heap"
profiled $top/5.3.1/libjemalloc.so.2 lg_prof_sample:10,prof_accum:true,prof_sys_thread_name:true \
    ./threads "$here/jemalloc-5.3.1.heap" sys

profiled $debian lg_prof_sample:0 ./threads-nopie "$here/nopie.heap"
profiled $debian lg_prof_sample:0 /lib64/ld-linux-x86-64.so.2 ./threads "$here/loader.heap"
profiled $debian lg_prof_sample:0 ./maps $top "$here/maps.heap"

# The object files that name their functions, less the one that is not a fair file name.
mkdir -p "$here/sysroot$top"
cp threads threads-nopie maps addon.so addon.node 'with blank.so' "$here/sysroot$top"

cd "$here"
sed 's/$/\r/' jemalloc-5.3.0.heap >crlf.heap

# --- faults: cut, overgrown or crafted -------------------------------------------------
mkdir -p faults
cd faults
whole=../jemalloc-5.3.0.heap

# up_to N PATTERN: the dump up to the Nth line with PATTERN, that line being left out
up_to() { awk -v n="$1" -v pattern="$2" '$0 ~ pattern && !--n { exit } { print }' $whole; }
# part N PATTERN: the first half of that line, without a newline
part() { awk -v n="$1" -v pattern="$2" '$0 ~ pattern && !--n { printf "%s", substr($0, 1, length($0) / 2); exit }' $whole; }

: >empty.heap
printf 'heap_v2/1024\n' >header-only.heap
printf 'This is a letter, not a heap dump.\n' >text.heap
printf '\177\001\000\377heap\n\200\n\000\000@ 0x1\n' >garbage.heap
up_to 1 '^MAPPED' >no-maps.heap
{ up_to 3 '^@'; part 3 '^@'; } >cut-stack.heap
{ up_to 3 '^@'; awk '/^@/ && ++n == 3 { print; exit }' $whole; } >cut-after-stack.heap
{ up_to 3 '^  t[*]: '; part 3 '^  t[*]: '; } >cut-count.heap
{ up_to 6 'r-xp'; part 6 'r-xp'; } >cut-maps.heap
cat $whole ../jemalloc-4.5.0.heap >after-maps.heap
sed 's/^heap_v2/heap_v3/' $whole >heap-v3.heap

maps='MAPPED_LIBRARIES:
00400000-00500000 r-xp 00000000 08:01 42                                 /opt/app/bin/server'
# small HEADER STACK COUNTERS [MAPS]: a dump of one stack
small() { printf '%s\n  t*: 10: 1000 [0: 0]\n  t0: 10: 1000 [0: 0]\n@ %s\n  t*: %s\n  t0: %s\n\n%s\n' "$1" "$2" "$3" "$3" "${4:-$maps}"; }

small heap_v2 '0x401000 0x402000' '10: 1000 [0: 0]' >no-rate.heap
small heap_v2/0 '0x401000 0x402000' '10: 1000 [0: 0]' >rate-0.heap
small heap_v2/99999999999999999999999999 '0x401000 0x402000' '10: 1000 [0: 0]' >rate-huge.heap
small heap_v2/1024 '0x401000 0x402000' '18446744073709551615: 18446744073709551615 [18446744073709551615: 18446744073709551615]' >counters-max.heap
small heap_v2/1024 '0x401000 0x402000' '18446744073709551616: 99999999999999999999999999 [0: 0]' >counters-over.heap
small heap_v2/1024 '0x401000 0x402000' '-10: 1000 [0: 0]' >counters-negative.heap
small heap_v2/1024 '0x401000 0x402000' '10: 1000 [0: 0] and more' >counters-trailing.heap
small heap_v2/1024 '0x401000 0x402000' '10: 0 [5: 0]' >objects-without-bytes.heap
small heap_v2/1024 '0x401000 0x402000' '0: 1000 [0: 5]' >bytes-without-objects.heap
small heap_v2/1024 '0x123456789012345678901234567890 0x402000' '10: 1000 [0: 0]' >address-30-digits.heap
small heap_v2/1024 '0x401000 server+0x2000 402000' '10: 1000 [0: 0]' >address-words.heap
small heap_v2/1024 '' '10: 1000 [0: 0]' >stack-empty.heap
small heap_v2/1024 '0x401000 0x402000' '10: 1000 [0: 0]' 'MAPPED_LIBRARIES:
00500000-00400000 r-xp 00000000 08:01 42                                 /opt/app/bin/backwards
00400000-00400000 r-xp 00000000 08:01 42                                 /opt/app/bin/nothing
00400000-00500000 r-xp 00000000 08:01 42                                 /opt/app/bin/server
00480000-00600000 r-xp 00080000 08:01 43                                 /opt/app/lib/overlapping.so
123456789012345678901234567890-ffffffffffffffffffffffffffffff r-xp ffffffffffffffffffffffff 08:01 44 /opt/app/lib/wide.so
00600000-00700000 r-xp
00600000 r-xp 00000000 08:01 45 /opt/app/lib/no-end.so
a line of words' >maps-odd.heap

# A name is a name.  The first of these paths makes Perl jeprof run touch.
small heap_v2/1024 '0x401000 0x501000 0x601000 0x701000 0x801000 0x901000' '10: 1000 [0: 0]' "MAPPED_LIBRARIES:
00400000-00500000 r-xp 00000000 08:01 42                                 /x'';touch\${IFS}jprof-fault-ran;'y.so
00500000-00600000 r-xp 00000000 08:01 43                                 /\$(touch\${IFS}jprof-fault-ran).so
00600000-00700000 r-xp 00000000 08:01 44                                 /\`touch\${IFS}jprof-fault-ran\`.so
00700000-00800000 r-xp 00000000 08:01 45                                 /\"; touch jprof-fault-ran; \".so
00800000-00900000 r-xp 00000000 08:01 46                                 /two\\012lines.so
00900000-00a00000 r-xp 00000000 08:01 47                                 /-o/../|touch jprof-fault-ran|.so" >names.heap
