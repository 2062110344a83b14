"""Has the agent of a process write the graph of its objects, again and again: graphs.py [--root DIR] PID COUNT.
Or once, and does not read it: graphs.py PID leave, and goes; graphs.py PID FILE, and writes to the file meanwhile.

Or once, beside ObjectSpace.dump_all: graphs.py PID FILE.ndjson. Each graph is decoded by docs/internals/graph.md, and compared with what the program counted itself (the file counts). Says how
many were whole, what was wrong, and what of the children is left."""
import array
import collections
import json
import os
import re
import socket
import subprocess
import sys
import time

TYPES = {1: "T_OBJECT", 2: "T_CLASS", 3: "T_MODULE", 5: "T_STRING", 7: "T_ARRAY", 8: "T_HASH", 9: "T_STRUCT"}


def ask(pid, root, request):
    """The reply, and the descriptors that come with it."""
    with open(f"/proc/{pid}/maps") as maps:
        name = re.search(r"/memfd:jprof-agent:\d+:\d+:(.*) \(deleted\)", maps.read()).group(1)
    data, fds = b"", []
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(60)
        client.connect("\0" + name[1:] if name[0] == "@" else root + name)
        client.sendall((request + "\n").encode())
        while not data.endswith(b"\n"):
            piece, extra, _, _ = client.recvmsg(65536, socket.CMSG_SPACE(16))
            if not piece:
                sys.exit("the agent hung up")
            data += piece
            for _, _, handed in extra:
                numbers = array.array("i")
                numbers.frombytes(handed[: len(handed) // 4 * 4])
                fds += list(numbers)
    return json.loads(data), fds


def read_graph(pid, root):
    reply, fds = ask(pid, root, "dump fds=1 tables=1 objects=1 graph=1 timeout=30000")
    data = b""
    while reply.get("graph"):
        piece = os.read(fds[-1], 1 << 20)
        if not piece:
            break
        data += piece
    for fd in fds:
        os.close(fd)
    return reply, data


class Reader:
    def __init__(self, data):
        self.data = data
        self.at = data.index(b"\n\n") + 2

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def distance(self):
        number = self.number()
        return (number >> 1) ^ -(number & 1)

    def text(self):
        length = self.number()
        self.at += length
        return self.data[self.at - length : self.at].decode()


def decode(data):
    """{address: (type, class, length, name, edges, bytes)}, the kinds of roots, and the names of edges."""
    r, objects, roots, names = Reader(data), {}, set(), []
    while True:
        kind = r.byte()
        if kind == ord("P"):
            first, stride, count = r.number() * 8, r.number(), r.number()
            for place in range(first, first + stride * count, stride):
                bits = r.byte()
                if not bits:
                    continue
                of_class = place + 8 * r.distance()
                size = r.number() or stride
                length = r.number() if bits & 0x80 else 0
                name = r.text() if bits & 0x40 else ""
                edges = []
                while number := r.number():
                    if number & 1:
                        known = r.number()
                        assert 1 <= known <= len(names) + 1
                        if known > len(names):
                            names.append(r.text())
                    edges.append(place + 8 * (number >> 2 ^ -(number >> 1 & 1)))
                objects[place] = (bits & 31, of_class, length, name, edges, size)
        elif kind == ord("R"):
            roots.add(r.text())
            r.number()
            r.text()
        else:
            assert kind == ord("E") and r.number() == len(objects) and r.text() == "end\n" and r.at == len(data)
            return objects, roots, names


def compare(data, counts):
    objects, roots, names = decode(data)
    found = collections.Counter(TYPES.get(o[0]) for o in objects.values())
    wrong = []
    for name in TYPES.values():
        # Threads make Arrays, Hashes and Strings all the time.
        more = found[name] - counts[name]
        if more < -300 - counts[name] / 10 or (more > 300 and name in ("T_OBJECT", "T_CLASS", "T_MODULE")):
            wrong.append(f"{name}: {found[name]}, counted {counts[name]}")
    items = sum(o[0] == 1 and objects[o[1]][3] == "Item" for o in objects.values())
    if items != 20000:
        wrong.append(f"{items} Items")
    if not any(o[0] == 7 and o[2] == counts["long"] for o in objects.values()):
        wrong.append("no long Array")
    if not any(o[0] == 8 and o[2] == 20000 and len(o[4]) > 20000 for o in objects.values()):
        wrong.append("no long Hash")
    if not {"ITEMS", "LONG", "@name", "@tags"} <= set(names):
        wrong.append(f"names {names}")
    if not {"vm", "machine_context"} <= roots:
        wrong.append(f"roots {roots}")
    return wrong


def judge(pid, root, path):
    """Beside what ObjectSpace.dump_all says of the same objects, when the program is told to call it."""
    objects, _, _ = decode(read_graph(pid, root)[1])
    with open("go", "w"):
        pass
    until("the dump", lambda: os.path.exists("done"))
    wrong, common, lengths = collections.Counter(), 0, {5: "bytesize", 7: "length", 8: "size"}
    with open(path, errors="replace") as file:
        for line in map(json.loads, file):
            place = int(line.get("address", "0"), 16)
            if place not in objects:
                continue
            common += 1
            kind, of_class, length, name, edges, size = objects[place]
            refers = {int(other, 16) for other in line.get("references", [])}
            if kind != 26:  # of what is internal that is no reference, and may be anything
                refers.add(int(line.get("class", "0"), 16))
            edges = {of_class, *edges} - ({int(line.get("class", "0"), 16)} if kind == 26 else set())
            wrong["references"] += refers - {0, place} != edges - {0, place}
            wrong["bytes"] += kind not in (12, 26) and size != line["memsize"]
            wrong["lengths"] += kind in lengths and length != line.get(lengths[kind], length)
            wrong["names"] += (kind == 12 and name != line.get("struct", "")) or (kind == 3 and name != line.get("name", ""))
    print(f"{len(objects)} objects, {common} in both; differ: {dict(wrong)}")
    good = common > 0.99 * len(objects) and max(wrong.values()) <= 20  # what both calls change themselves
    print("equal" if good else "not equal")


def until(what, true):
    for _ in range(600):
        if true():
            return
        time.sleep(0.05)
    sys.exit(f"not within 30 s: {what}")


def abandon(pid, root, how):
    """Asks for a graph and does not read it: the child waits, until it is ended."""
    reply, fds = ask(pid, root, "dump fds=1 objects=1 graph=1 timeout=30000")
    if not reply.get("graph"):
        sys.exit(f"no graph: {reply.get('graph_why')}")
    if how == "leave":
        os.close(fds.pop())
    else:
        until("a child", lambda: len(children(pid)) == 1)
        with open(how, "w") as word:  # to the program, or in the control group
            word.write("395000000\n")
    until("that the child goes", lambda: not children(pid))
    print("ended")


def children(pid):
    return subprocess.run(["ps", "--ppid", str(pid), "-o", "pid="], capture_output=True, text=True).stdout.split()


def main():
    arguments = sys.argv[1:]
    root = arguments[1] if arguments[0] == "--root" else ""
    if arguments[-1].endswith(".ndjson"):
        judge(int(arguments[-2]), root, arguments[-1])
        return
    if arguments[-1] == "leave" or os.path.exists(os.path.dirname(arguments[-1])):
        abandon(int(arguments[-2]), root, arguments[-1])
        return
    pid, count = map(int, arguments[-2:])
    with open("counts") as file:
        counts = json.load(file)
    whole = 0
    for i in range(count):
        reply, data = read_graph(pid, root)
        good = reply.get("graph") and data.endswith(b"end\n")
        whole += bool(good)
        if not good:
            print("not whole:", reply.get("graph_why") or reply.get("error"), len(data), "bytes")
        elif i % 50 == 0:
            for wrong in compare(data, counts):
                print("wrong:", wrong)
    time.sleep(1)
    print(f"{whole} of {count} whole, children left: {len(children(pid))}")


main()
