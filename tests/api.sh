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

touch "$tmp/stamp"
DESTDIR=$tmp/root meson install -C "$build" --no-rebuild >/dev/null
# All that is listed is below DESTDIR, nothing else is, and nothing beside it was written.
meson introspect --installed "$build" | python3 -c 'import json, sys
print(*json.load(sys.stdin).values(), sep="\n")' | LC_ALL=C sort >"$tmp/wanted"
(cd "$tmp/root" && find . ! -type d | sed 's/^\.//') | LC_ALL=C sort >"$tmp/there"
# The list of an older meson has no links of libraries.
LC_ALL=C comm -23 "$tmp/wanted" "$tmp/there" | grep . && fail "not installed below DESTDIR"
LC_ALL=C comm -13 "$tmp/wanted" "$tmp/there" | grep -vE '/lib[a-z-]*\.so(\.[0-9]+)?$' && fail "installed and not listed"
prefix=$(meson introspect --buildoptions "$build" | python3 -c 'import json, sys
print(*[o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"])')
[ -z "$(find "$prefix" -newer "$tmp/stamp" -name '*jprof*' 2>/dev/null)" ] || fail "written to $prefix in spite of DESTDIR"
pc=$(find "$tmp" -name libjprof.pc)
[ -n "$pc" ] || fail "no libjprof.pc was installed"
[ -z "$(find "$tmp" -name '*.h' ! -name jprof.h ! -name jprof-live.h)" ] || fail "more than two headers were installed"
export PKG_CONFIG_PATH="${pc%/*}" PKG_CONFIG_SYSROOT_DIR="$tmp/root"
# A compiler of a sysroot has its libraries there.
libraries=$(dirname "$(dirname "${CC:-cc}")")/lib/pkgconfig
if [ -f "$libraries/libdw.pc" ]; then export PKG_CONFIG_LIBDIR="$libraries"; fi
# shellcheck disable=SC2046
${CC:-cc} -std=c11 -Wall -Wextra -Werror ${CFLAGS:-} "$source/samples/api/top.c" $(pkg-config --cflags --libs libjprof) -o "$tmp/top"
lib=$(find "$tmp" -name libjprof.so)
LD_LIBRARY_PATH=${lib%/*} "$tmp/top" "$source/samples/cases/ruby31/cext.1.heap" "$source/samples/cases/sysroot" >"$tmp/out"
head -n 1 "$tmp/out" | grep -qE '^ +20[0-9]{6} bytes  row_new$' || fail "not row_new first: $(cat "$tmp/out")"

# Exactly what the version scripts list is exported, and the headers declare that and no more.
check_exports() {
    exports=$(find "$tmp" -name "lib$1.so")
    nm -D --defined-only "$exports" | sed -n 's/.* T \([^@]*\).*/\1/p' | sort >"$tmp/exported"
    sed -n 's/^	\(jprof_[a-z0-9_]*\);$/\1/p' "$source/libjprof/lib$1.map" | sort >"$tmp/listed"
    diff "$tmp/listed" "$tmp/exported" || fail "exports are not as lib$1.map lists them (<)"
    sed 's/^ \*.*//; s/^\/\*.*//' "$source/libjprof/$1.h" | grep -v '^typedef' | grep -oE 'jprof_[a-z0-9_]+\(' | tr -d '(' | sort -u >"$tmp/declared"
    diff "$tmp/listed" "$tmp/declared" || fail "$1.h declares others than lib$1.map lists (<)"
    grep -oE 'jprof_[a-z0-9_]+[(,]' "$source/tests/unit/test_mistakes.c" | tr -d '(,' | sort -u | comm -23 "$tmp/listed" - >"$tmp/untried"
    [ ! -s "$tmp/untried" ] || fail "tests/unit/test_mistakes.c does not try these with nothing: $(cat "$tmp/untried")"
}
check_exports jprof
check_exports jprof-live

# Each function has a comment of its own, right before it, that tells since when it is there.
awk '/^JPROF_API/ && last !~ /Since: [0-9]+\.[0-9]+ \*\/$/ { print FILENAME ":" FNR ": no comment of its own: " $0; bad = 1 }
    { last = $0 } END { exit bad }' "$source/libjprof/jprof.h" "$source/libjprof/jprof-live.h" || fail "a function without a comment"

# Who reads dumps does not link what talks to processes.
nm -D --undefined-only "$lib" >"$tmp/wanted"
if grep -E ' U (socket|connect|send|sendto|sendmsg|recv|recvmsg|kill|syscall|ptrace|pidfd_[a-z_]+|inotify_[a-z_0-9]+|poll)(@|$)' "$tmp/wanted"; then
    fail "libjprof talks to processes"
fi
readelf -d "$tmp/top" | grep -q 'libjprof-live' && fail "a program that reads dumps has linked libjprof-live"
# And who wants to finds it.
cat >"$tmp/live.c" <<'END'
#include <jprof-live.h>
int main(void)
{
	struct jprof_processes *list;
	struct jprof_processes_opts opts = { sizeof opts };
	if (jprof_processes_new(&opts, &list, NULL))
		return 1;
	jprof_processes_free(list);
	return 0;
}
END
# A compiler of a sysroot has its libraries there.
libraries=$(dirname "$(dirname "${CC:-cc}")")/lib/pkgconfig
if [ -f "$libraries/libdw.pc" ]; then export PKG_CONFIG_LIBDIR="$libraries"; fi
# shellcheck disable=SC2046
${CC:-cc} -std=c11 ${CFLAGS:-} "$tmp/live.c" $(pkg-config --cflags --libs libjprof-live) -o "$tmp/live"
LD_LIBRARY_PATH=${lib%/*} "$tmp/live" || fail "a program of libjprof-live fails"

# The macros of jprof.h are the version that is installed.
printf '#include <jprof.h>\nVERSION JPROF_VERSION JPROF_VERSION_MAJOR.JPROF_VERSION_MINOR.JPROF_VERSION_PATCH\n' >"$tmp/version.c"
version=$(pkg-config --modversion libjprof)
# shellcheck disable=SC2046
${CC:-cc} -E $(pkg-config --cflags libjprof) "$tmp/version.c" | grep -qx "VERSION \"$version\" $(echo "$version" | tr . ' ' | sed 's/ / *. */g')" ||
    fail "JPROF_VERSION is not $version"

# The installed program finds its library, its agent and its pictures by itself, wherever the tree stands. (With
# prefix=/usr a package has no path in it: the loader knows.)
jprof=$(find "$tmp" -path '*/bin/jprof')
[ -n "$jprof" ] || fail "no bin/jprof was installed"
case $jprof in "$tmp"/root/usr/bin/*) exit ;; esac
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
    "$jprof" --svg --sysroot="$source/samples/cases/sysroot" -o "$tmp/x.svg" "$source/samples/cases/ruby31/cext.1.heap" \
        2>"$tmp/err" || fail "--svg: $(cat "$tmp/err")"
fi
