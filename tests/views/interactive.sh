#!/bin/sh
# --interactive driven by a script, as jeprof's users drive theirs.
. "$(dirname "$0")/../cli/lib.sh"
find_jemalloc
here_views=$here here=${here%/*}/cli
build subject parity.c -g -O0 -fPIE -pie -gdwarf-3 -gstrict-dwarf -fno-optimize-sibling-calls -pthread
here=$here_views
profiled prof_active:false,prof_accum:true,lg_prof_sample:11 ./subject early.heap late.heap
ln -s "$jprof" jeprof

# commands TEXT [ARGUMENTS...]: what jprof makes of these lines
commands() {
    text=$1
    shift
    what="commands: $(printf '%s' "$text" | tr '\n' ';') $*"
    status=0
    printf '%b' "$text" | timeout 300 "$jprof" -i --fold=none "$@" subject late.heap >out 2>err || status=$?
    check "a sanitizer found something" no_finding
    exits 0
}
# The report that options give.
report() {
    "$jprof" --fold=none "$@" subject late.heap 2>/dev/null
}

# ---- each command is the report of that name ----
pairs() {
    cat <<'PAIRS'
top3|--top=3
top 3|--top=3
top|--top=10
to4 --cum|--top=4 --cum
text5 --lines|--top=5 --lines
text 5 -lines|--top=5 --lines
cum 7|--top=7 --cum
top2 p_even|--top=2 --focus=p_even
top9 -p_inl -p_even|--top=9 --ignore=p_inl|p_even
top9 p_odd p_rec -^__clone3*$|--top=9 --focus=p_odd|p_rec --ignore=^__clone3*$
tree|--tree
tree p_even|--tree --focus=p_even
tree6 --libs|--tree --top=6 --libs
traces|--traces
peek ^p_odd$|--peek=^p_odd$
peek ^p_odd$ -^__clone3*$|--peek=^p_odd$ --ignore=^__clone3*$
collapsed|--collapsed
callgrind|--callgrind
inuse_objects\ntop5|--inuse_objects --top=5
alloc_space\nlibs\ntop|--alloc_space --libs --top=10
files\ntop\|--files --top=10
addresses\ntop|--addresses --top=10
show_bytes on\ntop|--show_bytes --top=10
show_bytes\nerrors\ntop2|--show_bytes --errors --top=2
sort cum\ntop|--cum --top=10
sort cum\nsort flat\ntop|--top=10
fold vm\ntop|--fold=vm --top=10
focus p_even\ntop|--focus=p_even --top=10
focus=p_even\ntop|--focus=p_even --top=10
focus=p_even\nfocus=\ntop|--top=10
focus p_even p_inl\ntop|--focus=p_even|p_inl --top=10
ignore p_even\ntop|--ignore=p_even --top=10
focus p_even\nignore p_inl\nlines\nreset\ntop|--top=10
focus p_even\nfocus\ntop|--top=10
top2 'p_even|x y'|--top=2 --focus=p_even|x y
top2 "p_even"|--top=2 --focus=p_even
PAIRS
}
pairs >pairs
while IFS= read -r pair; do
    one_of 3 || continue
    lines=${pair%%|*} rest=${pair#*|}
    case $lines in *\\) lines=${lines%\\} ;; esac
    case $pair in "top2 'p_even|x y'"*) lines="top2 'p_even|x y'" rest='--top=2 --focus=p_even|x y' ;; esac
    commands "$lines\n"
    IFS='~'
    # Options begin with two dashes after a blank.
    set -- $(printf '%s' "$rest" | sed 's/ --/~--/g')
    unset IFS
    report "$@" >expected
    check "nothing to compare with" [ -s expected ]
    same "not as $rest (<)" expected out
done <pairs
check "few pairs" [ "$(wc -l <pairs)" -gt 30 ]
# --list and --disasm have no line Total; here they have, as in jeprof.
for word in list disasm; do
    commands "$word ^p_work$\n"
    report --$word='^p_work$' >expected
    if [ $word = disasm ] && ! [ -s expected ]; then continue; fi
    check "no Total" grep -q '^Total: ' out
    sed 1d out >rest
    same "$word (>) is not --$word (<)" expected rest
done

# ---- files, faults ----
commands 'top3 > a.txt\ntree >b.txt\ncallgrind c.cg\ntop3\n'
report --top=3 >expected
same "> FILE" expected a.txt
same "after it" expected out
report --tree >expected
same ">FILE" expected b.txt
report --callgrind >expected
same "callgrind FILE" expected c.cg
commands 'foo\ntop3 | less\nlist\npeek\nlist nothing_like_it\nlist (\ntop3 > /nowhere/x\nfold x\nsort\nfocus (\n  \n\ntop --nonsense\nt\nweblist main\n"open\ntop3 >\ntop3 >> x\ntop3 >x >y\ndiff later.heap\ntop1\n'
report --top=1 >expected
same "faults end the session, or print something" expected out
for line in "Unknown command: try 'help'\." 'no other program is started: write to a file, with > FILE$' 'list needs a pattern: list RE$' \
    'peek needs a pattern' '--list=nothing_like_it: no function' '/nowhere/x: cannot be written: No such file' \
    'fold: give one of none, alloc, std, vm$' 'sort: give one of flat, cum$' '--focus: missing closing' 'option --nonsense' 't may mean several commands' \
    'weblist is not in this version' 'a quote is not closed$' '> needs the name of a file$' '>> is not known' '> FILE can be given once$' \
    'diff is no command of a session: quit, and type jprof diff$'; do
    check "no line: $line" grep -qE -e "$line" err
done
# ---- what a filter keeps is said with each report ----
commands 'focus p_even\ntop3\ntop3 -p_even\n'
check "not said what focus keeps: $(cat err)" grep -qE 'jprof: [0-9.]+ of [0-9.]+ MB kept by focus$' err
commands 'top3 p_even\ntop3\n'
check "not said once" [ "$(grep -c 'MB kept by focus$' err)" -eq 1 ]

commands 'help\noptions\n'
prints_nothing
for word in top peek list disasm callgrind tree traces focus ignore reset inuse_objects lines show_bytes quit; do
    check "help lacks $word" grep -qE "^  $word( |\$)" err
done
check "the settings" grep -qE '^(.jprof. )*counter +inuse_space$' err
check "a welcome" grep -q "^Welcome to jprof!  For help, type 'help'\.\$" err
check "the prompt" grep -q '^(jprof) ' err
for end in quit exit q 'top1\nquit'; do
    commands "$end\ntop\n"
    check "$end does not end it" [ "$(grep -c . out)" -le 2 ]
done
commands ''
prints_nothing
# \r, no line end at the end of input, blanks
commands '  top1\r\n\ttop1'
check "not two reports" [ "$(grep -c ^Total: out)" -eq 2 ]
# What is loaded decides what is shown: differences and threads.
commands 'top3\n' --base=early.heap
report --top=3 --base=early.heap >expected
same "a difference" expected out
commands 'top3\n' --thread=1
report --top=3 --thread=1 >expected
same "a thread" expected out
# A bundle of several.
"$jprof" bundle -o both.jprof early.heap late.heap 2>log
what="a bundle in a session"
status=0
printf 'top3\nfocus p_even\ntop3\nreset\n' | timeout 300 "$jprof" -i --fold=none both.jprof >out 2>err || status=$?
exits 0
check "a sanitizer found something" no_finding
{ "$jprof" --fold=none --top=3 both.jprof && "$jprof" --fold=none --top=3 --focus=p_even both.jprof; } >expected 2>log
check "nothing to compare with" [ "$(grep -c ^Total: expected)" -eq 2 ]
same "of a bundle" expected out
# What cannot be read ends it.
exits_with 1 "$jprof" --interactive nothing.heap
says_like '^jprof: nothing\.heap: '

# ---- beside Perl's ----
find_jeprof
beside() {
    printf '%b' "$1" | HOME=$tmp JEPROF_TMPDIR=$tmp timeout 300 "$jeprof" --interactive subject late.heap >theirs.whole 2>theirs.err
    printf '%b' "$1" | timeout 300 ./jeprof --interactive subject late.heap >out 2>err
    what="as jeprof: $(printf '%s' "$1" | tr '\n' ';')"
    check "the prompt" grep -q '^(jeprof) ' err
    of_program theirs.whole >theirs
    of_program out >mine
    check "jeprof shows little" [ "$(wc -l <theirs)" -ge "$2" ]
    same "not as jeprof (<)" theirs mine
}
# Names of libc's functions differ, and so does which of equals are among the first ten.
few beside 'top10\n' 7
few beside 'top6 --cum\n' 3
few beside 'top5 -p_inl\ntop4\n' 8
few beside 'top40 --lines\n' 15
# Lines that have values.
listing() {
    awk '/^ROUTINE/ { on = $3 == "main" || $3 ~ /^p_/; name = $3 }
        on && /Total/ { print name, $1, $2 }
        on && $3 ~ /^[0-9]+:$/ && !($1 == "." && $2 == ".")' "$1"
}
for word in main p_work '^p_by_'; do # jeprof's names end in tags
    one_of 3 || continue
    printf 'list %s\n' "$word" | HOME=$tmp JEPROF_TMPDIR=$tmp timeout 300 "$jeprof" --interactive subject late.heap >theirs.whole 2>theirs.err
    printf 'list %s\n' "$word" | ./jeprof --interactive subject late.heap >out 2>err
    what="list $word"
    listing theirs.whole | sort >theirs
    listing out | sort >mine
    check "jeprof lists little" [ "$(wc -l <theirs)" -ge 2 ]
    same "list $word is not jeprof's (<)" theirs mine
    check "the first line is not jeprof's" [ "$(head -n 1 out)" = "$(head -n 1 theirs.whole)" ]
done
finish
