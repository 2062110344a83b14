#!/bin/sh
# -o replaces a file whole or not at all, writes to what is no file, and never onto an input.
. "$(dirname "$0")/lib.sh"
[ -f "$heaps/jemalloc-5.3.0.heap" ] || skip "no samples here"
umask 022
sys=--sysroot=$heaps/sysroot
cp "$heaps/jemalloc-5.3.0.heap" x.heap
cp "$heaps/jemalloc-5.3.1.heap" before.heap
cp "$heaps/sysroot/tmp/jprof-samples/threads" program 2>/dev/null || cp "$(command -v cat)" program
mkdir bin
printf '#!/bin/sh\ncp "$1" "%s/shown" 2>/dev/null\n' "$tmp" >bin/xdg-open
chmod +x bin/xdg-open
PATH=$tmp/bin:$PATH
export PATH

# Every format that --help lists, as a line of words.
"$jprof" --help | sed -n '/^  --output/q; s/^  --\([a-z-]*\).*/\1/p' >listed
check "few formats" [ "$(wc -l <listed)" -gt 20 ]
: >formats
while read -r format; do
    case $format in
    disasm)
        # A build without capstone says so, whatever the pattern finds.
        run "$jprof" --$format=. -o try $sys x.heap
        grep -q 'which was made without capstone' err || echo "--$format=."
        ;;
    peek | list) echo "--$format=." ;;
    interactive | symbols) ;; # below; no file
    svg | pdf | png | gif | ps | web)
        run "$jprof" --$format -o try $sys x.heap
        [ "$status" -ne 0 ] || echo "--$format"
        ;;
    *) echo "--$format" ;;
    esac
done <listed >formats
rm -f try

# names DIRECTORY: all that is in it, hidden ones too
names() { ls -A "$1" | tr '\n' ' '; }

# old_stays FILE TEXT: the file and its directory are as before
old_stays() {
    check "the old file is gone or changed" [ "$(cat "$1")" = "$2" ]
    check "litter: $(names "$(dirname "$1")")" [ "$(names "$(dirname "$1")")" = "${1##*/} " ]
}

# ---- a name whose ending is that of another format gets no file; a format's own is right ----
while read -r words; do
    format=${words%%=*}
    format=${format#--}
    format=${format%% *}
    for ending in jprof jnames heap pb pb.gz svg html pdf png gif ps dot csv json; do
        case " $format.$ending " in
        " raw.heap " | " proto.pb " | " proto.pb.gz " | " web.svg " | " flame.svg " | " speedscope.json " | " dhat.json ") right=yes ;;
        " $ending.$ending ") right=yes ;;
        *) right=no ;;
        esac
        one_of 7 || continue
        run "$jprof" $words -o "named.$ending" $sys x.heap
        case $right in
        yes) exits 0 ;;
        no) exits 1 && says_like "^jprof: named\\.$ending: such a name is for " ;;
        esac
        [ $right = no ] || { check "no file" [ -s "named.$ending" ] && rm -f "named.$ending"; }
        check "a file all the same" [ ! -e "named.$ending" ]
    done
    for ending in txt md gz heap.bak; do
        one_of 5 || continue
        works "$jprof" $words -o "named.$ending" $sys x.heap
        rm -f "named.$ending"
    done
done <formats

# ---- every format: a new file (by the program with sanitizers, too), an old one, no room ----
mkdir new old
while read -r words; do
    [ "$words" = --web ] || one_of 3 || continue
    works "$hostile" $words -o new/r $sys x.heap
    prints_nothing
    check "mode $(stat -c %a new/r) of a new file" [ "$(stat -c %a new/r)" = 644 ]
    check "litter: $(names new)" [ "$(names new)" = "r " ]
    echo before >old/r
    chmod 640 old/r
    works "$jprof" $words -o old/r $sys x.heap
    check "mode $(stat -c %a old/r), not the old one's" [ "$(stat -c %a old/r)" = 640 ]
    case $words in *pdf | *ps) ;; *) same "an old file gets another report" new/r old/r ;; esac
    check "nothing is in it" [ -s old/r ]
    size=$(stat -c %s new/r)
    rm -f new/r
    echo before >old/r
    if [ "$size" -gt 1024 ]; then
        # Without a word about SIGXFSZ, which would end the program.
        exits_with 1 sh -c 'ulimit -f 1; exec "$@"' sh "$jprof" $words -o old/r $sys x.heap
        # cairo may add that its own file was cut; then Graphviz draws without it.
        check "no reason" grep -q '^jprof: old/r: cannot be written: File too large$' err
        old_stays old/r before
    fi
    printf '%s\n' "$words" >>few_formats
done <formats
if grep -q -e '^--web' formats; then check "web shows the file" [ -s shown ]; fi
# A session.
echo before >old/r
printf 'text > old/r\n' | "$jprof" --interactive $sys x.heap >out 2>err
check "not the session's report" grep -q '^Total' old/r
check "litter: $(names old)" [ "$(names old)" = "r " ]

# ---- a failing report ----
echo before >old/r
exits_with 1 "$jprof" --peek=no_such_function -o old/r $sys x.heap
old_stays old/r before
exits_with 1 "$jprof" -o nowhere/r $sys x.heap
says 'jprof: nowhere/r: cannot be written: No such file or directory'
exits_with 1 "$jprof" -o old $sys x.heap
says 'jprof: old: cannot be written: Is a directory'
long=$(printf '%0250d' 7)
works "$jprof" -o "old/$long" $sys x.heap
check "a long name" [ -s "old/$long" ]
rm "old/$long"

# ---- nor onto a program, which may be one of those that the dump names ----
cp "$(command -v cat)" program
cp program as-it-was
exits_with 1 "$jprof" --text -o program $sys x.heap
says 'jprof: program: is a program or a library, and is not overwritten by a report; give another name with -o'
check "the program was changed" cmp program as-it-was

# ---- never onto an input ----
cp x.heap y.heap
cp x.heap z.heap
"$jprof" bundle $sys -o b.jprof x.heap 2>err
"$jprof" --proto $sys -o p.pb.gz x.heap 2>err
sed '1,/^MAPPED_LIBRARIES:/d' x.heap >maps
ln -s x.heap link.heap
ln x.heap hard.heap
# What is read beside a dump: what its agent wrote, and rules. z.heap has none of both.
gzip -kc x.heap >w.heap.gz
for dump in x.heap y.heap w.heap.gz; do
    printf '{"jprof_agent":1,"dump":"%s"}\n' $dump >$dump.json
    echo 'a table' >"${dump%.gz}.ruby"
done
echo '# rules' >rules
echo '{}' >baseline
beside="x.heap.json x.heap.ruby y.heap.json y.heap.ruby w.heap.gz.json w.heap.ruby rules baseline"
for f in x.heap y.heap program b.jprof p.pb.gz maps $beside; do cp $f $f.kept; done
# onto FILE WORDS...: refused, and the file is as it was
onto() {
    onto=$1
    shift
    is_refused "$jprof" "$@"
    says_like ': is read for this report, and is not overwritten by it; give another name with -o$'
    same "$onto is not what it was" "$onto.kept" "$onto"
}
few onto x.heap --text -o x.heap program x.heap
few onto x.heap --text -o "$tmp/x.heap" x.heap
few onto x.heap --proto -o link.heap x.heap
few onto x.heap --raw -o hard.heap x.heap y.heap
few onto x.heap --svg -o x.heap link.heap
few onto y.heap -o y.heap --base=y.heap x.heap
few onto y.heap -o y.heap --diff_base=y.heap x.heap
few onto program -o program program x.heap
few onto b.jprof --json -o b.jprof b.jprof
few onto p.pb.gz --proto -o p.pb.gz p.pb.gz
few onto maps -o maps --maps=maps x.heap
few onto program -o program --add_lib=z.heap,program x.heap
few onto x.heap.json --json -o x.heap.json x.heap
few onto x.heap.ruby --raw -o x.heap.ruby x.heap
few onto w.heap.gz.json -o w.heap.gz.json w.heap.gz
few onto w.heap.ruby -o w.heap.ruby w.heap.gz
few onto x.heap.json -o x.heap.json --base=x.heap z.heap
few onto y.heap.ruby -o y.heap.ruby --diff_base=y.heap z.heap
few onto y.heap.json diff --json -o y.heap.json x.heap y.heap
few onto x.heap.ruby diff -o x.heap.ruby x.heap y.heap
few onto x.heap.ruby explain -o x.heap.ruby x.heap
few onto rules explain --rules=rules -o rules x.heap
few onto rules diff --rules=rules -o rules x.heap y.heap
few onto baseline check --baseline=baseline -o baseline x.heap y.heap
rm -f $beside
# The baseline that no option names, and one that was just made.
echo '{"jprof_baseline": 1, "accepted": []}' >jprof-baseline.json
cp jprof-baseline.json jprof-baseline.json.kept
few onto jprof-baseline.json check --json -o jprof-baseline.json x.heap y.heap
few onto jprof-baseline.json check --json -o "$tmp/jprof-baseline.json" --update-baseline x.heap y.heap
if [ -d "$cases" ]; then
    exits_with 1 "$jprof" check --json --update-baseline --baseline=made.json -o ./made.json --sysroot="$cases/sysroot" \
        "$cases/ruby31/cext.0.heap" "$cases/ruby31/cext.1.heap"
    check "a report went onto the baseline that was just made" grep -q '"method": "row_new"' made.json
fi
rm -f jprof-baseline.json made.json
run "$jprof" --json -o z.heap.json $sys z.heap
works "$jprof" --json -o z.heap.json $sys z.heap
check "a report beside its dump is not replaced" grep -q '^{' z.heap.json
exits_with 1 sh -c '"$1" -o x.heap - <x.heap' sh "$jprof"
same "the dump on standard input is not what it was" x.heap.kept x.heap
exits_with 1 sh -c '"$1" --raw x.heap >>x.heap' sh "$jprof"
same "a dump that the report was to be appended to is not what it was" x.heap.kept x.heap
printf 'text > x.heap\n' | "$jprof" --interactive $sys x.heap >out 2>err
what="a session's report onto its dump"
same "the session's dump is not what it was" x.heap.kept x.heap

# ---- links ----
echo before >real
ln -s real mine
works "$jprof" -o mine $sys x.heap
check "the link was replaced" [ -L mine ]
check "the report is not where the link leads" grep -q '^Total' real
mkdir sub
ln -s sub/to first
ln -s ../end sub/to
works "$jprof" -o first $sys x.heap
check "a link to a link, to nothing" grep -q '^Total' end
ln -s loop loop
exits_with 1 "$jprof" -o loop $sys x.heap

# ---- what is no regular file ----
mkfifo fifo
timeout 20 cat fifo >through &
reader=$!
works "$jprof" -o fifo $sys x.heap
wait $reader
check "the FIFO was replaced" [ -p fifo ]
same "another report through a FIFO" real through
for out in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
    "$jprof" -o $out $sys x.heap 2>err | cat >through
    same "another report through a pipe as $out" real through
    echo first >appended
    "$jprof" -o $out $sys x.heap >>appended 2>err
    { echo first && cat real; } >expected
    same "$out begins the file anew" expected appended
done
exits_with 1 "$jprof" -o /dev/full $sys x.heap
says 'jprof: /dev/full: cannot be written: No space left on device'
check "/dev/full was replaced" [ -c /dev/full ]
if command -v python3 >/dev/null; then
    python3 -c '
import socket, subprocess, sys
a, b = socket.socketpair()
p = subprocess.Popen(sys.argv[1:], stdout=b, stderr=open("err", "w"))
b.close()
open("through", "wb").write(b"".join(iter(lambda: a.recv(65536), b"")))
sys.exit(p.wait())' "$jprof" -o /dev/stdout $sys x.heap
    same "another report through a socket" real through
fi

# ---- TERM ----
# term_at WORDS...: while a report waits for its input or in a system call
echo before >old/r
rm fifo
mkfifo fifo
"$jprof" -o old/r $sys fifo 2>err &
pid=$!
exec 9>fifo
head -c 2000 x.heap >&9
kill $pid
wait $pid
status=$?
exec 9>&-
check "TERM did not end it: $status" [ $status -eq 143 ]
old_stays old/r before
if [ "$sanitized" = false ] && command -v strace >/dev/null; then
    "$jprof" -o new/r $sys x.heap
    for call in fdatasync rename linkat write; do
        echo before >old/r
        strace -f -o trace -e trace=$call -e inject=$call:delay_enter=700000:when=1 "$jprof" -o old/r $sys x.heap &
        pid=$!
        n=0
        until grep -q "$call(" trace 2>/dev/null || [ $n -gt 100 ]; do sleep 0.02 && n=$((n + 1)); done
        kill "$(cat /proc/$pid/task/$pid/children)" 2>/dev/null
        wait $pid
        what="TERM in $call"
        checks=$((checks + 1))
        [ "$(cat old/r)" = before ] || cmp -s old/r new/r || fail "neither the old file nor the new one"
        check "litter: $(names old)" [ "$(names old)" = "r " ]
        rm -f trace
    done
fi

# ---- what takes root: mounts, other users ----
if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then
    echo "not root, or no mounts here: full disks, bind mounts and other users are not tried"
    finish
fi
cat >mounted.sh <<'EOF'
# In a mount namespace of its own.
set -u
mkdir full single
mount -t tmpfs -o size=4k none full
echo before >full/r
while read -r words; do
    "$jprof" $words -o full/r "$sys" x.heap >/dev/null 2>said </dev/null
    [ $? -eq 1 ] || echo "FAIL: $words on a full disk: no exit status of 1"
    grep -q '^jprof: full/r: cannot be written: No space left on device$' said || echo "FAIL: $words says: $(cat said)"
    [ "$(cat full/r)" = before ] && [ "$(ls -A full)" = r ] || echo "FAIL: $words on a full disk: $(ls -A full)"
done <few_formats
# root's -o /dev/null
mount -t tmpfs none single
mknod single/null c 1 3
"$jprof" -o single/null "$sys" x.heap || echo "FAIL: -o null"
[ -c single/null ] && [ "$(ls -A single)" = null ] || echo "FAIL: null was replaced"
"$jprof" -o /dev/null "$sys" x.heap || echo "FAIL: -o /dev/null"
[ -c /dev/null ] || echo "FAIL: /dev/null was replaced"
# A file that is mounted by itself.
echo before >bound
echo below >single/r
mount --bind bound single/r
"$jprof" -o single/r "$sys" x.heap || echo "FAIL: -o to a file that is mounted"
cmp -s single/r real && cmp -s bound real || echo "FAIL: not the report in a file that is mounted"
mount -o remount,ro,bind single/r
"$jprof" -o single/r "$sys" x.heap 2>/dev/null && echo "FAIL: a file that is mounted to be read only"
cmp -s bound real || echo "FAIL: a file that is mounted to be read only was changed"
echo tried
EOF
export jprof sys
works timeout 300 unshare -m sh mounted.sh
prints '^tried$'
prints_no 'FAIL'

# Somebody else, in a directory that is not his.
somebody="setpriv --reuid=65534 --regid=65534 --clear-groups"
command -v setpriv >/dev/null || { echo "no setpriv here" && finish; }
chmod 755 "$tmp" .
$somebody "$jprof" --version >/dev/null 2>&1 || { echo "nobody cannot run it here" && finish; }
mkdir ro
echo before >ro/r
echo before >ro/shut
chown 65534 ro/r
works $somebody "$jprof" $sys -o ro/r x.heap
check "not the report in a directory that cannot be written" grep -q '^Total' ro/r
exits_with 1 $somebody "$jprof" $sys -o ro/shut x.heap
check "no reason" grep -q '^jprof: ro/shut: cannot be written: Permission denied$' err
check "another's file was changed" [ "$(cat ro/shut)" = before ]
exits_with 1 $somebody "$jprof" $sys -o ro/new x.heap
check "litter: $(names ro)" [ "$(names ro)" = "r shut " ]
# A file that may only be read in a directory that may be written.
mkdir all
chmod 777 all
echo before >all/shut
exits_with 1 $somebody "$jprof" $sys -o all/shut x.heap
check "another's file was replaced" [ "$(cat all/shut)" = before ]
# Links: root's own and another's.
echo before >precious
ln -s ../precious all/trap
chown -h 65534 all/trap
exits_with 1 "$jprof" -o all/trap $sys x.heap
says "jprof: all/trap: cannot be written: is a link of somebody else's; give the file that is meant"
check "a link of another's was followed" [ "$(cat precious)" = before ]
ln -s r ro/link
works $somebody "$jprof" $sys -o ro/link x.heap
# The owner stays.
echo before >all/theirs
chown 65534:65534 all/theirs
chmod 604 all/theirs
works "$jprof" -o all/theirs $sys x.heap
check "owner and mode are $(stat -c '%u %g %a' all/theirs)" [ "$(stat -c '%u %g %a' all/theirs)" = '65534 65534 604' ]
finish
