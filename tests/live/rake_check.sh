#!/bin/sh
# `rake jprof:check` of the folder ruby on a Rack application: FAIL names the line that keeps, PASS where nothing does, and
# what cannot be asked is said.
# usage: sh rake_check.sh AGENT SUBJECT JPROF
jprof=$(readlink -f "$3")
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here, or none that this C library can load"
ruby -e 'require "rack"; require "rake"' 2>/dev/null || skip "no rack and rake here"
JPROF_AGENT_LIB=$agent JPROF_JEMALLOC=$jemalloc
export JPROF_AGENT_LIB JPROF_JEMALLOC
mkdir bin
ln -s "$jprof" bin/jprof
PATH=$tmp/bin:$PATH
cat >config.ru <<'RUBY'
KEPT = []
run lambda { |env|
  KEPT << ("x" * 20_000) if env["PATH_INFO"] == "/keeps" # line 3
  [env["PATH_INFO"] == "/none" ? 404 : 200, { "content-type" => "text/plain" }, ["ok\n"]]
}
RUBY
echo 'require "jprof/tasks"' >Rakefile
# asked STATUS WORDS...
asked() {
    wanted=$1 status=0
    shift
    ruby -I "$here/../../ruby/lib" -S rake jprof:check "$@" >out 2>&1 || status=$?
    check "jprof:check $*: status $status, not $wanted: $(cat out)" [ "$status" -eq "$wanted" ]
}
asked 3 PATH=/keeps COUNT=1000
check "FAIL names the line: $(cat out)" eval 'grep -q "^FAIL: " out && grep -q "^1 .*config.ru:3" out'
asked 0 PATH=/other COUNT=500
check "PASS: $(cat out)" grep -q '^PASS: ' out
asked 0 COUNT=100
asked 1 PATH=/none COUNT=100
check "what is not there: $(cat out)" grep -q '^jprof:check: GET /none: 404' out
asked 1 PATH=none
check "no path: $(cat out)" grep -q 'PATH=none: no path' out
asked 1 COUNT=few
check "no number: $(cat out)" grep -q 'COUNT=few' out
rm bin/jprof
command -v jprof >/dev/null || {
    asked 1
    check "no jprof: $(cat out)" grep -q 'no jprof here' out
}
finish
