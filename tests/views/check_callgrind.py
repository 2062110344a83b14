"""Reads a callgrind file strictly, by the grammar of valgrind's "Callgrind Format Specification" (version 1), and
prints what it says: lines "EVENT total VALUE", "EVENT self FUNCTION VALUE", "EVENT cum FUNCTION VALUE".

Anything that the grammar does not have is an error, and so is: a compressed name that was not defined, a name
defined twice, a function without a file or object, a cost before a function, a calls= line without a cost line, totals
that are not the sum of the costs, inclusive costs by callers that differ from those by callees, and a name whose
inclusive cost is more than all there is.

usage: check_callgrind.py FILE [--callers]"""
import re
import sys


def fail(number, text):
    sys.exit(f"{sys.argv[1]}:{number}: {text}")


HEADER = re.compile(r"(version|creator|pid|cmd|part|desc|positions|event|events|summary|totals): (.*)$")
POSITION = re.compile(r"(ob|fl|fi|fe|fn|cob|cfi|cfl|cfn)=\((\d+)\)(?: (.*))?$")
CALLS = re.compile(r"calls=(\d+) (\d+)$")
KIND = {"ob": "ob", "cob": "ob", "fl": "fl", "fi": "fl", "fe": "fl", "cfi": "fl", "cfl": "fl", "fn": "fn", "cfn": "fn"}


class Reader:
    def __init__(self):
        self.names = {"ob": {}, "fl": {}, "fn": {}}
        self.at = {}          # ob, fl, fn now
        self.called = {}      # cob, cfi, cfn of the call under way
        self.calls = None     # that a cost line must follow
        self.events = None
        self.head = {}
        self.self_cost = {}   # (ob, fl, fn) -> list
        self.out_cost = {}
        self.in_cost = {}

    def name(self, number, key, index, text):
        table = self.names[KIND[key]]
        if text is not None:
            if index in table:
                fail(number, f"{key} ({index}) is defined twice")
            if not text or text != text.strip() or any(ord(c) < 32 or ord(c) == 127 for c in text):
                fail(number, f"a name that readers would not keep: {text!r}")
            if text in table.values():
                fail(number, f"{text!r} has two numbers")
            table[index] = text
        if index not in table:
            fail(number, f"{key} ({index}) is not defined")
        return table[index]

    def position(self, number, key, index, text):
        if self.calls is not None:
            fail(number, "a calls= line without costs")
        value = self.name(number, key, index, text)
        if key in ("cob", "cfi", "cfl", "cfn"):
            self.called["cfi" if key == "cfl" else key] = value
            return
        if self.called:
            fail(number, "cob=, cfi= or cfn= without calls=")
        if key in ("fi", "fe") and "fn" not in self.at:
            fail(number, f"{key}= before fn=")
        self.at["fl" if key in ("fi", "fe") else key] = value

    def cost(self, number, text):
        words = text.split(" ")
        if not self.events or "fn" not in self.at or "fl" not in self.at or "ob" not in self.at:
            fail(number, "costs before events:, ob=, fl= and fn=")
        if len(words) != 1 + len(self.events) or not all(re.fullmatch(r"\d+", w) for w in words):
            fail(number, f"is no line number and {len(self.events)} costs")
        values = [int(w) for w in words[1:]]
        if any(v >= 2**64 for v in values):
            fail(number, "a cost beyond 64 bits")
        me = (self.at["ob"], self.at["fl"], self.at["fn"])
        if self.calls is None:
            add(self.self_cost, me, values)
            return
        target = tuple(self.called.get(k, self.at[v]) for k, v in (("cob", "ob"), ("cfi", "fl"), ("cfn", "fn")))
        add(self.out_cost, me, values)
        add(self.in_cost, target, values)
        self.calls, self.called = None, {}

    def line(self, number, text):
        header, position, calls = HEADER.match(text), POSITION.match(text), CALLS.match(text)
        if header:
            key, value = header.groups()
            if key in self.head and key != "event":
                fail(number, f"{key}: comes twice")
            if self.at and key != "totals":
                fail(number, f"{key}: after the head")
            self.head.setdefault(key, value)
            if key == "events":
                self.events = value.split(" ")
                if any(not re.fullmatch(r"[A-Za-z_]\w*", e) for e in self.events):
                    fail(number, f"events: {value}")
        elif position:
            self.position(number, position[1], int(position[2]), position[3])
        elif calls:
            if "cfn" not in self.called or self.calls is not None:
                fail(number, "calls= without cfn=")
            if int(calls[1]) < 1:
                fail(number, "a call that never was")
            self.calls = number
        elif re.match(r"\d", text):
            self.cost(number, text)
        elif text and not text.startswith("#"):
            fail(number, f"is nothing that the format has: {text!r}")


def add(table, key, values):
    known = table.setdefault(key, [0] * len(values))
    for i, v in enumerate(values):
        known[i] += v


def summed(costs, part):
    table = {}
    for key, values in costs.items():
        add(table, tuple(key[i] for i in part), values)
    return table


def main():
    reader = Reader()
    with open(sys.argv[1], encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        for number, text in enumerate(file, 1):
            if number == 1 and text != "# callgrind format\n":
                fail(1, "is not the mark of the format")
            if not text.endswith("\n"):
                fail(number, "has no end")
            reader.line(number, text[:-1])
    if reader.calls is not None or reader.called:
        fail("end", "a call without costs")
    for key in ("version", "positions", "events", "summary", "totals"):
        if key not in reader.head:
            fail("end", f"no {key}:")
    if reader.head["version"] != "1" or reader.head["positions"] != "line":
        fail("end", "version or positions")
    count = len(reader.events)
    total = [sum(v[i] for v in reader.self_cost.values()) for i in range(count)]
    for key in ("summary", "totals"):
        if [int(v) for v in reader.head[key].split(" ")] != total:
            fail("end", f"{key}: {reader.head[key]} is not the sum of all costs, {total}")
    zero = [0] * count
    cum = {}
    for f in set(reader.self_cost) | set(reader.out_cost) | set(reader.in_cost):
        cum[f] = [a + b for a, b in zip(reader.self_cost.get(f, zero), reader.out_cost.get(f, zero))]
        # Called by nothing: a root, unless its stacks begin at it in part.
        if any(b > a for a, b in zip(cum[f], reader.in_cost.get(f, zero))):
            fail("end", f"{f[2]}: its callers give it {reader.in_cost[f]}, it has {cum[f]}")
    # Readers know a function by its name and file, people by its name.
    for part in (2,), (1, 2), (0, 1, 2):
        for name, cost in summed(cum, part).items():
            if any(a > b for a, b in zip(cost, total)):
                fail("end", f"{name} has {cost} with what it calls, all together {total}")
    for i, event in enumerate(reader.events):
        print(f"{event} total {total[i]}")
        for f in sorted(cum):
            print(f"{event}\tself\t{f[2]}\t{reader.self_cost.get(f, zero)[i]}")
            print(f"{event}\tcum\t{f[2]}\t{cum[f][i]}")


main()
