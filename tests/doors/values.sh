#!/bin/sh
# --csv, --json, --speedscope and --dhat: judged by Python's readers, against the text report.
. "$(dirname "$0")/../cli/lib.sh"
doors=$root/tests/doors
command -v python3 >/dev/null || skip "no python3 here, which reads what jprof writes"

# judge CHECK ARGUMENT...
judge() {
    checks=$((checks + 1))
    python3 "$doors/values.py" "$@" >judge 2>&1 || { failures=$((failures + 1)); echo "FAIL: $what: $(tail -n 1 judge)"; }
}

# write FORMAT FILE ARGUMENT...: a report into FILE, by way of standard output.
write() {
    format=$1 file=$2
    shift 2
    works "$jprof" --$format "$@"
    cp out "$file"
}

# total FILE: as a number
total() {
    sed -n 's/^Total: \([0-9.-]*\) .*/\1/p' "$1"
}

# exact COUNTER ARGUMENT...: the sums of --collapsed and --proto are the total, to the byte
exact() {
    counter=$1
    shift
    write text text --show_bytes --$counter "$@"
    write collapsed collapsed --$counter "$@"
    works "$jprof" --proto -o pb.gz "$@"
    python3 "$doors/proto_check.py" pb.gz >sums
    checks=$((checks + 1))
    is="$(awk '{ sum += $NF } END { printf "%.0f", sum }' collapsed) $(sed "s/.*\\<$counter=\\([0-9-]*\\).*/\\1/" sums)"
    [ "$is" = "$(total text) $(total text)" ] || fail "$counter of --collapsed and --proto: $is, of text: $(total text)"
}

# every DUMP ARGUMENT...: all formats of one dump
every() {
    dump=$1
    shift
    for more in '' --lines --libs '--cum --full-names' --inuse_objects; do
        one_of 2 || continue
        write text text --show_bytes $more "$@" "$dump"
        write text errors --show_bytes --errors $more "$@" "$dump"
        write json json $more "$@" "$dump"
        judge schema "$root/docs/internals/json.schema.json" json
        judge json json text errors
        write csv csv $more "$@" "$dump"
        judge csv csv text json
    done
    exact inuse_space "$@" "$dump"
    exact inuse_objects "$@" "$dump"
    write text text.objects --inuse_objects "$@" "$dump"
    write text text.bytes --show_bytes "$@" "$dump"
    write dhat dhat "$@" "$dump"
    judge dhat dhat "$(total text.bytes)" "$(total text.objects)"
    write speedscope speedscope "$@" "$dump"
    set -- "$@" "$dump"
    if [ "$accum" = true ]; then
        write text text.allocated --alloc_space --show_bytes "$@"
        write text text.all --alloc_objects "$@"
        judge speedscope speedscope inuse_space="$(total text.bytes)" inuse_objects="$(total text.objects)" \
            alloc_space="$(total text.allocated)" alloc_objects="$(total text.all)"
        write dhat dhat --alloc_space "$@"
        judge dhat dhat "$(total text.allocated)" "$(total text.all)"
        write speedscope speedscope --alloc_objects "$@"
        judge active speedscope alloc_objects
    else
        judge speedscope speedscope inuse_space="$(total text.bytes)" inuse_objects="$(total text.objects)"
        judge active speedscope inuse_space
    fi
    works "$jprof" info --json "$@"
    cp out info
    judge schema "$root/docs/internals/json.schema.json" info
}

accum=true
every "$heaps/jemalloc-5.3.0.heap" --sysroot="$heaps/sysroot"
every "$heaps/jemalloc-4.5.0.heap" --sysroot="$heaps/sysroot"
accum=false
every "$cases/ruby31/cext.1.heap" --sysroot="$cases/sysroot"

# ---- what the rows know of their place ----
set -- --sysroot="$heaps/sysroot" "$heaps/jemalloc-5.3.0.heap"
write csv csv --lines "$@"
prints "\"row_new .*/threads\\.c:[0-9]+\",.*/threads\",\".*/threads\\.c\",[0-9]+,\"dwarf\",\"\""
write json json --lines --thread='*' "$@"
judge schema "$root/docs/internals/json.schema.json" json

# ---- each thread ----
write text text --show_bytes --thread='*' "$@"
write csv csv --thread='*' "$@"
check "threads of --csv are not those of the text" [ "$(sed '1d; s/.*,"\(.*\)"\r$/\1/' out | sort -u | grep -c '^t[0-9]')" \
    -eq "$(grep -c '^Total (' text)" ]
write csv csv --thread=1 "$@"
check "one thread" [ "$(sed '1d; s/.*,"\(.*\)"\r$/\1/' out | sort -u)" = t1 ]

# ---- what a name may hold ----
write json json "$nowhere" "$heaps/faults/names.heap"
judge schema "$root/docs/internals/json.schema.json" json
write csv csv "$nowhere" "$heaps/faults/names.heap"
check "a quote is not doubled" grep -q '"""; touch jprof-fault-ran; ""+0x' csv
write text text "$nowhere" --show_bytes "$heaps/faults/names.heap"
judge csv csv text
prints 'two\\x0alines\+0x'
# Bytes that are no UTF-8, and formulas: by way of symbolized input, where names are free.
printf '%s\n' '--- symbol' 'binary=/bin/app' '0x0000000000401000 =HYPER"LINK"' >names.raw
printf '0x0000000000402000 caf\351\nMORE\n' | sed '/MORE/d' >>names.raw
printf '%s\n' '0x0000000000403000 @sum' '0x0000000000404000 -1+1' '---' '--- heap' 'heap_v2/1' \
    '  t*: 4: 4000 [0: 0]' '  t0: 4: 4000 [0: 0]' '@ 0x401000' '  t*: 1: 1000 [0: 0]' '@ 0x402000' '  t*: 1: 1000 [0: 0]' \
    '@ 0x403000' '  t*: 1: 1000 [0: 0]' '@ 0x404000' '  t*: 1: 1000 [0: 0]' '' >>names.raw
write csv csv names.raw
prints "\"'=HYPER\"\"LINK\"\"\""
prints "\"'@sum\""
prints "\"'-1\\+1\""
write text text --show_bytes names.raw
judge csv csv text
for format in json speedscope dhat; do
    write $format named names.raw
    check "--$format: no U+FFFD for a byte that is none" grep -q "caf$(printf '\357\277\275')\"\|caf$(printf '\357\277\275') " named
    check "--$format is no UTF-8" python3 -c 'open("named", "rb").read().decode("utf-8")'
    check "--$format is no JSON" python3 -c 'import json; json.load(open("named", encoding="utf-8"))'
done

# ---- outermost first ----
write speedscope speedscope "$@"
judge inlines speedscope work rows_keep row_new

# ---- differences ----
for pair in ruby31/cext.0.heap:ruby31/cext.1.heap puma/w0.1.heap:puma/w0.3.heap; do
    early=$cases/${pair%:*} late=$cases/${pair#*:} ruby=--sysroot=$cases/sysroot
    for counter in inuse_space inuse_objects; do
        write text early --show_bytes --$counter $ruby "$early"
        write text late --show_bytes --$counter $ruby "$late"
        write collapsed one --$counter --diff_base="$early" $ruby "$late"
        # What grew less what shrank; each line is a whole number.
        check "the lines of a difference are another sum" awk -v grew=$(($(total late) - $(total early))) '
            { sum += $NF; lines++ } END { exit !(lines && sum - grew < lines && grew - sum < lines) }' one
    done
    exact inuse_space --diff_base="$early" $ruby "$late"
    exact inuse_objects --base="$late" $ruby "$early"
    write json late.json $ruby "$late"
    write json early.json $ruby "$early"
    write json diff.json --diff_base="$early" $ruby "$late"
    judge schema "$root/docs/internals/json.schema.json" diff.json
    judge diff diff.json late.json early.json
    write text text --show_bytes --diff_base="$early" $ruby "$late"
    write text errors --show_bytes --errors --diff_base="$early" $ruby "$late"
    judge json diff.json text errors
    write speedscope speedscope --diff_base="$early" $ruby "$late"
    # Exact sums of what grew and shrank, from the full values of the proto's reader: grew - shrank = total.
    check "grew less shrank is not the total" python3 -c '
import json, sys
d = {p["name"]: sum(p["weights"]) for p in json.load(open("speedscope"))["profiles"]}
sys.exit(abs(d["inuse_space: grew"] - d.get("inuse_space: shrank", 0) - float(sys.argv[1])) > 1)' "$(total text)"
    is_refused "$jprof" --dhat --diff_base="$early" $ruby "$late"
    check "no word about --drop_negative" grep -q 'what shrank; --drop_negative' err
    write dhat dhat --drop_negative --diff_base="$early" $ruby "$late"
    write text text --show_bytes --drop_negative --diff_base="$early" $ruby "$late"
    write text text.objects --inuse_objects --drop_negative --diff_base="$early" $ruby "$late"
    judge dhat dhat "$(total text)" "$(total text.objects)"
done

# ---- several dumps, -o, equal runs ----
write json json --sysroot="$heaps/sysroot" "$heaps/jemalloc-5.3.0.heap" "$heaps/jemalloc-4.5.0.heap"
judge schema "$root/docs/internals/json.schema.json" json
check "two inputs" grep -q '"inputs":\[".*5\.3\.0\.heap",".*4\.5\.0\.heap"\]' out
for format in csv json speedscope dhat; do
    write $format one "$@"
    works "$jprof" --$format -o two "$@"
    prints_nothing
    same "-o and standard output differ" one two
done

# ---- the examples of docs/internals/json.md ----
if command -v jq >/dev/null && [ -f "$cases/totals.txt" ]; then
    mkdir -p bin
    printf '#!/bin/sh\nexec "%s" "--sysroot=%s" "$@"\n' "$jprof" "$cases/sysroot" >bin/jprof
    chmod +x bin/jprof
    cp "$cases/ruby31/cext.0.heap" early.heap
    cp "$cases/ruby31/cext.1.heap" late.heap
    cp late.heap app.heap
    sed -n 's/^    \(jprof .*| jq .*\)/\1/p' "$root/docs/internals/json.md" >examples
    check "docs/internals/json.md has not three examples" [ "$(wc -l <examples)" -eq 3 ]
    while read -r line; do
        PATH=$PWD/bin:$PATH works sh -c "$line"
        check "nothing comes out" [ -s out ]
    done <examples
    PATH=$PWD/bin:$PATH run sh -c "$(sed -n 1p examples)"
    prints '^20199631.*	row_new	/srv/app/ext/leaky/leaky\.c:5$'
    PATH=$PWD/bin:$PATH run sh -c "$(sed -n 2p examples)"
    check "what grew is not row_new" [ "$(grep -c '"name": "row_new"' out)" -eq 1 ]
fi
finish
