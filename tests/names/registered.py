#!/usr/bin/env python3
"""Names out of the code of an extension that registers its methods: by several compilers, at every level of optimizing,
stripped, for x86-64 and AArch64. The truth is in the subject (which function must have, may have or must not have which
name) and in the symbol table before it is stripped (where that function is).
usage: registered.py PRINT_CODE_NAMES SUBJECT.c CC CLANG|- LLD|-"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

program, subject, cc, clang, lld = (os.path.abspath(a) if "/" in a else a for a in sys.argv[1:6])
LEVELS = ["-O0", "-O1", "-O2", "-O3", "-Os"]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def expectations():
    found = re.findall(r"^static \w+ (\w+)\(.*BODY +/\* ([=~-])(?: (.*))? \*/$", open(subject).read(), re.M)
    return {name: (kind, names.split("|") if names else []) for name, kind, names in found}


def functions(path):
    """Of the symbol table: name by address; a clone counts as the function that it is of."""
    return {int(m.group(1), 16): m.group(2).split(".")[0]
            for m in re.finditer(r"^ *\d+: ([0-9a-f]+) +\d+ FUNC +\w+ +\w+ +\d+ ([\w.]+)$", run("readelf", "-sW", path), re.M)}


def check(what, path, least):
    expected, symbols = expectations(), functions(path)
    run("strip" if "aarch64" not in what else "llvm-strip-14" if not shutil.which("llvm-strip") else "llvm-strip", path)
    got = {}
    for line in run(program, path).splitlines():
        start, name = line.split(" ", 1)
        function = symbols.get(int(start, 16))
        kind, names = expected.get(function, ("-", []))
        if name not in names:
            sys.exit(f"{what}: {function or start} is called {name}; right is {names or 'nothing'}")
        got[function] = name
    missing = [f for f, (kind, _) in expected.items() if kind == "=" and f not in got]
    if len(missing) > len(expected) - least:
        sys.exit(f"{what}: without a name are {', '.join(missing)}")
    return len(got)


def build(directory, compiler, *options):
    path = os.path.join(directory, "registered.so")
    run(*compiler, "-shared", "-fPIC", "-Wl,-z,lazy", *options, subject, "-o", path)
    return path


def main():
    checked = 0
    with tempfile.TemporaryDirectory() as directory:
        compilers = [("gcc", [cc])] + ([("clang", [clang])] if clang != "-" else [])
        arm = ["--target=aarch64-linux-gnu", "-fuse-ld=lld", "-nostdlib", "-ffreestanding", "-fasynchronous-unwind-tables"]
        strip = shutil.which("llvm-strip") or shutil.which("llvm-strip-14")
        if clang != "-" and lld != "-" and strip:
            compilers.append(("clang for aarch64", [clang, *arm]))
        ways = [[level] for level in LEVELS]
        ways += [["-O2", "-fno-plt"], ["-O2", "-fvisibility=hidden", "-fomit-frame-pointer"],
                 ["-O2", "-fcf-protection=none", "-Wl,-z,now"], ["-O2", "-Wl,-z,pack-relative-relocs"]]
        for name, compiler in compilers:
            for way in ways:
                if "aarch64" in name and {"-fcf-protection=none", "-Wl,-z,pack-relative-relocs"} & set(way):
                    continue
                checked += check(f"{name} {' '.join(way)}", build(directory, compiler, *way), 38)
    print(f"{checked} names")


main()
