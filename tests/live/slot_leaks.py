"""Ten kinds of leaks of Ruby's own objects: of the growth a part is on the line that leaked it, as the program says; no other line is
called a leak, and diff says what keeps them. Where Ruby moves data in a GC the share is small: it is taken from a run in which so much is sampled
that chance moves 29 % by half a percent, as a part of the growth by Ruby's own count.
usage: slot_leaks.py JPROF AGENT JEMALLOC [KIND...]     in a directory of its own; RUBY, or other words in it, starts Ruby"""
import json
import os
import re
import subprocess
import sys

KINDS = "strings objects structs arrays hashes json table closures thread set".split()
COUNT = 150_000
NO_CREATOR = "after a GC: creator not known"
jprof, agent, jemalloc = sys.argv[1:4]
program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "slot_leaks.rb")


def jprof_says(*words):
    return subprocess.run([jprof, *words], capture_output=True, text=True, check=True).stdout


def snapshots_of(kind, lg=19, slots="128k"):
    env = dict(os.environ, LD_PRELOAD=f"{agent}:{jemalloc}", MALLOC_CONF=f"prof:true,lg_prof_sample:{lg}", JPROF_AGENT=f"slots={slots}")
    ruby = subprocess.Popen(["ruby", program, kind, str(COUNT)], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    files, sizes = [], []
    try:
        for i in range(3):
            line, size = map(int, ruby.stdout.readline().split()[1:])
            sizes.append(size)
            files.append(f"{kind}.{i}.{lg}.jprof")
            jprof_says("snap", "--gc", *(["--objects"] if i == 2 else []), "--symbols=later", "-o", files[-1], str(ruby.pid))
            ruby.stdin.write("more\n")
            ruby.stdin.flush()
    finally:
        ruby.kill()
        ruby.wait()
    return files, line, sizes[-1] - sizes[0]


def grown_on(line, told):
    return [r for r in told["rows"] if r["line"] == line and (r["file"] or "").endswith("slot_leaks.rb")]


def judge(kind):
    """The share of the growth on the line, and what is wrong."""
    files, line, _ = snapshots_of(kind)
    told = json.loads(jprof_says("diff", "--json", "--top=0", *files))
    rows = told["rows"]
    of_line = grown_on(line, told)
    tables = sum(r["growth"] for r in rows if r["of_gc_heap"])
    moved = any(r["name"] == NO_CREATOR for r in rows) # Ruby to 3.2
    share = sum(r["growth"] for r in of_line) / (told["malloc"]["growth"] - tables)
    if moved:
        often, line, growth = snapshots_of(kind, 15, "4k")
        share = sum(r["growth"] for r in grown_on(line, json.loads(jprof_says("diff", "--json", "--top=0", *often)))) / growth
    wrong = []
    if not told["slots"]:
        wrong.append("no samples of slots")
    if share < (0.25 if moved else 0.7):
        wrong.append(f"{share:.0%} of the growth is on line {line}")
    if not of_line or of_line[0]["verdict"] not in ("leak_suspect", "growing"):
        wrong.append(f"line {line}: {[(r['verdict'], r['values']) for r in of_line]}")
    wrong += [f"{r['name']} is called a leak" for r in rows
              if r["verdict"] == "leak_suspect" and r not in of_line and r["name"] != NO_CREATOR]
    keeper = "a Hash of" if kind in ("table", "set") else "an Array of"
    if kind != "closures" and not re.search(rf"^   kept by  {keeper} [0-9,]+ in ", jprof_says("diff", *files), re.M):
        wrong.append(f"diff does not say that {keeper} ... keeps them")
    kept_by = of_line[0]["kept_by"] if of_line else None
    if kind != "closures" and not (kept_by and kept_by["what"].startswith(keeper) and kept_by["share"] > 0.9):
        wrong.append(f"in JSON it is kept by {kept_by}")
    if rows[0] not in of_line and rows[0]["name"] != NO_CREATOR:
        wrong.append(f"the first row is {rows[0]['name']}")
    return share, wrong


failed = 0
for kind in sys.argv[4:] or KINDS:
    share, wrong = judge(kind)
    failed += bool(wrong)
    print(f"{kind}: {share:.0%} on its line{': ' if wrong else ''}{'; '.join(wrong)}")
sys.exit(failed > 0)
