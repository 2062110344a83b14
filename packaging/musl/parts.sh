#!/bin/sh
# Builds one part of the sysroot; one function each. Called by sysroot.mk.
# usage: sh parts.sh PART, with in the environment: into (the sysroot), sources, work, here, machine
set -eu
part=$1
log=$work/$part.log

# DSC: unpacks the source package DSC into the folder of this part and goes there.
source_of() {
    dpkg-source --no-check -x "$sources/$1"_*.dsc "$work/$part"
    cd "$work/$part"
    # Patches make configure.ac newer than what was made from it; nobody is to make that again.
    find . -type f -exec touch -d 2001-01-01 {} +
}

configure() {
    ./configure --prefix="$into" --host="$host" --disable-dependency-tracking \
        CFLAGS="${cflags:--O2 -g0}" CPPFLAGS="${cppflags:-}" LDFLAGS="${ldflags:-}" "$@"
}

# NAME VERSION SOURCE...: a library, shared and static, without the build system of its own. $flags, $libs.
library() {
    lib=$1
    version=$2
    shift 2
    objects=
    for source; do
        object=$(echo "${source%.c}.o" | tr / _)
        $cc -c -fPIC -O2 -w ${flags:-} -o "$object" "$source"
        objects="$objects $object"
    done
    $AR rcs "$into/lib/lib$lib.a" $objects
    $cc -shared -Wl,-soname,"lib$lib.so.$version" -o "$into/lib/lib$lib.so.$version" $objects ${libs:-}
    ln -s "lib$lib.so.$version" "$into/lib/lib$lib.so"
}

# NAME VERSION CFLAGS LIBS
pkg_config() {
    printf '%s\n' "Name: $1" "Description: $1" "Version: $2" "Cflags: $3" "Libs: -L$into/lib $4" \
        >"$into/lib/pkgconfig/$1.pc"
}

# For another machine than this one: Debian's is of this one.
part_musl() {
    source_of musl
    CC=${tools}gcc ./configure --target="$host" --prefix="$into" --syslibdir="$into/lib" --enable-wrapper=gcc
    make
    make install
    rm "$into/bin/musl-gcc"
    cp debian/musl-fts/fts.h "$into/include"
}

part_zlib() {
    source_of zlib
    CFLAGS='-O2 -g0' CHOST=$host ./configure --prefix="$into" --shared
    make libz.so.1.2.13 libz.a
    cp -P libz.so* libz.a "$into/lib"
    cp zlib.h zconf.h "$into/include"
    pkg_config zlib 1.2.13 "-I$into/include" -lz
}

part_xz() {
    source_of xz-utils
    configure --disable-nls --disable-doc --disable-xz --disable-xzdec --disable-lzmadec --disable-lzmainfo \
        --disable-lzma-links --disable-scripts
    make -C src/liblzma install
}

part_zstd() {
    source_of libzstd
    cd lib
    flags='-Icommon -DZSTD_DISABLE_ASM -DXXH_NAMESPACE=ZSTD_' library zstd 1 common/*.c compress/*.c decompress/*.c
    cp zstd.h zstd_errors.h "$into/include"
    pkg_config libzstd 1.5.4 "-I$into/include" -lzstd
}

# musl lacks the functions of three libraries; see shim/shim.c.
part_elfutils() {
    source_of elfutils
    mkdir shim
    $cc -c -O1 -fPIC -I"$here/shim" -o shim/shim.o "$here/shim/shim.c"
    for missing in argp fts obstack; do $AR rcs shim/lib$missing.a shim/shim.o; done
    cppflags="-I$here/shim" ldflags="-L$PWD/shim" configure --disable-werror --disable-nls \
        --disable-libdebuginfod --disable-debuginfod --disable-symbol-versioning \
        --with-zlib --with-lzma --without-bzlib --without-zstd
    make SUBDIRS='config lib libelf libcpu backends libebl libdwelf libdwfl libdw'
    make SUBDIRS='config libelf libebl libdwelf libdwfl libdw' install
    $AR rs "$into/lib/libdw.a" shim/shim.o lib/error.o # which the shared one has of libeu.a
}

part_pcre2() {
    source_of pcre2
    configure --disable-jit
    make libpcre2-8.la libpcre2-8.pc
    make lib_LTLIBRARIES=libpcre2-8.la install-libLTLIBRARIES install-nodist_includeHEADERS \
        pkgconfig_DATA=libpcre2-8.pc install-pkgconfigDATA
}

# Of the processors that jprof knows.
part_capstone() {
    source_of capstone
    make CAPSTONE_ARCHS='x86 aarch64' CAPSTONE_BUILD_CORE_ONLY=yes PREFIX="$into" LIBDIRARCH=lib install
}

part_cmocka() {
    source_of cmocka
    has=
    for header in ASSERT INTTYPES MALLOC SETJMP SIGNAL STDIO STDLIB STRING STRINGS UNISTD TIME; do
        has="$has -DHAVE_${header}_H=1"
    done
    flags="-Iinclude $has -DHAVE_STRUCT_TIMESPEC -DHAVE_STRSIGNAL -DHAVE_CLOCK_GETTIME -DHAVE_CLOCK_REALTIME
        -DHAVE_GCC_THREAD_LOCAL_STORAGE -DWORDS_SIZEOF_VOID_P=8 -D_GNU_SOURCE" library cmocka 0 src/cmocka.c
    cp include/cmocka*.h "$into/include"
    pkg_config cmocka 1.1.5 "-I$into/include" -lcmocka
}

# libcdt and libcgraph; the rest draws, which the program dot does as well.
part_graphviz() {
    source_of graphviz
    echo '#define PACKAGE_VERSION "2.42.2"' >config.h
    cd lib/cdt
    flags=-I. library cdt 5 dt*.c
    cd ../cgraph
    # As its Makefile.am does.
    bison -y -d grammar.y
    flex -i scan.l
    sed 's/yy/aag/g' y.tab.h >grammar.h
    sed 's/yy/aag/g' y.tab.c >grammar.c
    sed 's/yy/aag/g; /extern.*isatty/d' lex.yy.c >scan.c
    rm y.tab.c lex.yy.c
    # shellcheck disable=SC2046
    flags='-I../.. -I../cdt -I. -D_GNU_SOURCE -include config.h -DHAVE_UNISTD_H -DHAVE_STRCASECMP' libs=-lcdt \
        library cgraph 6 $(ls ./*.c | grep -vE '/(main.*|tester|cmpnd)\.c$')
    mkdir -p "$into/include/graphviz"
    cp cgraph.h ../cdt/cdt.h "$into/include/graphviz"
    pkg_config libcdt 2.42.2 "-I$into/include/graphviz" -lcdt
    pkg_config libcgraph 2.42.2 "-I$into/include/graphviz" '-lcgraph -lcdt'
}

# Its demanglers, and what these call.
part_libiberty() {
    source_of libiberty
    cd libiberty
    has=
    for header in STDLIB STRING LIMITS UNISTD ALLOCA; do has="$has -DHAVE_${header}_H=1"; done
    set -- cp-demangle cplus-dem rust-demangle d-demangle safe-ctype xmalloc xexit xmemdup xstrdup
    for name; do $cc -c -O2 -g0 -w -fPIC -I../include $has "$name.c"; done
    $AR rcs "$into/lib/libiberty.a" *.o
    mkdir -p "$into/include/libiberty"
    cp ../include/demangle.h ../include/libiberty.h ../include/ansidecl.h "$into/include/libiberty"
}

# Preloaded into the programs of the tests. Without the unwinder jemalloc would silently take
# __builtin_return_address, which needs frame pointers.
part_jemalloc() {
    source_of jemalloc
    cflags='-O2 -g' configure --disable-static --enable-prof --disable-cxx --disable-libdl \
        --with-version=5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c
    grep -q '#define JEMALLOC_PROF_LIBGCC' include/jemalloc/internal/jemalloc_internal_defs.h || {
        echo "jemalloc's configure found no unwinder: _Unwind_Backtrace must link (libgcc_eh.a of gcc 11, see tools.sh)"
        exit 1
    }
    make build_lib_shared
    make install_lib_shared install_include install_lib_pc
}

cc=$into/bin/musl-cc
host=$machine-linux-musl tools=
if [ "$machine" != "$(uname -m)" ]; then tools=$machine-linux-gnu-; fi
# As gcc's: a make that is not told takes the host's compiler.
export CC="$cc" AR="${tools}ar" RANLIB="${tools}ranlib" PKG_CONFIG_LIBDIR="$into/lib/pkgconfig" LC_ALL=C
unset CFLAGS CPPFLAGS LDFLAGS LD_LIBRARY_PATH

start=$(date +%s)
# In a shell of its own: `set -e` does not hold in what is part of a condition.
status=0
(
    set -eux
    "part_$(echo "$part" | tr - _)"
) >"$log" 2>&1 </dev/null &
wait $! || status=$?
if [ "$status" -ne 0 ]; then
    echo "musl sysroot: $part failed; the end of $log:" >&2
    tail -n 20 "$log" | sed 's/^/    /' >&2
    exit 1
fi
echo "  $part: $(($(date +%s) - start)) s"
