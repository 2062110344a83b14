#!/bin/sh
# What jprof asks of the system while it reads a hostile dump: no process, no socket, nothing opened for
# writing, and what is no regular file is not opened at all (O_PATH opens nothing: it names a place).
. "$(dirname "$0")/lib.sh"
command -v strace >/dev/null || skip "no strace here"
# A leak check would fail under a tracer.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
DEBUGINFOD_URLS=http://127.0.0.1:9/
HOME=$tmp/home
XDG_CACHE_HOME=$tmp/home
export ASAN_OPTIONS DEBUGINFOD_URLS HOME XDG_CACHE_HOME
mkdir home
strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"

# ---- a dump whose maps name what should not be opened ----
evil="x'';touch\${IFS}jprof-ran;'y.so"
mkdir root root/dir
cp "$heaps/sysroot/tmp/jprof-samples/threads" "root/$evil" || skip "no samples here"
cp "root/$evil" outside.so
mkfifo root/fifo.so
ln -s fifo.so root/link-to-fifo.so
ln -s /dev/zero root/link-to-device.so
ln -s ../../../../../../../.."$tmp"/outside.so root/up.so
ln -s "$tmp"/outside.so root/absolute.so
ln -s loop.so root/loop.so

# maps PREFIX: a line for each
maps() {
    at=4
    for path in "/$evil" /fifo.so /link-to-fifo.so /link-to-device.so /dir /up.so /absolute.so /loop.so \
        "/..$tmp/outside.so" '/$(touch jprof-ran).so' '/`touch jprof-ran`.so' '/-o/../|touch jprof-ran|.so' '/two\012lines.so'; do
        printf '00%x00000-00%x00000 r-xp 00000000 08:01 %s    %s%s\n' $at $((at + 1)) $at "$1" "$path"
        at=$((at + 1))
    done
    printf '20000000-20100000 r-xp 00000000 00:05 4    /dev/zero\n'
    printf '20100000-20200000 r-xp 00000000 00:05 4    /dev/tty\n'
    printf '20200000-20300000 r-xp 00000000 00:05 4    /proc/self/mem\n'
    printf '20300000-20400000 rwxp 00000000 00:00 0\n'
}

# dump PREFIX: a stack with an address in each mapping
dump() {
    printf 'heap_v2/1024\n  t*: 1: 2048 [0: 0]\n  t0: 1: 2048 [0: 0] $(touch jprof-ran)\n@ 0x1'
    maps "$1" | sed 's/-.*//; s/$/; /; s/00; $/f0/' | while read -r start; do printf ' 0x%s' "$start"; done
    printf '\n  t*: 1: 2048 [0: 0]\n  t0: 1: 2048 [0: 0]\n\nMAPPED_LIBRARIES:\n'
    maps "$1"
}
dump '' >below.heap
dump "$tmp/root" >plain.heap
check "not an address for each mapping" [ "$(grep '^@' plain.heap | wc -w)" -eq 19 ]

# traced ARGUMENTS...
traced() {
    works strace -f -qq -y -o trace "$jprof" "$@"
    prints '^Total: 2368 B$'
    check "more than itself was executed" [ "$(grep -c 'execve(' trace)" -eq 1 ]
    grep -E " (clone3?|v?fork)\(" trace >clones
    check "a process was started" eval '! grep -qv CLONE_THREAD clones'
    check "another thread was started than the one that watches memory" [ "$(wc -l <clones)" -le 1 ]
    check "the network was asked for" eval '! grep -qE "(socket|connect|sendto)\(" trace'
    check "something was opened for writing" eval '! grep -E "open(at)?\(|creat\(" trace | grep -E "O_WRONLY|O_RDWR|O_CREAT|creat\(" | grep -v /dev/null'
    check "something was made, moved or removed" eval \
        '! grep -E "(mkdir|mknod|link|symlink|rename|unlink|rmdir|truncate|chmod|chown)(at)?2?\(" trace | grep -v readlink'
    check "what is no regular file was opened" eval \
        '! grep -E "open(at)?\(" trace | grep -E "fifo|/dev/(zero|tty)|link-to|\"(dir|dev|zero|tty)\"" | grep -v O_PATH'
    check "something was written" [ -z "$(find . -name '*jprof-ran*' ! -name "$evil")$(ls -A home)" ]
    # The trace's first column is the process.
    check "nothing was traced" grep -q 'plain.heap\|below.heap' trace
}

traced --show_bytes --full-names plain.heap
check "the ELF file with the odd name was not even tried" grep -q 'touch.*jprof-ran.*y\.so' trace
traced --show_bytes --lines --lib_prefix="$tmp/root" below.heap
traced --show_bytes --addresses --fold=vm --sysroot="$tmp/root" below.heap
check "a path led out of the sysroot" eval '! grep "open" trace | grep -q "outside\.so.* = [0-9]"'
finish
