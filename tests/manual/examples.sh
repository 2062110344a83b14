#!/bin/sh
# Every example of the manual pages runs: examples.sh JPROF PAGES. What stands in for what they name: a Puma, its snapshots and dumps.
pages=$(CDPATH= cd -- "$2" && pwd) || exit 1
. "$(dirname "$0")/../cli/lib.sh"
. "$here/../cli/live.sh"
need_ruby
need_agent
for tool in puma python3 jq "${CC:-gcc}"; do
    command -v "$tool" >/dev/null || skip "no $tool here"
done

# ---- a world for them ------------------------------------------------------------------------------------

JPROF_AGENT_LIB=$agent JPROF_JEMALLOC=$jemalloc HOME=$tmp/home TMPDIR=$tmp
export JPROF_AGENT_LIB JPROF_JEMALLOC HOME TMPDIR
mkdir -p bin ci config image dumps var home/.local/share/jprof/names
ln -s "$jprof" bin/jprof
printf '#!/bin/sh\nshift\nexec "$@"\n' >bin/bundle
chmod +x bin/bundle
PATH=$tmp/bin:$PATH
rack_app
cat >config/puma.rb <<'END'
threads 1, 1
bind "unix://puma.sock"
END
printf '{"jprof_baseline": 1, "accepted": []}\n' >ci/jprof.json
printf 'int rb_a(int x) { return x * x + 1; }\nint rb_b(int x) { return rb_a(x) + rb_a(x + 1); }\n' >ruby.c
"${CC:-gcc}" -g -O1 -shared -fPIC -Wl,-soname,libruby.so.3.1 -o libruby.so.3.1 ruby.c || exit 1
ln -s libruby.so.3.1 libruby-3.1.so.3.1.2

# examples PAGE...: the commands there, one a line
examples() {
    python3 -c '
import re, sys
for path in sys.argv[1:]:
    page = open(path).read()
    blocks = "".join(re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", page, re.S | re.M))
    for line in re.findall(r"^\.Dl (jprof .*)", page, re.M) + re.findall(r"^(jprof .*?)(?:  +#.*)?$", blocks, re.M):
        print(line.replace("\\(aq", chr(39)).replace("\\(dq", chr(34)).replace("\\-", "-").replace("\\e", chr(92)))' "$@"
}

# here_is COMMAND: with the names of this world in it
here_is() {
    printf '%s\n' "$1" | sed -E "s/\b(4711|PID)\b/$pid/; s/--puma\b/--puma=$pid/; s/--every=[0-9]+m/--every=1s/; s/--count=12/--count=2/
        s,/var/tmp,$tmp/var,; s,/dumps,$tmp/dumps,; s,/run/app,$tmp/var,; s/^jprof serve --puma=.*/& --listen=127.0.0.1:0/"
}

# ---- what begins it: jprof run ---------------------------------------------------------------------------

# What makes files that others read comes first.
examples "$pages"/*.[1-8] | sort -u >both
grep -E '^jprof (snap|names|bundle)\b' both >all
grep -vE '^jprof (snap|names|bundle)\b' both >>all
check "only $(wc -l <all) examples were found" [ "$(wc -l <all)" -ge 25 ]
server=$(grep '^jprof run -- ' all)
check "no example starts a server, or several do: $server" [ "$(printf '%s\n' "$server" | grep -c puma)" = 1 ]
sh -c "exec $server" >puma.out 2>puma.err </dev/null &
pid=$!
started="$started $pid"
until_true 60 announced "$pid" || { cat puma.out puma.err; exit 1; }
until_true 60 test -S puma.sock || { cat puma.out puma.err; exit 1; }
ask() {
    "$ruby" -rsocket -e '1000.times { s = UNIXSocket.new("puma.sock"); s.write("GET / HTTP/1.0\r\n\r\n"); s.read }'
}
# Dumps and snapshots, the early ones first.
for moment in 1 2 3; do
    ask
    works "$jprof" snap --gc --keep-dumps -o "snap$moment.jprof" "$pid"
    dump=$(find "$tmp" -name "*.$pid.*.heap" | sort | tail -n 1)
    cp "$dump" "kv.$moment.heap"
done
cp kv.1.heap app.1.heap && cp kv.2.heap app.2.heap && cp kv.3.heap app.heap && cp kv.1.heap app.1.0.i0.heap
for name in evening warm; do cp snap1.jprof $name.jprof; done
for name in night soak1; do cp snap2.jprof $name.jprof; done
for name in morning soak soak2; do cp snap3.jprof $name.jprof; done
cp "/proc/$pid/smaps_rollup" smaps_rollup
printf '%s\n' 'KEPT = []' '5.times do' '  4.times do |i|' '    KEPT << [' '      "session #{i % 2}"]' 'end' 'end' >session.rb
"$ruby" -robjspace -e 'ObjectSpace.trace_object_allocations_start; load "session.rb"; GC.start
    File.open("heap.ndjson", "w") { |f| ObjectSpace.dump_all(output: f) }' || fail "no dump of ObjectSpace"

# ---- the others -------------------------------------------------------------------------------------------

# ran STATUSES: and said something, of use
ran() {
    case " $1 " in *" $status "*) ;; *) fail "exit status $status, not one of $1" ;; esac
    case $what in *"| jq"*) return ;; esac # nothing is bad
    check "nothing came of it" test -s out -o -n "$(find . -newer mark -type f ! -name out ! -name err ! -name next | head -n 1)"
    check "it was not understood" no_line 'unknown option|no such command|is not taken|--help lists' err
}

# until_output COMMAND: it goes on for ever, and is interrupted when it has shown something
until_output() {
    what=$1
    rm -f out growth.txt
    # What a shell starts in the background ignores INT.
    env --default-signal=INT sh -c "exec $1" >out 2>err </dev/null &
    watcher=$!
    started="$started $watcher"
    until_true 60 test -s out -o -s growth.txt
    kill -INT "$watcher"
    status=0
    wait "$watcher" || status=$?
}

while read -r example <&3; do
    touch -d '1 second ago' mark
    command=$(here_is "$example")
    case $example in
    "$server") continue ;;
    "jprof watch"* | "jprof serve"*) until_output "$command" ;;
    *) run sh -c "$command" ;;
    esac
    case $example in
    "jprof doctor"*) ran "0 1" ;;
    "jprof check"*) ran "0 3" ;;
    *) ran 0 ;;
    esac
done 3<all

# ---- pages of section 5 and 7 -----------------------------------------------------------------------------

# literal PAGE N: the Nth block of text there
literal() {
    python3 -c '
import re, sys
block = re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", open(sys.argv[1]).read(), re.S | re.M)[int(sys.argv[2]) - 1]
print(block.replace("\\(aq", chr(39)).replace("\\(dq", chr(34)).replace("\\-", "-").replace("\\e", chr(92)), end="")' "$@"
}

literal "$pages/jprof-heap.5" 1 >example.heap
works "$jprof" --show_bytes --text --fold=none example.heap
prints '^Total: [0-9]+ B$'
works "$jprof" info --json example.heap
checks=$((checks + 1))
python3 -c '
import json, sys
def numbers(x):
    for v in x.values() if isinstance(x, dict) else x if isinstance(x, list) else []:
        yield from numbers(v)
        yield v
d = list(numbers(json.load(open("out"))))
sys.exit(not (524288 in d))' || fail "the example of jprof-heap(5) is not read as the page says"

# jprof-agent(7): what preloads it by hand, and the signal that makes a dump
printf '$held = Array.new(2000) { |i| "x" * 1000 + i.to_s }\nsleep\n' >app.rb
literal "$pages/jprof-agent.7" 1 >by_hand
check "jprof-agent(7) begins with another example" grep -q '^kill -USR2 PID' by_hand
sed -E "/^kill/d; s,[^=:]*/libjprof-agent\.so,$agent,; s,[^=:]*/libjemalloc\.so\.2,$jemalloc,; s,/tmp/app,$tmp/dumps/app,; s/^(ruby )/exec \1/; s,^LD_PRELOAD,exec env &,; s,^exec (ruby),\1," by_hand >start_by_hand
sh start_by_hand >hand.out 2>hand.err </dev/null &
pid=$!
started="$started $pid"
until_true 60 announced "$pid" || { cat start_by_hand hand.err; exit 1; }
kill -USR2 "$pid"
dumped() {
    [ -n "$(find dumps -name "app.$pid.*.heap")" ]
}
what="jprof-agent(7): kill -USR2"
check "no dump" until_true 60 dumped
lives "$pid"
finish
