#!/bin/sh
# `go tool pprof -top` on what --proto writes: totals and rows are those of jprof, for all counters.
. "$(dirname "$0")/common.sh"

checked=0
for file in tables/ruby31.1 tables/ruby33.1 heaps/jemalloc-5.3.0 heaps/jemalloc-4.5.0 heaps/nopie cases/ruby31/cext.1 cases/ruby31/nokogiri.1 cases/puma/w0.3; do
    sysroot=$root/samples/${file%%/*}/sysroot
    [ -d "$sysroot" ] || sysroot=$scratch/nothing
    "$jprof" --proto -o p.pb.gz "--sysroot=$sysroot" "$root/samples/$file.heap" 2>jprof.err || die "jprof: $(cat jprof.err)"
    for counter in inuse_space inuse_objects alloc_space alloc_objects; do
        case $file:$counter in heaps/nopie:alloc* | cases/*:alloc* | tables/*:alloc*) continue ;; esac
        go_rows $counter p.pb.gz >go.rows
        jprof_rows $counter p.pb.gz >jprof.rows
        same_rows "$file $counter" go.rows jprof.rows
        case $file in tables/*) continue ;; esac
        # Against the dump itself: equal but for the rounding of each stack.
        total=$(sed -n 's/^Total: \([0-9-]*\) .*/\1/p' text.txt)
        dump=$(awk -v f="$(basename "$file").heap" -v c=$counter '($1 == f || $1 ~ "/" f "$") && $2 == c { print $3 }' \
            "$root/samples/${file%%/*}/totals.txt")
        awk -v a="$total" -v b="$dump" 'BEGIN { d = a - b; exit !(d * d < 400 * 400) }' || die "$file $counter: $total, jeprof has $dump"
        checked=$((checked + 1))
    done
done
[ $checked -ge 12 ] || die "only $checked compared"

# The main program is what pprof calls the file; the dump's facts are comments.
pprof -top p.pb.gz >top.txt
grep -q '^File: ruby3.1$' top.txt || die "no File: ruby3.1 in $(head -n 3 top.txt)"
grep -q '^format: heap_v2$' top.txt || die "the comments are missing"
grep -q '^Type: inuse_space$' top.txt || die "the default type is not inuse_space"
pprof -raw p.pb.gz >raw.txt
grep -q 'bytes:\[' raw.txt || die "no label bytes"
pprof -tags p.pb.gz >tags.txt
grep -q bytes tags.txt || die "no tags"
# What Ruby calls a script's own code is no template of C++.
printf -- '--- symbol\nbinary=/opt/prog\n0x401000 <main>\n---\n--- heap\nheap_v2/1\n  t*: 1: 1000 [0: 0]\n@ 0x401000\n  t*: 1: 1000 [0: 0]\n' >main.raw
printf '\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 1 /opt/prog\n' >>main.raw
"$jprof" --proto -o main.pb.gz "--sysroot=$scratch/nothing" main.raw 2>jprof.err || die "jprof: $(cat jprof.err)"
go tool pprof -symbolize=local -top main.pb.gz >main.txt 2>pprof.err || die "pprof: $(cat pprof.err)"
grep -q ' <main>$' main.txt || die "<main> is not a name: $(cat main.txt)"
"$jprof" --text "--sysroot=$scratch/nothing" main.pb.gz >main.txt 2>/dev/null
grep -q ' <main>$' main.txt || die "read back <main> is not a name: $(cat main.txt)"
"$jprof" --proto --normalize-addresses -o n.pb.gz "--sysroot=$sysroot" "$root/samples/$file.heap" 2>/dev/null
go_rows inuse_space n.pb.gz >normal.rows
go_rows inuse_space p.pb.gz >go.rows
same_rows "normalized" go.rows normal.rows
echo "$checked tables compared"
