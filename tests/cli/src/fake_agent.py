"""An agent that announces itself and speaks as docs/agent.md says, but lies as it is told.

usage: python3 fake_agent.py DIRECTORY LIE [DUMP]
Makes the file `ready`. DUMP is what it gives out as its dump."""
import json
import mmap
import os
import signal
import socket
import sys
import time

directory, lie = sys.argv[1:3]
dump = sys.argv[3] if len(sys.argv) > 3 else "none"
path = os.path.join(directory, ".jprof-agent.%d.fake.sock" % os.getpid())
name = "@jprof-fake.%d" % os.getpid() if lie == "abstract" else path
ticks = int(open("/proc/self/stat").read().rpartition(")")[2].split()[19])

server = socket.socket(socket.AF_UNIX)
server.bind("\0" + name[1:] if name[0] == "@" else path)
server.listen(8)
announced = "/dev/null" if lie == "device" else directory if lie == "directory" else name
fd = os.memfd_create("jprof-agent:1:12:" + announced)
os.ftruncate(fd, 4096)
page = mmap.mmap(fd, 4096)
os.close(fd)

report = {
    "ok": True, "protocol": 2 if lie == "protocol" else 1, "version": "0.1.0",
    "pid": os.getpid() + (lie == "pid"), "start_ticks": ticks + (lie == "ticks"),
    "prof_active": lie != "inactive", "signal": 12, "signal_owned": True,
    "prefix": os.path.join(directory, "app"), "last_error": "no room at all",
}


def answer(line):
    if line.startswith("report"):
        return report
    if lie == "error":
        return {"ok": False, "error": "the dump failed:\nNo space left on device"}
    made = dump if dump.startswith("/") else os.path.join(directory, dump)
    return {"ok": True, "dump": made, "sidecar": made + ".json" if lie == "sidecar" else None, "seq": 0,
            "gc": "timed out", "milliseconds": 3}


def serve(client):
    for line in client.makefile("r"):
        if lie == "silent" and line.startswith("dump"):
            time.sleep(600)
        if lie == "hangup" and line.startswith("dump"):
            return
        if lie == "die" and line.startswith("dump"):
            os._exit(0)
        if lie == "exec" and line.startswith("dump"):
            os.execvp("sleep", ["sleep", "600"])
        text = json.dumps(answer(line))
        if lie == "endless" and line.startswith("dump"):
            try:
                while True:
                    client.sendall(b"x" * 65536)
            except OSError:
                return
        client.sendall((text + "\n").encode())


signal.signal(signal.SIGUSR2, signal.SIG_IGN)
open("ready", "w").close()
while True:
    client = server.accept()[0]
    try:
        serve(client)
    except OSError:
        pass
    client.close()
