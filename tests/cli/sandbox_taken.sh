#!/bin/sh
# A child that an object file has taken over gets no file that it may not have, makes nobody wait for ever, and changes
# the names of no other user's files, nor of other directories'.
# usage: sandbox_taken.sh JPROF JPROF_STUBBED: the latter's child does what STUB says, see src/stubbed.c
stubbed=$(realpath "$2")
. "$(dirname "$0")/lib.sh"
find_jemalloc
mkdir evil evil4 good elsewhere
fill() {
    printf '#include <stdlib.h>\nstatic void *volatile kept;\nvoid %s_fill(void)\n{\n\tkept = malloc(100000);\n}\n' "$1"
}

# library DIR OPTION...: DIR/libDIR.so with its .dwo beside it.
library() {
    dir=$1
    shift
    (cd "$dir" && fill "$dir" >"$dir.c" && ${CC:-cc} "$@" -O0 -fPIC -c "$dir.c" && ${CC:-cc} -shared -o "lib$dir.so" "$dir.o")
}
library evil -gdwarf-5 -gsplit-dwarf && library evil4 -gdwarf-4 -gsplit-dwarf &&
    library good -gdwarf-5 -gsplit-dwarf || skip "no compiler, or none of split debug information"
printf 'void evil_fill(void), evil4_fill(void), good_fill(void);\nint main(void) { evil_fill(); evil4_fill(); good_fill(); }\n' >main.c
${CC:-cc} -g -O0 -o main main.c evil/libevil.so evil4/libevil4.so good/libgood.so -Wl,-rpath,"$tmp/evil:$tmp/evil4:$tmp/good"
profiled "prof_final:true,lg_prof_sample:0,prof_prefix:$tmp/main" ./main
mv main.*.f.heap main.heap

# ---- files that it wants ----------------------------------------------------------------------------------
echo "SECRET of the user" >elsewhere/secret.txt
for dir in evil evil4; do
    objcopy --add-section .secret=elsewhere/secret.txt $dir/$dir.dwo || skip "no objcopy"
    cp $dir/$dir.dwo elsewhere
done
cp good/good.dwo elsewhere

# gives WHAT LIBRARY DIR NAME: who asks for NAME of the compilation in DIR gets "all of it", "a part" or "nothing".
gives() {
    works env STUB="steal=lib$2.so" STUB_DIR="$3" STUB_NAME="$4" "$stubbed" --lines --show_bytes main.heap
    check "it did not get $1 of $4 in $3" grep -q "it said: was given: $1)" err
    check "the secret is shown" no_line SECRET out
}
gives "all of it" evil "$tmp/evil" evil.dwo
gives "all of it" evil "$tmp/elsewhere" evil.dwo
gives "all of it" evil "$tmp/evil" ../elsewhere/evil.dwo # proven by the ids in both files' headers
gives "a part" evil4 "$tmp/evil4" evil4.dwo              # DWARF 4: nothing is proven
gives "a part" evil4 "$tmp" elsewhere/evil4.dwo
gives "a part" evil4 "$tmp" "$tmp/elsewhere/evil4.dwo"
for library in evil evil4; do
    gives nothing $library "$tmp/elsewhere" secret.txt
    gives nothing $library "$tmp/elsewhere" "$tmp/elsewhere/secret.txt"
    gives nothing $library "$tmp/evil" ../elsewhere/secret.txt
    gives nothing $library "$tmp/elsewhere" none.dwo
    gives nothing $library "$tmp/good" libgood.so
done
gives nothing evil "$tmp/elsewhere" good.dwo # another's id
gives nothing evil4 "$tmp/evil4" "$tmp/elsewhere/evil4.dwo"
gives nothing evil4 "$tmp/evil4" ../elsewhere/evil4.dwo
gives nothing evil4 "$tmp/evil4" sub/../../elsewhere/evil4.dwo
gives nothing evil4 relative "$tmp/elsewhere/evil4.dwo"

# ---- it makes nobody wait ---------------------------------------------------------------------------------
JPROF_CACHE= STUB=pend-slow=libevil.so timeout 300 "$stubbed" --lines --show_bytes main.heap >slow.out 2>slow.err &
slow=$!
for how in pend pend-new; do
    works env STUB=$how=libevil.so "$stubbed" --lines --show_bytes main.heap
    check "no line" grep -qE '/libevil\.so gives no names: (the process that reads it asks for the same \.dwo files again and again|reading it takes too long: more than 10 s)$' err
    prints '^ *114688 .* good_fill .*/good\.c:5$'
    prints '^ *114688 .* libevil\+0x[0-9a-f]+$'
done

# ---- names of others --------------------------------------------------------------------------------------
# keeps_true WHO: neither of libevil.so and libgood.so changes the other's names, and none is kept that is a lie.
keeps_true() {
    sleep 2.1 # what was changed just now is not kept
    for pair in evil:good good:evil; do
        rm -rf kept
        works env JPROF_CACHE="$tmp/kept" STUB="lie=lib${pair%:*}.so" "$stubbed" --lines --show_bytes main.heap
        prints "^ *114688 .* ${pair%:*}_evil " # it is taken over
        check "$1: lib${pair%:*}.so changed names of lib${pair#*:}.so" grep -q "^ *114688 .* ${pair#*:}_fill " out
        run env JPROF_CACHE="$tmp/kept" "$stubbed" --lines --show_bytes main.heap
        check "$1: a lie about lib${pair#*:}.so is kept" grep -q "^ *114688 .* ${pair#*:}_fill " out
    done
}
keeps_true "two directories"
what="a child that always wants another file, in its time"
wait $slow
status=$?
mv slow.out out
mv slow.err err
exits 0
check "no line" grep -q '/libevil\.so gives no names: reading it takes too long: more than 10 s$' err
prints '^ *114688 .* good_fill .*/good\.c:5$'

chmod 755 "$tmp"
if [ "$(id -u)" = 0 ] && chown 65533 evil/libevil.so evil/evil.dwo 2>/dev/null; then
    gives "all of it" evil "$tmp/evil" evil.dwo
    gives nothing evil "$tmp/elsewhere" evil.dwo # is root's
    chown 65532 elsewhere/evil.dwo
    gives nothing evil "$tmp/elsewhere" evil.dwo
    chown 65533 elsewhere/evil.dwo
    gives "all of it" evil "$tmp/elsewhere" evil.dwo
    mv good/libgood.so evil
    ln -s ../evil/libgood.so good
    chown 65532 evil/libgood.so
    keeps_true "two users"
fi
finish
