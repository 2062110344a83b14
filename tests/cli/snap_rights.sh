#!/bin/sh
# What root's collector does for a process that it could not do itself: nothing. Each target here is hostile: it names
# files that are none of its business, and they are still there, and not in the bundle.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
[ "$(id -u)" -eq 0 ] || skip "only root can be told to do what others may not"
command -v setpriv >/dev/null || skip "no setpriv here (Debian: util-linux)"
command -v python3 >/dev/null || skip "no python3 here"
python3=$(python3 -c 'import sys; print(sys.executable)') # a link below /root is nothing for other users
good=$tmp/good.heap
cp "$heaps/jemalloc-5.3.0.heap" good.heap
cp "$here/src/fake_agent.py" .
chmod 0755 "$tmp"
mkdir -m 0777 d ready.d
user=65534 other=4242
as_user="setpriv --reuid=$user --regid=$user --clear-groups"
$as_user "$python3" -c 'import os; os.memfd_create' 2>/dev/null || skip "no other user may run $python3, or it knows no memfd"
no_caps="setpriv --bounding-set=-all --inh-caps=-all"
$no_caps true 2>/dev/null || skip "no capabilities can be given up here"

# fake LIES [COMMAND...]: a process with such an agent, started by COMMAND; sets $pid, and $next, its next dump.
fake() {
    lies=$1
    shift
    rm -rf d ready.d/* x.jprof
    mkdir -m 0777 d
    READY=$tmp/ready.d/ready "$@" "$python3" "$tmp/fake_agent.py" "$tmp/d" "$lies" "$good" >target.out 2>target.err </dev/null &
    pid=$!
    started="$started $pid"
    until_true 60 test -e ready.d/ready || { cat target.err; exit 1; }
    next=app.$pid.0.j0.heap
}

# victim NAME OWNER: a file that only OWNER may read, with a word that is looked for afterwards.
victim() {
    printf '{"secret": "of-%s"}' "$2" >"$1"
    chown "$2:$2" "$1"
    chmod 0600 "$1"
}

# refuses LIKE OPTIONS...: and the victims stay, and are nowhere.
refuses() {
    like=$1
    shift
    run "$jprof" snap "$pid" -o x.jprof "$@"
    exits 1
    says_like "^jprof: process $pid: $like"
    unharmed
    check "a file was made" [ ! -e x.jprof ]
    lives "$pid"
    stop "$pid"
}

unharmed() {
    for file in victim.*; do
        check "$file is gone" grep -q secret "$file"
    done
    [ ! -e x.jprof ] || check "it is in the bundle" eval '! tar xOf x.jprof | grep -q secret'
}

# takes OPTIONS...
takes() {
    run "$jprof" snap "$pid" -o x.jprof "$@"
    exits 0
    says
    has x.jprof "$pid/dump.heap"
    unharmed
    rm -f x.jprof
}

victim victim.root 0
victim victim.other $other

# ---- root without capabilities is not root ---------------------------------------------------------------------------
fake planted-sidecar $no_caps
ln "victim.other" "d/$next.json"
refuses "its file $next.json cannot be read: Permission denied"
# The first program of the audit: the sidecar's name does not even fit.
fake planted-sidecar,elsewhere $no_caps
ln victim.other "$next.json"
refuses "its agent made a dump, but does not give its side-car the same name with .json"
rm -f "$next.json"
# Nor removes root what such a process names: a directory that is another's, and that it may only read.
fake honest $no_caps
run "$jprof" snap "$pid" -o x.jprof --keep-dumps
exits 0
chown $other d
chmod 0755 d
mv "d/$next" d/dump
mv d/dump "d/app.$pid.1.j1.heap"
rm -f "d/$next.json" x.jprof
refuses "its file .* cannot be read: Permission denied|its agent hung up"
fake fds $no_caps
takes

# ---- another user's process -----------------------------------------------------------------------------------------
for file in victim.root victim.other; do
    fake planted-sidecar $as_user
    ln "$file" "d/$next.json"
    refuses "its file $next.json cannot be read: Permission denied"
    fake planted-sidecar $as_user
    ln -s "$tmp/$file" "d/$next.json"
    refuses "its file $next.json cannot be read: it is not a regular file"
    fake planted $as_user
    ln "$file" "d/$next"
    refuses "its file $next cannot be read: Permission denied"
done
# One that it may read is not its own either.
fake planted $as_user
cp good.heap "d/$next"
refuses "its file $next cannot be read: it belongs to another user than the process"
fake honest $as_user
takes
no_dumps d
fake fds $as_user
takes
no_dumps d
# The directory of its socket is closed to it: root does not go where it may not.
fake fds $as_user
chown $other d
chmod 0700 d
refuses "its agent cannot be reached at .*: the process's own user may not reach it there"

# ---- it was root and is another now, without exec ---------------------------------------------------------------------
fake planted-sidecar,setuid
ln victim.root "d/$next.json"
refuses "its file $next.json cannot be read: Permission denied"
fake fds,setuid
takes
fake setuid
takes

# ---- in a user namespace ----------------------------------------------------------------------------------------------
if unshare --user --map-root-user true 2>/dev/null; then
    # Its root is another user's outside, and has there all capabilities: none of them counts here.
    fake planted-sidecar $as_user unshare --user --map-root-user
    ln victim.root "d/$next.json"
    refuses "its file $next.json cannot be read: Permission denied"
    fake honest $as_user unshare --user --map-root-user
    takes
    fake fds $as_user unshare --user --map-root-user
    takes
    # Of a user that has no number here nobody knows what it may: root of a namespace looks at one that came into it.
    build unmapped unmapped.c
    fake honest
    READY=$tmp/ready.d/two ./unmapped $other "$python3" "$tmp/fake_agent.py" "$tmp/d" honest "$good" >two.out 2>two.err &
    started="$started $!"
    if until_true 10 test -e ready.d/two; then
        inner=$(cat unmapped.pid)
        started="$started $inner"
        run nsenter --user --target "$inner" "$jprof" snap "$inner" -o d/x.jprof
        exits 1
        says_like "^jprof: process $inner: (its user has no number in this user namespace|no permission)"
    else
        fail "no process in a namespace without its user: $(cat two.err)"
    fi
    stop "$pid"
fi

# ---- it passes through a setuid program ---------------------------------------------------------------------------------
# A program that any user may run as root, and that does nothing but wait: as sudo waits for a password.
build waits waits.c
chmod 4755 waits
END
cat tests/cli/src/waits.c tests/cli/src/stay.c; wait
