#!/bin/sh
# Installs the gem where nothing of jprof is, and finds with it what a Puma keeps, as a user without rights, and what a Rails keeps,
# where that is installed.
# usage: sh packaging/gem-use.sh GEM     as root in a throw-away system with ruby, bundler, puma, libjemalloc2, and perhaps rails
set -eu

die() {
    echo "gem-use.sh: $*" >&2
    for file in puma.log err; do [ ! -s "$file" ] || tail -n 15 "$file" >&2; done
    exit 1
}

if [ "$(id -u)" -eq 0 ]; then
    gem install --local --no-document "$1" >/dev/null || die "gem install failed"
    id newcomer >/dev/null 2>&1 || useradd --create-home newcomer
    status=0
    su newcomer -c "PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C.UTF-8 sh $0 $1" || status=$?
    gem uninstall --all --executables jprof >/dev/null || die "gem uninstall failed"
    [ -z "$(find "$(gem environment gemdir)" -name '*jprof*')" ] || die "gem uninstall left files"
    exit "$status"
fi

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; cd / && rm -rf "$work"' EXIT
cd "$work"
printf 'source "https://rubygems.org"\ngem "puma"\ngem "jprof"\n' >Gemfile
cat >config.ru <<'END'
# frozen_string_literal: true
require "jprof"
KEPT = []
run lambda { |env|
  Jprof.tag("keep") { KEPT << ("x" * 20_000) } if env["PATH_INFO"] == "/grow" # line 5
  [200, { "content-type" => "text/plain" }, ["ok\n"]]
}
END
PORT=$(ruby -rsocket -e 'server = TCPServer.new("127.0.0.1", 0); puts server.addr[1]')
export PORT
mkdir config
echo "bind 'tcp://127.0.0.1:$PORT'" >config/puma.rb
ask() {
    ruby -rnet/http -e 'Net::HTTP.start("127.0.0.1", ENV["PORT"].to_i) { |http|
        Integer(ARGV[1]).times { http.get(ARGV[0]).code == "200" or abort } }' "$1" "$2"
}
bundle exec jprof run -- puma >puma.log 2>&1 &
server=$!
tries=0
until ask / 1 2>/dev/null; do
    tries=$((tries + 1))
    [ "$tries" -lt 240 ] && kill -0 "$server" 2>/dev/null || die "bundle exec jprof run -- puma: nobody answers"
    sleep 0.5
done
bundle exec jprof snap --puma --gc -o early.jprof 2>err || die "bundle exec jprof snap: exit status $?"
ask /grow 2000
bundle exec jprof snap --puma --gc -o late.jprof 2>err || die "bundle exec jprof snap: exit status $?"
bundle exec jprof diff early.jprof late.jprof >out 2>err || die "bundle exec jprof diff: exit status $?"
grep -q '^1 .*config.ru:5' out || die "diff does not name the line first: $(sed -n 1,8p out)"
grep -q '^ *for  *keep 100 %' out || die "diff does not name the tag"
bundle exec jprof diff --html -o growth.html early.jprof late.jprof 2>err || die "bundle exec jprof diff --html: exit status $?"
head -n 1 growth.html | grep -qi '^<!doctype html' || die "diff --html makes no page"
bundle exec jprof explain late.jprof >out 2>err || die "bundle exec jprof explain: exit status $?"
bundle exec jprof doctor "$server" >out 2>err || die "bundle exec jprof doctor: exit status $?"
echo "bundle exec jprof run, snap, diff, --html, explain and doctor work: Ruby $(ruby -e 'print RUBY_VERSION')"
if gem list -i '^railties$' >/dev/null; then sh "${0%/*}/gem-rails.sh"; fi
