#!/bin/sh
# jprof snap on a Unicorn: master and worker; its USR2 stays its own, and what that starts has the agent, too.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_ruby
need_agent
unicorn=$(command -v unicorn) || skip "no unicorn here (Debian: unicorn)"
command -v python3 >/dev/null || skip "no python3 here"
rack_app
cat >unicorn.rb <<END
worker_processes 1
preload_app true
listen "$tmp/sock"
pid "$tmp/pid"
END
mkdir d
RACK_ENV=production LD_PRELOAD="$jemalloc:$agent" MALLOC_CONF="prof:true,lg_prof_sample:12,prof_prefix:$tmp/d/app" \
    "$ruby" "$unicorn" -c unicorn.rb config.ru >unicorn.out 2>&1 </dev/null &
first=$!
started="$started $first"

# ask: one request; its answer is the worker's pid.
ask() {
    "$ruby" -rsocket -e 's = UNIXSocket.new("sock"); s.write("GET / HTTP/1.0\r\n\r\n"); puts s.read[/\d+\z/]' 2>/dev/null
}
worker_of() {
    cat /proc/"$1"/task/*/children 2>/dev/null
}
# is_up MASTER: with its worker
is_up() {
    announced "$1" && [ "$(worker_of "$1" | wc -w)" -ge 1 ] && for p in $(worker_of "$1"); do announced "$p" || return 1; done
}
until_true 60 is_up "$first" || { cat unicorn.out; exit 1; }
until_true 60 ask >/dev/null || { cat unicorn.out; exit 1; }
worker=$(worker_of "$first" | tr -d ' ')

is_quiet "$jprof" snap "$first" --children-of="$first" -o both.jprof
check "not master and worker" [ "$(bundle_key both.jprof 'sorted(i["pid"] for i in m)')" = \
    "$(printf '%s\n' "$first" "$worker" | sort -n | paste -sd, | sed 's/,/, /; s/.*/[&]/')" ]
check "another worker" [ "$(ask)" = "$worker" ]

# It is not asked by its own signal; when it is sent that, it starts another master.
exits_with 1 "$jprof" snap "$first" --signal=USR2 -o signal.jprof
says_like "USR2 is not the agent"
exits_with 1 "$jprof" snap "$first" --signal=USR2 --trust-handler=USR2 -o signal.jprof
says_like 'which USR2 restarts: not sent'
check "it was restarted" [ ! -e pid.oldbin ]
kill -USR2 "$first"
second() {
    [ -s pid.oldbin ] && [ -s pid ] && master=$(cat pid) && [ "$master" -ne "$first" ] && is_up "$master"
}
until_true 60 second || { cat unicorn.out; exit 1; }
started="$started $master"
is_quiet "$jprof" snap "$master" --children-of="$master" --gc -o second.jprof
check "not master and worker" [ "$(bundle_key second.jprof 'len(m)')" = 2 ]
lives "$first"
kill -QUIT "$first"
until_true 60 eval '! alive "$first"'
check "nobody answers" [ -n "$(ask)" ]
works "$jprof" snap "$master" -o third.jprof
no_dumps d
for p in $(worker_of "$master"); do started="$started $p"; done
finish
