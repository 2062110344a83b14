"""A strict reader of profile.proto, by hand: what Parca refuses is refused here, and what pprof would have to guess.

usage: proto_check.py FILE... : prints the sums of each counter; exits 1 with what is wrong
"""
import gzip
import sys

ALL = [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")]


class Wrong(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Wrong(text)


def varint(data, at):
    value = shift = 0
    while True:
        need(at < len(data) and shift < 64, "a number is cut or too long")
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 0x80:
            return value, at


def fields(data):
    """Each field of a message: number and value, bytes or an int."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        need(key >> 3, "a field of number 0")
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            need(key & 7 == 2, "wire type %d" % (key & 7))
            size, at = varint(data, at)
            need(at + size <= len(data), "a field goes beyond its message")
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def message(data, known):
    out = {number: [] for number in known}
    for number, value in fields(data):
        need(number in known, "a field %d that profile.proto does not have there" % number)
        out[number].append(value)
    return out


def numbers(values):
    out = []
    for value in values:
        if isinstance(value, int):
            out.append(value)
        else:
            at = 0
            while at < len(value):
                number, at = varint(value, at)
                out.append(number)
    return [value - (1 << 64) if value >> 63 else value for value in out]


def one(values):
    need(len(values) <= 1, "a field is there twice")
    return values[0] if values else 0


def read(data):
    """Checks all rules; returns the profile's parts."""
    need(data[:2] == b"\x1f\x8b", "is not gzip'd")
    top = message(gzip.decompress(data), range(1, 16))
    strings = [value.decode("utf-8", "strict") for value in top[6]]
    need(strings and strings[0] == "", "the first string is not empty")
    need(len(set(strings)) == len(strings), "a string is there twice")

    def text(index):
        need(0 <= index < len(strings), "no string %d" % index)
        return strings[index]

    def pair(data):
        parts = message(data, (1, 2))
        return text(one(parts[1])), text(one(parts[2]))

    types = [pair(value) for value in top[1]]
    need(types in (ALL, ALL[2:]), "sample types are %s" % types)
    need(pair(one(top[11]) or b"") == ("space", "bytes"), "the period's type")
    need(text(one(top[14])) == "inuse_space", "the default type")

    mappings = [message(value, range(1, 11)) for value in top[3]]
    for i, mapping in enumerate(mappings):
        need(one(mapping[1]) == i + 1, "mapping id is not sequential")
        need(one(mapping[2]) < one(mapping[3]), "an empty mapping")
        build_id = text(one(mapping[6]))
        need(all(c in "0123456789abcdef" for c in build_id), "build-id %r" % build_id)
        text(one(mapping[5]))
    functions = [message(value, range(1, 6)) for value in top[5]]
    for i, function in enumerate(functions):
        need(one(function[1]) == i + 1, "function id is not sequential")
        need(text(one(function[2])), "a function without a name")
        text(one(function[3])), text(one(function[4]))
    locations = [message(value, range(1, 6)) for value in top[4]]
    for i, location in enumerate(locations):
        need(one(location[1]) == i + 1, "location id is not sequential")
        need(0 <= one(location[2]) <= len(mappings), "no mapping %d" % one(location[2]))
        if one(location[2]):
            mapping = mappings[one(location[2]) - 1]
            need(one(mapping[2]) <= one(location[3]) < one(mapping[3]), "an address outside of its mapping")
        need(location[4] or one(location[2]), "a location without lines and mapping")
        for line in location[4]:
            parts = message(line, (1, 2, 3))
            need(1 <= one(parts[1]) <= len(functions), "no function %d" % one(parts[1]))
    sums = [0] * len(types)
    for sample in top[2]:
        parts = message(sample, (1, 2, 3))
        ids, values = numbers(parts[1]), numbers(parts[2])
        need(ids and all(1 <= i <= len(locations) for i in ids), "a stack of %s" % ids)
        need(len(values) == len(types), "%d values for %d types" % (len(values), len(types)))
        sums = [a + b for a, b in zip(sums, values)]
        for label in parts[3]:
            label = message(label, (1, 2, 3, 4))
            need(text(one(label[1])), "a label without a key")
            need(bool(one(label[2])) != bool(one(label[3])), "a label is a text or a number")
            text(one(label[4]))
    need(top[2], "no samples")
    return {"types": types, "sums": dict(zip((name for name, _ in types), sums)),
            "files": [(text(one(m[5])), text(one(m[6]))) for m in mappings],
            "functions": [text(one(f[2])) for f in functions], "time": one(top[9]), "period": one(top[12]),
            "samples": len(top[2])}


def main(paths):
    for path in paths:
        try:
            with open(path, "rb") as file:
                profile = read(file.read())
        except (Wrong, UnicodeDecodeError, OSError, EOFError) as why:
            sys.exit("%s: %s" % (path, why))
        print(" ".join("%s=%d" % item for item in sorted(profile["sums"].items())))


if __name__ == "__main__":
    main(sys.argv[1:])
