"""Pictures of graphs with so many arrows that Graphviz would take minutes: what is drawn, and what is said of the rest.
usage: graph_dense.py JPROF"""
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

from on_tty import on_tty

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


def texts(svg):
    return [re.sub("[\xa0 ]+", " ", t) for t in re.findall("<text[^>]*>([^<]*)</text>", svg.replace("&#160;", " "))]


def draw(path, least, *options):
    """A graph that has at least so many arrows."""
    what = " ".join(options) + " " + path
    dot = run("--dot", *options, path).stdout.decode()
    known = dot.count(" -> ")
    check(known >= least, f"{what}: there are {known} arrows only")
    check(dot.count("label=\" ") >= known, f"{what}: --dot lacks values")
    check("nslimit=" in dot, f"{what}: --dot puts no limit on what reads it")
    done = run("--svg", *options, path)
    said = done.stderr.decode()
    check(done.returncode == 0, f"{what}: exit status {done.returncode}: {said}")
    svg = done.stdout.decode()
    drawn = svg.count('class="edge')
    check(250 <= drawn <= 500, f"{what}: {drawn} of {known} arrows are drawn")
    check(svg.count('class="node') == 80, f"{what}: not all functions are drawn")
    left = f"jprof: the {known - drawn} smallest of {known} arrows are left out, because Graphviz would take minutes"
    check((left in said) == (drawn < known), f"{what}: {known - drawn} are left out, and standard error says: {said}")
    legend = [t for t in texts(svg) if "as can be placed" in t]
    check(bool(legend) == (drawn < known), f"{what}: the legend says {legend}")
    check(not legend or legend[0].startswith(f"left out: {known - drawn} more arrows"), f"{what}: {legend}")
    check("boxes" not in said, f"{what}: progress where there is no terminal: {said}")
    numbers = "arrows have no numbers" in " ".join(texts(svg))
    check(numbers, f"{what}: nothing says where the numbers of arrows are")


def on_a_terminal(path):
    status, said = on_tty([jprof, "--svg", "-o", "picture.svg", path], 24, 80, stdout=subprocess.DEVNULL, preexec_fn=a_minute_of_work)
    check(status == 0, f"on a terminal: exit status {status}")
    return said.decode()


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        dense("some.raw", 60, 8)
        dense("many.raw", 400, 20)
        dense("most.raw", 180, 20)
        dense("few.raw", 5, 5)
        if b"built without libgvc" in run("--svg", "few.raw").stderr:
            print("built without libgvc")
            sys.exit(77)
        draw("many.raw", 600)
        draw("most.raw", 2000, "--maxdegree=1000")
        said = on_a_terminal("some.raw")
        drawn = open("picture.svg").read().count('class="edge')
        check(drawn >= 370, f"some.raw: {drawn} arrows are drawn")
        check("left out" not in said, f"some.raw: {said}")
        check(re.search(r"jprof: Graphviz places 80 boxes and \d+ arrows [.]*\r?\n", said), f"no progress: {said!r}")
        said = on_a_terminal("few.raw")
        check("Graphviz" not in said, f"progress of a small graph: {said!r}")
    print("\n".join(failures) or "all is well")
    sys.exit(bool(failures))


main()
