#!/bin/sh
# Freed pages that jemalloc keeps are told from what was never touched: a process whose memory is what the kernel and
# jemalloc would report, made of a Redmine that was recorded. What is in use by jemalloc's count is about 125 MB there.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "no python3 here"
command -v zstd >/dev/null || skip "no zstd here"

# made FILE TOUCHED DIRTY [VERSION STACKS [CALLOC]]: a snapshot with so many MB in memory of jemalloc's mappings, and
# dirty by its count, a minute after the one before; of a Ruby of that version with so many threads, each with a stack
# of 1 MB, in one large object more.
# GAPS=MB: so much more is active, and not allocated. LIVE=N: the dump has so many of 40 objects of 1 MB that were allocated.
# STRINGS=N: so many were counted, in as many slots of the GC heap; GC=no: without a collection before.
moment=0
made() {
    moment=$((moment + 1))
    MOMENT=$moment python3 - "$cases/real/redmine-boot.jprof" "$@" <<'PYTHON'
import io, json, os, subprocess, sys, tarfile
source, target, touched, dirty = sys.argv[1:5]
version, stacks, large = (sys.argv[5:] + ["3.1.2", "1", "0"][len(sys.argv) - 5:])
stacks, large, mb = int(stacks), int(large), 1 << 20
whole = subprocess.run(["zstd", "-dcq", source], capture_output=True, check=True).stdout
archive = tarfile.open(fileobj=io.BytesIO(whole))
files = {entry.name: archive.extractfile(entry).read() for entry in archive}
agent = json.loads(files["9233/agent.json"])
stats = agent["malloc_stats"]["jemalloc"]
merged = stats["stats.arenas"]["merged"]
merged["pdirty"] = int(dirty) * mb // 4096
for kind, extents in zip(stats["arenas"]["lextent"], merged["lextents"]):
    if kind["size"] == mb:
        extents["curlextents"] = stacks
    if kind["size"] == large * mb:
        extents["curlextents"] += 1
for sum in "allocated", "active", "mapped":
    stats["stats"][sum] += (stacks - 1 + large) * mb
for sum in "active", "mapped":
    stats["stats"][sum] += int(os.environ.get("GAPS", 0)) * mb
stats["stats"]["resident"] += 400 * mb
agent["ruby"]["version"] = version
if "STRINGS" in os.environ:
    strings = int(os.environ["STRINGS"])
    kinds = [{"name": "String", "count": strings, "slots": 40 * strings, "memory": None}]
    agent["ruby"]["objects"] = {"complete": True, "milliseconds": 1, "types": kinds, "classes": []}
    agent["ruby"]["gc_stat"]["heap_allocated_pages"] += 40 * strings // 16384
    agent["ruby"]["gc_stat"]["heap_live_slots"] += strings
if os.environ.get("GC") == "no":
    agent["ruby"]["gc"] = "not asked"
later = 60 * int(os.environ["MOMENT"])
agent["time"] += later
listed = json.loads(files["bundle.json"])
listed["members"][0]["time"] += later
files["bundle.json"] = json.dumps(listed).encode()
files["9233/agent.json"] = json.dumps(agent).encode()
if "LIVE" in os.environ:
    counts = "%d: %d [40: %d]\n" % (int(os.environ["LIVE"]), int(os.environ["LIVE"]) * mb, 40 * mb)
    files["9233/dump.heap"] = ("heap_v2/524288\n  t*: " + counts + "@ 0x401000\n  t*: " + counts +
                               "\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 1 /usr/bin/ruby3.1\n").encode()
status = files["9233/status"].decode().split("\n")
files["9233/status"] = "\n".join(f"Threads:\t{stacks}" if l.startswith("Threads:") else l for l in status).encode()
files["9233/smaps"] = (f"{1 << 40:x}-{(1 << 40) + (1 << 30):x} rw-p 00000000 00:00 0 \n"
                       f"Rss: {int(touched) * 1024} kB\nVmFlags: rd wr nr\n").encode()
with tarfile.open(target, "w", format=tarfile.USTAR_FORMAT) as out:
    for name, data in files.items():
        info = tarfile.TarInfo(name)
        info.size = len(data)
        out.addfile(info, io.BytesIO(data))
PYTHON
}

# freed_at MB...: what jemalloc keeps at each snapshot more than at the first, but for what threads' caches have.
freed_at() {
    check "freed pages: $*" python3 - "$@" <<'PYTHON'
import json, sys
row = next(r for r in json.load(open("diff.json"))["rows"] if r["part"] == "kept")
more = [round((v - row["values"][0]) / 2**20, 1) for v in row["values"]]
assert more == [float(a) for a in sys.argv[1:]], more
PYTHON
}

compare() {
    what="$*"
    works "$jprof" diff "$of_cases" --json "$@"
    cp out diff.json
    for form in --top=0 --markdown --json; do
        one_of 3 || continue
        works "$jprof" diff "$of_cases" $form "$@"
        for word in 'never touched' untouched; do
            prints_no "$word"
        done
    done
}

# The hole that no page fills at first is there later, too: what is touched since was freed.
made first 100 10 && made middle 115 30 && made last 130 60
compare first middle last
freed_at 0 15 30
run "$jprof" explain "$of_cases" first last
prints 'background_thread:true'
# No more than jemalloc counts as dirty.
made few 130 21
compare first few
freed_at 0 21

# Where one snapshot has a larger hole than that before it, the first had it, too.
made emptied 90 10 && made last 130 60
compare first emptied last
freed_at 0 -10 30

# Each thread of a Ruby from 3.3 on has a stack of 1 MB that malloc gave and nobody touches; a Ruby 3.1 has none.
made first 100 10 3.3.8 1 && made last 120 60 3.3.8 16
compare first last
freed_at 0 20
made first 100 10 3.1.2 1 && made last 130 60 3.1.2 16
compare first last
freed_at 0 15

# A large object that is not touched is a hole of its own: what was freed before it does not grow by it.
made first 140 60 && made last 140 60 3.1.2 1 320
compare first last
check "the first has more than its room" python3 - <<'PYTHON'
import json
row = next(r for r in json.load(open("diff.json"))["rows"] if r["part"] == "kept")
assert row["values"][0] < 30 * 2**20, row["values"]
PYTHON

# Gaps between objects are nobody's leak, however steadily they grow: no suspect, and nothing that fails a check.
made first 140 10 && GAPS=30 && export GAPS && made middle 170 10 && GAPS=60 && made last 200 10
compare first middle last
check "fragmentation is a suspect" python3 - <<'PYTHON'
import json
row = next(r for r in json.load(open("diff.json"))["rows"] if r["part"] == "fragmentation")
assert row["growth"] == 60 << 20 and row["verdict"] in ("growing", "maybe_garbage"), (row["growth"], row["verdict"])
PYTHON
works "$jprof" check "$of_cases" --assume-gc --github first middle last
prints '^counted   [+]60[.]0 MB  fragmentation: in all memory alone'
prints_no '^::error'

# What was freed meanwhile stands beside fragmentation, below the rows; nothing where nothing was.
for gone in 30 0; do
    GAPS=0 LIVE=40 made before 180 30
    GAPS=30 LIVE=$((40 - gone)) made after 210 30
    works "$jprof" diff "$of_cases" --assume-gc before after
    tr '\n' ' ' <out >line && mv line out # wrapped
    [ $gone = 0 ] && prints_no 'Fragmentation grew' && continue
    prints 'not in the profile .* Fragmentation grew by 30[.]0 MB: rows that shrank freed 34[.]7 MB, and free places stay beside what others keep[.] '
done
# Types of objects below the GC heap: what they hold more of may be garbage where no GC ran, and their rows say so.
for gc in no done; do
    GC=$gc GAPS=0 STRINGS=100000 made before 180 30
    GC=$gc GAPS=0 STRINGS=1000000 made after 220 30
    run "$jprof" diff "$of_cases" before after
    prints "^ +[+]3[34][.][0-9] +.* Ruby's GC heap\$"
    [ $gc = done ] || prints '^ +[+]34[.]3 .* maybe garbage +String [(][+]900,000[)]$'
    [ $gc = no ] || prints '^ +[+]34[.]3 [^a-z]*  String [(][+]900,000[)]$'
done
finish
