#!/bin/sh
# usage: whole-dumps.sh JPROF ADDRESSES CASES
set -eu
for tool in python3 readelf addr2line; do
    command -v $tool >/dev/null || { echo "no $tool here"; exit 77; }
done
exec python3 "$(dirname "$0")/oracle.py" "$1" "$2" "$3/sysroot" "$3"/ruby31/*.heap "$3"/puma/*.heap
