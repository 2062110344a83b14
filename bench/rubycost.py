#!/usr/bin/env python3
"""What Ruby stacks cost: instructions of whole programs with the agent, against jemalloc's own profiling alone (valgrind's callgrind).

usage: rubycost.py AGENT JEMALLOC [RUBY]

Instructions, not time: the same on any machine, however busy. Ends with 1 where a program costs more than its limit.
"""
import os
import re
import subprocess
import sys
import tempfile

# Too long for a place in Ruby's own heap, which has up to 640 bytes from 3.2 on.
STRINGS = '%d.times { "a" * 700 }'
DEEP = "def r(n) = n == 0 ? " + STRINGS + " : r(n - 1); r(240)"
BLOCKS = "def r(n) = n == 0 ? " + STRINGS + " : [1].each { r(n - 1) }; r(80)"
JSON = """require "json"
kept = []
3000.times do |i|
  h = { id: i, name: "n#{i}" * 20, tags: (1..20).map { |t| "tag #{t} #{i}" } }
  kept << JSON.parse(JSON.generate(h))
  kept.shift if kept.size > 500
end"""
# Name, text, lg_prof_sample, most: None where there is no limit, for the program does nothing but allocate.
PROGRAMS = (
    ("80 blocks deep, 20,000 Strings", BLOCKS % 20_000, 12, 1.0),
    ("240 calls deep, 20,000 Strings", DEEP % 20_000, 12, 1.5),
    ("80 blocks deep, 100,000 Strings", BLOCKS % 100_000, 17, 1.01),
    ("240 calls deep, 100,000 Strings", DEEP % 100_000, 17, None),
    ("3,000 hashes to JSON and back", JSON, 17, 1.01),
    ("3,000 hashes to JSON and back", JSON, 19, 1.01),
)


def instructions(ruby, text, lg, preload):
    with tempfile.TemporaryDirectory() as directory:
        env = dict(os.environ, LD_PRELOAD=preload,
                   MALLOC_CONF=f"prof:true,lg_prof_sample:{lg},thp:never,prof_prefix:{directory}/bench")
        said = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", ruby, "--disable-gems", "-e", text],
                              env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True).stderr.decode()
    return int(re.search(r"Collected *: *(\d+)", said)[1])


def main():
    agent, jemalloc = os.path.abspath(sys.argv[1]), sys.argv[2]
    ruby = sys.argv[3] if len(sys.argv) > 3 else "ruby"
    worse = 0
    print(f"{'program':34} lg  alone (million)  with the agent  at most")
    for name, text, lg, most in PROGRAMS:
        alone = instructions(ruby, text, lg, jemalloc)
        ratio = instructions(ruby, text, lg, agent + ":" + jemalloc) / alone
        bad = most is not None and ratio > most
        worse += bad
        print(f"{name:34} {lg} {alone / 1e6:16.1f} {ratio:15.4f}  {most or ''}{', which is exceeded' if bad else ''}", flush=True)
    sys.exit(worse > 0)


main()
