#!/bin/sh
# Pictures of the call graph: --dot beside Perl jeprof's, names that are hard to write, every format, --web.
. "$(dirname "$0")/lib.sh"
dump=$heaps/jemalloc-5.3.0.heap
at=--sysroot=$heaps/sysroot

run "$jprof" bundle -o both.jprof $at "$dump" "$heaps/nopie.heap"
run "$jprof" --dot $at both.jprof
check "the members of a bundle are not told" grep -q 'of a bundle: .*, ' out

# ---- frames ----
cat >chain.raw <<END
--- symbol
binary=/opt/app
0x1000 _start
0x2000 main
0x3000 serve
0x4000 left
0x5000 right
0x6000 clone
0x7000 thread
0x8000 alone
---
--- heap
heap_v2/1
  t*: 6: 21000 [0: 0]
@ 0x4000 0x3001 0x2001 0x1001
  t*: 1: 6000 [0: 0]
@ 0x5000 0x3001 0x2001 0x1001
  t*: 1: 3000 [0: 0]
@ 0x8000 0x7001 0x6001
  t*: 1: 1000 [0: 0]
END
echo '00000000-00001000 r-xp 00000000 08:01 42 /opt/other' >chain.maps
run "$jprof" --dot --show_bytes --cluster --maps=chain.maps chain.raw
check "a frame without its sum" grep -q 'label="[^"<]*: 10000 B (100.0%)"' out
check "a plain graph's layout is bounded" sh -c '! grep -q nslimit out'

# ---- each box with many arrows: Graphviz took 5 s for 80 such boxes, and minutes for 300 ----
awk 'BEGIN {
  print "--- symbol\nbinary=/opt/app"
  for (i = 1; i <= 60; i++) printf "0x%x f%d\n", i * 4096, i
  print "---\n--- heap\nheap_v2/1\n  t*: 900: 900000 [0: 0]"
  for (n = seed = 1; n <= 900; n++) {
    line = "@"
    for (k = 0; k < 4; k++) { seed = (seed * 1103 + 12345) % 65536; line = line sprintf(" 0x%x", (1 + int(seed / 16) % 60) * 4096 + 1) }
    print line "\n  t*: 1: 1000 [0: 0]"
  }
}' >dense.raw
run "$jprof" --dot --nodefraction=0 --edgefraction=0 --maps=chain.maps dense.raw
check "a dense graph is one of straight lines" grep -q 'splines=line' out
check "its layout is not bounded" grep -q 'nslimit=0.2' out
ruby="--sysroot=$cases/sysroot $cases/ruby31/cext.1.heap"
run "$jprof" --dot $ruby
check "a Ruby has no frames" grep -q 'label="leaky.so: 19.3 MB (83.2%)"' out
run "$jprof" --dot --nocluster $ruby
check "--nocluster draws frames" eval '! grep -q "subgraph" out'
run "$jprof" --dot --fold=none $ruby
check "--fold=none draws frames" eval '! grep -q "subgraph" out'

# ---- by line of Ruby: names say whose they are; the picture fits a wide page ----
lines="--sysroot=$root/samples/tables $root/samples/tables/ruby33.1.heap"
run "$jprof" --dot $lines
check "frames around lines that say whose they are" eval '! grep -q "subgraph" out'
check "a gem's name stands twice" eval '! grep -qE "<b>nokogiri [0-9.]+ .*>nokogiri [0-9.]+</font>" out'
check "a line ends in the middle of <main>" eval '! grep -qE "(&lt;|<)<br/>(main|top)" out'
run "$jprof" --dot --cluster $lines
check "--cluster draws no frames" grep -q "subgraph" out
check "a frame of nothing" eval '! grep -qE "label=\"[^\"<]*: 0 B" out'

# ---- eight functions that one calls stand in three rows ----
awk 'BEGIN {
  print "--- symbol\nbinary=/opt/app\n0x1000 main"
  for (i = 2; i <= 9; i++) printf "0x%x a_function_with_quite_a_long_name_%d\n", i * 4096, i
  print "---\n--- heap\nheap_v2/1\n  t*: 8: 8000 [0: 0]"
  for (i = 2; i <= 9; i++) printf "@ 0x%x 0x1001\n  t*: 1: 1000 [0: 0]\n", i * 4096
}' >wide.raw
run "$jprof" --dot --maps=chain.maps wide.raw
for row in 2 3; do check "row $row" [ "$(grep -c "minlen=$row" out)" -ge 2 ]; done

# ---- chains: what only calls the next is one box ----
# boxes, arrows: how many there are
drawn() { echo "$(grep -cE '^[[:space:]]+N[0-9]+[[:space:]]+\[' out) $(grep -cE 'N[0-9]+ -> N[0-9]+' out)"; }
run "$jprof" --dot --show_bytes --nodefraction=0 --maps=chain.maps chain.raw
check "boxes and arrows: $(drawn)" [ "$(drawn)" = '6 4' ]
check "a chain's ends: $(grep -n between out)" grep -q '<b>_start</b></font><br/>1 between<br/>.*<b>serve</b></font><br/>.*0 of 9000 B (90.0%)' out
check "a chain's names" grep -q 'tooltip="_start.ncalls main.ncalls serve.n' out
run "$jprof" --dot --show_bytes --nodefraction=0 --chains --maps=chain.maps chain.raw
check "--chains: boxes and arrows: $(drawn)" [ "$(drawn)" = '8 6' ]
run "$jprof" --dot --show_bytes --nodefraction=0 --fold=none --maps=chain.maps chain.raw
check "--fold=none: boxes and arrows: $(drawn)" [ "$(drawn)" = '8 6' ]

# ---- nothing to draw ----
is_refused "$jprof" --dot --nodefraction=1 $at "$dump"
says "jprof: nothing to draw: no function is above the limit (--nodefraction)"
exits_with 1 "$jprof" --svg --focus=nowhere -o never.svg $at "$dump"
says "jprof: no stack is left by --focus"
check "a file for nothing" [ ! -e never.svg ]

# ---- what is no picture program's business ----
for word in gv evince; do
    exits_with 1 "$jprof" --$word $at "$dump"
    says "jprof: --$word is not taken: give --pdf -o FILE and open that, or --web"
done

# ---- names ----
# A symbolized file may call its functions anything.
cat >names.raw <<END
--- symbol
binary=/opt/app
0x1000 operator"" _kb
0x2000 <b>&lt;bold&gt;</b>
0x3000 \\N \\G \\E \\l back\\slash\\
0x4000 {a|b} ]]> <!- javascript:alert(1) "x"
0x5000 $(printf 'caf\303\251 \377\376 bad \302\205')
0x6000 </text><script>alert(1)</script>
---
--- heap
heap_v2/1
  t*: 6: 21000 [0: 0]
@ 0x1000 0x2001 0x3001 0x4001 0x5001 0x6001
  t*: 1: 1000 [0: 0]
@ 0x2000 0x6001
  t*: 1: 2000 [0: 0]
@ 0x3000 0x6001
  t*: 1: 3000 [0: 0]
@ 0x4000 0x6001
  t*: 1: 4000 [0: 0]
@ 0x5000 0x6001
  t*: 1: 5000 [0: 0]
@ 0x6000
  t*: 1: 6000 [0: 0]
END
echo '00000000-00001000 r-xp 00000000 08:01 42 /opt/other' >no.maps
cat >names.expected <<END
</text><script>alert(1)</script>
<b>&lt;bold&gt;</b>
\\N \\G \\E \\l back\\slash\\
caf$(printf '\303\251') \\xff\\xfe bad \\xc2\\x85
operator"" _kb
{a|b} ]]> <!- javascript:alert(1) "x"
END
works "$jprof" --dot --full-names --maps=no.maps names.raw
cp out names.dot
check "not six nodes" [ "$(grep -c '^	N[0-9]*	\[' out)" -eq 6 ]

if command -v gvpr >/dev/null; then
    # Graphviz' own reader: the graph is as jprof says it is.
    gvpr 'N { print($.name) } E { print($.tail.name, " ", $.head.name) }' names.dot >read 2>err
    what="gvpr of names.dot"
    check "Graphviz has something to say" [ ! -s err ]
    check "not six nodes and their arrows" [ "$(grep -c '^N[0-9]*$' read)" -eq 6 ]
else
    echo "no gvpr here: what is in the DOT was not read back"
fi

if ! "$jprof" --svg $at "$dump" >probe.svg 2>probe.err && grep -q 'built without libgvc' probe.err; then
    echo "built without libgvc: only --dot was looked at"
    finish
fi
# ---- a chain has its names and its arrow's in a picture, too ----
run "$jprof" --svg -o chain.svg --nodefraction=0 --maps=chain.maps chain.raw
check "a picture without the chain's names" grep -q '>_start$' chain.svg
check "and of its arrow" grep -q '>serve calls left$' chain.svg

# ---- every format ----
begins() {
    head -c 40 "$1" | tr -d '\000-\010\016-\037\200-\377' | grep -q "$2"
}
# format NAME MAGIC
format() {
    is_quiet "$jprof" --$1 -o "graph.$1" $at "$dump"
    prints_nothing
    check "--$1 does not begin with $2" begins "graph.$1" "$2"
    cp "graph.$1" first
    # cairo 1.18 packs the date of a PDF away, where it cannot be taken out.
    if [ "$1" = pdf ] && grep -qa /ObjStm graph.pdf; then return; fi
    run "$jprof" --$1 -o "graph.$1" $at "$dump"
    same "--$1 is another file the second time" first "graph.$1"
    run "$jprof" --$1 $at "$dump"
    same "--$1 on standard output differs" first out
}
format svg '^<?xml version="1.0"'
format pdf '^%PDF-'
format ps '^%!PS-Adobe'
format png 'PNG'
format gif '^GIF8'

# Binary data is nothing for a terminal.
if command -v python3 >/dev/null; then
    for word in pdf png gif; do
        what="--$word on a terminal"
        status=0
        timeout 300 python3 - "$jprof" --$word $at "$dump" >out 2>err <<'END' || status=$?
import os, pty, subprocess, sys
parent, child = pty.openpty()
sys.exit(subprocess.run(sys.argv[1:], stdout=child).returncode)
END
        exits 1
        says "jprof: --$word writes binary data, which a terminal cannot show; give -o FILE"
    done
fi

# ---- SVG ----
works "$jprof" --svg --full-names --errors -o names.svg --maps=no.maps names.raw
cp graph.svg cluster.svg
run "$jprof" --svg --cluster -o cluster.svg $at "$dump"
for file in graph.svg names.svg cluster.svg; do
    what=$file
    check "refers to something outside" eval '! grep -E "(href|src|url\()" $file'
    check "more than one script" [ "$(grep -c '<script' $file)" -eq 1 ]
    check "does not end with the root" [ "$(tail -n 1 $file)" = '</svg>' ]
done
if command -v xmllint >/dev/null; then
    for file in graph.svg names.svg cluster.svg; do
        what="xmllint $file"
        xmllint --noout $file >out 2>err
        check "not well-formed" [ $? -eq 0 -a ! -s err ]
    done
    what=names.svg
    # text XPATH FILE: the texts of what is found, a line each
    text() {
        count=$(xmllint --xpath "count($1)" "$2")
        for i in $(seq 1 "$count"); do xmllint --xpath "string(($1)[$i])" "$2"; done
    }
    node='//*[local-name()="g" and starts-with(@class,"node")]'
    # The first line of a node's tooltip is its name.
    for i in 1 2 3 4 5 6; do
        xmllint --xpath "string(($node)[$i]/*[local-name()='title'])" names.svg | head -n 1
    done | LC_ALL=C sort >titles
    same "names in tooltips" names.expected titles
    # So are the bold texts of a node, put together.
    for i in 1 2 3 4 5 6; do
        text "(($node)[$i]/*[local-name()='text' and @font-weight='bold'])" names.svg | tr -d '\n'
        echo
    done | LC_ALL=C sort >bold
    # Blanks in a picture are hard ones, and end with their line.
    sed 's/\xc2\xa0//g; s/ //g' bold >bold.packed
    sed 's/ //g' names.expected >names.packed
    same "names in boxes" names.packed bold.packed
    what=graph.svg
    title=$(xmllint --xpath "string(($node)[1]/*[local-name()='title'])" graph.svg)
    check "a tooltip lacks file, line and value: $title" \
        eval 'echo "$title" | tr "\n" " " | grep -qE "\.c:[0-9]+.* /.*itself: .* with what it calls: [0-9.]+ [KM]B \([0-9.]+%\)"'
    check "no frame around a library" [ "$(xmllint --xpath 'count(//*[@class="cluster"])' cluster.svg)" -gt 1 ]
    check "the title is not the page's own" \
        eval 'xmllint --xpath "string(/*/*[local-name()=\"title\"])" graph.svg | grep -q "^jemalloc-5.3.0.heap: .* in use$"'
fi

# ---- PDF: one page, with letters in it ----
if command -v pdftotext >/dev/null; then
    what="pdftotext graph.pdf"
    pdftotext -layout graph.pdf text 2>err
    check "the legend is not in it" grep -q 'jemalloc-5.3.0.heap' text
    check "a name is not in it" grep -q 'row_new' text
    pdfinfo graph.pdf >info 2>err
    check "not one page" grep -qE '^Pages: *1$' info
    if ! grep -qa /ObjStm graph.pdf; then
        check "no title" grep -qE '^Title: *jprof call graph$' info
        check "a clock" eval '! grep -qE "^CreationDate: *[A-Z0-9]" info'
    fi

    # Acrobat shows no page of more than 14400 points.
    awk 'BEGIN {
        print "--- symbol\nbinary=/opt/app\n0x1000 root"
        for (i = 1; i <= 300; i++) printf "0x%x00 callee_of_the_root_number_%d\n", i + 32, i
        print "---\n--- heap\nheap_v2/1\n  t*: 300: 300000 [0: 0]"
        for (i = 1; i <= 300; i++) printf "@ 0x%x00 0x1001\n  t*: 1: 1000 [0: 0]\n", i + 32
    }' >wide.raw
    works "$jprof" --pdf --nodecount=5000 --maxdegree=5000 --nodefraction=0 --edgefraction=0 -o wide.pdf --maps=no.maps wide.raw
    pdfinfo wide.pdf >info 2>err
    check "the page is too wide" eval 'sed -n "s/^Page size: *//p" info | awk "{ exit !(\$1 > 14000 && \$1 <= 14400) }"'
    pdftotext wide.pdf text 2>err
    check "not all nodes are on it" [ "$(grep -c number_ text)" -ge 300 ]
fi

# ---- no fonts ----
echo '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig></fontconfig>' >empty.conf
for word in svg pdf png; do
    exits_with 1 env FONTCONFIG_FILE="$tmp/empty.conf" "$jprof" --$word -o never.$word $at "$dump"
    says "jprof: --$word cannot be drawn: no font is installed here to write with; install fonts-dejavu-core (Debian) or font-dejavu (Alpine)"
    check "a file for nothing" [ ! -e never.$word ]
done

# ---- --web: a file of its own, opened by a program that is told nothing else ----
mkdir bin tmpdir
cat >bin/xdg-open <<END
#!/bin/sh
echo "\$#" >"$tmp/opened"
echo "\$1" >>"$tmp/opened"
ls -ld "\${1%/*}" >>"$tmp/opened"
cat "\$1" >"$tmp/opened.svg"
END
chmod +x bin/xdg-open
works env PATH="$tmp/bin:$PATH" TMPDIR="$tmp/tmpdir" "$jprof" --web $at "$dump"
prints_nothing
path=$(sed -n 2p opened)
says "jprof: the picture is $path"
check "not the SVG" cmp -s opened.svg graph.svg
check "more than one argument" [ "$(sed -n 1p opened)" -eq 1 ]
check "others may look" eval 'sed -n 3p opened | grep -q "^drwx------"'
check "not in TMPDIR: $path" eval 'case $path in "$tmp"/tmpdir/jprof-*/heap.svg) ;; *) false ;; esac'
is_quiet env PATH="$tmp/bin:$PATH" "$jprof" --web -o mine.svg $at "$dump"
check "not the file that was asked for" [ "$(sed -n 2p opened)" = "$(realpath mine.svg)" ]
exits_with 1 env PATH=/nowhere TMPDIR="$tmp/tmpdir" "$jprof" --web $at "$dump"
says_like '^jprof: xdg-open cannot be run: .*; install xdg-utils, or open .*/heap\.svg yourself$'

# ---- beside jeprof ----
command -v gvpr >/dev/null || { echo "no gvpr here (Debian: graphviz): not compared with jeprof"; finish; }
find_jeprof
find_jemalloc
all=prof_active:false,prof_accum:true,lg_prof_sample:0
build subject parity.c -g -O2 -fPIE -pie -gdwarf-3 -gstrict-dwarf -fno-optimize-sibling-calls -pthread
profiled $all ./subject early.heap late.heap

cat >list.gvpr <<'END'
BEG_G { if (!isAttr($G, "E", "penwidth")) setDflt($G, "E", "penwidth", "0");
        if (!isAttr($G, "E", "style")) setDflt($G, "E", "style", "") }
N { print("NODE\t", $.name, "\t", $.fontsize, "\t", gsub($.label, "\n", "")) }
E { print("EDGE\t", $.tail.name, "\t", $.head.name, "\t", $.label, "\t", $.weight, "\t", $.style, "\t", $.penwidth) }
END
# Both as lines "node NAME FLAT CUM FONT" and "edge FROM TO VALUE WEIGHT WIDTH". Names without what marks them
# as inlined, which both do in their own way; widths of at least 1, as jeprof's pictures have them.
cat >list.awk <<'END'
function number(s) { sub(/ B.*/, "", s); sub(/ \(.*/, "", s); gsub(/[^0-9-]/, "", s); return s + 0 }
BEGIN { FS = "\t" }
$1 == "NODE" && $2 ~ /^N/ {
    label = $4
    if (ours) {
        match(label, /<b>.*<\/b>/)
        name = substr(label, RSTART + 3, RLENGTH - 7); gsub(/<br\/>/, "", name)
        inlined = label ~ />inlined/
        sub(/.*<\/font><br\/>/, "", label)
        n = split(label, part, "of ")
        flat = number(part[1]); cum = n > 1 ? number(part[2]) : flat
    } else {
        n = split(label, part, /\\n|\\r/)
        name = part[1]; at = 2
        while (part[at] !~ /%\)$/) name = name (part[at] == "(inline)" ? " (inline)" : "::" part[at]) (at++ ? "" : "")
        inlined = sub(/ \(inline\)/, "", name)
        flat = number(part[at]); cum = part[at + 1] ~ /^of/ ? number(substr(part[at + 1], 4)) : flat
    }
    if (inlined) name = name "*"
    names[$2] = name
    if (name ~ /^(p_|main)/) printf "node %s %d %d %.1f\n", name, flat, cum, $3
}
$1 == "EDGE" { edges[++count] = $0 }
END {
    for (i = 1; i <= count; i++) {
        split(edges[i], e, "\t")
        from = names[e[2]]; to = names[e[3]]
        width = ours ? e[7] : e[6]
        gsub(/[^0-9.]/, "", width)
        if (ours && e[6] == "dashed" || from !~ /^(p_|main)/ || to !~ /^(p_|main)/) continue
        printf "edge %s %s %d %d %.2f\n", from, to, number(e[4]), e[5], width < 1 ? 1 : width
    }
}
END
# both LEAST ARGUMENTS...
both() {
    least=$1
    shift
    perl_jeprof --dot --show_bytes "$@"
    gvpr -f list.gvpr theirs.whole | awk -f list.awk | sort >theirs
    works "$jprof" --dot --show_bytes --fold=none "$@"
    gvpr -f list.gvpr out | awk -v ours=1 -f list.awk | sort >ours
    check "jeprof has few nodes and edges" [ "$(wc -l <theirs)" -ge "$least" ]
}
# Recursion counts for each time that a stack passes in jeprof: these edges come first there, and what calls the
# recursive function from outside may be left out, so that it floats.
without_recursion() {
    sed -E '/^edge [^ ]+ (p_recursive|p_even|p_odd) /d' "$1" >"$1.compared"
}
for words in '' --inuse_objects --alloc_space --alloc_objects '--nodefraction=0.1' '--edgefraction=0.2' '--maxdegree=2' \
    '--focus=p_inlines' '--ignore=p_thread' '--nodecount=200 --nodefraction=0 --edgefraction=0'; do
    both 6 $words subject late.heap
    without_recursion theirs
    without_recursion ours
    same "not jeprof's nodes and edges (<) with: $words" theirs.compared ours.compared
done
both 10 subject late.heap
recursion=$(awk '$1 == "edge" && $2 == "p_recursive" && $3 == "p_recursive" { print $4 }' ours)
cum=$(awk '$1 == "node" && $2 == "p_recursive" { print $4 }' ours)
check "recursion counts more than the whole: $recursion of $cum" [ "$recursion" -gt 0 -a "$recursion" -le "$cum" ]
run "$jprof" --dot --show_bytes --fold=none --maxdegree=2 subject late.heap
gvpr -f list.gvpr out | awk -v ours=1 -f list.awk >ours
check "a recursive function floats" grep -q '^edge p_work p_recursive 239616 ' ours
finish
