#!/bin/sh
# diff and explain of the same two snapshots: what lies outside the profile has the same bytes and the same growth in both,
# and the rest that nobody explains, too. Redmine and a Ruby 3.3 as they were snapped, and Redmine with mappings as the
# kernel would report them, with and without what Ruby says of its heap.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "no python3 here"
command -v zstd >/dev/null || skip "no zstd here"

# with_smaps FROM TO KIB [no-heap]: a copy whose process has so much in memory of the allocator's mappings.
with_smaps() {
    python3 - "$@" <<'PYTHON'
import io, json, subprocess, sys, tarfile
source, target, kib = sys.argv[1:4]
whole = subprocess.run(["zstd", "-dcq", source], capture_output=True, check=True).stdout
archive = tarfile.open(fileobj=io.BytesIO(whole))
files = {entry.name: archive.extractfile(entry).read() for entry in archive}
def mapping(start, size, rss, flags):
    return f"{start:x}-{start + size:x} rw-p 00000000 00:00 0 \nRss: {rss} kB\nAnonymous: {rss} kB\nVmFlags: rd wr {flags}\n"
files["9233/smaps"] = (mapping(1 << 40, 1 << 30, kib, "nr") + mapping(1 << 41, 1 << 26, int(kib) // 8, "ac")).encode()
if sys.argv[4:]:
    agent = json.loads(files["9233/agent.json"])
    del agent["ruby"]["gc_stat"]
    files["9233/agent.json"] = json.dumps(agent).encode()
with tarfile.open(target, "w", format=tarfile.USTAR_FORMAT) as out:
    for name, data in files.items():
        info = tarfile.TarInfo(name)
        info.size = len(data)
        out.addfile(info, io.BytesIO(data))
PYTHON
}

# same WHAT FIRST LAST PART...: all parts that both have are the same, and these are among them.
same() {
    what=$1 first=$2 last=$3
    shift 3
    works "$jprof" explain "$of_cases" --json "$first" "$last"
    cp out explain.json
    works "$jprof" diff "$of_cases" --json "$first" "$last"
    cp out diff.json
    check "$what" python3 - "$@" <<'PYTHON'
import json, sys
explained = {r["part"]: r for r in json.load(open("explain.json"))["rows"] if r["depth"] == 0}
compared = {r["part"]: r for r in json.load(open("diff.json"))["rows"] if r["part"] != "live"}
assert set(sys.argv[1:]) <= set(compared) & set(explained), (sorted(compared), sorted(explained))
inner = {"untouched", "live", "transient_heap", "swapped", "counted_twice", "shared", "total"}
assert set(explained) - inner == set(compared), set(explained) ^ set(compared)
for part, row in compared.items():
    one, other = explained[part], row
    assert abs(one["bytes"] - other["values"][-1]) <= 1, (part, one, other)
    assert abs(one["growth"] - other["growth"]) <= 1, (part, one, other)
PYTHON
}

boot=$cases/real/redmine-boot.jprof
steady=$cases/real/redmine-steady.jprof
same "Redmine" "$boot" "$steady" gc_heap fragmentation kept metadata profiler files not_explained
same "Ruby 3.3" "$cases/ruby33/slots.0.jprof" "$cases/ruby33/slots.1.jprof" gc_heap kept not_explained

# 64 and 128 MB in memory are less than what is in use; 200 MB leave room for some of the freed pages.
for sizes in 65536:131072 65536:204800 204800:131072; do
    one_of 3 || continue
    with_smaps "$boot" first.jprof "${sizes%:*}"
    with_smaps "$steady" last.jprof "${sizes#*:}"
    same "in memory: $sizes KiB" first.jprof last.jprof kept gc_heap not_explained
    with_smaps "$boot" first.jprof "${sizes%:*}" no-heap
    with_smaps "$steady" last.jprof "${sizes#*:}" no-heap
    same "in memory: $sizes KiB, no GC heap" first.jprof last.jprof kept past_malloc not_explained
done

# Where the mappings are known of one of them alone, both go by what jemalloc counts.
with_smaps "$boot" first.jprof 204800
with_smaps "$steady" last.jprof 131072
same "mappings of the first alone" first.jprof "$steady" kept metadata not_explained
same "mappings of the last alone" "$boot" last.jprof kept metadata not_explained
finish
