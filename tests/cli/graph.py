"""Makes a graph of Ruby's objects (docs/internals/graph.md), or a snapshot with such graphs: graph.py KIND FILE.

The objects are few, and their sizes chosen: a Hash of Shop::Cache keeps Items with Strings, a global an Array."""
import io
import json
import sys
import tarfile

FIRST, SLOT = 0x7F00_0000_1000, 40
CLASS, STRING, ARRAY, HASH, OBJECT, DATA = 2, 5, 7, 8, 1, 12
HEAP = b"""heap_v2/1
  t*: 1: 1024 [0: 0]
  t0: 1: 1024 [0: 0]
@ 0x1000
  t*: 1: 1024 [0: 0]
  t0: 1: 1024 [0: 0]

MAPPED_LIBRARIES:
"""


def number(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def text(s):
    return number(len(s)) + s.encode()


def graph(objects, roots):
    """objects: [(type, class, size, length, name, to)] by place; roots: [(kind, place)]."""

    def distance(a, b):
        words = (b - a) * SLOT // 8
        return number(2 * words if words >= 0 else -2 * words - 1)

    out = b"jprof-graph 1\nruby 3.1.2\n\nP" + number(FIRST // 8) + number(SLOT) + number(len(objects))
    for i, (kind, of_class, size, length, name, to) in enumerate(objects):
        out += bytes([kind | (0x80 if length else 0) | (0x40 if name else 0)])
        out += distance(i, i if of_class is None else of_class) + number(size)
        out += (number(length) if length else b"") + (text(name) if name else b"")
        out += b"".join(distance(i, other) for other in to) + number(0)
    for kind, place in roots:
        out += b"R" + text(kind) + number((FIRST + place * SLOT) // 8)
    return out + b"E" + number(len(objects)) + text("end\n")


def shop(items):
    """A graph in which Shop::Cache keeps so many Items of 1000 bytes, and a global 10 Strings of 500."""
    objects = [
        (CLASS, None, 600, 0, "Class", []),
        (CLASS, 0, 600, 0, "String", []),
        (CLASS, 0, 600, 0, "Shop::Item", []),
        (CLASS, 0, 600, 0, "Hash", []),
        (CLASS, 0, 600, 0, "Array", []),
        (CLASS, 0, 600, 0, "Shop::Cache", [6]),
        (HASH, 3, 1000, items, "", range(8, 8 + items)),
        (ARRAY, 4, 200, 10, "", range(8 + items, 18 + items)),
    ]
    objects += [(OBJECT, 2, 1000, 0, "", [])] * items
    objects += [(STRING, 1, 500, 460, "", [])] * 10
    objects += [(STRING, 1, 0, 3, "", [])]  # garbage
    return graph(objects, [("vm", i) for i in range(6)] + [("global_tbl", 7)])


def add(tar, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    tar.addfile(info, io.BytesIO(data))


def snapshot(path, graphs):
    """graphs: {pid: bytes, or None}."""
    members = [{"name": str(pid), "pid": pid, "role": "worker", "title": f"puma: worker {pid}"} for pid in graphs]
    with tarfile.open(path, "w") as tar:
        add(tar, "bundle.json", json.dumps({"jprof_bundle": 1, "members": members}).encode())
        for pid, data in graphs.items():
            add(tar, f"{pid}/dump.heap", HEAP)
            if data is not None:
                add(tar, f"{pid}/graph", data)


def main():
    kind, path = sys.argv[1:]
    if kind == "graph":
        with open(path, "wb") as file:
            file.write(shop(20))
    elif kind == "one":
        snapshot(path, {17: shop(20)})
    elif kind == "two":
        snapshot(path, {17: shop(20), 18: None, 19: shop(40)})
    elif kind == "none":
        snapshot(path, {18: None})
    elif kind == "cut":
        snapshot(path, {17: shop(20)[:-30]})


if __name__ == "__main__":
    main()
