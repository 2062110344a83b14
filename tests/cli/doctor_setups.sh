#!/bin/sh
# Broken set-ups, as a newcomer makes them: what doctor says of each is so, and nothing false is said. What it says of
# USR2 is tried: the command is started then, and gets the signal.
# usage: doctor_setups.sh JPROF
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_agent
jemalloc=$(realpath "$jemalloc")
unset JPROF_JEMALLOC JPROF_AGENT JPROF_AGENT_LIB MALLOC_CONF LD_PRELOAD PYTHONMALLOC
TMPDIR=$tmp
export TMPDIR
chmod 0755 "$tmp"
cp "$agent" libjprof-agent.so
agent=$tmp/libjprof-agent.so
JPROF_AGENT_LIB=$agent
export JPROF_AGENT_LIB
build waits waits.c
build static-waits waits.c -static
build libjemalloc-noprof.so noprof.c -shared -fPIC
printf 'void *malloc(unsigned long n) { (void)n; return 0; }\n' | ${CC:-gcc} -shared -fPIC -fno-builtin -o libtcmalloc.so -x c - || exit 1
mkdir dumps readonly bin
ln -s "$tmp/waits" bin/ruby
printf '#!/bin/sh\nexec "$@"\n' >wrapper.sh
printf '#!/bin/sh\nshift\nexec "$@"\n' >bin/gosu
printf '#!/bin/sh\nexec "$@"\n' >bin/sudo
chmod +x wrapper.sh bin/gosu bin/sudo
PATH=$tmp/bin:$PATH
conf=prof:true,lg_prof_sample:17,prof_prefix:$tmp/dumps/app
both=LD_PRELOAD=$agent:$jemalloc
setups=0

started_or_gone() {
    grep -qs ready fate.out || ! alive "$1"
}

dumped_or_gone() {
    [ -n "$(find dumps -name '*.heap')" ] || ! alive "$1"
}

refused_or_gone() {
    grep -qs "profiling is off" fate.err || ! alive "$1"
}

# sees FATE COMMAND...: USR2 makes it dump, ends it, or makes it say that it cannot. The file `fate` has what it did.
sees() {
    expected=$1
    shift
    rm -f dumps/* fate.out
    "$@" >fate.out 2>fate.err </dev/null &
    victim=$!
    started="$started $victim"
    until_true 6 started_or_gone "$victim"
    kill -USR2 "$victim" 2>/dev/null
    case $expected in
    refuses) until_true 6 refused_or_gone "$victim" ;;
    nothing) sleep 0.5 ;;
    *) until_true 6 dumped_or_gone "$victim" ;;
    esac
    if [ -n "$(find dumps -name '*.heap')" ]; then
        echo dumps
    elif ! alive "$victim"; then
        echo ends
    elif grep -q 'profiling is off' fate.err; then
        echo refuses
    else
        echo nothing
    fi >fate
    stop "$victim"
    check "USR2: it does not as said ($expected): it $(cat fate)" grep -qx "$expected" fate
}

# setup NAME COMMAND...: doctor of that command. Then rows are looked for; and what it says of USR2 is compared with what
# happens.
setup() {
    name=$1
    shift
    setups=$((setups + 1))
    run "$jprof" doctor -- "$@"
    what="$name: $what"
    check "a sanitizer found something" no_finding
    grep -E '^[a-z]+ +signal ' out >said || echo none >said
    case $(cat said) in
    ok*'would make a dump'*) sees dumps "$@" ;;
    warn*' ends '*) sees ends "$@" ;;
    warn*'profiling is off'*) sees refuses "$@" ;;
    warn*'make no dump'*) sees nothing "$@" ;;
    unknown*'not known'*) : ;;
    *) check "nothing is said of USR2: $(cat said)" false ;;
    esac
    check "the agent would be loaded, and USR2 makes no dump" \
        eval '! grep -qE "^ok +agent " out || grep -qE "^(ok|unknown) +signal |USR2 would make no dump" out || grep -q signal=none out'
}

# row VERDICT CHECK REGEX; not VERDICT CHECK: no such row
row() {
    prints "^$1 +$2  +.*$3"
}
not() {
    prints_no "^$1 +$2 "
}

# ---- 1 to 5: what is preloaded
setup "all is well" env "$both" JPROF_AGENT=for=all MALLOC_CONF="$conf" ./waits
exits 0
row ok agent 'would be loaded'
setup "no jemalloc" env MALLOC_CONF="$conf" ./waits
exits 1
row bad jemalloc 'none would be loaded'
row warn signal 'ends'
setup "the agent alone" env LD_PRELOAD="$agent" JPROF_AGENT=for=all MALLOC_CONF="$conf" ./waits
row bad jemalloc 'the agent alone makes no dumps'
row bad agent 'no jemalloc'
setup "jemalloc without the agent" env LD_PRELOAD="$jemalloc" MALLOC_CONF="$conf" ./waits
row warn agent none
row ok prof prof:true
setup "jemalloc built without profiling" env LD_PRELOAD="$agent:$tmp/libjemalloc-noprof.so" JPROF_AGENT=for=all MALLOC_CONF="$conf" ./waits
row bad config.prof 'without profiling'
row bad agent 'jemalloc does not profile'
setup "a file that is not there" env LD_PRELOAD="$agent:/usr/lib/libjemalloc.so.9" JPROF_AGENT=for=all MALLOC_CONF="$conf" ./waits
row bad preload 'libjemalloc.so.9: No such file'
row bad jemalloc 'none can be loaded'
setup "an agent that is not there" env LD_PRELOAD="/no/libjprof-agent.so:$jemalloc" JPROF_AGENT=for=all MALLOC_CONF="$conf" ./waits
row bad preload 'libjprof-agent.so: No such file'
not ok agent
setup "two jemallocs, the first cannot profile" env LD_PRELOAD="$tmp/libjemalloc-noprof.so:$jemalloc" MALLOC_CONF="$conf" ./waits
row warn preload 'several allocators'
setup "another allocator before jemalloc" env LD_PRELOAD="$tmp/libtcmalloc.so:$jemalloc" MALLOC_CONF="$conf" ./waits
row bad jemalloc 'libtcmalloc.so first, which serves malloc'
not ok prof

# ---- MALLOC_CONF
setup "prof:true is missing" env "$both" JPROF_AGENT=for=all MALLOC_CONF=lg_prof_sample:17 ./waits
row bad prof 'prof:true is missing'
row bad agent 'jemalloc does not profile'
setup "MALLOC_CONF is not set" env "$both" JPROF_AGENT=for=all ./waits
row bad malloc-conf 'is not set'
setup "a typo" env "$both" JPROF_AGENT=for=all MALLOC_CONF="pro:true,lg_prof_sample:17" ./waits
row bad refused 'Invalid conf pair: pro:true'
not ok prof
setup "a wrong value" env "$both" JPROF_AGENT=for=all MALLOC_CONF=prof:yes ./waits
row bad refused 'Invalid conf value: prof:yes'
not ok prof
setup "= for :" env "$both" JPROF_AGENT=for=all MALLOC_CONF=prof=true ./waits
not ok prof
setup "folded YAML" env "$both" JPROF_AGENT=for=all "MALLOC_CONF=
  prof:true" ./waits
row bad malloc-conf 'folded YAML'

# ---- JPROF_AGENT
setup "for Rubies alone" env "$both" MALLOC_CONF="$conf" ./waits
row bad agent 'serves Rubies alone'
setup "for another program" env "$both" JPROF_AGENT=for=puma MALLOC_CONF="$conf" ./waits
row bad agent 'meant for programs called puma'
setup "switched off" env "$both" JPROF_AGENT=off MALLOC_CONF="$conf" ./waits
row bad agent 'switched off'
setup "its signal is another" env "$both" JPROF_AGENT=for=all,signal=none MALLOC_CONF="$conf" ./waits
row warn signal ends

# ---- the program
setup "a static program" env "$both" JPROF_AGENT=for=all MALLOC_CONF="$conf" ./static-waits
row bad program 'linked statically'
row bad jemalloc 'none would be loaded'
not ok config.prof
not ok agent
if [ "$(id -u)" -eq 0 ]; then
    cp waits setuid-waits && chown 65534 setuid-waits && chmod 4755 setuid-waits
    chmod 0777 dumps
    setup "a setuid program" env "$both" JPROF_AGENT=for=all MALLOC_CONF="$conf" ./setuid-waits
    row bad program setuid
    row bad jemalloc 'none would be loaded'
    not ok agent
fi
for archive in /usr/lib/*/libjemalloc.a; do
    [ -f "$archive" ] || continue
    build inside-waits waits.c -Wl,--undefined=mallctl "$archive" -lm -ldl -lstdc++ -lpthread
    setup "a jemalloc inside that hides mallctl" env LD_PRELOAD="$agent" JPROF_AGENT=for=all MALLOC_CONF="$conf" ./inside-waits
    row bad jemalloc 'does not export mallctl'
    row bad agent 'cannot see the program.s mallctl'
    build shown-waits waits.c -Wl,--undefined=mallctl -Wl,--export-dynamic-symbol=mallctl "$archive" -lm -ldl -lstdc++ -lpthread
    setup "a jemalloc inside" env LD_PRELOAD="$agent" JPROF_AGENT=for=all MALLOC_CONF="$conf" ./shown-waits
    row ok jemalloc 'part of'
    not bad agent
done
build rust-waits own_jemalloc.c -DPREFIX=_rjem_
setup "Rust's own jemalloc" env LD_PRELOAD="$agent" JPROF_AGENT=for=all _RJEM_MALLOC_CONF="$conf" ./rust-waits
row bad jemalloc 'does not export _rjem_mallctl'
row ok malloc-conf '_RJEM_MALLOC_CONF=prof:true'
setup "Rust's own jemalloc, the wrong variable" env LD_PRELOAD="$agent" JPROF_AGENT=for=all MALLOC_CONF="$conf" ./rust-waits
row bad malloc-conf '_RJEM_MALLOC_CONF is not set'
if command -v musl-gcc >/dev/null; then
    CC=musl-gcc build musl-waits waits.c
    setup "glibc's jemalloc in a musl program" env "$both" JPROF_AGENT=for=all MALLOC_CONF="$conf" ./musl-waits
    row bad preload 'is for .*, glibc, the program for .*, musl'
    row bad jemalloc 'none can be loaded'
    not ok agent
fi
# A library of 32 bits: another class in its header (byte 4).
cp "$jemalloc" libjemalloc-32.so && printf '\001' | dd of=libjemalloc-32.so bs=1 seek=4 conv=notrunc 2>/dev/null
setup "a library of 32 bits" env LD_PRELOAD="$agent:$tmp/libjemalloc-32.so" JPROF_AGENT=for=all MALLOC_CONF="$conf" ./waits
not ok jemalloc
row bad preload libjemalloc-32.so

# ---- what starts it
setup "sh -c" env "$both" JPROF_AGENT=for=all MALLOC_CONF="$conf" sh -c 'exec ./waits'
row unknown program 'starts other programs'
row unknown signal 'not known'
setup "a wrapper script" env "$both" JPROF_AGENT=for=all MALLOC_CONF="$conf" ./wrapper.sh ./waits
row unknown signal 'not known'
setup "env in env" env "$both" env JPROF_AGENT=for=all nice -n 1 env MALLOC_CONF="$conf" ./waits
exits 0
row ok agent 'would be loaded'
setup "env -i" env "$both" MALLOC_CONF="$conf" env -i ./waits
not ok jemalloc
setup "sudo" env "$both" JPROF_AGENT=for=all MALLOC_CONF="$conf" sudo env -i ./waits
row bad program 'takes LD_PRELOAD out'
setup "jprof run" "$jprof" run --dir="$tmp/dumps" -- ./waits
exits 0
row ok program "$tmp/waits"
row ok agent 'would be loaded, JPROF_AGENT=for=ruby,for=waits'
prints_no 'start it by'
setup "jprof run of a static program" "$jprof" run --dir="$tmp/dumps" -- ./static-waits
row bad run 'without profiling: .*is linked statically'
setup "jprof run behind a launcher" nice -n 1 "$jprof" run --dir="$tmp/dumps" -- env X=1 ./waits
row ok agent 'would be loaded'
setup "jprof run, a directory that cannot be" "$jprof" run --dir=/no/such/dir -- ./waits
row bad directory '/no/such/dir'

# ---- where dumps go
setup "no directory" env "$both" JPROF_AGENT=for=all MALLOC_CONF="prof:true,prof_prefix:/no/such/app" ./waits
row bad directory '/no/such, where dumps are to go'
if [ "$(id -u)" -eq 0 ]; then
    chmod 0755 dumps
    run "$jprof" doctor -- env "$both" JPROF_AGENT=for=all MALLOC_CONF="$conf" gosu nobody ./waits
    row bad directory 'may not be written by user 65534'
    run "$jprof" doctor -- "$jprof" run -- gosu nobody ./waits
    row ok directory "$tmp/jprof-65534 is made by jprof run, for user 65534"
    check "doctor made it" [ ! -e jprof-65534 ]
    setups=$((setups + 2))
fi

# ---- processes
process() {
    name=$1
    shift
    setups=$((setups + 1))
    "$@" >process.out 2>&1 </dev/null &
    pid=$!
    started="$started $pid"
    until_true 60 grep -q ready process.out || { cat process.out; exit 1; }
    run "$jprof" doctor "$pid"
    what="$name: $what"
}
process "not started under jprof" ./waits
row bad jemalloc 'cannot be profiled any more'
stop "$pid"
process "USR2 is ignored" sh -c 'trap "" USR2; exec ./waits'
row ok signal 'is ignored'
kill -USR2 "$pid"
lives "$pid"
stop "$pid"
if unshare -pf true 2>/dev/null; then
    process "pid 1 of its namespace" unshare -pf --kill-child ./waits
    inside=$(cat "/proc/$pid/task/$pid/children")
    run "$jprof" doctor $inside
    row ok signal 'pid 1 in its namespace'
    kill -USR2 $inside
    sleep 0.2
    lives $inside
    stop "$pid"
fi
run "$jprof" doctor 4194999
row bad process 'there is no process'
kernel=$(for dir in /proc/[0-9]*; do [ -s "$dir/comm" ] && ! readlink "$dir/exe" >/dev/null && [ -z "$(tr -d '\0' <"$dir/cmdline")" ] && grep -q 'State:.*[SI] ' "$dir/status" && echo "${dir#/proc/}"; done 2>/dev/null | head -n 1)
if [ -n "$kernel" ] && [ "$(id -u)" -eq 0 ]; then
    run "$jprof" doctor "$kernel"
    row bad process 'a thread of the kernel'
fi
setups=$((setups + 2))

# ---- memory that no profile of malloc shows
python3=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))' 2>/dev/null)
if [ -x "$python3" ]; then
    run "$jprof" doctor -- env "$both" JPROF_AGENT=for=all MALLOC_CONF="$conf" "$python3" x.py
    row warn unseen 'arenas of its own'
    prints 'PYTHONMALLOC=malloc'
    run "$jprof" doctor -- env "$both" PYTHONMALLOC=malloc MALLOC_CONF="$conf" "$python3" x.py
    prints_no ' unseen '
    setups=$((setups + 2))
fi
for runtime in node java postgres; do
    ln -sf "$tmp/waits" bin/$runtime
    run "$jprof" doctor -- env "$both" MALLOC_CONF="$conf" $runtime
    row ok unseen 'does not show'
    setups=$((setups + 1))
done
check "only $setups set-ups" [ "$setups" -ge 40 ]
echo "$setups set-ups"
finish
