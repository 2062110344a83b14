# Sourced by the tests of this folder, with the variables FRAMES (frames.c), JPROF, SOURCES (this folder), CC.
set -eu

# Nothing of the user's may lead to debug information, and none may come over a network.
unset DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH DEBUGINFOD_TIMEOUT http_proxy HTTP_PROXY all_proxy ALL_PROXY
export LC_ALL=C

work=$(mktemp -d "${TMPDIR:-/tmp}/jprof-debuginfo.XXXXXX")
# Not through a link: __FILE__ and the maps must say the same.
work=$(cd "$work" && pwd -P)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
cd "$work"

skip() {
    echo "skipped: $*"
    exit 77
}

need() {
    for tool; do command -v "$tool" >/dev/null || skip "no $tool here"; done
}

fail() {
    echo "FAILED: $*"
    exit 1
}

# build DIR CFLAGS...: DIR/bin/subject, its sources in DIR/src, its dump and truth in DIR/truth.*
build() {
    built=$work/$1
    shift
    mkdir -p "$built/src" "$built/bin" "$built/obj"
    cp "$SOURCES/subject.c" "$SOURCES/part.c" "$SOURCES/subject.h" "$SOURCES/../subjects/dumpfile.h" "$built/src"
    for part in subject part; do
        (cd "$built/obj" && $CC -O1 -g -Wl,--build-id "$@" -c -o "$part.o" "$built/src/$part.c")
    done
    $CC -g -Wl,--build-id "$@" -o "$built/bin/subject" "$built/obj/subject.o" "$built/obj/part.o"
    "$built/bin/subject" "$built/truth"
}

# Parts what frames said into named and said. The tests dress programs after they ran, and copy them: that either is noted is no
# matter.
split_got() {
    grep -vE '^(reason|note):' got >named || true
    grep -E '^(reason|note):' got | grep -vE 'changed after the dump was made|^note: nothing proves that .* may be wrong$' >said || true
}

# expect WHAT DIR TEXT ARGUMENTS...: frames finds the lines or functions of DIR/truth.WHAT, and then, if TEXT is
# not empty, says a line that holds TEXT; else nothing more.
expect() {
    what=$1 truth=$work/$2/truth text=$3
    shift 3
    case $what in functions) set -- --functions "$@" ;; esac
    "$FRAMES" "$@" "$truth.heap" >got || fail "frames $*: status $?: $(cat got)"
    split_got
    diff -u "$truth.$what" named || fail "frames $*: other frames than $what; $(cat said)"
    if [ -n "$text" ]; then
        grep -qF -- "$text" said || fail "frames $*: nothing says \"$text\", but: $(cat said)"
    elif [ -s said ]; then
        fail "frames $*: unexpected: $(cat said)"
    fi
}

# nameless DIR TEXT ARGUMENTS...: no function of the subject is named, and TEXT is said.
nameless() {
    truth=$work/$1/truth text=$2
    shift 2
    "$FRAMES" --functions "$@" "$truth.heap" >got || fail "frames $*: status $?: $(cat got)"
    split_got
    if grep -vE '^[0-9]+ subject[!+]0x[0-9a-f]+$' named; then fail "frames $*: named without debug information"; fi
    if [ -n "$text" ]; then
        grep -qF -- "$text" said || fail "frames $*: nothing says \"$text\", but: $(cat got)"
    fi
}

build_id() {
    readelf -n "$1" | sed -n 's/^ *Build ID: //p'
}

# Moves the debug information of FILE to DEBUG, which becomes a debug file.
separate() {
    mkdir -p "$(dirname "$2")"
    objcopy --only-keep-debug "$1" "$2"
    objcopy --strip-all "$1"
}

# Where a debug file with FILE's build-id belongs below DIR.
id_path() {
    id=$(build_id "$1")
    echo "$2/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug"
}
