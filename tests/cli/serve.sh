#!/bin/sh
# jprof serve: profiles over HTTP as Go's pprof reads them, numbers as Prometheus does, and the page, to whom, how often; what becomes of sockets, and what clients
# cannot do.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_ruby
need_agent
for tool in python3 curl; do command -v "$tool" >/dev/null || skip "no $tool here"; done

# serve ARGUMENTS...: in the background; sets $server and, of what it prints, $url.
serve() {
    what="serve $*"
    : >place
    "$jprof" serve "$@" >place 2>served.err </dev/null &
    server=$!
    started="$started $server"
    until_true 60 test -s place || { cat served.err; echo "did not begin: $*"; exit 1; }
    url=$(cat place)
}

# get CURL_ARGUMENTS...: the body goes to the file body, the head to head, the status to $code.
get() {
    what="curl $*"
    code=$(curl -sS -m 300 -D head -o body -w '%{http_code}' "$@" 2>err) || fail "curl: $(cat err)"
}

codes() {
    check "status $code, not $1: $(head -c 300 body)" [ "$code" = "$1" ]
}

head_has() {
    check "the head has no $1: $(cat head)" grep -qiE "^$1.?\$" head
}

# ---- who and where ------------------------------------------------------------------------------------------

exits_with 1 "$jprof" serve
says 'jprof: give --pid=PID, or --puma; jprof snap alone lists the processes that are there'
exits_with 1 "$jprof" serve 4711
says 'jprof: 4711: give a process as --pid=PID, and a Puma as --puma[=PID]'
for wrong in 6060 here:6060 127.0.0.1:66000 '127.0.0.1:' '[::1:6060' unix:; do
    exits_with 1 "$jprof" serve "--pid=$$" "--listen=$wrong"
    says_like "^jprof: --listen="
done
sleep 0 &
gone=$!
wait "$gone"
exits_with 1 "$jprof" serve "--pid=$gone"
says_like "^jprof: process $gone: there is none; "

# A directory that others write, and what stands there already: nothing is removed.
mkdir open own && chmod 777 open && chmod 700 own
echo precious >own/file
for path in open/s own/file; do
    exits_with 1 "$jprof" serve "--pid=$$" "--listen=unix:$path"
    says_like "^jprof: --listen=unix:$path: "
done
check "a file was removed" grep -q precious own/file

# ---- a process without the agent ------------------------------------------------------------------------------

serve "--pid=$$" --listen=127.0.0.1:0
get "$url"
codes 503
check "not why: $(cat body)" grep -q "has neither jemalloc nor jprof's agent" body
head_has 'Retry-After: [0-9]+'
head_has 'X-Go-Pprof: 1'
kill -TERM "$server"
wait "$server"
check "it ended with $?" [ $? -eq 0 ]

# ---- a Ruby ------------------------------------------------------------------------------------------------------

ruby_app
mkdir d
start "lg_prof_sample:15,prof_prefix:$tmp/d/app" "$ruby" "$app"
target=$pid
serve "--pid=$target" --listen=127.0.0.1:0 --interval=1h
get "$url"
codes 200
head_has 'Content-Type: application/octet-stream'
check "something on standard error: $(cat served.err)" [ ! -s served.err ]
cp body first.pb.gz
works "$jprof" --lines --show_bytes first.pb.gz
prints "$app:1"
get "${url%heap}allocs?debug=0&unknown=x"
codes 200
run "$jprof" --lines --show_bytes body
prints "$app:1"
# What collectors send, and what they make sure of: Alloy and the collector's receiver of the type, Parca of the status.
collect() {
    get -H 'Accept-Encoding: gzip' "$@"
    codes 200
    head_has 'Content-Type: application/octet-stream'
    check "its bytes are encoded once more" no_line '^content-encoding:' head
    works python3 "$root/tests/doors/proto_check.py" body
}
collect -A 'Alloy/v1.9.0 (linux; docker)' "${url%heap}allocs"
collect -A conprof/0.24.0 "$url"
collect -A Go-http-client/1.1 "$url"
# Until the next dump may be made the last one is the answer, and nothing harms the process.
for i in 1 2 3; do
    get "$url"
    codes 200
    head_has 'Age: [0-9]+'
    check "another dump was made" cmp -s first.pb.gz body
done
get "$url?gc=1"
codes 429
head_has 'Retry-After: [0-9]+'
get "$url?seconds=5"
codes 400
works python3 "$here/serve_clients.py" 127.0.0.1 "$(echo "$url" | sed 's,.*:\([0-9]*\)/.*,\1,')"
prints '^[0-9]+ checks, 0 failures$'
lives "$server"
no_dumps d
lives "$target"
if command -v go >/dev/null; then
    HOME=$tmp PPROF_TMPDIR=$tmp works go tool pprof -symbolize=none -top -lines "$url"
    prints "$app:1"
    HOME=$tmp PPROF_TMPDIR=$tmp run go tool pprof -top "${url%heap}profile"
    check "pprof does not show the sentence" grep -q 'there are /debug/pprof/heap' err
fi
# Killed in the middle it leaves nothing; ended, nothing either.
kill -TERM "$server"
wait "$server"
lives "$target"

# ---- at the same time, and after a collection --------------------------------------------------------------------

serve "--pid=$target" --listen=127.0.0.1:0 --interval=1s
clients=
for i in 1 2 3 4 5 6 7 8; do
    curl -sS -m 300 -o "body.$i" "$url" &
    clients="$clients $!"
done
for client in $clients; do
    wait "$client" || fail "a client got nothing"
done
for i in 2 3 4 5 6 7 8; do check "two dumps for clients at once" cmp -s body.1 "body.$i"; done
collected() {
    get "$url?gc=1"
    [ "$code" = 200 ]
}
until_true 60 collected || fail "never with gc=1"
run "$jprof" --lines body
prints "$app:1"
stop "$server"

# ---- numbers and a page -------------------------------------------------------------------------------------------

# Eleven lines keep blocks; one of the file's names has to be escaped.
mkdir 'a"b'
python3 -c 'for i in range(11): print(f"def keep_{i}\n  KEPT << (\"x\" * 20_000)\nend")' >'a"b/keeps.rb'
cat >grows.rb <<RUBY
KEPT = []
require "$tmp/a\"b/keeps"
File.write("ready", "")
loop { 11.times { |i| send("keep_#{i}") if File.exist?("grow") }; sleep 0.01 }
RUBY
start "lg_prof_sample:15,prof_prefix:$tmp/d/app" "$ruby" grows.rb
grows=$pid
serve "--pid=$grows" --listen=127.0.0.1:0 --interval=1s
base=${url%/debug*}
get "$base/metrics"
codes 200
head_has 'Content-Type: text/plain; version=0.0.4; charset=utf-8'
works python3 "$here/serve_metrics.py" body 0-0
: >grow
ten_grew() {
    get "$base/metrics"
    [ "$code" = 200 ] && python3 "$here/serve_metrics.py" body 10-10
}
until_true 120 ten_grew || fail "not ten rows in $(cat body)"
check "no row of the file: $(cat body)" grep -q '^jprof_growth_bytes{row="a\\"b/keeps.rb:[0-9]* Object#keep_[0-9]*",' body
# What was not made of the last dump yet is made of that.
get "$base/"
codes 200
head_has 'Content-Type: text/html; charset=utf-8'
check "no page: $(head -c 100 body)" grep -qi '^<!doctype html' body
check "the page has the sources" no_line 'KEPT << ' body
check "something on standard error: $(cat served.err)" [ ! -s served.err ]
stop "$server"
stop "$grows"

# ---- a unix socket --------------------------------------------------------------------------------------------------

serve "--pid=$target" --listen=unix:own/s
check "printed is $url" [ "$url" = unix:own/s ]
check "mode $(stat -c %a own/s)" [ "$(stat -c %a own/s)" = 600 ]
get --unix-socket own/s http://any.name/debug/pprof/heap
codes 200
exits_with 1 "$jprof" serve "--pid=$target" --listen=unix:own/s
says_like 'somebody listens there already$'
kill -TERM "$server"
wait "$server"
check "the socket is still there" [ ! -e own/s ]
# One that was killed leaves its socket, and the next takes its place; what is put there instead stays.
serve "--pid=$target" --listen=unix:own/s
kill -KILL "$server"
wait "$server"
check "no socket was left: this tests nothing" [ -S own/s ]
serve "--pid=$target" --listen=unix:own/s
rm own/s && echo precious >own/s
kill -TERM "$server"
wait "$server"
check "a file in the socket's place was removed" grep -q precious own/s

# ---- open to others, and the process's end -----------------------------------------------------------------------------

serve "--pid=$target" --listen=0.0.0.0:0
check "no warning: $(cat served.err)" grep -q 'whoever reaches this address' served.err
get -H 'Host: web1:6060' "http://127.0.0.1:${url##*:}"
codes 200
stop "$target"
stop "$server"
serve --puma=1 --listen=127.0.0.1:0
get "$url"
codes 503
stop "$server"
finish
