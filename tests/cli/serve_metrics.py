#!/usr/bin/env python3
"""What jprof serve gives Prometheus, by its text format: python3 serve_metrics.py FILE GROWN    GROWN: how many rows have grown, "1-10".

Each metric has HELP and TYPE before its samples, which stand together; no sample is there twice; the parts add up to the total."""
import re
import sys

SAMPLE = re.compile(r'([a-zA-Z_:][\w:]*)(\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*\})? (-?\d+)$')
text = open(sys.argv[1], newline="").read()
least, most = map(int, sys.argv[2].split("-"))
assert text.endswith("\n"), "its last line has no end"
helped, typed, seen, now = set(), set(), {}, None
for line in text[:-1].split("\n"):
    if line.startswith("# HELP "):
        name = line.split()[2]
        assert name not in helped, f"HELP twice: {name}"
        helped.add(name)
    elif line.startswith("# TYPE "):
        now, kind = line.split()[2:]
        assert now in helped and now not in typed and kind == "gauge", line
        typed.add(now)
    else:
        sample = SAMPLE.match(line)
        assert sample and sample[1] == now, f"{line!r} under {now}"
        assert (sample[1], sample[2]) not in seen, f"twice: {line}"
        seen[sample[1], sample[2]] = int(sample[3])


def of(name):
    return {labels: value for (metric, labels), value in seen.items() if metric == name}


parts, total = of("jprof_memory_bytes"), of("jprof_memory_total_bytes")[None]
assert len(parts) >= 5 and abs(sum(parts.values()) - total) <= len(parts), f"{sum(parts.values())} are not {total}"
grown, low, high = (of(f"jprof_growth_{word}bytes") for word in ("", "low_", "high_"))
assert least <= len(grown) <= most, f"{len(grown)} rows have grown"
assert all(low[labels] <= value <= high[labels] for labels, value in grown.items()), "outside of its interval"
print(f"{len(parts)} parts, {len(grown)} rows that grew")
