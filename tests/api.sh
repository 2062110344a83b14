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

# The installed program finds its library, its agent and its pictures by itself, wherever the tree stands. (With
# prefix=/usr a package has no path in it: the loader knows.)
jprof=$(find "$tmp" -path '*/bin/jprof')
[ -n "$jprof" ] || fail "no bin/jprof was installed"
case $jprof in "$tmp"/usr/bin/*) exit ;; esac
unset LD_LIBRARY_PATH
export LSAN_OPTIONS="print_suppressions=0:suppressions=$source/tests/lsan.supp"
"$jprof" --version >"$tmp/version" || fail "bin/jprof does not start: does it find libjprof?"
agent=$(find "$tmp" -name libjprof-agent.so)
"$jprof" run --print-env --dir=/d >"$tmp/env" 2>"$tmp/err" ||
    grep -q 'no jemalloc here' "$tmp/err" || fail "jprof run: $(cat "$tmp/err")"
if [ -s "$tmp/env" ] && ! find /usr/local/lib/jprof -name libjprof-agent.so 2>/dev/null | grep -q .; then
    grep -qF "$(realpath "$agent")" "$tmp/env" || fail "not the agent that was installed: $(cat "$tmp/env")"
fi
if find "$tmp" -name jprof-gvc.so | grep -q .; then
    "$jprof" --svg -o "$tmp/x.svg" "$source/samples/cases/ruby31/cext.1.heap" 2>"$tmp/err" || fail "--svg: $(cat "$tmp/err")"
fi
