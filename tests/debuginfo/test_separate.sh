#!/bin/sh
# Debug information in files of its own: build-id directories, .gnu_debuglink, dwz, --add_lib.
. "$(dirname "$0")/lib.sh"
need readelf objcopy

# ---- by build-id --------------------------------------------------------------------------------
build id -gdwarf-5
cp id/bin/subject id/whole
separate id/bin/subject "$(id_path id/whole id/dbg)"
nameless id ''
expect lines id '' "--debug-dir=$work/id/dbg"
expect lines id '' --debug-dir=id/dbg
expect lines id '' "--debug-dir=$work/nowhere,,$work/id/dbg"

# Stripped of all but .symtab: names, but no lines; the debug file brings them.
objcopy --strip-debug id/whole id/bin/subject
expect functions id ''
expect lines id '' "--debug-dir=$work/id/dbg"
objcopy --strip-all id/whole id/bin/subject

# The first directory has a file of another build under this build-id; the second is right.
build other -gdwarf-5 -DOTHER -O2
mkdir -p "$(dirname "$(id_path id/whole id/wrong)")"
cp other/bin/subject "$(id_path id/whole id/wrong)"
nameless id 'is of another build: its build-id is' "--debug-dir=$work/id/wrong"
expect lines id '' "--debug-dir=$work/id/wrong,$work/id/dbg"

# No debug file at all.
echo rubbish >"$(id_path id/whole id/wrong)"
nameless id 'is no ELF file' "--debug-dir=$work/id/wrong"
rm "$(id_path id/whole id/wrong)"
mkfifo "$(id_path id/whole id/wrong)"
nameless id '' "--debug-dir=$work/id/wrong"
head -c 3000 "$(id_path id/whole id/dbg)" >cut
rm "$(id_path id/whole id/wrong)"
cp cut "$(id_path id/whole id/wrong)"
nameless id '' "--debug-dir=$work/id/wrong"

# The same on the command line.
"$JPROF" info --all "--debug-dir=$work/id/dbg" id/truth.heap >info
grep -q 'bin/subject$' info && ! grep -q 'stripped' info || fail "info: $(cat info)"
"$JPROF" info --all id/truth.heap | grep -q "build-id $(build_id id/whole)" || fail "info does not name the build-id"
"$JPROF" --lines --fold=none --show_bytes --debug-dir="$work/id/dbg" id/truth.heap >report
grep -q ' plain .*/src/subject.c:' report || fail "no lines: $(cat report)"

# ---- debug link ---------------------------------------------------------------------------------
build link -gdwarf-5
separate link/bin/subject link/bin/subject.debug
(cd link/bin && objcopy --add-gnu-debuglink=subject.debug subject)
expect lines link ''
mkdir link/bin/.debug
mv link/bin/subject.debug link/bin/.debug
expect lines link ''
mkdir -p "link/dbg$work/link/bin"
mv link/bin/.debug/subject.debug "link/dbg$work/link/bin"
nameless link ''
expect lines link '' "--debug-dir=$work/link/dbg"

# One bit less, and it is another file.
cp "link/dbg$work/link/bin/subject.debug" link/bin
printf 'x' >>link/bin/subject.debug
nameless link 'is of another build: its CRC is'
expect lines link '' "--debug-dir=$work/link/dbg"
# The right CRC of a file of another build.
objcopy --only-keep-debug other/bin/subject link/bin/subject.debug
(cd link/bin && objcopy --remove-section=.gnu_debuglink subject && objcopy --add-gnu-debuglink=subject.debug subject)
nameless link 'is of another build: its build-id is'
rm link/bin/subject.debug

mkfifo link/bin/subject.debug
nameless link ''
rm link/bin/subject.debug

# Links to the program and to its directory.
(cd link && mv "dbg$work/link/bin/subject.debug" bin/subject.debug && cd bin &&
    objcopy --remove-section=.gnu_debuglink subject && objcopy --add-gnu-debuglink=subject.debug subject)
mv link/bin link/real
ln -s real link/bin
expect lines link ''

# What a link may not say, and a section that is none.
printf '../bin/subject.debug\0\0\0\0\0\0\0\0' >bad
objcopy --remove-section=.gnu_debuglink --add-section .gnu_debuglink=bad link/real/subject
nameless link 'its .gnu_debuglink is no file name'
printf 'abc' >bad
objcopy --remove-section=.gnu_debuglink --add-section .gnu_debuglink=bad link/real/subject
nameless link ''

# Without a build-id the link alone leads there.
build bare -gdwarf-4 -Wl,--build-id=none
separate bare/bin/subject bare/bin/subject.debug
(cd bare/bin && objcopy --add-gnu-debuglink=subject.debug subject)
expect lines bare ''

# ---- --add_lib ----------------------------------------------------------------------------------
expect lines id '' "--add_lib=$work/id/whole"
mv id/bin/subject id/gone
"$FRAMES" --functions id/truth.heap | grep -q 'plain' && fail "named without a file"
mkdir id/elsewhere
cp id/whole id/elsewhere/subject
expect lines id '' "--add_lib=$work/id/elsewhere/subject"
expect lines id "$work/id/whole stands in for $work/id/bin/subject" "--add_lib=/bin/sh,$work/id/whole"
"$FRAMES" --functions "--add_lib=$work/link/real/subject.debug,/bin/sh" id/truth.heap | grep -q plain &&
    fail "a file that does not fit is used"
"$FRAMES" --add_lib=/bin/sh id/truth.heap | grep -q '^reason: No such file' ||
    fail "a file of another name that does not fit is no contradiction"
# --lib_prefix finds the program too, by any end of its path.
expect lines id '' "--lib_prefix=$work/nowhere,$work/id/elsewhere"
mkdir -p "id/copy/bin"
cp id/whole id/copy/bin/subject
expect lines id '' "--lib_prefix=$work/id/copy"
# The kernel's mark of a file that is gone is no part of its name.
mkdir gone
for part in lines functions; do cp id/truth.$part gone; done
sed "s|$work/id/bin/subject\$|& (deleted)|" id/truth.heap >gone/truth.heap
grep -q 'subject (deleted)$' gone/truth.heap || fail "no mark was set"
expect lines gone '' "--lib_prefix=$work/id/copy"
expect lines gone '' "--add_lib=$work/id/elsewhere/subject"
"$JPROF" --lines --fold=none --lib_prefix="$work/id/copy" id/truth.heap | grep -q ' plain .*subject.c:' ||
    fail "jprof --lib_prefix does not apply to the program"
"$JPROF" --lines --fold=none --add_lib="$work/id/elsewhere/subject" id/truth.heap | grep -q ' plain .*subject.c:' ||
    fail "jprof --add_lib does not apply to the program"

# ---- eu-strip -----------------------------------------------------------------------------------
if command -v eu-strip >/dev/null; then
    build eu -gdwarf-5
    (cd eu/bin && eu-strip -f subject.debug subject)
    expect lines eu ''
else
    echo "no eu-strip here"
fi

# ---- dwz ----------------------------------------------------------------------------------------
command -v dwz >/dev/null || { echo "no dwz here" && exit 0; }
multi() { # DIR PATH_AS_WRITTEN: two programs that share a file, which is made at DIR/shared
    build "$1" -gdwarf-4 -fdebug-types-section -fno-debug-types-section
    $CC -g -O1 -gdwarf-4 -Wl,--build-id -DOTHER -o "$1/bin/second" "$1/src/subject.c" "$1/src/part.c"
    dwz -L none -l none -m "$1/shared" -M "$2" "$1/bin/subject" "$1/bin/second"
    readelf -SW "$1/bin/subject" | grep -q gnu_debugaltlink || fail "dwz shared nothing"
}

multi dwz "$work/dwz/common"
expect functions dwz "part of its debug information is in $work/dwz/common (dwz, build-id $(build_id dwz/shared)), which is missing"
cp dwz/shared dwz/common
expect lines dwz ''
cp dwz/bin/second dwz/common
expect functions dwz 'which is missing'
rm dwz/common
mkfifo dwz/common
expect functions dwz 'which is missing'
rm dwz/common
mkdir -p "$(dirname "$(id_path dwz/shared dwz/dbg)")"
cp dwz/shared "$(id_path dwz/shared dwz/dbg)"
expect lines dwz '' "--debug-dir=$work/dwz/dbg"
mkdir -p "dwz/mirror$work/dwz"
cp dwz/shared "dwz/mirror$work/dwz/common"
expect lines dwz '' "--debug-dir=$work/dwz/mirror"

# The way of DWARF 5 to share is refused.
build sup -gdwarf-5
$CC -g -O1 -gdwarf-5 -Wl,--build-id -DOTHER -o sup/bin/second sup/src/subject.c sup/src/part.c
if dwz --dwarf-5 -L none -l none -m sup/shared -M "$work/sup/shared" sup/bin/subject sup/bin/second &&
    readelf -SW sup/bin/subject | grep -q debug_sup; then
    expect functions sup 'names a file of shared parts (dwz --dwarf-5)'
else
    echo "dwz makes no .debug_sup here"
fi

# As Debian does it: stripped, by build-id, the shared file in .dwz of the same tree.
multi deb ../../.dwz/subject.debug
mkdir -p deb/dbg/.dwz
cp deb/shared deb/dbg/.dwz/subject.debug
separate deb/bin/subject "$(id_path deb/bin/subject deb/dbg)"
expect lines deb '' "--debug-dir=$work/deb/dbg"
rm -r deb/dbg/.dwz
expect_nothing='which is missing'
"$FRAMES" --functions "--debug-dir=$work/deb/dbg" deb/truth.heap >got
grep -q "$expect_nothing" got || fail "no word about the missing part: $(cat got)"
