#!/bin/sh
# An unpacked image: every path in it, links too, means one inside.
. "$(dirname "$0")/lib.sh"
need readelf objcopy

# lay DIR: moves DIR's files below DIR/root, as if the image had been unpacked there.
lay() {
    mkdir -p "$1/root$work"
    mv "$1/bin" "$1/moved"
    mkdir -p "$1/root$work/$1"
    mv "$1/moved" "$1/root$work/$1/bin"
}

build whole -gdwarf-5
lay whole
expect lines whole '' "--sysroot=$work/whole/root"

# By build-id, over absolute links inside; the same paths on the host lead elsewhere.
build id -gdwarf-5
cp id/bin/subject id/unstripped
debug=$(id_path id/bin/subject /usr/lib/debug)
separate id/bin/subject id/subject.debug
lay id
mkdir -p "id/root$(dirname "$debug")" id/root/srv/debug
mv id/subject.debug id/root/srv/debug/subject.debug
ln -s /srv/debug/subject.debug "id/root$debug"
expect lines id '' "--sysroot=$work/id/root"

# A debug directory of the user's: inside, and on the host.
mkdir -p id/root/opt
mv id/root/usr/lib/debug id/root/opt/dbg
nameless id '' "--sysroot=$work/id/root"
expect lines id '' "--sysroot=$work/id/root" --debug-dir=/opt/dbg
mkdir -p "$(dirname "$(id_path id/unstripped id/dbg)")"
cp id/unstripped "$(id_path id/unstripped id/dbg)"
rm -r id/root/opt
expect lines id '' "--sysroot=$work/id/root" "--debug-dir=$work/id/dbg"
rm -r id/dbg

# A link that leads out stays inside, where there is nothing.
mkdir -p "id/root$(dirname "$debug")"
cp id/unstripped outside.debug
ln -s "$work/outside.debug" "id/root$debug"
nameless id '' "--sysroot=$work/id/root"
ln -sf ../../../../../../../../../../../../../../../../..$work/outside.debug "id/root$debug"
nameless id '' "--sysroot=$work/id/root"

# Debug link, the program reached by an absolute link.
build link -gdwarf-5
separate link/bin/subject link/bin/subject.debug
(cd link/bin && objcopy --add-gnu-debuglink=subject.debug subject)
lay link
mkdir -p link/root/srv
mv "link/root$work/link/bin" link/root/srv/app
ln -s /srv/app "link/root$work/link/bin"
expect lines link '' "--sysroot=$work/link/root"
mkdir -p link/root/usr/lib/debug/srv/app
mv link/root/srv/app/subject.debug link/root/usr/lib/debug/srv/app
expect lines link '' "--sysroot=$work/link/root"

# .dwo beside the program are found; those at their old place are said to be missing, not taken from the host.
build split -gdwarf-5 -gsplit-dwarf
lay split
mv split/obj split/kept
mkdir -p "split/root$work/split/obj"
cp split/kept/*.dwo "split/root$work/split/obj"
expect functions split 'is missing' "--sysroot=$work/split/root"
cp split/kept/*.dwo "split/root$work/split/bin"
expect lines split '' "--sysroot=$work/split/root"
rm "split/root$work/split/bin/"*.dwo
mv split/kept split/obj
expect functions split 'lies outside the sysroot' "--sysroot=$work/split/root"

# dwz by an absolute path.
if command -v dwz >/dev/null; then
    build dwz -gdwarf-4
    $CC -g -O1 -gdwarf-4 -Wl,--build-id -DOTHER -o dwz/bin/second dwz/src/subject.c dwz/src/part.c
    dwz -L none -l none -m dwz/shared -M "$work/dwz/common" dwz/bin/subject dwz/bin/second
    lay dwz
    cp dwz/shared dwz/common
    expect functions dwz 'which is missing' "--sysroot=$work/dwz/root"
    mv dwz/common "dwz/root$work/dwz/common"
    expect lines dwz '' "--sysroot=$work/dwz/root"
else
    echo "no dwz here"
fi

# Through the root of a process.
expect lines whole '' "--sysroot=$work/whole/root/../root"
build plain -gdwarf-5
expect lines plain '' "--sysroot=/proc/$$/root"
