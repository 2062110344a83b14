#!/bin/sh
# One name, one thing: lists functions, structs, enums, unions and macros that several files of a library or program,
# and of all of them (project), define, with their files, and files of one name; fails where there are more than are
# allowed. Two files of which the build takes one (demangle_libiberty.c, demangle_cxxabi.c) are one. Reads the sources,
# for a compiler leaves no trace of what it inlines; clang-format sees to it that a definition begins in the first
# column and its body with a line that is { alone.
# usage: sh tests/names-unique.sh SOURCE_ROOT [LIST]
# With LIST the duplicates are written to that file, too.
set -eu

# May only fall: who takes duplicates away writes the new count here.
enforced=false # while names are still being put right, it only reports
allowed='libjprof 52 jeprof-c 10 dot 0 agent 0 project 82 files 2'

cd "$1"
list=${2:-/dev/null}
case $list in /*) ;; *) list=$OLDPWD/$list ;; esac
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
status=0

# NAME FILE of each definition, in the first column as the style has it.
definitions() {
    awk '
        FNR == 1 { head = "" }
        /^#define [A-Za-z_]/ { split($2, macro, "("); print macro[1], FILENAME; next }
        /^(static |const |typedef )*(struct|enum|union) [A-Za-z_0-9]+ \{/ {
            for (i = 1; $i !~ /^(struct|enum|union)$/; i++) ;
            print $i " " $(i + 1), FILENAME
            head = ""
            next
        }
        /^\{$/ && head ~ /\(/ {
            gsub(/__attribute__\(\([^;{]*\)\) */, "", head)
            sub(/ *\(.*/, "", head)
            sub(/.*[ *]/, "", head)
            print head, FILENAME
            head = ""
            next
        }
        /^[A-Za-z_]/ { head = $0 }
        /^[ \t]/ { head = head $0 }
        /;[ \t]*$/ || /^[#}\/]/ { head = "" }
    ' "$@" | sed -E 's/_(none|lib|capstone|libedit|dlopen|libiberty|cxxabi|aarch64|x86_64)\.c$/_*.c/' | LC_ALL=C sort -u
}

# LABEL: reads NAME FILE, writes what has several files.
several() {
    awk -v label="$1" '
        { file = $NF; sub(/ [^ ]*$/, ""); files[$0] = files[$0] " " file; count[$0]++ }
        END { for (name in count) if (count[name] > 1) print label ": " name ":" files[name] }' | LC_ALL=C sort
}

: >"$list"
set -- $allowed
while [ $# -gt 0 ]; do
    room=$1 limit=$2
    shift 2
    if [ "$room" = files ]; then
        # A header and its source are one name.
        find agent dot jeprof-c libjprof tests -name '*.[ch]' |
            sed 's/\.[ch]$//' | LC_ALL=C sort -u | awk '{ stem = $0; sub(/.*\//, "", stem); print stem, $0 }' |
            several "$room" >"$tmp/again"
    else
        folder=$room
        [ "$room" != project ] || folder='libjprof jeprof-c dot agent'
        definitions $(find $folder -name '*.[ch]' | LC_ALL=C sort) >"$tmp/definitions"
        [ -s "$tmp/definitions" ] || { echo "no definition in $room"; exit 1; }
        several "$room" <"$tmp/definitions" >"$tmp/again"
    fi
    cat "$tmp/again" >>"$list"
    count=$(wc -l <"$tmp/again")
    echo "$room: $count names stand for several things, $limit are allowed"
    if [ "$count" -gt "$limit" ]; then
        cat "$tmp/again"
        [ $enforced = false ] || status=1
    elif [ "$count" -lt "$limit" ]; then
        echo "$room: write $count into \$allowed of tests/names-unique.sh, so that it cannot rise again"
    fi
done
exit "$status"
