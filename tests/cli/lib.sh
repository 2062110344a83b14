# Helpers of the tests of the command line, for any POSIX sh. A test begins with
#     . "$(dirname "$0")/lib.sh"
# is called with the program to test as $1, finds itself in a directory of its own that goes at the
# end, and ends with `finish`. JPROF_SOURCE_ROOT: the checkout. JPROF_SANITIZED=true: the program
# is built with sanitizers, which take address space and do not work under a tracer. JPROF_HOSTILE: the program
# for hostile input, where that is another one, see tests/plain/meson.build. JPROF_PLAIN: the one without sanitizers, for
# what is asked again and again. JPROF_TESTED: the program to test in place of $1, with sanitizers. meson ends a test that hangs.
set -u
LC_ALL=C
export LC_ALL

skip() {
    echo "$*"
    exit 77
}

[ -x "${1:-}" ] || { echo "usage: sh ${0##*/} JPROF: no program to test"; exit 1; }
jprof=${JPROF_TESTED:-$(CDPATH= cd -- "$(dirname -- "$1")" && pwd)/${1##*/}}
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=${JPROF_SOURCE_ROOT:-$(CDPATH= cd -- "$here/../.." && pwd)}
heaps=$root/samples/heaps
cases=$root/samples/cases
sanitized=${JPROF_TESTED:+true}
sanitized=${sanitized:-${JPROF_SANITIZED:-false}}
hostile=${JPROF_HOSTILE:-$jprof}
plain=${JPROF_PLAIN:-$jprof}

tmp=$(mktemp -d) || exit 1
trap 'cd / && rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
cd "$tmp" || exit 1

# Where jprof looks for the files that recorded and made-up dumps name, lest it takes this machine's of the same names.
of_cases=--sysroot=$cases/sysroot
of_heaps=--sysroot=$heaps/sysroot
nowhere=--sysroot=$tmp/empty-root
mkdir empty-root

# made_at SECONDS DUMP: gives a plain dump in this directory a side-car that says when it was made, and no more.
made_at() {
    printf '{"jprof_agent": 1, "dump": "%s", "time": %s}\n' "$2" "$1" >"$2.json"
}

# of_no_machine DUMP: the same, with its files where no machine has any: for commands that are given no such option.
of_no_machine() {
    sed 's| /usr/| /no/such/usr/|; s| /tmp/| /no/such/tmp/|' "$1"
}

: >out
: >err

newline='
'
checks=0
failures=0
what=nothing

# one_of N: true at each Nth call, and with JPROF_SWEEP=whole at each. So the gate tries a few rows of a long table, from all
# over it and always the same ones; the test NAME-whole tries all.
tried=0
one_of() {
    tried=$((tried + 1))
    [ "${JPROF_SWEEP:-}" = whole ] || [ $((tried % $1)) -eq 0 ]
}

# few COMMAND...: runs it at each fourth call.
few() {
    ! one_of 4 || "$@"
}

# fail TEXT: counts a failure and shows what the last run said.
fail() {
    failures=$((failures + 1))
    echo "FAIL: $what: $*"
    sed 's/^/    stdout: /' out | head -n 12
    sed 's/^/    stderr: /' err | head -n 12
}

# check TEXT COMMAND...: fails with TEXT where COMMAND does.
check() {
    says=$1
    shift
    checks=$((checks + 1))
    "$@" || fail "$says"
}

# Reads the file err and sorts its lines; the shell does it, because a process is dear. That files beside recorded dumps are
# proven by nothing goes to the file doubts (evidence.sh asks when it is said, and when not); what jprof snap says to type
# next goes to the file next; all else stays in err. A sanitizer's finding is a failure whatever a test expects.
sort_err() {
    kept= found=false bent=false
    while { IFS= read -r err_line && end=$newline; } || { [ -n "$err_line" ] && end=; }; do
        case $err_line in
        'jprof: nothing proves that '*' names may be wrong') printf '%s\n' "$err_line" >>doubts ;;
        'jprof: next: jprof '* | 'jprof: '*'; next: jprof '*) printf '%s\n' "$err_line" >>next ;;
        *)
            case $err_line in *Sanitizer* | *'runtime error:'*) found=true ;; esac
            kept=$kept$err_line$end
            continue
            ;;
        esac
        bent=true
    done <err
    [ $bent = false ] || printf %s "$kept" >err
}

no_finding() {
    ! grep -qE 'Sanitizer|runtime error:' err
}

# run COMMAND...: leaves its output in the files out, err, doubts and next, its exit status in $status.
run() {
    what="$*"
    status=0
    "$@" >out 2>err </dev/null || status=$?
    : >next
    : >doubts
    sort_err
    check "a sanitizer found something" [ $found = false ]
    check "killed" [ "$status" -lt 124 ]
}

exits() {
    check "exit status $status, not $1" [ "$status" -eq "$1" ]
}

# works COMMAND...; exits_with STATUS COMMAND...: runs it, and it must exit so. is_quiet: works, and says nothing on standard error;
# is_refused: exits with 1, and prints nothing.
works() {
    run "$@"
    exits 0
}
exits_with() {
    status_wanted=$1
    shift
    run "$@"
    exits "$status_wanted"
}
is_quiet() {
    works "$@"
    says
}
is_refused() {
    exits_with 1 "$@"
    prints_nothing
}

# says TEXT...: standard error is these lines alone. Without an argument: it is empty.
says() {
    sort_err
    expected=
    for line; do expected=$expected$line$newline; done
    check "standard error is not: $*" [ "$kept" = "$expected" ]
}

# says_like REGEX: standard error is one line, and like that.
says_like() {
    sort_err
    check "standard error is not one line" is_one_line "$kept"
    check "standard error is not like: $1" grep -qE -e "$1" err
}

is_one_line() {
    case $1 in *"$newline"*"$newline"*) return 1 ;; *"$newline") ;; *) return 1 ;; esac
}

prints() {
    check "standard output lacks: $1" grep -qE -e "$1" out
}

prints_no() {
    check "standard output has: $1" no_line "$1" out
}

# no_line REGEX FILE
no_line() {
    ! grep -qE -e "$1" "$2"
}

prints_nothing() {
    check "something on standard output" [ ! -s out ]
}

# same TEXT FILE FILE
same() {
    checks=$((checks + 1))
    cmp -s "$2" "$3" && return
    fail "$1"
    diff "$2" "$3" | head -n 20
}

# build OUTPUT SOURCE FLAGS...: compiles a program of src/.
build() {
    built=$1 source=$2
    shift 2
    case $source in
    *.cc) compiler=${CXX:-g++} ;;
    *) compiler=${CC:-gcc} ;;
    esac
    command -v "$compiler" >/dev/null || skip "no $compiler here"
    "$compiler" -o "$built" "$here/src/$source" "$@" || { echo "cannot compile $source"; exit 1; }
}

# Sets $jemalloc to a libjemalloc.so.2 that can profile.
find_jemalloc() {
    for jemalloc in ${JPROF_JEMALLOC:-} /usr/local/lib/libjemalloc.so.2 /usr/lib/*/libjemalloc.so.2 /usr/lib/libjemalloc.so.2; do
        [ -f "$jemalloc" ] || continue
        LD_PRELOAD=$jemalloc MALLOC_CONF=prof:true "$(command -v true)" 2>conf.err
        [ -s conf.err ] || return 0
    done
    skip "no libjemalloc.so.2 here that can profile (Debian: libjemalloc2)"
}

# profiled CONF COMMAND...: runs it under profiling.
profiled() {
    conf=$1
    shift
    timeout 300 env LD_PRELOAD="$jemalloc" MALLOC_CONF="prof:true,$conf" "$@" || { echo "failed: $*"; exit 1; }
}

# Sets $jeprof to Perl's jeprof, which remembers what binutils said of an object file, see jeprof.pl.
find_jeprof() {
    plain_jeprof=$(command -v jeprof) || skip "no jeprof here (Debian: libjemalloc-dev)"
    mkdir -p jeprof.asked
    printf '#!/bin/sh\nexec perl "%s" "%s" "%s" "$@"\n' \
        "$root/tests/cli/jeprof.pl" "$plain_jeprof" "$tmp/jeprof.asked" >jeprof.remembers
    chmod +x jeprof.remembers
    jeprof=$tmp/jeprof.remembers
}

# What it leaves in /tmp goes: it takes no other directory, and the name has its process id.
ask_jeprof() {
    HOME=$tmp JEPROF_TMPDIR=$tmp PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 timeout 600 sh -c 'echo $$ >jeprof.pid && exec "$@"' jeprof "$@" \
        >theirs.whole 2>theirs.err </dev/null || { cat theirs.err; echo "jeprof failed: $*"; exit 1; }
    rm -f "/tmp/jeprof$(cat jeprof.pid).sym"
}

# perl_jeprof ARGUMENTS...: what Perl's jeprof prints goes into the file theirs.whole; it must work. At the first
# call a second one, which only remembers, and plain jeprof must say the same lines.
perl_jeprof() {
    ask_jeprof "$jeprof" "$@"
    if [ ! -e theirs.plain ]; then
        sort theirs.whole >theirs.asked
        ask_jeprof "$jeprof" "$@"
        sort theirs.whole >theirs.remembered
        ask_jeprof "$plain_jeprof" "$@"
        sort theirs.whole >theirs.plain
        same "jeprof.pl is not as jeprof (<)" theirs.plain theirs.asked
        same "what jeprof.pl remembers is not as jeprof (<)" theirs.plain theirs.remembered
    fi
}

# The Total line and the rows of parity.c, grow.c or names.cc in a report; without discriminators.
of_program() {
    awk '
        /^Total( \(t[0-9]+\))?: / { print; next }
        $6 == "main" || $6 ~ /^[pg]_/ || /\/(parity|grow|names)\.cc?(:| |$)/ || / shop::/ {
            sub(/ \(discriminator [0-9]+\)$/, ""); print
        }' "$1"
}

# The last word of a test: nothing checked is a failure too.
finish() {
    echo "$checks checks, $failures failed"
    [ "$checks" -gt 0 ] && [ "$failures" -eq 0 ]
    exit
}
