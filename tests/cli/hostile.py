"""Names, titles and messages that would steer a terminal, through every report: hostile.sh calls this with the program.

What Unicode calls a control, format or separator character comes from Python's tables; the profiles are written here,
field by field, as profile.proto, heap dump and bundle."""
import csv
import json
import os
import re
import subprocess
import sys
import tarfile
import io
import unicodedata

from on_tty import on_tty

JPROF = sys.argv[1]
BAD_CATEGORIES = ("Cc", "Cf", "Zl", "Zp", "Cs")
BAD = [chr(c) for c in range(1, 0x110000) if unicodedata.category(chr(c)) in BAD_CATEGORIES and not 0xD800 <= c < 0xE000]
OVERRIDE = "\u202e"  # the one that programs have to get
failures = checks = started = 0


def check(good, what):
    global failures, checks
    checks += 1
    if not good:
        failures += 1
        print("FAIL:", what)


# ---- what is put in ----

def names():
    """Names of bytes: every bad character once, some in each name, and bytes that are no UTF-8."""
    for i in range(0, len(BAD), 24):
        yield b"n%d_" % i + "".join(c for c in BAD[i:i + 24] if c != "\n").encode() + b"_end"
    yield b"bytes_\xff\x9b31m\xc2_\xc0\x80_\xed\xa0\x80_\xf5\x80\x80\x80_\xe2\x80"
    yield ("too_long" + "\u00e9\u6f22\U0001f600" * 20).encode()  # wherever it is cut
    yield "kept_caf\u00e9_\u6f22\u5b57_\U0001f600".encode()


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def proto(times=1):
    """Each name is a function, its file, the object's path, the thread's label and a comment."""
    strings, out = [b""], b""

    def text(s):
        if s not in strings:
            strings.append(s)
        return strings.index(s)

    for kind, unit in ((b"inuse_objects", b"count"), (b"inuse_space", b"bytes")):
        out += field(1, field(1, text(kind)) + field(2, text(unit)))
    for i, name in enumerate(names(), 1):
        label = field(1, text(b"thread")) + field(2, text(b"t%d " % i + name))
        out += field(2, field(1, i) + field(1, 1) + field(2, varint(1) + varint(4096 * i * times)) + field(3, label))
        out += field(3, field(1, i) + field(2, i << 20) + field(3, (i << 20) + 4096) + field(5, text(b"/lib/" + name)) +
                     field(7, 1) + field(8, 1) + field(9, 1))
        out += field(4, field(1, i) + field(2, i) + field(3, (i << 20) + 16) + field(4, field(1, i) + field(2, i)))
        out += field(5, field(1, i) + field(2, text(name)) + field(3, text(name)) + field(4, text(b"/src/" + name)))
        out += field(13, text(name))
    for s in strings:
        out += field(6, s)
    return out


def heap(times=1):
    """Each name is a path in the maps, and a thread's."""
    stacks, maps, threads = b"", b"", b""
    for i, name in enumerate(names(), 1):
        stacks += b"@ 0x%x 0x%x\n  t*: %d: %d [0: 0]\n  t%d: 1: 4096 [0: 0]\n" % (i << 24, (i << 24) + 256, times,
                                                                             4096 * times, i)
        maps += b"%08x-%08x r-xp 00000000 08:01 %d    /lib/%s.so\n" % (i << 24, (i << 24) + 4096, i, name)
        threads += b"  t%d: 1: 4096 [0: 0] %s\n" % (i, name)
    n = len(list(names()))
    return b"heap_v2/1024\n  t*: %d: %d [0: 0]\n%s%s\nMAPPED_LIBRARIES:\n%s" % (n * times, 4096 * n * times, threads, stacks, maps)


def symbolized(times=1):
    """Stacks of two, whose innermost function is as long as a line may be, and takes one column; its caller fills a line."""
    symbols = stacks = b""
    for i in range(1, 33):
        name = ("a" + "\u0300" * 1012).encode() + b"x" * i
        caller = b"f" * (i % 3) + ("\u6f22" * 90).encode()
        symbols += b"0x%x %s\n0x%x %s\n" % (i << 16, name, (i << 16) + 15, caller)
        stacks += b"@ 0x%x 0x%x\n  t*: %d: %d [0: 0]\n" % (i << 16, (i << 16) + 16, times, 40960 * times)
    return b"--- symbol\nbinary=/bin/x\n%s---\n--- heap\nheap_v2/1024\n  t*: %d: %d [0: 0]\n%s" % (
        symbols, 32 * times, 32 * 40960 * times, stacks)


def bundle_of(dump):
    """A bundle with one member whose words are all hostile."""
    name = "x" + "".join(c for c in BAD if c != "\x00")
    text = json.dumps({"jprof_bundle": 1, "tool": name, "label": name, "created": 1, "time": 1, "members": [
        {"name": "1", "pid": 1, "role": name, "title": name, "program": name, "label": name, "cmdline": [name],
         "notes": [name], "errors": [name]}]})
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for path, data in (("bundle.json", text.encode()), ("1/dump.heap", dump)):
            info = tarfile.TarInfo(path)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def write_tables():
    """Dumps with an agent's table, whose texts of Ruby are bad; bytes below 0x20 are %XX there."""
    tables = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples", "tables")
    if not os.path.isdir(tables):
        return False
    bad = [re.sub(rb"[\x00-\x1f\x7f%]", lambda m: b"%%%02X" % m[0][0], name) for name in names()]
    for i in 0, 1:
        with open(os.path.join(tables, f"ruby33.{i}.heap"), "rb") as dump, open(f"agent{i}.heap", "wb") as copy:
            copy.write(dump.read())
        with open(os.path.join(tables, f"ruby33.{i}.heap.ruby"), "rb") as table, open(f"agent{i}.heap.ruby", "wb") as copy:
            for n, line in enumerate(table):
                copy.write(line[:-1] + bad[n % len(bad)] + b"\n" if line.startswith(b"s ") else line)
    return True


def write_counted(path, times):
    """A dump whose agent counted Ruby's objects, of types and classes with hostile names."""
    with open(path, "wb") as f:
        f.write(heap(times))
    name = "T" + "".join(c for c in BAD if c not in "\x00\n")
    counted = [{"name": name, "count": 100000 * times, "slots": 100000 * times}]
    stat = {"heap_allocated_pages": 1000 * times, "heap_live_slots": 900000 * times, "heap_free_slots": 100,
            "heap_available_slots": 1000000 * times, "count": 5}
    ruby = {"version": "3.3.8", "gc": "done", "gc_stat": stat,
            "objects": {"complete": True, "slots": 1, "types": counted, "classes": counted}}
    with open(path + ".json", "w") as f:
        json.dump({"jprof_agent": 1, "dump": path, "pid": 5, "start_ticks": 5, "boot_id": "b", "program": "/usr/bin/ruby",
                   "time": 1600 + times, "ruby": ruby}, f)


# ---- what comes out ----

def faults(data, allowed=""):
    """The characters of a text for people that should not be there."""
    try:
        text = data.decode()
    except UnicodeDecodeError as e:
        return "no UTF-8: " + repr(data[max(0, e.start - 20):e.start + 20])
    bad = {c for c in text if unicodedata.category(c) in BAD_CATEGORIES and c not in "\n" + allowed}
    return "U+%04X ..." % ord(min(bad)) if bad else ""


def program():
    """The one with the sanitizers for each third command, for all with JPROF_SWEEP=whole; else the plain one."""
    global started
    started += 1
    whole = os.environ.get("JPROF_SWEEP") == "whole"
    return JPROF if whole or started % 3 == 0 else os.environ.get("JPROF_PLAIN", JPROF)


def run(*args, stdin=b""):
    p = subprocess.run([program(), *args], input=stdin, capture_output=True, timeout=60)
    check(p.returncode in (0, 1), f"{args}: status {p.returncode}: {p.stderr[-300:]}")
    check(not faults(p.stderr), f"{args}: standard error: {faults(p.stderr)}")
    return p.stdout


def for_people(*args, stdin=b"", rows=0, allowed=""):
    out = run(*args, stdin=stdin)
    check(not faults(out, allowed), f"{args}: {faults(out, allowed)}")
    check(out.count(b"\\x") >= rows, f"{args}: has only {out.count(bytes([92]) + b'x')} bytes as \\xNN")


def on_terminal(*args):
    """As on one of 80 columns, whose colours alone are the program's own escapes."""
    status, out = on_tty([program(), *args], 24, 80, env=dict(os.environ, TERM="xterm", LC_ALL="C.UTF-8"))
    check(status in (0, 1, 3), f"{args}: on a terminal: status {status}: {out[-300:]}")
    out = re.sub(rb"\r\x1b\[K(jprof: [^\r]* s)?", rb"\1", out)  # on a slow machine: what is under way
    out = re.sub(rb"\x1b\[[0-9;]*m", b"", out)
    check(not faults(out, "\r"), f"{args}: on a terminal: {faults(out, chr(13))}")


def for_programs(*args, kept=True):
    out = run(*args)
    if "--raw" in args:  # what follows is the dump itself
        out = out.split(b"--- heap\n")[0]
    try:
        text = out.decode()
        check(OVERRIDE in text or json.dumps(OVERRIDE)[1:-1] in text or not kept, f"{args}: U+202E is not kept")
        check("\ufffd" in text or not kept, f"{args}: no U+FFFD")
    except UnicodeDecodeError as e:
        check(False, f"{args}: {e}")


def csv_names(*args):
    return {row["name"] for row in csv.DictReader(io.StringIO(run(*args).decode(errors="replace"), newline=""))}


def formats():
    """What `jprof --help` lists: each has to be in one of the lists below."""
    words = re.findall(r"^  --([a-z-]+)", run("--help").decode(), re.M)
    return words[:words.index("output")] if "output" in words else words


PEOPLE = {"text", "tree", "sizes", "traces", "peek", "list", "disasm", "dot", "svg", "flame"}
PROGRAMS = {"collapsed", "raw", "callgrind", "csv", "json", "speedscope", "dhat"}
OTHERS = {"proto", "interactive", "symbols", "pdf", "png", "gif", "ps", "web",  # below, or no text
          "html"}  # tests/browser/page.py


def proto_strings(data):
    """All strings of a profile.proto: field 6 of the message."""
    import gzip
    data, at, found = gzip.decompress(data), 0, []

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key, value = number(), number()
        if key & 7 == 2:
            if key >> 3 == 6:
                found.append(data[at:at + value])
            at += value
    return found


def main():
    for path, data in (("p.pb", proto()), ("d.heap", heap()), ("b.jprof", bundle_of(heap())), ("later-p.pb", proto(900)),
                       ("later-d.heap", heap(900)), ("later-b.jprof", bundle_of(heap(900))),
                       ("long", symbolized()), ("later-long", symbolized(900))):
        with open(path, "wb") as f:
            f.write(data)
    has_tables = write_tables()
    listed = set(formats())
    check(listed == PEOPLE | PROGRAMS | OTHERS, f"formats that are in no list here: {listed ^ (PEOPLE | PROGRAMS | OTHERS)}")
    for source in "p.pb", "d.heap", "b.jprof":
        for word in sorted(PEOPLE):
            option = f"--{word}=." if word in ("peek", "list", "disasm") else f"--{word}"
            if word == "svg" and b"not in this build" in run("--svg", "-o", "/dev/null", source):
                continue
            for_people(option, "--nodecount=1000", "--nodefraction=0", source,
                       rows=0 if word in ("svg", "flame", "dot", "disasm", "list", "sizes") else 100,
                       allowed="\t" if word == "dot" else "")
        for word in "--lines", "--files", "--addresses", "--libs", "--thread=*", "--errors", "--full-names":
            for_people(word, source, rows=30)
        for_people("info", source, rows=100)
        for word in sorted(PROGRAMS):
            for_programs(f"--{word}", source, kept=word not in ("raw",) or source == "p.pb")
        for_people("--interactive", source, stdin=b"top1000\npeek .\ntree\ntraces\nlist .\nfocus n24_\ntext\noptions\n")
        two = ["later-" + source if i else source for i in range(2)]
        for words in (["diff"], ["diff", "--lines"], ["diff", "--markdown"], ["check"], ["check", "--github"]):
            for_people(*words, "--top=0", *two, rows=0 if "check" in words else 20)
            on_terminal(*words, "--top=0", *two)
        for_people("explain", source)
        for words in ["explain"], ["--text"], ["--text", "--lines"], ["--tree"], ["--peek=."], ["--traces"], ["--libs"], ["info"]:
            on_terminal(*words, source)
        for_programs("diff", "--json", *two, kept=source != "b.jprof")
        for_programs("diff", "--csv", *two, kept=source != "b.jprof")
    for words in (["--text"], ["--text", "--lines"], ["--tree"], ["--traces"], ["--peek=."], ["--ages"], ["info", "--all"], ["explain"],
                  ["diff", "--top=0"], ["check", "--max-growth=1KB"]) if has_tables else ():
        two = ["agent0.heap", "agent1.heap"]
        both = words[0] in ("diff", "check")
        shows = words[0] not in ("info", "explain", "check")
        for_people(*words, *two[:1 + both], rows=10 if shows else 0)
        on_terminal(*words, *two[:1 + both])
    check(csv_names("diff", "--csv", "p.pb", "later-p.pb") == csv_names("--csv", "--base=p.pb", "later-p.pb"),
          "the CSV of diff has other names than that of a report")
    write_counted("o1.heap", 1)
    write_counted("o2.heap", 90)
    check(b"  T" in run("diff", "--top=0", "o1.heap", "o2.heap"), "diff: the types of objects are not shown")
    for_people("diff", "--top=0", "o1.heap", "o2.heap")
    for_people("explain", "o1.heap", "o2.heap")
    on_terminal("diff", "--top=0", "o1.heap", "o2.heap")
    on_terminal("explain", "o1.heap", "o2.heap")
    on_terminal("diff", "--by=stack", "--top=0", "long", "later-long")
    for_programs("info", "--json", "p.pb")
    run("--proto", "-o", "out.pb.gz", "p.pb")
    for s in proto_strings(open("out.pb.gz", "rb").read()):
        check(s.decode(errors="replace").encode() == s, f"--proto: no UTF-8: {s!r}")
    os.mkdir("src")
    with open("src/" + list(names())[-1].decode(), "wb") as f:
        f.write(b"".join(n + b"\n" for n in names()))
    for_people("--list=kept", "--source-path=src", "p.pb", rows=8, allowed="\t")
    # Messages: a name of a file that is not there, an option, a dump that is none, a regex.
    for name in names():
        name = name.replace(b"/", b"")
        for_people(b"no/" + name, "p.pb")
        for_people(b"--" + name)
        for_people(b"--focus=(" + name, "p.pb")
        with open(b"bad_" + name, "wb") as f:
            f.write(b"heap_v2/1024\n  t*: 1: " + name)
        for_people(b"bad_" + name)
        for_people("info", b"bad_" + name)
        for_people("doctor", b"bad_" + name)
        for_people("bundle", "-o", b"dir/" + name, "p.pb")
        for_people("--proto", "-o", b"dir/" + name, "p.pb")
        for_people("snap", "-o", b"dir/" + name, "1")
        for_people("run", name)
    print(f"{checks} checks, {failures} failed")
    return 1 if failures or not checks else 0


sys.exit(main())
