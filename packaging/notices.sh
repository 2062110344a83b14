#!/bin/sh
# Puts what has to go with each copy of jprof-static into a folder: of each part that is linked with it the version of its source in
# Debian (NAME.source) and the notices (NAME.copyright), and the licences that these name.
# usage: sh packaging/notices.sh INTO [MACHINE]    after packaging/static.sh for that machine
set -eu
[ $# -ge 1 ] || {
    echo "usage: sh packaging/notices.sh INTO [MACHINE]" >&2
    exit 1
}
parts=$(sh "$(dirname -- "$0")/musl/sysroot.sh" ${2:+"$2"})/parts
mkdir -p "$1"
cp "$parts"/*.source "$parts"/*.copyright "$1"
rm -f "$1"/jemalloc.* "$1"/cmocka.* # for tests
for licence in GPL-3 LGPL-2 LGPL-3; do cp -L "/usr/share/common-licenses/$licence" "$1"; done
