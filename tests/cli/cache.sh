#!/bin/sh
# Names that are kept: reports are the same bytes without them, when they are found and when they are kept, also where
# somebody damaged the files; where they are kept, and where not; jprof cache.
. "$(dirname "$0")/lib.sh"

keep=$tmp/keep
names_of() {
    find "$keep" -name '*.names' 2>/dev/null | sort
}

# reports DUMP OPTIONS...: without the cache, with an empty one, with a full one, with all that earlier reports left.
reports() {
    run env JPROF_CACHE= "$jprof" "$@"
    mv out plain.out
    mv err plain.err
    wanted=$status
    for time in empty full; do
        run env JPROF_CACHE="$keep" "$jprof" "$@"
        exits "$wanted"
        same "another report, cache $time" plain.out out
        same "another remark, cache $time" plain.err err
    done
    run env JPROF_CACHE="$keep" "$jprof" "$@" --no-cache
    grep -av '^Next: ' plain.out >plain.rest # which passes the option on
    grep -av '^Next: ' out >rest
    same "another report, --no-cache" plain.rest rest
}

for dump in "$cases"/ruby31/nokogiri.1.heap "$cases"/ruby31/cext.0.heap "$cases"/ruby31/cext.1.heap; do
    for format in --text --html '--collapsed --lines' '--proto --fold=none' --json --dot --disasm=row; do
        # shellcheck disable=SC2086
        reports $format --sysroot="$cases/sysroot" "$dump"
    done
done
for dump in "$heaps"/*.heap; do
    reports --lines --sysroot="$heaps/sysroot" "$dump"
    reports info --all --sysroot="$heaps/sysroot" "$dump"
done
reports diff --sysroot="$cases/sysroot" "$cases/ruby31/cext.0.heap" "$cases/ruby31/cext.1.heap"
reports info --debug-dir=/nowhere --sysroot="$cases/sysroot" "$cases/ruby31/cext.1.heap"
check "nothing was kept" [ "$(names_of | wc -l)" -gt 3 ]
check "others can read what is kept" [ -z "$(find "$keep" -perm /077)" ]

# ---- what is on this machine: other dumps of the same files know parts of each other --------------------------------
if [ -r /proc/self/maps ] && command -v python3 >/dev/null; then
    python3 - "$here" <<'PYTHON'
import random, subprocess
draw = random.Random(3)
maps = subprocess.run(["cat", "/proc/self/maps"], capture_output=True, text=True).stdout
code = [l.split() for l in maps.splitlines() if " r-xp " in l and l.split()[-1].startswith("/")]
for n in range(3):
    with open(f"here.{n}.heap", "w") as f:
        f.write("heap_v2/1\n  t*: 1: 100 [0: 0]\n  t0: 1: 100 [0: 0]\n")
        for i in range(60):
            begin, end = (int(x, 16) for x in draw.choice(code)[0].split("-"))
            f.write("@ 0x%x 0x%x\n  t*: 1: 100 [0: 0]\n  t0: 1: 100 [0: 0]\n"
                    % (draw.randrange(begin, end), draw.randrange(begin, end)))
        f.write("\nMAPPED_LIBRARIES:\n" + maps)
PYTHON
    for format in --text --collapsed '--traces --lines'; do
        for n in 0 1 2; do
            # shellcheck disable=SC2086
            reports $format --fold=none here.$n.heap
        done
    done
fi

# ---- damaged files ----------------------------------------------------------------------------------------------------
dump=$cases/ruby31/cext.1.heap
run env JPROF_CACHE= "$jprof" --lines --sysroot="$cases/sysroot" "$dump"
mv out plain.out
mv err plain.err
run_kept() {
    run env JPROF_CACHE="$keep" "$jprof" --lines --sysroot="$cases/sysroot" "$dump"
    same "another report" plain.out out
    same "another remark" plain.err err
}
for at in 0 9 13 20 24 40 200 300 400; do
    for file in $(names_of); do
        printf '\377' | dd of="$file" bs=1 seek="$at" conv=notrunc 2>/dev/null
    done
    run_kept
done
for file in $(names_of); do
    dd if=/dev/null of="$file" bs=1 seek=100 2>/dev/null
done
run_kept
first=
for file in $(names_of); do
    [ -z "$first" ] || cp "$first" "$file" # of another object
    first=${first:-$file}
done
run_kept
for file in $(names_of); do
    rm "$file"
    mkfifo "$file"
done
run_kept
rm -r "$keep"
mkdir -m 777 "$keep"
run_kept
check "others can write, and names were kept" [ -z "$(names_of)" ]
exits_with 1 env JPROF_CACHE="$keep" "$jprof" cache
says "jprof: $keep: belongs to somebody else, or others can write it: no names are kept there"
exits_with 1 env JPROF_CACHE="$keep" "$jprof" cache --empty
rmdir "$keep"
: >"$keep"
run_kept
rm "$keep"

# ---- many processes ----------------------------------------------------------------------------------------------------
what="eight at once"
for n in 1 2 3 4 5 6 7 8; do
    JPROF_CACHE=$keep "$jprof" --lines --sysroot="$cases/sysroot" "$dump" >many.$n 2>/dev/null &
done
wait
for n in 1 2 3 4 5 6 7 8; do same "another report" plain.out many.$n; done
check "something was left unfinished" [ -z "$(find "$keep" -name '.*' -type f)" ]

# ---- TERM and KILL while names are kept -------------------------------------------------------------------------------
nameless='import os, sys; os.close(os.open(sys.argv[1], os.O_TMPFILE | os.O_WRONLY))'
if [ "$sanitized" = false ] && strace -o trace true 2>/dev/null && python3 -c "$nameless" "$tmp" 2>/dev/null; then
    for signal in TERM KILL; do
        for nth in 1 2 3; do
            rm -rf "$keep" trace
            JPROF_CACHE=$keep strace -f -o trace -e trace=write -e inject=write:delay_enter=2000000:when=$nth \
                "$jprof" --lines --sysroot="$cases/sysroot" "$dump" >out 2>err &
            pid=$!
            tries=0
            until grep -q 'write(' trace 2>/dev/null || [ $tries -gt 500 ]; do sleep 0.02 && tries=$((tries + 1)); done
            [ "$nth" -eq 1 ] || sleep 0.3
            kill -$signal "$(cat /proc/$pid/task/$pid/children)" 2>/dev/null
            wait $pid
            check "$signal in write $nth left: $(ls -A "$keep")" [ -z "$(find "$keep" -name '.*' -type f)" ]
        done
    done
fi

# ---- where ---------------------------------------------------------------------------------------------------------------
mkdir home
for set in "HOME=$tmp/home:home/.cache/jprof" "XDG_CACHE_HOME=$tmp/xdg:xdg/jprof" "JPROF_CACHE=$tmp/own:own"; do
    run env -u JPROF_CACHE -u XDG_CACHE_HOME "${set%%:*}" "$jprof" --sysroot="$cases/sysroot" "$dump"
    check "nothing in ${set##*:}" [ -n "$(find "${set##*:}" -name '*.names' 2>/dev/null)" ]
done
run env -u JPROF_CACHE -u XDG_CACHE_HOME HOME="$tmp/none" "$jprof" --no-cache --sysroot="$cases/sysroot" "$dump"
run env XDG_CACHE_HOME="$tmp/none" JPROF_CACHE= "$jprof" --sysroot="$cases/sysroot" "$dump"
run env -u JPROF_CACHE XDG_CACHE_HOME=relative HOME= "$jprof" --sysroot="$cases/sysroot" "$dump"
check "a cache that nobody asked for" [ ! -e none ]
check "a relative XDG_CACHE_HOME" [ ! -e relative ]

# ---- jprof cache ----------------------------------------------------------------------------------------------------------
is_quiet env JPROF_CACHE="$tmp/own" "$jprof" cache
prints "^$tmp/own: names from [0-9]+ files, [0-9.]+ MB of 256 at most\$"
: >own/mine.txt
works env JPROF_CACHE="$tmp/own" "$jprof" cache --empty
prints "^$tmp/own: [0-9]+ files removed, [0-9.]+ MB\$"
check "not empty, or too empty: $(ls own)" [ "$(ls -A own)" = mine.txt ]

# Files that somebody else put there: by their name, by their content, and both but for the last digit.
JPROF_CACHE=$tmp/own "$jprof" --sysroot="$cases/sysroot" "$dump" >/dev/null 2>&1
one=$(find own -name '*.names' | head -n 1)
cp "$one" own/copy.names
cp "$one" own/0123456789abcdef.names
cp "$one" "${one%?.names}.names"
truncate -s 300000000 own/mine.names own/none-0123456789abcdef.names
touch -t 200101010000 own/mine.names own/none-0123456789abcdef.names own/copy.names
others="mine.txt mine.names none-0123456789abcdef.names copy.names 0123456789abcdef.names $(basename "${one%?.names}.names")"
rm "$one" # so that it is written, and what is too much removed
JPROF_CACHE=$tmp/own "$jprof" --sysroot="$cases/sysroot" "$dump" >/dev/null 2>&1
check "it is not written again" [ -e "$one" ]
for file in $others; do check "a report removed $file" [ -e "own/$file" ]; done
run env JPROF_CACHE="$tmp/own" "$jprof" cache
prints "^$tmp/own: names from [0-9]+ files, [0-9]?[0-9][.][0-9]+ MB of 256 at most\$"
works env JPROF_CACHE="$tmp/own" "$jprof" cache --empty
for file in $others; do check "jprof cache --empty removed $file" [ -e "own/$file" ]; done
check "not empty: $(ls own)" [ "$(find own -type f | wc -l)" = 6 ]
works env JPROF_CACHE="$tmp/none" "$jprof" cache
prints "^$tmp/none: names from 0 files, 0.0 MB of 256 at most\$"
check "jprof cache makes one" [ ! -e none ]
works env JPROF_CACHE= "$jprof" cache
prints '^no names are kept: '
exits_with 1 "$jprof" cache show
says 'jprof: show: jprof cache takes no operand; jprof cache --empty removes what is kept'
works "$jprof" cache --help
prints 'JPROF_CACHE'
finish
