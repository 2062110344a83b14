"""Pictures of graphs with so many arrows that Graphviz would take minutes: how many are drawn, and what is said of the rest.
usage: graph_dense.py JPROF"""
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

jprof = os.path.abspath(sys.argv[1])
failures = []


def check(good, text):
    if not good:
        failures.append(text)


def dense(path, stacks, depth):
    """Stacks of functions by chance, out of 80."""
    chance = random.Random(1)
    with open(path, "w") as out:
        print("--- symbol\nbinary=/opt/app", file=out)
        for i in range(80):
            print(f"0x{0x1000 * (i + 1):x} function_number_{i}{'x' * chance.randrange(20)}", file=out)
        print("---\n--- heap\nheap_v2/1\n  t*: 1: 1 [0: 0]", file=out)
        for _ in range(stacks):
            addresses = [hex(0x1000 * (chance.randrange(80) + 1) + (i > 0)) for i in range(depth)]
            print("@", *addresses, file=out)
            print(f"  t*: 1: {chance.randrange(1000, 100000)} [0: 0]", file=out)
        print("\nMAPPED_LIBRARIES:\n00000000-00001000 r-xp 00000000 08:01 42 /opt/other", file=out)


def a_minute_of_work():
    """Of the processor, 10 to 20 times what is needed."""
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


def run(*arguments):
    return subprocess.run([jprof, *arguments], preexec_fn=a_minute_of_work, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def arrows(path, *options):
    return run("--dot", *options, path).stdout.decode().count(" -> ")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        dense("many.raw", 400, 20)
        dense("few.raw", 5, 5)
        if b"built without libgvc" in run("--svg", "few.raw").stderr:
            print("built without libgvc")
            sys.exit(77)
        everything = arrows("many.raw", "--maxdegree=1000")
        check(everything > 2000, f"--maxdegree=1000 has {everything} arrows only")
        check(arrows("many.raw", "--maxdegree=8") > 600, "--maxdegree=8 leaves out more than it says")
        done = run("--svg", "many.raw")
        check((done.returncode, done.stderr) == (0, b""), f"exit status {done.returncode}: {done.stderr.decode()}")
        svg = done.stdout.decode()
        drawn = svg.count('class="edge')
        check(200 <= drawn <= 220, f"{drawn} of {everything} arrows are drawn")
        check(drawn == arrows("many.raw"), "--dot has other arrows than --svg")
        check(svg.count('class="node') == 80, "not all functions are drawn")
        told = re.findall("left out: ([0-9]+) of the smaller arrows", svg.replace("&#160;", " "))
        check(len(told) == 1 and int(told[0]) >= everything - drawn, f"the legend says {told}")
    print("\n".join(failures) or "all is well")
    sys.exit(bool(failures))


main()
