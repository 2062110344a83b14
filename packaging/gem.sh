#!/bin/sh
# Makes the platform gem: tags, jprof-static and the agents for glibc and musl. Offline.
# usage: sh packaging/gem.sh STATIC BUILD OUTPUT_DIRECTORY [MACHINE]    STATIC: of packaging/static.sh for that machine, else this one;
# BUILD: of meson setup --buildtype=release, or the folder glibc in STATIC
set -eu

die() {
    echo "gem.sh: $*" >&2
    exit 1
}

[ $# -eq 3 ] || [ $# -eq 4 ] || die "usage: sh packaging/gem.sh STATIC BUILD OUTPUT_DIRECTORY [MACHINE]"
machine=${4:-$(uname -m)}
static=$(CDPATH='' cd -- "$1" && pwd) build=$(CDPATH='' cd -- "$2" && pwd)
mkdir -p "$3"
output=$(CDPATH='' cd -- "$3" && pwd)
CDPATH='' cd -- "$(dirname -- "$0")/.."
[ -x "$static/jeprof-c/jprof-static" ] || die "$static has no jprof-static: sh packaging/static.sh $1"
version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" meson.build | head -n 1)
grep -q "spec.version = \"$version\"" ruby/jprof.gemspec || die "ruby/jprof.gemspec is not of version $version"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r ruby/. "$work"
cp LICENSE NEWS.md "$work"
sh packaging/notices.sh "$work/libexec/share/doc/jprof/parts" "$machine"
mkdir -p "$work/libexec/bin" "$work/libexec/lib/jprof"
cp "$static/jeprof-c/jprof-static" "$work/libexec/bin/jprof"
cp "$static/agent/libjprof-agent.so" "$work/libexec/lib/jprof/libjprof-agent-musl.so"
cp "$build/agent/libjprof-agent.so" "$work/libexec/lib/jprof/libjprof-agent-glibc.so"
"$machine-linux-gnu-strip" --strip-unneeded "$work"/libexec/lib/jprof/*.so
chmod -R u=rwX,go=rX "$work"
# Where the project is: README's line for its owner.
home=$(sed -n 's/^ *JPROF=\([^ ]*\).*/\1/p' README.md)
cd "$work"
JPROF_HOME=${home%.git} JPROF_GEM_PLATFORM=$machine-linux gem build --output "$output/jprof-$version-$machine-linux.gem" jprof.gemspec >"$work/log" 2>&1 || {
    cat "$work/log"
    die "gem build failed"
}
echo "$(stat -c %s "$output/jprof-$version-$machine-linux.gem") bytes: jprof-$version-$machine-linux.gem"
