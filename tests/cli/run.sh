#!/bin/sh
# jprof run: finds and proves a jemalloc, sets the environment, starts the program.
. "$(dirname "$0")/lib.sh"
. "$here/run_lib.sh"
if "$jprof" run --no-agent --print-env 2>&1 | grep -q 'is for .*, glibc; jprof is for .*, musl'; then
    skip "jprof is for musl, and the jemalloc here is not"
fi
build libnoprof.so noprof.c -shared -fPIC

# ---- what is set, and what of the user's stays
exits_with 7 "$jprof" run --no-agent --jemalloc="$jemalloc" -- ./env-program 'a b' '' --dir=x
set_to LD_PRELOAD "$(realpath "$jemalloc")"
set_to MALLOC_CONF "prof:true,prof_active:true,lg_prof_sample:17,prof_prefix:$tmp/jprof-$(id -u)/env-program"
check "arguments changed" [ "$(grep -c '^argument' out)" -eq 3 ]
prints '^argument --dir=x$'
says_like "dumps go to $tmp/jprof-$(id -u)/env-program"
check "the directory is not private" [ "$(stat -c %a "jprof-$(id -u)")" = 700 ]

run env MALLOC_CONF=lg_prof_sample:12,narenas:2 JPROF_AGENT=every=10m \
    "$jprof" run --no-agent --dir="$tmp" --label=boot --inactive -- ./env-program
set_to MALLOC_CONF "prof:true,prof_active:false,prof_prefix:$tmp/boot,lg_prof_sample:12,narenas:2"
set_to JPROF_AGENT every=10m
check "not said which gave way" grep -q 'lg_prof_sample:12, which stays; jprof would have set 17' err
run env MALLOC_CONF=lg_prof_sample:12 "$jprof" run --no-agent --sample=18 -- ./env-program
prints '^MALLOC_CONF=prof:true,.*,lg_prof_sample:12,lg_prof_sample:18$'
check "not said which gave way" grep -q "lg_prof_sample:12; the command line's lg_prof_sample:18 counts" err
# What was ever allocated is counted where that is asked for.
run "$jprof" run --no-agent --alloc --dir="$tmp" --label=x -- ./env-program
set_to MALLOC_CONF "prof:true,prof_active:true,lg_prof_sample:17,prof_accum:true,prof_prefix:$tmp/x"
run env MALLOC_CONF=prof_accum:false "$jprof" run --no-agent --alloc --dir="$tmp" --label=x -- ./env-program
set_to MALLOC_CONF "prof:true,prof_active:true,lg_prof_sample:17,prof_prefix:$tmp/x,prof_accum:false,prof_accum:true"
run env MALLOC_CONF=prof_accum:true "$jprof" run --no-agent --dir="$tmp" --label=x -- ./env-program
set_to MALLOC_CONF "prof:true,prof_active:true,lg_prof_sample:17,prof_prefix:$tmp/x,prof_accum:true"
run env MALLOC_CONF="prof_prefix:$tmp/mine" "$jprof" run --no-agent -- ./env-program
prints "^MALLOC_CONF=prof:true,prof_active:true,lg_prof_sample:17,prof_prefix:$tmp/mine$"
says_like "dumps go to $tmp/mine\."
run env MALLOC_CONF=lg_prof_samples:12 "$jprof" run --no-agent -- ./env-program
check "jemalloc's complaint was not told" grep -q 'jprof: jemalloc says of MALLOC_CONF: <jemalloc>: Invalid conf pair: lg_prof_samples:12' err
without 'MALLOC_CONF has prof:false, with which nothing can be profiled: take it out$' MALLOC_CONF=prof:false --no-agent -- ./env-program
run env MALLOC_CONF=prof:false "$jprof" run --no-agent -- ./env-program
set_to MALLOC_CONF prof:false
set_to LD_PRELOAD '(unset)'
# With it jemalloc would end the program.
without 'a program that does nothing does not end well' MALLOC_CONF=abort_conf:true,nonsense:1 --no-agent -- ./env-program

# Folded YAML: with it jemalloc itself stops at the first blank.
folded=$(printf 'background_thread:false,\n lg_prof_sample:12\n ')
run env LD_PRELOAD="$jemalloc" MALLOC_CONF="$folded" true
check "jemalloc takes blanks: this test proves nothing" grep -q 'Malformed conf string' err
run env MALLOC_CONF="$folded" "$jprof" run --no-agent -- ./env-program
prints '^MALLOC_CONF=prof:true,.*,background_thread:false,lg_prof_sample:12$'
check "blanks were not told" grep -q 'MALLOC_CONF has blanks' err
check "jemalloc complains still" eval '! grep -q "<jemalloc>" err'

# ---- it profiles: the dump at the end has the rate that was asked for
exits_with 7 env MALLOC_CONF=prof_final:true "$jprof" run --no-agent --sample=16 --dir="$tmp/made" -- ./env-program
check "not one dump" [ "$(ls made | wc -l)" -eq 1 ]
check "another rate" grep -q '^heap_v2/65536$' made/env-program.*.heap

# ---- how commands are found
mkdir bin
printf '#!%s\n' "$tmp/env-program" >bin/by-line
printf '#!/usr/bin/env -S A=1 env-program -w\n' >bin/by-env
printf '#!/usr/bin/env no-such-interpreter\n' >bin/by-none
printf 'text\n' >bin/text
chmod +x bin/*
cp env-program bin
PATH=$tmp/bin:$PATH
for command in env-program by-line by-env; do
    exits_with 7 "$jprof" run --no-agent -- $command
    prints '^MALLOC_CONF=prof:true'
done
exits_with 7 "$jprof" run --no-agent -- env A=2 env-program
exits_with 1 "$jprof" run --no-agent --require -- by-none
says_like 'by-none: starts no-such-interpreter, which is not in PATH'
exits_with 1 "$jprof" run --no-agent -- no-such-program
says 'jprof: no-such-program: no such program'
exits_with 1 "$jprof" run --no-agent -- ./libnoprof.so.not
exits_with 1 "$jprof" run --no-agent --require -- text
says_like 'text: is no ELF file'
exits_with 1 "$jprof" run --no-agent
says_like 'no command to start'
without 'static-program: is linked statically' --no-agent -- ./static-program
cp env-program setuid && chmod u+s setuid
without 'setuid: is setuid' --no-agent -- ./setuid

# ---- which jemalloc
without 'libnoprof.so: a jemalloc built without profiling' --no-agent --jemalloc=./libnoprof.so -- ./env-program
without 'libnoprof.so: a jemalloc built without profiling' JPROF_JEMALLOC=./libnoprof.so --no-agent -- ./env-program
exits_with 7 env JPROF_JEMALLOC="$jemalloc" "$jprof" run --no-agent -- ./env-program
printf 'int x;\n' | ${CC:-gcc} -shared -fPIC -o libnothing.so -x c -
without 'libnothing.so: is no jemalloc' --no-agent --jemalloc=libnothing.so -- ./env-program
without 'missing.so: No such file or directory$' --no-agent --jemalloc=missing.so -- ./env-program
# Linked with it: not preloaded a second time.
build linked environ.c -Wl,--no-as-needed "$jemalloc"
exits_with 7 "$jprof" run --no-agent -- ./linked
set_to LD_PRELOAD '(unset)'
prints '^MALLOC_CONF=prof:true'
run "$jprof" run --no-agent --print-env=docker --label=x --dir=/d -- ./linked
check "an empty variable, or a cut line" [ "$(cat out)" = \
    'ENV MALLOC_CONF="prof:true,prof_active:true,lg_prof_sample:17,prof_prefix:/d/x"' ]
# Part of it: its own functions come before those of anything preloaded.
for archive in /usr/lib/*/libjemalloc.a; do
    [ -f "$archive" ] || continue
    build holds environ.c -Wl,--undefined=mallctl "$archive" -lm -ldl -lstdc++ -lpthread
    exits_with 7 env MALLOC_CONF=prof_final:true "$jprof" run --no-agent --dir="$tmp/inside" -- ./holds
    set_to LD_PRELOAD '(unset)'
    says_like 'jemalloc was not tried'
    check "no dump of jemalloc inside" [ "$(ls inside | wc -l)" -eq 1 ]
done

# Preloaded already: it stays in its place. A sanitizer's library has to come first.
own=$jemalloc
if [ "$sanitized" = true ]; then own="$(${CC:-gcc} -print-file-name=libasan.so):$jemalloc"; fi
if LD_PRELOAD=$own "$jprof" --version >/dev/null 2>&1; then
    exits_with 7 env LD_PRELOAD="$own" "$jprof" run --no-agent -- ./env-program
    set_to LD_PRELOAD "$own"
    case $jemalloc in
    /usr/lib/*.so.2 | /lib/*.so.2) # by its name alone, as recipes for containers have it
        exits_with 7 env LD_PRELOAD="${own%"$jemalloc"}libjemalloc.so.2" "$jprof" run --no-agent -- ./env-program
        set_to LD_PRELOAD "${own%"$jemalloc"}libjemalloc.so.2"
        prints '^MALLOC_CONF=prof:true'
        ;;
    esac
fi

# ---- what nobody has named is run only where root alone can write it
mkdir others
cp "$jemalloc" others/libjemalloc.so.2
chmod 777 others
if unshare -m mount --bind others /usr/local/lib 2>/dev/null; then
    exits_with 7 unshare -m sh -c 'mount --bind others /usr/local/lib && exec "$@"' sh \
        "$jprof" run --no-agent --jemalloc=/usr/local/lib/libjemalloc.so.2 -- ./env-program
    run unshare -m sh -c 'mount --bind others /usr/local/lib && exec "$@"' sh "$jprof" run --no-agent -- ./env-program
    check "what others may write was run" eval '! grep -q /usr/local/lib out'
else
    echo "no mount namespace here: a jemalloc that others may write is not tried"
fi

# ---- what runs it: closed streams, ignored children
exits_with 7 sh -c 'exec "$@" <&-' sh "$jprof" run --no-agent --jemalloc="$jemalloc" -- ./env-program
exits_with 7 perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' "$jprof" run --no-agent --jemalloc="$jemalloc" -- \
    ./env-program

# ---- musl beside glibc
if command -v musl-gcc >/dev/null; then
    CC=musl-gcc build musl-program environ.c
    without 'is for .*, glibc; musl-program is for .*, musl.*man jprof-run' --no-agent --jemalloc="$jemalloc" -- ./musl-program
    for own in "${JPROF_DOWNLOADS:-${HOME:-/root}/.cache/jprof}"/musl-*/lib/libjemalloc.so.2; do
        [ -f "$own" ] || continue
        exits_with 7 "$jprof" run --no-agent --jemalloc="$own" -- ./musl-program
        set_to LD_PRELOAD "$(realpath "$own")"
        without 'is for .*, musl; env-program is for .*, glibc' --no-agent --jemalloc="$own" -- ./env-program
    done
else
    echo "no musl-gcc here (Debian: musl-tools): musl programs are not tried"
fi

# ---- the agent: any library stands for it here
# An agent that the loader ends the program for, as it does for one of a newer C library.
printf 'int nowhere(void);\nint (*agent)(void) = nowhere;\n' | ${CC:-gcc} -shared -fPIC -o libnewer.so -x c -
without "libnewer.so: a program that does nothing does not end well with it: .*nowhere.*; give --no-agent" \
    JPROF_AGENT_LIB="$tmp/libnewer.so" --jemalloc="$jemalloc" -- ./env-program
exits_with 7 env JPROF_AGENT_LIB="$tmp/libnothing.so" "$jprof" run --jemalloc="$jemalloc" -- ./env-program
set_to LD_PRELOAD "$tmp/libnothing.so:$(realpath "$jemalloc")"
set_to JPROF_AGENT for=ruby,for=env-program
# A shim is a script that starts the program of its name: pyenv's python3. A script of env's is what it names.
mkdir shims real
cp env-program real/served
printf '#!/bin/sh\nexec "%s/real/${0##*/}" "$@"\n' "$tmp" >shims/served
printf '#!/usr/bin/env env-program\n' >shims/by-env
chmod +x shims/*
exits_with 7 env PATH="$tmp/shims:$PATH" JPROF_AGENT_LIB="$tmp/libnothing.so" "$jprof" run --jemalloc="$jemalloc" -- served
set_to JPROF_AGENT for=ruby,for=served
run env PATH="$tmp/shims:$tmp:$PATH" JPROF_AGENT_LIB="$tmp/libnothing.so" "$jprof" run --jemalloc="$jemalloc" -- by-env
set_to JPROF_AGENT for=ruby,for=env-program
run env JPROF_AGENT_LIB="$tmp/libnothing.so" JPROF_AGENT=every=1h,for=all "$jprof" run -- ./env-program
set_to JPROF_AGENT every=1h,for=all
run env JPROF_AGENT_LIB="$tmp/libnothing.so" JPROF_AGENT=every=1h,for=all "$jprof" run --slots=64k --at=peak -- ./env-program
set_to JPROF_AGENT every=1h,for=all,at=peak,slots=64k
run env JPROF_AGENT_LIB="$tmp/libnothing.so" "$jprof" run --slots=off -- ./env-program
set_to JPROF_AGENT slots=off,for=ruby,for=env-program
check "slots of 64: $("$jprof" run --slots=64 -- true 2>&1)" eval '! "$jprof" run --slots=64 -- true 2>err && grep -q "slots=64: give 128k" err'
without 'libjprof-agent.so is not where it was installed.*--no-agent' JPROF_AGENT_LIB="$tmp/missing.so" -- ./env-program
mkdir 'a b'
cp libnothing.so 'a b'
exits_with 7 env JPROF_AGENT_LIB="$tmp/a b/libnothing.so" "$jprof" run -- ./env-program
says_like 'started without profiling: .*cannot be named in LD_PRELOAD'
set_to LD_PRELOAD '(unset)'

# Which agent: in a moved copy of jprof, of libraries that need the one or the other libc.
mkdir -p tree/bin tree/agent
cp "$jprof" tree/bin/jprof
copied() {
    run env LD_LIBRARY_PATH="$(dirname "$jprof")/../libjprof" tree/bin/jprof run "$@"
}
is_agent() {
    exits 7
    check "$1 is not preloaded" grep -q "^LD_PRELOAD=$tmp/$1:" out
}
echo 'int puts(const char *); void *mallctl(void) { puts(""); return 0; }' >agent.c
${CC:-gcc} -shared -fPIC -o tree/agent/libjprof-agent.so agent.c
libc=glibc
if readelf -lW env-program | grep -q ld-musl; then libc=musl; fi
copied --jemalloc="$jemalloc" -- ./env-program
is_agent tree/agent/libjprof-agent.so
cp tree/agent/libjprof-agent.so "tree/agent/libjprof-agent-$libc.so"
copied --jemalloc="$jemalloc" -- ./env-program
is_agent "tree/agent/libjprof-agent-$libc.so"
if command -v musl-gcc >/dev/null && [ $libc = glibc ] && ! readelf -lW "$jprof" | grep -q ld-musl; then
    # Where nothing can try it a jemalloc that is named is believed.
    musl-gcc -shared -fPIC -o libmusl.so agent.c
    copied --jemalloc="$tmp/libmusl.so" -- ./musl-program
    exits 7
    check "the agent does not fit, and that is not said" grep -q \
        "started without profiling: .*libjprof-agent.so: is for .*, glibc, which musl-program is not: install the one of that system beside it, as libjprof-agent-musl.so, or give --no-agent$" err
    cp libmusl.so tree/agent/libjprof-agent-musl.so
    copied --jemalloc="$tmp/libmusl.so" -- ./musl-program
    is_agent tree/agent/libjprof-agent-musl.so
fi
# In its own folder, unless others could put it there.
if [ ! -e /usr/local/lib/jprof ]; then
    mv tree/agent/libjprof-agent.so tree/bin
    rm -r tree/agent
    copied --jemalloc="$jemalloc" -- ./env-program
    is_agent tree/bin/libjprof-agent.so
    chmod o+w tree/bin
    copied --jemalloc="$jemalloc" -- ./env-program
    says_like 'started without profiling: libjprof-agent.so is not where it was installed'
fi

# ---- where dumps go
# nowhere LIKE COMMAND-LINE...: no file can be written, and it is profiled all the same.
nowhere() {
    like=$1 snaps='without the agent jprof snap gets none'
    shift
    case "$*" in *--no-agent*) ;; *) snaps='jprof snap gets them all the same' ;; esac
    exits_with 7 "$@"
    check "not said: $like" grep -qE "^jprof: $like.*no dump goes to a file then, and $snaps$" err
    prints '^MALLOC_CONF=prof:true.*,prof_prefix:/nonexistent/env-program'
    check "dumps go to a directory that is not there" no_line 'dumps go to' err
}
nowhere 'no/such: cannot be made: No such file or directory; give another directory with --dir=DIR' \
    "$jprof" run --no-agent --dir=no/such -- ./env-program
nowhere 'no/such: cannot be made' env JPROF_AGENT_LIB="$JPROF_AGENT_SO" "$jprof" run --dir=no/such -- ./env-program
exits_with 1 "$jprof" run --no-agent --require --dir=no/such -- ./env-program
says_like 'no/such: cannot be made: No such file or directory; give another directory with --dir=DIR'
nowhere 'env-program: no dump can be written there: Not a directory' "$jprof" run --no-agent --dir=env-program -- ./env-program
nowhere '.*MALLOC_CONF cannot hold a path with a comma' "$jprof" run --no-agent --dir=a,b -- ./env-program
exits_with 1 "$jprof" run --no-agent --label=a/b -- ./env-program
# A size is what its logarithm is.
for size in 64k:16 512K:19 1M:20 128KiB:17 2mb:21 1G:30 19:19 1:1; do
    works "$jprof" run --no-agent --dir="$tmp" --sample="${size%:*}" --print-env
    prints "lg_prof_sample:${size#*:}[,']"
done
for wrong in '100K:64K and 128K' '3M:2M and 4M' '1000k:512K and 1024K'; do
    exits_with 1 "$jprof" run --no-agent --sample="${wrong%%:*}" -- ./env-program
    says "jprof: --sample=${wrong%%:*}: is no power of two; ${wrong#*:} are"
done
for wrong in 0 41 K -1 17x 64KX '' 4096G 99999999999999999999K; do
    exits_with 1 "$jprof" run --no-agent --sample="$wrong" -- ./env-program
    says_like "^jprof: --sample=$wrong: give the logarithm"
done
exits_with 1 "$jprof" run --no-agent --sample=131072 -- ./env-program
says_like 'give the logarithm'
# A directory in /tmp that somebody else could have made.
mkdir taken
mkdir -m 777 "taken/jprof-$(id -u)"
nowhere '.*is not yours alone' env TMPDIR="$tmp/taken" "$jprof" run --no-agent -- ./env-program
exits_with 7 env MALLOC_CONF=prof_prefix:/no/such/x "$jprof" run --no-agent -- ./env-program
check "not said" grep -q '/no/such: cannot be made' err
set_to MALLOC_CONF "prof:true,prof_active:true,lg_prof_sample:17,prof_prefix:/no/such/x"

# ---- a real Ruby
if command -v ruby >/dev/null; then
    exits_with 3 env MALLOC_CONF=prof_final:true "$jprof" run --no-agent --dir="$tmp/ruby" -- ruby -e 'puts ARGV; exit 3' x 'y z'
    prints '^y z$'
    works "$jprof" --libs ruby/ruby.*.heap
    prints 'libruby'
fi
finish
