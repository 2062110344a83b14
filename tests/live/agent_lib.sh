# Helpers of the agent's tests, for any POSIX sh. A test begins with
#     . "$(dirname "$0")/agent_lib.sh"
# is called with the agent's library and the subject program, finds itself in a directory of its own, `$tmp`, and
# ends with `finish`. Dumps go to $tmp/d.
set -u
LC_ALL=C
export LC_ALL
agent=$(readlink -f "$1")
subject=$(readlink -f "$2")
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)

skip() {
    echo "$*"
    exit 77
}

# Not in the musl lane, whose libraries the system's Ruby cannot load.
has_ruby() {
    [ "${JPROF_LIVE_RUBY:-yes}" = yes ] && command -v ruby >/dev/null
}

find_jemalloc() {
    for jemalloc in ${JPROF_JEMALLOC:-} /usr/local/lib/libjemalloc.so.2 /usr/lib/*/libjemalloc.so.2; do
        [ -f "$jemalloc" ] && LD_PRELOAD=$jemalloc MALLOC_CONF=prof:true "$subject" >said 2>&1 && [ ! -s said ] && return
    done
    skip "no libjemalloc.so.2 with profiling here"
}

tmp=$(mktemp -d) || exit 1
started=
# Only what the test started, by number.
clean() {
    for pid in $started; do kill -KILL "$pid" 2>/dev/null; done
    wait 2>/dev/null
    cd / && rm -rf "$tmp"
}
trap clean EXIT
trap 'exit 1' HUP INT TERM
cd "$tmp" || exit 1
command -v python3 >/dev/null || skip "no python3 here"
command -v jq >/dev/null || skip "no jq here"
find_jemalloc
mkdir d
conf=prof:true,lg_prof_sample:12,prof_prefix:$tmp/d/app
words=for=all
wrap=

checks=0
failures=0
# check TEXT COMMAND...: fails with TEXT where COMMAND does.
check() {
    says=$1
    shift
    checks=$((checks + 1))
    "$@" >check.out 2>&1 && return
    failures=$((failures + 1))
    echo "FAIL: $says"
    sed 's/^/    /' check.out | head -n 12
}

finish() {
    echo "$checks checks, $failures failures"
    [ "$failures" -eq 0 ] && [ "$checks" -gt 0 ]
    exit
}

# until_true COMMAND...: waits for it, 30 s at most.
until_true() {
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 3000 ] || return 1
        sleep 0.05
    done
}

is_announced() {
    grep -q /memfd:jprof-agent: "/proc/$1/maps"
}

# start COMMAND...: runs it, by $wrap, with the agent in the background, its number in $pid, and waits for the agent. Its
# output is in the files said and cried.
start() {
    rm -f said
    # shellcheck disable=SC2086
    $wrap env LD_PRELOAD="$agent:$jemalloc" MALLOC_CONF="$conf" JPROF_AGENT="$words" "$@" >said 2>cried </dev/null &
    pid=$!
    started="$started $pid"
    until_true is_announced "$pid" || { echo "FAIL: no agent in: $*"; cat cried; exit 1; }
}

ask() {
    python3 "$here/ask.py" "$@"
}

# field FILTER REQUEST...: of the last reply, by jq, from $pid.
field() {
    filter=$1
    shift
    ask "$pid" "$@" | tail -n 1 | jq -r "$filter"
}

lives() {
    kill -0 "$1" && ! grep -q '^State:.*Z' "/proc/$1/status"
}

count_dumps() {
    ls d | grep -c '\.heap$'
}

has_dumps() {
    [ "$(count_dumps)" -ge "$1" ]
}

# Each dump is whole, with its side-car and nothing else beside.
dumps_are_whole() {
    for heap in d/*.heap; do
        grep -q '^MAPPED_LIBRARIES:' "$heap" && jq -e .malloc_stats.jemalloc.stats.allocated "$heap.json" || return 1
    done
    ! ls -A d | grep -vE '^\.jprof-agent\.[0-9]+\.[0-9a-f]+\.sock$|\.heap$|\.heap\.json$|\.heap\.ruby$'
}

end() {
    kill -KILL "$1" 2>/dev/null
    wait "$1" 2>/dev/null
}
