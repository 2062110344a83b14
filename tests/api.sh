#!/bin/sh
# The library as a stranger gets it: installed, found by pkg-config, used by samples/api/top.c.
# usage: sh tests/api.sh SOURCE_ROOT BUILD_ROOT
set -eu
source=$1 build=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() {
    echo "$*"
    exit 1
}

DESTDIR=$tmp meson install -C "$build" --no-rebuild >/dev/null
pc=$(find "$tmp" -name libjprof.pc)
[ -n "$pc" ] || fail "no libjprof.pc was installed"
[ -z "$(find "$tmp" -name '*.h' ! -name jprof.h)" ] || fail "more than one header was installed"
export PKG_CONFIG_PATH="${pc%/*}" PKG_CONFIG_SYSROOT_DIR="$tmp"
# shellcheck disable=SC2046
${CC:-cc} -std=c11 -Wall -Wextra -Werror ${CFLAGS:-} "$source/samples/api/top.c" $(pkg-config --cflags --libs libjprof) -o "$tmp/top"
lib=$(find "$tmp" -name libjprof.so)
LD_LIBRARY_PATH=${lib%/*} "$tmp/top" "$source/samples/cases/ruby31/cext.1.heap" "$source/samples/cases/sysroot" >"$tmp/out"
head -n 1 "$tmp/out" | grep -qE '^ +20[0-9]{6} bytes  row_new$' || fail "not row_new first: $(cat "$tmp/out")"

# Exactly what the version script lists is exported.
nm -D --defined-only "$lib" | sed -n 's/.* T \([^@]*\).*/\1/p' | sort >"$tmp/exported"
sed -n 's/^	\(jprof_[a-z0-9_]*\);$/\1/p' "$source/libjprof/libjprof.map" | sort >"$tmp/listed"
diff "$tmp/listed" "$tmp/exported" || fail "exports are not as libjprof.map lists them (<)"
grep -v '^typedef' "$source/libjprof/jprof.h" | grep -oE 'jprof_[a-z0-9_]+\(' | tr -d '(' | sort -u >"$tmp/declared"
diff "$tmp/listed" "$tmp/declared" || fail "jprof.h declares others than libjprof.map lists (<)"
