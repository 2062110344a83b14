"""An agent that announces itself and speaks as docs/internals/agent.md says, but lies as it is told.

usage: python3 fake_agent.py DIRECTORY LIES HEAP
LIES is words parted by commas. Makes the file `ready` when it can be asked. Asked for a dump, it makes DIRECTORY/
app.PID.SEQ.jN.heap, a copy of HEAP, and its side-car; with the word `fds` it hands them over in memory instead."""
import array
import fcntl
import json
import mmap
import os
import shutil
import signal
import socket
import sys
import time

directory, lies, heap = sys.argv[1:4]
lies = lies.split(",")
pid = int([line for line in open("/proc/self/status") if line.startswith("NSpid")][0].split()[-1])
path = os.path.join(directory, ".jprof-agent.%d.fake.sock" % pid)
name = "@jprof-fake.%d" % pid if "abstract" in lies else path
ticks = int(open("/proc/self/stat").read().rpartition(")")[2].split()[19])
SEALS = 1 | 2 | 4 | 8  # F_SEAL_SEAL, SHRINK, GROW, WRITE
made = 0


def listen():
    server = socket.socket(socket.AF_UNIX)
    server.bind("\0" + name[1:] if name[0] == "@" else path)
    if name[0] != "@":
        os.chmod(path, 0o666)
    server.listen(8)
    return server


def announce():
    announced = "/dev/null" if "device" in lies else directory if "directory" in lies else name
    fd = os.memfd_create("jprof-agent:1:12:" + announced)
    os.ftruncate(fd, 4096)
    page = mmap.mmap(fd, 4096)
    os.close(fd)
    return page


report = {
    "ok": True, "protocol": 2 if "protocol" in lies else 1, "version": "0.1.0",
    "pid": pid + ("pid" in lies), "start_ticks": ticks + ("ticks" in lies),
    "prof_active": "inactive" not in lies, "signal": 12, "signal_owned": True, "fds": "fds" in lies, "tables": "tables" in lies, "objects": "objects" in lies,
    "prefix": os.path.join(directory, "app"), "last_error": "no room at all",
}
for lie in lies:
    if lie.startswith("ruby="):  # such a Ruby, whose slots are not sampled
        report |= {"ruby": lie[5:], "ruby_stacks": True, "ruby_slots": False, "ruby_slots_why": "not so"}


def sidecar(dump):
    """What a side-car says, as far as the collector looks."""
    if "garbage" in lies:
        return b"{"
    return json.dumps({
        "jprof_agent": 1, "version": "0.1.0", "reason": "socket", "seq": made, "dump": "x" + dump if "other-dump" in lies else dump,
        "pid": pid + ("other-pid" in lies), "start_ticks": ticks + ("other-start" in lies),
        "time": time.time() - 3600 * ("old" in lies),
    }).encode()


def table():
    """What a table of Ruby stacks says, as far as the collector looks."""
    data, check = open(heap, "rb").read(), 0xcbf29ce484222325
    for byte in data:
        check = (check ^ byte) * 0x100000001b3 % (1 << 64)
    if "other-table" in lies:
        check ^= 1
    if "no-table" in lies:
        return b"no table\n"
    return b"jprof-table 1\nprocess %d %d -\ndump %d %x\nids 7f0000000000 0 40000 40001 40002\nend 0\n" % (
        pid, ticks + ("foreign-table" in lies), len(data), check)


def sealed(data):
    fd = os.memfd_create("dump", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    os.write(fd, data)  # and the offset stays at the end
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, SEALS & ~8 if "writable" in lies else SEALS)
    return fd


def wrong_descriptor():
    """What stands in for the dump's memfd; None: nothing does."""
    if "fifo" in lies:
        os.mkfifo(os.path.join(directory, "fifo"))
        return os.open(os.path.join(directory, "fifo"), os.O_RDWR)
    if "opened-directory" in lies:
        return os.open(directory, os.O_RDONLY)
    if "disk" in lies:
        return os.open(heap, os.O_RDONLY)
    if "socket" in lies:
        return socket.socket(socket.AF_UNIX).detach()
    return None


def in_memory(dump, asked):
    fds = [sealed(open(heap, "rb").read()), sealed(sidecar(dump))]
    wrong = wrong_descriptor()
    if wrong is not None:
        fds[0] = wrong
    if "one" in lies:
        fds.pop()
    if "three" in lies:
        fds.append(os.dup(fds[0]))
    if "many" in lies:
        fds += [os.dup(fds[0]) for _ in range(200)]
    reply = {"dump": dump, "sidecar": dump + ".json", "fds": len(fds) if "one" in lies else 2}
    if "tables" in lies and "tables=1" in asked:
        fds.append(sealed(table()))
        reply["fds"] = 3
        if "unnamed" not in lies:
            reply["table"] = dump + (".other" if "misnamed" in lies else ".ruby")
    return reply, fds


def in_files(dump):
    where = os.path.join(directory, "hung" if "hung" in lies else "", dump)
    if "hung" in lies:
        return {"dump": where, "sidecar": where + ".json"}, []
    if "planted" not in lies:
        shutil.copyfile(heap, where)
    if "no-sidecar" not in lies and "planted-sidecar" not in lies:
        with open(where + ".json", "wb") as f:
            f.write(sidecar(dump))
    beside = os.path.join(os.path.dirname(directory), dump) if "elsewhere" in lies else where
    reply = {"dump": where, "sidecar": beside + ".json"}
    if "tables" in lies:
        reply["table"] = where + ".ruby"
        with open(where + ".ruby", "wb") as f:
            f.write(table())
    if "fds" in lies:
        reply.update(fds=0, why="a test says so")
    return reply, []


def dump_reply(line):
    global made
    if "error" in lies:
        return {"ok": False, "error": "the dump failed:\nNo space left on device"}, []
    dump = "app.%d.%d.j%d.heap" % (pid, made, made)
    if "name" in lies:
        dump = "apple.%d.%d.j%d.heap" % (pid, made, made)
    if "slash" in lies:
        dump = "../" + dump
    asked = line.split()
    if "noted" in lies:
        with open("asked.words", "w") as f:
            f.write(line)
    reply, fds = in_memory(dump, asked) if "fds=1" in asked and "why" not in lies else in_files(dump)
    made += 1
    reply.update(ok=True, seq=made, gc="timed out", milliseconds=3)
    return reply, fds


def misbehave(client):
    if "silent" in lies:
        open("asked", "w").close()
        time.sleep(86400)
    if "hangup" in lies:
        raise OSError
    if "die" in lies:
        os._exit(0)
    if "exec" in lies:
        os.execvp("sleep", ["sleep", "600"])
    while "endless" in lies:
        client.sendall(b"x" * 65536)


def send(client, reply, fds):
    data = (json.dumps(reply) + "\n").encode()
    late = b""
    if "late" in lies:
        late, data = data[:1], data[1:]
        client.sendall(late)
        time.sleep(0.1)
    control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    sent = client.sendmsg([data], control)
    client.sendall(data[sent:])
    for fd in fds:
        os.close(fd)


def instead(client, reply):
    """Another process answers: it has the connection, and is of another pid."""
    child = os.fork()
    if not child:
        try:
            send(client, reply, [])
        finally:  # also where nobody waits for it any more: it is no second agent
            os._exit(0)
    os.waitpid(child, 0)


def serve(client):
    for line in client.makefile("r"):
        fds = []
        if line.startswith("report"):
            if "silent-report" in lies:
                open("asked", "w").close()
                time.sleep(86400)
            reply = report
            if "uninvited" in lies:
                fds = [os.open("/dev/null", os.O_RDONLY)]
        else:
            if "stop" in lies:  # whoever connected: it has this process's user
                peer = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
                os.kill(int.from_bytes(peer[:4], sys.byteorder), signal.SIGSTOP)
            misbehave(client)
            reply, fds = dump_reply(line)
        if "instead" in lies:
            instead(client, reply)
        else:
            send(client, reply, fds)


def main():
    server, page = listen(), announce()
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    if "setuid" in lies:  # without exec
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
    with open(os.environ.get("READY", "ready"), "w"):
        pass
    while True:
        client = server.accept()[0]
        try:
            serve(client)
        except OSError:
            pass
        client.close()


main()
