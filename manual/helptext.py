"""What a command's --help says, in parts. The program prints it from its tables of options, so that manual pages and
completion, which are made of it, know the options that the parser knows."""
import re
import subprocess
from dataclasses import dataclass, field

HELP_COLUMN = 25  # where jeprof-c/cli/optparse.c has what an option does

@dataclass
class Option:
    name: str
    argument: str  # "" for none; words that it may be are parted by "|"
    optional: bool  # the argument may be left out
    help: str

    def words(self):
        """The words that the argument is one of, or []."""
        words = self.argument.split("|")
        return words if len(words) > 1 and all(re.fullmatch(r"[a-z]+", word) for word in words) else []


@dataclass
class Help:
    usage: list = field(default_factory=list)  # (command line, what it does or "")
    text: list = field(default_factory=list)  # paragraphs
    groups: list = field(default_factory=list)  # (heading or "", options)
    examples: list = field(default_factory=list)

    def options(self):
        return [option for _, options in self.groups for option in options]


def take_usage(lines, help):
    lines[0] = re.sub(r"^usage:", "      ", lines[0])
    while lines and lines[0].startswith("       "):
        line = lines.pop(0).strip()
        if line.startswith("jprof"):
            command, _, note = re.sub(r"\s{2,}", "\t", line).partition("\t")
            help.usage.append((command, note))
        else:
            command, note = help.usage[-1]
            help.usage[-1] = (command, f"{note} {line}")


def take_text(lines, help):
    text = ""
    while lines and not lines[0].startswith("  ") and not (len(lines) > 1 and lines[1].startswith("  --")):
        text += lines.pop(0) + "\n"
    help.text = [" ".join(paragraph.split()) for paragraph in text.split("\n\n") if paragraph.strip()]


def take_options(lines, help):
    heading = ""
    while lines:
        line = lines.pop(0)
        if line.startswith("  --"):
            left, text = (line[:HELP_COLUMN], line[HELP_COLUMN:]) if line[HELP_COLUMN - 1 :][:1] == " " else (line, "")
            name, equals, argument = re.fullmatch(r"  --([a-z][\w-]*)(?:(\[?=)(.*?)\]?)?\s*", left).groups()
            if not help.groups or heading != help.groups[-1][0]:
                help.groups.append((heading, []))
            help.groups[-1][1].append(Option(name, argument or "", equals == "[=", text.strip()))
        elif line.startswith(" " * HELP_COLUMN):
            option = help.groups[-1][1][-1]
            option.help = f"{option.help} {line.strip()}".strip()
        elif line.startswith("  "):
            help.examples.append(line.strip())
        elif line:
            heading = line


def parse(text):
    lines, help = text.split("\n"), Help()
    take_usage(lines, help)
    take_text(lines, help)
    take_options(lines, help)
    if not help.usage or not help.options():
        raise SystemExit(f"helptext.py: this --help cannot be read:\n{text}")
    return help


def ask(jprof, command=""):
    """The help of `jprof COMMAND`, or of jprof itself."""
    words = [jprof, command, "--help"] if command else [jprof, "--help"]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise SystemExit(f"helptext.py: {' '.join(words)}: exit status {done.returncode}: {done.stderr.strip()}")
    return parse(done.stdout)


def commands(help):
    """The commands that jprof's own help names, with what they do."""
    found = [(re.match(r"jprof ([a-z]+)\b", command), note) for command, note in help.usage]
    return [(match.group(1), note) for match, note in found if match]
