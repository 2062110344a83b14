"""Wrong command lines, as people type them: each ends with 1, prints nothing, and says in one line what is wrong and what to do; and
what that line names is there: an option is in a --help, a command has one. One process for each.

usage: typed.py JPROF <ROWS   in a directory with the files that the rows name. A row is WORDS~REGEX, what is typed and how the line
goes on after "jprof: "; or `option TYPED MEANT` or `command TYPED MEANT`, for what is misspelt. Prints what is wrong and how many
command lines were tried; the status is 1 if anything is wrong."""
import re
import shlex
import subprocess
import sys

jprof = sys.argv[1]
COMMANDS = ["", "bundle", "diff", "doctor", "explain", "info", "run", "snap"]


def run(words):
    done = subprocess.run([jprof, *words], capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    aside = re.compile(r"jprof: (nothing proves that .* names may be wrong|(.*; )?next: jprof .*)")
    return done, [line for line in done.stderr.split("\n")[:-1] if not aside.fullmatch(line)]


helps = "\n".join(run([*command.split(), "--help"])[0].stdout for command in COMMANDS)


def lies(said, typed):
    """Commands and options that the line tells to use, and that are not there."""
    for option in re.findall(r"(?:^|[ =(])(--?[a-z_-]*[a-z])(?![a-z_0-9])", said):
        known = re.search(r"^ +(jprof .*)?%s([ =\[]|$)|%s is the same" % (option, option), helps, re.M)
        if not known and not any(word == option or word.startswith(option + "=") for word in typed):
            yield option
    for command in re.findall(r"jprof ([a-z]+)", said.replace("jprof never", "")):
        if not re.search(r"^usage: jprof %s" % command, helps, re.M):
            yield "jprof " + command


def wrong(typed, answer):
    done, lines = run(typed)
    if done.returncode != 1 or done.stdout:
        return "status %d, and %d bytes on standard output" % (done.returncode, len(done.stdout))
    if len(lines) != 1 or not re.search("^jprof: " + answer, lines[0]):
        return "not one line like %s" % answer
    named = list(lies(lines[0][7:], typed))
    return "it names what is not there: %s" % named if named else None


tried = failed = 0
for row in sys.stdin.read().splitlines():
    kind, *words = row.split()
    if kind == "option":
        typed, answer = ["--" + words[0], "app.heap"], r"unknown option --%s; is it --%s\? jprof --help lists all$" % tuple(words)
    elif kind == "command":
        typed, answer = [words[0], "app.heap"], r"%s: no such command or file; is it jprof %s\?" % tuple(words)
    else:
        line, _, answer = row.partition("~")
        typed = shlex.split(line)
    tried += 1
    fault = wrong(typed, answer)
    if fault:
        failed += 1
        print("FAIL: jprof %s: %s: %s" % (shlex.join(typed), fault, run(typed)[0].stderr.strip()[:300]))
print("%d command lines" % tried)
sys.exit(failed > 0)
