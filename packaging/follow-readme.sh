#!/bin/sh
# Follows the README, from "Find a leak" on, word by word: its commands are read from it. A Puma with a leak of one known line
# is the program. Run it as the user that a newcomer is, with jprof installed; needs bundler and Puma.
# usage: sh packaging/follow-readme.sh README.md
set -eu

die() {
    echo "follow-readme.sh: $*" >&2
    for file in puma.log out err; do [ ! -s "$file" ] || { echo "-- $file" && tail -n 15 "$file"; } >&2; done
    exit 1
}

readme=$(CDPATH='' cd -- "$(dirname -- "$1")" && pwd)/${1##*/}
work=$(mktemp -d)
server=
cleanup() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    cd / && rm -rf "$work"
}
trap cleanup EXIT
cd "$work"

cat >config.ru <<'END'
# frozen_string_literal: true
KEPT = []
run lambda { |env|
  KEPT << ("x" * 20_000) if env["PATH_INFO"] == "/grow"
  [200, { "content-type" => "text/plain" }, ["ok\n"]]
}
END
line=$(grep -n 'KEPT <<' config.ru | cut -d : -f 1)
printf 'source "https://rubygems.org"\ngem "puma"\n' >Gemfile

# A port that is free now.
port=$(ruby -rsocket -e 'server = TCPServer.new("127.0.0.1", 0); puts server.addr[1]')
export PORT="$port"
mkdir config
echo "bind 'tcp://127.0.0.1:$port'" >config/puma.rb

ask() { # PATH TIMES
    ruby -rnet/http -e 'Net::HTTP.start("127.0.0.1", ENV["PORT"].to_i) { |http|
        Integer(ARGV[1]).times { http.get(ARGV[0]).code == "200" or abort } }' "$1" "$2"
}

# The blocks of "Find a leak": one command a line, "$ " before those whose output is described.
awk '/^## / { on = $0 == "## Find a leak" } on && /^       / { sub(/^ *(\$ )?/, ""); print }' "$readme" >steps
[ "$(wc -l <steps)" -eq 4 ] || die "the README has $(wc -l <steps) commands to find a leak, not 4"

# ---- a process under jprof, two snapshots, what grew ----
command=$(sed -n 1p steps)
$command >puma.log 2>&1 &
server=$!
tries=0
until ask / 1 2>/dev/null; do
    tries=$((tries + 1))
    [ "$tries" -lt 240 ] && kill -0 "$server" 2>/dev/null || die "$command: nobody answers"
    sleep 0.5
done
ask / 100
for step in 2 3; do
    command=$(sed -n ${step}p steps)
    $command >out 2>err || die "$command: exit status $?"
    [ $step -eq 3 ] || ask /grow 2000
done
command=$(sed -n 4p steps)
$command >out 2>err || die "$command: exit status $?"
grep -qE "(GREW|GROWING|GROWN|\+[0-9.]+ MB).*config\.ru:$line\b" out || die "$command: not the line config.ru:$line"
echo "\$ $command"
grep -m 3 . out

# ---- the questions ----
pid=$(pgrep -u "$(id -u)" -f '^puma ' | head -n 1)
awk '/^## / { on = $0 == "## Questions" } on && /^\|/' "$readme" | grep -o '`jprof [^`]*`' | tr -d '`' >questions
count=$(wc -l <questions)
[ "$count" -ge 8 ] || die "the README has $count commands for its questions"
sed -i "s/=RE /=KEPT|config /; s/ PID\$/ ${pid:-$server}/" questions
while read -r command; do
    # The newest snapshot, which the question before has made.
    # shellcheck disable=SC2012
    command=$(echo "$command" | sed "s/ SNAPSHOT\$/ $(ls -t ./*.jprof | head -n 1 | sed 's,/,\\/,g')/")
    if $command >out 2>err; then
        continue
    fi
    case $command in
    *--svg*) grep -q 'install graphviz' err && continue ;;
    *--peek*) grep -q 'no function' err && continue ;;
    *--by=tag*) grep -q 'no stack of the dump has a tag' err && continue ;;
    esac
    die "$command: exit status not 0"
done <questions

jprof doctor "${pid:-$server}" >out 2>err || die "jprof doctor: exit status $?"
jprof cache >out 2>err || die "jprof cache: exit status $?"
jprof cache --empty >out 2>err || die "jprof cache --empty: exit status $?"
[ -z "$(find "${XDG_CACHE_HOME:-$HOME/.cache}/jprof" -type f 2>/dev/null)" ] || die "jprof cache --empty left files"
echo "the README's $((4 + count)) commands work: config.ru:$line was found by the 4 of \"Find a leak\""
