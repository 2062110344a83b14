#!/bin/sh
# Which file gives names to a dump with a side-car, and to the bundles that were made of it, with names and with
# --symbols=later; made where one file lies, read where another does.
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
    run "$plain" --fold=none --show_bytes "$@"
    exits 0
    cp out look.out
    cp err look.err
    found=$(awk '
        $4 >= 1000 && $4 <= 1007 && /door_/ { if ($6 == "door_" substr("abcdefgh", $4 - 999, 1)) right++; else wrong++ }
        END { print wrong ? "wrong" : right ? "right" : "none" }' out)
    if grep -q 'names may be wrong' err; then found="$found, said"; fi
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
        run "$plain" bundle --symbols=later -o d.jprof d.heap
        exits 0
        input=d.${1#later-} && set -- "$plain" "--${1#later-}" --fold=none -o "$input" d.jprof
        ;;
    esac
    run "$@"
    exits 0
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
            put "$read"
            look "$input"
            what="build-id: $id, side-car: $car, $door made with $made, read with $read"
            checks=$((checks + 1))
            [ "$found" = "$(echo "$1" | tr _ ' ')" ] || { cp look.err err && fail "it has $found, and should have $1"; }
            shift
        done
    done
}

sure='right right right right right' # the file that ran was proven when names were taken
told='right right none none none'    # its build-id is known, and no name
id=with car=with
run_program 8 1000
sidecar ran >d.heap.json
judge dump "$told" right
judge bundle "$sure" right copy
judge bundle "$told" build code absent
judge later "$told" right copy build code absent

# The side-car of a dump that was compressed since is found as well, and one of another dump is not.
gzip -kf d.heap
put build
look d.heap.gz
what="a compressed dump" && check "it has $found" [ "$found" = none ]
sed 's/d\.heap/e.heap/' d.heap.json >other && mv other d.heap.json
look d.heap
what="another's side-car" && check "it has $found" [ "$found" = wrong ]
rm -f d.heap.json d.heap.gz

finish
