#!/usr/bin/env python3
"""Makes a manual page: usage: pages.py JPROF VERSION DOCS TEMPLATE, which writes mdoc to standard output.

A template, NAME.SECTION.in, is mdoc with lines that are replaced:
  @usage@                what may be typed, for the SYNOPSIS
  @description@          what the command does
  @options@              its options
  @commands@             all commands
  @examples@             the examples
  @doc FILE HEADING@     what a document says below a heading; without HEADING, what it begins with
The first four come from the command's --help, the command is the template's name."""
import os
import re
import sys

import helptext
import mdoc


def usage(help):
    return "\n".join(f".Nm jprof\n{typed(command[6:])}" for command, _ in help.usage)


def typed(text):
    """What may be typed: words as they are, and in italics what stands for something."""
    return re.sub(r"^$", ".Pp", re.sub(r"(?<![\w.])[A-Z]{2,}\b", lambda m: f"\\fI{m.group(0)}\\fP", mdoc.escape(text).strip()))


def description(help):
    items = "\n".join(f".It Ic {mdoc.escape(command)}\n{mdoc.prose(note)}" for command, note in help.usage if note)
    text = "\n.Pp\n".join(mdoc.prose(paragraph) for paragraph in help.text)
    return f"{text}\n.Bl -tag -width Ds\n{items}\n.El" if items else text


def option(row):
    argument = mdoc.escape(row.argument)
    value = f" Ns Oo Ns = Ns Ar {argument} Oc" if row.optional else f" Ns = Ns Ar {argument}" if argument else ""
    return f".It Fl \\-{mdoc.escape(row.name)}{value}\n{mdoc.prose(row.help)}"


def options(help):
    lines = []
    for heading, rows in help.groups:
        lines += [f".Ss {heading}"] if heading else []
        lines += [".Bl -tag -width Ds", *map(option, rows), ".El"]
    return "\n".join(lines)


def commands(help):
    rows = helptext.commands(help)
    return "\n".join([".Bl -tag -width Ds", *(f".It Xr jprof-{name} 1\n{mdoc.prose(note)}" for name, note in rows), ".El"])


def examples(help):
    return "\n".join(f".Dl {mdoc.escape(example)}" for example in help.examples)


def fill(template, help, docs, version):
    parts = {"usage": usage, "description": description, "options": options, "commands": commands, "examples": examples}

    def replaced(match):
        word, _, rest = match.group(1).partition(" ")
        if word == "doc":
            name, _, heading = rest.partition(" ")
            with open(os.path.join(docs, name), encoding="utf-8") as file:
                return mdoc.section(file.read(), heading)
        return parts[word](help)

    return re.sub(r"^@([a-z].*)@$", replaced, template, flags=re.M).replace("@version@", version)


def main(jprof, version, docs, path):
    name, section = re.fullmatch(r"(.*)\.(\d)\.in", os.path.basename(path)).groups()
    help = helptext.ask(jprof, name.partition("-")[2]) if section == "1" else None
    with open(path, encoding="utf-8") as file:
        page = fill(file.read(), help, docs, version)
    page.encode("ascii")
    sys.stdout.write(page)


main(*sys.argv[1:])
