#!/bin/sh
# Builds jprof-static, all of jprof as one static file, which runs on any Linux of that processor, and the agent for musl.
# usage: sh packaging/static.sh BUILDDIR [MACHINE]    on Debian 12; makes BUILDDIR/jeprof-c/jprof-static and
# BUILDDIR/agent/libjprof-agent.so. MACHINE: this one, or aarch64 from x86_64, and then also the agent for glibc, in BUILDDIR/glibc/agent.
# What it links with is made first, once: packaging/musl/sysroot.sh. JPROF_NO_INSTALL=1 installs no packages.
set -eu
machine=${2:-$(uname -m)}
kind=native group=musl
if [ "$machine" != "$(uname -m)" ]; then kind=cross group=cross; fi
case $#/$machine in
[12]/"$(uname -m)" | 2/aarch64) ;;
*)
    echo "usage: sh packaging/static.sh BUILDDIR [aarch64]" >&2
    exit 1
    ;;
esac
case $1 in
/*) build=$1 ;;
*) build=$PWD/$1 ;;
esac
CDPATH= cd -- "$(dirname -- "$0")/.."
if [ "${JPROF_NO_INSTALL:-}" != 1 ]; then sh packaging/deps.sh "$group"; fi
sysroot=$(sh packaging/musl/sysroot.sh "$machine")
export PKG_CONFIG_LIBDIR="$sysroot/lib/pkgconfig"
if ! grep -qs "^c = '$sysroot/" "$build/static.ini"; then
    rm -rf "$build/meson-private"
    mkdir -p "$build"
    cat >"$build/static.ini" <<END
[built-in options]
buildtype = 'release'
[project options]
static = true
demangler = 'libiberty'
cgraph = 'enabled'
capstone = 'enabled'
[binaries]
c = '$sysroot/bin/musl-cc'
END
    [ $kind = native ] || cat >>"$build/static.ini" <<END
ar = '$machine-linux-gnu-ar'
pkgconfig = 'pkg-config'
[properties]
pkg_config_libdir = '$PKG_CONFIG_LIBDIR'
[host_machine]
system = 'linux'
cpu_family = '$machine'
cpu = '$machine'
endian = 'little'
END
    meson setup --$kind-file "$build/static.ini" "$build"
fi
meson compile -C "$build" jprof-static jprof-agent
[ $kind = cross ] || exit 0
# The agent links with nothing but glibc; what all of jprof needs is looked for, and taken from the folder for musl.
if ! [ -d "$build/glibc/meson-private" ]; then
    sed "s|^c = .*|c = '$machine-linux-gnu-gcc'|; /^\[project options\]/,/^\[binaries\]/{/ = /d}" "$build/static.ini" >"$build/glibc.ini"
    meson setup --cross-file "$build/glibc.ini" -Dauto_features=disabled -Ddemangler=cxxabi "$build/glibc"
fi
meson compile -C "$build/glibc" jprof-agent
