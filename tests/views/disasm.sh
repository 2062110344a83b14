#!/bin/sh
# --disasm: addresses and instructions are those of objdump, values those of the table and of --list.
. "$(dirname "$0")/../cli/lib.sh"
command -v objdump >/dev/null || skip "no objdump here (Debian: binutils)"
find_jemalloc
all=prof_active:false,lg_prof_sample:0
build lines lines.c -O1 -g -fno-optimize-sibling-calls -fcf-protection=none
profiled $all ./lines dump.heap >truth
run "$jprof" --disasm=l_leaf lines dump.heap
if grep -q 'not in this build' err; then
    exits 1
    prints_nothing
    says_like '^jprof: --disasm is not in this build, which was made without capstone'
    skip "built without capstone"
fi
case $(uname -m) in x86_64 | aarch64) ;; *) skip "no code of this machine is known" ;; esac

# "ADDRESS MNEMONIC"; suffixes for the size of operands are a matter of taste
plain='{ sub(/:$/, "", $1); name = $2; if (name ~ /^(callq?|retq?|jmpq?)$/) sub(/q$/, "", name)
         if (name !~ /^(call|shl|sal|mul|imul|sub|cmpb?|movs.*|movz.*)$/) sub(/[bwlq]$/, "", name); print $1, name }'
ours() {
    awk '$1 ~ /^(\.|-?[0-9.]+)$/ && $3 ~ /^[0-9a-f]+:$/ && !($3 + 0 == $3 && $4 == "") { $1 = $2 = ""; print }' "$1" |
        awk 'NF >= 2' | awk "$plain"
}
theirs() {
    objdump -d --no-show-raw-insn "$1" | awk -v name="<$2>:" '
        $2 == name { on = 1; next }
        /^$/ { on = 0 }
        on { sub(/^ +/, ""); print }' | awk "$plain"
}
# Without lines, so that only instructions have that form.
cp lines bare
strip --strip-debug bare
for name in l_leaf l_outer l_round main; do
    profiled $all ./bare bare.heap >/dev/null
    works "$jprof" --show_bytes --disasm="^$name\$" bare bare.heap
    prints "^ROUTINE ====================== $name\$"
    ours out >is
    theirs bare $name >should
    check "objdump shows nothing" [ "$(wc -l <should)" -ge 5 ]
    cut -d ' ' -f 1 is >is.addresses
    cut -d ' ' -f 1 should >should.addresses
    same "addresses in $name (>) are not objdump's (<)" should.addresses is.addresses
    # Some mnemonics have two spellings.
    check "mnemonics in $name are not objdump's: $(paste -d ' ' should is | awk '$2 != $4' | head -n 5)" [ \
        "$(paste -d ' ' should is | awk '$2 != $4' | wc -l)" -le $(($(wc -l <should) / 10)) ]
done

# ---- values ----
is_quiet "$jprof" --show_bytes --disasm='^l_leaf$' lines dump.heap
prints '^ 98304  98304 B \(flat, cumulative\) [0-9.]+% of total$'
check "the instructions do not add up" awk '
    $3 ~ /^[0-9a-f]+:$/ && $4 != "" && $4 ~ /^(call|bl)/ && $1 != "." { sum += $1; calls++ }
    END { exit !(sum == 98304 && calls == 2) }' out
line=$(awk '$1 == "l_leaf" { print $2; exit }' truth)
prints "^ 81920  81920 +$line: .*HOLD\(4096\);\$"
prints "^-------------------- .*/src/lines\.c\$"
run "$jprof" --show_bytes --disasm='^l_outer$' lines dump.heap
prints '^-------------------- .*/src/lines\.c \(inlined l_inner\)$'
# A name that is inlined everywhere: the functions that have it.
works "$jprof" --show_bytes --disasm='^l_inner$' lines dump.heap
prints '^ROUTINE ====================== l_outer$'
is_refused "$jprof" --disasm='^nothing$' lines dump.heap
says_like '^jprof: --disasm=.nothing\$: no function with memory has such a name'

# ---- functions without a name: bounds by .eh_frame ----
cp lines stripped
strip stripped
profiled $all ./stripped stripped.heap >/dev/null
run "$jprof" --show_bytes stripped stripped.heap
name=$(awk '$1 == 98304 { print $6 }' out)
check "l_leaf has another name: $name" eval 'case $name in stripped!0x*) ;; *) false ;; esac'
works "$jprof" --show_bytes --disasm="$name" stripped stripped.heap
prints "^ROUTINE ====================== $name\$"
ours out >is
theirs lines l_leaf >should
cut -d ' ' -f 1 is >is.addresses
cut -d ' ' -f 1 should >should.addresses
same "a nameless function (>) is not as objdump has it (<)" should.addresses is.addresses

# ---- a bundle has names and no code ----
"$jprof" bundle -o b.jprof lines dump.heap 2>err || fail "no bundle"
works "$jprof" --show_bytes --disasm='^l_leaf$' b.jprof
prints '^ 98304  98304 B \(flat, cumulative\)'
mkdir nothing
is_refused "$jprof" --show_bytes --disasm='^l_leaf$' --sysroot=nothing b.jprof
check "no sentence" grep -qE '^jprof: .*/lines: the bundle has its names, not its code, and the file that ran is not found here; give it: --sysroot=DIR' err
works "$jprof" --show_bytes --list='^l_leaf$' --source-path="$here/src" --sysroot=nothing b.jprof
prints '^ 81920  81920 +[0-9]+: .*HOLD\(4096\);$'

# ---- the file must be the one that ran ----
touch -d '1 minute ago' dump.heap # else a name that is taken and given back in the same second is no change
mv lines lines.ran
is_refused "$jprof" --disasm='lines' dump.heap
check "no sentence says why" grep -qE '^jprof: .*lines: No such file or directory, so there is no code to show; give the file that ran: --sysroot=DIR' err
mv lines.ran lines
"$jprof" --proto -o p.pb.gz lines dump.heap 2>err
is_refused "$jprof" --disasm='^l_leaf$' p.pb.gz
check "no sentence" grep -qE '^jprof: .*/lines: was not needed for names.*give the heap dump itself$' err
check "the doubt of the dump is lost" grep -qE '^jprof: .*/lines changed after the dump was made: its names may be wrong$' err
finish
