#!/bin/sh
# A musl program with known stacks under musl's jemalloc, its dump read by the musl jprof.
# usage: sh live.sh BUILDDIR SYSROOT
# Writes a line for each check: OK or FAIL, name, what is wrong; parted by tabs.
set -eu
build=$1
sysroot=$2
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
jprof=$build/jeprof-c/jprof
dir=$build/live
mkdir -p "$dir"

# NAME COMMAND...: passes if the command succeeds and says nothing.
check() {
    name=$1
    shift
    said=$("$@" 2>&1) && [ -z "$said" ] && printf 'OK\tlive %s\t\n' "$name" && return
    printf 'FAIL\tlive %s\t%s\n' "$name" "$(echo "$said" | tr '\n\t' '; ')"
}

is_musl() {
    readelf -lW "$1" | grep -q 'interpreter: .*/ld-musl-' || echo "$1 does not run under ld-musl"
}

# libc has no unwind tables in musl, so a stack that passes through it ends there: main is no caller of
# what a sort, a thread or libc itself allocates.
rows() {
    awk '
        BEGIN {
            flat["inner"] = 10; cum["inner"] = cum["outer"] = cum["main"] = 10
            flat["in_thread"] = cum["in_thread"] = 7
            flat["compare"] = cum["compare"] = 5
            flat["strdup"] = cum["strdup"] = 3
        }
        $1 == "Total:" { total = $2; next }
        { seen[$6]++; sum += $1 }
        $6 ~ /^libc\+0x/ { nameless += $1 }
        $6 ~ /^(sorts|copies|streams)$/ { print "a row of " $6 ": its stacks should end in libc" }
        $6 in cum {
            if ($1 != flat[$6] * 1048576 || $4 != cum[$6] * 1048576)
                print $6 ": " $1 " flat and " $4 " cumulative; expected " flat[$6] " and " cum[$6] " MB"
        }
        END {
            for (name in cum) if (seen[name] != 1) print name " has " seen[name] + 0 " rows"
            if (nameless < 2097152) print "the stream has " nameless + 0 " bytes, in a row libc+0x...; expected 2 MB at least"
            if (sum != total) print "the rows are " sum " bytes together, the total is " total
        }
    ' "${1:-$dir/rows}"
}

# Of libc there are only exported names: strdup has one; what the stream called has none, and must not get
# that of a neighbour. Columns are found by the head line, in which the percentages have no name.
info() {
    awk '
        / DWARF .* none / { for (i = 2; i <= NF; i++) at[$i] = i + 1; next }
        !at["none"] { next }
        $NF ~ /\/libc\.so$/ && NF > at["none"] {
            libc++
            if ($at["dynsym"] != "3.0" || $at["none"] < 2 || $at["DWARF"] $at["symtab"] != "--") print "libc.so: " $0
        }
        $NF ~ /\/known$/ && NF > at["none"] { known++; if ($at["DWARF"] != "22.0") print "known: " $0 }
        $NF == "all" { all++; if ($at["DWARF"] + $at["dynsym"] != 25 || $at["none"] < 2) print "all: " $0 }
        /stripped(: apt install |: apk add |, of no package here)/ { advice++ }
        /no unwind tables: stacks that pass through it end there/ { ends++ }
        END {
            if (libc != 1 || known != 1 || all != 1) print "no rows of libc.so, known and all"
            if (!ends) print "nothing says that stacks end in libc.so"
            if (!advice) print "nothing says what would name the rest of libc.so"
        }
    ' "$dir/info"
}

"$sysroot/bin/musl-cc" -g -O2 -o "$dir/known" "$here/known.c"
rm -f "$dir/known.heap"
check 'jprof is a musl program' is_musl "$jprof"
check 'the subject is a musl program' is_musl "$dir/known"
check 'a dump under musl jemalloc' env LD_PRELOAD="$sysroot/lib/libjemalloc.so.2" \
    MALLOC_CONF=prof:true,lg_prof_sample:0 "$dir/known" "$dir/known.heap"
"$jprof" --show_bytes "$dir/known" "$dir/known.heap" >"$dir/rows" 2>"$dir/rows.err" || cat "$dir/rows.err" >&2
check 'rows name the functions, and end in libc' rows
"$jprof" info --all "$dir/known" "$dir/known.heap" >"$dir/info" 2>"$dir/info.err" || cat "$dir/info.err" >&2
check 'info tells what libc.so hides' info

# The agent in a musl program: preloaded, asked, signalled, forked, on full disks.
agent() {
    JPROF_LIVE_RUBY=no JPROF_JEMALLOC=$sysroot/lib/libjemalloc.so.2 sh "$here/../../live/agent_$1.sh" \
        "$build/agent/libjprof-agent.so" "$build/tests/live/subject" >"$dir/agent_$1" 2>&1 || cat "$dir/agent_$1"
}
check 'the agent is a musl library' eval '! readelf -dW "$build/agent/libjprof-agent.so" | grep NEEDED | grep -v "\[libc.so\]"'
for part in basic disk fork; do
    check "agent_$part under musl" agent "$part"
done

# What snap said on standard error, but for the next command.
complaints() {
    grep -v ' next: jprof \| jprof: next: \|^jprof: next: ' "$1" || :
}

# Collected from outside, asked and by signal: the same rows.
snap() {
    rm -rf "$dir/snap"
    mkdir "$dir/snap"
    JPROF_AGENT=for=all LD_PRELOAD="$sysroot/lib/libjemalloc.so.2:$build/agent/libjprof-agent.so" \
        MALLOC_CONF="prof:true,lg_prof_sample:0,prof_prefix:$dir/snap/app" \
        "$dir/known" "$dir/snap/first.dump" "$dir/snap/ready" &
    pid=$!
    tries=6000
    while ! { [ -e "$dir/snap/ready" ] && grep -q memfd:jprof-agent "/proc/$pid/maps"; }; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || break
        sleep 0.1
    done
    for how in '' --signal=USR2; do
        # shellcheck disable=SC2086
        "$jprof" snap $how "$pid" -o "$dir/snap/x$how.jprof" >"$dir/snap/out" 2>"$dir/snap/said" || echo "snap $how failed"
        complaints "$dir/snap/said"
        "$jprof" --show_bytes "$dir/snap/x$how.jprof" >"$dir/snap/rows" 2>"$dir/snap/err" || cat "$dir/snap/err"
        rows "$dir/snap/rows"
    done
    kill -0 "$pid" || echo "the program is gone"
    { kill -KILL "$pid" && wait "$pid"; } 2>/dev/null || : # the shell would tell that it was killed
}
check 'snap of a musl program' snap

# ---- jprof run, doctor and snap of a musl program, and USR2 by the agent
# until_true COMMAND...: polls, 30 s at most.
until_true() {
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 3000 ] || { echo "never came true: $*"; return 1; }
        sleep 0.1
    done
}

# row VERDICT CHECK REGEX: jprof doctor of the process has it.
row() {
    "$jprof" doctor "$pid" >"$dir/doctor" 2>&1 || true
    grep -qE "^$1 +$2 +.*$3" "$dir/doctor" || { echo "no row $1 $2 $3:"; grep " $2 " "$dir/doctor"; }
}

# COMMAND...: until it says nothing; 3 s at most.
until_silent() {
    for try in 1 2 3; do
        said=$("$@")
        [ "$said" ] || return 0
        sleep 1
    done
    echo "$said"
}

snaps() {
    "$jprof" snap "$pid" -o "$dir/waits.jprof" >/dev/null 2>"$dir/said" || echo "snap failed"
    complaints "$dir/said"
    tar tf "$dir/waits.jprof" >"$dir/list" &&
        grep -q 'dump.heap$' "$dir/list" || echo "no bundle with a dump"
}

usr2() {
    kill -USR2 "$pid"
    until_true sh -c 'ls "$1"/waits.*.heap' sh "$dir/dumps"
    kill -0 "$pid" || echo "the process is gone"
}

rm -rf "$dir/dumps" "$dir/waits.jprof"
"$sysroot/bin/musl-cc" -g -O2 -o "$dir/waits" "$here/../../cli/src/waits.c"
"$jprof" run --jemalloc="$sysroot/lib/libjemalloc.so.2" --dir="$dir/dumps" --sample=10 -- "$dir/waits" \
    >"$dir/waits.out" 2>"$dir/waits.err" </dev/null &
pid=$!
trap 'kill "$pid" 2>/dev/null || :' EXIT
check 'jprof run starts it' until_true grep -q ready "$dir/waits.out"
check 'doctor: the jemalloc is proved' row ok config.prof 'built with profiling'
# It is there some ms after the program's start; on a busy machine later.
check 'doctor: the agent answers' until_silent row ok agent answers
check 'doctor: the signal is the agent'\''s' row ok signal 'makes a dump'
check 'doctor: MALLOC_CONF was tried' row ok refused 'tried here'
check 'snap' snaps
check 'USR2 dumps, and it lives' usr2
kill "$pid" || true

# ---- a Ruby as Alpine has one: its lines, slots, tags, children
ruby=$(sh "$here/../ruby.sh" "$sysroot")
on_ruby() {
    PATH=$ruby/bin:$PATH CC=$sysroot/bin/musl-cc JPROF_JEMALLOC=$sysroot/lib/libjemalloc.so.2 sh "$here/../../live/$1.sh" \
        "$build/agent/libjprof-agent.so" "$build/tests/live/subject" ${2:+"$2"} >"$dir/$1" 2>&1 || cat "$dir/$1"
}
for test in ruby_slots ruby_lines ruby_tags ruby_forks; do
    check "$test of a Ruby of musl" on_ruby "$test"
done
check 'ruby_children of a Ruby of musl' on_ruby ruby_children "$jprof"

leaks() {
    rm -rf "$dir/leak"
    mkdir "$dir/leak"
    "$jprof" run --jemalloc="$sysroot/lib/libjemalloc.so.2" --dir="$dir/leak" -- "$ruby/bin/ruby" -e '
        KEPT = []
        def leak = 20_000.times { KEPT << "x" * 1000 }
        leak
        File.write(ARGV[0], "")
        $stdin.read
        leak; leak
        File.write(ARGV[0], "")
        sleep 600' "$dir/leak/ready" <"$1" >"$dir/leak/out" 2>"$dir/leak/err" &
    pid=$!
    exec 9>"$1"
    until_true test -e "$dir/leak/ready"
    rm "$dir/leak/ready"
    "$jprof" snap --gc --objects "$pid" -o "$dir/leak/first.jprof" >"$dir/leak/said" 2>&1 || cat "$dir/leak/said"
    exec 9>&-
    until_true test -e "$dir/leak/ready"
    "$jprof" snap --gc --objects "$pid" -o "$dir/leak/second.jprof" >"$dir/leak/said" 2>&1 || cat "$dir/leak/said"
    "$jprof" diff "$dir/leak/first.jprof" "$dir/leak/second.jprof" >"$dir/leak/diff" 2>&1 || cat "$dir/leak/diff"
    grep -q '^1 .*-e:3' "$dir/leak/diff" && grep -q 'kept by .*KEPT' "$dir/leak/diff" || cat "$dir/leak/diff"
    { kill -KILL "$pid" && wait "$pid"; } 2>/dev/null || :
}
mkfifo "$dir/go" 2>/dev/null || :
check 'diff of a leak in a Ruby of musl' leaks "$dir/go"

# What the objects have in musl's malloc, which knows how many bytes each block was asked for, is what Ruby says of them; and
# what was freed is there still, in slots of 1008 bytes.
memsize() {
    rm -f "$dir/memsize.jprof"
    "$ruby/bin/ruby" -W0 --disable-gems "$here/memsize.rb" >"$dir/memsize" 2>&1 </dev/null &
    pid=$!
    until_true grep -q '^end' "$dir/memsize"
    "$jprof" explain --json --by=referrer "$pid" >"$dir/memsize.json" || echo "explain failed"
    "$jprof" snap "$pid" -o "$dir/memsize.jprof" >"$dir/said" 2>&1 || cat "$dir/said"
    { kill -KILL "$pid" && wait "$pid"; } 2>/dev/null || :
    tar xOf "$dir/memsize.jprof" "$pid/heap.json" >"$dir/memsize.heap"
    python3 - "$dir" <<'END'
import json, sys
at = sys.argv[1] + "/memsize"
said = dict(line.split() for line in open(at))
rows = json.load(open(at + ".json"))["rows"]
found = {r["name"]: (r["objects"], r["bytes"]) for r in rows if r["part"] == "group"}
for name, blocks in ("Tags", 20000), ("Index", 6000), ("Note", 4001):
    if found[name][0] != blocks or abs(found[name][1] - int(said[name])) > .03 * int(said[name]):
        print(f"{name}: {found[name]}, and Ruby says {said[name]}")
own = {r["name"] for r in rows if r.get("own")}
if own != {"Tags", "Index", "Note"}:
    print(f"own classes: {own}")
malloc = json.load(open(at + ".heap"))["malloc"]
if malloc["name"] != "musl" or not 20000 * 1008 <= malloc["unused"] <= 1.05 * 20000 * 1008:
    print(malloc)
END
}
check 'what the objects of a Ruby of musl have in malloc' memsize
