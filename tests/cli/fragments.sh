#!/bin/sh
# jprof explain: whose the free places between objects are. The truth is jemalloc's own count (mallctl) in a C program that
# plants fragmentation, and how many objects each owner freed there.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_agent
command -v python3 >/dev/null || skip "no python3 here"
build planted fragments.c -O2 -g -rdynamic
JPROF_AGENT=for=all
export JPROF_AGENT
mkdir d

# judge WHAT EXPRESSION: of the explanation d in `json`; free of a class, by mallctl; owner of free places in bytes
judge() {
    checks=$((checks + 1))
    python3 -c 'import json, sys
d = json.load(open("json"))
free = {int(l.split()[0]): int(l.split()[1]) for l in open("classes")}
owners = {r["name"]: r["bytes"] for r in d["rows"] if r["part"] == "free_owner"}
classes = {r["object_size"]: r for r in d["rows"] if r["part"] == "size_class"}
def near(value, truth, share=.15):
    return abs(value - truth) <= truth * share
sys.exit(0 if eval(sys.argv[1]) else 1)' "$2" || fail "$1"
}
# plant CONF: runs it, and explains it
plant() {
    launch "$jemalloc:$agent" "prof:true,lg_prof_sample:13,$1prof_prefix:$tmp/d/app" ./planted
    cp target.out classes
    works "$jprof" explain --json "$pid"
    cp out json
    python3 "$root/tests/doors/values.py" schema "$root/docs/internals/explain.schema.json" json >judge 2>&1 || fail "schema: $(tail -n 1 judge)"
    for size in 192 448 1280; do
        judge "$1: free places of $size bytes" "near(classes[$size]['bytes'], free[$size], .02)"
    done
    judge "$1: an owner of its own class" 'near(owners["owner_small"], free[192]) and near(owners["owner_large"], free[1280])'
}

# Without prof_accum a class that two are in has tenants, and no owner.
plant ''
judge "an owner of a shared class" 'set(owners) <= {"owner_small", "owner_large"} or not {"owner_wasteful", "owner_frugal"} & set(owners)'
judge "its tenants" '"owner_frugal" in classes[448]["tenants"] and "owner_wasteful" in classes[448]["tenants"] and classes[448]["name"] is None'
run "$jprof" explain "$pid"
prints '^Free places between objects of one size, and whose objects lie there now$'
prints '^   [34][0-9][.][0-9] MB  448 bytes: owner_frugal 8[0-9] %, owner_wasteful 1[0-9] %$'
prints '^Free places of size classes that one owner alone is in$'
prints '^   [67][0-9][.][0-9] MB  owner_large$'
check "an owner of a shared class" lacks out 'MB  owner_(wasteful|frugal)$'
stop "$pid"

# With it those have an owner who freed what lay there: 8 of 10 objects, and 1 of 10.
plant prof_accum:true,
judge "who freed most" 'near(owners["owner_wasteful"], free[448] * 8 / 9)'
judge "who freed least" 'near(owners["owner_frugal"], free[448] / 9)'
run "$jprof" explain "$pid"
prints '^Free places by who freed the objects that lay there$'
stop "$pid"
finish
