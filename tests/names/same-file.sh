#!/bin/sh
# Is the file on disk the one that ran? What jprof info says of it, and whether it gives names.
# usage: same-file.sh JPROF SUBJECT SHIFTED PADDED SPLIT
# SHIFTED is another build of SUBJECT with its pages at the same places, but nearly all calls at
# others; PADDED one with more pages, but nearly all calls at the same places;
# SPLIT one whose debug information lies in files of its own.
set -eu
jprof=$1 subject=$2 shifted=$3 padded=$4 split=$5

top=$(realpath "$(mktemp -d)")
trap 'rm -rf "$top"' EXIT
status=0

fail() {
    echo "$case: $*"
    status=1
}

# A new directory with a copy of a program that ran and left its dump.
# start CASE PROGRAM [unlink]
start() {
    case=$1
    dir=$top/$(echo "$case" | tr ' ' -)
    mkdir "$dir"
    cp "$2" "$dir/prog"
    "$dir/prog" "$dir/s" ${3:-}
    touch -d '+1 hour' "$dir/s.heap"
}

# expect "same build"|"same inode"|unverified|another|"no file" named|nameless [OPTION or PROGRAM]...
expect() {
    proof=$1 names=$2
    shift 2
    timeout 300 "$jprof" --lines --fold=none "$@" "$dir/s.heap" >"$dir/report" 2>"$dir/err" ||
        fail "jprof $* ended with status $?: $(cat "$dir/err")"
    timeout 300 "$jprof" info --all "$@" "$dir/s.heap" >"$dir/info" 2>"$dir/err" || fail "jprof info ended with status $?"
    said=$(sed -n "s|.*  \([a-z][a-z ]*[a-z]\)  *$dir/prog\( (deleted)\)\{0,1\}\$|\1|p" "$dir/info")
    [ "$said" = "$proof" ] || fail "the file is \"$said\", expected \"$proof\""
    named=$(grep -c ' plain .*/frames\.c:[0-9]*$' "$dir/report") || true
    rows=$(grep -c ' prog\( (deleted)\)\{0,1\}+0x[0-9a-f]*$' "$dir/report") || true
    case $names,$named,$rows in
    named,1,0 | nameless,0,11) ;;
    *) fail "expected $names, got $named rows of plain() and $rows without a name" && cat "$dir/report" ;;
    esac
}

# Where the pages of a program lie.
pages() {
    readelf -lW "$1" | sed -n 's/^ *LOAD *\(0x[0-9a-f]*\) \(0x[0-9a-f]*\) 0x[0-9a-f]* \(0x[0-9a-f]*\) .*/\1 \2 \3/p' |
        while read -r offset vaddr size; do
            echo "$((vaddr / 4096)) $((offset / 4096)) $(((offset + size + 4095) / 4096))"
        done
}

start 'untouched' "$subject"
expect 'same inode' named
expect 'same inode' named "$dir/prog"

# What is done to a file after the dump shows by its ctime, whatever its mtime says. plane() is plain() in a copy: the same
# layout, the same calls.
start 'overwritten by the same code with other names' "$subject"
sed 's/\<plain\>/plane/g' "$subject" >"$dir/other"
cmp -s "$subject" "$dir/other" && fail 'the names are the same: this tests nothing'
cat "$dir/other" >"$dir/prog"
touch -d '-1 year' "$dir/prog"
touch -d '-1 hour' "$dir/s.heap"
timeout 300 "$jprof" info --all "$dir/s.heap" >"$dir/info" 2>"$dir/err" || fail "jprof info ended with status $?"
grep -q "  unverified  *$dir/prog\$" "$dir/info" || fail "the file is not unverified: $(grep "$dir/prog" "$dir/info")"
timeout 300 "$jprof" "$dir/s.heap" >"$dir/report" 2>"$dir/err" || fail "jprof ended with status $?"
grep -qE "$dir/prog (and [0-9]+ more files? )?changed after the dump was made: (its|their) names may be wrong" "$dir/err" ||
    fail "nothing says that it was changed: $(cat "$dir/err")"

# A sidecar has the build-ids of what ran: they are a proof, even if the file was touched since, and a contradiction.
sidecar() {
    printf '{"jprof_agent": 1, "dump": "%s", "objects": [{"path": "%s", "build_id": "%s"}]}\n' "$dir/s.heap" "$dir/prog" "$1"
}
start 'a sidecar' "$subject"
id=$(readelf -n "$subject" | sed -n 's/.*Build ID: //p')
touch -d '-1 hour' "$dir/s.heap"
expect unverified named
sidecar "$id" >"$dir/s.heap.json"
expect "same build" named
sidecar "$(echo "$id" | tr 0-9a-f 1-9a-f0)" >"$dir/s.heap.json"
expect another nameless
sidecar "$id" | sed 's/s\.heap/t.heap/' >"$dir/s.heap.json"
expect unverified named
rm "$dir/s.heap.json"
mkfifo "$dir/s.heap.json"
expect unverified named

# A part of the text mapped once more, elsewhere: its addresses go by offset in the file. Pages between that are something
# else by now do not contradict.
start 'an alias of its text' "$subject"
awk -v prog="$dir/prog" '
    { print }
    $2 == "r-xp" && $6 == prog { $1 = "7e0000001000-7e0000002000"; printf "%s r-xp %s %s %s %s\n", $1, $3, $4, $5, prog }
' "$dir/s.heap" >"$dir/t.heap"
touch -d '+1 hour' "$dir/t.heap"
mv "$dir/t.heap" "$dir/s.heap"
grep -q '^7e0000001000' "$dir/s.heap" || fail 'there is no alias: this tests nothing'
expect 'same inode' named
sed 's/^7e0000001000-7e0000002000 r-xp [0-9a-f]*/7e0000001000-7e0000002000 r-xp 7ff00000/' "$dir/s.heap" >"$dir/t.heap"
touch -d '+1 hour' "$dir/t.heap"
mv "$dir/t.heap" "$dir/s.heap"
expect another nameless

start 'moved' "$subject"
mv "$dir/prog" "$dir/elsewhere"
expect 'no file' nameless
expect 'same inode' named "$dir/elsewhere"

start 'copied' "$subject"
cp "$dir/prog" "$dir/elsewhere"
mv "$dir/elsewhere" "$dir/prog"
expect unverified named

start 'copied elsewhere' "$subject"
mkdir "$dir/root" "$dir/lib"
mkdir -p "$dir/root$dir"
cp "$dir/prog" "$dir/root$dir/prog"
cp "$dir/prog" "$dir/lib/prog"
mv "$dir/prog" "$dir/gone"
expect unverified named --sysroot="$dir/root"
expect unverified named --lib_prefix="$dir/lib"
expect unverified named "$dir/lib/prog"

start 'deleted' "$subject" unlink
expect 'no file' nameless
cp "$subject" "$dir/elsewhere"
expect unverified named "$dir/elsewhere"
cp "$padded" "$dir/elsewhere"
expect another nameless "$dir/elsewhere"

start 'replaced by another layout' "$subject"
rm "$dir/prog"
cp "$padded" "$dir/prog"
expect another nameless

start 'overwritten by another layout' "$subject"
cat "$padded" >"$dir/prog"
expect another nameless

start 'replaced by the same layout with other code' "$subject"
[ "$(pages "$subject")" = "$(pages "$shifted")" ] || fail 'the layout is not the same: this tests nothing'
rm "$dir/prog"
cp "$shifted" "$dir/prog"
expect another nameless

start 'overwritten by the same layout with other code' "$subject"
cat "$shifted" >"$dir/prog"
expect another nameless
expect another nameless "$dir/prog"

# Written where the file was not, a profile.proto has neither its names nor its build-id, but it has the return addresses.
start 'a profile.proto, and the same layout with other code' "$subject"
mkdir -p "$dir/none" "$dir/ran$dir" "$dir/other$dir"
cp "$subject" "$dir/ran$dir/prog"
cp "$shifted" "$dir/other$dir/prog"
for input in dump proto; do
    [ "$input" = dump ] ||
        timeout 300 "$jprof" --proto --fold=none --sysroot="$dir/none" -o "$dir/s.pb" "$dir/s.heap" 2>"$dir/err" ||
        fail "jprof --proto ended with status $?: $(cat "$dir/err")"
    [ "$input" = dump ] || mv "$dir/s.pb" "$dir/s.heap"
    expect unverified named --sysroot="$dir/ran"
    expect another nameless --sysroot="$dir/other"
done

# A file of another name fits by its layout, which is weak: calls must stand where the dump has return addresses.
start 'another name stands in' "$subject"
cp "$dir/prog" "$dir/elsewhere"
rm "$dir/prog"
cp "$shifted" "$dir/shifted"
expect unverified named --add_lib="$dir/elsewhere"
grep -q "$dir/elsewhere stands in for $dir/prog, which its layout fits" "$dir/err" ||
    fail "nothing says that it stands in: $(cat "$dir/err")"
expect 'no file' nameless --add_lib="$dir/shifted"
expect unverified named --add_lib="$dir/shifted,$dir/elsewhere"

# (A comma would part the list.) Where each stack has one address only, nothing says that a call returned there: no file stands in.
start 'another name and innermost frames alone' "$subject"
cp "$dir/prog" "$dir/elsewhere"
rm "$dir/prog"
cp "$shifted" "$dir/shifted"
awk '
    /^MAPPED_LIBRARIES:/ { maps = 1 }
    maps || !/^[@ ]/ { print; next }
    /^@/ { for (i = 2; i <= NF; i++) if (!seen[$i]++) print "@ " $i "\n  t*: 1: 100 [0: 0]" }
' "$dir/s.heap" >"$dir/one" && mv "$dir/one" "$dir/s.heap"
for file in shifted elsewhere; do
    expect 'no file' nameless --add_lib="$dir/$file"
    if grep -q 'stands in' "$dir/err"; then fail "$file stands in: $(cat "$dir/err")"; fi
done

# Fewer than five calls prove nothing: they may be before other addresses by chance.
start 'another name and few calls' "$subject"
cp "$dir/prog" "$dir/elsewhere"
rm "$dir/prog"
mv "$dir/s.heap" "$dir/whole"
for calls in 4 5; do
    # One stack of so many addresses of the program that all returned, below one of none.
    awk -v most=$calls -v prog="$dir/prog" '
        FNR == NR { if ($6 == prog && $2 ~ /x/) { split($1, range, "-") } next }
        /^MAPPED_LIBRARIES:/ { print stack "\n  t*: 1: 100 [0: 0]\n"; maps = 1 }
        maps || !/^[@ ]/ { print; next }
        /^@/ && !stack { stack = "@ 0x1" }
        /^@/ {
            for (i = 3; i <= NF && n < most; i++) {
                address = substr($i, 3)
                if (length(address) == length(range[1]) && address >= range[1] && address < range[2] && !seen[address]++ && ++n)
                    stack = stack " " $i
            }
        }
    ' "$dir/whole" "$dir/whole" >"$dir/s.heap"
    [ "$(grep '^@' "$dir/s.heap" | wc -w)" -eq $((calls + 2)) ] || fail "the program has not $calls calls: $(grep '^@' "$dir/s.heap")"
    timeout 300 "$jprof" --fold=none --add_lib="$dir/elsewhere" "$dir/s.heap" >"$dir/report" 2>"$dir/err" || fail "$(cat "$dir/err")"
    [ "$(grep -c 'stands in' "$dir/err")" -eq $((calls == 5)) ] || fail "with $calls calls: $(cat "$dir/err")"
    [ "$(grep -c ' prog+0x' "$dir/report")" -eq $((calls == 5 ? 0 : 4)) ] || fail "with $calls calls: $(cat "$dir/report")"
done

start 'stripped since' "$subject"
objcopy --strip-all "$dir/prog" "$dir/stripped"
"$dir/prog" "$dir/s"
mkdir "$dir/lib"
cp "$dir/prog" "$dir/lib/prog"
mv "$dir/stripped" "$dir/prog"
expect unverified named --lib_prefix="$dir/lib"

start 'a FIFO now' "$subject"
rm "$dir/prog"
mkfifo "$dir/prog"
expect 'no file' nameless
ln -s "$dir/prog" "$dir/link"
mkdir "$dir/lib"
ln -s "$dir/prog" "$dir/lib/prog"
expect 'no file' nameless --lib_prefix="$dir/lib"

start 'a directory now' "$subject"
rm "$dir/prog"
mkdir "$dir/prog"
expect 'no file' nameless

start 'a device now' "$subject"
rm "$dir/prog"
ln -s /dev/zero "$dir/prog"
expect 'no file' nameless

start 'empty now' "$subject"
: >"$dir/prog"
expect 'no file' nameless

start 'cut short' "$subject"
head -c 6000 "$subject" >"$dir/prog"
timeout 300 "$jprof" --lines --fold=none "$dir/s.heap" >"$dir/report" 2>&1 || fail "ended with status $?"
if grep -q '/frames\.c:' "$dir/report"; then fail 'names from half a file'; fi

# It names a file to share debug information with, which libdw opens too.
if command -v dwz >/dev/null; then
    start 'shared by dwz' "$subject"
    cp "$dir/prog" "$dir/other"
    dwz -m "$dir/common" "$dir/prog" "$dir/other"
    "$dir/prog" "$dir/s"
    expect 'same inode' named
    rm "$dir/common"
    mkfifo "$dir/common"
    timeout 300 "$jprof" --lines --fold=none "$dir/s.heap" >"$dir/report" 2>&1 ||
        fail "with a FIFO for the shared file jprof ended with status $?"
fi

# Files that the debug information names are as little to be trusted as the file itself.
start 'split' "$split"
for dwo in $(readelf --debug-dump=info "$split" | sed -n 's/.*DW_AT_dwo_name .*: //p'); do
    mkdir -p "$dir/$(dirname "$dwo")"
    mkfifo "$dir/$dwo"
done
[ -n "$(find "$dir" -name '*.dwo')" ] || fail 'no .dwo is named: this tests nothing'
timeout 300 "$jprof" --lines --fold=none "$dir/s.heap" >"$dir/report" 2>&1 ||
    fail "with FIFOs for its .dwo files jprof ended with status $?"

exit $status
