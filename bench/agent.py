#!/usr/bin/env python3
"""What the agent costs: jemalloc with profiling alone, and with the agent, in turns.

usage: agent.py AGENT JEMALLOC [ROUNDS]

Each round runs both in random order, and gives the ratio of their times. Printed are the median ratio and its 95 %
interval (bootstrap), of the CPU time, user and system, and of the wall time. Subjects: `ruby -e 1`; a Ruby that runs 20
children `true`; `true` alone, ten times as often, also with a library that is empty in the agent's place (it needs a
C compiler, CC): no preload is cheaper than that; a Ruby loop that allocates.
"""
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

LOOP = "a = []; 400_000.times { |i| a[i % 1000] = 'x' * (100 + i % 900) }"
CHILDREN = "20.times { Process.wait(Process.spawn('/bin/true')) }"
WARM_UP = 3


def run(argv, env):
    began = time.perf_counter()
    pid = os.posix_spawnp(argv[0], argv, env)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - began
    if status:
        sys.exit(f"{argv}: status {status}")
    return usage.ru_utime + usage.ru_stime, wall


def interval(ratios, draws=2000):
    medians = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(draws))
    return medians[int(0.025 * draws)], medians[int(0.975 * draws)]


def compare(name, argv, alone, with_it, rounds):
    got = ([], [])
    for i in range(rounds + WARM_UP):
        order = random.sample((0, 1), 2)
        for arm in order:
            times = run(argv, (alone, with_it)[arm])
            if i >= WARM_UP:
                got[arm].append(times)
    for kind, word in ((0, "CPU"), (1, "wall")):
        ratios = [b[kind] / a[kind] for a, b in zip(*got)]
        low, high = interval(ratios)
        middle = statistics.median(times[kind] for times in got[0]) * 1000
        print(f"{name:28} {word:4} {middle:8.2f} ms alone, x {statistics.median(ratios):.4f} [{low:.4f}, {high:.4f}]",
              flush=True)


def empty_library(directory):
    source, library = (os.path.join(directory, name) for name in ("empty.c", "empty.so"))
    with open(source, "w") as f:
        f.write("static int none __attribute__((unused));\n")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-nostdlib", "-Wl,-z,noseparate-code", "-o", library,
                    source], check=True)
    return library


def main():
    agent, jemalloc = os.path.abspath(sys.argv[1]), sys.argv[2]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    random.seed(1)
    tmp = tempfile.mkdtemp()
    try:
        base = dict(os.environ, MALLOC_CONF=f"prof:true,lg_prof_sample:17,prof_prefix:{tmp}/bench")
        alone = dict(base, LD_PRELOAD=jemalloc)
        with_agent = dict(base, LD_PRELOAD=agent + ":" + jemalloc)
        with_empty = dict(base, LD_PRELOAD=empty_library(tmp) + ":" + jemalloc)
        compare("true, empty library", ["/bin/true"], alone, with_empty, 10 * rounds)
        compare("true", ["/bin/true"], alone, with_agent, 10 * rounds)
        compare("true, agent against empty", ["/bin/true"], with_empty, with_agent, 10 * rounds)
        compare("ruby -e 1", ["ruby", "-e", "1"], alone, with_agent, rounds)
        compare("ruby with 20 children true", ["ruby", "-e", CHILDREN], alone, with_agent, rounds)
        compare("allocation loop", ["ruby", "-e", LOOP], alone, with_agent, rounds)
    finally:
        shutil.rmtree(tmp)


main()
