#!/bin/sh
# Builds jprof, runs the sample Ruby program under profiling, and prints what
# jprof says of its memory beside what the program knows it holds.
#
# usage: sh samples/run.sh     ends with 0 if all amounts agree
#   JPROF_NO_INSTALL=1         install no packages
#   JPROF_JEMALLOC=/PATH       the libjemalloc.so.2 to run Ruby on
#   JPROF_BUILD=/DIRECTORY     the build directory (build); nothing else is written to
set -eu

die() {
    echo "samples/run.sh: $*" >&2
    exit 1
}

# Runs a command whose output matters only when it fails.
quietly() {
    "$@" >"$log" 2>&1 || {
        cat "$log" >&2
        die "'$*' failed, its output is above"
    }
}

# One in /usr/local was built by hand, so it is the one that can profile.
find_jemalloc() {
    for file in /usr/local/lib/libjemalloc.so.2 "$(cc -print-file-name=libjemalloc.so.2)"; do
        if [ -f "$file" ]; then
            readlink -f "$file"
            return
        fi
    done
}

# Always anew: it is quick, and also right after a change of Ruby.
build_extension() (
    cd "$out/ext" && ruby "$root/samples/app/ext/extconf.rb" && make -B
)

CDPATH='' cd -- "$(dirname -- "$0")/.."
root=$PWD
build=${JPROF_BUILD:-build}
out=$build/sample
log=$out/log
jprof=$build/jeprof-c/jprof

case $root$build in
*[[:space:]]*) die "Ruby's mkmf cannot build extensions where a path has blanks; move the checkout out of $root" ;;
esac

if [ "${JPROF_NO_INSTALL:-}" != 1 ]; then
    sh packaging/deps.sh build samples
fi

jemalloc=${JPROF_JEMALLOC:-$(find_jemalloc)}
[ -f "$jemalloc" ] ||
    die "no ${jemalloc:-libjemalloc.so.2} here; install it, or give JPROF_JEMALLOC=/path/to/libjemalloc.so.2"

mkdir -p "$out/ext"
if ! [ -f "$build/build.ninja" ]; then
    echo "building jprof in $build ..."
    quietly meson setup --buildtype=release "$build"
fi
quietly meson compile -C "$build"
quietly build_extension

echo "running samples/app/app.rb on $jemalloc"
LD_PRELOAD=$jemalloc MALLOC_CONF=prof:true,prof_accum:false,lg_prof_sample:17 \
    ruby -I "$out/ext" samples/app/app.rb "$out"

set -- --base="$out/before.heap" ruby "$out/after.heap"
echo
echo "\$ $jprof --show_bytes --top=10 $*"
"$jprof" --show_bytes --top=10 "$@"
echo
"$jprof" --show_bytes "$@" >"$out/report" 2>"$log" || {
    cat "$log" >&2
    die "jprof could not read the dumps in $out"
}
ruby samples/app/check.rb "$out/truth" "$out/report"

# ---- a Puma cluster: boot, warm, steady ----

port=$(ruby -rsocket -e 'puts TCPServer.new("127.0.0.1", 0).addr[1]')
dumps=$out/dumps
mkdir -p "$dumps"
rm -f "$out/boot.jprof" "$out/warm.jprof" "$out/steady.jprof"

stop_puma() { # the shell would tell that it was terminated
    { kill "$puma" && wait "$puma"; } 2>/dev/null || true
}

snap() { # LABEL
    echo "\$ $jprof snap --puma=$puma --gc --label=$1 -o $out/$1.jprof"
    "$jprof" snap --puma="$puma" --gc --label="$1" -o "$out/$1.jprof"
}

echo
echo "\$ $jprof run --dir=$dumps --label=puma -- puma -C samples/puma/puma.rb"
PUMA_BIND=tcp://127.0.0.1:$port "$jprof" run --dir="$dumps" --label=puma -- \
    ruby -I "$out/ext" -S puma -C samples/puma/puma.rb >"$log" 2>&1 &
puma=$!
trap stop_puma EXIT
ruby samples/puma/load.rb "$port" 0 || {
    cat "$log" >&2
    die "Puma did not come up, its output is above"
}
snap boot
ruby samples/puma/load.rb "$port" 1000
snap warm
ruby samples/puma/load.rb "$port" 1000 1000
snap steady
stop_puma
trap - EXIT

set -- --diff_base="$out/warm.jprof" "$out/steady.jprof"
echo
echo "\$ $jprof --show_bytes --errors --top=3 $*"
"$jprof" --show_bytes --errors --top=3 "$@"
"$jprof" --show_bytes --errors "$@" >"$out/report" 2>"$log"
ruby samples/puma/check.rb "$out/report" 10000

# ---- three planted leaks, by the README's path ----

leaked=$out/leaked
rm -f "$out/early.jprof" "$out/late.jprof" "$out/orders"
mkfifo "$out/orders"
: >"$leaked"
echo
echo "\$ $jprof run --dir=$dumps -- ruby samples/leaks/leaks.rb"
exec 3<>"$out/orders"
"$jprof" run --dir="$dumps" -- ruby samples/leaks/leaks.rb <&3 >"$leaked" 2>"$out/leaks.log" &
leaks=$!
stop_leaks() {
    { kill "$leaks" && wait "$leaks"; } 2>/dev/null || true
}
trap stop_leaks EXIT
wait_for() { # WORD
    until grep -qx "$1" "$leaked"; do
        kill -0 "$leaks" 2>/dev/null || {
            cat "$out/leaks.log" >&2
            die "samples/leaks/leaks.rb ended, its output is above"
        }
        sleep 0.1
    done
}
wait_for ready
quietly "$jprof" snap --gc "$leaks" -o "$out/early.jprof"
echo >&3
wait_for leaked
quietly "$jprof" snap --gc "$leaks" -o "$out/late.jprof"
stop_leaks
trap - EXIT
set -- --base="$out/early.jprof" "$out/late.jprof"
echo "\$ $jprof --errors --top=5 $*"
"$jprof" --errors --top=5 "$@"
"$jprof" --show_bytes --errors "$@" >"$out/report" 2>"$log"
ruby samples/leaks/check.rb "$leaked" "$out/report"

# ---- what a picture costs ----
if [ -d samples/cases ] && command -v callgrind_annotate >/dev/null && ! "$jprof" --svg "$out/steady.jprof" 2>&1 >/dev/null |
    grep -q 'built without libgvc'; then
    echo
    echo "\$ sh bench/graph.sh $jprof"
    sh bench/graph.sh "$jprof"
else
    echo "no valgrind, or no libgvc: what a picture costs was not counted"
fi
