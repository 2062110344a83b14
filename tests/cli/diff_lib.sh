# Helpers of the tests of diff, after lib.sh: what is printed as JSON, and made-up bundles.
command -v python3 >/dev/null || skip "no python3 here"

# diff_of OPTION... FILE...: as JSON, in the file json, by its schema.
diff_of() {
    is_quiet "$jprof" diff --json "$@"
    cp out json
    python3 "$root/tests/doors/values.py" schema "$root/docs/internals/diff.schema.json" json >judge 2>&1 || fail "schema: $(tail -n 1 judge)"
}

# judge WHAT EXPRESSION: holds of the JSON diff d; row(TEXT) is the first whose name has it, mb(X) in MB; holds(r, X): X MB (10^6)
# are in its interval; near(X, TRUTH, SHARE).
judge() {
    checks=$((checks + 1))
    python3 -c 'import json, sys
d = json.load(open("json"))
rows = d["rows"]
def row(text):
    return next(r for r in rows if text in r["name"])
def mb(n):
    return n / 1048576
def holds(r, mega):
    return r["low"] <= mega * 1e6 <= r["high"]
def near(value, truth, share):
    return abs(value - truth) <= abs(truth) * share
sys.exit(0 if eval(sys.argv[1]) else 1)' "$2" || fail "$1"
}

# bundle OUT MEMBER...: see made_bundle.py.
bundle() {
    python3 "$here/made_bundle.py" "$@" || fail "no bundle was made"
}
