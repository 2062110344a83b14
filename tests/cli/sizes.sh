#!/bin/sh
# --sizes: a histogram by jemalloc's size classes, of a dump whose objects are known.
. "$(dirname "$0")/lib.sh"

# dump NAME SIZE:COUNT...: one stack for each size, all of them recorded (no rate).
dump() {
    into=$1
    shift
    for each in "$@"; do echo "$each"; done | awk -F: '
        { n++; bytes += $1 * $2; objects += $2
          stacks = stacks sprintf("@ 0x%x 0x%x\n  t*: %d: %d [0: 0]\n", 4097 + 16 * n, 65537 + 16 * n, $2, $1 * $2) }
        END { printf "heap_v2/1\n  t*: %d: %d [0: 0]\n%s\nMAPPED_LIBRARIES:\n00001000-00100000 r-xp 00000000 08:01 1 /x/prog\n",
              objects, bytes, stacks }' >"$into"
}
# classes: SIZE BYTES OBJECTS of each row
classes() {
    sed '1,2d; s/#.*//' out | awk '{ print $4 $5, $1, $3 }'
}
rounded() {
    works "$jprof" "$of_heaps" --sizes --show_bytes "$@"
}

# ---- each size in its class, equal ones together ----
dump one.heap 32:1000 16:10 48:20 128:30 160:5 256:7 320:9 4096:11 5120:3 65536:2 1048576:1 64:100 64:200
rounded one.heap
says
classes >got
printf '%s\n' '16B 160 10' '32B 32000 1000' '48B 960 20' '64B 19200 300' '128B 3840 30' '160B 800 5' '256B 1792 7' '320B 2880 9' \
    '4KB 45056 11' '5KB 15360 3' '64KB 131072 2' '1MB 1048576 1' >want
same "not the classes" want got
prints '^Total: 1301696 B$'
prints '^ 1048576  80.6% .* 1 MB  #{24}$'
# A mean between two classes belongs to the upper one.
dump mixed.heap 100:3 130:3 500:1 6000:1
rounded mixed.heap
check "classes of means: $(classes)" [ "$(classes | cut -d ' ' -f 1 | tr '\n' ' ')" = '112B 160B 512B 6KB ' ]
# A little above a class, because of a larger object in the same stack, it belongs to that.
dump above.heap 1029:1000 1040:1
rounded above.heap
check "classes of means: $(classes)" [ "$(classes | cut -d ' ' -f 1 | tr '\n' ' ')" = '1KB 1.25KB ' ]

# ---- a difference, filters, objects, errors ----
dump two.heap 32:1500 16:10 48:20 128:30 160:5 256:7 320:9 4096:1 5120:3 65536:2 1048576:1 64:100 64:200
rounded --base=one.heap two.heap
check "a difference: $(classes)" [ "$(classes | tr '\n' ' ')" = '32B 16000 500 4KB -40960 -10 ' ]
rounded --focus=0000000000001011 one.heap
check "a filter: $(classes)" [ "$(classes)" = '32B 32000 1000' ]
run "$jprof" "$of_heaps" --sizes --inuse_objects one.heap
prints '^ +0\.0  71\.5% +1000 +32 B '
works "$jprof" "$of_heaps" --sizes --errors "$heaps/jemalloc-5.3.0.heap"
prints '^ +[0-9.]+ +[0-9.]+% .* KB .*\+-[0-9.]+'
# All rows are the total, and the same from a bundle.
rounded "$heaps/jemalloc-5.3.0.heap"
cp out of_dump
check "the rows are not the total" awk 'NR == 1 { total = $2 } NR > 2 { sum += $1; rows++ } END { exit !(rows > 2 && total - sum < rows && sum - total < rows) }' out
run "$jprof" bundle "$of_heaps" -o b.jprof "$heaps/jemalloc-5.3.0.heap"
rounded b.jprof
same "of a bundle" of_dump out
finish
