#!/bin/sh
# Options are spelled as jeprof takes them; what is wrong is said in one line.
. "$(dirname "$0")/lib.sh"
cp "$heaps/jemalloc-5.3.0.heap" dump.heap || skip "no samples here"
sys=--sysroot=$heaps/sysroot

# report ARGUMENTS...: runs jprof; it must work.
report() {
    is_quiet "$jprof" $sys "$@"
}

# same_as ARGUMENTS...: the same report as that of $reference
same_as() {
    report "$@"
    same "not as $reference" reference out
}

reference_is() {
    reference="$*"
    report "$@"
    cp out reference
}

# ---- spelling ----
reference_is dump.heap
plain_report=reference.plain
cp reference $plain_report
same_as --text dump.heap
same_as --functions dump.heap
same_as --inuse_space dump.heap
same_as --lines --nolines dump.heap
same_as --notext dump.heap
same_as --cum --nocum dump.heap
same_as --show_bytes --noshow_bytes dump.heap
same_as --show_bytes --no-show_bytes dump.heap
same_as --fold=alloc dump.heap

reference_is --show_bytes --cum --lines --alloc_space dump.heap
check "options do nothing" eval '! cmp -s reference $plain_report'
same_as -show_bytes -cum -lines -alloc_space dump.heap
same_as --show --cum --line --alloc_s dump.heap
same_as -sh -cu -lin -alloc_s dump.heap
same_as --SHOW_BYTES --Cum --lINES --ALLOC_SPACE dump.heap
same_as dump.heap --show_bytes --cum --lines --alloc_space
same_as --show_bytes dump.heap --cum --lines --alloc_space
same_as --show_bytes --cum --lines --lines --alloc_space --alloc_space dump.heap

reference_is --top=3 dump.heap
same_as --top 3 dump.heap
same_as -top=3 dump.heap
same_as -to 3 dump.heap
same_as dump.heap --top 3
same_as --top=7 --top=3 dump.heap

cp dump.heap ./--lines
reference_is dump.heap
same_as -- --lines
same_as -- dump.heap
same_as ./--lines
cp dump.heap info
same_as ./info

# ---- what is refused ----
# refuses TEXT ARGUMENTS...: with that line
refuses() {
    text=$1
    shift
    is_refused "$jprof" "$@"
    says "$text"
}
refuses 'jprof: unknown option --nonsense; jprof --help lists all' --nonsense dump.heap
refuses 'jprof: unknown option --linez; is it --lines? jprof --help lists all' --linez dump.heap
refuses 'jprof: unknown option --x\x0ay; jprof --help lists all' "$(printf -- '--x\ny')" dump.heap
refuses 'jprof: ambiguous option --a: --addresses, --alloc_space, --alloc_objects, --add_lib' --a dump.heap
refuses 'jprof: ambiguous option -li: --list, --lines, --lib_prefix' -li dump.heap
refuses 'jprof: ambiguous option --alloc: --alloc_space, --alloc_objects' --alloc dump.heap
refuses 'jprof: --top needs a value; see jprof --help' dump.heap --top
refuses 'jprof: --base needs a value; see jprof --help' dump.heap --base
refuses 'jprof: --fold needs a value; see jprof --help' dump.heap --fold
refuses 'jprof: --cum takes no value' --cum=1 dump.heap
for n in '' -1 ' -1' x 3x 1.5 99999999999999999999999; do
    refuses "jprof: --top=$n: give a whole number" "--top=$n" dump.heap
    refuses "jprof: --nodecount=$n: give a whole number above 0" "--nodecount=$n" dump.heap
done
refuses "jprof: --nodecount=0: give a whole number above 0" --nodecount=0 dump.heap
refuses 'jprof: --fold=all: give one of none|alloc|std|vm' --fold=all dump.heap
refuses 'jprof: --lines and --files exclude each other' --lines --files dump.heap
refuses 'jprof: --functions and --addresses exclude each other' --functions --addresses dump.heap
refuses 'jprof: --inuse_space and --alloc_objects exclude each other' --inuse_space --alloc_objects dump.heap
refuses 'jprof: --base and --diff_base exclude each other' --base=dump.heap --diff_base=dump.heap dump.heap
refuses 'jprof: no dump given; usage: jprof [OPTIONS] [PROGRAM] DUMP..., see jprof --help'
refuses 'jprof: no dump given; usage: jprof [OPTIONS] [PROGRAM] DUMP..., see jprof --help' --lines
exits_with 1 "$jprof" info
says_like '^jprof: no dump given'

# ---- every option of jeprof is known: it works, or a sentence says that it does not ----
for option in text callgrind list=row_new disasm=row_new gv evince dot ps pdf svg gif raw collapsed \
    functions lines files addresses inuse_space inuse_objects alloc_space alloc_objects show_bytes \
    total_delay contentions mean_delay seconds=3 cum base=dump.heap drop_negative nodecount=3 nodefraction=0.1 \
    edgefraction=0.1 maxdegree=3 scale=1 heapcheck focus=x ignore=no_such_name retain=x exclude=x thread=1 lib_prefix=/x \
    add_lib=/x tools=/x debug-syms-by-id test debug; do
    run "$jprof" $sys --$option dump.heap
    check "unknown" eval '! grep -q unknown err'
    check "more than a line" [ "$(wc -l <err)" -le 1 ]
    if [ "$status" -ne 0 ]; then
        prints_nothing
        says_like "^jprof: --${option%%=*}[ =]"
    fi
done

# ---- a pattern without end ----
is_refused "$jprof" $sys '--focus=^(.|..|...)+(?<=!!)' --fold=none dump.heap
says 'jprof: --focus: takes too much backtracking; give a simpler pattern'

for word in list peek disasm; do
    is_refused "$jprof" $sys "--$word=^(.|..|...)+(?<=!!)" --fold=none dump.heap
    check "no sentence" grep -qx "jprof: --$word: takes too much backtracking; give a simpler pattern" err
done

# ---- help and version ----
is_quiet "$jprof" --help
prints '^usage: jprof \[OPTIONS\] \[PROGRAM\] DUMP'
for option in text functions lines files addresses inuse_space inuse_objects alloc_space alloc_objects show_bytes cum \
    top full-names fold base diff_base maps sysroot lib_prefix svg pdf png gif ps dot web nodecount nodefraction \
    edgefraction maxdegree cluster help version; do
    prints "^  --${option}[ =]"
done
is_quiet "$jprof" --version
prints '^jprof [0-9]+\.[0-9]+\.[0-9]+'

# ---- commands: what is misspelt is not taken for a file, what is a file or a program is no misspelling ----
for pair in snpa:snap doctr:doctor runn:run inof:info bundel:bundle docctor:doctor snag:snap; do
    exits_with 1 "$jprof" "${pair%:*}" 4711
    says "jprof: ${pair%:*}: no such command or file; is it jprof ${pair#*:}? jprof --help lists the commands"
done
run "$jprof" frobnicate
says 'jprof: frobnicate: cannot be opened: No such file or directory'
cp dump.heap snpa
same_as snpa
printf '#!/bin/true\n' >runn
chmod +x runn
PATH=$PATH:$tmp run "$jprof" runn missing.heap
says_like 'missing.heap'
for command in bundle doctor info run snap; do
    is_quiet "$jprof" $command --help
    prints '^usage: jprof '
    prints "^ *(usage: )?jprof $command "
    cp out right
    if [ $command != info ]; then
        works "$jprof" help $command
        same "jprof help $command is not its --help" right out
        exits_with 1 "$jprof" $command --nonsense
        says "jprof: unknown option --nonsense; jprof $command --help lists all"
    fi
done
run "$jprof" help
prints '^usage: jprof \[OPTIONS\]'
finish
