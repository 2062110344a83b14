#!/bin/sh
# --focus, --ignore, --retain, --exclude and --drop_negative keep what Perl jeprof keeps: the Total line
# and the program's rows, byte for byte. In C++ names and values, but for the names that jeprof mangles.
. "$(dirname "$0")/lib.sh"
find_jeprof
find_jemalloc

build subject parity.c -g -O2 -fPIE -pie -gdwarf-3 -gstrict-dwarf -fno-optimize-sibling-calls -pthread
profiled prof_active:false,prof_accum:true,lg_prof_sample:11 ./subject early.heap late.heap
ln -s "$jprof" jeprof

# compare LEAST ARGUMENTS...: at least that many lines, and not those of the report without filters.
compare() {
    least=$1
    shift
    perl_jeprof --text "$@"
    # The order and the shares of a difference are jeprof's under its name alone.
    case " $* " in
    *' --base='*) run ./jeprof "$@" ;;
    *) run "$jprof" --fold=none "$@" ;;
    esac
    of_program theirs.whole >theirs
    # An empty report is one for jeprof alone.
    case $(wc -l <theirs):" $* " in
    *' --base='*) exits 0 ;;
    1:*) exits 1 ;;
    *) exits 0 ;;
    esac
    of_program out >ours
    check "jeprof has few rows of the program" [ "$(wc -l <theirs)" -ge "$least" ]
    check "the filter does nothing" eval '! cmp -s theirs plain'
    same "not as jeprof (<)" theirs ours
}

# plain_is ARGUMENTS...: what the next filters must change.
plain_is() {
    perl_jeprof --text "$@"
    of_program theirs.whole >plain
    check "jeprof has few rows of the program" [ "$(wc -l <plain)" -ge 10 ]
}

"$jprof" --fold=none --addresses subject late.heap >addresses 2>err || exit 1
address=$(awk '$7 == "p_by_calloc" { print $6; exit }' addresses)
check "no address of p_by_calloc" [ ${#address} -eq 16 ]

for counter in --inuse_space --inuse_objects --alloc_space --alloc_objects; do
    one_of 4 || continue
    plain_is $counter --show_bytes subject late.heap
    # a function's name
    few compare 4 $counter --show_bytes --focus=p_by_calloc subject late.heap
    few compare 10 $counter --show_bytes --ignore=p_by_calloc subject late.heap
    # all together
    few compare 4 $counter --show_bytes --retain=p_ --exclude=p_work --focus=p_by --ignore=calloc subject late.heap
done
# Which stacks and frames stay does not depend on the counter.
plain_is --alloc_space --show_bytes subject late.heap
compare_alloc() {
    least=$1
    shift
    compare "$least" --alloc_space --show_bytes "$@" subject late.heap
}
few compare_alloc 6 '--focus=^p_(even|odd)$'
few compare_alloc 2 '--retain=^p_work$'
few compare_alloc 10 --exclude=p_work
# an inlined function's: retain and exclude do not see those
few compare_alloc 6 '--focus=^p_inlined_twice$'
few compare_alloc 10 '--ignore=^p_inlined$'
few compare_alloc 1 '--retain=^p_inlined$'
# a line
few compare_alloc 4 '--focus=/parity\.c:4[0-9]$'
few compare_alloc 10 '--ignore=/parity\.c:4[0-9]$'
# an address
few compare_alloc 4 "--focus=^$address\$"
few compare_alloc 10 "--ignore=^$address\$"
# nothing is left
few compare_alloc 1 --focus=p_nothing

plain_is --show_bytes subject late.heap
few compare 10 --show_bytes --exclude='^p_inlines$' subject late.heap
few compare 3 --show_bytes '--retain=p_by_calloc|main' subject late.heap
few compare 6 --show_bytes --focus=p_by --ignore=calloc subject late.heap
few compare 10 --show_bytes --retain=p_ --focus=p_work subject late.heap
few compare 6 --show_bytes '--focus=(?i)P_BY' subject late.heap
few compare 1 --show_bytes --focus=P_BY subject late.heap
few compare 6 --show_bytes '--focus=^p_\w+c$' subject late.heap
few compare 4 --show_bytes '--focus=^(?!p_by_r)p_\w*oc$' subject late.heap
few compare 8 --show_bytes '--ignore=p_by_(c)allo\1' subject late.heap
few compare 6 --focus=p_inlines subject late.heap
for view in --lines --addresses --files; do
    few compare 2 --show_bytes $view --focus=p_by --ignore=calloc subject late.heap
    few compare 2 --show_bytes $view '--retain=p_' --exclude=p_work subject late.heap
done
plain_is --show_bytes --cum subject late.heap
few compare 6 --show_bytes --cum --focus=p_inlines subject late.heap

# ---- differences: subtracted first, then filtered ----
plain_is --show_bytes --base=early.heap subject late.heap
check "the difference has no negative row" grep -qE '^ *-[1-9]' plain
for counter in --inuse_space --inuse_objects --alloc_space --alloc_objects; do
    few compare 4 $counter --show_bytes --base=early.heap --focus=p_by_calloc subject late.heap
    few compare 1 $counter --show_bytes --base=early.heap --ignore=p_thread subject late.heap
    few compare 10 $counter --show_bytes --base=early.heap --retain=p_ --exclude=p_by_calloc subject late.heap
done
for counter in --inuse_space --inuse_objects; do
    one_of 2 || continue
    compare 10 $counter --show_bytes --base=early.heap --drop_negative subject late.heap
    check "--drop_negative leaves a negative row" eval '! grep -qE "^ *-[1-9]" ours'
done
few compare 10 --show_bytes --base=early.heap --drop_negative --lines subject late.heap
few compare 4 --show_bytes --base=early.heap --drop_negative --focus=p_by_calloc subject late.heap
few compare 2 --show_bytes --base=late.heap --drop_negative subject early.heap
run "$jprof" --show_bytes subject late.heap
cp out reference
run "$jprof" --show_bytes --drop_negative subject late.heap
same "--drop_negative without --base does something" reference out

# ---- where a name has little room, "(inline)" gives way before a part of it ----
TERM=dumb python3 "$here/on_tty.py" 40x62 "$jprof" diff subject early.heap late.heap 2>&1 | tr -d '\r' >out
prints '^ .* growing +p_inlined$'

# ---- C++ ----
# The closed list: `operator()` and `operator<=>` are `operator`, `(anonymous namespace)` is nothing, a
# lambda goes by its number and not by its place, and functions that share a name have `@address` in jeprof (overloads are
# one row in jprof). So are rows compared by name and value, rows of one name as one.
build names names.cc -std=c++20 -g -O1 -fPIE -pie -gdwarf-3 -gstrict-dwarf -fno-optimize-sibling-calls
profiled prof_active:false,prof_accum:true,lg_prof_sample:0 ./names names.heap

lambda=$(grep -n 'auto .*= \[' "$here/src/names.cc" | head -n 1 | cut -d : -f 1)
as_jeprof_mangles() {
    of_program "$1" | sed -E '
        s/\(anonymous namespace\)//
        s/main::\{lambda#1\}::operator|lambda at names[.]cc:'"$lambda"'/LAMBDA/
        s/operator(\(\)|<=>)/operator/
        s/@[0-9a-f]+( |$)/\1/' | awk '
        /^Total/ { print; next }
        {
            name = $0
            sub(/^ *[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ /, "", name)
            flat[name] += $1
            cum[name] += $4
        }
        END { for (name in flat) print name, flat[name], cum[name] }' | sort
}

compare_names() {
    least=$1
    shift
    perl_jeprof --text "$@" names names.heap
    works "$jprof" --fold=none "$@" names names.heap
    as_jeprof_mangles theirs.whole >theirs
    as_jeprof_mangles out >ours
    check "jeprof has few rows of the program" [ "$(wc -l <theirs)" -ge "$least" ]
    same "not as jeprof (<)" theirs ours
}

compare_names 11 --show_bytes
# What jeprof mangles, it does mangle, and jprof does not.
for pair in ' shop::::hidden$/ shop::\(anonymous namespace\)::hidden$' \
    " main::\\{lambda#1\\}::operator\$/ lambda at names.cc:$lambda\$" \
    ' shop::shelf::operator@[0-9a-f]+$/ shop::shelf::operator\(\)$' \
    ' shop::shelf::operator@[0-9a-f]+$/ shop::shelf::operator<=>$' \
    ' shop::twice@[0-9a-f]+$/ shop::twice$'; do
    check "jeprof has no row like${pair%%/*}" grep -qE -e "${pair%%/*}" theirs.whole
    prints "${pair#*/}"
    prints_no "${pair%%/*}"
done
# What both have right.
for name in ' shop::shelf::operator--$' ' shop::operator"" _kb$' ' shop::many$' ' shop::shelf::put \(inline\)$'; do
    check "jeprof has no row like$name" grep -qE -e "$name" theirs.whole
    prints "$name"
done
for counter in --inuse_objects --alloc_space --alloc_objects; do
    few compare_names 11 --show_bytes $counter
done
few compare_names 20 --show_bytes --lines
few compare_names 20 --show_bytes --addresses
few compare_names 2 --show_bytes --files
few compare_names 3 --show_bytes '--focus=shop::many'
few compare_names 8 --show_bytes '--ignore=shop::many'
few compare_names 3 --show_bytes '--focus=^shop::twice$'
few compare_names 6 --show_bytes '--focus=^shop::shelf::put$'
line=$(sed -n '/put(8000)/=' "$here/src/names.cc")
few compare_names 3 --show_bytes "--focus=names\\.cc:$line\$"
few compare_names 8 --show_bytes "--ignore=names\\.cc:$line\$"
few compare_names 8 --show_bytes '--retain=shop::'
few compare_names 8 --show_bytes '--exclude=shop::(plain|many)'
few compare_names 3 --show_bytes '--retain=shop::' '--exclude=shop::plain' '--focus=shop::shelf' '--ignore=operator'
# jeprof's filters see short names, jprof's full ones too; not by the name jeprof.
perl_jeprof --text --show_bytes '--focus=shop::many<' names names.heap
check "jeprof sees full names" [ "$(wc -l <theirs.whole)" -eq 1 ]
run ./jeprof --show_bytes '--focus=shop::many<' names names.heap
check "so does jprof by that name" [ "$(wc -l <out)" -eq 1 ]
run "$jprof" --show_bytes '--focus=shop::many' names names.heap
cp out short
run "$jprof" --show_bytes '--focus=shop::many<' names names.heap
same "the full name finds other stacks" short out
check "not a word of what is kept: $(cat err)" grep -qE '^jprof: 0\.[0-9] of [0-9.]+ MB kept by focus$' err
# By object file: what it says is kept is what --libs says it holds with what it calls.
run "$jprof" --inuse_objects '--focus=lib:^names$' names names.heap
check "all stacks pass the program: $(cat err)" eval '! grep -q kept err'
run "$jprof" --inuse_objects '--ignore=lib:^names$' names names.heap
says_like 'no stack is left'
set -- --inuse_objects "--sysroot=$cases/sysroot" "$cases/ruby31/cext.1.heap"
run "$jprof" --libs "$@"
part=$(awk '$6 ~ /^leaky/ { print $4; exit }' out)
whole=$(sed -n 's/^Total: \([0-9]*\) .*/\1/p' out)
check "no leaky.so there" [ "${part:-0}" -gt 0 ]
run "$jprof" --focus=lib:leaky "$@"
check "not $part of $whole objects: $(cat err)" grep -qE "^jprof: $part of $whole objects kept by focus\$" err
run "$jprof" --focus=leaky.so "$@"
check "a file's name without lib: is a function's" [ "$(grep -c ' leaky\.so' out)" -eq 0 ]
# By group: what is kept is what --by=group says of it, and the rest is what --ignore keeps.
set -- --inuse_objects "--sysroot=$cases/sysroot" "$cases/ruby31/iseq.1.heap"
run "$jprof" --by=group "$@"
part=$(sed -n 's/^ *\([0-9]*\) .* Ruby.s own code: compiled code$/\1/p' out)
whole=$(sed -n 's/^Total: \([0-9]*\) .*/\1/p' out)
check "no compiled code there" [ "${part:-0}" -gt 0 ]
run "$jprof" --libs '--focus=group:compiled code$' "$@"
check "not $part of $whole objects: $(cat err)" grep -qE "^jprof: $part of $whole objects kept by focus\$" err
run "$jprof" --libs '--ignore=group:compiled code$' "$@"
check "not the rest: $(cat err)" grep -qE "^jprof: $((whole - part)) of $whole objects kept by ignore" err
exits_with 1 "$jprof" '--focus=group:[' "$@"
few compare_names 3 --show_bytes '--focus=operator--'
# Where the name differs, so does what a filter finds.
run "$jprof" --show_bytes '--focus=anonymous' names names.heap
prints ' 100\.0% shop::\(anonymous namespace\)::hidden$'
perl_jeprof --text --show_bytes '--focus=anonymous' names names.heap
check "jeprof finds (anonymous namespace), too" [ "$(wc -l <theirs.whole)" -eq 1 ]

# operator new in an allocator without symbols: jeprof ends no stack there.
build news news.cc -g -O1 -fPIE -pie -gdwarf-3 -gstrict-dwarf -fno-optimize-sibling-calls
profiled prof_accum:true,lg_prof_sample:0 ./news news.heap
"$jprof" --fold=none --show_bytes news news.heap >out 2>err
what="operator new"
prints '^ *614400 .* 614400 .* shop::nothrow$'
prints '^ *3072000 .* 3072000 .* shop::many$'
perl_jeprof --text --show_bytes news news.heap
check "the cumulative value is not jeprof's" grep -qE '^ *[0-9]+ .* 614400 .* shop::nothrow$' theirs.whole

# ---- nothing left: said, and nothing to report, but for jeprof, and of a difference ----
mkdir as
ln -s "$jprof" as/jeprof
works as/jeprof --show_bytes --focus=p_nothing subject late.heap
works "$jprof" --focus=p_nothing --base=late.heap subject late.heap
exits_with 1 "$jprof" --json --focus=p_nothing subject late.heap
exits_with 1 "$jprof" --show_bytes --focus=p_nothing subject late.heap
says 'jprof: no stack is left by --focus'
prints '^Total: [0-9]+ B$'
check "a row" [ "$(wc -l <out)" -eq 1 ]
for filter in --ignore=. --retain=p_nothing --exclude=. '--focus=p_even --ignore=p_odd|p_even'; do
    named=$(printf '%s' "$filter" | sed 's/=[^ ]*//g; s/ /, /g')
    exits_with 1 "$jprof" $filter subject late.heap
    says "jprof: no stack is left by $named"
    check "a row" [ "$(wc -l <out)" -eq 1 ]
    is_refused "$jprof" --collapsed $filter subject late.heap
    says "jprof: no stack is left by $named"
done

# ---- bad patterns: one line that shows the place ----
# refuses PLACE PATTERN: PLACE is what the line must have at its end.
refuses() {
    for option in focus ignore retain exclude; do
        one_of 3 || continue
        is_refused "$jprof" "--$option=$2" subject late.heap
        check "not one line" [ "$(wc -l <err)" -eq 1 ]
        check "not of --$option" grep -qE "^jprof: --$option: [a-z\\\\]" err
        printf '%s\n' ", marked by <-- HERE in $1" >place
        check "the place is not shown: $1" grep -qF -f place err
    done
}
refuses '( <-- HERE ' '('
refuses 'p_(by|even <-- HERE ' 'p_(by|even'
refuses 'a[ <-- HERE ' 'a['
refuses 'x <-- HERE )' 'x)'
refuses ' <-- HERE *' '*'
refuses 'a{2,1 <-- HERE }b' 'a{2,1}b'
refuses '\ <-- HERE ' '\'
refuses '(\x0ax <-- HERE ' "$(printf '(\nx')"
exits_with 1 "$jprof" --focus=p_by '--ignore=(' subject late.heap
says_like '^jprof: --ignore: '
exits_with 1 "$jprof" '--focus=(' missing.heap
says_like '^jprof: '
# No pattern is no filter (jeprof: an error of usage).
works "$jprof" --show_bytes --focus= subject late.heap
same "an empty --focus does something" reference out
finish
