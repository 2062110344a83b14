#!/bin/sh
# Brings axe-core, with npm, to where the test browser-page looks for it: it then judges pages for people who do not see.
# usage: sh tests/browser/fetch-axe.sh
set -eu
version=4.14.1
cache=${JPROF_DOWNLOADS:-${XDG_CACHE_HOME:-$HOME/.cache}/jprof}
if [ -f "$cache/axe-core/axe.min.js" ]; then exit 0; fi
command -v npm >/dev/null || { echo "fetch-axe.sh: no npm here (Debian: npm)" >&2; exit 1; }
mkdir -p "$cache"
work=$(mktemp -d "$cache/axe-core.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack --silent "axe-core@$version" >/dev/null
tar xzf "axe-core-$version.tgz"
mv package "$cache/axe-core"
