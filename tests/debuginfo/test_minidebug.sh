#!/bin/sh
# MiniDebugInfo: the symbols of a stripped program in .gnu_debugdata, made as Fedora's find-debuginfo does.
. "$(dirname "$0")/lib.sh"
need readelf objcopy nm xz

build mini -gdwarf-5
program=mini/bin/subject
cp $program mini/whole

# The functions that .dynsym does not have, and nothing else of the program.
nm -D $program --format=posix --defined-only | awk '{ print $1 }' | sort >mini/dynamic
nm $program --format=posix --defined-only | awk '$2 ~ /[TtD]/ { print $1 }' | sort >mini/functions
comm -13 mini/dynamic mini/functions >mini/keep
objcopy --only-keep-debug $program mini/debug
objcopy -S --remove-section .gdb_index --remove-section .comment --keep-symbols=mini/keep mini/debug mini/small
objcopy --strip-all $program
cp $program mini/stripped

# embed FILE: makes FILE the program's .gnu_debugdata.
embed() {
    objcopy --add-section .gnu_debugdata="$1" mini/stripped $program
}

nameless mini ''
xz -k mini/small
embed mini/small.xz
expect functions mini ''
"$JPROF" info --all mini/truth.heap | awk '/bin\/subject$/ { exit !($6 != "-") }' || fail "info: not shown under symtab"

# A debug file with lines is better.
separate mini/whole "$(id_path mini/whole mini/dbg)"
expect lines mini '' "--debug-dir=$work/mini/dbg"

# What is damaged is said, and harms nothing.
head -c 200 mini/small.xz >bad
embed bad
nameless mini 'its .gnu_debugdata (MiniDebugInfo) cannot be used: its compressed data are damaged'
echo "no xz" >bad
embed bad
nameless mini 'it is not compressed with xz'
echo "no ELF file in here" | xz >bad
embed bad
nameless mini 'it holds no ELF file'
printf '' | xz >bad
embed bad
nameless mini 'it is empty'
head -c 300 mini/small | xz >bad
embed bad
nameless mini ''
head -c 140000000 /dev/zero | xz -1 >bad
embed bad
nameless mini 'it is larger than 128 MiB when unpacked'
# Every cut of the unpacked file, and bytes that were turned over.
size=$(wc -c <mini/small)
at=64
while [ "$at" -lt "$size" ]; do
    head -c "$at" mini/small | xz -0 >bad
    embed bad
    nameless mini ''
    cp mini/small turned
    printf '\377\377\377\377' | dd of=turned bs=1 seek="$at" conv=notrunc status=none
    xz -0 <turned >bad
    embed bad
    "$FRAMES" mini/truth.heap >got || fail "turned at $at: status $?: $(cat got)"
    at=$((at + size / 12))
done
