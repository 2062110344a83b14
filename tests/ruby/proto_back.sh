#!/bin/sh
# --proto keeps what is Ruby: read back, a dump with Ruby stacks has the same rows, owners and kinds of names.
. "$(dirname "$0")/../cli/lib.sh"
cp "$root"/samples/tables/*.heap* .

# The files there are those of Ruby 3.1's dumps; 3.3's find other builds of libc.so.6 and ld.so, or nothing.
sys=--sysroot=$cases/sysroot

# names FILE: flat and cumulative share, and the name, of each row. A profile.proto has whole bytes: one may be missing.
names() {
    awk 'NR > 1 { name = $0; sub(/^ *[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ /, "", name); print $2, $5, name }' "$1" | sort
}

# rows FILE WORDS...: in the file `rows`
rows() {
    file=$1
    shift
    works "$jprof" "$sys" --show_bytes "$@" "$file"
    names out >rows
}

for dump in *.heap; do
    works "$jprof" "$sys" --proto -o dump.pb.gz "$dump"
    for words in '' --libs --functions --ruby=off --ruby=only '--ruby=only --sites' '--libs --ruby=off'; do
        rows "$dump" $words
        mv rows of_dump
        check "few rows" [ "$(wc -l <of_dump)" -gt 3 ]
        rows dump.pb.gz $words
        same "$dump $words: not what the dump says (<)" of_dump rows
    done
    works "$jprof" info "$sys" --all dump.pb.gz
    prints 'Ruby'
done

# Two of them meet as two dumps do.
run "$jprof" "$sys" --proto -o first.pb.gz ruby31.0.heap
run "$jprof" "$sys" --proto -o second.pb.gz ruby31.1.heap
run "$jprof" "$sys" --show_bytes --base=ruby31.0.heap ruby31.1.heap
names out | grep -v '^-*0.0% -*0.0%' >of_dumps
run "$jprof" "$sys" --show_bytes --base=first.pb.gz second.pb.gz
names out | grep -v '^-*0.0% -*0.0%' >of_protos
check "few rows" [ "$(wc -l <of_dumps)" -gt 3 ]
same "a difference of two is not that of the dumps (<)" of_dumps of_protos
finish
