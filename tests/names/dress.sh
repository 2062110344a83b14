#!/bin/sh
# Compiles a subject and dresses it: dress.sh OUTPUT DRESS COMMAND...
# DRESS is a list of options of objcopy, parted by blanks, or `separate`: strip it and put the debug
# information into OUTPUT.debug.
set -eu
out=$1 dress=$2
shift 2
"$@" -o "$out"
case $dress in
'') ;;
separate)
    objcopy --only-keep-debug "$out" "$out.debug"
    objcopy --strip-all "$out"
    ;;
*) objcopy $dress "$out" ;; # several words
esac
