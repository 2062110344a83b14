"""Makes a bundle by docs/internals/bundle.md: made_bundle.py OUT MEMBER...

A MEMBER is PID|START|ROLE|TITLE|STACKS[|WORD=VALUE...]. STACKS are ADDRESS=OBJECTS[/EVER],... of 1000 bytes each, in use and
ever allocated. Words: rss=MB of the process; ruby=VERSION; program=PATH, at 400000; lib=PATH, a library at 600000, with a jemalloc; why=TEXT: why
its agent took no Ruby stacks; time=SECONDS: when its dump was made; started=NAME: what it was started by."""
import io
import json
import sys
import tarfile


def entry(tar, name, text):
    info = tarfile.TarInfo(name)
    info.size = len(text)
    tar.addfile(info, io.BytesIO(text.encode()))


def dump(stacks, program, library):
    rows = []
    for stack in stacks.split(","):
        at, counts = stack.split("=")
        live, ever = (counts.split("/") + ["0"])[:2]
        rows.append((int(at, 16), int(live), int(ever)))
    counters = "%d: %d [%d: %d]\n"
    text = "heap_v2/100000\n  t*: " + counters % tuple(sum(r[i] for r in rows) * k for i, k in ((1, 1), (1, 1000), (2, 1), (2, 1000)))
    for at, live, ever in rows:
        text += "@%s %#x 0x402000\n  t*: " % (" 0x800100" if library else "", at) + counters % (live, live * 1000, ever, ever * 1000)
    text += "\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 42   %s\n" % program
    mapped = "00600000-00700000 r-xp 00000000 08:01 43   %s\n00800000-00900000 r-xp 00000000 08:01 44   /usr/lib/libjemalloc.so.2\n"
    return text + (mapped % library if library else "")


def main():
    members, files = [], []
    for given in sys.argv[2:]:
        pid, start, role, title, stacks, *words = given.split("|")
        words = dict(word.split("=", 1) for word in words)
        program = words.get("program", "/opt/app/server")
        member = {"name": pid, "pid": int(pid), "start_ticks": int(start), "boot_id": "b", "program": program, "title": title, "role": role}
        if "time" in words:
            member["time"] = float(words["time"])
        members.append(member)
        files.append((pid + "/dump.heap", dump(stacks, program, words.get("lib"))))
        if "rss" in words or "ruby" in words:
            ruby = {"ruby": {"version": words["ruby"]}} if "ruby" in words else {}
            if "why" in words:
                ruby["ruby"]["stacks_why"] = words["why"]
            if "started" in words:
                ruby["program"] = words["started"]
            files.append((pid + "/agent.json", json.dumps(dict(member, jprof_agent=1) | ruby)))
        if "rss" in words:
            mb = int(words["rss"])
            files.append((pid + "/status", "Name:\tserver\nVmRSS:\t%d kB\nRssAnon:\t%d kB\n" % (mb * 1024, mb * 1000)))
    with tarfile.open(sys.argv[1], "w", format=tarfile.USTAR_FORMAT) as tar:
        entry(tar, "bundle.json", json.dumps({"jprof_bundle": 1, "tool": "test", "members": members}))
        for name, text in files:
            entry(tar, name, text)


main()
