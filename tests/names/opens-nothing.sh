#!/bin/sh
# Names are found in a child that may open no file, with the same answer.
# usage: opens-nothing.sh OPENS_NOTHING WHOLE SPLIT SEPARATE STRIPPED
# WHOLE, SPLIT: a subject with its debug information, and with it in .dwo files; SEPARATE.debug has that of SEPARATE.
set -eu
opens_nothing=$(realpath "$1") whole=$(realpath "$2") split=$(realpath "$3") separate=$(realpath "$4") stripped=$(realpath "$5")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# expect PATTERN WORDS...: the last line of what is reported
expect() {
    pattern=$1
    shift
    status=0
    "$opens_nothing" "$@" >out || status=$?
    [ $status -ne 77 ] || { cat out && exit 77; }
    [ $status -eq 0 ] || { echo "$*: exit status $status" && exit 1; }
    tail -n 1 out | grep -q "$pattern" || { echo "$*: not $pattern, but" && cat out && exit 1; }
}
some='[1-9][0-9]*'

expect "^used: $some of $some named, $some inlined, $some lines, 0 wanted, 0 lost" "$whole"
expect "^used: $some of $some named, $some inlined, $some lines, 0 wanted, 0 lost" "$split"
grep -q "0 inlined, .* $some wanted, 0 lost" out || { echo "no .dwo is wanted first" && exit 1; }
expect "^used: $some of $some named, $some inlined, $some lines, 0 wanted, 0 lost" "$separate" "$separate.debug"
expect '^refused: 0 of 0 named' "$separate"
expect '^refused: 0 of 0 named' "$stripped"

# dwz: a path that libdw would open by itself, whatever is there.
printf '/etc/passwd\0aaaaaaaaaaaaaaaaaaaa' >link
objcopy --add-section .gnu_debugaltlink=link "$whole" shared
expect '^shared-refused: 0 of 0 named' shared
expect '^shared-refused: 0 of 0 named' shared - shared
expect '^used: ' shared - "$whole"
