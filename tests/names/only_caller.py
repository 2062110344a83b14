#!/usr/bin/env python3
"""The only caller of a function without a name, out of the machine code: what the code of a library says by several
compilers, and what reports and bundles make of it. The truth is in the subject, and in its symbol table before it is stripped.
usage: only_caller.py JPROF SUBJECT.c CC PRINT_CODE_NAMES CLANG|- LLD|-"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from registered_report import functions, must, rows, run, write_dump

jprof, subject, cc, program, clang, lld = (os.path.abspath(a) if "/" in a else a for a in sys.argv[1:7])
hidden = ["-shared", "-fPIC", "-fvisibility=hidden", "-Wl,--build-id"]


def expectations():
    found = re.findall(r"^/\* = (\w+) \*/\nBODY static long (\w+)\(", open(subject).read(), re.M)
    return {name: caller for caller, name in found}


def symbols(path):
    return {int(m.group(1), 16): m.group(2)
            for m in re.finditer(r"^ *\d+: ([0-9a-f]+) +\d+ FUNC +\w+ +\w+ +\d+ ([\w.]+)$", run("readelf", "-sW", path), re.M)}


def only_callers(path, at):
    """By names: what the code says of each function that begins at one of these places."""
    return {at[int(start, 16)]: at.get(int(caller, 16))
            for start, caller in (line.split() for line in run(program, "-c", path, *map(hex, at)).splitlines())}


def judge(what, path, strip):
    expected, at = expectations(), symbols(path)
    run(strip, path)
    got = only_callers(path, at)
    for function, caller in expected.items():
        must(got.get(function, "none") == caller, f"{what}: {function} is called by {got.get(function)}; right is {caller}")
    must(not set(got) - set(expected), f"{what}: exported functions have a caller alone: {got}")


def takes(compiler, option):
    return not subprocess.run([compiler, option, "-fsyntax-only", subject], capture_output=True).returncode


def has_short_jump(path):
    return re.search(r"\teb .*\tjmp .*<near_to>", run("objdump", "-d", path))


def compilers():
    """Of each its name, its command, its strip, and the ways to compile."""
    levels = [[level] for level in ("-O0", "-O1", "-O2", "-O3", "-Os")]
    in_order = [["-O2", "-fno-toplevel-reorder"]] if takes(cc, "-fno-toplevel-reorder") else []
    yield "cc", [cc], "strip", levels + in_order + [["-O2", "-fno-plt"], ["-O2", "-fcf-protection=none"]]
    strip = shutil.which("llvm-strip") or shutil.which("llvm-strip-14")
    if clang != "-":
        yield "clang", [clang], "strip", levels
    if clang != "-" and lld != "-" and strip:
        arm = ["--target=aarch64-linux-gnu", "-fuse-ld=lld", "-nostdlib", "-ffreestanding", "-fasynchronous-unwind-tables"]
        yield "clang for aarch64", [clang, *arm], strip, levels


def judge_code(directory):
    path, short = f"{directory}/onecaller.so", False
    for name, compiler, strip, ways in compilers():
        for way in ways:
            run(*compiler, *hidden, *way, subject, "-o", path)
            short = short or (name == "cc" and has_short_jump(path))
            judge(f"{name} {' '.join(way)}", path, strip)
    must(short or os.uname().machine != "x86_64", "no compiler made a short jump")


def judge_reports(directory):
    """Stacks that end at the nameless function, as cut ones do, and such as show another caller."""
    library, dump = f"{directory}/lonely.so", f"{directory}/lonely.heap"
    run(cc, *hidden, "-O1", "-fno-optimize-sibling-calls", subject, "-o", library)
    at = functions(library)
    run("strip", library)
    write_dump(dump, library, [(1 << 20, [at["only_called"]]), (2 << 20, [at["shared"]]), (3 << 20, [at["below"]]),
                               (4 << 20, [at["middle"], at["api_far"]]), (5 << 20, [at["middle"], at["api_near"]]),
                               (6 << 20, [at["again"], at["api_far"]])])

    def name(function):
        return f"lonely!{at[function][0]:#x}"
    truth = {name("only_called"): "api_calls", name("shared"): None, name("below"): None, name("middle"): "api_middle",
             name("again"): "api_far", "api_far": None, "api_near": None}

    def check(what, *source):
        got = {row: values["called_by"] for row, values in rows(*source).items()}
        must(got == truth, f"{what}: {got}\nis not {truth}")
    check("the dump", dump)
    check("the sum of two dumps", dump, dump)
    text = run(jprof, "--text", dump)
    must(name("only_called") in text and "api_calls" not in text, f"a report has the caller in a name:\n{text}")
    for how in ("now", "later"):
        run(jprof, "bundle", *(["--symbols=later"] if how == "later" else []), "-o", f"{directory}/{how}.jprof", dump)
    check("a bundle without names, the file at hand", f"{directory}/later.jprof")
    os.rename(library, f"{directory}/away")
    check("a bundle, the file away", f"{directory}/now.jprof")
    check("the sum of two bundles", f"{directory}/now.jprof", f"{directory}/now.jprof")
    got = rows(f"{directory}/later.jprof")
    must(not any(row["called_by"] == "api_calls" for row in got.values()), f"no file, but a caller: {got}")


def main():
    with tempfile.TemporaryDirectory() as directory:
        judge_code(directory)
        judge_reports(directory)
    print("ok")


main()
