#!/bin/sh
# debuginfod: a real server on loopback, a dead one, none.
. "$(dirname "$0")/lib.sh"
need readelf objcopy python3

build app -gdwarf-5
cp app/bin/subject app/whole
mkdir -p served
separate app/bin/subject served/subject.debug
export DEBUGINFOD_CACHE_PATH="$work/cache" no_proxy='*' HOME="$work"

if ! "$FRAMES" --debuginfod --functions app/truth.heap | grep -q 'set DEBUGINFOD_URLS'; then
    "$FRAMES" --debuginfod --functions app/truth.heap | grep -q 'built without libdebuginfod' ||
        fail "no word about why no server is asked"
    skip "jprof was built without libdebuginfod"
fi

stop() {
    # shellcheck disable=SC2086
    kill $servers 2>/dev/null || true
    rm -rf "$work"
}
servers=
trap stop EXIT

# A server that counts who comes, and never answers.
cat >silent.py <<'PY'
import os
import socket

s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(50)
with open("silent.port.new", "w") as f:
    f.write(str(s.getsockname()[1]))
os.rename("silent.port.new", "silent.port")
held = []
while True:
    held.append(s.accept()[0])
    with open("silent.count", "a") as f:
        f.write("x")
PY
python3 silent.py &
servers=$!
until [ -f silent.port ]; do sleep 0.1; done
silent=http://127.0.0.1:$(cat silent.port)

# Never without the option.
export DEBUGINFOD_URLS="$silent"
nameless app ''
"$JPROF" info --all app/truth.heap >/dev/null
[ ! -e silent.count ] || fail "a server was asked without --debuginfod"

# One time-out for many files.
build second -gdwarf-5 -O2
objcopy --strip-all second/bin/subject
export DEBUGINFOD_TIMEOUT=2
nameless app "note: debuginfod: no answer within 2 s from $silent" --debuginfod
export DEBUGINFOD_CACHE_PATH="$work/cache.cli"
rm silent.count
"$JPROF" --debuginfod --fold=none app/truth.heap second/truth.heap >report 2>said
[ "$(wc -c <silent.count)" -eq 1 ] || fail "a dead server was asked $(wc -c <silent.count) times"
[ "$(grep -c 'debuginfod: ' said)" = 1 ] || fail "not one note: $(cat said)"

# Nobody listens there.
python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])' >free.port
[ -z "$(find "$work/cache.cli" -name debuginfo)" ] || fail "a dead server is remembered as one that has nothing"
export DEBUGINFOD_CACHE_PATH="$work/cache.live"
DEBUGINFOD_URLS=http://127.0.0.1:$(cat free.port) nameless app 'not asked again' --debuginfod
DEBUGINFOD_URLS=' ' nameless app 'set DEBUGINFOD_URLS' --debuginfod

command -v debuginfod >/dev/null || skip "no debuginfod server here; what needs none passed"
unset DEBUGINFOD_TIMEOUT
port=$(cat free.port)
export DEBUGINFOD_URLS="http://127.0.0.1:$port"
env -u DEBUGINFOD_URLS debuginfod -F -p "$port" -d :memory: -t 3600 "$work/served" >server.log 2>&1 &
servers="$servers $!"
# It scans after it listens; each try has a cache of its own, which remembers what is not there.
tries=0
until DEBUGINFOD_CACHE_PATH=$work/try.$tries "$FRAMES" --debuginfod app/truth.heap | grep -q 'subject.c:'; do
    tries=$((tries + 1))
    [ $tries -lt 3000 ] || fail "the server gives nothing: $(tail -n 5 server.log)"
    sleep 0.2
done
expect lines app '' --debuginfod
"$JPROF" info --all --debuginfod app/truth.heap >info 2>said
! grep -q stripped info || fail "$(cat info said)"
! grep -v 'changed after the dump was made' said || fail "jprof info says that"
find "$work/cache.live" -type f | grep -q debuginfo || fail "not in the cache that was asked for"
# A build-id that it does not know is no trouble.
nameless second '' --debuginfod
[ ! -s said ] || fail "$(cat said)"

# dwz: the shared part comes from the server too.
if command -v dwz >/dev/null; then
    build dwz -gdwarf-4
    $CC -g -O1 -gdwarf-4 -Wl,--build-id -DOTHER -o dwz/bin/second dwz/src/subject.c dwz/src/part.c
    dwz -L none -l none -m dwz/shared -M "$work/nowhere/common" dwz/bin/subject dwz/bin/second
    mkdir -p "$(dirname "$(id_path dwz/bin/subject served)")"
    separate dwz/bin/subject served/dwz.debug
    cp dwz/shared served/common.debug
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    env -u DEBUGINFOD_URLS debuginfod -F -p "$port" -d :memory: -t 3600 "$work/served" >server2.log 2>&1 &
    servers="$servers $!"
    export DEBUGINFOD_URLS="http://127.0.0.1:$port"
    tries=0
    until DEBUGINFOD_CACHE_PATH=$work/dwz-try.$tries "$FRAMES" --debuginfod dwz/truth.heap | grep -q 'subject.c:'; do
        tries=$((tries + 1))
        [ $tries -lt 3000 ] || fail "the server does not give what dwz moved out: $(tail -n 5 server2.log)"
        sleep 0.2
    done
    DEBUGINFOD_CACHE_PATH=$work/dwz-cache expect lines dwz '' --debuginfod
fi
