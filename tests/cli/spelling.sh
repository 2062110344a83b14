#!/bin/sh
# What people type: abbreviations of jeprof's options, wrong options, wrong first words. Each gets what was meant, or one
# line that says what to type.
. "$(dirname "$0")/lib.sh"
cp "$heaps/jemalloc-5.3.0.heap" dump.heap || skip "no samples here"
cp "$heaps/jemalloc-5.3.1.heap" newer.heap
sys=--sysroot=$heaps/sysroot

# ---- what newcomers type, and what is misspelt ----
of_no_machine "$heaps/jemalloc-5.3.0.heap" >app.heap || skip "no samples here"
cp app.heap new.heap
cp "$cases/puma/w0.2.jprof" morning.jprof
echo 'puts 1' >app.rb
mkdir dir nowhere_in_path
: >empty.heap
head -c 300 app.heap >cut.heap
echo '{"a":1}' >stats.json
cp /bin/true prog
JPROF_AGENT_LIB=$JPROF_AGENT_SO
export JPROF_AGENT_LIB
unset LD_PRELOAD MALLOC_CONF JPROF_AGENT

python3 "$here/typed.py" "$jprof" >typed <<'END' || fail "$(cat typed)"
--help-me app.heap~unknown option --help-me; jprof --help lists all$
-l app.heap~ambiguous option -l: --list, --lines, --lib_prefix$
-t 5 app.heap~ambiguous option -t: --text, --thread$
-x app.heap~unknown option -x; jprof --help lists all$
-1 app.heap~unknown option -1; jprof --help lists all$
--top 5x app.heap~--top=5x: give a whole number$
--top=5,000 app.heap~--top=5,000: give a whole number$
app.heap --top~--top needs a value; see jprof --help$
--nodefraction=5% app.heap~--nodefraction=5%: give a share from 0 to 1$
-o~-o needs a value; see jprof --help$
--output app.heap~no dump given: -o FILE took app.heap for the file to write; give both$
-o app.heap --svg~no dump given: -o FILE took app.heap for the file to write; give both$
--svg app.heap -o app.heap~app.heap: is read for this report, and is not overwritten by it; give another name with -o$
-o /no/such/x.txt app.heap~/no/such/x.txt: cannot be written: No such file or directory$
-o dir app.heap~dir: cannot be written: Is a directory$
nothere.heap~nothere.heap: cannot be opened: No such file or directory$
prog nothere.heap~nothere.heap: cannot be opened: No such file or directory$
nothere.heap app.heap~nothere.heap: cannot be opened: No such file or directory$
dir~dir: is a directory; name a file in it$
prog dir~dir: is a directory; name a file in it$
nowhere_in_path app.heap~nowhere_in_path: is no file; the order is: jprof PROGRAM DUMP$
empty.heap~empty.heap: is empty; make a new dump$
cut.heap~cut.heap:9: the file ends without MAPPED_LIBRARIES:; no stack before it is sound, make a new dump$
stats.json~stats.json:1: is no heap dump: its first line should read "heap_v2/RATE"$
app.rb~app.rb:1: is no heap dump: its first line should read "heap_v2/RATE"$
app.rb app.heap~app.rb: is neither a program nor a heap dump; the order is: jprof PROGRAM DUMP$
prog~prog:1: is a program, not a heap dump; the order is: jprof PROGRAM DUMP$
app.heap prog~prog:1: is a program, not a heap dump; the order is: jprof PROGRAM DUMP$
/no/such/ruby app.heap~/no/such/ruby: No such file or directory; without PROGRAM the dump's own maps are used$
--base=nothere.heap app.heap~nothere.heap: cannot be opened: No such file or directory$
--base app.heap~no dump given but app.heap, which is the earlier one; give the later one, too$
--base=app.heap --top=3~no dump given but app.heap, which is the earlier one; give the later one, too$
--base=app.heap --diff_base=app.heap new.heap~--base and --diff_base exclude each other$
--compare app.heap new.heap~--compare is not taken: .*what grew
compare app.heap new.heap~there is no command compare; .*what grew$
--flamegraph app.heap~--flamegraph is not taken: --flame -o FILE.svg draws it
flamegraph app.heap~there is no command flamegraph; jprof --flame -o FILE.svg DUMP draws a flame graph
top app.heap~there is no command top; jprof --top=N DUMP prints the first N rows$
report app.heap~there is no command report; jprof DUMP shows where the memory is$
show app.heap~there is no command show; jprof DUMP shows where the memory is$
leaks app.heap~there is no command leaks; .*what grew$
svg app.heap~there is no command svg; it is an option: jprof --svg, see jprof --help$
list app.heap~there is no command list; it is an option: jprof --list, see jprof --help$
text~there is no command text; it is an option: jprof --text, see jprof --help$
version~there is no command version; jprof --version prints it$
merge app.heap new.heap~there is no command merge; jprof DUMP DUMP... adds dumps up$
stats 1~there is no command stats; jprof explain SNAPSHOT says where all memory is$
record ./prog~there is no command record; jprof run -- COMMAND... starts a program under profiling, and jprof snap PID
start ./prog~there is no command start; jprof run -- COMMAND... starts
attach 1234~there is no command attach; .* jprof snap PID takes a snapshot of it$
1234567890~process 1234567890: there is no such process$
-p 1234~ambiguous option -p: --pdf, --ps$
--pid 1234~--pid is not taken: jprof snap PID takes a snapshot of a process$
snpa 1234~snpa: no such command or file; is it jprof snap
help snpa~snpa: no such command; jprof --help lists the commands$
help top~there is no command top; jprof --top=N DUMP
--tree=5 app.heap~--tree takes no value$
--list app.heap~no dump given: --list=RE took app.heap for its pattern; give both$
--peek app.heap~no dump given: --peek=RE took app.heap for its pattern; give both$
--list= app.heap~--list=RE: give a pattern for names of functions$
--peek=nosuch app.heap~--peek=nosuch: no function with memory has such a name; jprof --cum lists those that have$
'--focus=(' app.heap~--focus: missing closing parenthesis, marked by
--thread=99 app.heap~no thread 99 in app.heap; jprof info lists its threads$
--member=worker app.heap~app.heap: is no bundle, so it has no member worker$
--member=nosuch morning.jprof~morning.jprof: has no member nosuch; it has dump$
--fold=everything app.heap~--fold=everything: give one of none|alloc|std|vm$
--ruby=yes app.heap~--ruby=yes: give one of merged|only|off$
--colour=always app.heap~unknown option --colour; is it --color\? jprof --help lists all$
--color=yes app.heap~--color=yes: give one of auto|always|never$
--sort=size app.heap~--sort=size: give one of change|value$
--lines --functions app.heap~--lines and --functions exclude each other$
--svg --pdf app.heap~--svg and --pdf exclude each other$
--json --csv app.heap~--json and --csv exclude each other$
--alloc app.heap~ambiguous option --alloc: --alloc_space, --alloc_objects$
--bytes app.heap~--bytes is not taken: --show_bytes shows bytes instead of MB$
--objects app.heap~--objects is not taken: --inuse_objects counts objects in use
--verbose app.heap~--verbose is not taken: jprof info says what was looked for
--limit=5 app.heap~--limit is not taken: --top=N shows the first N rows$
--seconds=30 app.heap~--seconds is not taken: jprof never fetches profiles from a network$
./prog http://localhost:8080/pprof/heap~http://localhost:8080/pprof/heap: jprof never fetches profiles from a network; fetch it into a file first$
--sysroot=/no/such app.heap~/no/such: is no directory; --sysroot=DIR wants one$
--maps=/no/such app.heap~/no/such: cannot be opened: No such file or directory$
--perf-map=/no/such app.heap~/no/such: cannot be opened: No such file or directory$
--max-memory=lots app.heap~--max-memory=lots: give a size such as 500M or 2G$
--rules=x app.heap~--rules=FILE is for jprof explain$
run~no command to start; usage: jprof run .OPTIONS. -- COMMAND
run nosuchprogram~nosuchprogram: no such program$
run -- app.rb~app.rb: is no program that may be run; give the one that runs it, too$
run app.heap~app.heap: is no program that may be run; give the one that runs it, too$
run prog~prog: is not in PATH; for the file here put ./ before its name$
run --sample=x -- ./prog~--sample=x: give the logarithm of bytes, 17 for a sample each 128 KiB, or bytes with a unit: 128K$
-o heap.svg app.heap~heap.svg: such a name is for --svg and --flame, and this is text; give one of these, or another name$
--text -o heap.html app.heap~heap.html: such a name is for --html, and this is text; give that option, or another name$
--raw -o heap.pb.gz app.heap~heap.pb.gz: such a name is for --proto, and this is raw; give that option, or another name$
explain -o x.jprof app.heap~x.jprof: such a name is for snapshots .jprof snap, jprof bundle., and this is text; give another name$
explain -o x.csv app.heap~x.csv: such a name is for --csv, and this is text; give that option, or another name$
diff -o x.jprof app.heap new.heap~x.jprof: such a name is for snapshots .jprof snap, jprof bundle., and this is text; give another name$
diff --markdown -o x.json app.heap new.heap~x.json: such a name is for --json, --speedscope and --dhat, and this is markdown; give one of these, or another name$
check -o x.csv app.heap new.heap~x.csv: such a name is for --csv, and this is text; give that option, or another name$
run --sample=131072 -- ./prog~--sample=131072: give the logarithm of bytes, 17 for a sample each 128 KiB, or bytes with a unit: 128K$
run --print-env=bash~--print-env=bash: give one of shell|docker|helm|procfile|systemd$
run --gc -- ./prog~unknown option --gc; jprof run --help lists all$
snap puma~puma: give the number of a process; .jprof snap. alone lists them$
snap 99999999~process 99999999: there is no such process$
snap --pid=1~--pid is not taken: give the number alone: jprof snap PID$
snap --all~--all is not taken: give the PIDs, or --puma, --match=RE, --children-of=PID$
snap --every=x 1~--every=x: give a time such as 60s, 10m or 1h$
snap app.heap~app.heap: give the number of a process; .jprof snap. alone lists them$
snap 1 -o~--output needs a value; see jprof snap --help$
bundle~no dump given; jprof bundle --help shows how$
bundle app.heap~no file given for the bundle: -o FILE.jprof$
bundle app.heap out.jprof~no file given for the bundle: -o FILE.jprof$
bundle -o out.jprof nothere.heap~nothere.heap: cannot be opened: No such file or directory$
bundle -o new.heap app.heap~new.heap: exists already, and nothing is overwritten; give another name, or remove it$
bundle -o new.svg app.heap~new.svg: such a name is for --svg and --flame, and this is a snapshot; give one of these, or another name$
bundle -o new.jnames app.heap~new.jnames: such a name is for packs of names, and this is a snapshot; give another name$
names learn -o x.heap prog~x.heap: such a name is for dumps .and for --raw., and this is a pack of names; give another name$
doctor -- nosuchprogram~nosuchprogram: no such program$
doctor app.heap~app.heap: is no program that may be run; give the one that runs it, too$
doctor --puma~--puma is not taken: give the PID
explain~no dump given; jprof explain --help shows how$
diff~no dump given; jprof diff --help shows how$
diff nothere.jprof app.heap~nothere.jprof: cannot be opened: No such file or directory$
explain nothere.jprof~nothere.jprof: cannot be opened: No such file or directory$
explain a.jprof b.jprof~a.jprof: cannot be opened: No such file or directory$
info~no dump given; jprof info --help shows how$
info nothere.heap~nothere.heap: cannot be opened: No such file or directory$
info prog~prog:1: is a program, not a heap dump; the order is: jprof PROGRAM DUMP$
--interactive~no dump given; usage: jprof .OPTIONS. .PROGRAM. DUMP
--symbols prog~standard input holds no addresses; give the text of a /proc/PID/maps and addresses, one a line$
option linez lines
option fucntions functions
option show_byte5 show_bytes
option adresses addresses
option libz libs
option sgv svg
option cumm cum
option focuss focus
option ingore ignore
option colapsed collapsed
option callgrnd callgrind
option jsno json
option outptu output
option difbase diff_base
option sysrot sysroot
option treee tree
option thred thread
option eror errors
option pee-k peek
option spedscope speedscope
option dissasm disasm
option ful-names full-names
option normalise-addresses normalize-addresses
option debug_info_d debuginfod
option memebr member
option drop_negatives drop_negative
option intercative interactive
command snpa snap
command snapp snap
command snaps snap
command doctr doctor
command docter doctor
command infos info
command inf info
command bundel bundle
command bundles bundle
command rnu run
END
check "few command lines: $(cat typed)" [ "$(sed -n 's/ command lines$//p' typed)" -ge 150 ]
works "$jprof" --lib_prefix=/no/such --add_lib=dir,/no/such.so --debug-dir=/no/such app.heap
for typed in --lib_prefix=/no/such --add_lib=/no/such.so --debug-dir=/no/such; do
    check "$typed is passed over" grep -qxF "jprof: $typed: No such file or directory; jprof goes on without it" err
done
# A program in PATH may be called as an option with a value is; this dump is not its.
mkdir path
cp prog path/ruby
exits_with 1 env PATH="$tmp/path:$PATH" "$jprof" --show_bytes ruby app.heap
says_like '^jprof: ruby: no command, no file here, and the dump is not of .*/path/ruby; leave it out'
check "they changed a file" cmp -s app.heap new.heap

# ---- each beginning of an option of jeprof means what it means there; Perl's Getopt::Long is the judge ----
# A value where none is taken, or none where one is needed, is answered with the whole name.
theirs=$(command -v jeprof) || skip "no jeprof here (Debian: libjemalloc-dev)"
perl "$here/prefixes.pl" "$theirs" >prefixes || skip "perl cannot read jeprof's options"
check "too few beginnings of options" [ "$(wc -l <prefixes)" -gt 200 ]
while read -r word option kind; do
    if [ "$word" = h ] || [ "$word" = heap ]; then # here that is help, and whose memory is meant
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
    is_quiet "$jprof" $words
    same "not the help" help out
done
for command in bundle check diff doctor explain info names run serve snap watch; do
    run "$jprof" $command --help
    cp out help
    check "$command --help is wider than 80 columns" eval '! grep -qE "^.{81}" out'
    for words in "$command -h" "help $command"; do
        is_quiet "$jprof" $words
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
    is_refused "$jprof" "$@"
    says_like "$pattern"
    check "more than a line" [ "$(wc -l <err)" -eq 1 ]
}
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
