#!/usr/bin/env python3
"""Names that a file registers with Ruby, where people and programs see them: in reports, info, JSON and bundles, as of
their own kind; in a bundle without names where the file is at hand; not where a pack fits. The truth is the symbol table before it is stripped.
usage: registered_report.py JPROF SUBJECT.c CC"""
import json
import os
import re
import subprocess
import sys
import tempfile

jprof, subject, cc = (os.path.abspath(a) if "/" in a else a for a in sys.argv[1:4])
BASE = 0x7F0000000000


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def must(holds, what):
    if not holds:
        sys.exit(what)


def functions(path):
    """Of each function where it begins, and where its first call returns to."""
    found = {}
    for part in run("objdump", "-d", "--no-show-raw-insn", path).split("\n\n"):
        head = re.search(r"^([0-9a-f]+) <(\w+)>:$", part, re.M)
        after = re.search(r"\tcall .*\n *([0-9a-f]+):", part)
        if head and after:
            found[head.group(2)] = int(head.group(1), 16), int(after.group(1), 16)
    return found


def write_dump(path, library, stacks):
    """Each stack of addresses of the library holds one object of its size; its code is mapped from the file's start on."""
    lines = ["heap_v2/1"]
    for size, functions_called in stacks:
        lines += ["@ " + " ".join(f"{BASE + back:#x}" for _, back in functions_called), f"  t*: 1: {size} [0: 0]"]
    total = sum(size for size, _ in stacks)
    lines[1:1] = [f"  t*: {len(stacks)}: {total} [0: 0]"]
    lines += ["", "MAPPED_LIBRARIES:"]
    for m in re.finditer(r"^  LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ (.{3})", run("readelf", "-lW", library), re.M):
        offset, vaddr, size = (int(n, 16) for n in m.groups()[:3])
        first, start = offset & ~4095, BASE + (vaddr & ~4095)
        end = (BASE + vaddr + size + 4095) & ~4095
        flags = ("r" if "R" in m.group(4) else "-") + ("w" if "W" in m.group(4) else "-") + ("x" if "E" in m.group(4) else "-")
        lines.append(f"{start:x}-{end:x} {flags}p {first:08x} fe:00 {os.stat(library).st_ino}                   {library}")
    open(path, "w").write("\n".join(lines) + "\n")


def learn(directory):
    """A pack of a build in which one function is another one."""
    source, other = f"{directory}/other.c", f"{directory}/other.so"
    body = "{ use(&self); use(0); return self * 3 + chance(); }"
    open(source, "w").write(re.sub(r"(VALUE part_of\(VALUE self\)) BODY", rf"\1 {body}", open(subject).read()))
    run(cc, "-shared", "-fPIC", "-O2", source, "-o", other)
    run(jprof, "names", "learn", "--soname=shop.so", "-o", f"{directory}/shop.jnames", other)
    return f"{directory}/shop.jnames"


def rows(*options):
    return {row["name"]: row for row in json.loads(run(jprof, "--json", *options))["rows"]}


def main():
    with tempfile.TemporaryDirectory() as directory:
        library, dump = f"{directory}/shop.so", f"{directory}/shop.heap"
        run(cc, "-shared", "-fPIC", "-O2", "-Wl,--build-id", subject, "-o", library)
        at = functions(library)
        run("strip", library)
        write_dump(dump, library, [(3 << 20, [at["cart_total"], at["get_cart"]]), (2 << 20, [at["either_one"]]),
                                   (1 << 20, [at["part_of"]]), (4 << 20, [at["cart_meta"]])])
        truth = {"Shop::Cart#total": "registered", "get_cart": "dynsym", f"shop!{at['either_one'][0]:#x}": "fde",
                 "Shop::Cart::Part#of": "registered", "Shop::Cart.meta": "registered"}

        def check(what, *source):
            got = {name: row["source"] for name, row in rows(*source).items()}
            must(got == truth, f"{what}: {got}\nis not {truth}")
        check("the dump", dump)
        pack = learn(directory)
        got = {name: row["source"] for name, row in rows(dump, "--names=" + pack).items()}
        must(got.get("cart_total") == got.get("cart_meta") == "pack" and "registered" not in got.values() and
             got.get(f"shop!{at['part_of'][0]:#x}") == "fde", f"a pack fits, and the file is read all the same: {got}")
        text = run(jprof, "--full-names" if "--full-names" in run(jprof, "--help") else "--cum", dump)
        must(re.search(r" Shop::Cart#total$", text, re.M), f"the report has no row of its own:\n{text}")

        info = json.loads(run(jprof, "info", "--json", dump))
        file = next(f for f in info["coverage"] if f["path"] == library)
        must(file["values"]["registered"] == 8 << 20 and file["addresses"]["registered"] == 3 and
             file["values"]["fde"] == 2 << 20 and file["addresses"]["dynsym"] == 1, f"info --json: {file}")
        table = run(jprof, "info", "--all", dump)
        titles = next(line for line in table.splitlines() if "dynsym" in line)
        row = next(line for line in table.splitlines() if line.endswith("all") and "100.0" in line)
        cells = dict(zip(titles.split("file is")[0].replace("MB", "MB share").split(), row.split()))
        must(cells.get("registered") == "8.0" and cells["FDE"] == "2.0", f"info --all: {cells}\n{table}")

        run(jprof, "bundle", "-o", f"{directory}/now.jprof", dump)
        run(jprof, "bundle", "--symbols=later", "-o", f"{directory}/later.jprof", dump)
        check("a bundle without names, the file at hand", f"{directory}/later.jprof")
        os.rename(library, f"{directory}/away")
        check("a bundle, the file away", f"{directory}/now.jprof")
        got = rows(f"{directory}/later.jprof")
        must(not any("Shop" in name for name in got), f"no file, but names: {got}")
    print("ok")


if __name__ == "__main__":
    main()
