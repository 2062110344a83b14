#!/bin/sh
# What few reports need is loaded when it is asked for: the program starts without those libraries, and says what is
# missing where they are.
. "$(dirname "$0")/lib.sh"
if ldd --version 2>&1 | grep -q musl || ! ldd "$jprof" >libraries 2>/dev/null; then skip "no ldd of glibc here"; fi

what="libraries that every start loads"
not_linked() { ! grep -E 'lib(capstone|edit|bsd|cgraph|cdt|gvc|debuginfod|curl|archive|icu)' libraries; }
check "too much is linked" not_linked

# ---- capstone ----
built=$(dirname "$(dirname "$jprof")")
capstone=$(cat "$jprof" "$built"/libjprof/libjprof.so.0 2>/dev/null | grep -ao 'libcapstone\.so\.[0-9]*' | head -n 1)
if [ -n "$capstone" ]; then
    mkdir broken
    echo none >"broken/$capstone"
    cp "$cases/ruby31/cext.1.heap" copy.heap # not older than the files beside it
    LD_LIBRARY_PATH=$PWD/broken${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exits_with 1 "$jprof" --disasm=row_new --sysroot="$cases/sysroot" copy.heap
    says_like "^jprof: --disasm needs capstone: .*/broken/$capstone: .*; install libcapstone${capstone##*.} \(Debian\) or capstone \(Alpine\)\$"
fi

# ---- modules ----
# In another place jprof looks beside itself, and then for the installed ones.
if [ -e /usr/local/lib/jprof ]; then
    echo "another jprof is installed in /usr/local: it is not tried what happens without modules"
    finish
    exit
fi
[ -e "$built/dot/jprof-dot.so" ] || skip "built without libcgraph"
mkdir -p away/bin away/lib/jprof
cp "$jprof" away/bin/jprof
LD_LIBRARY_PATH=$built/libjprof${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
dump=$heaps/threads.1.heap
[ -e "$dump" ] || dump=$(find "$heaps" -name '*.heap' | LC_ALL=C sort | head -n 1)

away() { run ./away/bin/jprof --sysroot="$heaps" "$@" "$dump"; }
refused() { # PATTERN
    exits 1
    says_like "$1"
    prints_nothing
}

# ---- no module ----
away --text
exits 0
away --dot
refused '^jprof: --dot cannot be drawn: .*lib/jprof/jprof-dot\.so is missing; install jprof whole$'
cp "$built/dot/jprof-dot.so" away/lib/jprof/
away --dot
exits 0
cp out with
run "$jprof" --dot --sysroot="$heaps" "$dump"
same "another graph" with out
if [ -e "$built/dot/jprof-gvc.so" ]; then
    away --svg
    refused '^jprof: --svg cannot be drawn: .*lib/jprof/jprof-gvc\.so is missing; install jprof whole$'
fi

# ---- one beside the program, and another that is installed ----
# beside_installed: with one in /usr/local/lib/jprof that is no module.
beside_installed() {
    run unshare -m sh -euc '
        mount -t tmpfs none /usr/local/lib
        mkdir /usr/local/lib/jprof
        echo none >/usr/local/lib/jprof/jprof-dot.so
        exec "$@"' sh ./away/bin/jprof --sysroot="$heaps" --dot "$dump"
}
if [ "$(id -u)" = 0 ] && unshare -m mount -t tmpfs none /usr/local/lib 2>/dev/null; then
    beside_installed
    exits 0
    same "another graph beside installed modules" with out
    # What others may have written is not run.
    chmod 777 away/lib
    beside_installed
    refused '^jprof: --dot cannot be drawn: .* /usr/local/lib/jprof/jprof-dot\.so: '
    chown 65533 away/lib
    chmod 755 away/lib
    beside_installed
    refused '^jprof: --dot cannot be drawn: .* /usr/local/lib/jprof/jprof-dot\.so: '
    chown 0 away/lib
    # Nor what a user puts beside a link to a program with rights.
    cp away/bin/jprof away/bin/with-rights
    if setcap cap_net_raw+ep away/bin/with-rights 2>/dev/null; then
        chmod 755 . away away/bin
        run setpriv --reuid=65533 --clear-groups ./away/bin/with-rights --sysroot="$heaps" --dot "$dump"
        refused '^jprof: --dot cannot be drawn: /usr/local/lib/jprof/jprof-dot\.so is missing; '
    fi
fi

# ---- a module whose library is not there, or of another jprof ----
command -v "${CC:-cc}" >/dev/null || { echo "no C compiler: modules without their libraries were not tried"; finish; }
echo 'int none(void) { return 0; }' >none.c
${CC:-cc} -shared -fPIC -o libnone.so none.c
without_library() { # NAME SYMBOL VERSION
    echo "int none(void); struct { const char *version; int (*f)(void); } $2 = { \"$3\", none };" >stub.c
    ${CC:-cc} -shared -fPIC -Wl,--no-as-needed -o "away/lib/jprof/$1" stub.c -L. -lnone
}
without_library jprof-dot.so jprof_dot 0.0.1
away --dot
refused '^jprof: --dot cannot be drawn: call graphs need Graphviz. library of graphs: libnone\.so: .*; install libcgraph6 \(Debian\) or graphviz \(Alpine\)$'
cp libnone.so away/lib/jprof/
LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$PWD away --dot
refused '^jprof: --dot cannot be drawn: .*jprof-dot\.so is of jprof 0\.0\.1, this is [0-9.]*; install both anew$'
if [ -e "$built/dot/jprof-gvc.so" ]; then
    cp "$built/dot/jprof-dot.so" away/lib/jprof/
    without_library jprof-gvc.so jprof_gvc 0.0.1
    away --svg
    refused '^jprof: --svg cannot be drawn: pictures need Graphviz. library: libnone\.so: .*; install graphviz; --dot works$'
fi

# ---- lines are read without libedit, too ----
if [ -e "$built/jeprof-c/jprof-edit.so" ] && command -v python3 >/dev/null; then
    session() {
        what="--interactive: $1"
        (echo 'top 3' && echo quit) | python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' \
            ./away/bin/jprof -i --sysroot="$heaps" "$dump" | tr -d '\r' >out 2>err
        tr -s '\n ' ' ' <out >words # a message takes as many lines as it needs
        check "no report" grep -q 'Total:\|flat' out
    }
    session "no module"
    check "not said" grep -q 'jprof: no history and no completion: .*jprof-edit\.so is missing; install jprof whole' words
    without_library jprof-edit.so jprof_edit 0.0.1
    session "no libedit"
    check "not said" grep -q 'they need libedit: libnone\.so: .*; install libedit2 (Debian) or libedit (Alpine)' words
    cp "$built/jeprof-c/jprof-edit.so" away/lib/jprof/
    session "with libedit"
    check "said in spite of libedit" sh -c '! grep -q "no history" words'
fi
finish
