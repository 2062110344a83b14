#!/usr/bin/env python3
"""What packaging/images says is true as far as it can be seen without a container engine: YAML and shell can be read,
options are jprof's, variables are understood by jemalloc and the agent, and what nobody has run is marked.

usage: python3 images.py JPROF AGENT SOURCE_ROOT"""
import glob
import os
import re
import subprocess
import sys

try:
    import yaml
except ImportError:
    print("no yaml for python3 here (Debian: python3-yaml)")
    sys.exit(77)

jprof, agent, root = (os.path.abspath(path) for path in sys.argv[1:4])
failures, counted = [], {"commands": 0, "options": 0, "variables": 0}

# Commands that were run by hand, as they stand there, in a root of Debian 12.
RAN = {
    "apt-get update && apt-get install -y --no-install-recommends libjemalloc2 && rm -rf /var/lib/apt/lists/*",
    "chmod 755 /usr/local/bin/jprof && chmod 644 /usr/local/lib/jprof/libjprof-agent-glibc.so",
}
MARK = re.compile(r"\s*# NOT RUN: \S")


def fail(text):
    failures.append(text)


def check_jprof(where, command):
    """Options of each jprof in a command are those of its command's --help."""
    for call in re.findall(r'(?:^|[\s"/])jprof"? ((?:check|diff|doctor|explain|info|run|serve|snap|watch)\b[^|>]*)', command):
        words = call.split()
        known = subprocess.run([jprof, words[0], "--help"], capture_output=True, text=True, check=True).stdout
        for option in re.findall(r"(?<!\S)--?[a-z][\w-]*", call):
            counted["options"] += 1
            if not re.search(rf"(?<![\w-]){option}(?![\w-])", known):
                fail(f"{where}: jprof {words[0]} has no {option}")


def check_command(where, command, marked):
    counted["commands"] += 1
    done = subprocess.run(["sh", "-n"], input=command, capture_output=True, text=True)
    if done.returncode:
        fail(f"{where}: sh cannot read `{command}`: {done.stderr.strip()}")
    if not marked and command not in RAN:
        fail(f"{where}: `{command}` was neither run nor is it marked NOT RUN")
    check_jprof(where, command)


def complaints(conf, words):
    """What jemalloc and the agent say at the start of a program that does nothing. The agent says it in a thread of its own."""
    preload = f"{agent}:libjemalloc.so.2"
    environment = dict(os.environ, LD_PRELOAD=preload, MALLOC_CONF=conf, JPROF_AGENT=f"for=all,{words}")
    return subprocess.run(["sleep", "1"], env=environment, capture_output=True, text=True).stderr


def check_variable(where, name, value):
    counted["variables"] += 1
    if name == "MALLOC_CONF":
        said = complaints(value, "off")
    elif name == "JPROF_AGENT":
        said = complaints("prof:true", value)
    elif name == "LD_PRELOAD":
        names = [os.path.basename(path) for path in value.split(":")]
        agents = ("libjprof-agent.so", "libjprof-agent-glibc.so", "libjprof-agent-musl.so")
        said = "" if len(names) == 2 and names[0] in agents and names[1] == "libjemalloc.so.2" else "not the agent, jemalloc"
    else:
        said = "neither the agent nor jemalloc reads it"
    if said:
        fail(f"{where}: {name}={value}: {said.strip()}")


def commands_of(path, text):
    """Commands of a file with whether they are marked: RUN, command:, run:, ExecStart=, examples in comments."""
    marked, lines = False, iter(text.split("\n"))
    for line in lines:
        if MARK.match(line):
            marked = True
            continue
        example = re.match(r"#     (\S.*)", line)
        found = example or re.match(r"RUN (.*)", line) or re.match(r"ExecStart=(.*)", line)
        if found:
            command = found.group(1)
            while command.endswith("\\"):
                command = command[:-1].rstrip() + " " + next(lines).strip()
            yield command, marked
        elif re.match(r"\s*command: \[", line):
            yield " ".join(yaml.safe_load(line.strip())["command"]), marked
        elif re.match(r"\s*run: \|", line):
            script = re.search(re.escape(line) + r"\n((?: {8}.*\n?)+)", text).group(1)
            yield re.sub(r"^ {8}", "", script, flags=re.M), marked
        marked = marked and bool(example)


def variables_of(text):
    yield from re.findall(r'^(?:ENV| {3}|\s+export|Environment=)\s*"?([A-Z][A-Z_]+)="?([^"\n]+)"', text, re.M)
    yield from re.findall(r'^ {6}([A-Z][A-Z_]+): "(.*)"$', text, re.M)
    yield from re.findall(r'- name: ([A-Z_]+)\n\s+value: "(.*)"', text)


def check_file(path):
    where, text = os.path.relpath(path, root), open(path).read()
    if path.endswith((".yaml", ".yml")):
        try:
            list(yaml.safe_load_all(text))
        except yaml.YAMLError as error:
            fail(f"{where}: {error}")
    elif path.endswith((".sh", "APKBUILD")):
        done = subprocess.run(["sh", "-n", path], capture_output=True, text=True)
        if done.returncode:
            fail(f"{where}: {done.stderr.strip()}")
    for command, marked in commands_of(path, text):
        check_command(where, command, marked)
    variables = list(variables_of(text))
    if len(variables) != len(re.findall(r"\b(?:LD_PRELOAD|MALLOC_CONF|JPROF_AGENT)\b", text)):
        fail(f"{where}: a variable stands in a form that this test cannot read")
    for name, value in variables:
        check_variable(where, name, value.replace("%%", "%") if path.endswith(".conf") else value)


def check_apkbuild():
    text = open(f"{root}/packaging/images/APKBUILD").read()
    version = re.search(r"version: '(.*)'", open(f"{root}/meson.build").read()).group(1)
    if f"\npkgver={version}\n" not in text:
        fail(f"APKBUILD: not of version {version}")
    alpine = open(f"{root}/packaging/deps.sh").read().split("alpine_packages()")[1]
    needs = re.search(r"build\) echo (.*?) ;;", alpine, re.S).group(1)
    if re.search(r'makedepends="(.*)"', text).group(1).split() != re.sub(r"['\\]", " ", needs).split():
        fail("APKBUILD: makedepends is not what packaging/deps.sh installs on Alpine")


if "Invalid conf pair" not in complaints("prof:true,bad:1", "off"):
    print("no libjemalloc.so.2 here that can be preloaded (Debian: libjemalloc2)")
    sys.exit(77)
if "not understood: att=1" not in complaints("prof:true", "att=1"):
    fail("the agent does not say that it knows no att=1: this test sees nothing")
for path in sorted(glob.glob(f"{root}/packaging/images/*")):
    check_file(path)
check_apkbuild()
print("\n".join(failures))
print(", ".join(f"{count} {what}" for what, count in counted.items()) + f" of packaging/images; {len(failures)} wrong")
sys.exit(bool(failures) or min(counted.values()) == 0)
