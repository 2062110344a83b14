"""Reads a dump with its table (docs/internals/ruby-table.md), apart from libjprof, and judges it.

usage: rubytable.py COMMAND DUMP [ARGUMENT...]; each prints one line, and fails where something is wrong.
    labels DUMP TEMPLATE...  a sample with the label N has as its innermost line one of the TEMPLATEs, in which * is
                             anything, {n%K+M} made of N; samples without a Ruby stack, or a line, count as without
    callers DUMP TEMPLATE... likewise, of the second line from the innermost
    outer DUMP TEMPLATE...   likewise, of the innermost line that is not of the script -e
    share DUMP LINE          percent of the bytes whose innermost line, with its method, contains LINE
    bytes DUMP LINE          likewise, the bytes
    ruby DUMP EPOCH          percent of the bytes since EPOCH that have a Ruby stack
    shape DUMP [LINE]        nodes of the table; of all stacks, or of those whose innermost line contains LINE, how many
                             frames the deepest has, and the words of markers
    epochs DUMP LINE         "EPOCH:SAMPLES ..." of the innermost lines that contain LINE
    bounds DUMP              BEFORE and AFTER
    tags DUMP [LINE]         "SAMPLES BYTES KIND TEXT", a line for each tag of the samples whose innermost lines contain
                             LINE; KIND and TEXT are "no tag", or "unknown" where the table has no text
    tagged DUMP TEMPLATE     samples in a method work_N have the tag TEMPLATE, made of N as above, those in the method
                             `other` none; how many, and how many standard errors a work_N is off DUMP.kept at most
"""
import collections
import fnmatch
import math
import re
import sys

LABELS = range(0x10000000, 0x20000000)
MARKER = "!"


class Frame:
    def __init__(self, parent, path, line, owner, separator, method):
        self.parent, self.path, self.line, self.separator = parent, path, line, separator
        self.name = owner + separator + method if owner else method

    def __str__(self):
        return f"{self.path}:{self.line} {self.name}"


def unescaped(text):
    return re.sub("%([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), text)


def fnv1a(data):
    check = 0xCBF29CE484222325
    for byte in data:
        check = (check ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{check:x}"


class Table:
    def __init__(self, path, dump):
        self.head, self.nodes, self.epochs, self.texts = {}, {0: None}, {}, {}
        strings = {"0": ""}
        with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            text = file.read()
        lines = text.split("\n")
        if lines[0] != "jprof-table 1" or lines[-1]:
            sys.exit(f"{path}: no table, or cut")
        for line in lines[:-1]:
            word = line.split(" ")
            if word[0] == "s":
                strings[word[1]] = unescaped(line.split(" ", 2)[2])
            elif word[0] == "n":
                self.add(word, Frame(int(word[2]), strings[word[3]], int(word[4]), strings[word[5]], word[6],
                                     strings[word[7]]))
            elif word[0] == "m":
                self.add(word, Frame(int(word[2]), "", int(word[4]), "", MARKER, word[3]))
            elif word[0] == "e":
                self.epochs[int(word[1])] = word[2:]
            elif word[0] == "t":
                self.texts[int(word[1])] = unescaped(line.split(" ", 2)[2])
            else:
                self.head.setdefault(word[0], []).append(word[1:])
        if int(self.head["end"][0][0]) != len(self.nodes) - 1:
            sys.exit(f"{path}: {self.head['end']} for {len(self.nodes) - 1} nodes")
        if self.head["dump"] != [[str(len(dump)), fnv1a(dump)]]:
            sys.exit(f"{path}: is the table of another dump: {self.head['dump']}")
        self.start, self.first, self.tags, self.first_epoch, self.end = (int(x, 16) for x in self.head["ids"][0])

    def add(self, word, frame):
        if frame.parent not in self.nodes or int(word[1]) in self.nodes:
            sys.exit(f"node {word[1]} comes before its parent, or twice")
        self.nodes[int(word[1])] = frame

    def stack(self, node):
        frames = []
        while node:
            frames.append(self.nodes[node])
            node = frames[-1].parent
        return frames


class Sample:
    """The sampled objects of one stack that live."""

    def __init__(self, table, addresses, count, size, rate):
        self.count, self.size = count, size / (1 - math.exp(-size / count / rate))
        self.native, self.stack, self.epoch, self.label, self.tag = [], [], None, 0, "no tag"
        for address in addresses:
            number = (address - table.start) // 2
            if address in LABELS:
                self.label = (address - LABELS[0]) // 16
            elif not 0 <= number < table.end:
                self.native.append(address)
            elif number >= table.first_epoch:
                self.epoch = number - table.first_epoch
            elif number >= table.tags:
                self.tag = table.texts.get(number - table.tags, "unknown")
            else:
                self.stack = table.stack(number)
        lines = [frame for frame in self.stack if frame.path]
        self.line, self.caller = (lines + [None, None])[:2]
        self.outer = next((f for f in lines if not f.path.startswith("-e")), self.line)


def read(path):
    with open(path, "rb") as file:
        dump = file.read()
    table, samples, rate, addresses = Table(path + ".ruby", dump), [], None, None
    for line in dump.decode("latin-1").split("\n"):
        if line.startswith("heap_v2/"):
            rate = int(line[8:])
        elif line.startswith("@"):
            addresses = [int(x, 16) for x in line.split()[1:]]
        elif line.startswith("  t*:") and addresses is not None:
            count, size = (int(x) for x in re.match(r"  t\*: (\d+): (\d+)", line).groups())
            if count:
                samples.append(Sample(table, addresses, count, size, rate))
        elif line.startswith("MAPPED_LIBRARIES"):
            break
    return table, samples


def filled(template, n):
    return re.sub(r"{n(?:%(\d+))?(?:\+(\d+))?}",
                  lambda m: str((n % int(m[1]) if m[1] else n) + int(m[2] or 0)), template)


def labels(samples, templates, which):
    right, wrong, without, example = 0, 0, 0, ""
    for sample in samples:
        if not sample.label:
            continue
        line = getattr(sample, which)
        if not line:
            without += sample.count
        elif any(fnmatch.fnmatchcase(str(line), filled(t, sample.label)) for t in templates):
            right += sample.count
        else:
            wrong += sample.count
            example = f", such as {line} for {sample.label}"
    print(f"{right} right, {wrong} wrong, {without} without{example}")
    return wrong == 0 and right > 20 and without * 20 <= right


def bytes_of(samples, part):
    return sum(s.size for s in samples if s.line and part in str(s.line))


def tags(samples):
    count, size = collections.Counter(), collections.Counter()
    for sample in samples:
        count[sample.tag] += sample.count
        size[sample.tag] += sample.size
    return [f"{count[tag]} {round(size[tag])} {tag}" for tag in sorted(count)]


def tagged(samples, template, kept, rate):
    """KEPT has lines "N OBJECTS SIZE": what the methods keep."""
    seen, wrong, example = collections.Counter(), 0, ""
    for sample in samples:
        name = next((f.name for f in sample.stack if re.search(r"#(work_\d+|other)$", f.name)), None)
        if not name:
            continue
        number = 0 if name.endswith("other") else int(name.rsplit("_")[-1])
        wanted = filled(template, number) if number else "no tag"
        seen[number] += sample.count
        if sample.tag != wanted:
            wrong += sample.count
            example = f", such as {sample.tag} for {wanted} at {sample.line}"
    off = []
    for n, objects, size in (map(int, line.split()) for line in kept):
        share = 1 - math.exp(-size / rate)
        off.append(abs(seen[n] - objects * share) / math.sqrt(objects * share * (1 - share)))
    print(f"{sum(seen.values())} tagged, {wrong} wrong{example}, at most {max(off):.1f} standard errors off")
    return wrong == 0 and max(off) < 5 and min(seen.values()) > 30


def main():
    command, path, *rest = sys.argv[1:]
    table, samples = read(path)
    total = sum(s.size for s in samples)
    of = {"labels": "line", "callers": "caller", "outer": "outer"}
    if command in of:
        sys.exit(not labels(samples, rest, of[command]))
    elif command == "share":
        print(round(100 * bytes_of(samples, rest[0]) / total, 2))
    elif command == "bytes":
        print(round(bytes_of(samples, rest[0])))
    elif command == "ruby":
        later = [s for s in samples if (s.epoch or 0) >= int(rest[0])]
        print(round(100 * sum(s.size for s in later if s.stack) / sum(s.size for s in later), 1))
    elif command == "shape":
        judged = [s.stack for s in samples if not rest or (s.line and rest[0] in str(s.line))]
        frames = [f for stack in judged for f in stack] if rest else table.nodes.values()
        words = {f.name for f in frames if f and f.separator == MARKER}
        print(len(table.nodes) - 1, max(len(stack) for stack in judged), " ".join(sorted(words)))
    elif command == "epochs":
        counts = collections.Counter()
        for sample in samples:
            if sample.line and rest[0] in str(sample.line):
                counts[sample.epoch] += sample.count
        print(" ".join(f"{e}:{n}" for e, n in sorted(counts.items())))
    elif command == "tags":
        print("\n".join(tags([s for s in samples if not rest or any(rest[0] in str(f) for f in s.stack)])))
    elif command == "tagged":
        with open(path, "rb") as dump, open(path + ".kept", encoding="ascii") as kept:
            sys.exit(not tagged(samples, rest[0], kept, int(dump.readline()[8:])))
    elif command == "bounds":
        print(" ".join(table.head["bounds"][0]))
    else:
        sys.exit(__doc__)


main()
