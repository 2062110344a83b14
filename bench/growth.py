#!/usr/bin/env python3
"""How the cost of reports grows, in instructions counted by valgrind: growth.py JPROF

For each kind of input one, and one that is 5, 10 or 100 times as large; the exponent is the logarithm of the one ratio to
the base of the other: 1 is linear. What the program takes to start is left out. Ends with 1 where one is above 1.1.
Measure a release build."""
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MOST = 1.1
here = pathlib.Path(__file__).resolve().parent
jprof = os.path.abspath(sys.argv[1])
too_much = False


def instructions(*arguments):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", jprof, *map(str, arguments)],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
                          env={**os.environ, "JPROF_CACHE": "", "DEBUGINFOD_URLS": ""})
    if done.returncode:
        sys.exit("growth: %s: %s" % (arguments, done.stderr))
    return sum(int(n.replace(",", "")) for n in re.findall(r"refs: +([\d,]+)", done.stderr))


def make(script, *arguments, to=None):
    command = [sys.executable, here / script, *map(str, arguments)]
    if not to:
        return subprocess.run(command, check=True)
    with open(to, "w") as out:
        subprocess.run(command, stdout=out, check=True)
    return to


def row(what, factor, small, large):
    global too_much
    costs = [instructions(*arguments) - start for arguments in (small, large)]
    exponent = math.log(costs[1] / costs[0], factor)
    too_much |= exponent > MOST
    print("| %s | %d | %.1f | %.1f | %.2f |" % (what, factor, costs[0] / 1e6, costs[1] / 1e6, exponent), flush=True)


def program(units):
    folder = "units%d" % units
    make("cppsource.py", folder, units, 8)
    subprocess.run(["make", "-s", "-C", folder, "program"], check=True)
    return folder + "/program"


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    start = instructions("--version")
    print("| what is larger | times | millions of instructions | then | exponent |\n| --- | --- | --- | --- | --- |")
    for mb in (0.3, 3, 30):
        make("shape.py", 40, 2000, mb, to="bytes%g" % mb)
    for command in (["--text", "--fold=none"], ["info"], ["--libs"], ["--collapsed"]):
        for factor, mb in ((10, 3), (100, 30)):
            row("bytes, %s" % " ".join(command), factor, [*command, "bytes0.3"], [*command, "bytes%g" % mb])
    for number in (2000, 20000):
        make("shape.py", 40, number, 10, to="addresses%d" % number)
    row("addresses without names, --text", 10, ["--text", "addresses2000"], ["--text", "addresses20000"])
    one, five = program(1), program(5)
    row("debug information for 600 addresses", 5, ["--text", make("addresses.py", one, 600, to="one")],
        ["--text", make("addresses.py", five, 600, to="five")])
    row("addresses with names", 10, ["--text", make("addresses.py", five, 300, to="few")],
        ["--text", make("addresses.py", five, 3000, to="many")])
    make("fleet.py", "fleet", 50, 0.1)
    dumps = ["fleet/%d.heap" % i for i in range(50)]
    row("processes of different layouts", 10, ["--text", *dumps[:5]], ["--text", *dumps])
sys.exit(too_much)
