#!/bin/sh
# One name, one thing: lists functions, structs, enums, unions and macros that several files of a library or program
# define, or several of them together, with their files, and files of one name; fails where there is one. Two files of
# which the build takes one (demangle_libiberty.c, demangle_cxxabi.c) are one. Reads the sources, for a compiler leaves no
# trace of what it inlines; clang-format sees to it that a definition begins in the first column and its body with a
# line that is { alone.
# usage: sh tests/names-unique.sh SOURCE_ROOT
set -eu

cd "$1"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

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
    ' "$@" | sed -E 's/_(none|static|lib|capstone|libedit|dlopen|libiberty|cxxabi|aarch64|x86_64)\.c$/_*.c/' | LC_ALL=C sort -u
}

# LABEL: reads NAME FILE, writes what has several files.
several() {
    awk -v label="$1" '
        { file = $NF; sub(/ [^ ]*$/, ""); files[$0] = files[$0] " " file; count[$0]++ }
        END { for (name in count) if (count[name] > 1) print label ": " name ":" files[name] }' | LC_ALL=C sort
}

# A header and its source are one name.
find agent dot jeprof-c libjprof tests -name '*.[ch]' |
    sed 's/\.[ch]$//' | LC_ALL=C sort -u | awk '{ stem = $0; sub(/.*\//, "", stem); print stem, $0 }' |
    several files >"$tmp/again"

definitions $(find libjprof jeprof-c dot agent -name '*.[ch]' | LC_ALL=C sort) >"$tmp/definitions"
[ "$(wc -l <"$tmp/definitions")" -gt 1000 ] || { echo "there are hardly any definitions: the style is another"; exit 1; }
several names <"$tmp/definitions" >>"$tmp/again"

cat "$tmp/again"
echo "$(wc -l <"$tmp/again") names stand for several things"
[ ! -s "$tmp/again" ]
