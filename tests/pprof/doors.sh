#!/bin/sh
# `go tool pprof -top` on what --proto writes: its flat values are those of --json and --csv, and the sums of
# --speedscope's and --dhat's innermost frames.
. "$(dirname "$0")/common.sh"
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }

cat >flat.py <<'END'
import csv, json, re, sys
kind, path = sys.argv[1:3]
flat = {}
def add(name, value):
    name = re.sub(r" \(inline\)$", "", name)
    flat[name] = flat.get(name, 0) + value
if kind == "csv":
    for row in csv.DictReader(open(path, newline="", encoding="utf-8")):
        add(row["name"], float(row["flat"]))
else:
    document = json.load(open(path, encoding="utf-8"))
if kind == "json":
    for row in document["rows"]:
        add(row["name"], row["flat"])
elif kind == "speedscope":
    profile = document["profiles"][0]
    for stack, weight in zip(profile["samples"], profile["weights"]):
        add(document["shared"]["frames"][stack[-1]]["name"], weight)
elif kind == "dhat":
    for point in document["pps"]:
        add(re.match(r"0x[0-9A-F]+: (.*?)( \([^()]*\))?$", document["ftbl"][point["fs"][0]]).group(1), point["tb"])
for name in sorted(flat):
    if flat[name]:
        print("%s\t%.0f" % (name, flat[name]))
END

checked=0
for file in heaps/jemalloc-5.3.0 cases/ruby31/cext.1 cases/ruby31/nokogiri.1 cases/puma/w0.3; do
    [ -f "$root/samples/$file.heap" ] || continue
    sysroot=$root/samples/${file%%/*}/sysroot
    "$jprof" --proto -o p.pb.gz "--sysroot=$sysroot" "$root/samples/$file.heap" 2>jprof.err || die "jprof: $(cat jprof.err)"
    go_rows inuse_space p.pb.gz | awk -F '\t' '$2 != 0 { print $1 "\t" $2 }' | LC_ALL=C sort >go.flat
    [ "$(wc -l <go.flat)" -ge 3 ] || die "$file: pprof has few rows: $(cat go.flat)"
    for format in json csv speedscope dhat; do
        "$jprof" --$format "--sysroot=$sysroot" "$root/samples/$file.heap" >report 2>jprof.err || die "jprof: $(cat jprof.err)"
        python3 flat.py $format report | LC_ALL=C sort >our.flat
        # pprof's values are rounded for each stack; ours for each row, stack, or not at all.
        join -t "$(printf '\t')" -a 1 -a 2 -o 0,1.2,2.2 -e 0 go.flat our.flat |
            awk -F '\t' '{ d = $2 - $3; if (d * d > 400) { print; bad = 1 } } END { exit bad || !NR }' >differ ||
            die "$file --$format differs from pprof: $(head -n 3 differ)"
        checked=$((checked + 1))
    done
done
[ $checked -ge 4 ] || die "only $checked compared"
echo "$checked reports compared"
