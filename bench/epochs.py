#!/usr/bin/env python3
"""How much larger a dump is whose samples are spread over epochs: docs/internals/measurements.md has the figures.

usage: epochs.py STEADY [EARLY]    dumps in text, or bundles of one process. What EARLY had stays in one epoch (startup);
the rest is spread over 6, 36 and 144 epochs: evenly, as a leak is, or half of it in the last one, as work in flight is.
Without EARLY all is spread.
"""
import math
import random
import re
import subprocess
import sys


def text_of(path):
    data = open(path, "rb").read()
    if data.startswith(b"heap_v2"):
        return data.decode("latin-1")
    names = subprocess.run(["tar", "--zstd", "-tf", path], capture_output=True, text=True, check=True).stdout.split()
    name = next(n for n in names if n.endswith("dump.heap"))
    return subprocess.run(["tar", "--zstd", "-xOf", path, name], capture_output=True, check=True).stdout.decode("latin-1")


def stacks_of(text):
    """The sampled objects and the bytes of text of each stack, and the bytes of all else."""
    rate = int(re.match(r"heap_v2/(\d+)", text)[1])
    body, maps = text.split("MAPPED_LIBRARIES:", 1)
    parts = body.split("@ ")
    stacks = {}
    for part in parts[1:]:
        objects, size = map(int, re.search(r"t\*: (\d+): (\d+)", part).groups())
        n = max(round(objects * -math.expm1(-size / objects / rate)), 1) if objects else 0
        if n:  # of prof_accum there are others, and no epochs
            stacks[part.split("\n", 1)[0]] = (n, len(part) + 2)
    return stacks, len(parts[0]) + len(maps)


def size(stacks, early, rest, epochs, newest, spread):
    chance, total = random.Random(1), rest
    for stack, (n, length) in stacks.items():
        old = min(n, early.get(stack, (0, 0))[0]) if early else 0
        used = {0} if old else set()
        for _ in range(n - old):
            last = newest and chance.random() < 0.5
            used.add(epochs if last else chance.randrange(1, epochs + 1))
        # one more address for each part: " 0x70123456"
        total += max(len(used), 1) * (length + (11 if spread else 0))
    return total


def main(steady, early=None):
    stacks, rest = stacks_of(text_of(steady))
    before = stacks_of(text_of(early))[0] if early else None
    plain = size(stacks, {s: v for s, v in stacks.items()}, rest, 1, False, False)
    print(f"{len(stacks)} stacks, {sum(n for n, _ in stacks.values())} samples, {plain} bytes without epochs")
    for epochs in (6, 36, 144):
        even, flight = (size(stacks, before, rest, epochs, newest, True) / plain for newest in (False, True))
        print(f"{epochs} epochs: {even:.2f} times as large where all is spread evenly, {flight:.2f} with half in the last")


main(*sys.argv[1:])
