#!/bin/sh
# jprof snap on real Rubies with the agent: what comes, what is left, what is refused.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_ruby
need_agent
command -v python3 >/dev/null || skip "no python3 here"
ruby_app
mkdir d

# ---- one process --------------------------------------------------------------------------------------
start "lg_prof_sample:14,prof_prefix:$tmp/d/app" "$ruby" "$app"
one=$pid
is_quiet "$jprof" snap "$one"
check "it does not print the path" [ "$(cat out)" = "jprof-$one.jprof" ]
# next_is LINE: the last line says whether garbage was collected, and what to type; that works.
next_is() {
    check "the last line is not: $1" [ "$(cat next)" = "jprof: $1" ]
    command=$(sed 's/.*next: jprof //' next)
    works sh -c "exec \"\$0\" $command" "$jprof"
    prints '^Total: '
}
next_is "no garbage was collected first (--gc does that); next: jprof jprof-$one.jprof"
lives "$one"
# What it finds of names is kept for the user, but root's only where JPROF_CACHE says.
mkdir home
works env -u JPROF_CACHE -u XDG_CACHE_HOME HOME="$tmp/home" "$jprof" snap "$one" -o kept1.jprof
if [ "$(id -u)" = 0 ]; then
    check "root's snap left something" [ -z "$(ls -A home)" ]
else
    check "names were not kept" [ -d home/.cache/jprof ]
fi
works env JPROF_CACHE="$tmp/home/said" "$jprof" snap "$one" -o kept2.jprof
check "names were not kept where JPROF_CACHE says" [ -n "$(find home/said -name '*.names')" ]
rm -r home kept1.jprof kept2.jprof
no_dumps d
for file in agent.json dump.heap maps smaps_rollup status symbols.pb.gz; do
    has "jprof-$one.jprof" "$one/$file"
done
has_no "jprof-$one.jprof" "cmdline|environ"
works "$jprof" --show_bytes "jprof-$one.jprof"
# 20000 strings of 1001 to 1006 bytes, for each of which jemalloc has 1024 or 1280. lg 14 leaves 3 % of error.
check "not 20 MB" awk 'NR == 2 && $1 > 18e6 && $1 < 29e6 { good = 1 } END { exit !good }' out
check "wrong pid" [ "$(bundle_key "jprof-$one.jprof" 'm[0]["pid"]')" = "$one" ]
check "wrong start" [ "$(bundle_key "jprof-$one.jprof" 'm[0]["start_ticks"]')" = "$(sed 's/.*) //' "/proc/$one/stat" | cut -d ' ' -f 20)" ]
check "wrong title" [ "$(bundle_key "jprof-$one.jprof" 'm[0]["title"]')" = "$ruby" ]
check "no build-id" [ "$(bundle_key "jprof-$one.jprof" 'any("libruby" in i["path"] for i in m[0]["build_ids"])')" = True ]
run "$jprof" info --all "jprof-$one.jprof"
prints 'same build.*libruby|libruby.*same build|same inode.*libruby'

# The same name again, another one; a name that was given, refused.
works "$jprof" snap "$one"
check "not the second of its name" [ "$(cat out)" = "jprof-$one.2.jprof" ]
works "$jprof" snap "$one" -o given.jprof
cp given.jprof given.before
exits_with 1 "$jprof" snap "$one" -o given.jprof
says_like '^jprof: given.jprof: exists already'
same "it was overwritten" given.jprof given.before
no_dumps d

# ---- what can be asked for ------------------------------------------------------------------------------
mkdir out.d
is_quiet "$jprof" snap "$one" --label=boot --gc -o out.d
next_is "garbage was collected first; next: jprof out.d/jprof-boot-$one.jprof"
mkdir 'a b'
run "$jprof" snap "$one" --gc -o 'a b/x.jprof'
next_is "garbage was collected first; next: jprof 'a b/x.jprof'"
run "$jprof" snap "$one" --count=2 --every=0.05 -o two.jprof
check "the last line is not a difference" \
    [ "$(cat next)" = "jprof: no garbage was collected first (--gc does that); next: jprof diff two.1.jprof two.2.jprof" ]
check "not named by its label" [ -f "out.d/jprof-boot-$one.jprof" ]
check "no garbage was collected" [ "$(tar xOf "out.d/jprof-boot-$one.jprof" "$one/agent.json" | python3 -c 'import json, sys; print(json.load(sys.stdin)["ruby"]["gc"])')" = "done" ]
check "no label" [ "$(bundle_key "out.d/jprof-boot-$one.jprof" 'b["label"], m[0]["label"]')" = "('boot', 'boot')" ]
works "$jprof" snap "$one" --cmdline --symbols=later --keep-dumps -o bare.jprof
has bare.jprof "$one/cmdline"
has_no bare.jprof symbols.pb.gz
has bare.jprof "$one/frames"
kept=$(ls d | grep '^app\..*heap$')
check "not one dump, its side-car and its table stayed" [ "$(ls d | grep '^app\.' | tr '\n' ' ')" = "$kept $kept.json $kept.ruby " ]
run "$jprof" --show_bytes --top=3 bare.jprof
cp out bare.out
run "$jprof" --show_bytes --top=3 given.jprof
check "names now and later differ" [ "$(sed 1d out | awk '{ print $NF }' | sort)" = "$(sed 1d bare.out | awk '{ print $NF }' | sort)" ]
# The dump in the bundle is the dump that the agent wrote.
tar xOf bare.jprof "$one/dump.heap" >inside.heap
same "the dump was changed" inside.heap "$(ls d/app."$one".*.heap)"
rm -f d/app.*
exits_with 1 "$jprof" snap "$one" -o nowhere/x.jprof
says_like '^jprof: nowhere/x.jprof: cannot be made: No such file or directory$'
no_dumps d

# Progress is for a terminal.
if command -v script >/dev/null; then
    script -qec "$jprof snap $one -o tty.jprof" /dev/null >tty.out </dev/null
    check "no progress on a terminal: $(cat tty.out)" \
        grep -qE "^snap $one $ruby: dump [0-9]+ ms, [0-9.]+ MB, symbols [0-9]+ %" tty.out
fi

# ---- several -----------------------------------------------------------------------------------------------
start "lg_prof_sample:14,prof_prefix:$tmp/d/app" "$ruby" "$app"
two=$pid
exits_with 1 "$jprof" snap "$one" 2147483647 "$two" -o both.jprof
says 'jprof: process 2147483647: there is no such process'
has both.jprof "$one/dump.heap"
has both.jprof "$two/dump.heap"
check "not two members" [ "$(bundle_key both.jprof 'len(m)')" = 2 ]
works "$jprof" snap --match="^$ruby $app\$" -o match.jprof
check "not both" [ "$(bundle_key match.jprof 'sorted(i["pid"] for i in m)')" = "$(printf '%s\n' "$one" "$two" | sort -n | paste -sd, | sed 's/,/, /; s/.*/[&]/')" ]
exits_with 1 "$jprof" snap --match='no such command line' -o match2.jprof
says_like '^jprof: no such process is a Ruby or has a jemalloc; '
check "a file was made" [ ! -e match2.jprof ]
works "$jprof" snap --children-of="$$" -o children.jprof
check "not both children" [ "$(bundle_key children.jprof 'len(m)')" = 2 ]
exits_with 1 "$jprof" snap --match='('
says_like '^jprof: --match: '

# ---- series ---------------------------------------------------------------------------------------------------
mkdir s
works "$jprof" snap "$one" --label=warm --count=3 --every=0.05 --keep=2 -o s
check "not three paths: $(cat out)" [ "$(wc -l <out)" -eq 3 ]
check "not the last two: $(ls s)" [ "$(ls s | paste -sd ' ')" = "jprof-warm-$one.2.jprof jprof-warm-$one.3.jprof" ]
: >"s/jprof-other-$one.jprof"
: >s/mine.jprof
works "$jprof" snap "$two" --label=warm --keep=1 -o s
check "not the newest alone: $(ls s)" [ "$(ls s | paste -sd ' ')" = "jprof-other-$one.jprof jprof-warm-$two.jprof mine.jprof" ]
works "$jprof" snap "$two" --label=warm --max-bytes=1 -o s
check "not the newest alone: $(ls s)" [ "$(ls s | paste -sd ' ')" = "jprof-other-$one.jprof jprof-warm-$two.2.jprof mine.jprof" ]
works "$jprof" snap "$two" -o s/n.jprof --count=2 --every=0.05
check "not numbered" [ -f s/n.1.jprof -a -f s/n.2.jprof ]

# ---- two at once ------------------------------------------------------------------------------------------------
mkdir t
"$jprof" snap "$one" -o t >a.out 2>a.err &
a=$!
"$jprof" snap "$one" -o t >b.out 2>b.err &
b=$!
wait "$a"
check "the first failed: $(cat a.err)" [ $? -eq 0 ]
wait "$b"
check "the second failed: $(cat b.err)" [ $? -eq 0 ]
check "not two bundles: $(ls -A t)" [ "$(ls -A t | wc -l)" -eq 2 ]
for bundle in t/*; do
    works "$jprof" --show_bytes "$bundle"
done
no_dumps d

# ---- ended in the middle --------------------------------------------------------------------------------------------
# The process does not answer: it is stopped.
kill -STOP "$one"
"$jprof" snap "$one" -o killed.jprof >k.out 2>k.err &
k=$!
sleep 0.5
kill -KILL "$k"
wait "$k" 2>/dev/null
check "half a bundle" [ ! -e killed.jprof ]
exits_with 1 "$jprof" snap --timeout=1 "$one" -o stopped.jprof
says_like "process $one: its agent does not answer in time"
check "a file was made" [ ! -e stopped.jprof ]
nothing_like . jprof-part
catches_term() {
    case $(sed -n 's/^SigCgt:.*\(....\)$/\1/p' "/proc/$1/status") in
    [4-7c-f]*) return 0 ;;
    *) return 1 ;;
    esac
}
waits_for_agent() {
    catches_term "$1" && ls -l "/proc/$1/fd" | grep -q socket:
}
# Interrupted, it takes back what it is at; the second time it ends at once.
"$jprof" snap --timeout=2 "$one" -o stopped.jprof >k.out 2>k.err &
k=$!
until_true 20 waits_for_agent "$k"
kill -TERM "$k"
status=0
wait "$k" || status=$?
check "exit status $status, not 1" [ "$status" -eq 1 ]
check "not said: $(cat k.err)" grep -q '^jprof: interrupted: no bundle was written$' k.err
check "a file was made" [ ! -e stopped.jprof ]
"$jprof" snap --timeout=60 "$one" -o stopped.jprof >k.out 2>k.err &
k=$!
until_true 20 waits_for_agent "$k"
kill -TERM "$k"
until_true 20 eval '! catches_term "$k"'
kill -TERM "$k"
status=0
wait "$k" || status=$?
check "exit status $status, not that of a signal" [ "$status" -eq 143 ]
check "a file was made" [ ! -e stopped.jprof ]
nothing_like . jprof-part
kill -CONT "$one"
works "$jprof" snap "$one" -o killed.jprof
lives "$one"
"$jprof" snap "$one" --every=1h -o i >i.out 2>i.err &
k=$!
until_true 20 test -s i.out || fail "the series did not begin"
kill -TERM "$k"
wait "$k"
check "the series did not end well" [ $? -eq 0 ]
works "$jprof" --show_bytes "$(cat i.out)"

# ---- it is gone, or a zombie -----------------------------------------------------------------------------------------
# The shell must not wait for the child: a Ruby that holds it does not, either.
start "lg_prof_sample:14,prof_prefix:$tmp/d/app" "$ruby" -e 'pid = spawn("true"); sleep 0.01 until File.read("/proc/#{pid}/stat") =~ /\) Z /; File.write("child", pid.to_s); File.write("ready", ""); sleep'
zombie=$(cat child)
exits_with 1 "$jprof" snap "$zombie"
says "jprof: process $zombie: has ended (a zombie): its parent, process $pid, has not yet noticed"
stop "$two"
exits_with 1 "$jprof" snap "$two"
says "jprof: process $two: there is no such process"

# ---- just forked ---------------------------------------------------------------------------------------------------------
# An agent in a child takes its time to announce itself.
start "lg_prof_sample:14,prof_prefix:$tmp/d/app" "$ruby" -e 'pid = fork { sleep }; File.write("child", pid.to_s); File.write("ready", ""); Process.wait(pid)'
child=$(cat child)
works "$jprof" snap "$child" -o forked.jprof
lives "$child"
kill -KILL "$child"

# ---- nobody there to ask -----------------------------------------------------------------------------------------------
start_bare prof:false "$ruby" "$app"
is_quiet "$jprof" snap "$pid" -o unprofiled.jprof
has unprofiled.jprof "$pid/heap.json"
has_no unprofiled.jprof "$pid/dump.heap"
lives "$pid"
start_bare prof:true,lg_prof_sample:14 "$ruby" "$app"
is_quiet "$jprof" snap "$pid" -o outside.jprof
has outside.jprof "$pid/heap.json"
has outside.jprof "$pid/dump.heap"
works "$jprof" --show_bytes outside.jprof
check "the profile from outside is not of 20 MB" awk 'NR == 2 && $1 > 18e6 && $1 < 29e6 { good = 1 } END { exit !good }' out
lives "$pid"
exits_with 1 "$jprof" snap --signal=USR2 "$pid"
says_like "process $pid: has jemalloc, but not jprof's agent"
lives "$pid"
agent_only=$agent
env LD_PRELOAD="$jemalloc:$agent_only" MALLOC_CONF=prof:false "$ruby" "$app" off >/dev/null 2>off.err &
off=$!
started="$started $off"
until_true 60 test -e off || { cat off.err; exit 1; }
exits_with 1 "$jprof" snap "$off"
says_like "process $off: jprof's agent is loaded, but MALLOC_CONF has no prof:true"
lives "$off"
"$ruby" "$app" plain >/dev/null 2>&1 &
plain=$!
started="$started $plain"
until_true 60 test -e plain || exit 1
sleep 1000 &
bare=$!
started="$started $bare"
exits_with 1 "$jprof" snap "$bare"
says_like "process $bare: has neither jemalloc nor jprof's agent"
lives "$plain"

# Just begun: its agent has not yet a thread, or has not announced itself; it is waited for.
env LD_PRELOAD="$jemalloc:$agent" MALLOC_CONF="prof:true,prof_prefix:$tmp/d/app" "$ruby" "$app" begun >/dev/null 2>&1 &
begun=$!
started="$started $begun"
until_true 60 grep -qs libjprof-agent "/proc/$begun/maps" || exit 1
works "$jprof" snap "$begun" -o begun.jprof
stop "$begun"

# ---- the list -------------------------------------------------------------------------------------------------------------
exits_with 1 "$jprof" snap
prints "^ *$one +$$ .* yes +yes, lg 14 +$ruby $app"
prints "^ *$off .* yes +not active "
prints "^ *$plain .* no +no "
says_like '^jprof: give the PIDs'

# ---- the directory of the dumps ----------------------------------------------------------------------------------------------
mkdir gone
start "lg_prof_sample:14,prof_prefix:$tmp/gone/app" "$ruby" "$app"
works "$jprof" snap "$pid" -o dir.jprof
mv gone away
exits_with 1 "$jprof" snap "$pid" -o dir2.jprof
check "not one line" [ "$(wc -l <err)" -eq 1 ]
check "no bundle expected" [ ! -e dir2.jprof ]
lives "$pid"
if [ "$(id -u)" -eq 0 ]; then
    mkdir full
    if mount -t tmpfs -o size=64k none full 2>/dev/null; then
        start "lg_prof_sample:8,prof_prefix:$tmp/full/app" "$ruby" "$app"
        works "$jprof" snap "$pid" -o memory.jprof
        exits_with 1 "$jprof" snap --keep-dumps "$pid" -o full.jprof
        says_like "process $pid: its agent says: .*[Nn]o space"
        lives "$pid"
        check "no bundle expected" [ ! -e full.jprof ]
        nothing_like full 'heap|json|part'
        stop "$pid"
        umount full
    fi
fi
finish
