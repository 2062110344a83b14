#!/usr/bin/env python3
"""Manual pages, completion, --help and the parser have the same options, and the pages are sound mdoc.

usage: python3 agree.py JPROF PAGES SOURCE_ROOT   (PAGES: where the build has made pages and completion)"""
import glob
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time

jprof, pages, root = map(os.path.abspath, sys.argv[1:])
failures = []


def fail(text):
    failures.append(text)


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, **more)


# ---- what --help says, read by this test's own eyes ----


def helped(command):
    """Each option of a help with what its value is, None where it has none."""
    text = run(jprof, *([command] if command else []), "--help").stdout
    return {name: value or None for name, value in re.findall(r"^  --([a-z][a-z_0-9-]*)(?:\[?=(\S+?)\]?)?(?=\s|$)", text, re.M)}


def commands():
    return sorted(set(re.findall(r"^       jprof ([a-z]+) ", run(jprof, "--help").stdout, re.M)))


def words_of(value):
    words = (value or "").split("|")
    return words if len(words) > 1 and all(word.islower() and word.isalpha() for word in words) else []


# ---- pages ----


def page_of(command):
    return open(f"{pages}/{f'jprof-{command}' if command else 'jprof'}.1").read()


def paged(command):
    options = page_of(command).split(".Sh OPTIONS", 1)[1].split("\n.Sh ", 1)[0]
    rows = re.findall(r"^\.It Fl \\-(\S+)(?: Ns (?:Oo Ns )?= Ns Ar (\S+))?", options, re.M)
    return {name.replace("\\-", "-"): value.replace("\\-", "-") or None for name, value in rows}


def check_pages(names):
    for command in names:
        have, want = paged(command), helped(command)
        if len(want) < 2:
            fail(f"jprof {command} --help: {len(want)} options: this test cannot read it")
        if have != want:
            fail(f"page and --help of jprof {command} differ: {sorted(set(have.items()) ^ set(want.items()), key=str)}")
        for name, value in want.items():
            given = f"--{name}" if value is None else f"--{name}={sample(value)}"
            done = run(jprof, *([command] if command else []), *(["--html"] if name == "open" else []), given, "--help")
            if done.returncode or (name not in ("help", "version") and "usage: jprof" not in done.stdout):
                fail(f"jprof {command} {given}: is in --help, and the parser says: {done.stderr.strip()}")


def sample(value):
    """A value that the parser takes, where the help calls it so."""
    return words_of(value)[0] if words_of(value) else {"SIZE": "1M", "SIZE|P%": "1M", "TIME": "1h", "F": ".5"}.get(value, "1" if value.isupper() else value)


def check_sound():
    made = sorted(glob.glob(f"{pages}/*.[1-8]"))
    names = {os.path.basename(page) for page in made}
    if shutil.which("mandoc"):
        said = run("mandoc", "-Tlint", "-Wwarning", *made).stdout
        if said:
            fail(f"mandoc: {said}")
    for page in made:
        for name, section in re.findall(r"^\.Xr (\S+) (\d)", open(page).read(), re.M):
            if f"{name}.{section}" not in names and name != "jeprof":
                fail(f"{os.path.basename(page)}: there is no {name}({section})")
    templates = {os.path.basename(path)[:-3] for path in glob.glob(f"{root}/manual/*.in")}
    if templates != names:
        fail(f"templates and pages differ: {sorted(templates ^ names)}")
    return names


# ---- completion ----


def ask_bash(line):
    """What bash would offer behind a command line."""
    script = f"""source {pages}/jprof; compopt() {{ :; }}; COMP_LINE={line!r}; COMP_POINT=${{#COMP_LINE}}
                 COMP_WORDBREAKS=$' \\t\\n=' _jprof; printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = run("bash", "--norc", "-c", script)
    if done.stderr:
        fail(f"bash: {line}: {done.stderr.strip()}")
    return done.stdout.split()


def ask_fish(line):
    script = f"source {pages}/jprof.fish; complete -C '{line}'"
    done = run("fish", "--no-config", "-c", script, env=dict(os.environ, HOME="/nonexistent", XDG_DATA_HOME="/nonexistent"))
    return [row.split("\t")[0] for row in done.stdout.splitlines()]


def zsh_specs(command):
    """What _jprof gives to zsh's _arguments: one specification a line."""
    words = f"jprof {command} --" if command else "jprof --"
    script = f"""_arguments() {{ print -rl -- "$@" }}; _files() {{ : }}; _describe() {{ : }}
                 words=({words}); CURRENT=${{#words}}; source {pages}/_jprof"""
    done = run("zsh", "-f", "-c", script)
    if done.stderr:
        fail(f"zsh: {command}: {done.stderr.strip()}")
    return dict(re.findall(r"^--([a-z][a-z_0-9-]*)(?:=-?)?(\[.*)", done.stdout, re.M))


def check_bash(command):
    before = f"jprof {command} " if command else "jprof "
    offered = {word[2:].rstrip("=") for word in ask_bash(f"{before}--")}
    if offered != set(helped(command)):
        fail(f"bash: {before}--: {sorted(offered ^ set(helped(command)))}")
    for name, value in helped(command).items():
        if words_of(value) and ask_bash(f"{before}--{name}=") != words_of(value):
            fail(f"bash: {before}--{name}=: {ask_bash(f'{before}--{name}=')}")


def check_fish(command):
    before = f"jprof {command} " if command else "jprof "
    offered = {word[2:].rstrip("=") for word in ask_fish(f"{before}--")}
    if offered != set(helped(command)):
        fail(f"fish: {before}--: {sorted(offered ^ set(helped(command)))}")
    for name, value in helped(command).items():
        offered = {word.rpartition("=")[2] for word in ask_fish(f"{before}--{name}=")} if words_of(value) else set()
        if offered != set(words_of(value)):
            fail(f"fish: {before}--{name}=: {sorted(offered)}")


def check_zsh(command):
    specs = zsh_specs(command)
    if set(specs) != set(helped(command)):
        fail(f"zsh: jprof {command} --: {sorted(set(specs) ^ set(helped(command)))}")
    for name, value in helped(command).items():
        if words_of(value) and not specs.get(name, "").endswith(f":({' '.join(words_of(value))})"):
            fail(f"zsh: jprof {command} --{name}=: {specs.get(name)}")


def type_in_zsh(keys, expected):
    """Keys in a real zsh: whether it shows what is expected before a minute is over."""
    pid, terminal = pty.fork()
    if not pid:
        os.environ.update(TERM="dumb", PS1="", HOME="/nonexistent")
        os.execvp("zsh", ["zsh", "-f", "-i"])
    os.write(terminal, f"unsetopt beep; fpath=({pages} $fpath); autoload -Uz compinit; compinit -u -D; print re''ady\n".encode())
    shown, sent, end = "", False, time.monotonic() + 60
    while time.monotonic() < end and expected not in shown:
        if select.select([terminal], [], [], 1)[0]:
            shown += os.read(terminal, 4096).decode(errors="replace")
        if not sent and "ready" in shown:
            shown, sent = "", bool(os.write(terminal, keys.encode()))
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    if expected not in shown:
        fail(f"zsh shows no {expected!r} behind {keys!r}: {shown!r}")


def check_completion(names):
    checks = {"bash": check_bash, "fish": check_fish, "zsh": check_zsh}
    for shell, check in checks.items():
        for command in names if shutil.which(shell) else []:
            check(command)
    if shutil.which("zsh"):
        type_in_zsh("jprof run --print-env=hel\t", "--print-env=helm")
        type_in_zsh("jprof wat\t", "jprof watch")
    if shutil.which("bash"):
        for line, word in (("jprof sn", "snap"), ("jprof help do", "doctor"), ("jprof --fold=s", "std")):
            if ask_bash(line) != [word]:
                fail(f"bash: {line}: {ask_bash(line)}")
        if ask_bash("jprof run -- ruby --"):
            fail("bash: jprof run -- ruby --: these are another program's options")
    if shutil.which("fish") and ask_fish("jprof sn") != ["snap"]:
        fail(f"fish: jprof sn: {ask_fish('jprof sn')}")


names = ["", *commands()]
made = check_sound()
for command in names:
    if f"{f'jprof-{command}' if command else 'jprof'}.1" not in made:
        fail(f"jprof {command} has no page: HACKING.md, A command, says where it is written")
check_pages([command for command in names if f"{f'jprof-{command}' if command else 'jprof'}.1" in made])
check_completion(names)
missing = [tool for tool in ("mandoc", "bash", "zsh", "fish") if not shutil.which(tool)]
if missing:
    print(f"not installed: {', '.join(missing)}")
if failures:
    print("\n".join(failures))
print(f"{len(names)} commands, {len(made)} pages; {len(failures)} disagree")
sys.exit(bool(failures) or (77 if missing else 0))
