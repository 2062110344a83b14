"""Forks and exits while the agent is at a file system that does not answer.

usage: slow.py SUBJECT AGENT JEMALLOC DIRECTORY

strace makes each call of some kind that the agent's thread makes for its files take DELAY seconds. The subject forks
all the time, tells how long the longest fork took, and exits."""
import os
import signal
import subprocess
import sys
import time

DELAY = 2
BOUND = DELAY / 2  # what is promised is 0.1 s; a loaded machine delays too
PATIENCE = 60

# What is slow, and whether the agent comes to it before the exit.
CASES = [
    ("open,openat", True),
    ("write,pwrite64", True),
    ("close", True),
    ("flock,fstat,newfstatat,fsync,fdatasync", True),
    ("rename,renameat,renameat2,link,linkat", True),
    ("unlink,unlinkat", False),
]


def wait_for(what, true):
    end = time.time() + PATIENCE
    while not true():
        if time.time() > end:
            sys.exit(f"waited in vain for {what}")
        time.sleep(0.002)


def status(pid, tid, key):
    """Of a thread; "gone" where it is."""
    try:
        with open(f"/proc/{pid}/task/{tid}/status") as text:
            return next(line.split()[1] for line in text if line.startswith(key + ":"))
    except (FileNotFoundError, ProcessLookupError):
        return "gone"


def thread_of(pid):
    for tid in os.listdir(f"/proc/{pid}/task"):
        if status(pid, tid, "Name") == "jprof-agent":
            return int(tid)
    return None


def is_announced(pid):
    with open(f"/proc/{pid}/maps") as maps:
        return "/memfd:jprof-agent:" in maps.read()


def stays_stopped(pid, tid):
    for _ in range(10):
        if status(pid, tid, "State") != "t":
            return False
        time.sleep(0.02)
    return True


def end(target, pid):
    """Ends it. Returns its longest fork, and how long its exit took: until its first thread is no more. The one that
    strace delays stays for as long as that."""
    target.stdin.close()
    longest = float(target.stdout.readline())
    began = time.time()
    wait_for("the exit", lambda: status(pid, pid, "State") in ("Z", "X", "gone"))
    took = time.time() - began
    target.wait(PATIENCE)
    return longest, took


def trace(pid, tid, calls, more, log):
    tracer = subprocess.Popen(["strace", "-p", str(tid), "-o", log, "-e", f"inject={calls}:delay_enter={DELAY}000000",
                               *more], stderr=subprocess.DEVNULL)
    wait_for("strace", lambda: status(pid, tid, "TracerPid") != "0")
    return tracer


def slow(calls, comes, argv, env, prefix):
    """A dump whose files are slow, from the moment on when the agent is idle."""
    target = subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    pid = target.pid
    wait_for("the agent", lambda: is_announced(pid))
    tid = thread_of(pid)
    dump = f"{prefix}.{pid}.0.j0.heap"
    files = [os.path.dirname(prefix), dump, dump + ".part", dump + ".json", dump + ".json.part"]
    paths = [word for path in files for word in ("-P", path)] if comes else []
    tracer = trace(pid, tid, calls, ["-e", "trace=" + calls, *paths], "slow.log")
    os.kill(pid, signal.SIGUSR2)
    if comes:
        wait_for("a slow call of " + calls, lambda: stays_stopped(pid, tid))
        time.sleep(DELAY / 2)
    else:
        wait_for("a dump", lambda: os.path.exists(dump))
    got = end(target, pid)
    tracer.wait()
    return got


def slow_inside(argv, env):
    """Memory is denied, so jemalloc writes the file itself, under a lock that fork takes: only the exit goes on."""
    target = subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    pid = target.pid
    wait_for("the agent", lambda: is_announced(pid))
    tid = thread_of(pid)
    more = ["-e", "trace=write,memfd_create", "-e", "inject=memfd_create:error=EPERM"]
    tracer = trace(pid, tid, "write", more, "slow.log")
    os.kill(pid, signal.SIGUSR2)
    wait_for("a slow write", lambda: stays_stopped(pid, tid))
    got = end(target, pid)
    tracer.wait()
    return got


def slow_start(calls, argv, env):
    """The agent opens its socket."""
    target = subprocess.Popen(["strace", "-f", "-qq", "-o", "slow.log", "-e", "trace=" + calls, "-e",
                               f"inject={calls}:delay_enter={DELAY}000000", *argv], env=env, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    wait_for("a slow " + calls, lambda: calls in open("slow.log").read() if os.path.exists("slow.log") else False)
    time.sleep(DELAY / 2)
    with open(f"/proc/{target.pid}/task/{target.pid}/children") as children:
        return end(target, int(children.read().split()[0]))


def main():
    subject, agent, jemalloc, directory = sys.argv[1:]
    prefix = directory + "/app"
    env = dict(os.environ, LD_PRELOAD=agent + ":" + jemalloc, JPROF_AGENT="for=subject",
               MALLOC_CONF=f"prof:true,lg_prof_sample:12,prof_prefix:{prefix}")
    argv = [subject, "hold", "forks"]
    bad = 0
    for calls, comes in CASES:
        fork, leave = slow(calls, comes, argv, env, prefix)
        print(f"{calls}: the longest fork {fork:.3f} s, the exit {leave:.3f} s", flush=True)
        bad += fork > BOUND or leave > BOUND
    fork, leave = slow_start("bind", argv, env)
    print(f"bind: the longest fork {fork:.3f} s, the exit {leave:.3f} s", flush=True)
    bad += fork > BOUND or leave > BOUND
    fork, leave = slow_inside(argv, env)
    print(f"write, inside prof.dump: the longest fork {fork:.3f} s, which may wait, the exit {leave:.3f} s", flush=True)
    bad += leave > BOUND
    sys.exit(bad > 0)


main()
