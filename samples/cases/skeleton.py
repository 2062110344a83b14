#!/usr/bin/env python3
"""Make the sysroot that names the functions of heap dumps.

    python3 skeleton.py SYSROOT ROOT[:ROOT...] DUMP...

For each object file in which an address of a dump lies, take it from the first
ROOT that has it and write to SYSROOT, at the file's own path, what a profiler
reads of it and no more: headers, symbols, call frame information, build-id.
Code and data become sections without contents (SHT_NOBITS), so 3.9 MB of
libruby become 0.5 MB.

An object file that is not the one the dump was made with is refused: its
program headers must fit the mapped ranges, and since another version of a
library may fit them too, every return address must follow a call.

SYSROOT itself may be the last ROOT: what is found only there stays as it is.
"""
import os
import re
import struct
import sys

# Contents that stay.  The hash table and the symbol versions because the start
# of the file then lies where PT_LOAD says: readelf looks versions up that way.
KEEP = re.compile(r'\.(dynsym|dynstr|symtab|strtab|shstrtab|dynamic|interp|(gnu\.)?hash|gnu\.version(_[dr])?|'
                  r'eh_frame|eh_frame_hdr|note\..*|gnu_debug(alt)?link|debug_.*)$')

EHDR = struct.Struct('<16sHHIQQQIHHHHHH')
PHDR = struct.Struct('<IIQQQQQQ')       # type flags offset vaddr paddr filesz memsz align
SHDR = struct.Struct('<IIQQQQIIQQ')     # name type flags addr offset size link info align entsize
PT_LOAD, PT_DYNAMIC, PT_INTERP, PT_NOTE = 1, 2, 3, 4
PT_GNU_EH_FRAME, PT_GNU_PROPERTY = 0x6474e550, 0x6474e553
SHT_NULL, SHT_NOBITS = 0, 8
PF_X = 1
PAGE = 4096

# x86-64: call rel32, or call through a register or memory, up to the end.
CALL = re.compile(rb'(\xe8.{4}|\xff([\xd0-\xd7\x10-\x13\x16\x17]|[\x14\x50-\x53\x55-\x57].|\x54..'
                  rb'|[\x15\x90-\x93\x95-\x97].{4}|\x94.{5}))$', re.S)


class Elf:
    def __init__(self, path):
        self.path = path
        with open(path, 'rb') as file:
            self.data = file.read()
        self.ehdr = list(EHDR.unpack_from(self.data))
        if self.ehdr[0][:6] != b'\x7fELF\x02\x01':
            sys.exit(f'{path}: not a 64-bit little-endian ELF file')
        phoff, shoff, phnum, shnum, shstrndx = (self.ehdr[i] for i in (5, 6, 10, 12, 13))
        self.phdrs = [list(PHDR.unpack_from(self.data, phoff + i * PHDR.size)) for i in range(phnum)]
        self.shdrs = [list(SHDR.unpack_from(self.data, shoff + i * SHDR.size)) for i in range(shnum)]
        strings = self.shdrs[shstrndx][4]
        self.names = [self.data[strings + s[0]:self.data.index(b'\0', strings + s[0])].decode()
                      for s in self.shdrs]

    def keeps(self, i):
        return self.shdrs[i][1] not in (SHT_NULL, SHT_NOBITS) and KEEP.match(self.names[i])


def skeleton(elf):
    phoff, phnum = elf.ehdr[5], elf.ehdr[10]
    shdrs = [list(s) for s in elf.shdrs]
    phdrs = [list(p) for p in elf.phdrs]
    out = bytearray(elf.data[:phoff + phnum * PHDR.size])
    old_end, moved = None, {}

    for i in sorted(range(len(shdrs)), key=lambda i: shdrs[i][4]):
        shdr = shdrs[i]
        if not elf.keeps(i):
            # Address, size and (meaningless) offset stay.
            if shdr[1] != SHT_NULL:
                shdr[1] = SHT_NOBITS
            old_end = None
            continue
        # Neighbours stay neighbours: one PT_NOTE may span several sections.
        align = max(shdr[8], 1)
        gap = shdr[4] - old_end if old_end is not None else 0
        out += bytes(gap if 0 < gap < align else -len(out) % align)
        old_end = shdr[4] + shdr[5]
        moved[shdr[4]] = len(out)
        out += elf.data[shdr[4]:old_end]
        shdr[4] = moved[shdr[4]]

    # PT_LOAD must go on telling what was mapped; a segment whose contents are
    # here tells where they are now.
    for p in phdrs:
        if p[0] in (PT_DYNAMIC, PT_INTERP, PT_NOTE, PT_GNU_EH_FRAME, PT_GNU_PROPERTY):
            p[2] = moved.get(p[2], p[2])
    for i, p in enumerate(phdrs):
        PHDR.pack_into(out, phoff + i * PHDR.size, *p)

    out += bytes(-len(out) % 8)
    ehdr = list(elf.ehdr)
    ehdr[6] = len(out)
    EHDR.pack_into(out, 0, *ehdr)
    for s in shdrs:
        out += SHDR.pack(*s)
    return bytes(out)


def misfit(elf, ranges, returns):
    """Why these ranges [(start, end, permissions, offset)] and return addresses are not this file's, or None."""
    loads = [p for p in elf.phdrs if p[0] == PT_LOAD and p[5]]
    base = ranges[0][0] - (loads[0][3] & -PAGE)
    for p in loads:
        at, offset = base + (p[3] & -PAGE), p[2] & -PAGE
        segment_end = base + ((p[3] + p[5] + PAGE - 1) & -PAGE)
        # RELRO splits a writable segment in two: follow it range by range.
        while at < segment_end:
            found = [r for r in ranges if r[0] == at and r[3] == offset]
            if not found:
                return f'no range at {at:x} with offset {offset:x}'
            _, end, permissions, _ = found[0]
            if ('x' in permissions) != bool(p[1] & PF_X):
                return f'the range at {at:x} is {permissions}'
            at, offset = end, offset + end - at
        if at != segment_end:
            return f'a segment ends at {segment_end:x}, its range at {at:x}'

    for start, end, _, offset in ranges:
        for address in returns:
            if start < address <= end:
                i = address - start + offset
                if not CALL.search(elf.data[i - 7:i]):
                    return f'no call before {address:x}'
    return None


def read_dump(path):
    """[(path, mapped ranges, return addresses)] of the object files with sampled addresses."""
    with open(path, encoding='utf-8') as file:
        samples, maps = file.read().split('MAPPED_LIBRARIES:\n')
    files = {}
    for line in maps.splitlines():
        span, permissions, offset, _, _, *name = line.split(None, 5)
        if name and name[0].startswith('/'):
            start, end = (int(x, 16) for x in span.split('-'))
            files.setdefault(name[0], []).append((start, end, permissions, int(offset, 16)))
    returns = {int(address, 16)
               for line in samples.splitlines() if line.startswith('@')
               for address in line.split()[1:]}
    for name, ranges in files.items():
        inside = {a for a in returns if any(start < a <= end for start, end, *_ in ranges)}
        if inside:
            yield name, ranges, inside


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sysroot, roots, dumps = sys.argv[1], sys.argv[2].split(':'), sys.argv[3:]
    elfs = {}
    for dump in dumps:
        for name, ranges, returns in read_dump(dump):
            if name not in elfs:
                source = next((root + name for root in roots if os.path.exists(root + name)), None)
                if not source:
                    sys.exit(f'{dump}: no ROOT has {name}; install the package named in README.md')
                elfs[name] = Elf(source)
            why = misfit(elfs[name], ranges, returns)
            if why:
                sys.exit(f'{dump}: {elfs[name].path} is not the file that was mapped ({why}); '
                         'get the package version named in README.md')
    for name, elf in sorted(elfs.items()):
        target = sysroot + name
        if not os.path.exists(target) or not os.path.samefile(target, elf.path):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, 'wb') as file:
                file.write(skeleton(elf))
        print(f'{os.path.getsize(target):8} {name}')


main()
