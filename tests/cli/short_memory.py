#!/usr/bin/env python3
"""Memory that is short, for the whole process: of all that a command allocates, its libraries and children too, one
allocation fails, another one in each run. A command ends by no signal; it says what it says with all memory, or why it
does not; it leaves no file where it fails. In the gate a few of each command's allocations fail, spread over all of them
and always the same ones, the last two of them, too, and each of those that a library of FROM asks for; with JPROF_SWEEP=whole 200 of them, with a number
so many.
usage: short_memory.py JPROF FAILNTH.so SOURCE_ROOT [COMMAND...]"""
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

import graph

jprof, failnth, root = (os.path.abspath(path) for path in sys.argv[1:4])
sweep = os.environ.get("JPROF_SWEEP", "")
runs = 200 if sweep == "whole" else int(sweep or 2)
heaps, cases = f"{root}/samples/heaps", f"{root}/samples/cases"

DUMP = [f"--sysroot={heaps}/sysroot", f"{heaps}/maps.heap"]
CASES = f"--sysroot={cases}/sysroot"
RUBY = [CASES, f"{cases}/ruby31/nokogiri.1.heap"]
PUMA = [f"{cases}/puma/w0.{i}.jprof" for i in range(1, 6)]
EARLY, LATE = (f"{cases}/ruby33/slots.{i}.jprof" for i in (0, 1))
CPP = [CASES, f"{cases}/ruby31/cext.1.heap"]
BASELINE = ('{"jprof_baseline": 1, "accepted": [{"library": "a", "file": "b\\u00e9", "method": "c", "bytes": 5, '
            '"comment": "d"}]}\n')
HEAP = """{"type":"ROOT", "root":"vm", "references":["0x1000", "0x2000"]}
{"address":"0x1000", "type":"CLASS", "class":"0x1000", "name":"Shop", "references":["0x2000"], "memsize":1000}
{"address":"0x2000", "type":"HASH", "class":"0x1000", "size":2, "references":["0x3000"], "file":"shop.rb", "line":7, "memsize":500}
{"address":"0x3000", "type":"STRING", "class":"0x1000", "bytesize":3, "value":"abc", "file":"shop.rb", "line":9, "memsize":5000}
"""
COMMANDS = {
    "text": ["--text", "--lines", *DUMP],
    "libs": ["--libs", "--errors", *RUBY],
    "sites": ["--sites", CASES, PUMA[2]],
    "groups": ["--by=group", *RUBY],
    "change": ["--diff_base=" + RUBY[1].replace(".1.", ".0."), *RUBY],
    "focus": ["--focus=row", "--ignore=none", *CPP],
    "addresses": ["--addresses", *CPP],
    "threads": ["--thread=*", f"--sysroot={heaps}/sysroot", f"{heaps}/hand-4.heap"],
    "collapsed": ["--collapsed", *DUMP],
    "raw": ["--raw", *DUMP],
    "proto": ["--proto", "-o", "out", *DUMP],
    "tree": ["--tree", *RUBY],
    "peek": ["--peek=row", *CPP],
    "traces": ["--traces", *CPP],
    "sizes": ["--sizes", *CPP],
    "disasm": ["--disasm=row", *CPP],
    "disasm-decoder": ["--disasm=row", *CPP],
    "list": ["--list=row", f"--source-path={heaps}/src", *CPP],
    "flame": ["--flame", "-o", "out", *DUMP],
    "html": ["--html", "-o", "out", *DUMP],
    "callgrind": ["--callgrind", "-o", "out", *DUMP],
    "csv": ["--csv", *DUMP],
    "json": ["--json", *RUBY],
    "speedscope": ["--speedscope", *DUMP],
    "dhat": ["--dhat", *DUMP],
    "svg": ["--svg", "-o", "out", *DUMP],
    "png": ["--png", "-o", "out", *DUMP],
    "pdf": ["--pdf", "-o", "out", *DUMP],
    "dot": ["--dot", *DUMP],
    "of-bundle": ["--text", CASES, PUMA[4]],
    "interactive": ["--interactive", *DUMP],
    "symbols": ["--symbols", f"--sysroot={heaps}/sysroot", f"{heaps}/maps.heap"],
    "info": ["info", *DUMP],
    "info-json": ["info", "--json", CASES, PUMA[1]],
    "bundle": ["bundle", "-o", "out", *DUMP],
    "diff": ["diff", EARLY, LATE],
    "diff-series": ["diff", *PUMA],
    "diff-json": ["diff", "--json", EARLY, LATE],
    "diff-csv": ["diff", "--csv", *PUMA],
    "diff-html": ["diff", "--html", "-o", "out", *PUMA],
    "explain": ["explain", LATE],
    "explain-two": ["explain", EARLY, LATE],
    "explain-json": ["explain", "--json", LATE],
    "explain-html": ["explain", "--html", "-o", "out", LATE],
    "check": ["check", "--max-growth=1G", EARLY, LATE],
    "check-baseline": ["check", "--max-growth=1G", "--baseline=baseline", *PUMA],
    "check-json": ["check", "--json", "--max-growth=1G", EARLY, LATE],
    "doctor": ["doctor", "--", "/bin/true"],
    "run-env": ["run", "--print-env", "--no-agent", "--dir=/d", "--", "/bin/true"],
    "cache": ["cache"],
    "names": ["names", "learn", "-o", "out", failnth],
    "keepers": ["keepers", "heap.ndjson"],
    "keepers-strings": ["keepers", "--strings=show", "heap.ndjson"],
    "keepers-snapshot": ["keepers", "heap.jprof"],
    "help": ["snap", "--help"],
}
# Commands where those allocations count that are asked for by a library which uses what it did not get.
FROM = {"disasm-decoder": "libcapstone"}
INPUT = b"top\nlist row\nfold none\ntree\nnonsense\n0x401234\nquit\n"
# What tells that there is less than with all memory, and why.
REASONS = ("memory", "Cannot allocate", "annot be", "could not be", "no function's name", "ended (", "crashed (signal",
           "may be missing", "does not answer", "names may be wrong")


def run(name, words, nth):
    """The exit status, what was printed, the files that are there, and how many allocations were asked for."""
    there, count = tempfile.mkdtemp(), tempfile.mktemp(prefix="jprof-count-")
    try:
        with open(f"{there}/baseline", "w", encoding="ascii") as file:
            file.write(BASELINE)
        with open(f"{there}/heap.ndjson", "w", encoding="ascii") as file:
            file.write(HEAP)
        graph.snapshot(f"{there}/heap.jprof", {17: graph.shop(20)})
        env = dict(os.environ, LD_PRELOAD=failnth, FAIL_NTH=str(nth), FAIL_COUNT=count, JPROF_CACHE="", TMPDIR=there,
                   HOME=there, LC_ALL="C.UTF-8")
        if name in FROM:
            env["FAIL_FROM"] = FROM[name]
        got = subprocess.run([jprof, *words], cwd=there, env=env, input=INPUT, capture_output=True, timeout=300, check=False)
        files = {}
        for name in os.listdir(there):
            if os.path.isfile(f"{there}/{name}"):
                with open(f"{there}/{name}", "rb") as file:
                    files[name] = file.read()
        asked = 0
        if os.path.exists(count):
            with open(count, encoding="ascii") as file:
                asked = int(file.read())
            os.unlink(count)
    finally:
        shutil.rmtree(there)
    out, err = (re.sub(r"/tmp/tmp\w+", "THERE", text.decode(errors="replace")) for text in (got.stdout, got.stderr))
    return got.returncode, out, err, files, asked


def notes_in(value):
    if isinstance(value, list):
        return [note for item in value for note in notes_in(item)]
    if not isinstance(value, dict):
        return []
    notes = value.get("notes")
    own = notes if isinstance(notes, list) and all(isinstance(note, str) for note in notes) else []
    return own + [note for item in value.values() for note in notes_in(item)]


def page_notes(files):
    """What a page says of its names and numbers, a line each: it is packed there."""
    page = re.search(rb'id="data">([^<]*)<', files.get("out", b""))
    if not page:
        return ""
    text = zlib.decompress(base64.b64decode(page[1])).decode("latin1")
    return "\n".join(notes_in(json.JSONDecoder().raw_decode(text)[0])) + "\n"


def says_why(now, whole):
    before = set(whole.splitlines())
    return any(reason in line for line in now.splitlines() if line not in before for reason in REASONS)


ENDS = {"svg": b"</svg>", "png": b"IEND", "pdf": b"%%EOF"}


def differs(name, files, whole):
    """A bundle has times in it. What draws may find another font, and says nothing: such a picture is whole."""
    if files.keys() != whole.keys() or name == "bundle":
        return files.keys() != whole.keys()
    if name in ENDS:
        return ENDS[name] not in files.get("out", ENDS[name])[-64:]
    return files != whole


def judge(name, words, counts):
    status, out, err, files, asked = run(name, words, 0)
    if name in FROM and "made without" in err:
        return
    if not asked:
        sys.exit(f"{name}: the allocations were not counted: {err}")
    if status not in (0, 1):
        sys.exit(f"{name}: exit status {status} with all memory: {err}")
    tried = range(1, asked + 1) if name in FROM else sorted({1 + i * asked // runs for i in range(runs)} | {asked - 1, asked})
    for nth in tried:
        now, now_out, now_err, now_files, _ = run(name, words, nth)
        wrong = None
        why = says_why(now_err + now_out + "\n" + page_notes(now_files), err + out + "\n" + page_notes(files))
        if now < 0:
            wrong = f"signal {-now}"
            counts[wrong] = counts.get(wrong, 0) + 1
        elif now == status and (now_out != out or differs(name, now_files, files)) and not why:
            wrong = f"half an answer with status {now}, in silence ({len(now_out)} of {len(out)} bytes)"
            counts["half"] = counts.get("half", 0) + 1
        elif now != status and not why:
            wrong = f"status {now} without a reason"
        if now != status and now_files.keys() - {"baseline", "heap.ndjson", "heap.jprof"}:
            wrong = (wrong or f"status {now}") + f", and files are left: {sorted(now_files)}"
        if wrong:
            counts["wrong"] += 1
            print(f"WRONG {name}, allocation {nth} of {asked}: {wrong}: {now_err.strip()[-160:]}", flush=True)
    counts["runs"] += len(tried)


def main():
    counts = {"runs": 0, "wrong": 0}
    for name in sys.argv[4:] or COMMANDS:
        judge(name, COMMANDS[name], counts)
    print(", ".join(f"{key}: {n}" for key, n in counts.items()))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
