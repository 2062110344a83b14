"""Compares two texts: numbers may differ in their last digits, which are the C library's; all else may not.

usage: compare.py WANTED IS
"""
import re
import sys

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")


def parts(path):
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    return NUMBER.split(text), [float(number) for number in NUMBER.findall(text)]


wanted, numbers = parts(sys.argv[1])
text, values = parts(sys.argv[2])
for a, b in zip(wanted, text):
    if a != b:
        sys.exit("is %r, not %r" % (b[:200], a[:200]))
if len(wanted) != len(text):
    sys.exit("has %d numbers, not %d" % (len(values), len(numbers)))
for a, b in zip(numbers, values):
    if abs(a - b) > max(1.0 if a == int(a) and b == int(b) and abs(a) > 1000 else 0.0025, 1e-9 * abs(a)):
        sys.exit("has %r, not %r" % (b, a))
