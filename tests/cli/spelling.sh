#!/bin/sh
# What people type: abbreviations of jeprof's options, wrong options, wrong first words. Each gets what was meant, or one
# line that says what to type.
. "$(dirname "$0")/lib.sh"
cp "$heaps/jemalloc-5.3.0.heap" dump.heap || skip "no samples here"
cp "$heaps/jemalloc-5.3.1.heap" newer.heap
sys=--sysroot=$heaps/sysroot

# ---- each beginning of an option of jeprof means what it means there; Perl's Getopt::Long is the judge ----
# A value where none is taken, or none where one is needed, is answered with the whole name.
theirs=$(command -v jeprof) || skip "no jeprof here (Debian: libjemalloc-dev)"
perl "$here/prefixes.pl" "$theirs" >prefixes || skip "perl cannot read jeprof's options"
check "too few beginnings of options" [ "$(wc -l <prefixes)" -gt 200 ]
while read -r word option kind; do
    if [ "$word" = h ]; then # here that is help
        continue
    fi
    value==1
    [ "$kind" = switch ] || value=
    run "$jprof" "--$word$value"
    check "--$word is not --$option" eval '[ "$status" -eq 1 ] && grep -q "^jprof: --$option " err'
done <prefixes

# ---- an underscore is a dash, -h is help ----
for option in full-names full_names show_bytes show-bytes drop_negative drop-negative lib-prefix=/tmp inuse-space \
    diff-base=newer.heap diff_base=newer.heap max_memory=1G source_path=/x normalize_addresses; do
    works "$jprof" $sys "--$option" dump.heap
done
run "$jprof" --help
cp out help
for words in -h --h -help --hel help; do
    works "$jprof" $words
    says
    same "not the help" help out
done
for command in bundle check diff doctor explain info names run serve snap watch; do
    run "$jprof" $command --help
    cp out help
    check "$command --help is wider than 80 columns" eval '! grep -qE "^.{81}" out'
    for words in "$command -h" "help $command"; do
        works "$jprof" $words
        says
        same "not the help of $command" help out
    done
done
run "$jprof" info --help
prints '^usage: jprof info '
check "the help of info has options of reports" eval '! grep -q -- --callgrind out'
run "$jprof" --help
check "--help is wider than 80 columns" eval '! grep -qE "^.{81}" out'
prints '^What grew$'

# ---- wrong options: the nearest right one, or what there is instead ----
# answers PATTERN WORDS...: one line, nothing else
answers() {
    pattern=$1
    shift
    exits_with 1 "$jprof" "$@"
    prints_nothing
    says_like "$pattern"
    check "more than a line" [ "$(wc -l <err)" -eq 1 ]
}
while read -r typed meant; do
    answers "^jprof: unknown option --$typed; is it --$meant\\? jprof --help lists all\$" "--$typed" dump.heap
done <<'END'
linez lines
fucntions functions
show_byte5 show_bytes
adresses addresses
libz libs
sgv svg
cumm cum
focuss focus
ingore ignore
colapsed collapsed
callgrnd callgrind
jsno json
outptu output
difbase diff_base
sysrot sysroot
treee tree
thred thread
eror errors
pee-k peek
spedscope speedscope
dissasm disasm
ful-names full-names
normalise-addresses normalize-addresses
debug_info_d debuginfod
memebr member
drop_negatives drop_negative
intercative interactive
END
answers '^jprof: unknown option --nothing-like-it; jprof --help lists all$' --nothing-like-it dump.heap
answers '^jprof: unknown option --gcc; is it --gc\? jprof snap --help lists all$' snap --gcc 1
answers '^jprof: unknown option --printenv; is it --print-env\? jprof run --help lists all$' run --printenv
answers '^jprof: unknown option --jsn; is it --json\? jprof doctor --help lists all$' doctor --jsn 1
answers '^jprof: unknown option --labell; is it --label\? jprof bundle --help lists all$' bundle --labell=x dump.heap
for option in ages older=1h newer=10m; do
    answers '^jprof: the dump does not say when its samples were allocated; .*FILE\.ruby has to be beside FILE$' $sys --$option dump.heap
done
answers '^jprof: --older=soon: give a time such as' --older=soon dump.heap
answers '^jprof: --newer=1: give a time such as' --newer=1 dump.heap
answers '^jprof: --older=1h --newer=60m: nothing is both' --older=1h --newer=60m dump.heap
answers '^jprof: --ages: --tree shows no ages; --text' --ages --tree dump.heap
answers '^jprof: ambiguous option --al: --alloc_space, --alloc_objects$' --al dump.heap
for option in flamegraph flame-graph; do
    answers "^jprof: --${option%=*} is not taken: .*--[a-z]" "--$option" dump.heap
done

# ---- the first word: a command; a file here; a program in PATH, if the dump is of it ----
while read -r typed meant; do
    answers "^jprof: $typed: no such command or file; is it jprof $meant\\?" "$typed" dump.heap
done <<'END'
snpa snap
snapp snap
snaps snap
doctr doctor
docter doctor
infos info
inf info
bundel bundle
bundles bundle
rnu run
END
# What a later jprof may have says what does it now, whatever there is in PATH.
mkdir bin
for word in open show top; do
    printf '#!/bin/sh\necho was run\n' >bin/$word
    chmod +x bin/$word
    PATH=$tmp/bin:$PATH answers "^jprof: there is no command $word; .*(jprof|--[a-z])" $word dump.heap newer.heap
done
answers "^jprof: diff stands before its options: jprof diff [[]OPTIONS[]] [.][.][.]$" --lines diff dump.heap newer.heap
# A program that the dump's maps do not name is not meant.
cp bin/top bin/sl
PATH=$tmp/bin:$PATH answers '^jprof: sl: no command, no file here, and the dump is not of .*/bin/sl; leave it out' sl dump.heap
PATH=$tmp/bin:$PATH answers '^jprof: sl: .*the dump is not of' info sl dump.heap
run "$jprof" $sys dump.heap
cp out right
# One of that name is (an rbenv's shim, say), and one that links lead to.
cp bin/sl bin/threads
PATH=$tmp/bin:$PATH works "$jprof" $sys threads dump.heap
mapped=$(grep -o '/.*libc\.so\.6$' dump.heap | head -n 1)
if [ -e "$mapped" ]; then
    ln -s "$mapped" bin/linked
    PATH=$tmp/bin:$PATH works "$jprof" $sys linked dump.heap
fi
# A path, and a file here, are taken at their word.
works "$jprof" $sys "$tmp/bin/sl" dump.heap
cp bin/sl sl
works "$jprof" $sys sl dump.heap
# A dump without maps contradicts nobody.
{ sed "/^MAPPED_LIBRARIES:\$/q" dump.heap; grep -E ' \[stack\]$' dump.heap; } >bare.heap
PATH=$tmp/bin:$PATH works "$jprof" threads bare.heap
finish
