"""Asks for a dump by descriptors: handover.py PID [WORD...]. Checks what came; prints the reply, and writes dump and
side-car to handed.heap and handed.json, and with tables=1 the table to handed.heap.ruby."""
import array
import fcntl
import json
import os
import re
import socket
import stat
import sys

GET_SEALS, SEALS = 1034, 0xF


def main():
    pid, words = sys.argv[1], sys.argv[2:]
    with open(f"/proc/{pid}/maps") as maps:
        name = re.search(r"jprof-agent:\d+:\d+:(.*) \(deleted\)", maps.read()).group(1)
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(60)
    client.connect("\0" + name[1:] if name[0] == "@" else name)
    client.sendall(" ".join(["dump", "fds=1", *words]).encode() + b"\n")
    data, ancillary, flags, _ = client.recvmsg(1, socket.CMSG_SPACE(4 * 8))
    while not data.endswith(b"\n"):
        data += client.recv(65536)
    fds = array.array("i")
    for level, kind, content in ancillary:
        assert (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)
        fds.frombytes(content)
    reply = json.loads(data)
    print(data.decode(), end="")
    assert not flags & socket.MSG_CTRUNC and len(fds) == reply.get("fds", 0), fds
    for fd, path in zip(fds, ("handed.heap", "handed.json", "handed.heap.ruby")):
        info = os.fstat(fd)
        assert stat.S_ISREG(info.st_mode) and info.st_nlink == 0
        assert fcntl.fcntl(fd, GET_SEALS) & SEALS == SEALS
        try:
            os.pwrite(fd, b"x", 0)
            sys.exit("it can be written")
        except PermissionError:
            pass
        with open(path, "wb") as out:
            out.write(os.pread(fd, info.st_size + 1, 0))
    client.sendall(b"report\n")
    assert client.recv(65536).startswith(b'{"ok":true')


main()
