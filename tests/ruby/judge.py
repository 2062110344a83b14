#!/usr/bin/env python3
"""What jprof says of dumps with Ruby stacks, beside what this file makes of dump and table by itself: docs/internals/ruby-table.md
for the format, docs/internals/statistics.md for the estimates. Beside that the truth: owners.rb's own numbers.

usage: python3 judge.py JPROF SOURCE_ROOT"""
import collections
import csv
import io
import math
import os
import re
import subprocess
import sys
import tempfile

jprof, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
os.chdir(f"{root}/samples/tables")
failures = []


def check(good, text):
    if not good:
        failures.append(text)


def run(*arguments):
    done = subprocess.run([jprof, *arguments, f"--sysroot={root}/samples/cases/sysroot"], capture_output=True, stdin=subprocess.DEVNULL)
    check(done.returncode == 0, f"{arguments}: status {done.returncode}: {done.stderr.decode()}")
    return done.stdout.decode()


def table_of(path):
    """Frames by number: (parent, path, line, name), or (parent, None, 0, None) for a marker between frames."""
    texts, frames, first = {0: None}, {}, {}
    for line in open(path):
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == "s":
            number, text = rest.split(" ", 1)
            texts[int(number)] = re.sub("%(..)", lambda m: chr(int(m[1], 16)), text)
        elif word == "n":
            f = rest.split(" ")
            owner = texts[int(f[4])]
            frames[int(f[0])] = (int(f[1]), texts[int(f[2])], int(f[3]), (owner + f[5] if owner else "") + texts[int(f[6])])
        elif word == "m":
            f = rest.split(" ")
            name = {"after-gc": "after a GC: creator not known", "job": "finalizer or job", "in-gc": "the garbage collector"}.get(f[2])
            frames[int(f[0])] = (int(f[1]), None, 0, name and "!" + name)
        elif word == "ids":
            start, nodes, tags, epochs, end = (int(x, 16) for x in rest.split(" "))
            first = {"start": start, "tags": tags, "end": end}
    return first, frames


def site(stack):
    """The row of a stack, innermost first: as the issue has it, Ruby's own and C methods aside."""
    with_file = other = None
    for path, line, name in stack:
        start = path == "ruby" and not line
        text = (f"{path}:{line} {name}" if line else f"{path} {name}") if path else name
        if name and name.startswith("!"):
            return name[1:]
        if path and not start and not path.startswith(("<internal:", "/usr/lib/ruby/3.")):
            return text
        if path and not start:
            with_file = with_file or text
        elif name:
            other = other or text
    return with_file or other


def stacks_of(path, table):
    """(Ruby stack, estimated bytes) of each stack of the dump."""
    first, frames = table
    rate, addresses = 0, []
    for line in open(path):
        if line.startswith("heap_v2/"):
            rate = int(line[8:])
        elif line.startswith("@"):
            addresses = [int(a, 16) for a in line.split()[1:]]
        elif line.startswith("MAPPED"):
            return
        elif addresses and (counts := re.match(r"\s+t\*: (\d+): (\d+) ", line)):
            n, size = int(counts[1]), int(counts[2])
            value = size / (1 - math.exp(-(size / n) / rate)) if n else 0
            numbers = [(a - first["start"]) // 2 for a in addresses if first["start"] <= a < first["start"] + 2 * first["end"]]
            node, stack = next((n for n in numbers if n < first["tags"]), 0), []
            while node:
                node, file, at, name = frames[node]
                stack.append((file, at, name))
            yield stack, value


def rows(*arguments):
    return list(csv.DictReader(io.StringIO(run("--csv", *arguments))))


def compare(what, ours, theirs):
    """The text of --csv is cut to whole bytes."""
    for name in sorted(set(ours) | set(theirs)):
        a, b = ours.get(name, 0), theirs.get(name, 0)
        check(abs(a - b) <= 1 + 1e-9 * abs(a), f"{what}: {name}: {b:.0f} by jprof, {a:.3f} by the dump and its table")


TRUTH = {"owners.rb:6 Leak#keep": (1000 * 1024, 5000 * 1024), "owners.rb:15 Cache#add": (400 * 2048, 500 * 2048),
         "owners.rb:21 Deep#down": (50 * 3072, 50 * 3072),
         **{f"template_{i}.erb:{10 + i} Object#evaluate": (30 * 4096, 40 * 4096) for i in range(3)}}
held = asked = 0
for ruby in ("ruby31", "ruby33"):
    for number in (0, 1):
        dump = f"{ruby}.{number}.heap"
        flat, cum, native, total = collections.Counter(), collections.Counter(), 0, 0
        for stack, value in stacks_of(dump, table_of(dump + ".ruby")):
            total += value
            if stack:
                flat[site(stack)] += value
            else:
                native += value
            for name in {f"{p}:{at} {n}" if p and at else f"{p} {n}" if p else (n or "").lstrip("!") for p, at, n in stack}:
                cum[name] += value
        got = rows(dump)
        ruby_rows = {r["name"]: r for r in got if r["source"] == "ruby"}
        compare(dump, {k: v for k, v in flat.items() if v}, {k: float(r["flat"]) for k, r in ruby_rows.items() if float(r["flat"])})
        compare(dump + " cum", {k: v for k, v in cum.items() if k in ruby_rows},
                {k: float(r["cum"]) for k, r in ruby_rows.items() if k in cum})
        check(abs(sum(float(r["flat"]) for r in got) - total) < len(got), f"{dump}: rows sum up to another total")
        only = {r["name"]: float(r["flat"]) for r in rows("--ruby=only", dump)}
        check(abs(only["(no Ruby stack)"] - native) <= 1, f"{dump}: (no Ruby stack) {only['(no Ruby stack)']}, not {native}")
        check(not [r for r in rows("--ruby=off", dump) if r["source"] == "ruby"], f"{dump}: --ruby=off has rows of Ruby")
        for name, truth in TRUTH.items():
            asked += 1
            held += float(ruby_rows[name]["flat_low"]) <= truth[number] <= float(ruby_rows[name]["flat_high"])
# A difference of bundles is that of the dumps: their epochs are in them.
with tempfile.TemporaryDirectory() as scratch:
    for ruby in ("ruby31", "ruby33"):
        dumps = [f"{ruby}.{n}.heap" for n in (0, 1)]
        bundles = [f"{scratch}/{dump}.jprof" for dump in dumps]
        for dump, bundle in zip(dumps, bundles):
            run("bundle", "-o", bundle, dump)
        change = {r["name"]: r for r in rows("--errors", f"--diff_base={dumps[0]}", dumps[1])}
        packed = {r["name"]: r for r in rows("--errors", f"--diff_base={bundles[0]}", bundles[1])}
        check(change == packed, f"{ruby}: the difference of bundles is another than that of dumps")
        # Each object of .0 is alive in .1, so what has changed is as many samples as .1 has more of, or a few less.
        more = change["owners.rb:6 Leak#keep"]
        check(90 <= float(more["flat_samples"]) <= 150, f"{ruby}: the leak rests on {more['flat_samples']} samples")
# 95 % intervals of 24 values: five or more outside have a chance below 1 %.
check(held >= asked - 4, f"only {held} of {asked} intervals hold what owners.rb allocated")
if failures:
    print("\n".join(failures[:20]))
    sys.exit(1)
print(f"rows of 4 dumps compared; {held} of {asked} intervals hold the truth")
