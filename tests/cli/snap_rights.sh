#!/bin/sh
# What root's collector does for a process that it could not do itself: nothing. The targets here are hostile: they name
# files that are none of their business. These are still there afterwards, and not in the bundle.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
[ "$(id -u)" -eq 0 ] || skip "only root can be told to do what others may not"
command -v setpriv >/dev/null || skip "no setpriv here (Debian: util-linux)"
python3=/usr/bin/python3
user=65534 other=4242
as_user="setpriv --reuid=$user --regid=$user --clear-groups"
no_caps="setpriv --bounding-set=-all --inh-caps=-all"
$as_user $python3 -c 'import os; os.memfd_create' 2>/dev/null || skip "other users have no $python3 here that knows memfd"
$no_caps true 2>/dev/null || skip "no capabilities can be given up here"
good=$tmp/good.heap
of_no_machine "$heaps/jemalloc-5.3.0.heap" >good.heap
cp "$here/src/fake_agent.py" .
chmod 0755 "$tmp"
mkdir -m 0777 ready.d
victims="victim.root victim.other"

# victim NAME OWNER: a file that only OWNER may read, with a word that is looked for afterwards.
victim() {
    printf '{"secret": "of-%s"}' "$2" >"$1"
    chown "$2:$2" "$1"
    chmod 0600 "$1"
}
victim victim.root 0
victim victim.other $other

# fake LIES [COMMAND...]: a process with such an agent, begun by COMMAND; sets $pid, and $next, its next dump.
fake() {
    lies=$1
    shift
    rm -rf d ready.d/* x.jprof
    mkdir -m 0777 d
    READY=$tmp/ready.d/ready "$@" $python3 "$tmp/fake_agent.py" "$tmp/d" "$lies" "$good" >target.out 2>target.err </dev/null &
    pid=$!
    started="$started $pid"
    until_true 60 test -e ready.d/ready || { cat target.err; exit 1; }
    next=app.$pid.0.j0.heap
}

unharmed() {
    for file in $victims; do
        check "$file is gone" grep -q secret "$file"
    done
    check "it is in the bundle" eval '[ ! -e x.jprof ] || ! tar xOf x.jprof | grep -q secret'
}

# refuses LIKE OPTIONS...
refuses() {
    like=$1
    shift
    exits_with 1 "$jprof" snap "$pid" -o x.jprof "$@"
    says_like "^jprof: process $pid: $like"
    unharmed
    check "a file was made" [ ! -e x.jprof ]
    lives "$pid"
    stop "$pid"
}

# takes OPTIONS...
takes() {
    is_quiet "$jprof" snap "$pid" -o x.jprof "$@"
    taken
}

# takes_without_names LIKE OPTIONS...: one line says which files were lost, and why.
takes_without_names() {
    like=$1
    shift
    works "$jprof" snap "$pid" -o x.jprof "$@"
    says_like "^jprof: process $pid: /[^ ]* cannot be read: $like; nor can [0-9]* more files; names may be missing; run jprof again\$"
    taken
}

taken() {
    has x.jprof "$pid/dump.heap"
    unharmed
    lives "$pid"
    stop "$pid"
}

# plant_valid DIRECTORY: a dump and a side-car that are all right but for whose they are.
plant_valid() {
    cp "$good" "$1/app.$pid.0.j0.heap"
    ticks=$(sed 's/.*) //' "/proc/$pid/stat" | cut -d ' ' -f 20)
    printf '{"jprof_agent": 1, "reason": "socket", "dump": "%s", "pid": %s, "start_ticks": %s, "time": 4000000000}' \
        "app.$pid.0.j0.heap" "$pid" "$ticks" >"$1/app.$pid.0.j0.heap.json"
}

# ---- root without capabilities is not root -----------------------------------------------------------------------
fake planted-sidecar $no_caps
ln victim.other "d/$next.json"
refuses "its file $next.json cannot be read: Permission denied"
fake planted $no_caps
ln victim.other "d/$next"
refuses "its file $next cannot be read: Permission denied"
# Nor does root remove for it: the directory is another's.
fake planted,planted-sidecar $no_caps
plant_valid d
chown $other d
chmod 0755 d
works "$jprof" snap "$pid" -o x.jprof
check "not said" grep -q "$next: cannot be removed: Permission denied" err
check "root removed what the process could not" [ -e "d/$next" ]
stop "$pid"
fake fds $no_caps
takes

# ---- another user's process ---------------------------------------------------------------------------------------
for file in $victims; do
    fake planted-sidecar $as_user
    ln "$file" "d/$next.json"
    refuses "its file $next.json cannot be read: Permission denied"
    fake planted-sidecar $as_user
    ln -s "$tmp/$file" "d/$next.json"
    refuses "its file $next.json cannot be read: it is not a regular file"
done
# One that it may read is not its own either.
fake planted,planted-sidecar $as_user
plant_valid d
refuses "its file $next cannot be read: it belongs to another user than the process"
fake honest $as_user
takes
no_dumps d
fake fds $as_user
takes
no_dumps d
# The directory of its socket was closed to it: root does not go where it may not.
fake fds $as_user
chown $other d
chmod 0700 d
refuses "its agent cannot be reached at .*: the process's own user may not reach it there"
# It may do to the child what it may do to itself: nothing waits for that.
fake stop $as_user
refuses "its file $next cannot be read: its file system does not answer" --timeout=2
fake stop,fds $as_user
takes_without_names "its file system does not answer" --timeout=2

# ---- it was root and is another now, without exec ------------------------------------------------------------------
fake planted-sidecar,setuid
ln victim.root "d/$next.json"
refuses "its file $next.json cannot be read: Permission denied"
fake setuid
takes
fake fds,setuid
takes

# ---- it passes through a setuid program -------------------------------------------------------------------------------
build passes passes.c
cp passes passes.setuid
chmod 4755 passes.setuid
rm -rf d x.jprof
mkdir -m 0777 d
$as_user ./passes "$tmp/d" "$tmp/passes" "$tmp/passes.setuid" >target.out 2>target.err </dev/null &
pid=$!
started="$started $pid"
until_true 60 test -s d/ready || { cat target.err; exit 1; }
helper=$(cat "/proc/$pid/task/$pid/children")
started="$started $helper"
plant_valid d
chmod 0600 d/app.*
i=0
while [ "$i" -lt "${JPROF_PASSES:-20}" ]; do # before the user was read again 2 of 400 got it
    run "$plain" snap "$pid" -o x.jprof
    check "it got a bundle with root's file" [ ! -e x.jprof ]
    check "root's file is gone" [ -e "d/app.$pid.0.j0.heap" ]
    i=$((i + 1))
done
lives "$pid"
stop "$pid"

# ---- in a user namespace ----------------------------------------------------------------------------------------------
if $as_user unshare --user --map-root-user true 2>/dev/null; then
    # Root inside, with all capabilities there: none of them counts here.
    fake planted-sidecar $as_user unshare --user --map-root-user
    ln victim.root "d/$next.json"
    refuses "its file $next.json cannot be read: Permission denied"
    fake honest $as_user unshare --user --map-root-user
    takes
    no_dumps d
    fake fds $as_user unshare --user --map-root-user
    takes
    # An overlay of its own making may stand on anything: what lies there is copied by the child.
    cat >overlay.sh <<'END'
mkdir "$1/upper" "$1/work" "$1/lower" && mount -t overlay -o "lowerdir=$1/lower,upperdir=$1/upper,workdir=$1/work" none "$2" || exit 1
shift 2
exec "$@"
END
    mkdir -m 0777 over
    if $as_user unshare --user --map-root-user --mount sh overlay.sh "$tmp/over" "$tmp/d" true 2>/dev/null; then
        rm -rf over/*
        fake honest $as_user unshare --user --map-root-user --mount sh "$tmp/overlay.sh" "$tmp/over" "$tmp/d"
        takes
        no_dumps over/upper
    fi

    # Of a user that has no number here nobody knows what it may. Root of a namespace with one user looks at a process
    # that came into it with another one.
    unshare --user --map-root-user sleep 600 &
    holder=$!
    started="$started $holder"
    until_true 20 grep -qE '^ *0 +0 +1$' "/proc/$holder/uid_map"
    exec 8<"/proc/$holder/ns/user"
    fake fds setpriv --reuid=$other --regid=$other --clear-groups --inh-caps=+sys_admin --ambient-caps=+sys_admin \
        nsenter --user=/proc/self/fd/8 --preserve-credentials
    exits_with 1 nsenter --user="/proc/$holder/ns/user" "$jprof" snap "$pid" -o x.jprof
    says_like "^jprof: process $pid: its user has no number in this user namespace"
    lives "$pid"
    stop "$pid"
    stop "$holder"
fi

# ---- in another network ---------------------------------------------------------------------------------------------
# Who is not root may look at a process of his own there, and cannot go there.
if unshare --net true 2>/dev/null; then
    fake abstract unshare --net $as_user
    exits_with 1 $as_user "$jprof" snap "$pid" -o d/x.jprof
    says_like "its agent cannot be reached at @[^ ]*: it is in a network of its own, as in a container, which only root may enter"
    lives "$pid"
    stop "$pid"
fi

# ---- on a terminal --------------------------------------------------------------------------------------------------
# Snap says there how far it is; a snapshot that is taken for an answer has nothing to say.
fake honest $as_user
python3 "$here/on_tty.py" 24x80 "$jprof" snap "$pid" -o x.jprof >out
check "snap does not say how far it is" grep -q ': dump .* MB' out
fake_pid=$pid
python3 "$here/on_tty.py" 24x80 "$jprof" explain "$pid" >out
check "explain says how far snap is: $(cat out)" no_line ': dump .* MB' out
stop "$fake_pid"

# ---- a file system that hangs -----------------------------------------------------------------------------------------
# FUSE without anybody who answers: it goes with the process that holds it.
cat >hung.sh <<'END'
directory=$1
shift
exec 9<>/dev/fuse && mkdir "$directory/hung" &&
    mount -i -t fuse -o fd=9,rootmode=40000,user_id=0,group_id=0,allow_other none "$directory/hung" && exec "$@"
END
mkdir -p d
if [ -e /dev/fuse ] && unshare --mount sh hung.sh "$tmp/d" true 2>/dev/null; then
    fake hung unshare --mount sh "$tmp/hung.sh" "$tmp/d"
    refuses "its file $next cannot be read: its file system does not answer" --timeout=2
fi

# ---- control groups ---------------------------------------------------------------------------------------------------
# Where the collector does not see the group it looks where the process does: only in a control group's file system.
cat >group.sh <<'END'
plant=$1 kind=$2 user=$3
shift 3
mount -t tmpfs -o mode=755 none /sys/fs/cgroup && mkdir /sys/fs/cgroup/memory || exit 1
for file in memory.current memory.max memory.stat memory/memory.usage_in_bytes memory/memory.stat; do
    if [ "$kind" = link ]; then ln -s "$plant" "/sys/fs/cgroup/$file"; else cp "$plant" "/sys/fs/cgroup/$file"; chown "$user" "/sys/fs/cgroup/$file"; fi
done
exec "$@"
END
cat >blind.sh <<'END'
mount -t tmpfs none /sys/fs/cgroup && exec "$@"
END
if unshare --mount sh -c 'mount -t tmpfs none /sys/fs/cgroup' 2>/dev/null; then
    for kind in link file; do
        fake fds unshare --mount sh "$tmp/group.sh" "$tmp/victim.root" $kind $user $as_user
        works unshare --mount sh blind.sh "$jprof" snap "$pid" -o x.jprof
        has x.jprof "$pid/dump.heap"
        has_no x.jprof "$pid/memory\..*"
        unharmed
        stop "$pid"
    done
    fake fds $as_user
    works unshare --mount sh blind.sh "$jprof" snap "$pid" -o x.jprof
    if ls /sys/fs/cgroup/memory/memory.usage_in_bytes /sys/fs/cgroup/memory.current >/dev/null 2>&1 ||
        [ -e /sys/fs/cgroup/memory/memory.usage_in_bytes ]; then
        has x.jprof "$pid/memory\.(usage_in_bytes|current)"
    fi
    stop "$pid"
fi

# ---- whose the bundle is ------------------------------------------------------------------------------------------
# owned WHO MODE OPTIONS...: the bundle that comes of these belongs to UID:GID and has that mode.
owned() {
    who=$1 mode=$2
    shift 2
    rm -f x.jprof
    is_quiet "$@" -o x.jprof
    check "the bundle is not $who's with $mode" [ "$(stat -c %u:%g:%a x.jprof)" = "$who:$mode" ]
}
umask 022
fake fds
owned 0:0 600 "$jprof" snap "$pid"
owned 0:0 644 "$jprof" snap "$pid" --mode=0644
owned 0:0 640 "$jprof" snap "$pid" --mode=640
owned $other:$user 600 env SUDO_UID=$other SUDO_GID=$user "$jprof" snap "$pid"
owned $other:$user 644 env SUDO_UID=$other SUDO_GID=$user "$jprof" snap "$pid" --mode=0644
owned 0:0 600 env SUDO_UID=0 SUDO_GID=0 "$jprof" snap "$pid"
for bad in -1 x 4294967295 99999999999 " 1" 1x ""; do
    owned 0:0 600 env SUDO_UID="$bad" SUDO_GID=1 "$plain" snap "$pid"
    owned 0:0 600 env SUDO_UID=1 SUDO_GID="$bad" "$plain" snap "$pid"
done
owned 0:0 600 "$jprof" bundle good.heap
owned 0:0 664 "$jprof" bundle --mode=664 good.heap
rm -f x.jprof
for bad in 8 01000 rw 00644x ""; do
    exits_with 1 "$jprof" snap "$pid" --mode="$bad" -o x.jprof
    says "jprof: --mode=$bad: give a file's mode in octal, such as 0644"
    exits_with 1 "$jprof" bundle --mode="$bad" -o x.jprof good.heap
    says "jprof: --mode=$bad: give a file's mode in octal, such as 0644"
done
check "a file was made" [ ! -e x.jprof ]
# Nobody else takes sudo's word.
chmod 0777 .
if $as_user "$jprof" --version >/dev/null 2>&1; then
    owned $user:$user 600 $as_user env SUDO_UID=$other SUDO_GID=$other "$jprof" bundle good.heap
fi
stop "$pid"
finish
