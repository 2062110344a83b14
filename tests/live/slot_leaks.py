"""Ten kinds of leaks of Ruby's own objects: of the growth a part is on the line that leaked it, as the program says; no other line is
called a leak, and diff says what keeps them.
usage: slot_leaks.py JPROF AGENT JEMALLOC [KIND...]     in a directory of its own; RUBY, or other words in it, starts Ruby"""
import json
import os
import re
import subprocess
import sys

KINDS = "strings objects structs arrays hashes json table closures thread set".split()
COUNT = 150_000
jprof, agent, jemalloc = sys.argv[1:4]
program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "slot_leaks.rb")


def jprof_says(*words):
    return subprocess.run([jprof, *words], capture_output=True, text=True, check=True).stdout


def snapshots_of(kind):
    env = dict(os.environ, LD_PRELOAD=f"{agent}:{jemalloc}", MALLOC_CONF="prof:true,lg_prof_sample:19", JPROF_AGENT="slots=128k")
    ruby = subprocess.Popen(["ruby", program, kind, str(COUNT)], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    files = []
    try:
        for i in range(3):
            line = int(ruby.stdout.readline().split()[1])
            files.append(f"{kind}.{i}.jprof")
            jprof_says("snap", "--gc", *(["--objects"] if i == 2 else []), "--symbols=later", "-o", files[-1], str(ruby.pid))
            ruby.stdin.write("more\n")
            ruby.stdin.flush()
    finally:
        ruby.kill()
        ruby.wait()
    return files, line


def grown_on(line, told):
    return [r for r in told["rows"] if r["line"] == line and (r["file"] or "").endswith("slot_leaks.rb")]


def judge(kind):
    """The share of the growth on the line, and what is wrong."""
    files, line = snapshots_of(kind)
    told = json.loads(jprof_says("diff", "--json", "--top=0", *files))
    rows = told["rows"]
    of_line = grown_on(line, told)
    tables = sum(r["growth"] for r in rows if r["of_gc_heap"])
    share = sum(r["growth"] for r in of_line) / (told["malloc"]["growth"] - tables)
    wrong = []
    if not told["slots"]:
        wrong.append("no samples of slots")
    if share < 0.7:
        wrong.append(f"{share:.0%} of the growth is on line {line}")
    if not of_line or of_line[0]["verdict"] not in ("leak_suspect", "growing"):
        wrong.append(f"line {line}: {[(r['verdict'], r['values']) for r in of_line]}")
    if kind == "hashes" and (not of_line or of_line[0]["kind"] != "Ruby data: Hash"):
        wrong.append(f"it is {of_line[0]['kind'] if of_line else None}")
    wrong += [f"{r['name']} is called a leak" for r in rows
              if r["verdict"] == "leak_suspect" and r not in of_line]
    keeper = "a Hash of" if kind in ("table", "set") else "an Array of"
    if kind != "closures" and not re.search(rf"^   kept by  {keeper} [0-9,]+ in ", jprof_says("diff", *files), re.M):
        wrong.append(f"diff does not say that {keeper} ... keeps them")
    kept_by = of_line[0]["kept_by"] if of_line else None
    if kind != "closures" and not (kept_by and kept_by["what"].startswith(keeper) and kept_by["share"] > 0.9):
        wrong.append(f"in JSON it is kept by {kept_by}")
    if rows[0] not in of_line:
        wrong.append(f"the first row is {rows[0]['name']}")
    return share, wrong


failed = 0
for kind in sys.argv[4:] or KINDS:
    share, wrong = judge(kind)
    failed += bool(wrong)
    print(f"{kind}: {share:.0%} on its line{': ' if wrong else ''}{'; '.join(wrong)}")
sys.exit(failed > 0)
