#!/bin/sh
# jprof against Perl jeprof on a C program that is not stripped: the Total line and the rows, byte
# for byte. usage: sh parity.sh JPROF -O0|-O2 pie|no-pie dwarf3|dwarf
#
# What is not compared, and nothing else:
# - rows of the system's libraries. The only frames of those are the ones that start a program or a
#   thread, at the root of all stacks: jeprof takes their names from whatever symbol is near, or gives
#   addresses. What they hold shows in the program's own rows: the running sum and the percentages.
# - ` (discriminator N)` at the end of a line: jeprof takes it for a part of the line's name, and for
#   a file of its own in --files. It is cut off; a line that has two of them is left out in --lines, and
#   --files is left to the build with DWARF 3, which has none.
# Inline marks are compared: in a program with the symbol _fini jeprof has them, too. `@address`
# suffixes do not occur, since no two functions share a name.
. "$(dirname "$0")/lib.sh"
find_jeprof
find_jemalloc

case $3 in
pie) flags='-fPIE -pie' ;;
no-pie) flags='-fno-pie -no-pie' ;;
esac
case $4 in
dwarf3) flags="$flags -gdwarf-3 -gstrict-dwarf" ;;
esac
build subject parity.c -g "$2" $flags -fno-optimize-sibling-calls -pthread
profiled prof_active:false,prof_accum:true,lg_prof_sample:11 ./subject early.heap late.heap
profiled prof_active:false,prof_accum:true,lg_prof_sample:9,prof_final:true,prof_prefix:final ./subject 1.heap 2.heap
mv final.*.f.heap final.heap || exit 1
ln -s "$jprof" jeprof

# The Total line and the program's rows.
of_program() {
    awk '
        NR == 1 && /^Total: / { print; next }
        $6 == "main" || $6 ~ /^p_/ || /\/parity\.c/ { sub(/ \(discriminator [0-9]+\)$/, ""); print }
    ' "$1"
}

# without_doubles NAMES_OF FILE: leaves out of FILE what NAMES_OF has two rows for.
without_doubles() {
    awk '
        { name = $0; sub(/^ *[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ /, "", name) }
        NR == FNR { seen[name]++; next }
        seen[name] < 2
    ' "$1" "$2"
}

# compare ARGUMENTS...
compare() {
    perl_jeprof --text "$@"
    # The order and the shares of a difference are jeprof's under its name alone.
    case " $* " in
    *' --base='*) run ./jeprof "$@" ;;
    *) run "$jprof" --fold=none "$@" ;;
    esac
    exits 0
    of_program theirs.whole >theirs.all
    of_program out >ours.all
    without_doubles theirs.all theirs.all >theirs
    without_doubles theirs.all ours.all >ours
    check "jeprof has few rows of the program" [ "$(wc -l <theirs)" -ge "$least" ]
    same "not as jeprof (<)" theirs ours
    cp out ours.whole
}

# as_jeprof ARGUMENTS...: compare, and called by jeprof's name it needs no --fold=none.
as_jeprof() {
    compare "$@"
    run ./jeprof "$@"
    same "jprof called as jeprof is not as jprof --fold=none (<)" ours.whole out
}

dwarf=$4

# all_views ARGUMENTS...
all_views() {
    for view in --functions --cum --lines --files --addresses; do
        least=10
        if [ $view = --files ]; then
            [ "$dwarf" = dwarf3 ] || continue
            least=2
        fi
        compare $view "$@"
    done
}

# All of it on the builds with DWARF 3, a part on the others.
if [ "$dwarf" = dwarf3 ]; then
    counters='--inuse_space --inuse_objects --alloc_space --alloc_objects'
else
    counters=--inuse_space
fi
for counter in $counters; do
    all_views $counter --show_bytes subject late.heap
    least=10
    compare $counter subject late.heap
    compare $counter --cum subject late.heap
done
least=10
as_jeprof subject late.heap
as_jeprof --show_bytes subject final.heap
as_jeprof --show_bytes --lines subject late.heap
as_jeprof --show_bytes subject early.heap late.heap
compare --show_bytes --lines subject early.heap late.heap
compare --show_bytes --cum --alloc_objects --base=early.heap subject late.heap
all_views --show_bytes --base=early.heap subject late.heap
check "the difference has no negative row" grep -qE '^ *-[1-9]' ours
as_jeprof --base=early.heap subject late.heap
finish
