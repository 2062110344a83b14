"""Judges ages apart from libjprof: agejudge.py DUMP RECENT JSON

DUMP is one of held.c or held.rb with its table, RECENT jemalloc's own record of all samples at that moment
(experimental.prof_recent), JSON what `jprof --ages --json` says of DUMP. prof_unbias:false, so that the dump has plain counts.
Prints the shape of each workload that is wrong, and fails; or "right".
"""
import collections
import json
import re
import sys

WORKLOADS = {"startup": "startup", "growing": "growing", "levelled_off": "levelled_off", "one_jump": "one_jump",
             "turnover": "turnover"}


def dump_stacks(path):
    """The live samples of each stack of addresses."""
    stacks, stack = collections.Counter(), None
    with open(path, encoding="latin-1") as file:
        for line in file:
            if line.startswith("@"):
                stack = tuple(int(word, 16) for word in line.split()[1:])
            elif line.startswith("  t*:") and stack is not None:
                stacks[stack] += int(re.match(r"  t\*: (\d+):", line)[1])
            elif line.startswith("MAPPED_LIBRARIES"):
                break
    return +stacks


def recent_stacks(path):
    with open(path, encoding="latin-1") as file:
        records = json.load(file)["recent_alloc"]
    return collections.Counter(tuple(int(word, 16) for word in record["alloc_trace"])
                               for record in records if not record["released"])


def epoch_times(path):
    """Number by begin, and where in the mapping epochs begin."""
    times, first = {}, 0
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            word = line.split()
            if word[0] == "e":
                times[float(word[2])] = int(word[1])
            elif word[0] == "ids":
                first = int(word[1], 16) + 2 * int(word[4], 16)
                end = int(word[1], 16) + 2 * int(word[5], 16)
    return times, range(first, end)


def main(dump, recent, report):
    faults = []
    stacks, record = dump_stacks(dump), recent_stacks(recent)
    if stacks != record:
        faults.append(f"{sum(stacks.values())} samples in the dump, {sum(record.values())} in jemalloc's record")
    times, addresses = epoch_times(dump + ".ruby")
    truth = collections.Counter()
    for stack, n in record.items():
        truth[next(((a - addresses[0]) // 2 for a in stack if a in addresses), 0)] += n
    with open(report, encoding="utf-8") as file:
        told = json.load(file)
    number = [times.get(epoch["begin"], 0) for epoch in told["ages"]["epochs"]]
    counted = collections.Counter()
    for row in told["rows"]:
        for part in row["ages"]["epochs"]:
            counted[number[part["epoch"]]] += round(part["samples"])
        for name, shape in WORKLOADS.items():
            if re.search(r"(^|#)" + name + "$", row["name"]) and row["ages"]["shape"] != shape:
                faults.append(f"{name}: {row['ages']['shape']}, {row['ages']['samples']} samples, jprof's epochs "
                              f"{sorted((number[p['epoch']], p['samples']) for p in row['ages']['epochs'])}")
    seen = {name for name in WORKLOADS for row in told["rows"] if re.search(r"(^|#)" + name + "$", row["name"])}
    faults += [f"no row {name}" for name in WORKLOADS if name not in seen]
    if counted != truth:
        faults.append(f"by epoch: {sorted((truth - counted).items())} are missing, {sorted((counted - truth).items())} too many")
    print("; ".join(faults) or "right")
    return bool(faults)


sys.exit(main(*sys.argv[1:]))
