# Helpers of the tests that look at a process from outside; after live.sh.
parked=$JPROF_PARKED_HEAP
[ -x "$parked" ] || skip "no parked_heap here"
LD_PRELOAD=${jemalloc-} "$parked" </dev/null 2>/dev/null | grep -q '^end' || skip "parked_heap is of another C library than $jemalloc"

# park PRELOAD CONF COMMAND...: sets $pid; its output is in the file said, which is whole.
park() {
    preload=$1 conf=$2
    shift 2
    mkfifo hold
    : >said
    env LD_PRELOAD="$preload" MALLOC_CONF="$conf" "$@" <hold >said 2>/dev/null &
    pid=$!
    started="$started $pid"
    exec 9>hold
    rm hold
    until_true 60 grep -q '^end' said || { echo "did not start: $*"; exit 1; }
}
unpark() {
    lives "$pid"
    exec 9>&-
    wait "$pid" 2>/dev/null
}
