#!/bin/sh
# Who may read the memory of a process, and what is said where nobody may: the reason that was found, a way that fits,
# and what /proc still tells. PARKED_HEAP: tests/unit/parked_heap.c.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
find_jemalloc
. "$here/parked.sh"
command -v python3 >/dev/null || skip "no python3 here"
as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
[ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && $as_nobody "$jprof" --version >/dev/null 2>&1 ||
    skip "needs root, setpriv, and a jprof that others may run"

# refused REASON: in the last output, on however many lines.
refused() {
    tr '\n' ' ' <out >one_line
    check "not said: $1; but: $(cat one_line)" grep -qF "Not read: its memory may not be read: $1" one_line
    prints ' RSS'
    prints_no 'Why:|jprof run'
}
reads() {
    prints '^ +[0-9.]+ +[0-9]+ %  live malloc memory, [0-9,]+ blocks$'
}

# ---- a container's filter refuses calls that read the memory of others: files are read ----
park "$jemalloc" "" "$parked" 0
own() { sed -e '/"control_group"/d' -e 's/"still_shared": [0-9]*, //'; } # these two change with other processes
"$jprof" explain --json "$pid" | own >usual
for call in process_vm_readv ptrace process_vm_readv,ptrace; do
    is_quiet python3 "$root/tests/live/deny.py" "$call" "$jprof" explain --json "$pid"
    own <out >denied
    same "what is read without $call" usual denied
done
cat >readv.py <<'END'
import ctypes, os
class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
word = ctypes.create_string_buffer(8)
piece = ctypes.byref(Piece(ctypes.addressof(word), 8))
raise SystemExit(0 if ctypes.CDLL(None).process_vm_readv(os.getpid(), piece, 1, piece, 1, 0) == 8 else 5)
END
exits_with 0 python3 readv.py
exits_with 5 python3 "$root/tests/live/deny.py" process_vm_readv python3 readv.py # the filter holds

# ---- root's process ----
is_quiet $as_nobody "$jprof" explain "$pid"
refused "you are user 65534, and it is of user 0."
prints "^   here            sudo jprof explain $pid\$"
exits_with 1 $as_nobody "$jprof" check --max-unreachable=1MB "$pid"
prints '^CANNOT TELL: '
works setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace "$jprof" explain "$pid"
refused "it has capabilities that you do not have."
prints '^   (here            as root with CAP_SYS_PTRACE|in (Docker|Kubernetes) .*)$'
if unshare --user --map-root-user true 2>/dev/null; then
    works unshare --user --map-root-user "$jprof" explain "$pid"
    refused "it is in another user namespace, where you have no rights: run jprof outside of yours."
    prints_no 'sudo|SYS_PTRACE'
fi
unpark

# ---- of one user, without any right ----
park "$jemalloc" "" $as_nobody "$parked" 0
is_quiet $as_nobody "$jprof" explain "$pid"
reads
is_quiet "$jprof" explain "$pid"
reads
works setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace "$jprof" explain "$pid"
refused "you are root without CAP_SYS_PTRACE, and it is of user 65534."
works setpriv --reuid=65533 --regid=65533 --clear-groups "$jprof" explain "$pid"
refused "you are user 65533, and it is of user 65534."

# ---- Yama, which this kernel may not have: FAKED, by a library that answers as it would ----
for number in 1 13; do # EPERM, EACCES
    for scope in 1 2; do
        works $as_nobody env LD_PRELOAD="$JPROF_FAKE_YAMA" FAKE_YAMA=$scope FAKE_ERRNO=$number "$jprof" explain "$pid"
        refused "this kernel lets only root (kernel.yama.ptrace_scope is $scope)."
        prints "^   here            sudo jprof explain $pid\$"
    done
    works env LD_PRELOAD="$JPROF_FAKE_YAMA" FAKE_YAMA=3 FAKE_ERRNO=$number "$jprof" explain "$pid"
    refused "this kernel lets nobody (kernel.yama.ptrace_scope is 3)."
    prints_no 'sudo|SYS_PTRACE'
done
unpark

# One that has a capability of its own.
if park "$jemalloc" "" $as_nobody --inh-caps=+net_raw --ambient-caps=+net_raw "$parked" 0 2>/dev/null; then
    works $as_nobody "$jprof" explain "$pid"
    refused "it has capabilities that you do not have."
    works "$jprof" explain "$pid"
    reads
    unpark
fi

# One that is not dumpable: PR_SET_DUMPABLE is 4.
park "$jemalloc" "" $as_nobody /usr/bin/python3 -c 'import ctypes, sys
ctypes.CDLL(None).prctl(4, 0)
print("end", flush=True)
sys.stdin.read()'
works $as_nobody "$jprof" explain "$pid"
refused "it hides its memory from others of its user (PR_SET_DUMPABLE)."
works "$jprof" explain "$pid"
reads
unpark

# ---- one in a user namespace of its own: from outside, and from within ----
if unshare --user --map-root-user true 2>/dev/null; then
    park "$jemalloc" "" unshare --user --map-root-user "$parked" 0
    is_quiet "$jprof" explain "$pid"
    reads
    if command -v nsenter >/dev/null; then
        works nsenter --user --target "$pid" "$jprof" explain "$pid"
        reads
    fi
    works $as_nobody "$jprof" explain "$pid"
    prints '^Not read: its memory may not be read: '
    unpark
fi
finish
