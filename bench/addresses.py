#!/usr/bin/env python3
"""Writes a dump whose stacks are return addresses of a program, by seed: addresses.py PROGRAM COUNT [DEPTH [SEED]] > DUMP

COUNT addresses, or as many as the program has, each in one stack of DEPTH."""
import os
import random
import re
import subprocess
import sys

START = 0x555555554000  # where the file's address 0 is mapped

program, count, *rest = sys.argv[1:]
depth, seed = [int(word) for word in rest] + [8, 1][len(rest):]
draw = random.Random(seed)


def text_section():
    sections = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True, check=True).stdout
    return [int(word, 16) for word in re.search(r"\.text +PROGBITS +(\S+) (\S+) (\S+)", sections).groups()]


def return_addresses():
    after_call = False
    with subprocess.Popen(["objdump", "-d", "-j", ".text", "--no-show-raw-insn", program], stdout=subprocess.PIPE,
                          text=True) as objdump:
        for line in objdump.stdout:
            at, _, code = line.partition(":\t")
            if not code:
                continue
            if after_call:
                yield int(at, 16)
            after_call = code.startswith("call")


def counters(n):
    return "".join("  t%s: %d: %d [0: 0]\n" % (thread, n, n * 64) for thread in "*0")


address, offset, size = text_section()
found = list(return_addresses())
drawn = draw.sample(found, min(int(count), len(found)))
stacks = [drawn[i:i + depth] for i in range(0, len(drawn), depth)]
out = ["heap_v2/524288\n" + counters(len(stacks) * (len(stacks) + 1) // 2)]
for n, stack in enumerate(stacks, 1):
    out.append("@%s\n%s" % ("".join(" 0x%x" % (START + a) for a in stack), counters(n)))
page, file = address & ~0xfff, os.stat(program)
out.append("\nMAPPED_LIBRARIES:\n%x-%x r-xp %08x %02x:%02x %d %s\n" % (
    START + page, START + ((address + size + 0xfff) & ~0xfff), offset - (address - page), os.major(file.st_dev),
    os.minor(file.st_dev), file.st_ino, os.path.abspath(program)))
sys.stdout.write("".join(out))
