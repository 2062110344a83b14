#!/usr/bin/env python3
"""What reports cost, in instructions, beside counts.txt: more than 10 % above it fails.

    counts.py JPROF ROOT BUILD-ID     BUILD-ID: compiler, libc, libdw and optimization, whose counts the baseline has
    JPROF_ACCEPT=1 counts.py ...      writes the counts of this BUILD-ID anew: in a commit of its own that says why

The inputs are made by seed, and compiled here. Nothing comes from the machine: no names that were kept, no packs, no debug
packages; of the processor only what each x86-64 has. A BUILD-ID without a baseline is no failure, but skips."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

LIMIT = 0.10

jprof, root, build = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
baseline = root / "tests/costs/counts.txt"
HEAD = "# Instructions of tests/costs/counts.py: build, work, count. Written by JPROF_ACCEPT=1.\n"

# glibc's copies and comparisons for each x86-64, of sizes that do not depend on its caches.
FEATURES = "AVX2 AVX AVX_Fast_Unaligned_Load AVX512F AVX512VL AVX512BW ERMS FSRM BMI1 BMI2 LZCNT MOVBE RTM SSE4_1 SSE4_2 SSSE3".split()
TUNABLES = ("glibc.cpu.hwcaps=" + ",".join("-" + name for name in FEATURES) +
            ":glibc.cpu.x86_non_temporal_threshold=0xc0000:glibc.cpu.x86_rep_movsb_threshold=0x800")
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C", "JPROF_CACHE": "", "HOME": "", "GLIBC_TUNABLES": TUNABLES}

# In this process, for a child that may open nothing cannot write its counts; and without a look at the machine's memory and the
# control groups, whose texts are as long as they are.
FIXED = ["--no-sandbox", "--max-memory=2G"]

# Work: its input, and the functions whose counts it is, with all that they call.
WORK = {
    "parse": ("parse", ["jprof_profile_open"]),
    "table": ("parse", ["jprof_view_new", "jprof_table_new"]),
    "print": ("parse", ["jprof_render"]),
    "symbolize": ("names", ["jprof_profile_symbolize"]),
    "small": ("small", ["main"]),
    "ruby": ("ruby", ["main"]),
}


def skip(why):
    print(why)
    sys.exit(77)


def output_of(*command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, **more).stdout


def commands():
    """The program's arguments for each input; the inputs are made here, in the current directory."""
    bench = root / "bench"
    with open("parse", "w") as out:
        subprocess.run([sys.executable, bench / "shape.py", "40", "4000", "0.6"], stdout=out, check=True)
    subprocess.run([sys.executable, bench / "cppsource.py", ".", "1", "6"], check=True)
    subprocess.run(["make", "-s", "program"], check=True)
    with open("names", "w") as out:
        subprocess.run([sys.executable, bench / "addresses.py", "program", "300"], stdout=out, check=True)
    samples = root / "samples"
    # By a short name each, because what looks at names looks longer at some.
    shutil.copyfile(samples / "heaps/jemalloc-5.3.0.heap", "small")
    shutil.copyfile(samples / "cases/ruby31/cext.1.heap", "ruby")
    return {
        "parse": ["--text", "--fold=none", "parse"],
        "names": ["--text", "names"],
        "small": ["--text", "--sysroot=%s/heaps/sysroot" % samples, "small"],
        "ruby": ["--text", "--sysroot=%s/cases/sysroot" % samples, "ruby"],
    }


def counts(arguments):
    """Instructions by function, with what it calls. Names are found in the program itself: its child is out of sight."""
    with tempfile.TemporaryDirectory(dir=".") as place:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=%s/%%p" % place, jprof, *FIXED, *arguments],
            env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
        if done.returncode:
            sys.exit("counts: valgrind or the program failed:\n" + done.stderr)
        found = {}
        for file in os.listdir(place):
            for line in output_of("callgrind_annotate", "--inclusive=yes", "--threshold=100", "--auto=no",
                                  os.path.join(place, file)).splitlines():
                words = line.split()
                if not words or not words[0].replace(",", "").isdigit():
                    continue
                # "1,234 (5.6%)  FILE:FUNCTION [OBJECT]"
                name = line.split(")  ")[-1].split(" [")[0].rpartition(":")[2]
                found[name] = found.get(name, 0) + int(words[0].replace(",", ""))
        return found


def measure():
    given = commands()
    by_input = {name: counts(arguments) for name, arguments in given.items()}
    return {work: sum(by_input[name].get(f, 0) for f in functions) for work, (name, functions) in WORK.items()}


def read_baseline():
    """Counts by build and work."""
    rows = [line.split("\t") for line in baseline.read_text().splitlines() if line and line[0] != "#"]
    return {(where, work): int(count) for where, work, count in rows}


def write_baseline(known):
    lines = ["%s\t%s\t%d\n" % (*key, known[key]) for key in sorted(known)]
    baseline.write_text(HEAD + "".join(lines))


def faults(now, known):
    for work, count in now.items():
        before = known.get((build, work), 0)
        change = count / before - 1 if before else 1
        print("%-10s %12d instructions, %12d before, %+.2f %%" % (work, count, before, 100 * change))
        if not count or change > LIMIT:
            yield work


for tool in ("valgrind", "callgrind_annotate", "make", "g++", "objdump", "readelf"):
    if not shutil.which(tool):
        skip("no %s here" % tool)
known = read_baseline()
accept = os.environ.get("JPROF_ACCEPT") == "1"
if not accept and not any(where == build for where, _ in known):
    skip("no baseline for %s" % build)
with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    now = measure()
    os.chdir("/")
if accept:
    write_baseline({**known, **{(build, work): count for work, count in now.items()}})
    sys.exit(0)
bad = list(faults(now, known))
if bad:
    print("FAIL: more than %d %% above the baseline: %s. If it shall be so: JPROF_ACCEPT=1, in a commit of its own"
          % (100 * LIMIT, ", ".join(bad)))
sys.exit(bool(bad))
