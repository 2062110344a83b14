#!/bin/sh
# jprof doctor: each check once with a set-up that is right and once with one that is wrong, on processes of a small C
# program under a real jemalloc, and on commands that are not started.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
find_jemalloc
jemalloc=$(realpath "$jemalloc")
unset JPROF_JEMALLOC JPROF_AGENT JPROF_AGENT_LIB MALLOC_CONF LD_PRELOAD
TMPDIR=$tmp
export TMPDIR
build waits waits.c
build libjemalloc-noprof.so noprof.c -shared -fPIC
build static-program environ.c -static
mkdir dumps

# start COMMAND...: in the background until the test ends; it says "ready". Its pid is $pid.
start() {
    : >ready
    "$@" >ready 2>started.err </dev/null &
    pid=$!
    started="$started $pid"
    until_true 15 grep -q ready ready || exit 1
}

# under CONF [ARGUMENT]: waits under jemalloc.
under() {
    conf=$1
    shift
    start env LD_PRELOAD="$jemalloc" MALLOC_CONF="$conf" ./waits "$@"
}

# row VERDICT CHECK REGEX: such a row is printed.
row() {
    prints "^$1 +$2  +.*$3"
}

# look CONF [ARGUMENT]: doctor of a process with that MALLOC_CONF.
look() {
    under "$@"
    run "$jprof" doctor "$pid"
    stop "$pid"
}

# plan ASSIGNMENT... COMMAND...: doctor of a command with these variables.
plan() {
    run "$jprof" doctor -- env "$@"
}

good=prof:true,lg_prof_sample:17,prof_prefix:$tmp/dumps/app

# ---- all is well but the agent
under "$good"
is_quiet "$jprof" doctor "$pid"
row ok program "pid $pid, waits, user $(id -u), $tmp/waits, .*, glibc$"
row ok preload "LD_PRELOAD=$jemalloc"
row ok jemalloc "$jemalloc, version [345]\.[0-9]+\.[0-9]+$"
row ok config.prof 'built with profiling: tried here'
row ok malloc-conf 'MALLOC_CONF=prof:true,lg_prof'
row ok refused 'no pair'
row ok options "prof:true,prof_active:true,lg_prof_sample:17,prof_accum:false,prof_prefix:$tmp/dumps/app,prof_leak:false"
row ok prof prof:true
row ok prof_active 'from the start'
row ok rate 'lg_prof_sample:17, one sample for 131072 bytes'
row ok recipe none
row warn agent 'none: jprof snap cannot ask'
row warn signal 'USR2 kills this process: it has no handler'
row ok directory "$tmp/dumps may be written"
row ok space 'MB free'
row ok symbols 'waits has (a symbol table|debug information)'
row ok children 'inherit'
prints '^[0-9]+ ok, 2 warn, 0 bad, 0 unknown$'
check "trying left something behind" [ -z "$(ls dumps)" ]
check "the process was harmed" kill -0 "$pid"
stop "$pid"

# A library that is stripped has names from more than what it exports.
strip -o stripped waits
plan LD_PRELOAD="$jemalloc" MALLOC_CONF="$good" ./stripped
row warn symbols 'stripped is stripped: what it exports has names, and what it registers with Ruby; no pack names its functions; build-id '
mkdir -p data/jprof/names
"$jprof" names learn --soname=stripped -o data/jprof/names/waits.jnames waits || fail "no pack"
XDG_DATA_HOME=$tmp/data run "$jprof" doctor -- ./stripped
row warn symbols 'stripped is stripped: what it exports has names, and what it registers with Ruby; a pack names ([5-9][0-9]|100) % of its functions; build-id '

# ---- MALLOC_CONF
look "$(printf 'prof:true,\n lg_prof_sample:17 ')"
exits 1
row bad malloc-conf 'folded YAML.*Malformed conf string.*prof:true,\\n lg_prof_sample:17 '
row bad refused 'Malformed conf string'
row ok rate lg_prof_sample:19
look "$good,lg_prof_samples:1,prof_final:yes,narenas:2,"
exits 1
row bad refused 'Invalid conf pair: lg_prof_samples:1'
row bad refused 'Invalid conf value: prof_final:yes'
row bad refused 'ends with comma'
row ok options prof:true
look lg_prof_sample:17
exits 1
row bad prof 'prof:true is missing.*cannot be switched on later'
prints_no '^[a-z]+ +rate'
look "$good,prof_active:false"
exits 0
row warn prof_active 'no samples are taken until'
look "$good,prof_leak:true"
row warn recipe 'prof_leak:true does nothing without prof_final:true'
look "$good,prof_leak:true,prof_final:true"
row ok recipe none
row warn children 'dump to the same prefix'
look "$good,prof_gdump:true"
exits 1
row bad recipe 'prof_gdump:true can lock up the process'
look prof:true,lg_prof_interval:20
row warn recipe 'without prof_prefix'
row warn recipe 'lg_prof_interval:20 makes a dump for every 1.0 MB'
prints_no "^[a-z]+ +recipe .*prof_accum"
row ok directory "$tmp may be written"
# Numbers are what jemalloc takes for some.
look prof:true,lg_prof_interval:0x14
row warn recipe 'lg_prof_interval:0x14 makes a dump for every 1.0 MB'
look "$good,lg_prof_interval:0x1e,lg_prof_sample:0x15"
row ok recipe none
row warn rate "lg_prof_sample:21, one sample for $((1 << 21)) bytes"
for lg in 15 16 21; do
    look "$good,lg_prof_sample:$lg"
    row warn rate "lg_prof_sample:$lg, one sample for $((1 << lg)) bytes"
done
rm -f dumps/* jeprof.*
plan LD_PRELOAD="$jemalloc" ./waits
exits 1
row bad malloc-conf 'is not set'
row bad prof missing

# ---- LD_PRELOAD, jemalloc
start ./waits
exits_with 1 "$jprof" doctor "$pid"
row bad jemalloc 'none is loaded: this process cannot be profiled any more'
row ok preload 'is not set'
stop "$pid"
start env LD_PRELOAD=/usr/lib/no-machine/libjemalloc.so.2 MALLOC_CONF="$good" ./waits
exits_with 1 "$jprof" doctor "$pid"
row bad preload '/usr/lib/no-machine/libjemalloc.so.2: No such file'
row bad jemalloc 'names a jemalloc, and yet none'
stop "$pid"
plan LD_PRELOAD="$tmp/libjemalloc-noprof.so" MALLOC_CONF="$good" ./waits
exits 1
row bad config.prof 'without profiling \(--enable-prof\): tried here'
row bad prof 'which jemalloc does not take'
row bad refused 'Invalid conf pair: prof:true'
# Another machine's: the same library with another e_machine (bytes 18 and 19; 0xf3 is RISC-V).
cp "$jemalloc" libjemalloc-riscv.so
printf '\363\000' | dd of=libjemalloc-riscv.so bs=1 seek=18 conv=notrunc 2>/dev/null
plan LD_PRELOAD="$tmp/libjemalloc-riscv.so" MALLOC_CONF="$good" ./waits
exits 1
row bad preload 'is for riscv, glibc, the program for'
printf 'int x;\n' | ${CC:-gcc} -shared -fPIC -o libjemalloc-not.so -x c -
plan LD_PRELOAD="$tmp/libjemalloc-not.so" MALLOC_CONF="$good" ./waits
exits 1
row bad config.prof 'is no jemalloc'
plan LD_PRELOAD="libtcmalloc.so.4:$jemalloc" MALLOC_CONF="$good" ./waits
row warn preload 'several allocators'
# A name without a slash is the loader's to find.
plan LD_PRELOAD=libjemalloc.so.99 MALLOC_CONF="$good" ./waits
exits 1
row bad preload 'libjemalloc.so.99: the loader does not find it'
row bad jemalloc 'none can be loaded'
case $jemalloc in
/usr/lib/*.so.2 | /lib/*.so.2)
    plan LD_PRELOAD=libjemalloc.so.2 MALLOC_CONF="$good" ./waits
    exits 0
    row ok preload 'LD_PRELOAD=libjemalloc.so.2'
    row ok jemalloc '/libjemalloc.so.2, version'
    row ok config.prof 'tried here'
    plan LD_PRELOAD='/usr/$LIB/libjemalloc.so.2' MALLOC_CONF="$good" ./waits
    exits 0
    row ok preload '/usr/\$LIB/libjemalloc.so.2'
    row ok jemalloc '/libjemalloc.so.2, version'
    ;;
esac
mkdir -p below
cp "$jemalloc" below/libjemalloc.so.2
start env LD_PRELOAD=below/libjemalloc.so.2 MALLOC_CONF="$good" ./waits
works "$jprof" doctor "$pid"
row ok preload 'LD_PRELOAD=below/libjemalloc.so.2'
stop "$pid"
build linked waits.c -Wl,--no-as-needed "$jemalloc"
plan MALLOC_CONF="$good" ./linked
exits 0
row ok jemalloc '/libjemalloc\.so\.2, version'
for archive in /usr/lib/*/libjemalloc.a; do
    [ -f "$archive" ] || continue
    build hides waits.c -Wl,--undefined=mallctl "$archive" -lm -ldl -lstdc++ -lpthread
    start env MALLOC_CONF="$good" ./hides
    exits_with 1 "$jprof" doctor "$pid"
    row bad jemalloc "part of $tmp/hides, version [345]\..*does not export mallctl"
    prints ' -> link it with -Wl,--export-dynamic-symbol=mallctl$'
    stop "$pid"
    build holds waits.c -Wl,--undefined=mallctl -Wl,--export-dynamic-symbol=mallctl "$archive" -lm -ldl -lstdc++ -lpthread
    start env MALLOC_CONF="$good" ./holds
    run "$jprof" doctor "$pid"
    row ok jemalloc "part of $tmp/holds, version [345]\."
    row unknown config.prof 'part of the program and cannot be tried'
    row ok prof prof:true
    row ok directory 'may be written'
    stop "$pid"
done
plan LD_PRELOAD="$jemalloc" ./static-program
exits 1
row bad program 'is linked statically'
cp waits setuid && chmod u+s setuid
plan LD_PRELOAD="$jemalloc" ./setuid
row bad program 'setuid'
if command -v musl-gcc >/dev/null; then
    CC=musl-gcc build musl-program waits.c
    plan LD_PRELOAD="$jemalloc" MALLOC_CONF="$good" ./musl-program
    exits 1
    row bad preload 'is for .*, glibc, the program for .*, musl'
fi
# A library that somebody else may write is not run.
cp "$jemalloc" libjemalloc-open.so && chmod 666 libjemalloc-open.so
plan LD_PRELOAD="$tmp/libjemalloc-open.so" MALLOC_CONF="$good" ./waits
row unknown config.prof 'is not tried here'
row ok jemalloc 'libjemalloc-open.so, version [345]\.'

mkdir open && chmod 777 open && cp "$jemalloc" open/libjemalloc.so.2
plan LD_PRELOAD="$tmp/open/libjemalloc.so.2" MALLOC_CONF="$good" ./waits
row unknown config.prof 'is not tried here'
# Nor is a loader that the program brings along.
printf '#!/bin/sh\n: >%s/loader-ran\n' "$tmp" >open/ld.so && chmod 755 open/ld.so
build own-loader waits.c -Wl,--dynamic-linker="$tmp/open/ld.so"
run "$jprof" doctor -- ./own-loader
check "a loader was run that others may write" [ ! -e loader-ran ]
cp open/ld.so ld.so
build own-loader waits.c -Wl,--dynamic-linker="$tmp/ld.so"
run "$jprof" doctor -- ./own-loader
check "this test would not see it run" [ -e loader-ran ]

# ---- what is set but cannot be seen: a title over the environment
under "$good" title
run "$jprof" doctor "$pid"
row unknown preload 'written its title over it'
row unknown malloc-conf 'cannot be read'
row ok jemalloc "$jemalloc"
stop "$pid"

# ---- USR2
look "$good" usr2
row unknown signal 'handler of the program.s own'
for server in puma unicorn sidekiq resque; do
    ln -sf waits bin-$server
    plan ./bin-$server
    row warn signal "USR2 .*$(echo "$server" | cut -c 2-)"
done

# ---- where dumps go
look "$good,prof_prefix:$tmp/none/app"
exits 1
row bad directory "$tmp/none, where dumps are to go: No such file"
look "$good,prof_prefix:$tmp/waits/app"
row bad directory 'Not a directory|is no directory'
look "$good,prof_prefix:dumps/app"
row ok directory "$tmp/dumps may be written"
look "$good,prof_prefix:"
row bad directory 'prof_prefix is empty'
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    chmod 755 "$tmp"
    as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
    start $as_nobody env LD_PRELOAD="$jemalloc" MALLOC_CONF="$good" ./waits
    exits_with 1 "$jprof" doctor "$pid"
    row bad directory "$tmp/dumps may not be written by user 65534: it belongs to user 0, mode 0755"
    chgrp 65534 dumps && chmod 775 dumps
    works "$jprof" doctor "$pid"
    row ok directory 'may be written by user 65534'
    stop "$pid"
    # Somebody else's process.
    if $as_nobody "$jprof" --version >/dev/null 2>&1; then
        under "$good"
        run $as_nobody "$jprof" doctor "$pid"
        row unknown program 'may not be seen by user 65534'
        row unknown jemalloc 'may not be seen'
        row unknown agent 'may not be seen'
        stop "$pid"
    fi
    if unshare -m true 2>/dev/null; then
        # Seen by the process alone: a file system that is too small for a dump.
        start unshare -m sh -c "mount -t tmpfs -o size=64k none dumps && exec env LD_PRELOAD=$jemalloc MALLOC_CONF=$good ./waits"
        exits_with 1 "$jprof" doctor "$pid"
        row ok directory 'as the process sees it'
        row bad space '0.1 MB free'
        row unknown config.prof 'another system'
        stop "$pid"
        start unshare -m sh -c "mount -t tmpfs -o ro none dumps && exec env LD_PRELOAD=$jemalloc MALLOC_CONF=$good ./waits"
        run "$jprof" doctor "$pid"
        row bad space 'read-only'
        stop "$pid"
        # In a pid namespace of its own it is pid 1 or so, as in each other container: the name of its dumps is not its
        # alone.
        start unshare -pf --kill-child --mount-proc env LD_PRELOAD="$jemalloc" MALLOC_CONF="$good" ./waits
        inside=$(cat "/proc/$pid/task/$pid/children")
        run "$jprof" doctor $inside
        row warn prefix "$tmp/dumps/app\.1\.\* may be written by another container"
        kill -KILL $inside && wait "$pid" 2>/dev/null
    fi
fi

# ---- no such process, a zombie
exits_with 1 "$jprof" doctor 4194999
row bad process 'there is no process 4194999'
sh -c 'sleep 1 & echo $! >zombie; exec sleep 100' >/dev/null 2>&1 &
started="$started $!"
until_true 15 test -s zombie
until_true 15 grep -q 'State:.*Z' "/proc/$(cat zombie)/status"
exits_with 1 "$jprof" doctor "$(cat zombie)"
row bad process 'is a zombie'
exits_with 1 "$jprof" doctor 1 2
says_like 'one process at a time'
exits_with 1 "$jprof" doctor -- no-such-program
says 'jprof: no-such-program: no such program'

# ---- JSON says the same
under "$(printf '%s,"\\: \303\251' "$good")"
run "$jprof" doctor "$pid"
cp out text
run "$jprof" doctor --json "$pid"
if command -v python3 >/dev/null; then
    python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["jprof_doctor"] == 1 and d["pid"] == int(sys.argv[1]) and d["command"] is None
for c in d["checks"]:
    print("%-7s  %-11s  %s" % (c["verdict"], c["check"], c["found"]))
    if c["mend"] is not None:
        print("%-7s  %-11s  -> %s" % ("", "", c["mend"]))
print("%d ok, %d warn, %d bad, %d unknown" % (d["ok"], d["warn"], d["bad"], d["unknown"]))' "$pid" <out >again
    sed 's/[0-9.]* MB free/N MB free/' text >text.free
    sed 's/[0-9.]* MB free/N MB free/' again >again.free
    same "JSON and text differ" text.free again.free
fi
run "$jprof" doctor --json -- ./waits 'a"b'
prints '"pid":null,"command":"./waits a\\"b"'

# ---- a glibc before 2.35: its loader has no __rseq_offset
loader=$(readelf -lW waits | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
if readelf -W --dyn-syms "$loader" | grep -q __rseq_offset; then
    run "$jprof" doctor -- env LD_PRELOAD="$jemalloc" ./waits
    prints_no '^[a-z]* *forks '
    LC_ALL=C sed 's/__rseq_offset/__lost_offset/g' "$loader" >"$tmp/${loader##*/}"
    chmod +x "$tmp/${loader##*/}"
    build old-waits waits.c -Wl,--dynamic-linker="$tmp/${loader##*/}"
    run "$jprof" doctor -- env LD_PRELOAD="$jemalloc" ./old-waits
    prints "^warn +forks +glibc is older than 2.35"
fi

# ---- it never signals, and starts only what does nothing
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
        strace -f -o trace -e trace=kill,tkill,tgkill,rt_sigqueueinfo,rt_tgsigqueueinfo,pidfd_send_signal,execve,ptrace \
        "$jprof" doctor "$pid" >out 2>err
    check "nothing was traced" grep -q execve trace
    check "a signal was sent: $(grep -E 'kill|signal|queueinfo' trace)" eval '! grep -qE "(kill|queueinfo|send_signal|ptrace)\(" trace'
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
        strace -f -o trace -e trace=execve "$jprof" doctor -- env LD_PRELOAD="$jemalloc" ./waits >out 2>err
    check "the command was started" eval '! grep "execve(" trace | grep -v -- --list | grep -q "waits\", \[.*/waits"'
fi
stop "$pid"
finish
