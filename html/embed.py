#!/usr/bin/env python3
"""Turns the files of the page into C: usage: embed.py FRAME STYLE SCRIPT...  writes page.inc to standard output.

The scripts become one, in the order given, inside one function; a browser runs it only if its SHA-256 is that of the
page's Content-Security-Policy.
"""
import base64
import hashlib
import sys


def read(path):
    with open(path, encoding="utf-8", newline="\n") as file:
        return file.read()


def put_text(name, text):
    print(f"static const char *const {name}[] = {{")
    for line in text.splitlines(keepends=True):
        escaped = line.rstrip("\n").replace("\\", "\\\\").replace('"', '\\"')
        if not escaped.isascii():
            sys.exit(f"embed.py: {name} has a line that is not ASCII: {escaped}")
        print(f'\t"{escaped}\\n",')
    print("};")


def put_hash(name, text):
    digest = hashlib.sha256(text.encode()).digest()
    print(f'static const char {name}[] = "sha256-{base64.b64encode(digest).decode()}";')


def main():
    frame, style, *scripts = sys.argv[1:]
    style = "\n" + read(style)
    script = '\n(() => {\n"use strict";\n' + "".join(read(path) for path in scripts) + "})();\n"
    if "</script" in script.lower() or "</style" in style.lower():
        sys.exit("embed.py: a script or style that would end itself")
    put_text("page_frame", read(frame))
    for name, text in (("page_style", style), ("page_script", script)):
        put_text(name, text)
        put_hash(name + "_hash", text)


main()
