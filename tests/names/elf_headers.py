#!/usr/bin/env python3
"""Headers of ELF files as our own reader has them, beside what readelf says; and of damaged files, which it refuses or
reads, but never dies of.
usage: elf_headers.py PRINT_HEADERS FILE..."""
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

print_headers, files = os.path.abspath(sys.argv[1]), [os.path.abspath(f) for f in sys.argv[2:]]
PT_LOAD, PF_X = "LOAD", "E"


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def by_readelf(path):
    head = said("readelf", "-h", path)
    machine = struct.unpack_from(">H" if "big endian" in head else "<H", open(path, "rb").read(20), 18)[0]
    kind = {"REL": 1, "EXEC": 2, "DYN": 3}[re.search(r"Type: +(\w+)", head).group(1)]
    lines = [f"header {kind} {machine} {32 if 'ELF32' in head else 64} {int('big endian' in head)}"]
    number = r"0x([0-9a-f]+) +"
    for m in re.finditer(r"^  (\w+) +" + number * 5 + r"([RWE ]{3}) (0x[0-9a-f]+|0)$", said("readelf", "-lW", path), re.M):
        offset, vaddr, _, size, mem = (int(n, 16) for n in m.groups()[1:6])
        code = "code" if m.group(1) == PT_LOAD and PF_X in m.group(7) else "other"
        lines.append(f"segment {offset:x} {vaddr:x} {size:x} {mem:x} {int(m.group(8), 16):x} {code}")
    for m in re.finditer(r"^  \[ *\d+\] (.*?) +(?:NULL|[A-Z0-9_]+) +([0-9a-f]{8,16}) ([0-9a-f]{6,}) ([0-9a-f]{6,}) \w\w (.{3}) "
                         r"+(\d+) +\d+ +(\d+)$", said("readelf", "-SW", path), re.M):
        address, offset, size = (int(n, 16) for n in m.groups()[1:4])
        lines.append(f"section {m.group(1).strip() or '-'} {address:x} {offset:x} {size:x} {m.group(6)} {m.group(7)} "
                     f"{'code' if 'X' in m.group(5) else 'other'}")
    identity = re.search(r"Build ID: (\w+)", said("readelf", "-nW", path))
    return lines + [f"build-id {identity.group(1) if identity else ''}"]


def by_us(*paths):
    run = subprocess.run([print_headers, *paths], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"print_headers ended with {run.returncode}: {run.stderr[-2000:]}")
    return {part.split("\n")[0]: part.split("\n")[1:-1] for part in run.stdout.split("file ")[1:]}


def check(path):
    truth, ours = by_readelf(path), by_us(path)[path]
    for expected, got in zip(truth + ["nothing"] * len(ours), ours + ["nothing"] * len(truth)):
        if expected != got:
            sys.exit(f"{path}: readelf says {expected}, print_headers {got}")
    return truth


def other_kinds(path, directory):
    """Both byte orders, both sizes; more sections than a header can count."""
    made = []
    for target in "elf32-little", "elf32-big", "elf64-big":
        out = f"{directory}/{target}"
        if not subprocess.run(["objcopy", "-I", "binary", "-O", target, path, out], capture_output=True).returncode:
            made.append(out)
    many = f"{directory}/many"
    source = "".join(f'.section .s{i},"a"\n.byte 1\n' for i in range(65400))
    subprocess.run(["as", "-o", many, "-"], input=source, text=True, check=True)
    return made + [many]


def without_sections(path, out):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    data[40:48] = bytes(8)
    data[58:64] = bytes(6)
    with open(out, "wb") as file:
        file.write(data)
    return out


def damaged(path, directory):
    """Each byte of the first header, and bytes of both tables."""
    with open(path, "rb") as file:
        data = file.read()
    tables = struct.unpack_from("<QQ", data, 32)
    random.seed(1)
    places = list(range(64)) * 3 + [t + random.randrange(400) for t in tables for _ in range(200)]
    made = []
    for i, at in enumerate(places):
        if at >= len(data):
            continue
        copy = bytearray(data)
        copy[at] = random.choice([0, 1, 0x7f, 0x80, 0xff, copy[at] ^ 0x10])
        made.append(f"{directory}/damaged-{i}")
        with open(made[-1], "wb") as file:
            file.write(copy if i % 3 else copy[:random.randrange(len(copy))])
    return made


if not shutil.which("readelf") or not shutil.which("objcopy"):
    print("no readelf or no objcopy")
    sys.exit(77)
with tempfile.TemporaryDirectory() as tmp:
    for file in files:
        check(file)
    stripped = files[-1]
    for file in other_kinds(stripped, tmp):
        check(file)
    wanted = check(stripped)[-1]
    got = by_us(without_sections(stripped, f"{tmp}/nosections"))[f"{tmp}/nosections"][-1]
    if got != wanted or got == "build-id ":
        sys.exit(f"without section headers: {got}, not {wanted}")
    wrecks = damaged(stripped, tmp)
    refused = sum(part[0].startswith("refused ") for part in by_us(*wrecks).values())
    if not 20 < refused < len(wrecks):
        sys.exit(f"{refused} of {len(wrecks)} damaged files were refused")
    print(f"{len(files)} files as readelf has them; {refused} of {len(wrecks)} damaged ones refused, none died of")
