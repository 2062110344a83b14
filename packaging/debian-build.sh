#!/bin/sh
# Builds the Debian packages of this checkout, and has lintian look at them.
# usage: sh packaging/debian-build.sh OUTPUT_DIRECTORY     as root in a throw-away system: it installs what is missing
set -eu

die() {
    echo "debian-build.sh: $*" >&2
    exit 1
}

[ $# -eq 1 ] || die "usage: sh packaging/debian-build.sh OUTPUT_DIRECTORY"
mkdir -p "$1"
output=$(CDPATH='' cd -- "$1" && pwd)
CDPATH='' cd -- "$(dirname -- "$0")/.."
sh packaging/deps.sh build packages

version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" meson.build | head -n 1)
[ "$(dpkg-parsechangelog -S Version)" = "$version" ] ||
    die "debian/changelog has $(dpkg-parsechangelog -S Version), meson.build $version"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/jprof-$version"
find . -mindepth 1 -maxdepth 1 ! -name .git ! \( -type d -name 'build*' \) -print0 |
    tar --exclude=__pycache__ -c --null -T - | tar -xC "$work/jprof-$version"
# Each release of Debian has packages of its own, which one folder may hold.
release=$(. /etc/os-release && echo "${VERSION_ID:+deb$VERSION_ID}")
sed -i "1s/(\([^)]*\))/(\1${release:++$release})/" "$work/jprof-$version/debian/changelog"
(cd "$work/jprof-$version" && dpkg-buildpackage -us -uc) >"$work/log" 2>&1 || {
    tail -n 60 "$work/log"
    die "dpkg-buildpackage failed"
}
# Their names are those of a release of Debian.
lintian --allow-root --fail-on error,warning --suppress-tags bad-distribution-in-changes-file \
    "$work"/*.changes || die "lintian has something to say"
cp "$work"/*.deb "$output"
for deb in "$output"/*.deb; do echo "$(stat -c %s "$deb") bytes: ${deb##*/}"; done
