#!/bin/sh
# Prints the folder of a Ruby for musl, as Alpine has one: shared, with zlib, Fiddle, Psych, which `gem` needs, and a libgcc_s.so.1.
# Builds it first, once, from Debian 13's sources.
# usage: sh ruby.sh SYSROOT    it is kept beside SYSROOT, which packaging/musl/sysroot.sh made
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
sysroot=$1
final=$(dirname "$sysroot")/ruby-$(cat "$here/ruby.sh" "$sysroot"/logs/zlib.log | sha256sum | cut -c 1-12)
work=$final.work
log=$final.log
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# Of the system's settings of apt only the way to the network holds here.
sources() {
    mkdir -p apt/lists/partial apt/cache/archives/partial
    for suite in bookworm trixie; do
        echo "deb-src [signed-by=$keyring] http://deb.debian.org/debian $suite main"
    done >apt/sources.list
    set -- -o Dir::State::lists="$PWD/apt/lists" -o Dir::Cache="$PWD/apt/cache" -o Dir::Etc::sourcelist="$PWD/apt/sources.list" \
        -o Dir::Etc::sourceparts=/dev/null -o APT::Sandbox::User=root
    apt-get "$@" -q update
    apt-get "$@" -q source --download-only libffi/bookworm libyaml/bookworm ruby3.3
    dpkg-source --no-check -x libffi_*.dsc libffi
    dpkg-source --no-check -x libyaml_*.dsc libyaml
    dpkg-source --no-check -x ruby3.3_*.dsc ruby
    # Patches make configure.ac newer than what was made from it; nobody is to make that again.
    find libffi libyaml ruby -type f -exec touch -d 2001-01-01 {} +
    : >ruby/gems/bundled_gems # of the network
}

# What gcc has in the archive of its unwinder is hidden: each function gets an exported one, which goes there.
libgcc_s() {
    nm -g --defined-only "$sysroot/tc/libgcc_eh.a" | awk '$2 == "T" { print $3 }' | sort -u >names
    sed 's/.*/& of_eh_&/' names >renamed
    objcopy --redefine-syms=renamed "$sysroot/tc/libgcc_eh.a" eh.a
    { sed 's/.*/.globl &\n.type &, @function\n&: jmp of_eh_&/' names && echo '.section .note.GNU-stack,"",@progbits'; } >exports.s
    "$CC" -shared -Wl,-soname,libgcc_s.so.1 -o "$final/lib/libgcc_s.so.1" exports.s -Wl,--whole-archive eh.a -Wl,--no-whole-archive
    ln -s libgcc_s.so.1 "$final/lib/libgcc_s.so"
}

build() {
    cd "$work"
    sources
    mkdir -p "$final/lib"
    libgcc_s
    (cd libffi && ./configure --prefix="$final" --host="$(uname -m)-linux-musl" --disable-shared --with-pic --disable-docs &&
        make -j "$(nproc)" install)
    # Debian's sources of it have no configure.
    (cd libyaml && "$CC" -O2 -fPIC -Iinclude -DYAML_VERSION_STRING='"0.2.5"' -DYAML_VERSION_MAJOR=0 -DYAML_VERSION_MINOR=2 \
        -DYAML_VERSION_PATCH=5 -c src/*.c && ar rcs "$final/lib/libyaml.a" ./*.o && cp include/yaml.h "$final/include")
    cd ruby
    ./configure --prefix="$final" --with-libyaml-dir="$final" --enable-shared --disable-install-doc --disable-yjit \
        --disable-rjit --without-gmp --with-out-ext=openssl,readline,dbm,gdbm,syslog,pty,win32ole CXX=false optflags=-O2 debugflags=-g1 \
        LIBS='-Wl,--no-as-needed -lgcc_s' LDFLAGS="-L$final/lib -Wl,-rpath,$final/lib -Wl,-rpath,$sysroot/lib"
    make -j "$(nproc)"
    make install-nodoc
    "$final/bin/ruby" -rzlib -rfiddle -rpsych -rsocket -e 'p Zlib::VERSION, Fiddle.malloc(1)'
}

export CC="$sysroot/bin/musl-cc" PKG_CONFIG_LIBDIR="$final/lib/pkgconfig:$sysroot/lib/pkgconfig" LC_ALL=C
unset CFLAGS CPPFLAGS LDFLAGS LD_LIBRARY_PATH
if ! [ -f "$final/whole" ]; then
    rm -rf "$final" "$work"
    mkdir -p "$work"
    # In a shell of its own: `set -e` does not hold in what is part of a condition.
    status=0
    (
        set -eux
        build
    ) >"$log" 2>&1 </dev/null &
    wait $! || status=$?
    [ "$status" = 0 ] || { tail -n 20 "$log" >&2; echo "ruby.sh: no Ruby was built; the whole log is $log" >&2; exit 1; }
    rm -rf "$work"
    touch "$final/whole"
fi
echo "$final"
