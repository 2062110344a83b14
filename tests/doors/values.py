"""Judges of the files that the test values.sh makes: what they hold, by readers other than jprof's.

usage: values.py CHECK ARGUMENT...; exits 1 with a line that says what is wrong
"""
import csv
import json
import math
import re
import sys


def die(text):
    sys.exit("values.py: " + text)


def load(path):
    with open(path, "rb") as file:
        return json.loads(file.read().decode("utf-8"))


def near(what, value, wanted, slack):
    if abs(value - wanted) > slack:
        die("%s is %r, not %r" % (what, value, wanted))


def text_rows(path):
    """Rows of the text report with --show_bytes: name -> flat, cum."""
    total, rows = 0, []
    for line in open(path, encoding="utf-8", errors="replace"):
        words = line.rstrip("\n").split(None, 5)
        if line.startswith("Total: "):
            total = float(words[1])
        else:
            rows.append((words[5], float(words[0]), float(words[3]), words[1], words[2], words[4]))
    return total, rows


# ---- the schema: the part of JSON Schema that docs/internals/json.schema.json uses ----

def is_type(value, name):
    return {
        "object": lambda: isinstance(value, dict),
        "array": lambda: isinstance(value, list),
        "string": lambda: isinstance(value, str),
        "boolean": lambda: isinstance(value, bool),
        "null": lambda: value is None,
        "integer": lambda: isinstance(value, int) and not isinstance(value, bool),
        "number": lambda: isinstance(value, (int, float)) and not isinstance(value, bool),
    }[name]()


KNOWN = {"$schema", "$id", "$defs", "$ref", "title", "description", "type", "properties", "required", "items",
         "enum", "const", "oneOf"}


def conforms(value, schema, root, where):
    """What is wrong, or None. Members that the schema does not describe are wrong here: they are not documented."""
    unknown = set(schema) - KNOWN
    if unknown:
        die("the schema at %s uses %s, which this test does not know" % (where, unknown))
    if "$ref" in schema:
        return conforms(value, root["$defs"][schema["$ref"].rpartition("/")[2]], root, where)
    if "oneOf" in schema:
        wrong = [conforms(value, one, root, where) for one in schema["oneOf"]]
        return None if wrong.count(None) == 1 else "%s: %s" % (where, wrong)
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, name) for name in types):
        return "%s is %r and not %s" % (where, value, types)
    if "enum" in schema and value not in schema["enum"] or "const" in schema and value != schema["const"]:
        return "%s is %r" % (where, value)
    if isinstance(value, dict):
        for key in schema.get("required", []):
            if key not in value:
                return "%s lacks %s" % (where, key)
        for key, member in value.items():
            if key not in schema.get("properties", {}):
                return "%s has %s, which is not documented" % (where, key)
            wrong = conforms(member, schema["properties"][key], root, where + "." + key)
            if wrong:
                return wrong
    if isinstance(value, list):
        for i, item in enumerate(value):
            wrong = conforms(item, schema.get("items", {}), root, "%s[%d]" % (where, i))
            if wrong:
                return wrong
    return None


def check_schema(schema_path, *paths):
    schema = load(schema_path)
    for path in paths:
        wrong = conforms(load(path), schema, schema, path)
        if wrong:
            die(wrong)
    # A schema that lets everything through proves nothing.
    document = load(paths[0])
    broken_ones = [dict(document, extra=1)]
    broken_ones += [{k: v for k, v in document.items() if k != key} for key in schema["required"]]
    broken_ones += [dict(document, **{key: {"no": "such"}}) for key in schema["required"]]
    for broken in broken_ones:
        if not conforms(broken, schema, schema, "broken"):
            die("the schema finds nothing wrong with a broken document")


# ---- what the formats hold ----

def check_json(path, text, errors):
    """The same rows, shares and totals as the text report, in the same order; sums that hold."""
    document, (total, rows) = load(path), text_rows(text)
    near("total", math.trunc(document["total"]), total, 0)
    near("number of rows", len(document["rows"]), len(rows), 0)
    running = 0
    for row, (name, flat, cum, flat_percent, sum_percent, cum_percent) in zip(document["rows"], rows):
        if row["name"] != name:
            die("a row is %r, not %r" % (row["name"], name))
        near("flat of " + name, math.trunc(row["flat"] + 1e-3 * (flat > 0)), flat, 1 if flat else 0)
        near("cum of " + name, row["cum"], cum, 1)
        running += row["flat"]
        for key, wanted in (("flat_percent", flat_percent), ("sum_percent", sum_percent), ("cum_percent", cum_percent)):
            if wanted.endswith("x"):
                near("%s of %s" % (key, name), row[key] / 100, float(wanted.rstrip("x")), 0.0502)
            else:
                near("%s of %s" % (key, name), row[key], float(wanted.rstrip("%")), 0.0502)
        near("sum_percent of " + name, row["sum_percent"], running * 100 / document["percent_of"], 0.001)
        for kind in ("flat", "cum"):
            span = row[kind + "_range"]
            if span["samples"] is not None and not span["low"] - 0.01 <= row[kind] <= span["high"] + 0.01:
                die("%s of %s lies outside its own range" % (kind, name))
    by_text = open(errors, encoding="utf-8", errors="replace").read()
    for row in document["rows"][:20]:
        flat = [line for line in by_text.splitlines() if " " + row["name"] + " " in line][0].partition(" cum ")[0]
        doubt = row["flat_range"]
        says = "within error" if doubt["within_error"] else "few samples" if doubt["few_samples"] else None
        if [word for word in ("within error", "few samples") if "(%s)" % word in flat] != ([says] if says else []):
            die("the doubt of %s is not what --errors says: %s, %s" % (row["name"], says, flat))
    near("sum of the rows", sum(row["flat"] for row in document["rows"]), document["total"], 0.001 * len(rows) + 0.001)
    covered = sum(value for file in document["coverage"] for value in file["values"].values())
    near("sum of the coverage", covered, document["total"], 1)


def check_diff(path, late, early):
    """Totals of a difference: those of the late dump less those of the early one."""
    document, late, early = load(path), load(late), load(early)
    for counter in document["totals"]:
        near("base " + counter, document["base_totals"][counter], early["totals"][counter], 0.01)
        near("total " + counter, document["totals"][counter], late["totals"][counter] - early["totals"][counter], 0.01)
    near("what is 100 %", document["percent_of"], early["total"], 0.01)


def check_csv(path, text, document=None):
    """Rows as in the text. Bounds are whole numbers that hold those of the JSON, whose rows are the same."""
    raw = open(path, "rb").read()
    raw.decode("utf-8")
    if raw.count(b"\n") != raw.count(b"\r\n") or not raw.endswith(b"\r\n"):
        die("lines do not end in CR LF")
    records = list(csv.DictReader(raw.decode("utf-8").splitlines(True), strict=True))
    total, rows = text_rows(text)
    near("number of rows", len(records), len(rows), 0)
    for record, (name, flat, cum, *_) in zip(records, rows):
        if None in record or None in record.values():
            die("a record has not as many fields as the header: %r" % record)
        name = re.sub(r"\\x[89a-f][0-9a-f]", "\ufffd", name)  # bytes that are no UTF-8, as programs get them
        if record["name"].lstrip("'") != name:
            die("a row is %r, not %r" % (record["name"], name))
        near("flat of " + name, float(record["flat"]), flat, 0)
        near("cum of " + name, float(record["cum"]), cum, 0)
        for value in (record[key] for key in ("name", "object", "file", "source", "thread")):
            if value[:1] in ("=", "+", "-", "@"):
                die("%r is a formula to a spreadsheet" % value)
    ranges = 0
    for record, row in zip(records, load(document)["rows"] if document else []):
        for kind in ("flat", "cum"):
            span = row[kind + "_range"]
            for end, whole in (("low", math.floor), ("high", math.ceil)):
                if span[end] is None:
                    continue
                # The JSON has three decimals.
                if float(record["%s_%s" % (kind, end)]) not in (whole(span[end] - 0.0006), whole(span[end] + 0.0006)):
                    die("%s_%s of %s is %s, of %r" % (kind, end, row["name"], record["%s_%s" % (kind, end)], span[end]))
                ranges += span[end] != int(span[end])
    if document and not ranges:
        die("no bound is between two whole numbers: these rows show nothing")


def check_speedscope(path, *wanted):
    """usage: FILE PROFILE=SUM...: these profiles and no others, and how their weights sum up."""
    document = load(path)
    if document["$schema"] != "https://www.speedscope.app/file-format-schema.json":
        die("no speedscope file")
    frames = document["shared"]["frames"]
    keys = [json.dumps(frame, sort_keys=True) for frame in frames]
    if len(set(keys)) != len(keys):
        die("a frame is there twice")
    for frame in frames:
        if not isinstance(frame["name"], str) or not set(frame) <= {"name", "file", "line"}:
            die("no frame: %r" % frame)
    sums = {}
    for profile in document["profiles"]:
        if profile["type"] != "sampled" or profile["startValue"] != 0:
            die("no sampled profile: %s" % profile["name"])
        if profile["unit"] != ("bytes" if "space" in profile["name"] else "none"):
            die("unit of %s: %s" % (profile["name"], profile["unit"]))
        if len(profile["samples"]) != len(profile["weights"]):
            die("samples and weights of %s" % profile["name"])
        for stack in profile["samples"]:
            if not stack or not all(0 <= i < len(frames) for i in stack):
                die("a stack of %s: %r" % (profile["name"], stack))
        if any(weight <= 0 or weight != int(weight) for weight in profile["weights"]):
            die("weights of %s" % profile["name"])
        sums[profile["name"]] = sum(profile["weights"])
        near("endValue of " + profile["name"], profile["endValue"], sums[profile["name"]], 0)
    wanted = dict((name, float(value)) for name, _, value in (word.rpartition("=") for word in wanted))
    if set(sums) != set(wanted):
        die("profiles are %s" % sorted(sums))
    for name, value in wanted.items():
        near(name, sums[name], value, 0)
    if not 0 <= document["activeProfileIndex"] < len(document["profiles"]):
        die("activeProfileIndex")


def check_active(path, name):
    document = load(path)
    active = document["profiles"][document["activeProfileIndex"]]["name"]
    if active != name:
        die("the active profile is %s" % active)


def check_inlines(path, *names):
    """Some stack of the first profile has these functions one after the other, outermost first."""
    document = load(path)
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    for stack in document["profiles"][0]["samples"]:
        if ";".join(names) in ";".join(frames[i] for i in stack):
            return
    die("no stack has %s" % (names,))


def check_dhat(path, total, objects):
    document = load(path)
    for key, kind in (("dhatFileVersion", int), ("mode", str), ("verb", str), ("bklt", bool), ("bkacc", bool),
                      ("tu", str), ("Mtu", str), ("cmd", str), ("pid", int), ("te", int)):
        if not isinstance(document[key], kind):
            die("%s is %r" % (key, document[key]))
    if document["dhatFileVersion"] != 2 or document["ftbl"][0] != "[root]":
        die("no DHAT of version 2")
    for point in document["pps"]:
        if not point["fs"] or not all(0 < i < len(document["ftbl"]) for i in point["fs"]):
            die("a stack is %r" % point["fs"])
        if point["tb"] < 0 or point["tbk"] < 0:
            die("negative values")
    near("bytes", sum(point["tb"] for point in document["pps"]), float(total), 0)
    near("blocks", sum(point["tbk"] for point in document["pps"]), float(objects), 0)


if __name__ == "__main__":
    globals()["check_" + sys.argv[1]](*sys.argv[2:])
