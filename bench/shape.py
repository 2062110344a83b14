#!/usr/bin/env python3
"""Writes a dump of a wanted shape: shape.py DEPTH ADDRESSES MB [outside|threads] > DUMP

ADDRESSES: how many there are; 0: all different. They lie in one file that does not exist, or outside all files. With
"threads" the stacks are of 64 threads in turn, else of one."""
import random
import sys

depth, addresses, size = int(sys.argv[1]), int(sys.argv[2]), int(float(sys.argv[3]) * 1e6)
outside, threads = sys.argv[4:] == ["outside"], 64 if sys.argv[4:] == ["threads"] else 1
draw, fresh, written = random.Random(1), 0, 0
out = sys.stdout
out.write("heap_v2/524288\n  t*: 1: 100 [0: 0]\n")
for thread in range(threads):
    out.write("  t%d: 1: 100 [0: 0]\n" % thread)
stacks = 0
while written < size:
    if addresses:
        stack = [draw.randrange(addresses) for _ in range(depth)]
    else:
        stack = range(fresh + 1, fresh + depth + 1)
        fresh += depth
    n = draw.randint(1, 50)
    text = "@%s\n  t*: %d: %d [0: 0]\n  t%d: %d: %d [0: 0]\n" % (
        "".join(" 0x7f%010x" % (16 * a) for a in stack), n, n * 64, stacks % threads, n, n * 64)
    stacks += 1
    written += out.write(text)
out.write("\nMAPPED_LIBRARIES:\n%s r-xp 00000000 08:01 42 /opt/app/server\n" %
          ("400000-500000" if outside else "7f0000000000-7fff00000000"))
