#!/bin/sh
# What is said of snapshots and set-ups is cut nowhere in silence: names of thousands of characters, and many snapshots.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "no python3 here"

# A path of 400 characters, a Ruby class of 300 and a method, with an end that a cut would lose.
name=$(python3 -c 'print("/srv/" + "p" * 391 + ".rb_" + "C" * 300 + "#" + "m" * 2500 + "_the_end")')
# named FILE MB...: symbolized: the function of that name has so many objects of 1 MB, and another one 150.
named() {
    printf -- '--- symbol\nbinary=/opt/prog\n0x401000 %s\n0x402000 other\n---\n--- heap\n' "$name" >"$1"
    printf 'heap_v2/524288\n  t*: %d: %d [0: 0]\n' $(($2 + 150)) $((($2 + 150) * 1048576)) >>"$1"
    printf '@ 0x401000 0x403000\n  t*: %d: %d [0: 0]\n' "$2" $(($2 * 1048576)) >>"$1"
    printf '@ 0x402000 0x403000\n  t*: 150: 157286400 [0: 0]\n' >>"$1"
    printf '\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 1 /opt/prog\n' >>"$1"
}
# has_all TEXT FILE COUNT: so many lines have the whole name.
has_all() {
    check "$1: not $3 lines with the whole name: $(cut -c 1-100 "$2")" [ "$(grep -c '_the_end' "$2")" -eq "$3" ]
}
named first 100
named last 400
named between 300
works "$jprof" diff "$nowhere" first last
has_all "block and row" out 2
run "$jprof" diff "$nowhere" --markdown first last
has_all "Markdown" out 1
run "$jprof" diff "$nowhere" first last between
has_all "what grew most, or the block, and the row" out 2
exits_with 3 "$jprof" check "$nowhere" --github first last
has_all "check, and its annotation" out 2
works "$jprof" check "$nowhere" --update-baseline --baseline=base.json first last
for n in 1 2; do
    named gone$n $((100 + n))
    sed 's/_the_end/_gone/' gone$n >gone && mv gone gone$n
done
run "$jprof" check "$nowhere" --baseline=base.json gone1 gone2
has_all "what is unused" out 1
# The interval of what came and went ends above the limit: its name is said whole.
named step1 1000
named step2 100
named step3 103
exits_with 1 "$jprof" check "$nowhere" first step1 step2 step3
has_all "CANNOT TELL" out 1

# What a rule of one's own says of memory, as long as it is.
kind=$(python3 -c 'print("k" * 600 + "_the_end")')
printf '[%s] ours\nfn /srv/*\nwhat w\ndo d\n' "$kind" >our.rules
run "$jprof" diff "$nowhere" --rules=our.rules first last
check "what it is" grep -q '^ .*k_the_end' out

# The value at each of many snapshots.
snapshots=
n=100
while [ $n -le 199 ]; do
    named s$n $((n * 10))
    snapshots="$snapshots s$n"
    n=$((n + 1))
done
# shellcheck disable=SC2086
run "$jprof" diff "$nowhere" $snapshots
awk '/^   steps/ { on = 1; print; next } /^   [a-z]/ { on = 0 } on' out | tr -s ' \n,' '\n' | grep -cE '^[0-9]+([.][0-9]+)?$' >values
check "a value for each: $(cat values)" [ "$(cat values)" -eq 100 ]

# A set-up.
dir=$(python3 -c 'print("/tmp/" + "/".join(["d" * 200] * 15) + "/the_end")')
run env "MALLOC_CONF=prof:false,prof_prefix:$dir" "$jprof" doctor -- true
check "MALLOC_CONF" grep -q 'malloc-conf .*/the_end$' out
finish
