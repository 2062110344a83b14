#!/bin/sh
# What comes out: the report alone on standard output, the same every time, on real dumps of jemalloc and
# of Ruby. samples/*/totals.txt has what Perl jeprof says of each.
. "$(dirname "$0")/lib.sh"
if ! [ -f "$heaps/totals.txt" ] || ! [ -f "$cases/totals.txt" ]; then skip "no samples here"; fi
# Copies, newer than the object files: a time stamp of a checkout means nothing.
cp "$heaps/jemalloc-5.3.0.heap" dump.heap
cp "$cases/ruby31/cext.1.heap" "$cases/ruby31/cext.0.heap" "$cases/ruby31/nokogiri.1.heap" .
sys=--sysroot=$heaps/sysroot
ruby=--sysroot=$cases/sysroot

# only_rows: nothing but a Total line and rows of six columns
only_rows() {
    awk '
        NR == 1 && /^Total: -?[0-9.]+ (B|MB|objects)$/ { next }
        !/^ *-?[0-9.]+ +(-?[0-9.]+%|nan) +(-?[0-9.]+%|nan) +-?[0-9.]+ +(-?[0-9.]+%|nan) [^ ]/ { bad = 1 }
        END { exit bad || NR < 2 }' out
}

# ---- all totals, as jeprof's ----
totals() {
    while read -r file counter total; do
        run "$plain" --show_bytes --$counter $nowhere "$1/$file"
        if [ "$total" = 0 ]; then
            exits 1
            prints_nothing
            says_like 'prof_accum:true'
        else
            exits 0
            prints "^Total: $total (B|objects)\$"
            check "more than the report on standard output" only_rows
        fi
    done <"$1/totals.txt"
}
totals "$heaps"
totals "$cases"
check "few totals" [ "$checks" -gt 200 ]

# ---- one line where names are missing, and only there ----
is_quiet "$jprof" $sys dump.heap
works "$jprof" $nowhere dump.heap
says "jprof: 100 % of the bytes shown have no function's name; what would bring them: jprof info dump.heap"
is_quiet "$jprof" $ruby cext.1.heap
works "$jprof" $ruby nokogiri.1.heap
says_like "^jprof: [0-9]+ % of the bytes shown have no function's name; what would bring them: jprof info nokogiri\.1\.heap\$"
# Object files that are newer than the dump: one line, not one for each.
cp cext.1.heap old.heap
touch -t 200001010000 old.heap
works "$jprof" $ruby old.heap
check "a line for each object file that is newer" [ "$(wc -l <err)" -le 2 ]
check "not said that they are newer" grep -q 'changed after the dump' err

cp -R "$cases/sysroot" newer
find newer -type f -exec touch -t 199901010000 {} +
count=0
for file in libruby-3.1.so.3.1.2 libc.so.6 libstdc++.so.6.0.30; do
    touch "newer/usr/lib/x86_64-linux-gnu/$file"
    count=$((count + 1))
    works "$jprof" --sysroot=newer old.heap
    case $count in
    1) check "one file is newer" grep -qx 'jprof: /[^ ]*libruby-3.1.so.3.1.2 changed after the dump was made: its names may be wrong' err ;;
    2) check "two files are newer" grep -qx 'jprof: /[^ ]* and 1 more file changed after the dump was made: their names may be wrong' err ;;
    3) check "three files are newer" grep -qx 'jprof: /[^ ]* and 2 more files changed after the dump was made: their names may be wrong' err ;;
    esac
done

# ---- --top ----
run "$jprof" --show_bytes $sys dump.heap
cp out all
for n in 1 3 1000; do
    run "$jprof" --show_bytes --top=$n $sys dump.heap
    head -n $((n + 1)) all >first
    same "not the first $n rows" first out
done

# ---- --fold on a Ruby ----
for fold in none alloc vm; do
    for view in --functions --cum --lines --files --addresses; do
        works "$jprof" --show_bytes --fold=$fold $view $ruby cext.1.heap
        prints '^Total: 24288907 B$'
        check "more than the report on standard output" only_rows
        if [ $view = --cum ]; then cp out cum.$fold; fi
    done
    run "$jprof" --show_bytes --fold=$fold $ruby nokogiri.1.heap
    awk 'NR > 1 && $1 != 0 { print $6 }' out >innermost.$fold
done
what="--fold of a Ruby dump"
wrappers='^(ruby_x[mcr]|rb_xmalloc|rb_xrealloc|rb_mem_|objspace_x|rb_alloc_tmp_buffer)'
plumbing='^(rb_vm_exec|rb_vm_call|rb_vm_invoke|rb_yield|rb_ensure|rb_protect|rb_funcall|ruby_run_node|__libc_start_main|_start$)'
names() {
    sed 's/^ *[^ ]* *[^ ]* *[^ ]* *[^ ]* *[^ ]* //' "$1"
}
check "none takes wrappers away" grep -qE "$wrappers|!0xd8" innermost.none
check "alloc leaves wrappers" eval '! grep -qE "$wrappers" innermost.alloc'
check "vm leaves wrappers" eval '! grep -qE "$wrappers" innermost.vm'
for fold in none alloc vm; do names cum.$fold >names.$fold; done
check "none takes plumbing away" grep -qE "$plumbing" names.none
check "alloc takes plumbing away" grep -qE "$plumbing" names.alloc
check "vm leaves plumbing" eval '! grep -qE "$plumbing" names.vm'
for fold in none alloc vm; do
    check "$fold: the leak's chain is not there" [ "$(grep -cE '^(row_new|tokenize(\.isra\.0)?|parse_row)$' names.$fold)" -eq 3 ]
    check "$fold: the allocator is there" eval '! grep -qE "^(malloc|calloc|realloc|.*prof_backtrace.*|libjemalloc\..*)$" names.$fold'
done
works "$jprof" --show_bytes --base=cext.0.heap $ruby cext.1.heap
prints '^20[0-9]{6} .* row_new$'
check "what has grown is not on top" eval 'sed -n 2p out | grep -q " row_new$"'
run "$jprof" --show_bytes --lines --base=cext.0.heap $ruby cext.1.heap
prints '^20[0-9]{6} .* row_new .*/leaky\.c:5$'
prints ' tokenize.* .*/leaky\.c:6$'
prints ' parse_row .*/leaky\.c:9$'

# ---- info ----
is_quiet "$jprof" info --all $sys dump.heap
if [ -n "${JPROF_REWRITE:-}" ]; then cp out "$here/info.expected"; fi
same "not as info.expected" "$here/info.expected" out
is_quiet "$jprof" info --all $ruby cext.1.heap
prints '^format +heap_v2, a sample every 4096 bytes \(lg_prof_sample:12\)$'
prints '^allocated +not recorded \(prof_accum:false\)$'
prints '^in use +23\.2 MB in '
prints '^maps +182 mappings'
prints '^ +19\.3 +83\.2% .* /srv/app/ext/leaky/leaky\.so$'
prints '^83\.3 % of the bytes have a function'
prints 'libruby-3\.1\.so\.3\.1\.2$'
prints 'stripped, of no package here; .* build-id 803542d97ea70c8f19d5fb7f9fd3b828e3e9ada4$'
prints_no ' 0\.0+ +0\.0% .*leaky'
works "$jprof" info --all $sys dump.heap cext.1.heap
check "info of two dumps" [ "$(grep -c '^dump ' out)" -eq 2 ]
exits_with 1 "$jprof" info --all $sys dump.heap missing.heap
prints '^dump +dump\.heap$'
says 'jprof: missing.heap: cannot be opened: No such file or directory'

# ---- deterministic ----
for words in "$ruby nokogiri.1.heap" "$ruby --addresses cext.1.heap" "$ruby --cum --lines --fold=vm cext.1.heap" \
    "info $ruby nokogiri.1.heap" "$nowhere --addresses dump.heap"; do
    run "$plain" $words
    cp out first.out
    cp err first.err
    for env in A=B LC_ALL=de_DE.UTF-8 LC_ALL=tr_TR.UTF-8 LC_NUMERIC=de_DE.UTF-8 LANG=C.UTF-8 TZ=Asia/Tokyo COLUMNS=20 TERM=dumb; do
        run env -u LC_ALL "$env" "$plain" $words
        same "another report with $env" first.out out
        same "other remarks with $env" first.err err
    done
done

# ---- standard output that does not take it ----
for words in "$sys dump.heap" "info $sys dump.heap" --help --version "$ruby --addresses nokogiri.1.heap"; do
    [ -c /dev/full ] || break
    what="$words >/dev/full"
    status=0
    "$plain" $words >/dev/full 2>err.all || status=$?
    grep -v "function's name" err.all >err
    exits 1
    says 'jprof: standard output cannot be written: No space left on device'
    what="$words >&-"
    status=0
    "$plain" $words >&- 2>err.all || status=$?
    grep -v "function's name" err.all >err
    exits 1
    says 'jprof: standard output cannot be written: Bad file descriptor'
done

# A write that fails before others that do not: no reason is said that is that of another call.
if command -v strace >/dev/null && strace -o trace true 2>/dev/null; then
    what="-i, one write fails"
    status=0
    echo top | strace -o trace -P "$PWD/out" -e trace=write,writev -e inject=write,writev:error=ENOSPC:when=1 "$plain" -i $sys dump.heap >out 2>err || status=$?
    exits 1
    check "no line says it" grep -qx 'jprof: standard output lacks something: a write failed' err
fi

cat >unread.py <<'END'
import os, signal, sys
reader, writer = os.pipe()
os.close(reader)
os.dup2(writer, 1)
signal.signal(signal.SIGPIPE, signal.SIG_DFL if sys.argv[1] == "default" else signal.SIG_IGN)
os.execv(sys.argv[2], sys.argv[2:])
END

# A reader that goes away: no message, and no status that means an error of jprof's.
for words in "$ruby --addresses nokogiri.1.heap" "info $ruby nokogiri.1.heap" --help; do
    what="$words | head"
    "$plain" $words 2>err.all | head -n 1 >out
    grep -v "function's name" err.all >err
    says
    check "nothing came out" [ -s out ]
    # The reader is gone before the first byte.
    status=0
    python3 unread.py default "$plain" $words 2>err.all || status=$?
    grep -v "function's name" err.all >err
    says
    check "exit status $status" [ "$status" -eq 0 -o "$status" -eq 141 ]
    # With SIGPIPE ignored, as under many supervisors.
    status=0
    python3 unread.py ignored "$plain" $words 2>err.all || status=$?
    grep -v "function's name" err.all >err
    says
    check "SIGPIPE ignored: exit status $status" [ "$status" -eq 0 ]
done
# ---- what has no name: its only caller stands after it on a terminal, and in JSON ----
run "$jprof" $ruby "$cases/ruby31/string.1.heap"
prints '^ .* libruby-3\.1!0x24cca0$'
what='on a terminal'
TERM=dumb python3 "$here/on_tty.py" 60x160 "$jprof" $ruby "$cases/ruby31/string.1.heap" >"$tmp/screen" 2>&1
check "no caller: $(grep 0x24cca0 "$tmp/screen")" grep -q ' libruby-3\.1!0x24cca0  called by ruby_setup' "$tmp/screen"
run "$jprof" --json $ruby "$cases/ruby31/string.1.heap"
prints '"name":"libruby-3\.1!0x24cca0".*"called_by":"ruby_setup"'
# ---- longer reports fit the terminal: a name is cut in its middle or stands below, and words stay whole ----
for words in '--traces --top=9' '--peek=rb_' --tree '--list=rb_' "--list=main --source-path=$root/samples"; do
    works "$jprof" $ruby $words "$cases/ruby31/string.1.heap"
    # Of what is printed whole, the words; --list says a reason once.
    tr -s ' \n' '\n\n' <out | sort -u >whole
    check "told twice" [ "$(grep -c 'takes debug information' out)" -le 1 ]
    for columns in 40 58 80; do
        TERM=dumb python3 "$here/on_tty.py" 60x$columns "$jprof" $ruby $words "$cases/ruby31/string.1.heap" 2>&1 |
            tr -d '\r' >"$tmp/screen"
        check "$words: wider than $columns: $(awk -v most=$columns 'length($0) > most' "$tmp/screen" | head -n 2)" \
            [ "$(awk -v most=$columns 'length($0) > most' "$tmp/screen" | grep -c ' ')" -eq 0 ]
        check "$words: the head is cut at $columns" eval '! grep "^ *flat" "$tmp/screen" | grep -q "\.\.\."'
        sed -n '/^Total/,/^jprof:/p' "$tmp/screen" | grep -v '^jprof:\|^ *jprof \|\.\.\.\|^[-+=]*$' | tr -s ' \n' '\n\n' | sort -u >seen
        check "$words: words that are none at $columns: $(comm -13 whole seen | head -n 8 | paste -sd' ')" \
            [ "$(comm -13 whole seen | wc -l)" -le 0 ]
    done
done
# A place that has no room behind its numbers stands below, and no number is cut.
sed 's|owners\.rb|lib/pricing/rules/owners.rb|' "$root/samples/tables/ruby31.1.heap.ruby" >long.heap.ruby
cp "$root/samples/tables/ruby31.1.heap" long.heap
TERM=dumb python3 "$here/on_tty.py" 60x50 "$jprof" $ruby --peek=keep long.heap 2>&1 | tr -d '\r' >out
what="a long place in 50 columns"
prints '^4\.3 52\.1% 52\.1% 4\.3 52\.1% [|]$'
prints '^    lib/pricing/rules/owners\.rb:6 Leak#keep$'
# ---- the agent's numbers are explained by the table beside the dump, or taken off ----
cp "$root/samples/tables/ruby31.1.heap" alone.heap
run "$jprof" info --all $ruby "$root/samples/tables/ruby31.1.heap"
prints '^agent +18 addresses stand for Ruby stacks and epochs$'
run "$jprof" info --all $ruby alone.heap
prints '^agent +18 addresses stand for Ruby stacks and epochs, and were taken off$'
finish
