#!/usr/bin/env python3
"""No text of the libraries names an option or a command of the program: they carry codes (enum jprof_advice), and the
program has the words. Looks at every string in the sources (a compiler turns short ones into code), and compares with
the options that the program's --help lists and with its commands.

usage: python3 libtexts.py SOURCE_ROOT JPROF"""
import glob
import re
import subprocess
import sys

ALLOWED = ["dwz --dwarf-5"]  # options of other programs
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|#include[^\n]*|\'(?:\\.|[^\'\\\n])*\'|"(?:\\.|[^"\\\n])*"|\s+|.', re.S)


def texts_of(path):
    """The string literals of a file; neighbours are one."""
    text = None
    for token in TOKEN.findall(open(path).read()):
        if token.startswith('"'):
            text = (text or "") + token[1:-1]
        elif not token.isspace() and not token.startswith("/"):
            if text is not None:
                yield text
            text = None


def main():
    source, jprof = sys.argv[1:]
    commands = re.findall(r'^\t\{ "(\w{2,})", cmd_', open(f"{source}/jeprof-c/dispatch.c").read(), re.M)
    options = set()
    for words in [["--help"]] + [[command, "--help"] for command in commands]:
        told = subprocess.run([jprof, *words], capture_output=True, text=True, check=True).stdout
        options |= set(re.findall(r"--([a-z][a-z_-]+)", told))
    if len(options) < 50 or len(commands) < 5:
        sys.exit(f"{len(options)} options and {len(commands)} commands: --help or dispatch.c look otherwise now")
    named = re.compile(r"--([a-z][a-z_-]+)|\bjprof (?:" + "|".join(commands) + r"|PROGRAM|DUMP)\b")
    wrong, sentences = 0, 0
    for path in sorted(glob.glob(f"{source}/libjprof/**/*.[ch]", recursive=True)):
        for text in texts_of(path):
            sentences += text.count(" ") > 2
            rest = text
            for words in ALLOWED:
                rest = rest.replace(words, "")
            for hit in named.finditer(rest):
                if hit.group(1) is None or hit.group(1) in options:
                    print(f"{path} names {hit.group()}: {text}")
                    wrong += 1
    if sentences < 200:
        sys.exit(f"only {sentences} sentences in the sources: this test sees nothing")
    sys.exit(1 if wrong else 0)


main()
