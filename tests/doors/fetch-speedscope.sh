#!/bin/sh
# Brings speedscope's built web application, with npm, to where the test doors-speedscope looks for it.
# usage: sh tests/doors/fetch-speedscope.sh
set -eu
version=1.25.0
cache=${JPROF_DOWNLOADS:-${XDG_CACHE_HOME:-$HOME/.cache}/jprof}
if [ -f "$cache/speedscope/dist/release/index.html" ]; then exit 0; fi
command -v npm >/dev/null || { echo "fetch-speedscope.sh: no npm here (Debian: npm)" >&2; exit 1; }
mkdir -p "$cache"
work=$(mktemp -d "$cache/speedscope.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack --silent "speedscope@$version" >/dev/null
tar xzf "speedscope-$version.tgz"
mv package "$cache/speedscope"
