"""Split debug information of more units than .dwo files are opened at once: each address has its inlined function and line.
usage: many_units.py JPROF COMPILER...
"""
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

UNITS = 132  # above most_wants of input/asknames.c
jprof, compiler = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]


def output(*words, descriptors=None):
    def limit():
        if descriptors:
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
    return subprocess.run(words, check=True, capture_output=True, text=True, preexec_fn=limit).stdout


def write_sources():
    names = ["main.c"]
    pathlib.Path("main.c").write_text("int main(void) { return 0; }\n")
    for i in range(UNITS):
        names.append(f"u{i}.c")
        pathlib.Path(names[-1]).write_text(
            f"static inline __attribute__((always_inline)) int in{i}(volatile int *p) {{ return *p + {i}; }}\n"
            f"int f{i}(volatile int *p) {{ return in{i}(p) * 2; }}\n")
    return names


def write_dump(program):
    """A stack of one address for each unit; the program is not run: it lies where its headers say."""
    load = next(line.split() for line in output("readelf", "-lW", program).splitlines()
                if line.split()[:1] == ["LOAD"] and " E " in line)
    offset, start, size = (int(load[i], 16) for i in (1, 2, 4))
    end = (start + size + 4095) // 4096 * 4096
    functions = dict(reversed(re.split(r" T ", line)) for line in output("nm", program).splitlines() if " T f" in line)
    dump = "heap_v2/1\n"
    for i in range(UNITS):
        dump += f"@ {int(functions[f'f{i}'], 16):#x}\n  t*: 1: {1000 + i} [0: 0]\n"
    path = pathlib.Path(program).resolve()
    dump += f"\nMAPPED_LIBRARIES:\n{start:08x}-{end:08x} r-xp {offset:08x} 00:00 0 {path}\n"
    pathlib.Path("units.heap").write_text(dump)


def check(wanted, remark, descriptors=None):
    rows = set(re.findall(r"(\S+) \(inline\) \S*/(u\d+\.c:\d+)$",
                          output(jprof, "--lines", "--fold=none", "units.heap", descriptors=descriptors), re.M))
    missing = {(f"in{i}", f"u{i}.c:1") for i in wanted} ^ rows
    if missing:
        sys.exit(f"{len(missing)} of {UNITS} inlined functions are wrong, such as {min(missing)}")
    info = output(jprof, "info", "units.heap", descriptors=descriptors)
    if remark not in info:
        sys.exit(f"info does not say: {remark}\n{info}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([*compiler, "-O1", "-gdwarf-5", "-gsplit-dwarf", "-no-pie", "-o", "program", *write_sources()], check=True)
    write_dump("program")
    check(range(UNITS), "")
    # Fewer descriptors than .dwo files: these are opened in turns.
    for descriptors in 40, 12:
        check(range(UNITS), "", descriptors)
    split = sorted(pathlib.Path().glob("*u5.dwo")) + sorted(pathlib.Path().glob("*u131.dwo"))
    for path in split:
        path.unlink()
    check(set(range(UNITS)) - {5, 131}, "u5.dwo is missing; and 1 more")
    check(set(range(UNITS)) - {5, 131}, "u5.dwo is missing; and 1 more", 12)
    os.chdir("/")
