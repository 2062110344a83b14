#!/usr/bin/env python3
"""Compare what jprof says of every address of whole dumps with what readelf says.

    oracle.py JPROF ADDRESSES SYSROOT DUMP...

A function's name is right exactly where readelf has a symbol there that holds the address;
elsewhere stand the bounds of the function by readelf's call frame information, or only the
offset. Where a file has debug information the frames are those of addr2line. The share of bytes
that `jprof info` calls named is worked out from the dump and readelf alone.
"""
import bisect
import collections
import math
import os
import re
import subprocess
import sys

# How many of an object's own names make the comparison mean something.
MANY = 100

Map = collections.namedtuple('Map', 'start limit offset path')
Symbol = collections.namedtuple('Symbol', 'value size name section')
ALLOCATION = {'_Znwm', '_Znam', 'malloc', 'calloc', 'realloc', 'memalign', 'posix_memalign', 'aligned_alloc'}


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, errors='surrogateescape',
                          **options).stdout


def without_version(name):
    return name.split('@')[0]


class Elf:
    """An object file as readelf sees it."""

    def __init__(self, path):
        self.path = path
        segments = run('readelf', '-lW', path)
        self.loads = [tuple(int(x, 16) for x in load) for load in
                      re.findall(r'^ +LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ R.E', segments, re.M)]
        sections = run('readelf', '-SW', path)
        self.code = {int(n): (int(address, 16), int(size, 16)) for n, address, size in re.findall(
            r'^ +\[ *(\d+)\] \S+ +\w+ +(\w+) \w+ (\w+) \w+ +[A-Z]*X', sections, re.M)}
        self.has_debug = '.debug_info' in sections
        self.symbols = sorted(set(self.read_symbols()))
        self.values = [s.value for s in self.symbols]
        self.largest = max((s.size for s in self.symbols), default=0)
        # Without following links: the files of debug packages are no part of this.
        frames = run('readelf', '--debug-dump=frames,no-follow-links', path)
        self.fdes = sorted((int(start, 16), int(end, 16)) for start, end in
                           re.findall(r' FDE .* pc=(\w+)\.\.(\w+)$', frames, re.M))

    def read_symbols(self):
        for line in run('readelf', '-sW', self.path).splitlines():
            column = line.split(None, 7)
            if len(column) != 8 or not column[0].endswith(':') or column[3] not in ('FUNC', 'IFUNC', 'NOTYPE'):
                continue
            section = int(column[6]) if column[6].isdigit() else 0
            if section in self.code:
                yield Symbol(int(column[1], 16), int(column[2], 0), without_version(column[7].split(' ')[0]), section)

    def vaddr(self, offset):
        for start, vaddr, size in self.loads:
            if start <= offset < start + size:
                return offset - start + vaddr
        return None

    def fde(self, vaddr):
        i = bisect.bisect(self.fdes, (vaddr, math.inf))
        return self.fdes[i - 1] if i and vaddr < self.fdes[i - 1][1] else None

    def names(self, vaddr):
        """The names that are right at an address; none where there is no symbol."""
        end = bisect.bisect(self.values, vaddr)
        first = bisect.bisect(self.values, vaddr - self.largest)
        holding = [s for s in self.symbols[first:end] if vaddr < s.value + s.size]
        if holding:
            innermost = max(s.value for s in holding)
            return {s.name for s in holding if s.value == innermost}
        # A symbol without a size reaches to the next symbol, and to the end of its section and its FDE.
        before = self.values[end - 1] if end else None
        fde = self.fde(vaddr)
        return {s.name for s in self.symbols[:end] if s.value == before and not s.size
                and vaddr < sum(self.code[s.section]) and (not fde or fde[0] <= s.value)}

    def frames(self, vaddr):
        """[(function, file:line)] by the debug information, innermost first."""
        lines = run('addr2line', '-f', '-i', '-e', self.path, f'{vaddr:x}').splitlines()
        return [(name, re.sub(r' \(discriminator \d+\)$', '', at)) for name, at in zip(lines[::2], lines[1::2])]


class Dump:
    def __init__(self, path):
        with open(path, encoding='utf-8', errors='surrogateescape') as file:
            body, maps = file.read().split('MAPPED_LIBRARIES:\n')
        self.rate = int(body.split('\n', 1)[0].split('/')[1])
        self.maps = []
        for line in maps.splitlines():
            span, permissions, offset, _, _, *name = line.split(None, 5)
            if permissions[2] == 'x':
                start, limit = (int(x, 16) for x in span.split('-'))
                self.maps.append(Map(start, limit, int(offset, 16), name[0] if name else ''))
        # The first address is looked up as it stands, all others one byte before.
        self.stacks = []
        for line in body.splitlines():
            if line.startswith('@'):
                self.stacks.append([int(x, 16) - (i > 0) for i, x in enumerate(line.split()[1:])])
                continue
            total = re.match(r' *t\*: (\d+): (\d+)', line)
            if total and self.stacks:
                self.stacks[-1] = (self.stacks[-1], self.unbiased(*map(int, total.groups())))

    def unbiased(self, objects, size):
        return size / (1 - math.exp(-size / objects / self.rate)) if objects else size

    def place(self, address):
        return next((m for m in self.maps if m.start <= address < m.limit), None)


class Check:
    def __init__(self, jprof, addresses, sysroot):
        self.jprof, self.addresses, self.sysroot = jprof, addresses, sysroot
        self.elfs = {}
        self.failures = 0
        self.named = collections.Counter()
        self.nameless = collections.Counter()

    def fail(self, *what):
        self.failures += 1
        if self.failures < 40:
            print(*what)

    def elf(self, path):
        if path not in self.elfs:
            file = self.sysroot + path
            self.elfs[path] = Elf(file) if path.startswith('/') and os.path.exists(file) else None
        return self.elfs[path]

    def expected(self, dump, address):
        """(set of right names, or None; what stands there otherwise)"""
        place = dump.place(address)
        if not place:
            return None, f'0x{address:x}'
        offset = address - place.start + place.offset
        base = re.sub(r'(?<=.)\.so(?=[. ]|$).*', '', place.path.rpartition('/')[2])
        elf = self.elf(place.path)
        vaddr = elf and elf.vaddr(offset)
        if vaddr is None:
            return None, f'{base}+0x{offset:x}' if place.path else None
        fde = elf.fde(vaddr)
        return elf.names(vaddr), f'{base}!0x{fde[0]:x}' if fde else f'{base}+0x{vaddr:x}'

    def one(self, dump, address, source, frames):
        place = dump.place(address)
        elf = place and self.elf(place.path)
        if elf and elf.has_debug:
            vaddr = elf.vaddr(address - place.start + place.offset)
            want = elf.frames(vaddr)
            got = [(name, f'{file}:{line}') for name, file, line in frames]
            symbols = {name for name in elf.names(vaddr) if name.startswith(want[-1][0] + '.')}
            if want[-1][0] != '??':
                if symbols:
                    want[-1] = (symbols.pop(), want[-1][1])
                if want != got:
                    self.fail(f'{elf.path} {vaddr:x}: addr2line {want}, jprof {got}')
                self.named[place.path] += 1
                return
        names, otherwise = self.expected(dump, address)
        (self.named if names else self.nameless)[place.path if place else ''] += 1
        got = frames[0][0]
        if len(frames) != 1 or frames[0][1]:
            self.fail(f'{address:x}: frames out of nowhere: {frames}')
        elif names and (got not in names or source <= 1):
            self.fail(f'{place.path} {address:x}: readelf {sorted(names)}, jprof {got} by source {source}')
        elif not names and (got != otherwise if otherwise else '+0x' not in got and '!0x' not in got):
            self.fail(f'{place.path if place else ""} {address:x}: readelf has no name but {otherwise}, jprof {got}')
        elif not names and source > 1:
            self.fail(f'{place.path} {address:x}: jprof counts {got} as a name')

    def dump(self, path):
        dump = Dump(path)
        seen = set()
        for line in run(self.addresses, path, self.sysroot).splitlines():
            column = line.split('\t')
            seen.add(int(column[0], 16))
            self.one(dump, int(column[0], 16), int(column[1]), list(zip(*[iter(column[2:])] * 3)))
        missing = {a for stack, _ in dump.stacks for a in stack} ^ seen
        if missing:
            self.fail(f'{path}: addresses of dump and library differ by {len(missing)}')
        self.report(path, dump)
        self.coverage(path, dump)

    def report(self, path, dump):
        """The program's rows: every address but those of the allocator's library, with the same words."""
        command = [self.jprof, '--addresses', '--fold=none', '--inuse_objects', '--cum', '--sysroot=' + self.sysroot]
        rows = collections.defaultdict(list)
        for line in run(*command, path, stderr=subprocess.DEVNULL).splitlines()[1:]:
            row = re.match(r' *\S+ +\S+ +\S+ +\S+ +\S+ ([0-9a-f]{16}) (.*)', line)
            if not row:
                self.fail(f'{path}: what row is this: {line}')
                continue
            rows[int(row[1], 16)].append(row[2])
        for address in {a for stack, _ in dump.stacks for a in self.without_allocator(dump, stack)}:
            names, otherwise = self.expected(dump, address)
            got = rows.pop(address, ['no row'])
            elf = self.elf(dump.place(address).path) if dump.place(address) else None
            if elf and elf.has_debug:
                continue
            plain = names and {name for name in names if not name.startswith('_Z')}
            if plain and got[0] not in {name + ' ??:0' for name in plain} and plain == names:
                self.fail(f'{path} {address:x}: readelf {sorted(names)}, row {got}')
            if not names and otherwise and got != [otherwise]:
                self.fail(f'{path} {address:x}: readelf {otherwise}, row {got}')
        if rows:
            self.fail(f'{path}: rows of addresses that are the allocator\'s or nobody\'s: {list(rows)[:3]}')

    def without_allocator(self, dump, stack):
        """The stack without the frames in the library of its first one, and without operator new."""
        allocator = dump.place(stack[0]).path
        i = 0
        while i < len(stack) - 1 and getattr(dump.place(stack[i]), 'path', '') == allocator:
            i += 1
        while i < len(stack) - 1 and (self.expected(dump, stack[i])[0] or set()) & ALLOCATION:
            i += 1
        return stack[i:]

    def coverage(self, path, dump):
        named = every = 0
        for stack, size in dump.stacks:
            inner = self.without_allocator(dump, stack)[0]
            every += size
            named += size if self.expected(dump, inner)[0] else 0
        info = run(self.jprof, 'info', '--fold=none', '--sysroot=' + self.sysroot, path, stderr=subprocess.DEVNULL)
        said = re.search(r'^([\d.]+) % of the bytes have', info, re.M)
        if not said or abs(float(said[1]) - 100 * named / every) > 0.051:
            self.fail(f'{path}: {100 * named / every:.2f} % of the bytes have a name, jprof says {said and said[1]}')


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    check = Check(*sys.argv[1:4])
    for dump in sys.argv[4:]:
        check.dump(dump)
    for path in sorted(check.named.keys() | check.nameless.keys()):
        print(f'{check.named[path]:6} named {check.nameless[path]:6} not  {path or "(no file)"}')
    print(f'{check.failures} failures')
    libruby = sum(n for path, n in check.named.items() if 'libruby' in path)
    hidden = sum(n for path, n in check.nameless.items() if 'libruby' in path)
    if libruby < MANY or hidden < MANY:
        sys.exit('libruby has too few addresses for this to mean anything')
    sys.exit(check.failures > 0)


main()
