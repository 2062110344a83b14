#!/bin/sh
# Which route leaks, and which job: 20 of each, under a Puma with threads, fibers and a pool, and in a pool as Sidekiq's. The one
# that leaks is first, its number within its error; what was not handed on has no tag; and no URL or argument is a tag.
# usage: ruby_routes.sh AGENT SUBJECT JPROF [--runs=N]
jprof=$(readlink -f "$3")
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here"
command -v puma >/dev/null || skip "no puma here (Debian: puma)"
ruby -e 'require "sinatra/base"' 2>/dev/null || skip "no Sinatra here (Debian: ruby-sinatra)"
shift 3
runs=1
for word; do
    case $word in
    --runs=*) runs=${word#*=} ;;
    *) echo "FAIL: usage: ruby_routes.sh AGENT SUBJECT JPROF [--runs=N]"; exit 1 ;;
    esac
done
lib=$(CDPATH= cd -- "$here/../../ruby/lib" && pwd)
# The pool's threads belong to /start, which made them; on Ruby 3.3 with a stack of 1 MB each. Smaller ones, and the leak is first.
export RUBY_THREAD_VM_STACK_SIZE=131072
conf=prof:true,lg_prof_sample:14,prof_prefix:$tmp/d/app
words=

# judge KIND TEXT: of the dump and the file held, "ALL LEAKED FORGOTTEN" in bytes. Within 4.5 standard
# errors of the leaked strings, which are blocks of 2048 bytes: one of 50,000 is not.
judge() {
    "$jprof" --by=tag --json "$(ls d/*.heap)" >tags.json || return 1
    jq -r --arg kind "$1" --arg text "$2" --arg held "$(cat held)" '
        ($held | split(" ") | map(tonumber)) as [$all, $leaked, $forgotten] | (2048 / 2000) as $rounding
        | (1 - (-2048 / 16384 | exp)) as $chance | (2048 * ($leaked / 2000 * (1 - $chance) / $chance | sqrt)) as $usual
        | [.tags[] | select(.text)] as $tags | ([.tags[] | select(.text == null)][0] // {value: 0, error: 1}) as $none
        | "\($tags[0].kind) \($tags[0].text) \($tags[0].value | round) +-\($tags[0].error | round) for \($leaked); no tag \($none.value | round) for \($forgotten) and more",
          if $tags[0].kind != $kind or $tags[0].text != $text then "FAIL: another is first" else empty end,
          if ($tags[0].value - $leaked * $rounding | fabs) > 4.5 * $usual + $leaked * 0.01 then "FAIL: off" else empty end,
          if $none.value + 4.5 * $none.error < $forgotten then "FAIL: what was not handed on has a tag" else empty end,
          ($tags[] | select(.text | test("/[0-9]|secret"))
           | "FAIL: \(.text) is no template")' tags.json >judged
    cat judged
    ! grep -q FAIL judged
}

seed=0
first=0
while [ $seed -lt "$runs" ]; do
    LEAK=$((seed % 20))
    export LEAK
    start puma -I "$lib" -t 4:4 -b "unix://$tmp/puma.sock" "$here/routes.ru"
    until_true test -S puma.sock && ruby "$here/routes_load.rb" "$tmp/puma.sock" 1 1 >one 2>&1 ||
        { echo "FAIL: no answer"; cat one cried; exit 1; }
    check "load" eval 'ruby "$here/routes_load.rb" "$tmp/puma.sock" $seed 500 >held'
    field .ok dump gc=1 >/dev/null
    check "run $seed, routes: $(judge route "GET /route$LEAK/:id")" judge route "GET /route$LEAK/:id"
    tail -n 1 judged | sed "s/^/run $seed: /"
    python3 "$here/rubytable.py" tags "$(ls d/*.heap)" '#forget' >forgotten
    check "run $seed, a pool: $(cat forgotten)" eval 'grep -q "no tag$" forgotten && ! grep -v "no tag$" forgotten'
    end "$pid"
    rm -f d/* puma.sock held

    start ruby -I "$lib" "$here/jobs.rb"
    until_true test -e held
    field .ok dump gc=1 >/dev/null
    check "run $seed, jobs: $(judge job "Job$LEAK")" judge job "Job$LEAK"
    tail -n 1 judged | sed "s/^/run $seed: /"
    rm -f b.jprof
    "$jprof" bundle -o b.jprof "$(ls d/*.heap)" >/dev/null 2>&1
    "$jprof" --by=tag --json b.jprof | jq -c .tags >bundled
    check "a bundle has the same: $(cat bundled)" test "$(jq -c .tags tags.json)" = "$(cat bundled)"
    end "$pid"
    rm -f d/* held
    seed=$((seed + 1))
done
finish
