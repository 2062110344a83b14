#!/bin/sh
# --callgrind: valid by the format's own grammar; the total, what every function has itself and with what it calls are
# those of --text.
. "$(dirname "$0")/../cli/lib.sh"
command -v python3 >/dev/null || skip "no python3 here, which the checker of the format needs"

# Rows of the checker and of the table as "NAME<tab>SELF<tab>CUM", functions of one name together; NAME'2, NAME'3 and
# so on are the recursive parts of NAME, whose own cumulative values count nothing.
of_callgrind() {
    awk -F '\t' -v event="$1" '
        $1 == event && $2 == "self" { name = $3; sub(/'"'"'[0-9]+$/, "", name); self[name] += $4 }
        $1 == event && $2 == "cum" && $3 !~ /'"'"'[0-9]+$/ { cum[$3] += $4 }
        END { for (name in self) print name "\t" self[name] "\t" cum[name] + 0 }' checked | sort
}
of_table() {
    awk '$1 == "Total:" { next }
         { name = $0; sub(/^ *[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ /, "", name); print name "\t" $1 "\t" $4 }' table | sort
}
# near EVENT: the two agree but for the rounding of each stack to a whole number
near() {
    of_callgrind "$1" >theirs
    of_table >mine
    check "few functions" [ "$(wc -l <mine)" -gt 5 ]
    join -t "$(printf '\t')" -a 1 -a 2 -e 0 -o 0,1.2,2.2,1.3,2.3 mine theirs >joined
    awk -F '\t' '
        function far(a, b) { return a - b > 20 + 0.0001 * a || b - a > 20 + 0.0001 * a }
        far($2, $3) || far($4, $5) { print; bad++ }
        END { exit bad > 0 }' joined >far
    check "functions that differ from the table (name, self, self, cum, cum): $(head -n 3 far)" [ ! -s far ]
}
# whole ARGUMENTS...: writes out.cg, table and checked
whole() {
    works "$jprof" --callgrind -o out.cg "$@"
    prints_nothing
    run "$jprof" --show_bytes "$@"
    cp out table
    what="callgrind of $*"
    python3 "$here/check_callgrind.py" out.cg >checked 2>err || fail "not valid"
    checks=$((checks + 1))
}
for file in heaps/jemalloc-5.3.0 heaps/nopie cases/ruby31/cext.1 cases/ruby31/nokogiri.1 cases/puma/w0.3; do
    root_of=--sysroot=$root/samples/${file%%/*}/sysroot
    for counter in inuse_space inuse_objects; do
        whole --$counter "$root_of" "$root/samples/$file.heap"
        near $counter
        total=$(sed -n 's/^Total: \([0-9]*\) .*/\1/p' table)
        check "the total $(head -n 1 checked) is not $total" grep -qx "$counter total $total" checked
        if command -v callgrind_annotate >/dev/null; then
            callgrind_annotate out.cg >annotated 2>annotated.err
            check "callgrind_annotate complains: $(head -n 1 annotated.err)" [ ! -s annotated.err ]
            annotated=$(sed -n 's/ *(100.0%)  *PROGRAM TOTALS$//p; s/ *PROGRAM TOTALS$//p' annotated | head -n 1 | tr -d ' ,')
            check "callgrind_annotate has a total of $annotated" [ "$annotated" = "$total" ]
        fi
    done
done
command -v callgrind_annotate >/dev/null || echo "no callgrind_annotate here (Debian: valgrind): not asked"

# The biggest function, by name and file, and its calls: lines as in leaky.c.
whole "--sysroot=$cases/sysroot" "$cases/ruby31/cext.1.heap"
cp out.cg out
prints '^fl=\([0-9]+\) /srv/app/ext/leaky/leaky\.c$'
prints '^5 20199631$'
prints '^6 20199631$'
check "the event" grep -qx 'events: inuse_space' out.cg

# ---- a difference: what grew and what shrank, both as numbers above 0 ----
whole --base="$cases/puma/w0.1.heap" "--sysroot=$cases/sysroot" "$cases/puma/w0.3.heap"
cp out.cg out
prints '^events: inuse_space_grew inuse_space_shrank$'
total=$(sed -n 's/^Total: \(-*[0-9]*\) .*/\1/p' table)
grew=$(sed -n 's/^inuse_space_grew total //p' checked)
shrank=$(sed -n 's/^inuse_space_shrank total //p' checked)
check "nothing shrank" [ "$shrank" -gt 0 ]
difference=$((grew - shrank - total))
check "$grew less $shrank is not $total" [ $difference -ge -1 -a $difference -le 1 ]

# ---- names that would break a line ----
if command -v "${CC:-gcc}" >/dev/null; then
    find_jemalloc
    here_views=$here here=${here%/*}/cli
    build 'od d' grow.c -O1 -g
    mv 'od d' "$(printf 'od d\n(1) x')"
    profiled prof_active:false,lg_prof_sample:0 ./od*x odd.heap 10 20
    here=$here_views
    whole odd.heap
fi

# ---- recursion, inlined functions ----
build lines lines.c -O1 -g -fno-optimize-sibling-calls
profiled prof_active:false,lg_prof_sample:0 ./lines lines.heap >truth
whole lines lines.heap
near inuse_space
tab=$(printf '\t')
check "l_round is not counted once" grep -qx "inuse_space${tab}cum${tab}l_round${tab}1920" checked
recursive=$(awk -F '\t' '$2 == "self" && $3 ~ /^l_round'"'"'[0-9]+$/ { sum += $4 } END { print sum + 0 }' checked)
check "l_round's recursive part is $recursive" [ "$recursive" = 1600 ]
check "no inlined function" grep -qx "inuse_space${tab}self${tab}l_inner (inline)${tab}9216" checked

# ---- functions that share a short name and call each other ----
build overloads overloads.cc -std=c++17 -O1 -g -fno-optimize-sibling-calls
profiled lg_prof_sample:0 ./overloads overloads.heap
whole overloads overloads.heap
near inuse_space
check "no shop::walk seven deep" grep -q "${tab}shop::walk'7${tab}" checked
if command -v callgrind_annotate >/dev/null; then
    callgrind_annotate --inclusive=yes --threshold=100 out.cg >annotated 2>annotated.err
    sed -n 's/^ *[0-9,]* (\([0-9.]*\)%).*/\1/p' annotated | sort -n >shares
    check "callgrind_annotate: inclusive costs of $(tail -n 1 shares) %" awk '$1 > 100.05 { bad = 1 } END { exit bad || NR < 5 }' shares
fi
finish
