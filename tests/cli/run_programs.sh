#!/bin/sh
# jprof run and what a command really is: a program with a jemalloc of its own, one that a launcher starts, one with a
# jemalloc that cannot profile.
. "$(dirname "$0")/lib.sh"
. "$here/run_lib.sh"
build libjemalloc-noprof.so noprof.c -shared -fPIC
mkdir bin
PATH=$tmp/bin:$PATH

# ---- a preloaded jemalloc without profiling gives way
without=$(realpath libjemalloc-noprof.so)
exits_with 7 env LD_PRELOAD="$without" "$jprof" run --no-agent -- ./env-program
check "not said" grep -q "LD_PRELOAD names $without, which was built without profiling: /.*/libjemalloc.so.2 takes its place" err
prints '^LD_PRELOAD=/.*/libjemalloc\.so\.2$'
prints '^MALLOC_CONF=prof:true'

# ---- a jemalloc of the program's own: its functions have a prefix, its variable, too
for prefix in _rjem_ je_; do
    name=$(echo "${prefix}MALLOC_CONF" | tr a-z A-Z)
    build own-seen own_jemalloc.c -DPREFIX=$prefix -rdynamic
    build own-hidden own_jemalloc.c -DPREFIX=$prefix
    exits_with 7 env "$name=narenas:2" "$jprof" run --no-agent --dir="$tmp" -- ./own-seen
    set_to "$name" "prof:true,prof_active:true,lg_prof_sample:17,prof_prefix:$tmp/own-seen,narenas:2"
    set_to MALLOC_CONF '(unset)'
    set_to LD_PRELOAD '(unset)'
    run "$jprof" run --no-agent --print-env --dir=/d -- ./own-seen
    prints "^export $name='prof:true"
    without "own-hidden: its own jemalloc does not export ${prefix}mallctl.*-Wl,--export-dynamic-symbol=${prefix}mallctl" \
        JPROF_AGENT_LIB="$tmp/libjemalloc-noprof.so" -- ./own-hidden
    run "$jprof" run --no-agent --dir="$tmp" -- ./own-hidden
    prints "^$name=prof:true"
    build own-named own_jemalloc.c -DPREFIX=$prefix -Wl,--export-dynamic-symbol=${prefix}mallctl
    run "$jprof" run --no-agent --dir="$tmp" -- ./own-named
    prints "^$name=prof:true"
done

# ---- launchers: what they start is what is meant
printf '#!/bin/sh\nexec "$@"\n' >bin/tini
printf '#!/bin/sh\nshift\nexec "$@"\n' >bin/gosu
printf '#!/bin/sh\nshift 2\nexec "$@"\n' >bin/chpst
cp bin/gosu bin/su-exec
printf '#!/bin/sh\nshift 2\nexec "$@"\n' >bin/sudo
chmod +x bin/*
cp "$tmp/static-program" bin/static-program
for launcher in 'tini --' 'tini -g -p KILL --' 'nice -n 5' 'nice -n5' 'timeout -k 5 60' 'timeout --signal=KILL 60' nohup setsid \
    'stdbuf -oL' 'stdbuf -o L' 'env -u X A=1 nice' 'su-exec nobody' 'gosu nobody:nogroup'; do
    # shellcheck disable=SC2086
    works "$jprof" run --no-agent --print-env -- $launcher ./env-program
    prints '^export MALLOC_CONF='
    # shellcheck disable=SC2086
    exits_with 1 "$jprof" run --no-agent --print-env -- $launcher ./static-program
    says_like 'static-program: is linked statically'
done
if [ "$(id -u)" -eq 0 ]; then
    rm -rf jprof-65534
    for launcher in 'gosu nobody' 'su-exec 65534:65534' 'chpst -u nobody' 'setpriv --reuid=65534 --clear-groups' 'setpriv --reuid 65534 --clear-groups'; do
        # shellcheck disable=SC2086
        exits_with 7 "$jprof" run --no-agent -- $launcher ./env-program
        prints "^MALLOC_CONF=.*,prof_prefix:$tmp/jprof-65534/"
        check "not that user's" [ "$(stat -c '%u %a' jprof-65534)" = '65534 700' ]
    done
    run "$jprof" run --no-agent --dir="$tmp/jprof-0" -- gosu nobody ./env-program
    check "not said" grep -q 'user 65534 cannot write a dump there' err
fi
# ... or the line says where jprof run has to stand.
exits_with 1 "$jprof" run --no-agent --require -- sudo -u nobody ./env-program
says_like 'sudo takes LD_PRELOAD out of the environment; put jprof run behind it, in front of env-program'
exits_with 1 "$jprof" run --no-agent --require -- env LD_PRELOAD=/x.so ./env-program
says_like 'env LD_PRELOAD=/x.so would replace what jprof sets; set it before: env LD_PRELOAD=/x.so jprof run -- COMMAND'
exits_with 1 "$jprof" run --no-agent --require -- env -i ./env-program
says_like 'env takes LD_PRELOAD out'
# A launcher that is static and starts what it likes.
cp static-program bin/busybox
exits_with 7 "$jprof" run --no-agent -- busybox sh
if ! grep -q 'is started without profiling: no jemalloc here' err; then # under musl there may be none
    prints '^MALLOC_CONF=prof:true'
fi
# A wrapper in another language keeps no Ruby out: for=ruby is beside for=NAME (above).

finish
