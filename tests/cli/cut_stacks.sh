#!/bin/sh
# Stacks that jemalloc cut at its limit of frames: how large a share is said to have such, beside what a program did.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
find_jemalloc
build deep deepest.c -O1 -g -fno-optimize-sibling-calls

# dump FILE DEPTH KIB...
dump() {
    LD_PRELOAD=$jemalloc MALLOC_CONF=prof:true,lg_prof_sample:0 ./deep "$@" || fail "no dump was made"
}
# share OPTIONS FILE: by JSON, in percent
share() {
    "$jprof" --json "$@" 2>/dev/null | python3 -c 'import json, sys; print("%.1f" % (100 * json.load(sys.stdin)["profile"].get("cut", 0)))'
}
line='of the bytes have stacks that jemalloc cut at its limit of frames: their outermost callers are missing'

# 3 of 10 MB are beyond the limit; the others' stacks go to main.
dump deep.heap 300 3072 20 7168
works "$jprof" deep.heap
check "not said: $(cat err)" grep -qE "^jprof: (29|30)\.[0-9] % $line\$" err
run "$jprof" info deep.heap
prints '^cut stacks (29|30)\.[0-9] % of the bytes: '
if command -v python3 >/dev/null; then
    got=$(share deep.heap)
    check "JSON: $got" awk -v is="$got" 'BEGIN { exit !(is > 29 && is < 30.1) }'
    # Of a difference it is the later one's share.
    dump more.heap 300 3072 20 17408
    got=$(share --diff_base=deep.heap more.heap)
    check "JSON, a difference: $got" awk -v is="$got" 'BEGIN { exit !(is > 12.9 && is < 13.2) }'
fi
ln -s "$jprof" jeprof
run ./jeprof deep.heap
check "jeprof says it" eval '! grep -q "cut at" err'

# Deep, and whole: main is at the end. And little of it: only info says so.
dump whole.heap 100 4096 20 4096
run "$jprof" whole.heap
check "said of whole stacks" eval '! grep -q "cut at" err'
run "$jprof" info --all whole.heap
prints '^cut stacks none$'
dump little.heap 300 100 20 10000
run "$jprof" little.heap
check "said of little" eval '! grep -q "cut at" err'
run "$jprof" info little.heap
prints '^cut stacks 1\.[0-9] % of the bytes: '

# The one stack of just the limit that begins in _start as the others do is whole.
frames=$("$jprof" --traces --fold=none whole.heap 2>/dev/null | grep -cE ' deep_down$')
limit=$((128 - frames + 102 + 20))
for depth in $(seq $((limit - 4)) $((limit + 4))); do
    dump edge.heap "$depth" 4096 20 4096
    deepest=$("$jprof" info edge.heap | sed -n 's/.*the deepest of \([0-9]*\) frames.*/\1/p')
    has_start=$("$jprof" --collapsed --fold=none edge.heap 2>/dev/null | grep -cE '^_start;.*(deep_down;){50}')
    cut=$("$jprof" info --all edge.heap | grep -c '^cut stacks none')
    check "depth $depth, $deepest frames: whole $has_start, said to be so $cut" [ "$has_start" = "$cut" ]
done

# One stack of 128 frames, from before the agent had its hook, and 20 of 127 since; 20 are whole. And 20 of 125 that are whole.
if command -v python3 >/dev/null; then
    python3 - <<'END'
def stack(depth, number, outermost):
    return "@ " + " ".join(hex(0x401000 + 16 * (number * 200 + i)) for i in range(depth - 1)) + " " + hex(outermost)
stacks = [stack(10, i, 0x400100) for i in range(20)] + [stack(127, 30 + i, 0x480000 + 16 * i) for i in range(20)]
stacks += [stack(128, 60, 0x490000)] + [stack(125, 70 + i, 0x400100) for i in range(20)]
with open("hook.heap", "w") as out:
    out.write(f"heap_v2/1\n  t*: {len(stacks)}: {1000 * len(stacks)} [0: 0]\n")
    for s in stacks:
        out.write(f"{s}\n  t*: 1: 1000 [0: 0]\n")
    out.write("\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 7 /bin/none\n")
END
    got=$(share hook.heap)
    check "JSON, of two limits: $got" [ "$got" = 34.4 ]
fi

# ---- a Ruby whose agent takes Ruby stacks: deep ones are whole, native ones too ----
if [ -f "$agent" ] && command -v ruby >/dev/null && ruby -e 'exit RUBY_ENGINE == "ruby"' && grep -q libc.so.6 "$agent"; then
    ruby=$(command -v ruby)
    cat >deep.rb <<'END'
def down(n) = n == 0 ? $held = Array.new(4000) { "x" * 2000 } : [1].each { down(n - 1) }
down(60)
File.write("ready", "")
sleep
END
    mkdir d
    start "lg_prof_sample:12,prof_prefix:$tmp/d/app" "$ruby" deep.rb
    until_true 60 announced "$pid"
    works "$jprof" snap "$pid" -o ruby.jprof
    run "$jprof" ruby.jprof
    check "Ruby stacks are said to be cut: $(grep cut err)" eval '! grep -q "cut at" err'
    # Without Ruby stacks they are: each block is several frames of the interpreter.
    stop "$pid"
    export JPROF_AGENT=ruby=off
    start "lg_prof_sample:12,prof_prefix:$tmp/d/app" "$ruby" deep.rb
    until_true 60 announced "$pid"
    works "$jprof" snap "$pid" -o native.jprof
    run "$jprof" native.jprof
    check "not said of the interpreter's stacks: $(cat err)" grep -q "$line" err
fi
finish
