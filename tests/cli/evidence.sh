#!/bin/sh
# Which file gives names, and what is said of it, through every door: a dump, one with a side-car, and the profile.proto,
# raw file, bundle and bundle with --symbols=later that were made of them; made where one file lies, read where another
# does. No cell of it may have a wrong name without a word.
. "$(dirname "$0")/lib.sh"

# Each library is to have the same pages, so that its program headers tell nothing.
library() {
    out=$1
    shift
    build "$out" evidence_library.c -g -O1 -fPIC -shared -Wl,-soname,libevidence.so -Wl,-z,separate-code "$@"
}
mkdir files lib
for id in with without; do
    [ $id = with ] && flag=-Wl,--build-id=sha1 || flag=-Wl,--build-id=none
    library files/right.$id $flag
    library files/build.$id $flag -DTURN
    library files/code.$id $flag -DPADDING=16
done
build program evidence_program.c -g -O1 -Wl,-rpath,"$tmp/lib" files/right.with

pages() {
    readelf -lW "$1" | sed -n 's/^ *LOAD *\(0x[0-9a-f]*\) \(0x[0-9a-f]*\) 0x[0-9a-f]* \(0x[0-9a-f]*\) .* R E .*/\1 \2 \3/p' |
        while read -r offset vaddr size; do echo "$((offset / 4096)) $((vaddr / 4096)) $(((size + 4095) / 4096))"; done
}
for id in with without; do
    for file in build code; do
        check "another layout tests nothing" [ "$(pages files/right.$id)" = "$(pages files/$file.$id)" ]
    done
    check "code with other names is other code" cmp -s -n 4096 -i 4096 files/right.$id files/build.$id
    check "it is the same file" eval '! cmp -s files/right.$id files/build.$id'
done

# The one that ran keeps its inode; all others get old times.
put() {
    rm -f lib/libevidence.so
    case $1 in
    absent) return ;;
    right) ln ran lib/libevidence.so ;;
    copy) cp files/right.$id lib/libevidence.so ;;
    *) cp "files/$1.$id" lib/libevidence.so ;;
    esac
    touch -d '-1 year' lib/libevidence.so
}

# run_program COUNT OTHERS: leaves d.heap, made after all that is done to files below.
run_program() {
    rm -f ran lib/libevidence.so
    cp files/right.$id ran
    ln ran lib/libevidence.so
    LD_LIBRARY_PATH=$tmp/lib ./program d.heap "$1" "$2"
    touch -d '+1 hour' d.heap
}

sidecar() {
    build_id=$(readelf -n "$1" | sed -n 's/.*Build ID: //p')
    [ -n "$build_id" ] && build_id="\"$build_id\"" || build_id=null
    printf '{"jprof_agent": 1, "dump": "%s/d.heap", "objects": [{"path": "%s/lib/libevidence.so", "base": "0x0", "build_id": %s}]}\n' \
        "$tmp" "$tmp" "$build_id"
}

# look INPUT: $found is what it has: right, wrong or no names, and whether a line says that they may be wrong.
look() {
    works "$plain" --fold=none --show_bytes "$@"
    cp out look.out
    cat err doubts >look.err
    found=$(awk '
        $4 >= 1000 && $4 <= 1007 && /door_/ { if ($6 == "door_" substr("abcdefgh", $4 - 999, 1)) right++; else wrong++ }
        END { print wrong ? "wrong" : right ? "right" : "none" }' out)
    if grep -q 'names may be wrong' err doubts; then found="$found, said"; fi
}

# make DOOR: $input is what the door makes of d.heap.
make() {
    rm -f d.pb d.raw d.jprof
    case $1 in
    dump) input=d.heap && return ;;
    proto) input=d.pb && set -- "$plain" --proto --fold=none -o d.pb d.heap ;;
    raw) input=d.raw && set -- "$plain" --raw --fold=none -o d.raw d.heap ;;
    bundle) input=d.jprof && set -- "$plain" bundle -o d.jprof d.heap ;;
    later) input=d.jprof && set -- "$plain" bundle --symbols=later -o d.jprof d.heap ;;
    later-proto | later-raw)
        works "$plain" bundle --symbols=later -o d.jprof d.heap
        input=d.${1#later-} && set -- "$plain" "--${1#later-}" --fold=none -o "$input" d.jprof
        ;;
    esac
    works "$@"
}

# rows DOOR MADE...: names, where that file lay when it was made, in five cells: read where the right file lies, a copy of it,
# the same code with other names, other code, and no file.
judge() {
    door=$1 wanted=$2
    shift 2
    for made; do
        put "$made"
        make "$door"
        set -- $wanted
        for read in right copy build code absent; do
            shown=$1
            shift
            one_of 2 || continue
            put "$read"
            look "$input"
            what="build-id: $id, side-car: $car, $door made with $made, read with $read"
            checks=$((checks + 1))
            [ "$found" = "$(echo "$shown" | tr _ ' ')" ] || { cp look.err err && fail "it has $found, and should have $shown"; }
        done
    done
}

sure='right right right right right' # the file that ran was proven when names were taken
told='right right none none none'    # its build-id is known, and no name
dump='right right,_said wrong,_said none none'
none='none none none none none'
id=with car=without
run_program 8 1000
judge dump "$dump" right
judge proto "$sure" right
judge proto 'right,_said right,_said right,_said right,_said right,_said' copy
judge proto 'wrong,_said wrong,_said wrong,_said wrong,_said wrong,_said' build
judge proto "$dump" absent code
judge raw "$sure" right
judge raw 'right,_said right,_said right,_said right,_said right,_said' copy
judge raw 'wrong,_said wrong,_said wrong,_said wrong,_said wrong,_said' build
judge raw "$none" absent code
judge bundle "$sure" right
judge bundle 'right,_said right,_said right,_said right,_said right,_said' copy
judge bundle 'wrong,_said wrong,_said wrong,_said wrong,_said wrong,_said' build
judge bundle "$dump" absent code
judge later "$told" right
judge later "$dump" copy build code absent

car=with
sidecar ran >d.heap.json
judge dump "$told" right
for door in proto raw bundle; do
    judge $door "$sure" right copy
    judge $door "$told" build code absent
done
judge later "$told" right copy build code absent
judge later-proto "$told" build absent
judge later-raw "$told" build absent

# The side-car of a dump that was compressed since is found as well, and one of another dump is not.
gzip -kf d.heap
put build
look d.heap.gz
what="a compressed dump" && check "it has $found" [ "$found" = none ]
sed 's/d\.heap/e.heap/' d.heap.json >other && mv other d.heap.json
look d.heap
what="another's side-car" && check "it has $found" [ "$found" = 'wrong, said' ]
rm -f d.heap.json d.heap.gz

# A file without a build-id is not one that ran with it.
sidecar ran >d.heap.json
id=without
put copy
look d.heap
what="a file without a build-id" && check "it has $found" [ "$found" = none ]
rm d.heap.json

car=without
run_program 8 1000
judge dump "$dump" right
judge proto "$sure" right
judge proto 'wrong,_said wrong,_said wrong,_said wrong,_said wrong,_said' build
judge proto "$dump" absent
judge raw "$sure" right
judge raw "$none" absent
judge bundle "$sure" right
judge bundle 'wrong,_said wrong,_said wrong,_said wrong,_said wrong,_said' build
judge later "$dump" right build absent

# ---- what else the rules say ----
id=with
run_program 8 1000

# A bundle with names of one build, and a side-car that tells another: made by a jprof that did not ask it.
put build
make bundle
mkdir old && (cd old && zstd -dc ../d.jprof 2>/dev/null | tar xf - 2>/dev/null) || { rm -rf old && mkdir old; }
if [ -f old/bundle.json ]; then
    sidecar ran >old/dump/agent.json
    (cd old && tar --format=ustar -cf ../d.jprof bundle.json dump)
    put absent
    look d.jprof
    what="names of another build in a bundle"
    check "it has $found" [ "$found" = none ]
    check "nothing says so" grep -qx "jprof: $tmp/lib/libevidence.so: its names in the bundle are of another build, and are left out" look.err
fi

# A hard link changes the ctime and no content: an equal build-id settles it.
put right
touch -d '-1 hour' d.heap
ln lib/libevidence.so lib/linked
look d.heap
what="a hard link" && check "it has $found" [ "$found" = 'right, said' ]
check "the file is not in doubt" grep -q 'libevidence.*changed after\|more files* changed after' look.err
sidecar ran >d.heap.json
look d.heap
what="a hard link and a side-car" && check "it has $found" [ "${found%, said}" = right ]
check "the file is in doubt" no_line libevidence look.err
rm d.heap.json lib/linked

# Of a part of a dump a raw file has no maps, and the word of the file stays.
run_program 8 1000
put copy
works "$plain" --raw --fold=none --focus=door -o d.raw d.heap
what="a raw file without maps"
check "it has maps" no_line MAPPED_LIBRARIES d.raw
put absent
look d.raw
check "it has $found" [ "$found" = 'right, said' ]

# Others read both formats, and see nothing of what jprof keeps in them.
put right
run_program 8 1000
make raw
if command -v jeprof >/dev/null; then
    ask_jeprof "$(command -v jeprof)" --text --show_bytes d.raw
    what="jeprof of the raw file"
    check "there are $(grep -c door_ theirs.whole) names" [ "$(grep -c ' door_[a-h]$' theirs.whole)" -eq 8 ]
    check "it complains: $(cat theirs.err)" no_line '#file|[Ww]arning' theirs.err
fi
make proto
if command -v go >/dev/null; then
    HOME=$tmp PPROF_TMPDIR=$tmp GO111MODULE=off run go tool pprof -symbolize=none -top d.pb
    exits 0
    check "there are $(grep -c door_ out) names" [ "$(grep -c ' door_[a-h]$' out)" -eq 8 ]
    prints_no '#'
fi

# What others wrote may have the address after each call. Written anew by jprof it has so, too: it is judged as before.
put absent
make proto
cat >foreign.py <<'END'
import gzip, sys
data, out, at = gzip.open(sys.argv[1]).read(), b"", 0
def varint():
    global at
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value
while at < len(data):
    first, key = at, varint()
    length = varint()
    at += length if key & 7 == 2 else 0
    if key >> 3 != 13:  # comments
        out += data[first:at]
open(sys.argv[2], "wb").write(gzip.compress(out))
END
if command -v python3 >/dev/null; then
    python3 foreign.py d.pb foreign.pb
    works "$plain" --proto --fold=none -o anew.pb foreign.pb
    for file in right copy build code absent; do
        put $file
        look foreign.pb
        before=$found
        look anew.pb
        what="another's profile, and $file"
        check "it has $found when it was written anew, and before $before" [ "$found" = "$before" ]
    done
fi

# Another name stands in only where enough calls are there to tell.
put absent
cp files/right.with standin
look d.heap --add_lib=standin
what="a stand-in" && check "it has $found" [ "$found" = 'right, said' ]
run_program 4 1000
put absent
look d.heap --add_lib=standin
what="a stand-in by four calls" && check "it has $found" [ "$found" = none ]

# Few calls prove nothing, and info says so.
put copy
look d.heap
what="four calls" && check "it has $found" [ "$found" = 'right, said' ]
run "$plain" info --all d.heap
prints 'unverified .*libevidence\.so'

# What names less than a hundredth of the bytes is not worth a line.
for others in 100000 10000000; do
    run_program 8 $others
    put copy
    look d.heap
    [ $others = 100000 ] && wanted='right, said' || wanted=right
    what="8028 bytes of $others" && check "it has $found" [ "$found" = "$wanted" ]
done
finish
