#!/usr/bin/env python3
"""Pages of large profiles in Chromium: their size, how long until they are shown, and a frame while the mouse moves, in CPU time.

usage: python3 bench/pageload.py JPROF SOURCE_ROOT
"""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "browser"))
from chromium import Chromium
from page import load, make
from generated import generated

RENDERER = "--type=renderer"  # a word of its command line

MOVE = """new Promise(done => { const canvas = document.getElementById('canvas'), area = document.getElementById('graph');
  const r = canvas.getBoundingClientRect(); let n = 0;
  const tick = () => { canvas.dispatchEvent(new MouseEvent('mousemove', { clientX: r.left + n * 37 % r.width,
    clientY: r.top + 10 + n * 53 % 500 })); area.scrollTop = n * 7 % 400;
    if (++n < 120) requestAnimationFrame(tick); else done(n); };
  requestAnimationFrame(tick); })"""


def measure(browser, directory):
    dumps = [os.path.join(directory, f"app.{i}.raw") for i in range(3)]
    for i, dump in enumerate(dumps):
        generated(dump, 10000, 5000, i)
    large = os.path.join(directory, "large.raw")
    generated(large, 60000, 20000, 1)
    for name, url in ("three snapshots, 10,000 stacks", make(directory, "three", "diff", *dumps)), \
                     ("60,000 stacks", make(directory, "large", large)):
        before = browser.cpu(RENDERER)
        load(browser, url, 1280, 1000)
        ready, frames = browser.cpu(RENDERER), browser.run(MOVE)
        print(f"{name}: {os.path.getsize(url[7:]) / 1e6:.2f} MB, shown after {ready - before:.0f} ms of CPU, "
              f"{(browser.cpu(RENDERER) - ready) / frames:.1f} ms of CPU a frame")


def main():
    browser = Chromium()
    with tempfile.TemporaryDirectory(prefix="jprof-load-") as directory:
        measure(browser, directory)
    browser.close()


main()
