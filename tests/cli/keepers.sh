#!/bin/sh
# jprof keepers: who keeps the objects of a dump of ObjectSpace. Sizes are chosen, so that each sum can be made by hand.
. "$(dirname "$0")/lib.sh"

# Classes Object (0x1000), String (0x1008), Hash (0x1010), Array (0x1018), Shop (0x1020), Item (0x1028), Box (0x1030), Thread (0x1038).
base() {
    cat <<'END'
{"type":"ROOT", "root":"vm", "references":["0x1000", "0x1038", "0x9000"]}
{"type":"ROOT", "root":"global_tbl", "references":["0x5000"]}
{"type":"ROOT", "root":"machine_context", "references":["0x1000"]}
{"address":"0x1000", "type":"CLASS", "class":"0x1000", "name":"Object", "references":["0x1008", "0x1010", "0x1018", "0x1020"], "memsize":1000}
{"address":"0x1008", "type":"CLASS", "class":"0x1000", "name":"String", "references":["0x1000"], "memsize":100}
{"address":"0x1010", "type":"CLASS", "class":"0x1000", "name":"Hash", "references":["0x1000"], "memsize":100}
{"address":"0x1018", "type":"CLASS", "class":"0x1000", "name":"Array", "references":["0x1000"], "memsize":100}
{"address":"0x1020", "type":"CLASS", "class":"0x1000", "name":"Shop", "references":["0x1000", "0x1028", "0x1030", "0x2000"], "memsize":100}
{"address":"0x1028", "type":"CLASS", "class":"0x1000", "name":"Shop::Item", "references":["0x1000"], "memsize":100}
{"address":"0x1030", "type":"CLASS", "class":"0x1000", "name":"Shop::Box", "references":["0x1000"], "memsize":100}
{"address":"0x1038", "type":"CLASS", "class":"0x1000", "name":"Thread", "references":["0x1000"], "memsize":100}
{"address":"0x2000", "type":"HASH", "class":"0x1010", "size":3, "references":["0x2008", "0x2010", "0x2018"], "file":"shop.rb", "line":7, "memsize":500}
{"address":"0x2008", "type":"OBJECT", "class":"0x1028", "ivars":1, "references":["0x3000", "0x6000"], "file":"shop.rb", "line":9, "method":"load", "memsize":40}
{"address":"0x2010", "type":"OBJECT", "class":"0x1028", "ivars":1, "references":["0x3008", "0x6000"], "file":"shop.rb", "line":9, "method":"load", "memsize":40}
{"address":"0x2018", "type":"OBJECT", "class":"0x1028", "ivars":1, "references":["0x3010"], "file":"shop.rb", "line":9, "method":"load", "memsize":40}
{"address":"0x3000", "type":"STRING", "class":"0x1008", "bytesize":30, "value":"secret \u00e9\" one", "encoding":"UTF-8", "file":"shop.rb", "line":10, "memsize":50000}
{"address":"0x3008", "type":"STRING", "class":"0x1008", "bytesize":30, "value":"two", "encoding":"UTF-8", "file":"shop.rb", "line":10, "memsize":50000}
{"address":"0x3010", "type":"STRING", "class":"0x1008", "bytesize":30, "value":"three", "encoding":"UTF-8", "file":"shop.rb", "line":10, "memsize":50000}
{"address":"0x5000", "type":"ARRAY", "class":"0x1018", "length":2, "references":["0x5008", "0x6000"], "file":"glob.rb", "line":1, "memsize":80}
{"address":"0x5008", "type":"OBJECT", "class":"0x1030", "references":["0x5010"], "file":"glob.rb", "line":2, "memsize":40}
{"address":"0x5010", "type":"STRING", "class":"0x1008", "bytesize":9, "file":"glob.rb", "line":3, "memsize":30000}
{"address":"0x6000", "type":"STRING", "class":"0x1008", "bytesize":9, "memsize":20000}
{"address":"0x7000", "type":"STRING", "class":"0x1008", "bytesize":9, "memsize":10000}
{"address":"0x9000", "type":"DATA", "class":"0x1038", "struct":"VM/thread", "references":["0x9008"], "memsize":300}
{"address":"0x9008", "type":"ARRAY", "class":"0x1018", "length":1, "references":["0x9010"], "memsize":40}
{"address":"0x9010", "type":"STRING", "class":"0x1008", "bytesize":9, "memsize":7000}
{"address":"0xa000", "type":"SHAPE", "id":3, "parent_id":0, "depth":1, "shape_type":"IVAR", "edge_name":"@a", "edges":0, "memsize":88}
END
}
base >heap.ndjson

# Bytes: 1,700 of classes, 150,620 of the Hash, 30,120 of the global Array, 20,000 that both keep, 7,340 of the thread; 10,000 of
# garbage. One element makes most of the Array, and of the thread: then that is the keeper.
what="a whole dump"
works "$jprof" keepers heap.ndjson
for words in '^heap.ndjson: 205 KB in 22 Ruby objects and their buffers' '^A Hash of 3 in Shop keeps 72 % of it (147 KB).' \
    '^     147    72 %            7  a Hash of 3 in Shop  shop.rb:7' '^    29.3    14 %            2  a Shop::Box in a global variable  glob.rb:2' \
    '^     6.9     3 %            2  an Array of 1 in a Thread$' '^    21.6    11 %           11  others, each less' '^     205   100 %           22  all' '^     9.8                    1  no root leads to them: garbage' \
    '^   path     Shop > Hash > Shop::Item (3 of them)' '^   made at  shop.rb:10 100 %' '^   path     a global variable > Array > Shop::Box > String$'; do
    check "no line $words" grep -q "$words" out
done
check "a text of a String" eval '! grep -q secret out'

# What two keep is in neither's row, and in no other: the rows and the rest add up.
what="the sum of the rows"
run "$jprof" keepers --top=0 heap.ndjson
sum=$(awk '/ %  / && !/ all$/ { sum += $1 } / all$/ { all = $1 } END { d = sum - all; print (d < 0.5 && d > -0.5) }' out)
check "the rows are not all" [ "$sum" = 1 ]

what="a choice"
sed 's/shop.rb/apaththatisaslongaspathsofgems.rb/; s/Shop::Item/AModule::WithAName::ThatIsLong::AndAnItem/' heap.ndjson >long.ndjson
works "$jprof" keepers --line='shop.rb:9' heap.ndjson
check "not the three, with their Strings" grep -q '^heap.ndjson: 147 KB in 3 Ruby objects, with what they keep' out
check "not their keeper" grep -q '^     147   100 %            3  a Hash of 3 in Shop  shop.rb:7' out
works "$jprof" keepers --class='Item' --line=glob heap.ndjson
check "what fits one of two patterns" grep -q '^heap.ndjson: 0 bytes in 0 Ruby objects' out
exits_with 1 "$jprof" keepers --class='(' heap.ndjson
check "another word on the pattern" grep -q 'class' err
for of in --line --class '--strings --line'; do
    # shellcheck disable=SC2086
    exits_with 1 "$jprof" keepers $of='^(.|..|...)+(?<=!!)' long.ndjson
    check "$of: not said that it takes too much" grep -q 'too much backtracking' err
done

what="one that a stack refers to too"
sed '3s/0x1000/0x2000/' heap.ndjson >stack.ndjson
run "$jprof" keepers stack.ndjson
check "not said" grep -q '^     147    72 %            7  a Hash of 3 in Shop and others  shop.rb:7' out

# What many classes have of one kind: 40 with a Hash of 1,000 bytes each. Two have one of 12,000, which is more than a tenth of all
# of these, and have rows of their own; nine Arrays are too few.
what="a Hash in each of many classes"
{
    base
    awk 'function class(i) { printf "{\"address\":\"0x%x\", \"type\":\"CLASS\", \"class\":\"0x1000\", \"name\":\"Model%d\", \"references\":[\"0x1000\", \"0x%x\"], \"memsize\":10}\n", at(i), i, at(i) + 8 }
        function at(i) { return 1048576 + 32 * i }
        function held(i, type, of, bytes) {
            printf "{\"address\":\"0x%x\", \"type\":\"%s\", \"class\":\"%s\", \"size\":1, \"references\":[\"0x%x\"], \"memsize\":100}\n", at(i) + 8, type, of, at(i) + 16
            printf "{\"address\":\"0x%x\", \"type\":\"STRING\", \"class\":\"0x1008\", \"memsize\":%d}\n", at(i) + 16, bytes
        }
        BEGIN {
            for (i = 0; i < 51; i++) {
                roots = roots (i ? ", " : "") sprintf("\"0x%x\"", at(i))
                class(i)
                if (i < 42) held(i, "HASH", "0x1010", i < 2 ? 11900 : 900); else held(i, "ARRAY", "0x1018", 900)
            }
            print "{\"type\":\"ROOT\", \"root\":\"vm\", \"references\":[" roots "]}"
        }'
} >crowd.ndjson
works "$jprof" keepers --top=0 crowd.ndjson
for words in '^    39.1    14 %           80  a Hash in each of 40 classes$' '^   path     a Hash in each of 40 classes > Hash > String$' \
    '^    11.7     4 %            2  a Hash of 1 in Model0$' '^    11.7     4 %            2  a Hash of 1 in Model1$' '^     277   100 %          175  all$'; do
    check "no line $words" grep -q "$words" out
done
check "nine Arrays" eval '! grep -q Array.in.each out'
sum=$(awk '/ %  / && !/ all$/ { sum += $1 } / all$/ { all = $1 } END { d = sum - all; print (d < 1 && d > -1) }' out)
check "the rows are not all, with those of many classes" [ "$sum" = 1 ]
works "$jprof" keepers --class=String --top=0 crowd.ndjson
check "a choice" grep -q '^    35.2    13 %           40  a Hash in each of 40 classes$' out
# Classes in these Hashes have an Array each: what a crowd keeps is of no other.
{
    base
    awk 'function object(i, at, type, of, to, bytes) {
            printf "{\"address\":\"0x%x\", \"type\":\"%s\", \"class\":\"0x%x\", \"name\":\"M%d\", \"references\":[\"0x%x\"], \"memsize\":%d}\n", at, type, of, at, to, bytes
        }
        BEGIN {
            for (i = 0; i < 40; i++) {
                at = 1048576 + 64 * i
                roots = roots (i ? ", " : "") sprintf("\"0x%x\"", at)
                object(i, at, "CLASS", 4096, at + 8, 10)
                object(i, at + 8, "HASH", 4112, at + 16, 100)
                object(i, at + 16, "CLASS", 4096, at + 24, 10)
                object(i, at + 24, "ARRAY", 4120, at + 32, 100)
                object(i, at + 32, "STRING", 4104, 4096, 900)
            }
            print "{\"type\":\"ROOT\", \"root\":\"vm\", \"references\":[" roots "]}"
        }'
} >nested.ndjson
works "$jprof" keepers --top=0 nested.ndjson
check "the outer crowd" grep -q '^    43.4 .* a Hash in each of 40 classes$' out
check "its bytes are of another, too" eval '! grep -q Array.in.each out'

# ---- how it lies there ---------------------------------------------------------------------------------------------
run "$jprof" keepers heap.ndjson
mv out whole
gzip -k heap.ndjson
what="compressed"
works "$jprof" keepers heap.ndjson.gz
same "another answer" "$(sed s/heap.ndjson/heap.ndjson.gz/ whole >wanted; echo wanted)" out
what="standard input"
works sh -c '"$1" keepers - <heap.ndjson' sh "$jprof"
what="objects in another order"
{ grep -v ROOT heap.ndjson | tac; grep ROOT heap.ndjson; } >turned.ndjson
run "$jprof" keepers turned.ndjson
sed -n '/^   keeps/,/ all$/p' out >table
sed -n '/^   keeps/,/ all$/p' whole >wanted
same "other rows" wanted table
what="a file that was cut"
head -c $(($(wc -c <heap.ndjson) - 300)) heap.ndjson >cut.ndjson
works "$jprof" keepers cut.ndjson
check "not a word on it" grep -q '^The file ends within a line: it is not whole' out

# ---- what is no such dump -----------------------------------------------------------------------------------------
refused() { # TEXT WORDS
    what="$1"
    printf '%s\n' "$1" >bad.ndjson
    exits_with 1 "$hostile" keepers bad.ndjson
    check "not these words: $2" grep -q "^jprof: bad.ndjson.*$2" err
    check "more than a line" [ "$(wc -l <err)" = 1 ]
}
refused '' 'is empty'
refused 'heap_v2/524288' 'is no JSON'
refused '[1]' 'is no object of ObjectSpace.dump_all'
refused '{"a":1}' 'is no object of ObjectSpace.dump_all: no type'
refused '{"type":"STRING"}' 'an object without its address'
refused '{"type":"STRING", "address":"0x1"}' 'an object without its address'
refused '{"type":"STRING", "address":"0x1000", "memsize":40}' 'has no roots'
refused '{"type":"ROOT"}' 'a root without its kind'
refused '{"type":"ROOT", "root":"vm", "references":[1]}' 'references that are no list'
deep=$(awk 'BEGIN { for (i = 0; i < 100; i++) printf "["; }')
refused "{\"type\":\"ROOT\", \"root\":\"vm\", \"x\":$deep" 'is no JSON'
what="a reference to nothing, twice, and to itself"
printf '%s\n' '{"type":"ROOT", "root":"vm", "references":["0x1000", "0xfff8", "0x1000"]}' \
    '{"address":"0x1000", "type":"HASH", "references":["0x1000", "0x1", "0x"], "memsize":9000000000000000000, "size":99999999999999999999}' \
    '{"address":"0x1000", "type":"HASH", "references":["0x2000"], "memsize":100}' \
    '{"address":"0x2000", "type":"STRING", "class":"0x1000", "memsize":100}' >odd.ndjson
works "$hostile" keepers odd.ndjson
what="bytes whose sum has no room"
sed 's/"memsize":100/"memsize":9000000000000000000/' odd.ndjson >bad.ndjson
exits_with 1 "$hostile" keepers bad.ndjson
check "not said" grep -q '^jprof: bad.ndjson:3: more bytes than any memory has$' err

# Each line with a byte that is another one is refused with a line, or read.
what="damage"
for at in 3 40 90 200 333 700 1111 1500 2222 3000; do
    { head -c $at heap.ndjson; printf '\\'; tail -c +$((at + 2)) heap.ndjson; } >bad.ndjson
    run "$hostile" keepers bad.ndjson
    check "status $status" [ "$status" -le 1 ]
done

what="a report of such a file"
exits_with 1 "$jprof" heap.ndjson
check "not the command that reads it" grep -q 'ObjectSpace.dump_all.*: jprof keepers FILE says who keeps them' err

# ---- two and three of them: what was born after the first and lives in the others -----------------------------------
# object ADDRESS BYTES SITE GENERATION, of class Shop::Item
object() {
    printf '{"address":"%s", "type":"OBJECT", "class":"0x1028", "file":"%s", "line":%d, "memsize":%d, "generation":%d}\n' "$1" "${3%:*}" "${3#*:}" "$2" "$4"
}
list() { # ADDRESSES
    sed 's/"references":\["0x5008", "0x6000"\]/"references":["0x5008", "0x6000"'"$(for at in $1; do printf ', "%s"' "$at"; done)"']/' heap.ndjson
}
list "0xb000" >first.ndjson && object 0xb000 100 old.rb:1 3 >>first.ndjson
list "0xb000 0xb008 0xb010 0xb018" >second.ndjson
{ object 0xb000 100 old.rb:1 3 && object 0xb008 2000 new.rb:2 4 && object 0xb010 3000 new.rb:2 5 && object 0xb018 4000 gone.rb:3 5; } >>second.ndjson
list "0xb000 0xb008 0xb010 0xb020" >third.ndjson
{ object 0xb000 100 old.rb:1 3 && object 0xb008 2000 new.rb:2 4 && object 0xb010 3000 new.rb:2 5 && object 0xb020 9000 late.rb:4 6; } >>third.ndjson
what="three dumps"
works "$jprof" diff first.ndjson second.ndjson third.ndjson
for words in '4.9 KB in 2 objects. One line makes 100 % of it' '^1  +4.9 KB  new.rb:2$' '^   what     Shop::Item (2)$' \
    '^   kept by  an Array of 2 in a global variable  *glob.rb:1$' '^   path     a global variable > Array > Shop::Item (2 of them)$' \
    '^   since    generation 4 to 5' '^     4.9            2  new.rb:2$' '^     4.9            2  all$'; do
    check "no line $words" eval 'tr "\n" " " <out >joined; grep -q -- "$words" out || grep -q -- "$words" joined'
done
check "what was gone, or came late" eval '! grep -q "gone\|late\|old" out'
what="two dumps"
works "$jprof" diff first.ndjson third.ndjson
check "not all that came" grep -q '^    13.7            3  all$' out
check "the lines are in no order" [ "$(sed -n 's/^ *[0-9.][0-9.]* *[0-9][0-9]*  \(.*rb:.*\)/\1/p' out | tr '\n' ' ')" = "late.rb:4 new.rb:2 " ]
what="two dumps on a terminal of few lines"
python3 "$here/on_tty.py" 16x80 "$jprof" diff first.ndjson third.ndjson | tr -d '\r' >out
check "more than 16 lines and a prompt: $(wc -l <out)" [ "$(wc -l <out)" -le 14 ]
prints '^Two dumps of one Ruby; '
prints '^ .* all$'
prints '^\.\.\. more: --top=0$'
what="dumps of two programs"
sed 's/"0x/"0xc/g' third.ndjson >other.ndjson
exits_with 1 "$jprof" diff first.ndjson other.ndjson
check "not said" grep -q 'of two processes' err
what="one dump, and four"
for dumps in first.ndjson "first.ndjson second.ndjson third.ndjson third.ndjson"; do
    # shellcheck disable=SC2086
    exits_with 1 "$jprof" diff $dumps
    check "not said how many" grep -q 'two or three dumps of ObjectSpace' err
done
exits_with 1 "$jprof" diff --json first.ndjson second.ndjson
check "no word on the format" grep -q 'as text alone' err

# ---- Strings: which are equal ---------------------------------------------------------------------------------------
# string ADDRESS TEXT SITE BYTES
string() {
    printf '{"address":"%s", "type":"STRING", "class":"0x1008", "bytesize":3, "value":"%s", "file":"%s", "line":%d, "memsize":%d}\n' "$1" "$2" "${3%:*}" "${3#*:}" "$4"
}
long=$(printf '%061d' 7)
{ cat heap.ndjson && string 0xc000 "$long" a.rb:1 2000 && string 0xc008 "$long" a.rb:1 1000 && string 0xc010 '\u0007x' a.rb:1 500 &&
    string 0xc018 "$long" b.rb:2 1000 && string 0xc020 '\u00e9\u00e9' b.rb:2 600000; } >strings.ndjson
what="Strings"
works "$jprof" keepers --strings strings.ndjson
for words in '^strings.ndjson: 737 KB in 8 Strings.$' 'If only one were left of the equal ones of each line, 1000 bytes (0 %) would' \
    '^     587       0.0            2            2  b.rb:2$' '^     3.4       1.0            3            2  a.rb:1$' '^     146       0.0            3            3  shop.rb:10$' \
    '^     737       1.0            8               all$' '^   most     2 equal ones of 61 bytes$' '^            1 of 2 bytes$' \
    '^Not among them: 4 Strings of 65.4 KB'; do
    check "no line $words" grep -q "$words" out
done
check "what they say" eval '! grep -q "secret\|00000" out'
works "$jprof" keepers --strings=show --line='a.rb' strings.ndjson
tr -s '\n ' ' ' <out >joined
check "not the line alone" grep -q '^strings.ndjson: 3.4 KB in 3 Strings' out
check "not 60 characters" grep -qF '2 equal ones of 61 bytes: "'"$(printf '%060d' 0)"'..."' joined
check "a control character" grep -qF '1 of 2 bytes: "\x07x"' out
exits_with 1 "$jprof" keepers --strings=all strings.ndjson
exits_with 1 "$jprof" keepers --strings --class=x strings.ndjson
check "not said which chooses" grep -q 'line=RE' err

# The shortest way to Object leads over the singleton class of what a global refers to, as in Ruby 3.4.
what="a way to Object"
cat >object.ndjson <<'END'
{"type":"ROOT", "root":"global_tbl", "references":["0x5000"]}
{"address":"0x5000", "type":"OBJECT", "class":"0x5008", "references":["0x5008"], "memsize":40}
{"address":"0x5008", "type":"CLASS", "class":"0x1000", "singleton":true, "real_class_name":"Object", "references":["0x1000"], "memsize":40}
{"address":"0x1000", "type":"CLASS", "class":"0x1000", "name":"Object", "references":["0x2000"], "memsize":1000}
{"address":"0x2000", "type":"HASH", "class":"0x1000", "size":2, "references":["0x3000", "0x3008"], "memsize":500}
{"address":"0x3000", "type":"STRING", "bytesize":30, "memsize":9000}
{"address":"0x3008", "type":"STRING", "bytesize":30, "memsize":9000}
END
works "$jprof" keepers object.ndjson
prints '^   path  *Object > Object$'

# Snapshots with the graph of objects. Cache: 21,000 of 29,800; the largest of two is said, and one may be asked for.
what="a snapshot"
for kind in one two none cut; do
    python3 "$here/graph.py" "$kind" "$kind.jprof" || skip "no python3 here"
done
works "$jprof" keepers one.jprof
prints '^one.jprof, process 17, worker: 29.1 KB in 38 Ruby objects and their buffers'
prints '^A Hash of 20 in Shop::Cache keeps 70 % of it .20.5 KB.\.'
prints '^   path  *Shop::Cache > Hash > Shop::Item .20 of them.'
prints '^ *5.1 .* 11  an Array of 10 in a global variable$'
check "lines are asked of a snapshot" sh -c '! grep -q trace_object_allocations out'
works "$jprof" keepers two.jprof
prints '^two.jprof, process 19, worker: '
prints '^It is the largest of 2 processes with a graph: --member=PID shows another'
works "$jprof" keepers --member=17 --class=Item two.jprof
prints '^two.jprof, process 17, worker: 19.5 KB in 20 Ruby objects'
exits_with 1 "$jprof" keepers --member=18 two.jprof
exits_with 1 "$jprof" keepers --member=nobody two.jprof
check "not said who is missing" grep -q 'has no member nobody' err
exits_with 1 "$jprof" keepers none.jprof
check "not said what to make" grep -q 'jprof snap --objects' err
exits_with 1 "$hostile" keepers cut.jprof
check "not said that it is cut" grep -q 'damaged or not whole' err
exits_with 1 "$jprof" keepers --strings one.jprof
check "not said that there are no contents" grep -q 'no contents of Strings' err
exits_with 1 "$jprof" keepers --line=shop one.jprof
check "not said that there are no lines" grep -q 'says its line' err
works "$jprof" --text two.jprof

# The answer and the next command are on the screen when the command has ended: rows give way, and say so.
what="a terminal of few lines"
for lines in 24 18; do
    python3 "$here/on_tty.py" ${lines}x80 "$jprof" keepers two.jprof | tr -d '\r' >out
    check "more than $lines lines and a prompt: $(wc -l <out)" [ "$(wc -l <out)" -le $((lines - 2)) ]
    prints '^two.jprof, process 19, worker: '
    prints '^   path  *Shop::Cache > Hash > Shop::Item'
    prints '^Next:  jprof keepers --html -o keepers.html two.jprof$'
done
prints 'others, [0-9]* of half a percent or more .--top=0.$'
python3 "$here/on_tty.py" 18x80 "$jprof" keepers --top=9 two.jprof | tr -d '\r' >out
check "rows that were asked for gave way" [ "$(wc -l <out)" -gt 16 ]
what="the next command"
works "$jprof" keepers --line='shop.rb:9' --class=Item heap.ndjson
prints "^Next:  jprof keepers --html -o keepers.html --line=shop.rb:9 --class=Item heap.ndjson$"
works sh -c '"$1" keepers - <heap.ndjson' sh "$jprof"
check "a command with what was read already" sh -c '! grep -q ^Next out'

# In few columns words of a row stand whole, in their column.
what="a terminal of few columns"
python3 "$here/on_tty.py" 40x50 "$jprof" keepers two.jprof | tr -d '\r' >out
prints '^ .*  others, [0-9]* of half a$'
prints '^ {31}percent or more$'
check "wider: $(awk 'length($0) > 50' out)" [ "$(grep -v '^Next' out | awk 'length($0) > 50' | wc -l)" -eq 0 ]

# The page has the same rows, loads nothing, and has what comes from the file as text.
what="a page"
sed 's/"Shop::Box"/"Shop::<script>\&\\"Box"/' heap.ndjson >named.ndjson
works "$jprof" keepers --html -o page.html named.ndjson
python3 - <<'END' || fail "the page"
import html.parser, re
page = open("page.html").read()
class Seen(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = set(), []
    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        assert not {"src", "href", "onload"} & {name for name, _ in attributes}, attributes
    def handle_data(self, data):
        self.text.append(data)
seen = Seen()
seen.feed(page)
text = " ".join(" ".join(seen.text).split())
assert "script" not in seen.tags and "default-src 'none'" in page, seen.tags
for words in ("keeps 72 % of it (147 KB).", "147 KB 72 % 7 a Hash of 3 in Shop", "Shop > Hash > Shop::Item (3 of them)", "made at shop.rb:10",
              "205 KB 100 % 22 all", 'Shop::<script>&"Box', "no root leads to them"):
    assert words in text, (words, text)
END
exits_with 1 "$jprof" keepers --html heap.ndjson
exits_with 1 "$jprof" keepers -o page.txt heap.ndjson
exits_with 1 "$jprof" keepers --html -o page.html --strings heap.ndjson
exits_with 1 "$jprof" keepers --html -o no/such/page.html heap.ndjson
check "it does not say where" grep -q 'no/such/page.html' err

what="operands"
exits_with 1 "$jprof" keepers
check "no word on what to give" grep -q 'ObjectSpace.dump_all' err
exits_with 1 "$jprof" keepers nothing.ndjson
# A Set and a Map of concurrent-ruby are around a Hash: it is in what has these.
for around in Set Concurrent::Map Shop::Sets; do
    {
        base
        cat <<END
{"type":"ROOT", "root":"machine_context", "references":["0xb008"]}
{"address":"0xb000", "type":"CLASS", "class":"0x1000", "name":"$around", "references":["0x1000"], "memsize":100}
{"address":"0xb008", "type":"OBJECT", "class":"0x1030", "references":["0xb010"], "memsize":40}
{"address":"0xb010", "type":"OBJECT", "class":"0xb000", "references":["0xb018"], "memsize":40}
{"address":"0xb018", "type":"HASH", "class":"0x1010", "size":2, "references":["0xb020", "0xb028"], "memsize":500}
{"address":"0xb020", "type":"STRING", "class":"0x1008", "bytesize":9, "memsize":400000}
{"address":"0xb028", "type":"STRING", "class":"0x1008", "bytesize":9, "memsize":400000}
END
    } >around.ndjson
    works "$jprof" keepers around.ndjson
    case $around in
    Shop*) prints "^A Hash of 2 in a $around keeps " ;;
    *) prints '^A Hash of 2 in a Shop::Box keeps ' ;;
    esac
done

finish
