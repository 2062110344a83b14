#!/usr/bin/env python3
"""usage: inner_frames.py PART DUMP...: fails if one of a stack's eight innermost frames lies in a mapping whose path has PART."""
import re
import sys

part, faults = sys.argv[1], 0
for dump in sys.argv[2:]:
    with open(dump) as f:
        stacks, _, maps = f.read().partition("MAPPED_LIBRARIES:")
    ranges = [tuple(int(x, 16) for x in line.split()[0].split("-")) for line in maps.splitlines() if part in line]
    if not ranges:
        sys.exit(f"{dump}: nothing mapped is called {part}")
    for stack in re.findall(r"^@(.*)$", stacks, re.M):
        faults += any(a <= int(x, 16) < b for x in stack.split()[:8] for a, b in ranges)
if faults:
    sys.exit(f"{faults} stacks")
