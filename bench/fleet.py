#!/usr/bin/env python3
"""Writes dumps of processes that run the same files at addresses of their own, by seed: fleet.py DIRECTORY COUNT [MB]

DIRECTORY/0.heap and so on, of MB each (1.3)."""
import os
import random
import sys

directory, count, *rest = sys.argv[1:]
size = int(float((rest + ["1.3"])[0]) * 1e6)
FILES, CODE, DEPTH = 40, 500, 40  # mapped files, addresses in each, frames of a stack
draw = random.Random(1)
stacks = [[(draw.randrange(FILES), draw.randrange(CODE)) for _ in range(DEPTH)] for _ in range(size // (15 * DEPTH + 48))]
os.makedirs(directory, exist_ok=True)
for number in range(int(count)):
    base = [0x7f0000000000 + 0x10000000 * file + 0x1000 * draw.randrange(0x1000) for file in range(FILES)]
    with open(os.path.join(directory, "%d.heap" % number), "w") as out:
        out.write("heap_v2/524288\n  t*: 1: 100 [0: 0]\n  t0: 1: 100 [0: 0]\n")
        for stack in stacks:
            n = draw.randint(1, 50)
            out.write("@%s\n  t*: %d: %d [0: 0]\n  t0: %d: %d [0: 0]\n" % (
                "".join(" 0x%x" % (base[file] + 16 * a) for file, a in stack), n, n * 64, n, n * 64))
        out.write("\nMAPPED_LIBRARIES:\n")
        for file in range(FILES):
            out.write("%x-%x r-xp 00000000 08:01 %d /opt/app/lib%d.so\n" % (
                base[file], base[file] + 0x4000, file + 1, file))
