#!/bin/sh
# What bad input gets: the transcript of all cases is bad_input.expected, word for word (write it anew
# with JPROF_REWRITE=1, and read it). For each: the command, standard error, what was on standard output
# (its Total line, and how many rows), the exit status. Nothing may be executed or written: every
# command runs in an empty directory, with an empty HOME and TMPDIR, that must stay empty.
. "$(dirname "$0")/lib.sh"

mkdir in cwd home temp
HOME=$tmp/home TMPDIR=$tmp/temp
export HOME TMPDIR

# ---- the input ----
cp "$heaps"/faults/*.heap in/ || skip "no samples here"
cp "$heaps/jemalloc-5.3.0.heap" in/whole.heap
cp "$heaps/sysroot/tmp/jprof-samples/threads" in/program
printf '#!/bin/sh\nexec ruby\n' >in/script
mkdir in/directory
# Of packed files the first bytes are enough.
for pack in gzip xz zstd; do
    case $pack in
    gzip) printf '\037\213\010\000' ;;
    xz) printf '\3757zXZ\000' ;;
    zstd) printf '\050\265\057\375' ;;
    esac >in/packed.$pack
done
printf 'heap profile:    1:   100 [   1:   100] @ heapprofile\n' >in/gperftools.heap
printf -- '--- symbol\nbinary=/bin/x\n' >in/symbolized
printf '%%warn the disk was full\nheap_v2/1024\n' >in/warn.heap
printf 'no maps\n' >in/words.maps
: >in/empty.maps

# many NUMBER TEXT: the text so often
many() {
    awk -v n="$1" -v text="$2" 'BEGIN { while (n--) printf "%s", text }'
}

# crafted NAME MAPS-LINE...: a dump of one stack with these maps
crafted() {
    name=$1
    shift
    {
        printf 'heap_v2/1024\n  t*: 1: 2048 [0: 0]\n  t0: 1: 2048 [0: 0]\n'
        printf '@ 0x401000 0x401200\n  t*: 1: 2048 [0: 0]\n  t0: 1: 2048 [0: 0]\n\nMAPPED_LIBRARIES:\n'
        printf '%s\n' "$@"
    } >"in/$name"
}
crafted fifo.heap "00400000-00500000 r-xp 00000000 08:01 42    $tmp/fifo.so"
crafted link-to-fifo.heap "00400000-00500000 r-xp 00000000 08:01 42    $tmp/link.so"
crafted device.heap "00400000-00500000 r-xp 00000000 00:05 4    /dev/zero"
crafted folder.heap "00400000-00500000 r-xp 00000000 08:01 42    /usr"
crafted procfile.heap "00400000-00500000 r-xp 00000000 08:01 42    /proc/self/mem"
crafted newline.heap '00400000-00500000 r-xp 00000000 08:01 42    /two\012jprof: lines.so'
crafted escape.heap "$(printf '00400000-00500000 r-xp 00000000 08:01 42    /a\033[2Jb.so')"
crafted text.so.heap "00400000-00500000 r-xp 00000000 08:01 42    $tmp/in/text.heap"
mkfifo fifo.so
ln -s fifo.so link.so
evil="x'';touch\${IFS}jprof-fault-ran;'y.so"
crafted evil.heap "00400000-00500000 r-xp 00000000 08:01 42    /$evil"
mkdir in/sysroot
cp in/program "in/sysroot/$evil"

# ---- the transcript ----
# try ARGUMENTS...: paths are relative to the empty directory.
try() {
    checks=$((checks + 1))
    what="jprof $*"
    status=0
    (cd cwd && timeout 300 "$jprof" "$@" >../out 2>../err </dev/null) || status=$?
    check "a sanitizer found something" no_finding
    check "killed, or out of time" [ "$status" -lt 124 ]
    check "not quiet, and not one line for each thing" [ "$(wc -l <err)" -le 2 ]
    check "control characters" eval '! grep -q "$(printf "[\001-\010\013-\037]")" out err'
    for place in cwd home temp; do
        check "something was written to $place" [ -z "$(ls -A $place)" ]
    done
    {
        printf '$ %s\n' "$what"
        cat err
        sed -n '1s/^Total/(report) &/p' out
        [ ! -s out ] || printf '(report) %s rows\n' "$(grep -vc '^Total' out)"
        printf 'exit status %s\n\n' "$status"
    } | sed "s|$tmp|TMP|g; s|$root|ROOT|g; s|: I/O error;|: Input/output error;|" >>transcript # musl's words
}

sys=--sysroot=$heaps/sysroot
no=--sysroot=../home

# Not a dump.
for f in empty text garbage heap-v3 no-rate rate-huge header-only; do try ../in/$f.heap; done
for f in packed.gzip packed.xz packed.zstd gperftools.heap symbolized warn.heap script program; do try ../in/$f; done
try ../in/directory
try ../in/program ../in/directory
try ../in/missing.heap
try /dev/zero
try /dev/null
try ../in/whole.heap/x

# Operands.
try ../in/missing-program ../in/whole.heap
try no-such-program-anywhere ../in/whole.heap
try ../in/directory ../in/whole.heap
try $sys ../in/whole.heap ../in/program
try $sys ../in/program ../in/program
try $sys ../in/program ../in/whole.heap ../in/missing.heap
try $sys --base=../in/missing.heap ../in/whole.heap
try $sys --base=../in/empty.heap ../in/whole.heap
try ''

# Faults in a dump.
for f in cut-stack cut-after-stack cut-count cut-maps no-maps after-maps; do
    try --show_bytes $sys ../in/$f.heap
done
for f in counters-max counters-over counters-negative counters-trailing address-30-digits address-words stack-empty \
    rate-0 objects-without-bytes bytes-without-objects maps-odd; do
    try --show_bytes $no ../in/$f.heap
done
try --show_bytes --inuse_objects $no ../in/objects-without-bytes.heap

# Names and files of another's choice.
for f in names fifo link-to-fifo device folder procfile newline escape text.so; do
    case $f in
    names) try --show_bytes $no ../in/$f.heap ;;
    *) try --show_bytes ../in/$f.heap ;;
    esac
done
try --show_bytes --sysroot=../in/sysroot ../in/evil.heap

# --maps
try $sys --maps=../in/missing.maps ../in/no-maps.heap
try $sys --maps=../in/empty.maps ../in/no-maps.heap
try $sys --maps=../in/words.maps ../in/no-maps.heap
try $sys --maps=../in/directory ../in/no-maps.heap
try $sys --maps=999999999 ../in/no-maps.heap
try $sys --maps= ../in/no-maps.heap

# --sysroot
try --sysroot=../in/missing ../in/whole.heap
try --sysroot=../in/program ../in/whole.heap

if [ -n "${JPROF_REWRITE:-}" ]; then
    cp transcript "$here/bad_input.expected" && exit
fi
what="the transcript"
: >out
: >err
checks=$((checks + 1))
diff -u "$here/bad_input.expected" transcript >difference || {
    cat difference
    fail "not as bad_input.expected"
}

# ---- 100 MB without a line end, in bounded time and memory; 10 MB in the gate ----
large=10
[ "${JPROF_SWEEP:-}" != whole ] || large=100
zeros() {
    head -c ${large}000000 /dev/zero | tr '\000' "$1"
}

# huge TEXT: runs jprof on the file `huge`, or on the pipe.
huge() {
    status=0
    what=$1
    (
        # A sanitizer's shadow memory does not fit any limit.
        [ "$sanitized" = true ] || ulimit -v 1000000
        timeout 300 "$jprof" --show_bytes $no "$2" >out 2>err
    ) || status=$?
    check "a sanitizer found something" no_finding
    check "standard error is not one line" [ "$(wc -l <err)" -eq 1 ]
    check "standard error is too long" [ "$(wc -c <err)" -lt 1000 ]
}

no=--sysroot=home
zeros 0 >huge
huge "$large MB of zeros" huge
exits 1
says 'jprof: huge:1: is no heap dump: its first line should read "heap_v2/RATE"'
{ printf 'heap_v2/' && cat huge; } >huge2 && mv huge2 huge
huge "a rate of $large MB" huge
exits 1
{ printf 'heap_v2/1024\n  t*: 1: 2048 [0: 0] ' && zeros a; } >huge
huge "a thread's name of $large MB" huge
exits 1
says 'jprof: huge:2: the file ends without MAPPED_LIBRARIES:; no stack before it is sound, make a new dump'
{ printf 'heap_v2/1024\n@ 0x1 0x' && zeros 1; } >huge
huge "an address of $large MB" huge
exits 1
says 'jprof: huge:2: an address is longer than 64 bits; no stack before it is sound, make a new dump'
{ printf 'heap_v2/1024\n@' && zeros ' '; } >huge
huge "$large MB of blanks" huge
exits 1
{ cat in/whole.heap && printf '00400000-00500000 r-xp 00000000 08:01 42    /' && zeros a; } >huge
huge "a path of $large MB" huge
exits 0
{ printf 'heap_v2/1024\n@ 0x1' && many ${large}00000 ' 0x401000'; } >huge
huge "a deep stack" huge
exits 1
says 'jprof: huge:2: a stack is deeper than 65536 frames; no stack before it is sound, make a new dump'
rm huge
finish
