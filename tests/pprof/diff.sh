#!/bin/sh
# -diff_base and -base of Go's pprof on two written files give what jprof gives for them.
. "$(dirname "$0")/common.sh"

for kind in hash string cext; do
    for n in 0 1; do
        "$jprof" --proto -o $n.pb.gz "--sysroot=$root/samples/cases/sysroot" "$root/samples/cases/ruby31/$kind.$n.heap" \
            2>jprof.err || die "jprof: $(cat jprof.err)"
    done
    for how in diff_base base; do
        go_rows inuse_space -$how=0.pb.gz 1.pb.gz >go.rows
        # pprof drops samples whose difference is 0; jprof leaves out rows of zeros only.
        jprof_rows inuse_space --$how=0.pb.gz 1.pb.gz >jprof.rows
        awk -F '\t' '$2 != 0 || ($3 != 0 && $3 != "-")' go.rows >a
        awk -F '\t' '$2 != 0 || ($3 != 0 && $3 != "-")' jprof.rows >b
        same_rows "$kind -$how" a b
    done
    # A difference that jprof wrote is a profile with negative values.
    "$jprof" --proto -o d.pb.gz "--sysroot=$root/samples/cases/sysroot" --base="$root/samples/cases/ruby31/$kind.0.heap" \
        "$root/samples/cases/ruby31/$kind.1.heap" 2>jprof.err || die "jprof: $(cat jprof.err)"
    go_rows inuse_space d.pb.gz >go.rows
    jprof_rows inuse_space d.pb.gz >jprof.rows
    same_rows "$kind written difference" go.rows jprof.rows
done
