#!/bin/sh
# Two `meson dist` of one commit, in two places, at two times and with two umasks, are the same to the byte, and hold what git
# has, no more and no less. Its DESTDIR is looked at by tests/api.sh.
# usage: sh packaging/dist-check.sh     JPROF_NO_INSTALL=1 installs nothing
set -eu

die() {
    echo "dist-check.sh: $*" >&2
    exit 1
}

CDPATH='' cd -- "$(dirname -- "$0")/.."
if [ "${JPROF_NO_INSTALL:-}" != 1 ]; then sh packaging/deps.sh build packages; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The checkout may come without its history.
mkdir "$work/one"
find . -mindepth 1 -maxdepth 1 ! -name .git ! \( -type d -name 'build*' \) -print0 |
    tar --exclude=__pycache__ -c --null -T - | tar -xC "$work/one"
(
    cd "$work/one"
    export GIT_AUTHOR_NAME=dist GIT_AUTHOR_EMAIL=dist GIT_COMMITTER_NAME=dist GIT_COMMITTER_EMAIL=dist
    export GIT_AUTHOR_DATE='2026-01-02 03:04:05 +0000' GIT_COMMITTER_DATE='2026-01-02 03:04:05 +0000'
    git init -q && git add -A && git commit -q -m dist
)
git clone -q "$work/one" "$work/two"

dist() { # FOLDER UMASK
    (
        umask "$2"
        cd "$work/$1"
        meson setup build >log 2>&1 && rm -f log && meson dist -C build --no-tests >"$work/$1.log" 2>&1
    ) || die "meson dist failed: $(cat "$work/$1/log" "$work/$1.log" 2>/dev/null | tail -n 5)"
}
dist one 022
sleep 2
dist two 077

version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" meson.build | head -n 1)
name=build/meson-dist/jprof-$version.tar.xz
cmp "$work/one/$name" "$work/two/$name" || die "two tarballs of one commit differ"
tar -tf "$work/one/$name" | sed "s/^jprof-$version\///; /\/\$/d; /^\$/d" | LC_ALL=C sort >"$work/packed"
(cd "$work/one" && git ls-files) | LC_ALL=C sort >"$work/tracked"
diff "$work/tracked" "$work/packed" >&2 || die "what git has (<) and what is packed (>) are not the same"
tar -tvf "$work/one/$name" | grep -v '2026-01-02 ' | grep . && die "a time that is not the commit's"
echo "jprof-$version.tar.xz: $(stat -c %s "$work/one/$name") bytes, $(wc -l <"$work/packed") files, twice the same"
