#!/bin/sh
# Builds jprof for musl on Debian 12 and runs all tests under musl's loader; the last line counts them.
# usage: sh tests/musl.sh [BUILDDIR]
# What it links with is made first, once: packaging/musl/sysroot.sh. JPROF_NO_INSTALL=1 installs nothing.
set -eu

die() {
    echo "tests/musl.sh: $*" >&2
    exit 1
}

configure() {
    if [ -e "$build" ]; then
        [ -d "$build/meson-private" ] || die "$build is no build folder of meson; name another, or one that is not there"
        rm -rf "$build"
    fi
    mkdir -p "$build"
    cat >"$build/musl.ini" <<END
[binaries]
c = '$sysroot/bin/musl-cc'
[built-in options]
buildtype = 'debugoptimized'
c_link_args = ['-Wl,-rpath,$sysroot/lib']
[project options]
tests = true
END
    PKG_CONFIG_LIBDIR=$sysroot/lib/pkgconfig meson setup --native-file "$build/musl.ini" "$build"
    PKG_CONFIG_LIBDIR=$sysroot/lib/pkgconfig meson compile -C "$build"
}

# RESULT, name, why; parted by tabs.
meson_results() {
    python3 -c '
import json, sys
sys.stdout.reconfigure(errors="replace")
for line in open(sys.argv[1]):
    test = json.loads(line)
    said = (test.get("stdout") or test.get("stderr") or "").strip() or "no reason given"
    print(test["result"], test["name"].rpartition(" / ")[2], " ".join(said.splitlines()[0].split()), sep="\t")
' "$1"
}

count() {
    awk -F '\t' '
        $1 == "OK" || $1 == "EXPECTEDFAIL" { passed++; next }
        $1 == "SKIP" { print "skipped: " $2 ": " $3; skipped++; next }
        { print "failed: " $2 ($2 ~ /^live/ ? ": " $3 : ""); failed++ }
        END {
            printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
            exit failed > 0 || passed == 0
        }
    '
}

build=${1:-build-musl}
case $build in
/*) ;;
*) if [ $# -gt 0 ]; then build=$PWD/$build; fi ;;
esac
CDPATH= cd -- "$(dirname -- "$0")/.."

command -v dpkg-query >/dev/null || die "this builds musl programs on Debian 12; on a musl system run tests/run.sh"
if [ "${JPROF_NO_INSTALL:-}" != 1 ]; then sh packaging/deps.sh musl tests; fi
command -v meson >/dev/null && command -v musl-gcc >/dev/null ||
    die "no meson or no musl-gcc; run again without JPROF_NO_INSTALL=1"

sysroot=$(sh packaging/musl/sysroot.sh)
configure

log=$build/meson-logs/testlog.json
status=0
meson test -C "$build" --num-processes $((2 * $(nproc))) --print-errorlogs || status=$?
[ -f "$log" ] || : >"$log"
echo "known stacks under musl; those that pass through libc end there, for it has no unwind tables"
sh tests/musl/live/live.sh "$build" "$sysroot" >"$build/live.txt" ||
    printf 'FAIL\tlive\tlive.sh stopped; the reason is above\n' >>"$build/live.txt"
{ meson_results "$log" && cat "$build/live.txt"; } | count || status=1
exit "$status"
