"""The boxes of a flame graph beside what --json says of the same profile.

usage: flame.py widths FLAME.svg REPORT.json   boxes lie in their parents, and are as wide as rows are large
       flame.py owns FLAME.svg REPORT.json     rows hold by themselves what their boxes have beside those in them
       flame.py change FLAME.svg REPORT.json   of a difference: a box for what vanished; titles add up
       flame.py hostile FLAME.svg              nothing but the elements of a picture
"""
import collections
import json
import re
import sys
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"
UNITS = {"B": 1, "KB": 1024, "MB": 1024**2, "GB": 1024**3, "objects": 1}
ROW = 18


def boxes(path):
    """(level, left, width, lines of the title, text) of each."""
    out = []
    for group in ElementTree.parse(path).getroot().iter(SVG + "g"):
        rect, text = group.find(SVG + "rect"), group.find(SVG + "text")
        number = lambda key: float(rect.get(key))
        out.append((round((number("y") - 58) / ROW), number("x"), number("width"),
                    group.find(SVG + "title").text.split("\n"), "" if text is None else text.text))
    return out


def parent_of(box, all_boxes):
    inside = [b for b in all_boxes if b[0] == box[0] - 1 and b[1] <= box[1] + 0.02 and
              b[1] + b[2] >= box[1] + box[2] - 0.02]
    assert len(inside) == 1, f"{box} lies in {len(inside)} boxes"
    return inside[0]


def amount(title):
    value, unit = re.match(r"([+-]?[\d.]+) (\w+)", title[1]).groups()
    return float(value) * UNITS[unit]


def widths(path, report):
    drawn = boxes(path)
    root = drawn[0]
    assert root[0] == 0 and root[3][0] == "all", root
    for box in drawn[1:]:
        parent_of(box, drawn)
    total = report["total"]
    assert abs(amount(root[3]) - total) <= total * 0.01 + 60, (root[3], total)
    checked = 0
    for row in report["rows"]:
        wide = 0.0
        for box in drawn:
            if box[3][0] != row["name"]:
                continue
            above, names = box, []
            while above[0]:
                above = parent_of(above, drawn)
                names.append(above[3][0])
            if row["name"] not in names:
                wide += box[2]
        if row["cum"] > total / 50:
            share = row["cum"] / total
            assert abs(wide / root[2] - share) < 0.01, (row["name"], wide / root[2], share)
            checked += 1
    assert checked > 3, f"only {checked} rows were compared"


def owns(path, report):
    """What a row holds itself: its boxes less those in them. What stands inside of an owner, the cumulative value of --libs has, too."""
    drawn = boxes(path)
    root, own = drawn[0], collections.Counter()
    for box in drawn[1:]:
        own[box[3][0]] += box[2]
        own[parent_of(box, drawn)[3][0]] -= box[2]
    checked = 0
    for row in report["rows"]:
        share = row["flat"] / report["total"]
        if share > 0.01:
            assert abs(own[row["name"]] / root[2] - share) < 0.01, (row["name"], own[row["name"]] / root[2], share)
            checked += 1
    assert checked > 2, f"only {checked} rows were compared"


def change(path, report):
    drawn = boxes(path)
    now, before = report["totals"]["inuse_space"] + report["base_totals"]["inuse_space"], report["base_totals"]["inuse_space"]
    title = drawn[0][3][1]
    says = [float(n) for n in re.findall(r"(?<![\w.])\d+\.\d+", title)]
    unit = UNITS[re.match(r"\S+ (\w+)", title).group(1)]
    assert abs(says[1] * unit - before) <= unit * 0.051 and abs(says[2] * unit - now) <= unit * 0.051, (title, before, now)
    gone = [b for b in drawn if " 0.0 now" in b[3][1]]
    assert gone, "nothing vanished"
    assert all(b[2] >= 0.5 for b in gone)
    assert all(b[4].startswith(("+", "-", "0.0")) for b in drawn if len(b[4]) > 14), "a change is told by colour alone"


def hostile(path):
    root = ElementTree.parse(path).getroot()
    kinds = {e.tag.replace(SVG, "") for e in root.iter()}
    assert kinds <= {"svg", "title", "style", "text", "rect", "g"}, kinds
    for e in root.iter():
        assert not [k for k in e.attrib if k.startswith("on") or "href" in k], e.attrib
        for c in (e.text or "") if e.tag != SVG + "style" else "":
            assert c == "\n" or ord(c) >= 32, repr(c)
            assert c not in "\u202e\u2028\ufffe\uffff\u200b", repr(c)
    titles = [t.text for t in root.iter(SVG + "title")]
    assert any("<script>" in t for t in titles), "the name is not shown as it is"
    assert any(len(t) > 10000 for t in titles), "the title cuts a long name"


if sys.argv[1] == "hostile":
    hostile(sys.argv[2])
else:
    with open(sys.argv[3], encoding="utf-8") as source:
        {"widths": widths, "owns": owns, "change": change}[sys.argv[1]](sys.argv[2], json.load(source))
