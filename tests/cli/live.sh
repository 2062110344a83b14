# Helpers of the tests with live processes; after lib.sh. JPROF_AGENT_SO: the agent.
agent=${JPROF_AGENT_SO:-}
started=
app=app.$$.rb # no other test's processes are called so

# Ends what was started here, and nothing else.
end_started() {
    for pid in $started; do
        kill -CONT "$pid" 2>/dev/null
        kill -KILL "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    started=
}
trap 'end_started; umount "$tmp/full" 2>/dev/null; cd / && rm -rf "$tmp"' EXIT

# until_true SECONDS COMMAND...
until_true() {
    tries=$(($1 * 200)) # a loaded machine has ten times as long
    shift
    while ! "$@"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.05
    done
}

alive() {
    state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null) && [ -n "$state" ] && [ "$state" != Z ]
}

announced() {
    grep -q '/memfd:jprof-agent:' "/proc/$1/maps" 2>/dev/null
}

lives() {
    check "process $1 is gone" alive "$1"
}

# launch PRELOAD CONF COMMAND...: in the background; sets $pid. It makes the file `ready` when it is.
launch() {
    preload=$1 conf=$2
    shift 2
    rm -f ready
    env LD_PRELOAD="$preload" MALLOC_CONF="$conf" "$@" >target.out 2>target.err </dev/null &
    pid=$!
    started="$started $pid"
    until_true 60 test -e ready || { cat target.err; echo "did not start: $*"; exit 1; }
}

# need_fakes: for processes with an agent that does as it is told (src/fake_agent.py) and a dump, $good.
need_fakes() {
    python3=$(command -v python3) || skip "no python3 here"
    "$python3" -c 'import os; os.memfd_create' 2>/dev/null || skip "this python3 knows no memfd"
    mkdir d
    good=$tmp/good.heap
    of_no_machine "$heaps/jemalloc-5.3.0.heap" >"$good"
}

# fake LIES: such a process; sets $pid. Its next dump: $next.
fake() {
    rm -f ready asked
    "$python3" "$here/src/fake_agent.py" "$tmp/d" "$1" "$good" >target.out 2>target.err </dev/null &
    pid=$!
    started="$started $pid"
    until_true 60 test -e ready || { cat target.err; exit 1; }
    next=app.$pid.0.j0.heap
}

# start CONF COMMAND...: under profiling with the agent; start_bare: with what CONF says, without the agent.
start() {
    conf=$1
    shift
    launch "$jemalloc:$agent" "prof:true,$conf" "$@"
}

start_bare() {
    launch "$jemalloc" "$@"
}

# A program for Rack that holds 3000 bytes for each request, and answers with the process.
rack_app() {
    cat >config.ru <<'END'
HELD = []
run lambda { |env|
  HELD << "x" * 3000
  [200, { "content-type" => "text/plain" }, [Process.pid.to_s]]
}
END
}

# stop PID: and waits for its end.
stop() {
    kill -KILL "$1" 2>/dev/null
    wait "$1" 2>/dev/null
}

# The agent is of the libc that jprof was built for, which need not be that of the programs here.
need_agent() {
    [ -f "$agent" ] || skip "no agent was built: JPROF_AGENT_SO"
    libc=ld-musl
    if grep -q 'libc\.so\.6' "$agent"; then libc=libc.so.6; fi
    grep -q "/$libc" /proc/self/maps || skip "the agent is for another libc than the programs here"
    find_jemalloc
}

need_ruby() {
    ruby=$(command -v ruby) || skip "no ruby here (Debian: ruby)"
    "$ruby" -e 'exit RUBY_ENGINE == "ruby"' || skip "$ruby is no MRI"
}

# A Ruby that holds some 20 MB of strings made on known lines.
ruby_app() {
    cat >"$app" <<'END'
$held = Array.new(20_000) { |i| "x" * 1000 + i.to_s }
File.write(ARGV[0] || "ready", Process.pid.to_s)
sleep
END
}

# What a bundle lists, and one of its files.
members_of() {
    tar tf "$1" >list 2>tar.err || fail "tar cannot list $1: $(cat tar.err)"
}

# has FILE REGEX: a name in the bundle's list
has() {
    members_of "$1"
    check "$1 has no $2" grep -qE "^$2\$" list
}

has_no() {
    members_of "$1"
    check "$1 has $2" lacks list "$2"
}

# lacks FILE REGEX: no line is like that
lacks() {
    ! grep -qE -e "$2" "$1"
}

# bundle_key FILE EXPRESSION: of bundle.json, by python3's names
bundle_key() {
    tar xOf "$1" bundle.json >bundle.json && python3 -c '
import json, sys
b = json.load(open("bundle.json"))
m = b["members"]
print(eval(sys.argv[1]))' "$2"
}

# nothing_like DIRECTORY REGEX: no file there, hidden or not, has such a name.
nothing_like() {
    ls -A "$1" >listing
    check "something was left in $1: $(paste -sd ' ' listing)" lacks listing "$2"
}

no_dumps() {
    nothing_like "$1" 'heap|json'
}
