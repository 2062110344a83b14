#!/usr/bin/env python3
"""HACKING.md, "Add a report, a format, a command, a check, a test": does what stands there, as it stands there, in a copy of
the sources; builds the program and the unit test that the page adds, runs the page's commands and compares what they print.
Then the rules hold for the copy as for the sources: tests/modules.py, tests/names-unique.sh, what jprof.h exports, and
clang-format 14 of new files where it is installed.

usage: python3 add.py SOURCE_ROOT [SCRATCH]
SCRATCH is kept, with the build in it."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HEADING = "## Add a report, a format, a command, a check, a test"
SECTIONS = ["A report", "A format", "A command", "A check", "A test"]
LEFT_OUT = {".git", ".ccache", "bench", "__pycache__"}
STEP = re.compile(
    r"`(?P<path>[\w./-]+)`(?:, (?P<where>a new file|at its end|(?:after|before)(?: the line that begins with)? `.+`):"
    r"|: `(?P<old>.+)` becomes `(?P<new>.+)`\.)")


def die(text):
    sys.exit(f"add.py: {text}")


def page_of(root):
    """The lines below the heading, up to the next of its level."""
    lines = open(f"{root}/HACKING.md").read().split("\n")
    if lines.count(HEADING) != 1:
        die(f"HACKING.md has no heading: {HEADING}")
    start = lines.index(HEADING) + 1
    end = next((i for i in range(start, len(lines)) if lines[i].startswith("## ")), len(lines))
    return lines[start:end]


def parts_of(lines):
    """Headings, steps and blocks in their order: (kind, number in the page, text or match)."""
    at = 0
    while at < len(lines):
        line, number = lines[at], at
        at += 1
        if line.startswith("### "):
            yield "section", number, line[4:]
        elif line.startswith("```"):
            end = lines.index("```", at)
            yield "console" if line == "```console" else "block", number, lines[at:end]
            at = end + 1
        elif line.startswith("`"):
            step = STEP.fullmatch(line)
            if not step:
                die(f"HACKING.md: this is no step: {line}")
            yield "step", number, step


def copy_sources(source, scratch):
    """All but builds and what no build reads."""
    def ignored(folder, names):
        return [n for n in names if n in LEFT_OUT or (folder == source and n.startswith("build") and n != "build-dev.ini")]

    shutil.copytree(source, scratch, symlinks=True, ignore=ignored, dirs_exist_ok=True)
    # A dump that was checked out a moment before the files that it names would be older than they are.
    for dump in glob.glob(f"{scratch}/samples/cases/*/*.heap"):
        os.utime(dump)


def place(lines, where, path):
    """The index of the only line that a step means."""
    anchor = re.search("`(.+)`", where).group(1)
    if "begins with" in where:
        found = [i for i, line in enumerate(lines) if line.replace("`", "").startswith(anchor)]
    else:
        found = [i for i, line in enumerate(lines) if line.strip() == anchor]
    if len(found) != 1:
        die(f"{path} has {len(found)} lines {anchor}")
    return found[0] + where.startswith("after")


def take_step(scratch, step, block):
    path = f"{scratch}/{step['path']}"
    if step["where"] == "a new file":
        if os.path.exists(path):
            die(f"{step['path']} is there already")
        open(path, "w").write("\n".join(block) + "\n")
        return
    if not os.path.exists(path):
        die(f"there is no {step['path']}")
    text = open(path).read()
    if step["old"]:
        if text.count(step["old"]) != 1:
            die(f"{step['path']} has {text.count(step['old'])} times {step['old']}")
        text = text.replace(step["old"], step["new"])
    elif step["where"] == "at its end":
        text += "\n".join(block) + "\n"
    else:
        lines = text.split("\n")
        at = place(lines, step["where"], step["path"])
        text = "\n".join(lines[:at] + block + lines[at:])
    open(path, "w").write(text)


def take_steps(scratch, parts):
    """The blocks of commands and the steps, each by section."""
    section, step, consoles, steps = None, None, {}, {}
    for kind, _, what in parts:
        if step is not None and kind != "block":
            die(f"HACKING.md: a step without its lines: {step[0]}")
        if kind == "section":
            section = what
        elif kind == "console":
            consoles.setdefault(section, []).append(what)
        elif kind == "step":
            steps.setdefault(section, []).append(what)
            if what["old"]:
                take_step(scratch, what, None)
            else:
                step = what
        elif step is None:
            die(f"HACKING.md: this block belongs to no step: {what[0]}")
        else:
            take_step(scratch, step, what)
            step = None
    if list(steps) != SECTIONS:
        die(f"HACKING.md has steps for {list(steps)}, and not for {SECTIONS}")
    if list(consoles) != SECTIONS[1:]:  # the report is shown by its format
        die(f"HACKING.md has commands for {list(consoles)}, and not for {SECTIONS[1:]}")
    return consoles, steps


def run(scratch, *words):
    done = subprocess.run(words, cwd=scratch, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=subprocess.DEVNULL)
    if done.returncode:
        print("\n".join(done.stdout.split("\n")[-40:]))
        die(f"{' '.join(words)}: exit status {done.returncode}")


def build(scratch):
    # Warnings are errors: what the page says to copy has none.
    run(scratch, "meson", "setup", "-Dtests=true", "-Dwerror=true", "-Doptimization=0", "-Ddebug=false", "-Dunity=on", "-Dunity_size=1000",
        "build")
    run(scratch, "ninja", "-C", "build", "-j2", "jeprof-c/jprof", "tests/unit/test_fewest",
        "tests/unit/test_nothing")


def try_console(scratch, lines):
    """Each command must print what stands below it; [exit status N] where that is not 0. Returns how many."""
    is_command = [i for i, line in enumerate(lines) if line.startswith("$ ")] + [len(lines)]
    for start, end in zip(is_command, is_command[1:]):
        done = subprocess.run(["bash", "-c", lines[start][2:]], cwd=scratch, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        # Nothing proves the files of recorded dumps, and how old a checkout's files are is chance.
        said = [line for line in done.stdout.rstrip("\n").split("\n") if not line.endswith(": their names may be wrong")]
        said += ([f"[exit status {done.returncode}]"] if done.returncode else [])
        if said != lines[start + 1:end]:
            die(f"{lines[start]}\nprints\n" + "\n".join(said) + "\nand not\n" + "\n".join(lines[start + 1:end]))
    return len(is_command) - 1


def answer(folder, *words):
    return subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout


def check_rules(source, scratch, steps):
    # What these find in the sources themselves, they say in tests of their own.
    for rule in ([sys.executable, "tests/modules.py", "."], ["sh", "tests/names-unique.sh", "."]):
        before, after = answer(source, *rule), answer(scratch, *rule)
        if before != after:
            die(f"{' '.join(rule[1:])} found\n{before}and now finds\n{after}")
    if not re.search(r" T jprof_fewest\b", answer(scratch, "nm", "-D", "build/libjprof/libjprof.so")):
        die("the new function of jprof.h is not exported")
    if shutil.which("clang-format") and "version 14." in answer(scratch, "clang-format", "--version"):
        new = [step["path"] for step in steps if step["where"] == "a new file"]
        run(scratch, "clang-format", "--dry-run", "--Werror", *(path for path in new if path.endswith(".c")))


def main():
    source = os.path.realpath(sys.argv[1])
    parts = list(parts_of(page_of(source)))
    with tempfile.TemporaryDirectory() as scratch:
        if len(sys.argv) > 2:
            scratch = os.path.realpath(sys.argv[2])
        copy_sources(source, scratch)
        consoles, sections = take_steps(scratch, parts)
        steps = [step for section in sections.values() for step in section]
        build(scratch)
        commands = sum(try_console(scratch, block) for blocks in consoles.values() for block in blocks)
        check_rules(source, scratch, steps)
    for section, its in sections.items():
        print(f"{section}: {len(its)} steps in {len({step['path'] for step in its})} files")
    print(f"{commands} commands print what HACKING.md says")


main()
