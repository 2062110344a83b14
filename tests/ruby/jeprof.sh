#!/bin/sh
# --ruby=off beside Perl jeprof, which knows no tables: the line Total:, and flat and cumulative value of each address, byte
# for byte. What it has besides are the agent's numbers, which stand for no code. Names are not compared: libruby is stripped.
. "$(dirname "$0")/../cli/lib.sh"
find_jeprof
cp "$root"/samples/tables/ruby31.* .
sys=--sysroot=$cases/sysroot

# The numbers of the agent lie in one mapping, 7f8ace57f000-7f8acea00000. An address with inlined functions is several rows.
numbers='7f8ace(57f|5[89a-f]|[6-9])'
addresses() {
    awk '/^Total:/ { print; next } { print $1, $4, $6 }' "$1" | grep -vE " 0000$numbers" | sort -u
}

# jeprof wants a program; whose names it takes is all the same here.
program=$cases/sysroot/usr/bin/ruby3.1
for number in 0 1; do
    ask_jeprof "$plain_jeprof" --text --addresses --show_bytes "$program" ruby31.$number.heap
    addresses theirs.whole >theirs
    works "$jprof" "$sys" --ruby=off --fold=none --addresses --show_bytes ruby31.$number.heap
    addresses out >ours
    check "jeprof has few rows" [ "$(wc -l <theirs)" -ge 40 ]
    same "not as jeprof (<)" theirs ours
done

# Called by its name it has functions, as ever.
ln -s "$jprof" jeprof
run ./jeprof "$sys" --show_bytes ruby31.1.heap
check "a row has a line of Ruby" grep -qv 'owners.rb:' out
cp out as_jeprof
run "$jprof" "$sys" --functions --fold=none --show_bytes ruby31.1.heap
same "the name jeprof" as_jeprof out

# --raw has no number, and Perl jeprof reads it to the same total.
run "$jprof" "$sys" --raw ruby31.1.heap
cp out raw
check "the dump has no numbers of the agent" grep -qE "^@.* 0x$numbers" ruby31.1.heap
check "--raw has some" [ "$(grep -cE "^@.* 0x$numbers" raw)" -eq 0 ]
ask_jeprof "$plain_jeprof" --text --show_bytes raw
check "another total" [ "$(head -n 1 theirs.whole)" = "$(head -n 1 as_jeprof)" ]
finish
