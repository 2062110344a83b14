# What the tests of jprof run share: a program that prints its environment, and what one asks of it. After lib.sh.
find_jemalloc
unset JPROF_JEMALLOC JPROF_AGENT JPROF_AGENT_LIB MALLOC_CONF LD_PRELOAD
TMPDIR=$tmp
export TMPDIR
build env-program environ.c
build static-program environ.c -static

# set_to NAME VALUE: the program that was run printed it.
set_to() {
    check "$1 is not $2" grep -qxF "$1=$2" out
}

# without LIKE COMMAND-LINE...: such a command line of jprof run starts env-program all the same, as it was, and one line
# says why; with --require it starts nothing. Leading words NAME=VALUE are for the environment.
without() {
    like=$1
    shift
    set_there=
    while case $1 in *=*) true ;; *) false ;; esac; do
        set_there="$set_there $1"
        shift
    done
    # shellcheck disable=SC2086
    exits_with 7 env $set_there "$jprof" run "$@"
    says_like "^jprof: .* is started without profiling: .*$like"
    check "it is not started as it was" [ "$(grep -cE '^(LD_PRELOAD|MALLOC_CONF|JPROF_AGENT)=' out)" -eq 3 ]
    check "jprof's agent is preloaded" no_line '^LD_PRELOAD=.*libjprof' out
    # shellcheck disable=SC2086
    is_refused env $set_there "$jprof" run --require "$@"
    says_like "^jprof: .*$like"
}
