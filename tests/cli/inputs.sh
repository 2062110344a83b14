#!/bin/sh
# Where the program, the maps and the dump come from.
. "$(dirname "$0")/lib.sh"
find_jemalloc
cp "$heaps/jemalloc-5.3.0.heap" dump.heap || skip "no samples here"
cp "$heaps/faults/no-maps.heap" no-maps.heap
sys=--sysroot=$heaps/sysroot
mkdir nothing bin elsewhere

# ---- PROGRAM ----
build bin/subject parity.c -g -O1 -pthread
build other midfree.c -g -O1 -fno-builtin
profiled prof_active:false,lg_prof_sample:11 bin/subject early.heap late.heap
named='^ *[0-9]+ .* p_by_memalign$'

works "$jprof" --show_bytes late.heap
prints "$named"
cp out reference
cp err reference.err

# is_reference: the same report with nothing more to say
is_reference() {
    exits 0
    same "not the same report" reference out
    same "not the same remarks" reference.err err
}
run "$jprof" --show_bytes bin/subject late.heap
is_reference
run "$jprof" --show_bytes "$tmp/bin/subject" late.heap
is_reference
ln -s bin/subject link
run "$jprof" --show_bytes link late.heap
is_reference
PATH=$tmp/bin:$PATH
export PATH
run "$jprof" --show_bytes subject late.heap
is_reference

# A script, as rbenv and bundler put in the place of a program: the maps decide, one line says so.
printf '#!/bin/sh\nexec /nowhere/subject\n' >elsewhere/subject
chmod +x elsewhere/subject
works "$jprof" --show_bytes elsewhere/subject late.heap
same "not the same report" reference out
sed 1d err >err.rest
check "not said that it is a script" eval "head -n 1 err | grep -q 'elsewhere/subject is no ELF file.*maps.*/bin/subject\$'"
same "not the same remarks" reference.err err.rest
(PATH=$tmp/elsewhere:$PATH && "$jprof" --show_bytes subject late.heap >out 2>err)
same "a script found in PATH: not the same report" reference out
check "a script found in PATH: not said" grep -q 'is no ELF file' err

# Another program: said, and the maps decide.
works "$jprof" --show_bytes ./other late.heap
same "not the same report" reference out
check "not said that another program ran" eval "head -n 1 err | grep -qE '^jprof: (\./)?other is not what ran .*$tmp/bin/subject'"
run "$jprof" --show_bytes "$jprof" late.heap
same "not the same report" reference out
check "not said that another program ran" grep -q 'is not what ran' err

# The program that ran, at another place: it stands in.
works "$jprof" --show_bytes $nowhere "$tmp/bin/subject" late.heap
prints "$named"
works "$jprof" --show_bytes $nowhere "$heaps/sysroot/tmp/jprof-samples/threads" dump.heap
prints ' row_new$'
check "not said that it stands in" grep -q 'is not mapped in the dump; it fits /tmp/jprof-samples/threads' err
works "$jprof" --show_bytes $nowhere dump.heap
prints_no ' row_new$'

is_refused "$jprof" bin/missing late.heap
says_like '^jprof: bin/missing: No such file'
is_refused "$jprof" missing late.heap
says_like '^jprof: missing: No such file .*PATH'
exits_with 1 "$jprof" nothing late.heap
says_like '^jprof: nothing: is no file'

# ---- --lib_prefix: P/a/b/c, P/b/c, P/c for each directory P, before the path itself ----
for place in p/tmp/jprof-samples p/jprof-samples p; do
    rm -rf p
    mkdir -p $place
    cp "$heaps/sysroot/tmp/jprof-samples/threads" $place/
    works "$jprof" $nowhere --lib_prefix=nothing,p dump.heap
    prints ' row_new$'
done
run "$jprof" $nowhere --lib_prefix=nothing,missing dump.heap
prints_no ' row_new$'

# ---- several dumps ----
works "$jprof" --show_bytes $sys dump.heap dump.heap
says 'jprof: 2 dumps are added up; --diff_base=dump.heap dump.heap shows what grew between two of them'
prints '^Total: 5976158 B$'
works "$jprof" --show_bytes $sys "$heaps/sysroot/tmp/jprof-samples/threads" dump.heap dump.heap dump.heap
check "not said that they are added" grep -q '^jprof: 3 dumps are added up; .*--diff_base=dump\.heap dump\.heap shows ' err
prints '^Total: 8964237 B$'

# ---- a difference ----
works "$jprof" --show_bytes --base=early.heap late.heap
cp out base.out
works "$jprof" --show_bytes --diff_base=early.heap late.heap
awk '{ print $1, $4, $6, $7 }' base.out >values
awk '{ print $1, $4, $6, $7 }' out >diff.values
# The order may differ in nothing: both are sorted by value.
same "--base and --diff_base give other values" values diff.values
check "--diff_base gives the percentages of --base" eval '! cmp -s base.out out'
whole=$("$jprof" --show_bytes early.heap 2>err | sed -n 's/^Total: \([0-9]*\) B/\1/p')
what="percentages of --diff_base"
check "not those of the base" awk -v whole="$whole" '
    $2 ~ /x$/ { percent = $1 / whole - $2; if (percent > 0.06 || percent < -0.06) exit 1; next }
    NR > 1 { percent = $1 * 100 / whole - $2; if (percent > 0.06 || percent < -0.06) exit 1 }' out
works "$jprof" --base=late.heap late.heap
says 'jprof: nothing changed between the dumps'

# ---- a counter that is not there ----
is_refused "$jprof" --alloc_space late.heap
says 'jprof: no allocations are recorded: that needs prof_accum:true in the process, which jprof run --alloc sets'

# ---- maps from elsewhere ----
sed '1,/^MAPPED_LIBRARIES:/d' dump.heap >saved.maps
run "$jprof" --show_bytes $sys dump.heap
cp out reference
works "$jprof" --show_bytes $sys --maps=saved.maps no-maps.heap
same "a cut dump with its maps is not as the whole one" reference out
says 'jprof: no-maps.heap:34: the file ends without MAPPED_LIBRARIES:; 5 stacks were read'
is_quiet "$jprof" --show_bytes $sys --maps=saved.maps dump.heap
same "a dump with its own maps given is not as without" reference out

# A process that still runs.
mkfifo hold
build stay stay.c -g -O1
LD_PRELOAD=$jemalloc MALLOC_CONF=prof:true,lg_prof_sample:0 ./stay stay.heap <hold &
pid=$!
exec 3>hold
tries=0
until [ -s stay.ready ] || [ $tries -ge 3000 ]; do
    sleep 0.2
    tries=$((tries + 1))
done
sed '/^MAPPED_LIBRARIES:/,$d' stay.heap >stay.cut
works "$jprof" --show_bytes --maps=$pid stay.cut
prints '^ *512000 .* stay_here$'
works "$jprof" --show_bytes stay.cut
prints_no stay_here
exec 3>&-
wait $pid
is_refused "$jprof" --maps=$pid stay.cut
says "jprof: /proc/$pid/maps: cannot be opened: No such file or directory"

# ---- standard input and pipes ----
for words in "-" "/dev/stdin" "$heaps/sysroot/tmp/jprof-samples/threads -"; do
    what="a pipe as: $words"
    status=0
    cat dump.heap | timeout 300 "$jprof" --show_bytes $sys $words >out 2>err || status=$?
    exits 0
    same "not as the file" reference out
done
"$jprof" --show_bytes $sys - <dump.heap >out 2>err
same "a file as standard input: not as the file" reference out
mkfifo pipe
cat dump.heap >pipe &
works "$jprof" --show_bytes $sys pipe
same "not as the file" reference out
cat dump.heap >pipe &
run "$jprof" --show_bytes $sys "$heaps/sysroot/tmp/jprof-samples/threads" pipe
same "not as the file" reference out
cat dump.heap >pipe &
works "$jprof" --show_bytes $sys --base=pipe dump.heap
says 'jprof: nothing changed between the dumps'
"$jprof" info --all $sys dump.heap >info.file 2>err
what="info of a pipe"
status=0
cat dump.heap | timeout 300 "$jprof" info --all $sys - >out 2>err || status=$?
exits 0
says
sed 1d info.file >file.rest
sed 1d out >pipe.rest
same "not as that of the file" file.rest pipe.rest
status=0
what="standard input without a dump"
"$jprof" - </dev/null >out 2>err || status=$?
exits 1
says_like '^jprof: (-|<stdin>):'
# ---- a directory here does not hide the program in PATH ----
mkdir -p ruby
printf '#!/bin/sh\n' >bin/ruby && chmod +x bin/ruby
run env PATH="$tmp/bin:$PATH" "$jprof" ruby dump.heap
check "a directory of that name: $(cat err)" eval '! grep -q "is no file" err'
finish
