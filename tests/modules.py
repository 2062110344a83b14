#!/usr/bin/env python3
"""A module is one .c and the header of its name: HACKING.md, "Layout". Checked here:

- no circle: a module uses those below it, by its header or its source, and is never used by one of them
- a command is run by dispatch.c, never by another
- a header is that of a source file beside it, or declares no function; NAME_variant.c shares NAME.h
- a source file includes its own header first, so that the header stands alone
- a header may be included twice: #pragma once, and in those that are installed a name of their own
- names of files occur once, and names of functions that are not static, in the library, the program, the agent and pictures together

usage: modules.py SOURCE_ROOT
"""
import pathlib
import re
import sys

# Folders of the project, and where their quoted includes begin.
ROOTS = {"libjprof": "libjprof", "jeprof-c": "jeprof-c", "dot": "dot", "agent": "agent"}

# Headers that are the door of a folder: who includes them uses the folder, and not each source in it.
DOORS = {"libjprof/jprof.h", "libjprof/jprof-live.h", "jeprof-c/commands.h", "dot/dot.h"}


# A definition that is not static, in the first column as the style has it, its body with a line that is { alone.
FUNCTION = re.compile(r"^(?!static |typedef |struct \w+ \{)[A-Za-z_][^;{}()#=]*?[ *](\w+)\([^;{}]*\)[^;{}=]*\n\{$", re.M)

# What is still to be done; an entry that is no longer needed is a fault, too.
LEFT = set()


def module_of(path, headers):
    """The header that a source file implements, or the source itself: disasm_none.c is part of disasm.h."""
    stem = path[:-2]
    while True:
        if stem + ".h" in headers:
            return stem + ".h"
        folder, _, name = stem.rpartition("/")
        if "_" not in name:
            return path
        stem = folder + "/" + name.rpartition("_")[0]


def includes_of(root, path, base):
    text = (root / path).read_text()
    for name in re.findall(r'^#include "(.*?)"', text, re.M):
        for place in (base, path.rpartition("/")[0], "libjprof", "dot"):
            if (root / place / name).is_file():
                yield place + "/" + name
                break


def circles(graph):
    """The strongly connected parts of more than one module (Tarjan)."""
    index, low, stack, on, found = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on.add(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            part = []
            while True:
                part.append(stack.pop())
                on.discard(part[-1])
                if part[-1] == node:
                    break
            if len(part) > 1:
                found.append(sorted(part))

    sys.setrecursionlimit(10000)
    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def check(root):
    bad = []
    files = {}
    for folder, base in ROOTS.items():
        for path in sorted((root / folder).rglob("*.[ch]")):
            files[str(path.relative_to(root))] = base
    headers = {f for f in files if f.endswith(".h")}
    sources = sorted(set(files) - headers)
    graph, implemented, stems, defined = {}, set(), {}, {}
    for path, base in files.items():
        module = path if path in headers else module_of(path, headers)
        uses = list(includes_of(root, path, base))
        graph.setdefault(module, set()).update(u for u in uses if u != module and u not in DOORS)
        if path in headers:
            if not re.search(r"^(#pragma once|#ifndef JPROF(_LIVE)?_H)$", (root / path).read_text(), re.M):
                bad.append(f"{path} has no #pragma once")
            continue
        implemented.add(module)
        if module in headers and module not in DOORS and path[:-2] + ".h" == module and uses[:1] != [module]:
            bad.append(f"{path} should include its own header first: {module}")
    for part in circles(graph):
        bad.append("a circle: " + ", ".join(part))
    for header in sorted(headers - implemented - DOORS):
        text = re.sub(r"/\*.*?\*/", "", (root / header).read_text(), flags=re.S)
        if re.search(r"^\w[\w \*]*\b\w+\([^;{]*\)[^;{]*;", text, re.M) and "static inline" not in text:
            bad.append(f"{header} declares functions, and there is no source file of its name")
    for path in sources:
        for command in re.findall(r"\b(cmd_\w+)\(", (root / path).read_text()):
            if path.startswith("jeprof-c/") and not path.endswith(("/dispatch.c", f"/{command}.c")):
                bad.append(f"{path} runs {command}: only dispatch.c may")
        stems.setdefault(path.rpartition("/")[2], []).append(path)
        # Variants of a source, of which the build takes one, are one file.
        one = re.sub(r"_(none|static|lib|capstone|libedit|dlopen|libiberty|cxxabi|aarch64|x86_64)\.c$", ".c", path)
        for name in FUNCTION.findall((root / path).read_text()):
            defined.setdefault(name, set()).add(one)
    for what, found in (("files have one name", stems), ("files define one function", defined)):
        for name, paths in sorted(found.items()):
            if len(paths) > 1:
                bad.append(f"{len(paths)} {what}, {name}: " + ", ".join(sorted(paths)))
    if len(defined) < 1000:
        bad.append(f"only {len(defined)} functions that are not static: the style is another")
    return sorted(set(bad) ^ LEFT)


if __name__ == "__main__":
    faults = check(pathlib.Path(sys.argv[1]))
    for fault in faults:
        print(fault, "(no longer so: take it out of LEFT)" if fault in LEFT else "")
    sys.exit(1 if faults else 0)
