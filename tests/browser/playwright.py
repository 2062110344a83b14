"""Pages of real dumps, of a generated profile of more than 100,000 boxes, and of a live Puma whose leak is known, in Playwright (npm, playwright-core).
usage: playwright.py JPROF SOURCE_ROOT AGENT"""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile

from generated import generated


def skip(why):
    print(why)
    sys.exit(77)


jprof, root, agent = map(os.path.abspath, sys.argv[1:4])
node, chromium = shutil.which("node"), shutil.which("chromium") or shutil.which("chromium-browser")
core = os.path.join(os.environ.get("JPROF_DOWNLOADS") or os.path.expanduser("~/.cache/jprof"), "playwright-core")
if not node:
    skip("no node here (Debian: nodejs)")
if not chromium:
    skip("no chromium here (Debian: chromium)")
if not os.path.isdir(core):
    skip(f"no playwright-core in {core}; sh tests/fetch-npm.sh playwright-core brings it")


def run(*arguments):
    done = subprocess.run([jprof, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"FAIL: jprof {arguments}: {done.stderr.decode(errors='replace')[:2000]}")
    return done.stdout


def page_of(what, words, inputs, path, options=(), **more):
    """A page and what --json has of the same; of a difference its growth."""
    run(*words, "--html", "-o", path, *options, *inputs)
    said = json.loads(run(*words, "--json", *inputs))
    rows = [{"name": row["name"], "flat": row.get("growth", row.get("flat"))} for row in said["rows"] if row.get("part", "live") == "live"]
    return {"what": what, "url": "file://" + path, "rows": rows, "answer": said.get("answer"), **more}


def live_puma(directory):
    """Three snapshots of the Puma of samples/ci with its leak; None where none can run here."""
    if not shutil.which("puma") or not shutil.which("ruby"):
        print("no Puma here (Debian: puma)")
        return None
    app = os.path.join(directory, "app")
    shutil.copytree(os.path.join(root, "samples", "ci"), app)
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    done = subprocess.run(["sh", "memory.sh"], cwd=app, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          env={**os.environ, "JPROF": jprof, "JPROF_AGENT_LIB": agent, "PORT": str(port), "REQUESTS": "300", "LEAK": "1"})
    if done.returncode not in (0, 3):
        print(f"no Puma can be profiled here: {done.stderr.decode(errors='replace')[-300:]}")
        return None
    shots = [os.path.join(app, "memory", name + ".jprof") for name in ("warm", "soak1", "soak2")]
    return page_of("a live Puma", ["diff"], shots, os.path.join(directory, "live.html"), ["--source-path=" + app], source="KEPT[customer] =")


def main():
    cases, tables, heaps = (os.path.join(root, "samples", name) for name in ("cases", "tables", "heaps"))
    if not os.path.isdir(tables):
        skip("no samples here")
    with tempfile.TemporaryDirectory(prefix="jprof-playwright-") as directory:
        large = os.path.join(directory, "large.raw")
        generated(large, 12000, 20000, 1)
        place = lambda name: os.path.join(directory, name + ".html")
        pages = [
            page_of("a report", [], [os.path.join(tables, "ruby31.1.heap")], place("report")),
            page_of("a native report", [], ["--sysroot=" + os.path.join(heaps, "sysroot"), os.path.join(heaps, "jemalloc-5.3.0.heap")], place("native")),
            page_of("a generated profile", [], [large], place("large")),
            live_puma(directory),
        ]
        if os.path.isdir(os.path.join(cases, "puma")):
            shots = [os.path.join(cases, "puma", f"w0.{i}.jprof") for i in (1, 2, 3)]
            pages.append(page_of("a diff of cases/", ["diff"], ["--sysroot=" + os.path.join(cases, "sysroot"), *shots], place("diff")))
        listed = os.path.join(directory, "pages.json")
        with open(listed, "w", encoding="utf-8") as out:
            json.dump([page for page in pages if page], out)
        walk = os.path.join(os.path.dirname(os.path.abspath(__file__)), "playwright.mjs")
        done = subprocess.run([node, walk, core, chromium, listed], check=False)
    sys.exit(done.returncode != 0)


main()
