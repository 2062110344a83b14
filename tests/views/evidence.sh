#!/bin/sh
# --list and --disasm print source that an object file names which nobody else can have made, and no other: not what a profile
# alone names, and not what somebody else's object file does.
. "$(dirname "$0")/../cli/lib.sh"
find_jemalloc
all=prof_active:false,lg_prof_sample:0
umask 022
build lines lines.c -O1 -g -fno-optimize-sibling-calls
profiled $all ./lines dump.heap >truth
source=$(readlink -f "$here/src/lines.c")
text='HOLD(4096)'
# shown FILE...: there is source
shown() {
    works "$jprof" --list=l_leaf "$@"
    check "no source" grep -qF "$text" out
}
# withheld WHY FILE...: the lines' values, and no source
withheld() {
    why=$1
    shift
    works "$jprof" --list=l_leaf "$@"
    check "source of a file that nothing vouches for" eval '! grep -qF "$text" out'
    prints "^\(no source: .*/lines\.c: $why; give --source-path=DIR"
    prints '^ROUTINE .*l_leaf'
}
input='is named by the input alone, and not by an object file that was found here'
other='is named by an object file that somebody else may have made'
shown lines dump.heap
"$jprof" --proto -o p.pb.gz lines dump.heap
"$jprof" --raw -o r.raw lines dump.heap
"$jprof" bundle -o b.jprof lines dump.heap
withheld "$input" p.pb.gz
"$jprof" --list=l_leaf b.jprof >out 2>err
mv lines moved
withheld "$input" b.jprof
withheld "$input" p.pb.gz
run "$jprof" --list=l_leaf r.raw
check "source of a raw file" eval '! grep -qF "$text" out'
mv moved lines
shown --source-path="$(dirname "$source")" p.pb.gz
# A profile.proto that names a file that only its reader may read.
if command -v python3 >/dev/null; then
    echo "a secret" >secret
    chmod 600 secret
    python3 - "$tmp/secret" >secret.pb <<'EOF'
import sys
def varint(n):
    out = b""
    while n > 127: out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])
def field(number, value):
    if isinstance(value, int): return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value
strings = [b"", b"inuse_objects", b"count", b"inuse_space", b"bytes", b"spy", sys.argv[1].encode(), b"/bin/true"]
out = field(1, field(1, 1) + field(2, 2)) + field(1, field(1, 3) + field(2, 4))
out += field(2, field(1, 1) + field(2, varint(1) + varint(4096)))
out += field(3, field(1, 1) + field(2, 4096) + field(3, 8192) + field(5, 7) + field(7, 1) + field(8, 1) + field(9, 1))
out += field(4, field(1, 1) + field(2, 1) + field(3, 4100) + field(4, field(1, 1) + field(2, 1)))
out += field(5, field(1, 1) + field(2, 5) + field(3, 5) + field(4, 6)) + b"".join(field(6, s) for s in strings)
sys.stdout.buffer.write(out)
EOF
    works "$jprof" --list=spy secret.pb
    prints '^ROUTINE .* spy in .*/secret'
    check "the secret" eval '! grep -q "a secret" out'
    run "$jprof" --list=spy --source-path="$tmp" secret.pb
    check "below --source-path" grep -q "a secret" out
fi
# Who may have made the object file.
chmod o+w lines
withheld "$other" lines dump.heap
run "$jprof" --disasm=l_leaf lines dump.heap
[ "$status" -ne 0 ] || check "source in --disasm" eval '! grep -qF "$text" out'
chmod o-w lines
shown lines dump.heap
mkdir place
mv lines place/lines
sed "s|$tmp/lines|$tmp/place/lines|" dump.heap >place.heap
shown place/lines place.heap
chmod 777 place
withheld "$other" place/lines place.heap
chmod 1777 place
shown place/lines place.heap
if [ "$(id -u)" -eq 0 ]; then
    chown 65534 place/lines
    withheld "$other" place/lines place.heap
fi
# Below a sysroot all is the image's.
shown --sysroot=/ place/lines place.heap
finish
