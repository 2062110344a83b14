#!/bin/sh
# Seven leaks planted in a Puma cluster, one at a time, and a control: a C extension, a cache of Strings, Hashes of more than 8
# entries, symbols and methods, documents of Nokogiri, threads, buffers that leave free places behind. diff or explain names
# file and line in its first five lines, and nothing is accused where nothing grows. With --old the agent has no Ruby stacks,
# as before it had any: the same lines say what kind of memory it is, and whose.
# Chance accuses a row in one of 100 reports. So without --runs a leak that was judged wrong is judged once more, anew.
# usage: ruby_planted.sh AGENT SUBJECT JPROF [--runs=N] [--leaks="cext string ..."] [--old] [--keep=DIRECTORY]
jprof=$(readlink -f "$3")
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here"
command -v puma >/dev/null || skip "no puma here (Debian: puma)"
ruby -e 'require "nokogiri"' 2>/dev/null || skip "no nokogiri here (Debian: ruby-nokogiri)"
shift 3
runs=
leaks="cext string hash names document thread buffer none"
old=
keep=
for word; do
    case $word in
    --runs=*) runs=${word#*=} ;;
    --leaks=*) leaks=${word#*=} ;;
    --old) old=ruby=off ;;
    --keep=*) keep=${word#*=} ;;
    *) echo "FAIL: unknown option $word"; exit 1 ;;
    esac
done
ruby -rrbconfig -e 'c = RbConfig::CONFIG; puts "-I#{c["rubyhdrdir"]}", "-I#{c["rubyarchhdrdir"]}"' >flags
# shellcheck disable=SC2046
${CC:-cc} -shared -fPIC -g -O1 $(cat flags) "$here/../../samples/app/ext/leaky.c" -o leaky.so 2>cc.err ||
    skip "no extension can be built here: $(head -n 1 cc.err)"
cp "$here/planted.ru" config.ru
printf '%s\n' 'workers 2' 'threads 2, 2' 'preload_app!' "bind 'unix://$tmp/puma.sock'" 'quiet' >puma.rb
conf=prof:true,lg_prof_sample:17,prof_prefix:$tmp/d/app
words=$old
SCALE=${old:+3}
SCALE=${SCALE:-1} # without Ruby stacks rows are functions, and a leak is in several of them
export LEAKS_AT="$tmp" LEAK SCALE

# load PHASE REQUESTS: with ten others by which the leak grows.
load() {
    ruby "$here/planted_load.rb" puma.sock "$1" "$2" 10 >load.out 2>&1 || { echo "FAIL: no answer"; cat load.out cried; exit 1; }
}
snap() {
    "$jprof" snap --puma="$pid" --gc -o "$1.jprof" >snap.out 2>&1 || { echo "FAIL: no snapshot"; cat snap.out; exit 1; }
}
# run_planted: three snapshots of a Puma with $LEAK, and what diff and explain say of them.
run_planted() {
    rm -f ./*.jprof puma.sock planted
    start puma -C puma.rb config.ru
    until_true test -S puma.sock
    load 1 300
    snap warm
    load 2 150
    snap later
    load 3 150
    snap last
    kill -TERM "$pid"
    wait "$pid" 2>/dev/null
    "$jprof" diff warm.jprof last.jprof >two 2>two.err
    "$jprof" diff warm.jprof later.jprof last.jprof >three 2>three.err
    "$jprof" explain warm.jprof last.jprof >explained 2>explained.err
    for screen in two three explained; do
        grep -v '^$' $screen | head -n 5 >$screen.answer
    done
    line=$(cat planted)
}
says_all() { # REGEX FILE...: each has it
    for file in "$@"; do
        [ "$file" = "$1" ] || grep -qE "$1" "$file" || return 1
    done
}
# What the lines say of memory without a Ruby line.
kind_of_leak() {
    case $LEAK in
    cext) echo 'leaky' ;;
    string) echo 'String' ;;
    hash) echo 'Hash' ;;
    names) echo 'methods|symbols' ;;
    document) echo 'nokogiri' ;;
    thread) echo 'threads|thread stacks' ;;
    esac
}
# judge: whether the screens say what is true.
judge() {
    case $LEAK$old in
    none*) ! grep -qE 'LEAK SUSPECT|GROWING' two three ;;
    buffer) says_all 'objects of (1536|1792) bytes' explained.answer && says_all "config.ru:$line" explained.answer ;;
    buffer*) says_all 'objects of (1536|1792) bytes' explained.answer ;;
    thread) says_all "config.ru:$line " two.answer three.answer || says_all "config.ru:$line" explained.answer ;;
    *ruby=off) says_all "$(kind_of_leak)" two.answer three.answer ;;
    *) says_all "config.ru:$line( |$)" two.answer three.answer ;;
    esac
}
# is_right: judged from a Puma of its own, where no runs are counted from a second one if need be.
is_right() {
    run_planted
    judge && return
    [ -z "$runs" ] || return 1
    echo "$LEAK: again"
    cat two.answer three explained.answer
    rm -f d/*
    run_planted
    judge
}
i=0
while [ "$i" -lt "${runs:-1}" ]; do
    for LEAK in $leaks; do
        checks=$((checks + 1))
        if is_right; then
            echo "run $i: $LEAK: right"
        else
            failures=$((failures + 1))
            echo "FAIL: run $i: $LEAK${old:+ without Ruby stacks}, config.ru:$line"
            cat two.answer three explained.answer
        fi
        [ -z "$keep" ] || { mkdir -p "$keep/$LEAK.$i" && cp ./*.jprof two three explained planted "$keep/$LEAK.$i"; }
        rm -f d/*
    done
    i=$((i + 1))
done
finish
