"""The table on a terminal: pseudo terminals of several sizes. usage: screen.py JPROF SOURCE_ROOT

The judge of a number is the table on a pipe, that of a width Python's unicodedata.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unicodedata

from on_tty import on_tty

jprof, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
tables = os.path.join(root, "samples/tables")
heaps = os.path.join(root, "samples/heaps")
dump = "ruby31.1.heap"
checks = failures = taken = 0
ROW = re.compile(r" *([+-]?[0-9.]+) +(-?[0-9.]+%) +(-?[0-9.]+%) +([+-]?[0-9.]+) +(-?[0-9.]+%)  (.*)")


def check(good, what, shown=""):
    global checks, failures
    checks += 1
    if not good:
        failures += 1
        print(f"FAIL: {what}")
        print("\n".join("    " + line for line in str(shown).splitlines()[:60]))


def environment(**more):
    own = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "LINES")}
    return {**own, "LC_ALL": "C", "TERM": "dumb", **more}


def own(arguments):
    """Of a Ruby dump its Ruby frames; its files are not this machine's."""
    return ["--ruby=only", "--sysroot=../cases/sysroot", *arguments] if dump in arguments else arguments


def on_terminal(lines, columns, *arguments, program=jprof, ends=0, **env):
    """What a terminal of that size gets, without messages, whose lines are `taken`; 0: it does not know its size."""
    status, text = on_tty([program, *own(arguments)], lines, columns, cwd=tables, env=environment(**env))
    check(status == ends, f"{arguments}: exit status {status}", text)
    text = re.sub(rb"\r\x1b\[K(jprof: [^\r]* s)?", b"", text)  # on a slow machine: what is under way
    text = text.decode().replace("\r\n", "\n")
    # A message goes on below its first line behind as many blanks as "jprof: " takes.
    messages = re.compile(r"^jprof: .*\n(?: {7}\S.*\n)*", re.M)
    global taken
    taken = sum(message.count("\n") for message in messages.findall(text))
    return messages.sub("", text)


def too_wide(screen, columns):
    """Lines that do not fit; the next command is to be copied, and so is never cut."""
    return [line for line in screen.splitlines() if width(line) > columns and not line.startswith("Next:")]


def on_pipe(*arguments, program=jprof, **env):
    return subprocess.run([program, *own(arguments)], stdin=subprocess.DEVNULL, capture_output=True, cwd=tables, check=True,
                          env=environment(**env)).stdout.decode()


def width(text):
    return sum(0 if unicodedata.category(c) in ("Mn", "Me") else 1 + (unicodedata.east_asian_width(c) in "WF")
               for c in text)


def rows_of(screen):
    """The rows between the heads and the total: flat, share, running sum, cum, its share, name."""
    found = [ROW.fullmatch(line) for line in screen.splitlines()]
    return [m.groups() for m in found if m]


def cut_of(cut, whole):
    """Whether a text is another one with something left out of its middle."""
    head, dots, tail = cut.partition("...")
    return cut == whole or (dots and whole.startswith(head) and whole.endswith(tail))


# ---- a Ruby dump: what stands where, in each size ----
piped = [line.split(None, 5) for line in on_pipe(dump).splitlines()[1:]]
for lines, columns in ((24, 80), (30, 200), (30, 120), (6, 80), (0, 0)):
    screen = on_terminal(lines, columns, dump)
    size = f"{lines}x{columns}"
    shown = screen.splitlines()
    rows = rows_of(screen)
    left = len(piped) - len(rows)
    wide = columns or 80
    check(not too_wide(screen, wide), f"{size}: a line is too long", screen)
    over = shown.index("")  # lines of the head
    check(len(rows) == {24: 11 - over - taken, 6: 5, 0: 20}.get(lines, len(rows)), f"{size}: {len(rows)} rows", screen)
    # One line is the command that was typed, one the prompt after it.
    check(lines < 12 or len(shown) + taken == lines - 2, f"{size}: {len(shown)} lines", screen)
    head = " ".join(shown[:over])
    check(re.fullmatch(r"ruby3\.1: 8363 KB \(\+-\d+\) in 12,923 objects, from \d+ samples\. "
                       r"The biggest line is owners\.rb:6 Leak#keep, 4355 KB \(52 %\)\.", head), f"{size}: head", screen)
    shown = shown[over - 1:]
    check(re.fullmatch(r" +flat +flat% +sum% +cum +cum%  allocated at +\(KB\)", shown[2]) and width(shown[2]) == wide,
          f"{size}: heads", screen)
    end = next(i for i, line in enumerate(shown) if re.fullmatch(r" +8362\.9 +Total", line))
    check(f"... {left} more: --top=0" in shown[end:], f"{size}: where the rest is", screen)
    check(len(shown) - end == (2 if lines == 6 else 8), f"{size}: {len(shown) - end} lines from the total on", screen)
    check(lines == 6 or shown[-1].startswith("Next:  jprof "), f"{size}: the last line", screen)
    rest = re.fullmatch(rf" +([0-9.]+) +[0-9.]+% +100\.0% +{left} more places", shown[end - 1])
    check(rest and abs(float(rest[1]) + sum(float(r[0]) for r in rows) - 8362.9) < 0.1 * len(rows), f"{size}: the rest", screen)
    for row, pipe in zip(rows, piped):
        check(abs(float(row[0]) / 1024 - float(pipe[0])) < 0.06 and [row[1], row[2], row[4]] == [pipe[1], pipe[2], pipe[4]] and
              cut_of(row[5].split("  called by ")[0].split(" (from ")[0], pipe[5]), f"{size}: the row {row}, on a pipe {pipe}")
tall = on_terminal(50, 200, dump)
check(len(rows_of(tall)) == len(piped) and " more" not in tall, "50x200: it all fits", tall)
every = on_terminal(24, 80, "--top=0", dump)
check(len(rows_of(every)) == len(piped) and " more" not in every, "--top=0 is not all", every)
check(len(rows_of(on_terminal(24, 80, "--top=3", dump))) == 3, "--top=3")
check(len(on_pipe("--top=0", dump).splitlines()) == len(piped) + 1, "--top=0 on a pipe")
narrow = on_terminal(24, 40, dump)
check(not too_wide(narrow, 40), "40 columns: a line is too long", narrow)
check("  4355.4  52.1%  owners.rb:6 Leak#keep" in narrow, "40 columns: no first row", narrow)
check("COLUMNS is not looked at", max(width(line) for line in on_terminal(0, 0, dump, COLUMNS="60").splitlines()) <= 60)

# ---- the unit follows the total ----
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)


def write(name, text):
    path = os.path.join(folder.name, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


MAPS = "\nMAPPED_LIBRARIES:\n00001000-00100000 r-xp 00000000 08:01 1 /x/prog\n"
for total, unit, shown in ((9999, "B", "9999"), (10000, "KB", "9.8"), (10238976, "KB", "9999.0"), (10240000, "MB", "9.8"),
                           (900 << 20, "MB", "900.0"), (10000 << 20, "GB", "9.8"), (70 << 40, "GB", "71680.0")):
    size = write("size.heap", f"heap_v2/1\n  t*: 1: {total} [0: 0]\n@ 0x1001 0x2001\n  t*: 1: {total} [0: 0]\n{MAPS}")
    screen = on_terminal(24, 80, size)
    check(re.search(rf"^ +{re.escape(shown)} +Total$", screen, re.M) and f"({unit})\n" in screen, f"{total} is not {shown} {unit}", screen)
check(re.search(r"^ *75161927680 +Total$", on_terminal(24, 80, "--show_bytes", write(
    "size.heap", f"heap_v2/1\n  t*: 1: {70 << 30} [0: 0]\n@ 0x1001 0x2001\n  t*: 1: {70 << 30} [0: 0]\n{MAPS}")), re.M), "--show_bytes")

# ---- a file and its line stay when a method has to be cut ----
for columns in (40, 44, 50, 60):
    screen = on_terminal(24, columns, "--base=ruby31.0.heap", dump)
    cut = re.findall(r"  (\S+\.(?:rb|erb):[0-9]+)(?: \S*\.\.\.)$", screen, re.M)
    pipe = on_pipe("--base=ruby31.0.heap", dump)
    check(all(place in pipe for place in cut), f"{columns} columns: {cut}", screen)
    check(columns > 44 or cut, f"{columns} columns: nothing was cut", screen)
    places = [name for name in re.findall(r"^ .*[0-9%]  (\S.*)", screen, re.M) if ":" in name]
    check(all(re.match(r"\S+:[0-9]+( |$)", name) for name in places), f"{columns} columns: a line is gone: {places}", screen)

# ---- names of all scripts, cut by what they take on a terminal ----
NAMES = ["記憶" * 30, "ké" + "e\u0301" * 60, "x" * 200, "short", "\U0001f600" * 40, "a::bcd::" * 12 + "method", "한글이름" * 20]
symbols = "".join(f"0x{0x2000 + 16 * i:x} {name}\n" for i, name in enumerate(NAMES))
stacks = "".join(f"@ 0x{0x1001 + 16 * i:x} 0x{0x2001 + 16 * i:x}\n  t*: 1: {90000 - 1000 * i} [0: 0]\n" for i in range(len(NAMES)))
total = sum(90000 - 1000 * i for i in range(len(NAMES)))
wide_names = write("names.raw", f"--- symbol\nbinary=/x/prog\n{symbols}---\n--- heap\nheap_v2/1\n  t*: {len(NAMES)}: {total} [0: 0]\n"
                   f"{stacks}{MAPS}")
for columns in (40, 41, 63, 80, 81, 100, 200):
    screen = on_terminal(40, columns, "--fold=none", wide_names)
    names = [line.split("  ")[-1] for line in screen.splitlines()[3:]]
    check(not too_wide(screen, columns), f"{columns} columns: a name is too wide", screen)
    for name in NAMES:
        cut = [n for n in names if cut_of(n, name)]
        check(len(cut) == 1, f"{columns} columns: {name} is not there", screen)
        # What is cut fills its room, but for half a wide character at either end.
        start = screen.splitlines()[3].index(names[0])
        check(cut and (cut[0] == name or columns - start - width(cut[0]) <= 2), f"{columns} columns: {cut} has room left", screen)
        check(not cut or not any(unicodedata.combining(part[0]) for part in cut[0].split("...") if part), "a mark without its letter", cut)

# ---- under the table: the biggest path, the sizes of objects, the next command ----


def made(name, stacks):
    """A dump of stacks: functions from the outermost on, a number of objects, their size."""
    functions = sorted({f for stack, _, _ in stacks for f in stack})
    at = {f: 0x2000 + 16 * i for i, f in enumerate(functions)}
    text = "".join(f"0x{a:x} {f}\n" for f, a in at.items())
    body = "".join("@ " + " ".join(f"0x{at[f] + (i > 0):x}" for i, f in enumerate(reversed(stack))) +
                   f"\n  t*: {n}: {n * each} [0: 0]\n" for stack, n, each in stacks)
    return write(name, f"--- symbol\nbinary=/x/prog\n{text}---\n--- heap\nheap_v2/1\n  t*: {sum(n for _, n, _ in stacks)}: "
                 f"{sum(n * each for _, n, each in stacks)} [0: 0]\n{body}{MAPS}")


PATHS = [(("begin", "main", "run", "load", "again", "again", "parse"), 500, 1024), (("begin", "main", "run", "load", "other"), 300, 1024),
         (("begin", "main", "run", "load", "again", "parse"), 100, 1024), (("begin", "main", "run", "rest"), 1600, 64)]
paths = made("paths.raw", PATHS)
whole = sum(n * each for _, n, each in PATHS)
screen = on_terminal(24, 80, "--fold=none", paths)
# Two stacks differ only by how often a function calls itself: they are one path. What all have in common ends in run.
check(f"\nbiggest path   600 KB ({600 * 1024 * 100 / whole:.1f} %)\n   run > load > again > parse\n" in screen, "the biggest path", screen)
check("\nobject sizes   1 KB 90 %, 64 bytes 10 %\n" in screen, "the sizes of objects", screen)
check(re.search(r"\nNext:  jprof diff \S+/paths\.raw LATER  \(", on_terminal(24, 120, paths)), "no later dump", screen)
check("   run > ... > again > parse\n" in on_terminal(24, 28, "--fold=none", paths), "a path that is cut", on_terminal(24, 28, "--fold=none", paths))
check("   again > parse\n" not in on_terminal(24, 16, "--fold=none", paths), "a path is whole that is cut")
check("biggest path   900 objects (36.0 %)" not in on_terminal(24, 80, "--inuse_objects", paths) and
      re.search(r"biggest path   1,600 objects \(64\.0 %\)\n.*\nobject sizes   64 bytes 64 %, 1 KB 36 %\n", on_terminal(24, 80, "--inuse_objects", paths)),
      "paths by objects", on_terminal(24, 80, "--inuse_objects", paths))
# Sizes that do not fit are among the others, and none is cut.
many = made("many.raw", [((f"f{i}",), (40000 >> i) - i, 64 << i) for i in range(9)])
for columns in range(52, 121, 4):
    screen = on_terminal(30, columns, "--fold=none", many)
    sizes = re.search(r"^object sizes   (.*): --sizes$", screen, re.M)
    check(sizes and "..." not in sizes[1] and len(sizes[0]) <= columns and
          all(re.fullmatch(r"([\d.]+ \w+|others) \d+ %", part) for part in sizes[1].split(", ")), f"sizes on {columns} columns", screen)
    parts = sizes[1].split(", ") if sizes else []
    check(abs(sum(int(part.split()[-2]) for part in parts) - 100) <= 3, f"sizes on {columns} columns do not add up", screen)
for columns in range(40, 81):  # a number and its unit are never on two lines
    low = on_terminal(24, columns, "--fold=none", many)
    check(not re.search(r"\d\n(%|[KMG]?B)(?![A-Za-z])", low), f"{columns} columns: a unit alone", low)
even = on_terminal(24, 80, "--fold=none", made("even.raw", [((f"f{i}",), 1, 60 << 20) for i in range(300)]))
check(re.match(r"[^:]*: 17\.6 GB in 300 objects.* The\sbiggest\sfunction\sis\sf0,\s60\.0\sMB\s\(under\s1\s%\)\.\n", even, re.S),
      "a part that is too small for the unit and the percent of the whole", even)
thick = made("thick.raw", [((f"f{i}",), 1, 1 << i) for i in range(4, 12)])
screen = on_terminal(30, 80, "--fold=none", thick)
check("biggest path" not in screen and "\nobject sizes   2 KB 50 %, 1 KB 25 %, 512 bytes 13 %, others 12 %: --sizes\n" in screen,
      "one function alone is no path", screen)
for lines in range(6, 24):
    low = on_terminal(lines, 80, dump)
    check(len(rows_of(low)) >= 5 and (len(rows_of(low)) > 5 or "Next:" not in low), f"{lines} lines: the next command takes rows", low)
bundle = os.path.join(root, "samples/cases/real/redmine-steady.jprof")
for lines in range(14, 30):  # what is outside gives way to the next command
    low = on_terminal(lines, 80, bundle)
    room = lines - 2 - taken - low.splitlines().index("")
    check(("\nNext:  jprof explain " in low) == (room >= 13), f"{lines} lines, {room} of room: the next command", low)
    check(room < 13 or len(low.splitlines()) + taken <= lines - 2, f"{lines} lines of a bundle", low)
for words in (("--base=" + paths, thick), ("--thread=*", dump), (paths, thick)):
    check("Next:" not in on_terminal(40, 80, *words), f"{words}: a next command")
check("biggest path" not in on_terminal(40, 80, "--base=ruby31.0.heap", dump), "a difference has no path")

# A stack goes by its innermost function, with its callers on lines below; what says more of a suspect is whole.
grown = ["diff", "--by=stack", "--sysroot=" + os.path.join(root, "samples/cases/sysroot")] + \
        [os.path.join(root, f"samples/cases/ruby31/cext.{i}.heap") for i in (0, 1)]
for columns in (80, 100, 200):
    screen = on_terminal(30, columns, *grown)
    check(not too_wide(screen, columns), f"--by=stack on {columns} columns", screen)
    check(re.search(r"^1  GROWING .*  row_new$", screen, re.M), "a suspect's stack", screen)
    check(re.search(r"  growing +row_new\n +< tokenize\S* < parse_row < ", screen), "a row's stack", screen)
    check(re.search(r"parse_row >\s+tokenize\S*$", screen, re.M), "the innermost callers are left out", screen)

# The next command is one that works: an earlier dump of the series, or where all memory is.
for early, late in (("app.2.heap", "app.10.heap"), ("app.7.12.3.i3.heap", "app.7.12.20.f.heap"), ("a b.1.heap", "a b.2.heap")):
    for name in (early, late, "app.11.heap", "app.7.13.1.i1.heap", "app.9.heap.ruby"):
        made(name, PATHS if name != late else [*PATHS, (("later",), 1, 64)])
    command = re.search(r"^Next:  (.*?)(?:  \(.*\))?$", on_terminal(40, 200, os.path.join(folder.name, late)), re.M)
    check(command and early in command[1] and late in command[1], f"{late}: the next command", command and command[1])
    ran = subprocess.run(["sh", "-c", command[1].replace("jprof", jprof, 1)], capture_output=True, env=environment()) if command else None
    check(ran and ran.returncode == 0, f"{late}: the next command does not work", ran and ran.stderr.decode())
bundle = os.path.join(root, "samples/cases/real/redmine-boot.jprof")
nowhere = "--sysroot=" + folder.name
check(f"\nNext:  jprof explain {nowhere} {bundle}  (" in on_terminal(40, 200, nowhere, bundle), "of a snapshot all memory")

# A program goes by the name it was started with, as the side-car has it: of a file with several names, not of a version.
for file, started, name in (("redis-check-rdb", "redis-server", "redis-server"), ("ruby3.1", "ruby", "ruby3.1"),
                            ("busybox", "-sh\x1b[2J", r"-sh\x1b[2J"), ("prog", None, "prog"), ("prog", "/opt/x", "prog")):
    path = write("started.heap", "heap_v2/1\n  t*: 1: 20000 [0: 0]\n@ 0x1001 0x2001\n  t*: 1: 20000 [0: 0]\n"
                 f"\nMAPPED_LIBRARIES:\n00001000-00100000 r-xp 00000000 08:01 1 /usr/bin/{file}\n")
    write("started.heap.json", json.dumps({"jprof_agent": 1, "dump": "started.heap", "pid": 7, "start_ticks": 8, "boot_id": "x",
                                           **({"program": started} if started else {})}))
    screen = on_terminal(24, 80, nowhere, path)
    check(screen.startswith(name + ": 19.5 KB"), f"{file}, started as {started}", screen)

# A column on request, from bytes and objects of the same rows.
both = [{row["name"]: row for row in json.loads(on_pipe("--json", counter, dump))["rows"]} for counter in ("--inuse_space", "--inuse_objects")]
screen = on_terminal(50, 200, "--mean-size", dump)
check(re.search(r"  cum%   mean  allocated at", screen), "no column of means", screen)
for name, row in both[0].items():
    count = both[1].get(name, {"flat": 0})["flat"]
    check(abs(row["mean_size"] * count / row["flat"] - 1) < 1e-3 if count else row["mean_size"] is None, f"{name}: {row['mean_size']}")
check(re.search(rf" {both[0]['owners.rb:6 Leak#keep']['mean_size'] / 1024:.1f}KB  owners\.rb:6 Leak#keep$", screen, re.M), "the mean of a row", screen)
check([line.split()[5] for line in on_pipe("--mean-size", "--show_bytes", dump).splitlines()[1:2]] ==
      [f"{both[0]['owners.rb:6 Leak#keep']['mean_size']:.0f}"], "means on a pipe", on_pipe("--mean-size", dump))

# ---- differences and errors ----
base = "--base=ruby31.0.heap"
plain = on_terminal(24, 80, base, dump)
check(re.match(r"ruby3\.1: the heap grew from 4644 KB to 8363 KB: \+3719 KB \(\+-\d+\); shares are of\nthe 4643 KB that grew or shrank\n",
               plain), "the head of a difference", plain)
check(re.search(r"^ \+3250\.3  70\.0%  70\.0%  \+3250\.3  70\.0%  owners\.rb:6 Leak#keep$", plain, re.M), "growth has its sign", plain)
rows_as_json = json.loads(on_pipe("--json", base, dump))["rows"]
for columns in (60, 80, 99):
    short = on_terminal(24, columns, "--errors", base, dump)
    check(all(width(line) <= columns for line in short.splitlines() if not line.startswith("jprof: ")), f"errors, {columns}: too long", short)
    check(" +-95%" in short and " n=" not in short, f"errors, {columns}: no short form", short)
    check(re.search(r"\(within error\)$", short, re.M), f"errors, {columns}: no word for what may be chance", short)
    for row in rows_as_json[:5]:
        half = (row["flat_range"]["high"] - row["flat_range"]["low"]) / 2048
        line = next((x for x in short.splitlines() if x.startswith(f"{row['flat'] / 1024:+8.1f} ".rjust(9))), "")
        check(line and line.split()[1] == f"{half:.0f}", f"errors, {columns}: half of the interval is {half}", line or short)
signed = on_terminal(24, 80, "--errors", base, dump, LC_ALL="C.UTF-8")
heads_of = lambda text: next(line for line in text.splitlines() if "95%" in line)
check(heads_of(signed) == heads_of(on_terminal(24, 80, "--errors", base, dump)).replace("+-95%", " \u00b195%"), "errors have no sign of their own in UTF-8", signed)
full = on_terminal(50, 200, "--errors", base, dump)
check(" n=" in full and "+-95%" not in full and not too_wide(full, 200), "errors in full at 200 columns", full)
check(len(on_terminal(24, 80, "--errors", base, dump).splitlines()) + taken <= 22 and taken, "lines of messages are not counted")

# ---- colour says nothing that words do not ----
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
coloured = on_terminal(24, 80, base, dump, TERM="xterm-256color")
check(coloured != plain and ESCAPES.sub("", coloured) == plain, "colours change words", coloured)
check("\x1b[31m +3250.3" in coloured, "growth is not red", coloured)
for arguments, env in ((("--color=never",), {}), ((), {"NO_COLOR": "1"})):
    check(on_terminal(24, 80, *arguments, base, dump, **{"TERM": "xterm", **env}) == plain, f"{arguments} {env}: colours")
check("\x1b" in on_terminal(24, 80, "--color=always", base, dump, NO_COLOR="1"), "--color=always: none")
check("\x1b" not in on_pipe(base, dump, TERM="xterm"), "colours on a pipe")
always = on_pipe("--color=always", base, dump)
check("\x1b" in always and ESCAPES.sub("", always) == on_pipe(base, dump), "--color=always on a pipe changes words", always)

# ---- called as jeprof nothing of it is there ----
link = os.path.join(folder.name, "jeprof")
os.symlink(jprof, link)
heap = [nowhere, "--lib_prefix=" + os.path.join(heaps, "sysroot"), os.path.join(heaps, "jemalloc-5.3.0.heap")]
check(ESCAPES.sub("", on_terminal(10, 40, *heap, program=link, TERM="xterm")) == on_pipe(*heap, program=link),
      "as jeprof a terminal gets something else than a pipe", on_terminal(10, 40, *heap, program=link))

# ---- what lacks a name: one line, at the end, and only where it is more than a fifth of what is shown ----


def half_named(nameless):
    """A dump of 100,000 bytes, so many of them in a function without a name."""
    return write(f"nameless.{nameless}", "--- symbol\nbinary=/x/prog\n0x1001 named\n---\n--- heap\nheap_v2/1\n  t*: 2: 100000 [0: 0]\n"
                 f"@ 0x1001 0x2001\n  t*: 1: {100000 - nameless} [0: 0]\n@ 0x1011 0x3001\n  t*: 1: {nameless} [0: 0]\n{MAPS}")


def said(*arguments):
    return subprocess.run([jprof, "--fold=none", *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          check=True, env=environment()).stderr.decode()


for nameless, told in ((19000, False), (20000, False), (21000, True), (90000, True)):
    few = half_named(nameless)
    screen = on_terminal(24, 80, few)
    end = " ".join(screen.split(" Total\n")[1].split("\nNext:")[0].split("\nobject sizes ")[-1].split("\n", 1)[1].split())
    names = re.fullmatch(r"([0-9]+) % of the bytes shown have no function's name; .*: jprof info " + re.escape(few), end)
    check(bool(names) == told and screen.count("no function's name") == told, f"{nameless} of 100000: the line", screen)
    check(not told or names and names[1] == str(round(nameless / 1000)), f"{nameless}: the share", screen)
    check(said(few).count("no function's name") == told and said("--tree", few).count("no function's name") == told, f"{nameless}: on a pipe", said(few))
    check("no function's name" not in said("--libs", few), "--libs needs no names")
# Named rows alone are shown.
check("no function's name" not in said("--top=1", half_named(30000)), "--top=1 shows no nameless row")
check("no function's name" in said("--top=1", half_named(70000)), "--top=1 shows nothing else")

# ---- what is no table: rows of doctor and the advice of info are wrapped under themselves, and are one line each on a pipe ----


def unwrapped(text):
    """The rows of doctor, and what helps, each on one line."""
    rows = []
    for line in text.splitlines():
        if rows and re.match(" {22}(   |(?!-> ))[^ ]", line):
            rows[-1] += " " + line.strip()
        else:
            rows.append(line)
    return rows


sick = ("doctor", "--", "env", "MALLOC_CONF=prof:true,lg_prof_sample:10,prof_gdump:true", "/bin/sh", "-c", "sleep 1")
on_one_line = subprocess.run([jprof, *sick], stdin=subprocess.DEVNULL, capture_output=True, env=environment()).stdout.decode()
check(max(map(width, on_one_line.splitlines())) > 100, "doctor has no long row", on_one_line)
for columns in (60, 80, 120):
    screen = on_terminal(24, columns, *sick, ends=1)
    check(not [line for line in too_wide(screen, columns) if " " in line[25:]], f"doctor on {columns} columns", screen)
    check([" ".join(row.split()) for row in unwrapped(screen)] == [" ".join(row.split()) for row in on_one_line.splitlines()],
          f"doctor says something else on {columns} columns", screen)
lost = on_terminal(24, 80, "info", "--all", "--sysroot=" + folder.name, os.path.join(heaps, "jemalloc-5.3.0.heap"))
check(not [line for line in lost.split("what would name the rest")[-1].splitlines() if width(line) > 80], "the advice of info --all", lost)
check(not re.search("which file named.{60}", lost), "the head of info --all", lost)

# ---- a dump has one number of samples, whoever shows it: the head, info, the list of a bundle's members, --errors, JSON ----
for path in (os.path.join(heaps, "jemalloc-5.3.0.heap"), os.path.join(heaps, "jemalloc-4.5.0.heap"), os.path.join(tables, dump),
             os.path.join(root, "samples/cases/ruby31/cext.1.heap"), bundle):
    samples = json.loads(on_pipe("--json", nowhere, path))["total_range"]["samples"]
    texts = {"info": on_pipe("info", nowhere, path), "the head": on_terminal(40, 120, nowhere, path),
             "--errors": on_pipe("--errors", nowhere, path)}
    if path.endswith(".heap"):
        packed = os.path.join(folder.name, os.path.basename(path) + ".jprof")
        subprocess.run([jprof, "bundle", nowhere, "--symbols=later", "-o", packed, path], check=True, capture_output=True, env=environment())
        texts["members"] = on_pipe("info", nowhere, packed)
    shown = {where: re.search(pattern, texts[where]) for where, pattern in
             (("info", r"in use .*estimated from (\d+) sample"), ("the head", r"from ([\d,]+) sample"), ("--errors", r"Total: .* n=(\d+)"),
              ("members", r"members +\d+\n.*\n +\S+ +\S+ +(\d+) ")) if where in texts}
    counts = {where: found and int(found[1].replace(",", "")) for where, found in shown.items()}
    check(set(counts.values()) == {samples} and samples > 50, f"{path}: {samples} samples in JSON, else {counts}")

# ---- whose memory it is, how much, and how much of it malloc gave; what is to be known of the files comes last ----
worker = os.path.join(root, "samples/cases/puma/w0.4.jprof")
screen = on_tty([jprof, "--sysroot=" + os.path.join(root, "samples/cases/sysroot"), worker], 24, 80, env=environment())[1]
screen = re.sub(rb"\r\x1b\[K(jprof: [^\r]* s)?", b"", screen).decode().replace("\r\n", "\n")
told = json.loads(on_pipe("explain", "--json", nowhere, worker))["total"] / 2**20
head = " ".join(screen.split("\n\n")[0].split())
check(re.match(rf"ruby3\.1: {told:.0f} MB, 76\.9 MB \(\+-[0-9.]+\) of it in malloc, in 525,326 objects, from 581 samples", head), "the head of a process", screen)
check("jprof: nothing proves" in screen.split(" Total\n")[1] and "jprof: nothing proves" not in screen.split(" Total\n")[0], "a remark before the answer", screen)
check(len(screen.splitlines()) <= 22, "the remark is not counted", screen)

# ---- explain, diff and check: the answer, its line and the next command are on the screen at the end; a pipe gets all ----
cases = "../cases" # from where these run
pair = [os.path.join(cases, "real/redmine-boot.jprof"), os.path.join(cases, "real/redmine-steady.jprof")]
cext = [os.path.join(cases, "ruby31/cext.0.heap"), os.path.join(cases, "ruby31/cext.1.heap")]
series = [os.path.join(cases, f"puma/w0.{i}.jprof") for i in (1, 2, 3, 4)]
sysroot = "--sysroot=" + os.path.join(cases, "sysroot")
for lines, columns in ((24, 80), (24, 50), (40, 120)):
    for command, ends, must in (
            (["explain", sysroot, *pair], 0, r"freed, kept by\s+jemalloc \+57\.0 MB[\s\S]*^ +268\.4 .*RSS$[\s\S]*^Next:  jprof diff "),
            (["explain", sysroot, series[3]], 0, r"130\.1 MB[\s\S]*^Next:  jprof --sysroot="),
            (["diff", sysroot, "--assume-gc", *cext], 0, r"GROWING  \+19\.3 MB[\s\S]*row_new[\s\S]*^Next:  jprof diff --html -o growth\.html "),
            (["diff", sysroot, "--assume-gc", *series], 0, r"^Next:  jprof (diff --html|explain)"),
            (["check", sysroot, "--assume-gc", "--max-growth=1MB", *cext], 3, r"^FAIL: [\s\S]*^1  \+19\.3 MB[\s\S]*row_new[\s\S]*^Look:     jprof diff --html ")):
        screen = on_terminal(lines, columns, *command, ends=ends)
        long = max((width(line) for line in screen.splitlines() if line.startswith(("Next:", "Look:"))), default=0)
        height = len(screen.splitlines()) + (long - 1) // columns
        size = f"{lines}x{columns}, {command[0]}"
        narrow = columns < 80 and command[0] != "explain"
        check(height + taken <= lines - 2 or narrow, f"{size}: {height} lines and {taken} of messages", screen)
        check(not [line for line in too_wide(screen, columns) if not line.startswith("Look:")], f"{size}: a line is too long", screen)
        check(re.search(must, screen, re.M) or narrow, f"{size}: the answer is not on the screen", screen)
short, whole = on_terminal(24, 80, "explain", sysroot, *pair), on_terminal(24, 80, "explain", "--top=0", sysroot, *pair)
check("... more: --top=0" in short and "What would help" not in short and "... more" not in whole, "what gives way", short)
check(whole == on_pipe("explain", sysroot, *pair), "--top=0 is not what a pipe gets", whole)

# ---- a dump whose libruby is not here says so at once; addresses are nobody's callers ----
strings = ["../cases/ruby31/string.0.heap", "../cases/ruby31/string.1.heap"]
screen = " ".join(on_terminal(24, 80, nowhere, strings[1]).split())
check("no function's name, for libruby-3.1.so.3.1.2 of the dump is not here: give --sysroot=DIR" in screen, "an absent libruby", screen)
for base in (strings, cext):
    screen = on_terminal(24, 80, "diff", nowhere if base == strings else sysroot, "--assume-gc", *base)
    check(not re.search("^   from .*0x", screen, re.M), "a chain of addresses", screen)
check(re.search(r"^   from     parse_row > tokenize\.isra\.0$", screen, re.M), "the callers that have names", screen)

# ---- where the locale is UTF-8 a terminal has the sign for +-, in the same columns ----
plain = on_terminal(24, 80, "diff", sysroot, "--assume-gc", *cext)
signs = on_terminal(24, 80, "diff", sysroot, "--assume-gc", *cext, LC_ALL="C.UTF-8")
check(plain != signs and "(\u00b10.5)" in signs and plain.replace("(+-", "(\u00b1").replace("  +-95%", "   \u00b195%") == signs, "the sign", signs)
check("\u00b1" not in on_pipe("diff", sysroot, "--assume-gc", *cext, LC_ALL="C.UTF-8"), "the sign on a pipe")

# ---- each thread of several has its part of the height ----
threads = on_terminal(60, 80, "--thread=*", dump)
many = write("many.heap", f"heap_v2/1\n  t*: 300: 30000 [0: 0]\n" + "".join(
    f"@ 0x{0x1001 + 16 * i:x} 0x{0x8001 + 16 * i:x}\n  t*: 1: 100 [0: 0]\n" for i in range(300)) + MAPS)
for lines, columns in ((24, 80), (50, 200), (10, 80)):
    screen = on_terminal(lines, columns, "--fold=none", many)
    check(len(screen.splitlines()) == max(lines - 2, 13) and f"... {600 - len(rows_of(screen))} more: --top=0\n" in screen,
          f"{lines}x{columns}: {len(screen.splitlines())} lines", screen)
check(len(threads.splitlines()) <= 58 and threads.count("Total (") == 2 and len(rows_of(threads)) > 20, "threads", threads)

print(f"{checks} checks, {failures} failed")
sys.exit(failures > 0)
