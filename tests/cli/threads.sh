#!/bin/sh
# --thread=N|NAME|*: as Perl jeprof for one dump and a number. Threads of several dumps and of a base
# count, too, and have names; jeprof takes the threads of one dump only and knows no names.
. "$(dirname "$0")/lib.sh"
cp "$heaps/jemalloc-5.3.0.heap" dump.heap || skip "no samples here"
sys=--sysroot=$heaps/sysroot

# total_of FILE: the number in its first Total line
total_of() {
    sed -n 's/^Total ([^)]*): \(-*[0-9]*\) B$/\1/p' "$1" | head -n 1
}

# ---- names ----
# Thread N's report, but for the label in the first line.
# named N NAME
named() {
    works "$jprof" --show_bytes $sys --thread=$1 dump.heap
    prints "^Total \(t$1\): [0-9]+ B\$"
    sed 1d out >by_number
    total_of out >total
    is_quiet "$jprof" --show_bytes $sys "--thread=$2" dump.heap
    sed 1d out >by_name
    same "thread $2 is not thread t$1" by_number by_name
    printf 'Total (%s): %s B\n' "$2" "$(cat total)" >first.expected
    head -n 1 out >first
    same "the heading does not have the name" first.expected first
}
named 1 'beta worker'
named 5 alpha
named 4 "it's \"\$(x)\"; \\n"
named 6 MAPPED_LIBRARIES:
named 7 '@ 0x1 0x2'
named 8 't*: 1: 2 [3: 4]'

# ---- no such thread: said (jeprof: nothing, or thread 0 for a name) ----
for thread in 9 99 18446744073709551616 t1 alph ALPHA beta ''; do
    is_refused "$jprof" $sys "--thread=$thread" dump.heap
    says "jprof: no thread $thread in dump.heap; jprof info lists its threads"
done

# ---- the same threads and totals as jeprof ----
find_jeprof
program=$heaps/sysroot/tmp/jprof-samples/threads
for counter in --inuse_space --inuse_objects --alloc_space --alloc_objects; do
    one_of 2 || continue
    perl_jeprof --text --show_bytes $counter '--thread=*' "$program" dump.heap
    grep '^Total' theirs.whole >theirs
    works "$jprof" --show_bytes $sys $counter '--thread=*' dump.heap
    grep '^Total' out >ours
    check "few threads" [ "$(wc -l <theirs)" -ge 8 ]
    same "not jeprof's totals (<)" theirs ours
done

# ---- rows ----
find_jemalloc
build subject parity.c -g -O2 -fPIE -pie -gdwarf-3 -gstrict-dwarf -fno-optimize-sibling-calls -pthread
profiled prof_active:false,prof_accum:true,lg_prof_sample:11 ./subject early.heap late.heap
profiled prof_active:false,prof_accum:true,lg_prof_sample:0 ./subject early0.heap late0.heap

# compare LEAST ARGUMENTS...
compare() {
    least=$1
    shift
    perl_jeprof --text "$@"
    works "$jprof" --fold=none "$@"
    of_program theirs.whole >theirs
    of_program out >ours
    check "jeprof has few rows of the program" [ "$(wc -l <theirs)" -ge "$least" ]
    same "not as jeprof (<)" theirs ours
}
for counter in --inuse_space --inuse_objects --alloc_space --alloc_objects; do
    one_of 4 || continue
    compare 40 $counter --show_bytes '--thread=*' subject late.heap
    check "not four threads" [ "$(grep -c '^Total (t[0-3]):' ours)" -eq 4 ]
done
# Which samples are a thread's does not depend on the counter.
for n in 0 1 2 3; do
    one_of 2 || continue
    compare 10 --show_bytes --thread=$n subject late.heap
    check "not of thread $n" eval 'head -n 1 ours | grep -q "^Total (t$n): [1-9]"'
done
few compare 10 --alloc_objects --show_bytes --thread=1 subject late.heap
few compare 10 --thread=2 subject late.heap
few compare 15 --show_bytes --thread=3 --cum --lines subject late.heap
few compare 15 --show_bytes --thread=3 --addresses subject late.heap
few compare 4 --show_bytes --thread=2 --focus=p_by --ignore=calloc subject late.heap
few compare 10 --show_bytes '--thread=*' --retain=p_ --exclude=p_work subject late.heap
few compare 10 --show_bytes --thread=0 subject early.heap
# No thread of that number: nothing, and no error, in jeprof.
perl_jeprof --text --thread=7 subject late.heap
check "jeprof knows a thread 7" [ ! -s theirs.whole ]
is_refused "$jprof" --thread=7 subject late.heap
says 'jprof: no thread 7 in late.heap; jprof info lists its threads'
# A name is thread 0 in jeprof.
perl_jeprof --text --show_bytes --thread=alpha "$program" dump.heap
check "jeprof knows names" grep -q '^Total (t0): 1099490 B$' theirs.whole
for n in 0 1 2 3 4 5 6 7 8; do
    one_of 4 || continue
    perl_jeprof --text --show_bytes --thread=$n "$program" dump.heap
    run "$jprof" --show_bytes $sys --thread=$n dump.heap
    head -n 1 theirs.whole >theirs
    head -n 1 out >ours
    same "not jeprof's total" theirs ours
done

# ---- several dumps: the thread's share of each (jeprof: of one) ----
# exact N DUMP: what thread N holds there, in $bytes
exact() {
    "$jprof" --show_bytes "--thread=$1" subject "$2" >one 2>err || exit 1
    bytes=$(total_of one)
}
for n in 0 1; do
    exact $n late0.heap
    late=$bytes
    works "$jprof" --show_bytes --thread=$n subject late0.heap late0.heap
    prints "^Total \(t$n\): $((2 * late)) B\$"
done
exact 0 early0.heap
early=$bytes
exact 0 late0.heap
late=$bytes
works "$jprof" --show_bytes --thread=0 subject early0.heap late0.heap
prints "^Total \(t0\): $((early + late)) B\$"
run "$jprof" --show_bytes --thread=0 subject late0.heap early0.heap
prints "^Total \(t0\): $((early + late)) B\$"
# jeprof: of the dump that comes first
perl_jeprof --text --show_bytes --thread=0 subject early0.heap late0.heap
check "jeprof adds threads of several dumps up" grep -q "^Total (t0): $early B\$" theirs.whole
# One that only the second dump has.
exact 1 late0.heap
works "$jprof" --show_bytes --thread=1 subject early0.heap late0.heap
prints "^Total \(t1\): $bytes B\$"
run "$jprof" --show_bytes '--thread=*' subject early0.heap late0.heap
prints "^Total \(t0\): $((early + late)) B\$"
prints "^Total \(t1\): $bytes B\$"
is_refused "$jprof" --thread=7 subject early0.heap late0.heap

# ---- a base: its thread is subtracted (jeprof: all of the thread is shown) ----
# row FUNCTION: its flat value
row() {
    awk -v name="$1" '$6 == name { print $1; exit }' "$2"
}
"$jprof" --show_bytes --thread=0 subject early0.heap >early.out 2>err
"$jprof" --show_bytes --thread=0 subject late0.heap >late.out 2>err
grown=$(($(row p_by_calloc late.out) - $(row p_by_calloc early.out)))
check "p_by_calloc has not shrunk" [ "$grown" -lt 0 ]
for base in --base --diff_base; do
    works "$jprof" --show_bytes --thread=0 $base=early0.heap subject late0.heap
    prints "^Total \(t0\): $((late - early)) B; shares are of"
    check "p_by_calloc is not $grown" [ "$(row p_by_calloc out)" = "$grown" ]
done
check "the percentages are not of the base" awk -v base="$early" '
    $6 == "p_by_calloc" { percent = $1 * 100 / base - $2; exit !(percent < 0.06 && percent > -0.06) }' out
perl_jeprof --text --show_bytes --thread=0 --base=early0.heap subject late0.heap
check "jeprof subtracts the thread of a base" grep -q "^Total (t0): $late B\$" theirs.whole
works "$jprof" --show_bytes --thread=0 --base=late0.heap subject late0.heap
says 'jprof: nothing changed between the dumps'
# One that started since.
exact 2 late0.heap
works "$jprof" --show_bytes --thread=2 --base=early0.heap subject late0.heap
prints "^Total \(t2\): $bytes B\$"
# One that ended since: alone as with the others.
works "$jprof" --show_bytes '--thread=*' --base=late0.heap subject early0.heap
prints "^Total \(t0\): $((early - late)) B;"
prints "^Total \(t2\): -$bytes B;"
works "$jprof" --show_bytes --thread=2 --base=late0.heap subject early0.heap
prints "^Total \(t2\): -$bytes B;"
# All threads together are the process.
works "$jprof" --show_bytes '--thread=*' --base=early0.heap subject late0.heap
sum=$(awk '/^Total/ { sum += $3 } END { printf "%d", sum }' out)
run "$jprof" --show_bytes --base=early0.heap subject late0.heap
prints "^Total: $sum B;"

# ---- other outputs ----
exact 1 late0.heap
works "$jprof" --collapsed --thread=1 subject late0.heap
check "the stacks are not of thread 1" [ "$(awk '{ sum += $NF } END { printf "%d", sum }' out)" = "$bytes" ]
works "$jprof" --raw --thread=1 subject late0.heap
cp out thread.raw
perl_jeprof --text --show_bytes thread.raw
check "the raw profile is not of thread 1" grep -q "^Total: $bytes B\$" theirs.whole
finish
