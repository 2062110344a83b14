#!/bin/sh
# Builds jprof-static, all of jprof as one static file, which runs on any Linux of this machine's processor, and the agent for musl.
# usage: sh packaging/static.sh BUILDDIR    on Debian 12; makes BUILDDIR/jeprof-c/jprof-static and BUILDDIR/agent/libjprof-agent.so
# What it links with is made first, once: packaging/musl/sysroot.sh. JPROF_NO_INSTALL=1 installs no packages.
set -eu
[ $# -eq 1 ] || {
    echo "usage: sh packaging/static.sh BUILDDIR" >&2
    exit 1
}
case $1 in
/*) build=$1 ;;
*) build=$PWD/$1 ;;
esac
CDPATH= cd -- "$(dirname -- "$0")/.."
if [ "${JPROF_NO_INSTALL:-}" != 1 ]; then sh packaging/deps.sh musl; fi
sysroot=$(sh packaging/musl/sysroot.sh)
export PKG_CONFIG_LIBDIR="$sysroot/lib/pkgconfig"
if ! grep -qs "^c = '$sysroot/" "$build/static.ini"; then
    rm -rf "$build/meson-private"
    mkdir -p "$build"
    cat >"$build/static.ini" <<END
[binaries]
c = '$sysroot/bin/musl-cc'
[built-in options]
buildtype = 'release'
[project options]
static = true
demangler = 'libiberty'
cgraph = 'enabled'
capstone = 'enabled'
END
    meson setup --native-file "$build/static.ini" "$build"
fi
meson compile -C "$build" jprof-static jprof-agent
