#!/bin/sh
# jprof snap on a Puma cluster: the master and its workers in one bundle; it serves on.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_ruby
need_agent
puma=$(command -v puma) || skip "no puma here (Debian: puma)"
command -v python3 >/dev/null || skip "no python3 here"
rack_app
cat >puma.rb <<'END'
workers 2
threads 1, 2
preload_app!
bind "unix://puma.sock"
tag "shop"
before_fork { File.write("master", Process.pid.to_s) }
END
mkdir d
LD_PRELOAD="$jemalloc:$agent" MALLOC_CONF="prof:true,lg_prof_sample:12,prof_prefix:$tmp/d/app" \
    "$ruby" "$puma" -C puma.rb config.ru >puma.out 2>puma.err </dev/null &
master=$!
end_puma() {
    kill -TERM "$master" 2>/dev/null
    wait "$master" 2>/dev/null
}
trap 'end_puma; end_started; cd / && rm -rf "$tmp"' EXIT

workers() {
    cat /proc/"$master"/task/*/children 2>/dev/null
}
titled() {
    [ "$(for p in $(workers); do tr '\0' '\n' <"/proc/$p/cmdline" | head -n 1; done | grep -c '^puma: cluster worker ')" -eq 2 ] &&
        for p in $(workers); do announced "$p" || return 1; done
}
until_true 60 titled || { cat puma.out puma.err; exit 1; }

# ask: one request; its answer is the worker's pid.
ask() {
    "$ruby" -rsocket -e 's = UNIXSocket.new("puma.sock"); s.write("GET / HTTP/1.0\r\n\r\n"); puts s.read[/\d+\z/]'
}
until_true 60 ask >/dev/null 2>&1 || { cat puma.out puma.err; exit 1; }
for _ in 1 2 3 4 5 6 7 8; do ask >/dev/null; done
# shellcheck disable=SC2046
set -- $(workers)
first=$1 second=$2
cluster=$(printf "%s\n" "('master', $master)" "('worker', $first)" "('worker', $second)" | sort -k 1,1 -k 2,2n | paste -sd, | sed 's/),(/), (/g; s/.*/[&]/')

is_quiet "$jprof" snap --puma="$master" --label=warm
check "not named by the master" [ "$(cat out)" = "jprof-warm-$master.jprof" ]
bundle="jprof-warm-$master.jprof"
check "not the master and its workers: $(bundle_key "$bundle" 'sorted((i["role"], i["pid"]) for i in m)')" \
    [ "$(bundle_key "$bundle" 'sorted((i["role"], i["pid"]) for i in m)')" = "$cluster" ]
check "no title" [ "$(bundle_key "$bundle" 'sum("cluster worker" in i["title"] and "[shop]" in i["title"] for i in m)')" = 2 ]
works "$jprof" --show_bytes "$bundle"
works "$jprof" --show_bytes --member=master "$bundle"
no_dumps d
check "nobody answers" [ -n "$(ask)" ]

# explain snaps them itself, and leaves nothing.
bundles=$(ls -A | grep -c "[.]jprof$")
works "$jprof" explain --puma="$first"
prints "^Puma of process $master: 3 processes, up for less than a minute: [0-9.]+ MB"
prints '^ +[0-9.]+ +[+-]?[0-9. ]*sum of Pss of 3 processes; shared memory counts once$'
prints '^Copy-on-write: of [0-9]+ MB that the master has'
says
shared_kb() { # pages of files on a tmpfs are dirty and shared, too, and not anonymous
    awk '/^Shared_Dirty/ { shared = $2 } /^Anonymous/ { sum += shared < $2 ? shared : $2 } END { print sum / 2 }' \
        "/proc/$first/smaps" "/proc/$second/smaps"
}
works "$jprof" explain --json --puma="$master"
checks=$((checks + 1))
python3 -c 'import json, sys
d = json.load(open("out"))
near = lambda bytes, kb: abs(bytes / 1024 - float(kb)) < 3000
sys.exit(not (d["workers"] == 2 and near(d["before_fork"], sys.argv[1]) and near(d["worker_shared"], sys.argv[2])))' \
    "$(awk '/^RssAnon/ { print $2 }' "/proc/$master/status")" "$(shared_kb)" || fail "not what /proc says of master and workers"
check "it left a file" [ "$(ls -A | grep -c "[.]jprof$")" = "$bundles" ]
no_dumps d
check "nobody answers" [ -n "$(ask)" ]

works "$jprof" snap --puma="$first" -o byworker.jprof
check "not the cluster" [ "$(bundle_key byworker.jprof 'len(m)')" = 3 ]
works "$jprof" snap --children-of="$master" --gc -o children.jprof
check "not the workers" [ "$(bundle_key children.jprof '[i["role"] for i in m]')" = "['worker', 'worker']" ]
run "$jprof" snap
prints "^ *$master .* yes, lg 12 +master +puma [0-9.]+ \(unix://puma.sock\) \[shop\]"
prints "^ *$first +$master .* worker +puma: cluster worker [01]: $master \[shop\]"

# Puma's own USR2 would restart it.
exits_with 1 "$jprof" snap --puma="$master" --signal=USR2 -o signal.jprof
check "not a line for each: $(cat err)" [ "$(grep -c 'USR2 is not the agent' err)" -eq 3 ]
check "a file was made" [ ! -e signal.jprof ]
exits_with 1 "$jprof" snap "$master" --signal=USR2 --trust-handler=USR2 -o signal.jprof
says "jprof: process $master: is a puma, which USR2 restarts: not sent"
check "a worker or the master is another" [ "$(workers)" = "$first $second " ]
check "it was restarted" lacks puma.out 'Restarting'

# jprof serve has them in one profile, apart by their labels.
if command -v curl >/dev/null; then
    "$jprof" serve --puma="$master" --listen=127.0.0.1:0 >place 2>served.err </dev/null &
    server=$!
    started="$started $server"
    until_true 60 test -s place || { cat served.err; exit 1; }
    works curl -sSf -o served.pb.gz "$(cat place)"
    kill -TERM "$server"
    if command -v go >/dev/null; then
        HOME=$tmp PPROF_TMPDIR=$tmp works go tool pprof -symbolize=none -tags -nodecount=1000 served.pb.gz
        for label in master 'worker 0' 'worker 1' startup 'before the fork'; do
            prints "[(] *[0-9.]+%[)]: $label\$"
        done
        share=$(sed -nE '/^ *worker: /,/^ *$/s/.*[(] *([0-9.]+)%[)]: .*/\1/p' out | awk '{ sum += $1 } END { print sum }')
        check "master and workers have $share % of it" awk -v share="$share" 'BEGIN { exit !(share > 99.9 && share < 100.1) }'
    fi
fi

# A worker ends, the others are kept.
kill -STOP "$second"
exits_with 1 "$jprof" snap --children-of="$master" --timeout=1 -o one.jprof
says_like "process $second: its agent does not answer in time"
check "not the other worker" [ "$(bundle_key one.jprof '[i["pid"] for i in m]')" = "[$first]" ]
kill -CONT "$second"
works "$jprof" snap --children-of="$master" -o two.jprof
check "nobody answers" [ -n "$(ask)" ]
check "a worker or the master is another" [ "$(workers)" = "$first $second " ]
finish
