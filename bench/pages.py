#!/usr/bin/env python3
"""The same difference as a page of jprof, in pprof's web page and in speedscope: how much is passed on, how long until it is shown, and
pictures of what one sees first.

usage: python3 bench/pages.py JPROF DIRECTORY [OPTIONS OF jprof...] EARLIER LATER   pictures go to DIRECTORY
Needs Chromium, Go's pprof, and speedscope (sh tests/fetch-npm.sh speedscope).
"""
import base64
import json
import os
import socket
import subprocess
import sys
import time

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(root, "tests", "browser"))
from chromium import Chromium

jprof, out = map(os.path.abspath, sys.argv[1:3])
options, (earlier, later) = sys.argv[3:-2], sys.argv[-2:]
speedscope = os.path.join(os.environ.get("JPROF_DOWNLOADS") or os.path.expanduser("~/.cache/jprof"), "speedscope", "dist", "release")


def make(name, *words):
    path = os.path.join(out, name)
    subprocess.run([jprof, *words, "-o", path, *options], check=True, stderr=subprocess.DEVNULL)
    return path


def shown(name, url, condition, size):
    browser = Chromium()
    before, began = browser.cpu(), time.monotonic()
    browser.open(url, 1280, 1000)
    for _ in range(600):
        if browser.run(f"Boolean(document.body && ({condition}))"):
            break
        time.sleep(0.05)
    print(f"{name}: {size} bytes; shown after {browser.cpu() - before:.0f} ms of CPU, {(time.monotonic() - began) * 1000:.0f} ms")
    time.sleep(1)
    browser.picture(os.path.join(out, name + ".png"))
    browser.close()


def beside_pprof():
    files = [make(name, "--proto", dump) for name, dump in (("earlier.pb.gz", earlier), ("later.pb.gz", later))]
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    server = subprocess.Popen(["go", "tool", "pprof", "-no_browser", "-symbolize=none", f"-http=127.0.0.1:{port}", "-sample_index=inuse_space", "-diff_base=" + files[0], files[1]],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.05)
        size = sum(map(os.path.getsize, files))
        shown("pprof-graph", f"http://127.0.0.1:{port}/ui/", "document.querySelector('svg .node')", size)
        shown("pprof-flame", f"http://127.0.0.1:{port}/ui/flamegraph", "document.querySelector('#chart svg, .boxbg')", size)
    finally:
        server.kill()
        server.wait()


def beside_speedscope():
    path = make("grown.speedscope.json", "--speedscope", "--base=" + earlier, later)
    script = os.path.join(out, "profile.js")
    with open(path, "rb") as file, open(script, "w", encoding="ascii") as to:
        to.write("speedscope.loadFileFromBase64(%s, '%s')" % (json.dumps(os.path.basename(path)), base64.b64encode(file.read()).decode()))
    shown("speedscope", f"file://{speedscope}/index.html#localProfilePath={script}", "document.body.innerText.includes('inuse_space')", os.path.getsize(path))


def main():
    os.makedirs(out, exist_ok=True)
    page = make("page.html", "diff", "--html", earlier, later)
    shown("page", "file://" + page, "document.documentElement.dataset.ready === 'yes'", os.path.getsize(page))
    beside_pprof()
    beside_speedscope()


main()
