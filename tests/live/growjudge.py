"""Judges what `jprof diff --json` says of held.c's or held.rb's workloads: growjudge.py JSON

Prints the verdict of each workload that is wrong, and fails.
"""
import json
import re
import sys

# All but the first two grew between the dumps, or are full in both.
VERDICTS = {"startup": "startup", "turnover": "turnover", "growing": "leak_suspect", "levelled_off": "levelled_off",
            "one_jump": "one_jump"}

with open(sys.argv[1], encoding="utf-8") as file:
    diff = json.load(file)
faults = []
for name, verdict in VERDICTS.items():
    rows = [row for row in diff["rows"] if re.search(r"(^|#)" + name + "$", row["name"])]
    if [row["verdict"] for row in rows] != [verdict]:
        faults.append(f"{name}: {[(row['verdict'], row['growth'], row['shape'], row['shape_since']) for row in rows]}")
# What Ruby keeps of its heap's pages does grow, with what the workload keeps.
others = [row["name"] for row in diff["rows"] if row["verdict"] in ("leak_suspect", "growing")
          and not re.search("^libruby|growing$", row["name"])]
if others:
    faults.append(f"accused: {others}")
if not diff["ages"]:
    faults.append("no ages")
print("; ".join(faults) or "right")
sys.exit(bool(faults))
