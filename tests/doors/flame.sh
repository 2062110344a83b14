#!/bin/sh
# --flame: well-formed, its widths those of --json, whatever names there are.
. "$(dirname "$0")/../cli/lib.sh"
command -v python3 >/dev/null || skip "no python3 here, which reads the picture"
judge=$root/tests/doors/flame.py

# draw NAME HOW ARGUMENT...: the picture and the report of the same.
draw() {
    name=$1 how=$2
    shift 2
    works "$jprof" --flame -o "$name.svg" "$@"
    works "$jprof" --json -o "$name.json" "$@"
    check "$name: $(python3 "$judge" "$how" "$name.svg" "$name.json" 2>&1 | tail -n 1)" \
        python3 "$judge" "$how" "$name.svg" "$name.json"
    if command -v xmllint >/dev/null; then check "$name is not well-formed" xmllint --noout "$name.svg"; fi
}

draw lines widths "$of_cases" "$root/samples/tables/ruby31.1.heap"
draw functions widths "$of_cases" --functions --ruby=off "$root/samples/tables/ruby31.1.heap"
draw objects widths "$of_cases" --inuse_objects "$root/samples/tables/ruby31.1.heap"
draw libraries owns --libs "$of_cases" "$cases/ruby31/nokogiri.1.heap"
draw shrank change "$of_cases" --base="$root/samples/tables/ruby31.1.heap" "$root/samples/tables/ruby31.0.heap"

{
    printf -- '--- symbol\nbinary=/opt/a&b\n'
    printf '0x1000 </text><script>document.title="bad"</script>\n0x2000 "onload="x\n0x3000 a\342\200\256b\357\277\276c\001d]]>\n'
    printf '0x4000 %010100d\n0x5000 malloc\n0x6000 e\377f\n---\n--- heap\nheap_v2/1\n  t*: 1: 4000 [0: 0]\n' 0
    printf '@ 0x5000 0x2001 0x3001 0x1001 0x4001 0x6001\n  t*: 1: 4000 [0: 0]\n'
} >hostile.raw
works "$hostile" --flame --full-names -o hostile.svg hostile.raw
check "hostile: $(python3 "$judge" hostile hostile.svg 2>&1 | tail -n 1)" python3 "$judge" hostile hostile.svg
if command -v xmllint >/dev/null; then check "hostile is not well-formed" xmllint --noout hostile.svg; fi
finish
