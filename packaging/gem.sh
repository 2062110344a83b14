#!/bin/sh
# Makes the platform gem: tags, jprof-snap and the agent. Offline.
# usage: sh packaging/gem.sh BUILD OUTPUT_DIRECTORY     BUILD: of meson setup --buildtype=release -Dcollector=true
set -eu

die() {
    echo "gem.sh: $*" >&2
    exit 1
}

[ $# -eq 2 ] || die "usage: sh packaging/gem.sh BUILD OUTPUT_DIRECTORY"
build=$(CDPATH='' cd -- "$1" && pwd)
mkdir -p "$2"
output=$(CDPATH='' cd -- "$2" && pwd)
CDPATH='' cd -- "$(dirname -- "$0")/.."
[ -x "$build/jeprof-c/jprof-snap" ] || die "$build has no jprof-snap: meson setup -Dcollector=true"
version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" meson.build | head -n 1)
grep -q "spec.version = \"$version\"" ruby/jprof.gemspec || die "ruby/jprof.gemspec is not of version $version"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r ruby/. "$work"
mkdir -p "$work/libexec/bin" "$work/libexec/lib/jprof"
cp "$build/jeprof-c/jprof-snap" "$work/libexec/bin/"
cp "$build/agent/libjprof-agent.so" "$work/libexec/lib/jprof/"
chmod -R u=rwX,go=rX "$work"
cd "$work"
JPROF_GEM_PLATFORM=$(uname -m)-linux gem build --output "$output/jprof-$version-$(uname -m)-linux.gem" jprof.gemspec >"$work/log" 2>&1 || {
    cat "$work/log"
    die "gem build failed"
}
echo "$(stat -c %s "$output"/jprof-"$version"-*.gem) bytes: jprof-$version-$(uname -m)-linux.gem"
