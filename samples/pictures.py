#!/usr/bin/env python3
"""Makes the README's picture of the page, docs/images/page.png, of the three snapshots of the tutorial (docs/start.md).

usage: python3 samples/pictures.py JPROF DIRECTORY   DIRECTORY has evening.jprof, night.jprof and morning.jprof: a copy of samples/rails
Needs Chromium. Look at the picture before it is committed.
"""
import os
import subprocess
import sys
import tempfile

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(root, "tests", "browser"))
from chromium import Chromium

def main():
    jprof, directory = os.path.abspath(sys.argv[1]), sys.argv[2]
    images = os.path.join(root, "docs", "images")
    os.makedirs(images, exist_ok=True)
    command = ["jprof", "diff", "evening.jprof", "night.jprof", "morning.jprof"]
    browser = Chromium()
    with tempfile.TemporaryDirectory(prefix="jprof-pictures-") as made:
        page = os.path.join(made, "page.html")
        subprocess.run([jprof, *command[1:], "--html", "-o", page], cwd=directory, check=True)
        browser.open("file://" + page, 1280, 960)
        browser.run("""new Promise(done => { const look = () => document.documentElement.dataset.ready === 'yes' ?
          setTimeout(done, 500) : setTimeout(look, 50); look(); })""")
        browser.picture(os.path.join(images, "page.png"))
    browser.close()


main()
