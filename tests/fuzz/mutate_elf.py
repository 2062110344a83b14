#!/usr/bin/env python3
"""Damages an ELF file the way a fuzzer would, and the same way for the same number: bytes of its tables, symbols and debug
information become others.

    mutate_elf.py FROM TO NUMBER     writes into TO as it is, so that a process which has mapped it goes on: only what no
                                     loader reads is changed, sections outside of all segments and the table of sections"""
import random
import struct
import sys

EDGES = (0, 1, 0x7F, 0x80, 0xFF)
WIDE = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def loaded(data):
    """Where segments end in the file."""
    phoff, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    ends = [0]
    for i in range(count):
        kind, _, offset, _, _, filesz = struct.unpack_from("<IIQQQQ", data, phoff + i * size)
        if kind == 1:
            ends.append(offset + filesz)
    return max(ends)


def sections(data, first):
    """Start and end of each section behind `first`, and of their table."""
    shoff, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    table = (shoff, shoff + size * count)
    found = [table, table, table]
    for i in range(count):
        _, kind, _, _, offset, length = struct.unpack_from("<IIQQQQ", data, shoff + i * size)
        if kind != 8 and offset >= first and length:
            found.append((offset, offset + length))
    return found


def mutate(data, draw):
    places = sections(data, loaded(data))
    for _ in range(draw.choice((1, 2, 4, 16, 64))):
        start, end = draw.choice(places)
        at = draw.randrange(start, end)
        how = draw.randrange(5)
        if how == 0:
            data[at] ^= 1 << draw.randrange(8)
        elif how == 1:
            data[at] = draw.choice(EDGES)
        elif how == 2 and at + 4 <= end:
            struct.pack_into("<I", data, at, draw.choice(WIDE))
        elif how == 3:
            data[at] = draw.randrange(256)
        else:
            length = min(draw.randrange(1, 64), end - at)
            other = draw.randrange(start, end - length + 1)
            data[at:at + length] = data[other:other + length]


def main():
    source, target, number = sys.argv[1:]
    with open(source, "rb") as file:
        data = bytearray(file.read())
    mutate(data, random.Random(int(number)))
    with open(target, "r+b") as file:
        file.write(data)


main()
