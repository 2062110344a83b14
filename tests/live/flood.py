"""Connects as another user all the time, while a legitimate client asks.

usage: flood.py PID SECONDS [only]

Prints how many connections there were, the CPU time of the agent's thread for a second of that of the flood, and how
long the slowest of the legitimate client's answers took. With `only` it just connects, and says `flooding` first."""
import multiprocessing
import os
import re
import socket
import sys
import time

NOBODY = 65534
PLACES, SILENT = 8, 5  # what docs/internals/agent.md says of clients


def address(pid):
    with open(f"/proc/{pid}/maps") as maps:
        name = re.search(r"jprof-agent:\d+:\d+:(.*) \(deleted\)", maps.read()).group(1)
    return "\0" + name[1:] if name[0] == "@" else name


def thread_of(pid):
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/comm") as comm:
            if comm.read().strip() == "jprof-agent":
                return tid
    sys.exit("no agent")


def cpu(pid, tid):
    with open(f"/proc/{pid}/task/{tid}/schedstat") as text:
        return int(text.read().split()[0]) / 1e9


def flood(name, until, counts):
    os.setgroups([])
    os.setuid(NOBODY)
    made = tried = 0
    parent = os.getppid()
    while time.time() < until and os.getppid() == parent:
        tried += 1
        client = socket.socket(socket.AF_UNIX)
        client.setblocking(False)
        try:
            client.connect(name)
            made += 1
        except (BlockingIOError, PermissionError):
            pass
        client.close()
    counts.put((made, tried, time.process_time()))


def ask(name):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(60)
        client.setblocking(True)
        client.connect(name)
        client.sendall(b"report\n")
        return client.recv(65536).startswith(b'{"ok":true')


def connected(name):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(60)
    client.connect(name)
    return client


def start_flood(name, seconds):
    counts = multiprocessing.Queue()
    flooding = multiprocessing.Process(target=flood, args=(name, time.time() + seconds, counts))
    flooding.start()
    return counts


def pushed_out(name):
    """Clients that keep all places, and are silent for so long that a new one would get the place of the first."""
    clients = [connected(name) for _ in range(PLACES)]
    for client in clients:
        client.sendall(b"report\n")
        client.recv(65536)
    time.sleep(SILENT + 0.5)
    start_flood(name, 1).get()
    lost = 0
    for client in clients:
        try:
            client.sendall(b"report\n")
            lost += not client.recv(65536)
        except OSError:
            lost += 1
        client.close()
    return lost


def main():
    pid, seconds = int(sys.argv[1]), float(sys.argv[2])
    name, tid = address(pid), thread_of(pid)
    if sys.argv[3:] == ["only"]:
        print("flooding", flush=True)
        made, tried, _ = start_flood(name, seconds).get()
        sys.exit(not tried)
    lost = pushed_out(name)
    before, began = cpu(pid, tid), time.time()
    counts = start_flood(name, seconds)
    slowest = answers = 0
    while time.time() < began + seconds:
        start = time.time()
        if not ask(name):
            sys.exit("a legitimate client was not answered")
        slowest, answers = max(slowest, time.time() - start), answers + 1
        time.sleep(0.2)
    made, tried, theirs = counts.get()
    ours = cpu(pid, tid) - before
    print(f"{tried} connects, {made} made; CPU {ours:.3f} s of the agent, {theirs:.3f} s of theirs; {answers} answers, "
          f"the slowest after {slowest:.3f} s; {lost} of {PLACES} silent clients were pushed out")
    answering = answers * 0.002  # on a busy machine the flood itself gets little
    sys.exit(lost > 0 or answers < 2 or ours > theirs / 10 + answering)


main()
