#!/bin/sh
# --list: the lines are those that the program itself reports by __LINE__, in every way of building; where source
# files are looked for, and what is never read.
. "$(dirname "$0")/../cli/lib.sh"
find_jemalloc
all=prof_active:false,lg_prof_sample:0

# listed NAME FILE: "LINE FLAT CUM" of the lines that have values in the listing of one function
listed() {
    awk -v name="$1" '
        /^ROUTINE =/ { on = $3 == name; next }
        on && $3 ~ /^[0-9]+:$/ && !($1 == "." && $2 == ".") { print $3 + 0, $1 == "." ? 0 : $1, $2 == "." ? 0 : $2 }' "$2" | sort -n
}
# l_round calls itself, which no line notes
truth_of() {
    awk -v name="$1" '$1 == name { print $2, $3, $4 }' truth | sort -n
}

for flags in '-O0 -gdwarf-3' '-O0 -g' '-O2 -g' '-O2 -gdwarf-4 -no-pie -fno-pie' '-O1 -gdwarf-4'; do
    build lines lines.c $flags -fno-optimize-sibling-calls -fno-ipa-icf
    profiled $all ./lines dump.heap >truth
    works "$jprof" --show_bytes --list='^(l_|main$)' lines dump.heap
    for name in l_inner l_middle l_leaf l_outer main; do
        listed $name out >is
        truth_of $name >should
        check "few lines known" [ "$(wc -l <should)" -ge 2 ]
        same "$flags: lines of $name (>) are not what the program says (<)" should is
    done
    # 6 x 320; all but the innermost call counts as called, once per stack
    listed l_round out >is
    check "$flags: recursion is wrong: $(cat is)" awk '
        NR == 1 && $2 == 1920 && $3 == 1920 { good++ }
        NR == 2 && $2 == 0 && $3 == 1600 { good++ }
        END { exit !(good == 2 && NR == 2) }' is
    # Totals of a function are those of the table.
    run "$jprof" --show_bytes lines dump.heap
    awk '$6 ~ /^(l_|main$)/ { print $6, $1, $4 }' out | sort >should
    run "$jprof" --show_bytes --list='^(l_|main$)' lines dump.heap
    awk '/^ROUTINE/ { name = $3; getline; print name, $1, $2 }' out | sort >is
    same "$flags: totals of functions (>) are not those of the table (<)" should is
done

# ---- the layout: source text, five lines around, all between; "---" for a gap of more than 100 lines ----
run "$jprof" --show_bytes --list=l_leaf lines dump.heap
line=$(awk '$1 == "l_leaf" { print $2; exit }' truth)
prints "^ROUTINE ====================== l_leaf in .*/src/lines\.c\$"
prints "^ 98304  98304 Total B \(flat / cumulative\)\$"
check "no text of the line" grep -qxF "$(printf '%6s %6s %4d: \t\tHOLD(4096);' 81920 81920 "$line")" out
check "not five lines before it" [ "$(awk -v line="$line" '$3 == line - 5 ":"' out | wc -l)" -eq 1 ]
check "more than five" [ "$(awk -v line="$line" '$3 == line - 6 ":"' out | wc -l)" -eq 0 ]
run "$jprof" --list=main lines dump.heap
prints_no '^---$'
awk 'BEGIN {
    print "#include <stdlib.h>\nvoid *volatile kept;\nint main(void)\n{"
    for (i = 5; i < 400; i++)
        print (i == 20 || i == 110 || i == 300 ? "\tkept = malloc(4096);" : "/* line " i " */")
    print "\treturn 0;\n}"
}' >gaps.c
"${CC:-gcc}" -g -o gaps gaps.c
profiled lg_prof_sample:0,prof_final:true,prof_prefix:gaps ./gaps 2>log
mv gaps.*.heap gaps.heap
works "$jprof" --show_bytes --list='^main$' gaps gaps.heap
awk '$3 ~ /^[0-9]+:$/ { print $3 + 0 } /^---$/ { print }' out >is
{ seq 15 115; echo ---; seq 295 305; } >should
same "the lines shown (>) are not those meant (<)" should is
run "$jprof" --list='^l_' --top=1 lines dump.heap
check "--top=1 is not one function" [ "$(grep -c '^ROUTINE' out)" -eq 1 ]
is_refused "$jprof" --list=nothing_of_that_name lines dump.heap
says_like '^jprof: --list=nothing_of_that_name: no function with memory has such a name'
is_refused "$jprof" --list='(' lines dump.heap
says_like '^jprof: .*list'
exits_with 1 "$jprof" --list= lines dump.heap
says_like '^jprof: --list=RE'
# A difference: what was freed is negative.
exits_with 1 "$jprof" --show_bytes --list=l_leaf --base=dump.heap lines dump.heap

# ---- where the source is ----
mkdir -p work/src
cp "$here/src/lines.c" work/src/moved.c
(cd work && "${CC:-gcc}" -O1 -g -o ../moved "$PWD/src/moved.c" -fno-optimize-sibling-calls)
profiled $all ./moved moved.heap >truth
mv work elsewhere
works "$jprof" --show_bytes --list=l_leaf moved moved.heap
prints "^\(no source: $tmp/work/src/moved\.c: No such file or directory; give --source-path=DIR"
prints "^ 81920  81920 +$(awk '$1 == "l_leaf" { print $2; exit }' truth): \$"
for words in --source-path=elsewhere --source-path=nowhere,elsewhere --source-path=elsewhere/src \
    "--source-path=elsewhere --trim-path=$tmp/work" "--source-path=elsewhere --trim-path=/x,$tmp/work/"; do
    works "$jprof" --show_bytes --list=l_leaf $words moved moved.heap
    prints 'HOLD\(4096\);$'
done
run "$jprof" --list=l_leaf --source-path=nowhere moved moved.heap
prints '^\(no source: '
# What is no regular file is never opened: a FIFO would wait for ever.
mkdir -p work/src
mkfifo work/src/moved.c
works "$jprof" --list=l_leaf moved moved.heap
prints '^\(no source: .*: is not a regular file; '
rm work/src/moved.c
# Control characters do not reach the terminal.
sed 's/HOLD(4096);/& \/\/ \x1b[31m/' "$here/src/lines.c" >work/src/moved.c
run "$jprof" --list=l_leaf moved moved.heap
prints 'HOLD\(4096\); // \\x1b\[31m$'
check "an escape character" eval '! grep -q "$(printf "\033")" out'
# Below --sysroot.
mkdir -p "root$tmp/work/src"
mv work/src/moved.c "root$tmp/work/src"
cp moved "root$tmp"
run "$jprof" --list=l_leaf --sysroot=root moved.heap
prints 'HOLD\(4096\);'
# Shorter than it was: lines that are not there have no text.
head -n 20 "$here/src/lines.c" >"root$tmp/work/src/moved.c"
works "$jprof" --list=l_leaf --sysroot=root moved.heap
prints '^ROUTINE .* l_leaf '

# ---- C++: short names and full ones ----
here=${here%/*}/cli
build names names.cc -std=c++20 -g -O1 -fPIE -pie -fno-optimize-sibling-calls
profiled prof_active:false,lg_prof_sample:0 ./names names.heap
for pattern in '^shop::shelf::put$' 'put\(unsigned long\)' 'anonymous namespace.::hidden'; do
    works "$jprof" --list="$pattern" names names.heap
    prints '^ROUTINE ====================== shop::'
done
finish
