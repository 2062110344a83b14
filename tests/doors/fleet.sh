#!/bin/sh
# The commands of docs/fleet.md, as they stand there but for /tmp and /var/tmp, against a server that checks what
# arrives; and --proto through a strict reader.
. "$(dirname "$0")/../cli/lib.sh"
doors=$root/tests/doors guide=$root/docs/fleet.md
command -v python3 >/dev/null || skip "no python3 here, which is the server"
command -v curl >/dev/null || skip "no curl here"
unset http_proxy HTTP_PROXY ALL_PROXY all_proxy

# ---- the dumps of two machines, and jprof in PATH ----
mkdir bin spool web archive received server
cat >bin/jprof <<END
#!/bin/sh
exec "$jprof" "--sysroot=$heaps/sysroot" "\$@"
END
chmod +x bin/jprof
PATH=$tmp/bin:$PATH
cp "$heaps/jemalloc-4.5.0.heap" spool/app.1.0.i0.heap
cp "$heaps/jemalloc-5.3.0.heap" spool/app.1.1.i1.heap
# Later than any file in the samples, which would be told.
TZ=UTC
export TZ
touch -d '2037-01-02 03:04:05' spool/app.1.0.i0.heap
touch -d '2037-01-02 03:09:05' spool/app.1.1.i1.heap
newest=$(stat -c %Y spool/app.1.1.i1.heap)

# ---- the server ----
mkfifo server/stdin
python3 "$doors/fleet_server.py" "$tmp/received" <server/stdin 2>server/err &
server=$!
exec 3>server/stdin
trap 'exec 3>&-; kill $server 2>/dev/null; cd / && rm -rf "$tmp"' EXIT
tries=0
while ! [ -f received/address ]; do
    tries=$((tries + 1))
    kill -0 $server 2>/dev/null && [ $tries -lt 3000 ] || { cat server/err; echo "the server does not start"; exit 1; }
    sleep 0.1
done
PYROSCOPE=$(cat received/address) WEB=$tmp/web ARCHIVE=$tmp/archive
export PATH PYROSCOPE WEB ARCHIVE

# example NAME: that block of the guide, with the test's directories, in the file NAME.
example() {
    sed -n "/^\`\`\`sh $1\$/,/^\`\`\`\$/p" "$guide" | sed -e '1d;$d' -e "s|/var/tmp/|$tmp/spool/|g" -e "s|/tmp/app|$tmp/spool/app|g" >"example.$1"
    check "docs/fleet.md has no example $1" [ -s "example.$1" ]
    examples="${examples:-} $1"
}

# try NAME: runs it as a user would.
try() {
    example "$1"
    works sh "example.$1"
    prints_nothing
    # Only what jprof has to say of names.
    check "something went wrong" eval '! grep -v "^jprof: only .* have a function.s name" err'
}

# arrived N: how many requests the server has taken.
arrived() {
    check "$(ls received/*.json 2>/dev/null | wc -l) profiles arrived, not $1" [ -f "received/$1.json" ] && check "too many" [ ! -f "received/$(($1 + 1)).json" ]
}

# holds N EXPRESSION: of what arrived as `r`.
holds() {
    check "not so: $2" python3 -c 'import json, sys
r = json.load(open("received/%s.json" % sys.argv[1]))
sys.exit(not eval(sys.argv[2]))' "$1" "$2"
}

# sums FILE DUMP: the strict reader's sums of a profile are those of the text reports.
sums() {
    works python3 "$doors/proto_check.py" "$1"
    cp out sums
    for counter in inuse_space inuse_objects alloc_space alloc_objects; do
        jprof --show_bytes --$counter "$2" >text 2>err
        # Each stack is rounded.
        check "$counter: $(cat sums) is not $(head -n 1 text)" awk -v counter="$counter" '
            FNR == NR { for (i = 1; i <= NF; i++) { split($i, pair, "="); sum[pair[1]] = pair[2] } next }
            FNR == 1 { d = sum[counter] - $2; exit !(d * d <= 16) }' sums text
    done
}

try pyroscope
arrived 1
holds 1 'r["application"] == "app"'
holds 1 "r['labels'] == {'host': '$(uname -n)'}"
holds 1 "r['until'] == $newest and r['from'] < r['until']"
holds 1 "r['profile']['time'] == $newest * 10**9 and r['profile']['period'] == 1024"
holds 1 'r["config"] is None'
sums received/1.pb.gz spool/app.1.1.i1.heap
try pyroscope-types
arrived 2
holds 2 'r["config"]["inuse_space"] == {"units": "bytes", "aggregation": "average"}'
same "two ways, one profile" received/1.pb.gz received/2.pb.gz

try parca
sums web/app.pb.gz spool/app.1.1.i1.heap
check "a file is left beside it" [ "$(ls web)" = app.pb.gz ]
try archive
sums "archive/$(uname -n).app.1.0.i0.pb.gz" spool/app.1.0.i0.heap
works jprof --show_bytes --diff_base="archive/$(uname -n).app.1.0.i0.pb.gz" "archive/$(uname -n).app.1.1.i1.pb.gz"
prints '^Total: [0-9]+ B; shares are of '

# The script: sends once, does nothing for the same dump, fails where the server refuses or is not there.
example send-heap
send() {
    run sh example.send-heap "$tmp/spool/app.*.heap" app
}
send
exits 0
arrived 3
holds 3 "r['until'] == $newest"
send
exits 0
arrived 3
touch -d '2037-02-01 00:00:00' spool/app.1.0.i0.heap
send
exits 0
arrived 4
printf 'heap_v2/1\n' >spool/app.2.0.i0.heap
touch -d '2037-03-01 00:00:00' spool/app.2.0.i0.heap
send
check "a broken dump is sent" [ "$status" -ne 0 ]
arrived 4
rm spool/app.2.0.i0.heap
touch -d '2037-04-01 00:00:00' spool/app.1.0.i0.heap
check "nobody there, and no error" eval '! (PYROSCOPE=http://127.0.0.1:1; sed "s/--retry 3//" example.send-heap >once; sh once "$tmp/spool/app.*.heap" app) 2>/dev/null'
send
exits 0
arrived 5
check "an example that is not run" [ "$(grep -c '^```sh ' "$guide")" -eq "$(echo $examples | wc -w)" ]

# Ruby, with a difference and threads: strict all the same.
for more in '' --normalize-addresses --fold=none "--diff_base=$cases/puma/w0.1.heap"; do
    "$jprof" --proto $more --sysroot="$cases/sysroot" "$cases/puma/w0.3.heap" >ruby.pb.gz 2>err
    works python3 "$doors/proto_check.py" ruby.pb.gz
done
jprof --proto --thread='*' spool/app.1.1.i1.heap >threads.pb.gz 2>err
works python3 "$doors/proto_check.py" threads.pb.gz

# The judges can say no.
python3 - "$doors" <<'END' || fail "the strict reader takes broken profiles"
import gzip, sys
sys.path.insert(0, sys.argv[1])
import proto_check
whole = open("received/1.pb.gz", "rb").read()
data = gzip.decompress(whole)
def refused(changed, packed=True):
    try:
        proto_check.read(gzip.compress(changed) if packed else changed)
    except proto_check.Wrong:
        return True
proto_check.read(gzip.compress(data))
parts, at = [], 0
while at < len(data):
    start = at
    key, at = proto_check.varint(data, at)
    size, after = proto_check.varint(data, at)
    at = after + size if key & 7 == 2 else after
    parts.append((key >> 3, data[start:at]))
def without(number):
    i = [n for n, _ in parts].index(number)
    return b"".join(part for k, (_, part) in enumerate(parts) if k != i)
ok = refused(data, False) and refused(data[:-1]) and all(refused(without(number)) for number in (1, 3, 4, 5, 6, 11, 14))
sys.exit(not ok)
END
for bad in 'ingest?format=folded&name=app%7Ba=b%7D&from=1&until=2' 'ingest?format=pprof&name=app&from=1&until=2' \
    'ingest?format=pprof&name=app%7Ba=b%7D&from=2&until=2' 'push?format=pprof&name=app%7Ba=b%7D&from=1&until=2'; do
    check "the server takes $bad" eval '! curl -fsS -F "profile=@received/1.pb.gz" "$PYROSCOPE/$bad" 2>/dev/null'
done
check "the server takes no profile" eval '! curl -fsS -F "profile=@spool/app.1.1.i1.heap" "$PYROSCOPE/ingest?format=pprof&name=app%7Ba=b%7D&from=1&until=2" 2>/dev/null'
arrived 5

# Standard output by the name "-", too.
works jprof --proto -o - spool/app.1.1.i1.heap
same "-o - is not standard output" out received/1.pb.gz
check "a file named -" [ ! -e ./- ]

# pprof reads what arrived.
if command -v go >/dev/null && HOME=$tmp GOCACHE=$tmp/gocache go tool pprof -h >/dev/null 2>&1; then
    HOME=$tmp PPROF_TMPDIR=$tmp works go tool pprof -symbolize=none -raw received/1.pb.gz
    prints '^Samples:'
    prints 'row_new /tmp/jprof-samples/threads.c:43'
    PPROF_TMPDIR=$tmp run go tool pprof -symbolize=none -top -unit=B -nodecount=0 -sample_index=inuse_space received/1.pb.gz
    prints '^ *2904968B .* row_new$'
fi
finish
