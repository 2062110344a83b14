#!/bin/sh
# --collapsed, --raw and --symbols beside Perl jeprof's, --libs on dumps of Ruby, and runs of one program at
# different addresses.
. "$(dirname "$0")/lib.sh"
if ! [ -f "$cases/totals.txt" ]; then skip "no samples here"; fi

# sum FILE: of the last column
sum() {
    awk '{ sum += $NF } END { printf "%d", sum }' "$1"
}

# ---- --libs: who owns it ----
ruby=--sysroot=$cases/sysroot
cp "$cases/puma/w0.1.heap" "$cases/puma/w0.3.heap" "$cases/ruby31/nokogiri.1.heap" "$cases/ruby31/cext.0.heap" \
    "$cases/ruby31/cext.1.heap" .

# owners DUMP LABEL...: these have rows; all flat values are the total
owners() {
    dump=$1
    shift
    works "$jprof" --libs --show_bytes $ruby $dump
    for label in "$@"; do
        check "no row of $label" awk -v label="$label" '
            NR > 1 { name = $0; sub(/^ *[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ /, "", name) }
            NR > 1 && name == label && $1 > 0 { found = 1 }
            END { exit !found }' out
    done
    # Each row is cut to whole bytes.
    check "the rows are not the total" awk '
        NR == 1 { total = $2; next }
        { sum += $1; rows++ }
        END { exit !(rows > 4 && sum <= total && sum > total - rows) }' out
    check "an owner has two rows" eval 'test -z "$(sed 1d out | cut -c 41- | sort | uniq -d)"'
}
owners w0.3.heap 'libxml2 via nokogiri 1.13.10' 'nokogiri 1.13.10' leaky.so 'json 2.6.3' libruby-3.1 'puma 5.6.5'
prints '^ *1315846 .* leaky\.so$'
prints ' 11089223 .* libxml2$' # its stacks, whoever owns them
owners nokogiri.1.heap 'libxml2 via nokogiri 1.13.10' 'nokogiri 1.13.10' libruby-3.1
prints '^67114618 +90\.1% .* libxml2 via nokogiri 1\.13\.10$'
owners cext.1.heap leaky.so libruby-3.1
works "$jprof" --libs --show_bytes --base=cext.0.heap $ruby cext.1.heap
prints '^20[0-9]{6} .* leaky\.so$'
check "the leak is not on top" eval 'sed -n 2p out | grep -q " leaky\.so$"'
# Two workers' time: each library's growth.
works "$jprof" --libs --show_bytes --base=w0.1.heap $ruby w0.3.heap
prints '^ *1315846 .* leaky\.so$'
# Names are not needed for it.
mkdir nothing
"$jprof" --libs --show_bytes --sysroot=nothing nokogiri.1.heap >out 2>err
what="--libs without any file"
prints ' nokogiri 1\.13\.10$'
prints ' libruby-3\.1$'

# ---- runs of one program at different addresses ----
find_jemalloc
all=prof_active:false,prof_accum:true,lg_prof_sample:0
build grow grow.c -g -O1 -fPIE -pie -fno-optimize-sibling-calls
profiled $all ./grow first.heap 1000 500
profiled $all ./grow second.heap 1234 200
start_of() {
    awk '/^MAPPED_LIBRARIES:/ { maps = 1 } maps && / \/.*\/grow$/ { sub(/-.*/, ""); print; exit }' "$1"
}
moved=false
[ "$(start_of first.heap)" = "$(start_of second.heap)" ] || moved=true
[ $moved = true ] || echo "the addresses of programs are not random here: runs at one address compared"

# truth OPTION FUNCTION FLAT
truth() {
    is_quiet "$jprof" --show_bytes $1 --base=first.heap grow second.heap
    check "$2 is not $3" [ "$(awk -v name="$2" '$6 == name { print $1 }' out)" = "$3" ]
    check "a row without a name" eval '! grep -qE " (0x)?[0-9a-f]{16}$" out'
}
truth --inuse_space g_rows $((234 * 1024))
prints "^Total: $((234 * 1024 - 300 * 112)) B; shares are of the $((234 * 1024 + 300 * 112)) B that grew or shrank\$"
truth --inuse_space g_cells $((-300 * 112))
truth --inuse_objects g_rows 234
truth --inuse_objects g_cells -300
truth --alloc_space g_rows $((234 * 1024))
truth --alloc_objects g_cells -300
truth --drop_negative g_rows $((234 * 1024))
prints "^Total: $((234 * 1024)) B; shares are of the $((234 * 1024)) B that grew or shrank\$"
run "$jprof" --show_bytes --lines --base=first.heap second.heap
prints "^ *$((234 * 1024)) .* g_rows .*/grow\.c:[0-9]+\$"
prints "^ *$((-300 * 112)) .* g_cells .*/grow\.c:[0-9]+\$"
run "$jprof" --show_bytes --diff_base=first.heap second.heap
prints "^ *$((234 * 1024)) +22\.2% .* g_rows\$" # of 1080000
prints '^Total: .* B; shares are of the 1080000 B in the base$'

# ---- order and shares of a difference: what shrank most comes first, and no share is above 100 % ----
# names FILE: of the rows with a value of their own
own_rows() {
    awk 'NR > 1 && $1 != 0 { printf "%s ", $6 }' "$1"
}
profiled $all ./grow third.heap 900 1410
rows=$((-100 * 1024)) cells=$((910 * 112))
ln -s "$jprof" jeprof
for more in '' --cum --lines; do
    works "$jprof" --show_bytes $more --base=first.heap grow third.heap
    prints "^Total: $((rows + cells)) B; shares are of the $((cells - rows)) B that grew or shrank\$"
    prints "^ *$rows +-50\.1% +-?[0-9.]+% +$rows +-50\.1% g_rows( |\$)"
    prints "^ *$cells +49\.9% +-?[0-9.]+% +$cells +49\.9% g_cells( |\$)"
    check "a share above 100 %" awk 'NR > 1 { for (i = 2; i <= 5; i++) if ($i ~ /%/ && ($i + 0 > 100.05 || $i + 0 < -100.05)) exit 1 }' out
done
run "$jprof" --show_bytes --base=first.heap grow third.heap
check "g_rows, which changed most, is not the first row" [ "$(own_rows out)" = 'g_rows g_cells ' ]
run "$jprof" --show_bytes --sort=value --base=first.heap grow third.heap
check "--sort=value: g_cells, which grew, is not the first row" [ "$(own_rows out)" = 'g_cells g_rows ' ]
run ./jeprof --show_bytes --base=first.heap grow third.heap
check "jeprof: g_cells, which grew, is not the first row" [ "$(own_rows out)" = 'g_cells g_rows ' ]
prints "^Total: $((rows + cells)) B\$"
prints "^ *$rows +21333\.3% "
for format in csv json; do
    run "$jprof" --$format --base=first.heap grow third.heap
    check "--$format: g_rows is not before g_cells" \
        [ "$(grep -oE '"g_(rows|cells)"' out | tr -d '\n')" = '"g_rows""g_cells"' ]
done
prints '"sort":"change"'
prints '"shares":"changes"'
run "$jprof" --show_bytes '--peek=^g_|^main$' --base=first.heap grow third.heap
check "--peek: a share above 100 %" eval '! grep -qE "[0-9]{3}[0-9.]*%" out'
check "--peek: g_rows is not before g_cells" [ "$(sed -n 's/.*| \(g_[a-z]*\)$/\1/p' out | head -n 1)" = g_rows ]
# Of a base something may be many times, which is no share.
exits_with 1 "$jprof" --show_bytes --diff_base=third.heap grow third.heap
says 'jprof: third.heap: is given twice; a snapshot is compared with a later one, not with itself'
profiled $all ./grow small.heap 10 0
run "$jprof" --show_bytes --diff_base=small.heap grow third.heap
prints "^Total: .* B; shares are of the 10240 B in the base\$"
prints "^ *$((890 * 1024)) +89\.0x +89\.0x +$((890 * 1024)) +89\.0x g_rows\$"
run "$jprof" --dot --show_bytes --diff_base=small.heap grow third.heap
prints '89\.0x'
run "$jprof" --show_bytes first.heap second.heap
prints "^Total: $((2234 * 1024 + 700 * 112)) B\$"
prints "^ *$((2234 * 1024)) .* g_rows\$"
prints "^ *$((700 * 112)) .* g_cells\$"
run "$jprof" --collapsed --base=first.heap second.heap
prints "main;g_rows $((234 * 1024))\$"
prints "main;g_cells $((-300 * 112))\$"

# ---- --collapsed ----
# A separator in a name: here in that of a file without symbols.
build 'odd;na me' grow.c -O1 -s
profiled $all './odd;na me' odd.heap 10 20
run "$jprof" --collapsed odd.heap
prints 'odd:na me!0x[0-9a-f]+ 10240$'
prints_no 'odd;na'

find_jeprof
build subject parity.c -g -O2 -fPIE -pie -gdwarf-3 -gstrict-dwarf -fno-optimize-sibling-calls -pthread
profiled $all ./subject early.heap late.heap
profiled prof_active:false,lg_prof_sample:11 ./subject sampled-early.heap sampled.heap

# Stacks from the program's first frame on: jeprof's names of those before are not jprof's. jeprof has one
# line for each stack of addresses, tags of addresses in names, and stacks that hold nothing.
by_name() {
    grep -E '(^|;)(main|p_[a-z_]+)' "$1" | sed -E 's/<[0-9a-f]{16}>//g' | grep -E '(main|p_[a-z_]+(\[inline\])?) -?[0-9]+$' |
        sed -E 's/^[^ ]*;(main[; ])/\1/; s/^[^ ]*;(p_thread[; ])/\1/' |
        awk '
            { value = $NF; sub(/ [^ ]*$/, ""); sum[$0] += value }
            END { for (stack in sum) if (sum[stack]) print stack, sum[stack] }' | sort
}
# collapsed LEAST ARGUMENTS...
collapsed() {
    least=$1
    shift
    perl_jeprof --collapsed "$@"
    works "$jprof" --collapsed --fold=none "$@"
    by_name theirs.whole >theirs
    by_name out >ours
    check "jeprof has few stacks" [ "$(wc -l <theirs)" -ge "$least" ]
    same "not jeprof's stacks (<)" theirs ours
    check "two lines of one stack" eval 'test -z "$(sed "s/ [^ ]*$//" out | sort | uniq -d)"'
    check "a stack of nothing" eval '! grep -q " 0$" out'
}
# is_total ARGUMENTS...: the values are the total of the table
is_total() {
    run "$jprof" --show_bytes --fold=none "$@"
    total=$(sed -n 's/^Total[^:]*: \(-*[0-9]*\) .*/\1/p' out)
    run "$jprof" --collapsed --fold=none "$@"
    check "the sum is $(sum out), the total $total" [ "$(sum out)" = "$total" ]
}
for counter in --inuse_space --inuse_objects --alloc_space --alloc_objects; do
    few collapsed 50 $counter subject late.heap
    is_total $counter subject late.heap
done
grep -q 'p_inlines;p_inlined_twice\[inline\];p_inlined\[inline\] ' out
check "inlined functions are not marked" [ $? -eq 0 ]
collapsed 50 --base=early.heap subject late.heap
check "no negative stack" grep -q ' -[0-9]*$' ours
is_total --base=early.heap subject late.heap
few collapsed 2 --focus=p_inlined --ignore=p_thread subject late.heap
few collapsed 50 --retain=p_ subject late.heap
few collapsed 30 --thread=2 subject late.heap
is_total --thread=2 subject late.heap
is_total --drop_negative --base=early.heap subject late.heap
# The unit is always one byte; the view does not matter.
run "$jprof" --collapsed subject late.heap
cp out reference
for words in --show_bytes --lines --addresses --cum; do
    run "$jprof" --collapsed $words subject late.heap
    same "$words changes the stacks" reference out
done
# In samples each line is cut to whole bytes.
run "$jprof" --show_bytes subject sampled.heap
total=$(sed -n 's/^Total: \([0-9]*\) B/\1/p' out)
run "$jprof" --collapsed subject sampled.heap
check "the sum is $(sum out), the total $total" [ "$(sum out)" -le "$total" ]
check "the sum is $(sum out), the total $total" [ "$(sum out)" -gt "$((total - $(wc -l <out)))" ]

# ---- --raw: jeprof reads it without the program ----
# Its Total line and the program's rows are as in a report of the dump with the program.
# raw LEAST WORDS DUMP [COUNTER]: with the options WORDS for the dump, jeprof's COUNTER for both
raw() {
    works "$jprof" --raw $2 subject "$3"
    cp out raw
    perl_jeprof --text --show_bytes $2 ${4:-} subject "$3"
    of_program theirs.whole >from_dump
    mv subject subject.away
    perl_jeprof --text --show_bytes ${4:-} raw
    mv subject.away subject
    of_program theirs.whole >from_raw
    check "jeprof has few rows of the program" [ "$(wc -l <from_dump)" -ge "$1" ]
    same "jeprof does not see in the raw profile (>) what it sees in the dump (<)" from_dump from_raw
}
raw 10 '' late.heap
few raw 10 '' sampled.heap
few raw 10 '--base=early.heap --drop_negative' late.heap
few raw 10 '' late.heap --alloc_space
few raw 10 '' late.heap --inuse_objects
run "$jprof" --raw subject late.heap
# The dump as it was, but for the stacks, which are without the allocator's frames.
sed '1,/^--- heap$/d; /^@/d' out >without_stacks
sed '/^@/d' late.heap >expected
check "the dump's counters and maps are not in it" cmp -s without_stacks expected
check "no list of inlined functions" grep -qE '^0x[0-9a-f]+ p_inlines--p_inlined_twice--p_inlined$' out
# A difference: jeprof reads no negative numbers. What has grown it sees.
works "$jprof" --raw --base=early.heap subject late.heap
cp out raw
prints '^-[0-9]+: -[0-9]+ \['
perl_jeprof --text --show_bytes --base=early.heap --drop_negative subject late.heap
of_program theirs.whole >grown
perl_jeprof --text --show_bytes raw
of_program theirs.whole >from_raw
same "jeprof does not see in the raw difference (>) what has grown (<)" grown from_raw
# jprof reads it, too.
run "$jprof" --raw subject late.heap
cp out raw
run "$jprof" --show_bytes --fold=none subject late.heap
of_program out >from_dump
mv subject subject.away
run "$jprof" --show_bytes --fold=none raw
mv subject.away subject
exits 0
of_program out >from_raw
same "jprof does not see in the raw profile (>) what it sees in the dump (<)" from_dump from_raw
# C++: the names are whole.
build names names.cc -std=c++20 -g -O1 -fPIE -pie -gdwarf-3 -gstrict-dwarf -fno-optimize-sibling-calls
profiled $all ./names names.heap
run "$jprof" --raw names names.heap
prints '^0x[0-9a-f]+ shop::\(anonymous namespace\)::hidden\(int\)$'
prints '^0x[0-9a-f]+ shop::shelf::method\(int\)--shop::shelf::put\(unsigned long\)$'

# ---- --symbols ----
sed '1,/^MAPPED_LIBRARIES:/d' late.heap >maps
# Addresses in the program, and in the system's libraries.
awk '/^MAPPED_LIBRARIES:/ { exit } /^@/ { for (i = 2; i <= NF; i++) print $i }' late.heap | sort -u >all
"$jprof" --fold=none --addresses subject late.heap 2>err | awk '$7 ~ /^(p_|main$)/ { print "0x" $6 }' | sort -u >of_program
check "few addresses" [ "$(wc -l <of_program)" -ge 20 ]
# symbols FILE: the answer for these addresses, in out
symbols() {
    what="--symbols of $1"
    status=0
    cat maps "$1" | "$jprof" --symbols subject >out 2>err || status=$?
    exits 0
    says
    check "not a line for each address" [ "$(wc -l <out)" -eq "$(wc -l <"$1")" ]
}
symbols of_program
cat maps of_program >request
HOME=$tmp JEPROF_TMPDIR=$tmp sh -c 'echo $$ >jeprof.pid && exec "$@"' jeprof "$jeprof" --symbols subject \
    <request >theirs 2>theirs.err || { cat theirs.err; exit 1; }
rm -f "/tmp/jeprof$(cat jeprof.pid).sym"
check "jeprof knows few names" [ "$(grep -c '^p_' theirs)" -ge 15 ]
same "not jeprof's names (<)" theirs out
# jprof needs no program: the maps name it.
cp out reference
cat maps of_program | "$jprof" --symbols >out 2>err
same "another answer without the program" reference out
# No answer depends on what else is asked.
step=12
[ "${JPROF_SWEEP:-}" != whole ] || step=3
awk -v step=$step 'NR % step == 1' all >some
: >one_by_one
while read -r address; do
    echo "$address" >alone
    cat maps alone | "$jprof" --symbols 2>err >>one_by_one
done <some
check "few names one by one" [ "$(grep -cv '^??$' one_by_one)" -ge $((24 / step)) ]
symbols all
paste all out | awk -v step=$step 'NR % step == 1' | cut -f 2- >out.some
same "other names in a list (>) than one by one (<)" one_by_one out.some
# Nothing is there, or nothing of use.
printf '0x10\nffffffffffffffff\n' >odd
symbols odd
printf '??\n??\n' >expected
same "a name for an address that is not mapped" expected out
for text in '' nonsense; do
    what="--symbols of '$text'"
    status=0
    printf '%s\n' "$text" | "$jprof" --symbols >out 2>err || status=$?
    exits 1
    prints_nothing
    says 'jprof: standard input holds no addresses; give the text of a /proc/PID/maps and addresses, one a line'
done

# ---- what jeprof makes of two runs: two sets of rows, one of them without names ----
if [ $moved = true ]; then
    perl_jeprof --text --show_bytes --base=first.heap grow second.heap
    check "jeprof subtracts runs at different addresses, too" grep -qE "^ *$((1234 * 1024)) .* g_rows\$" theirs.whole
fi
finish
