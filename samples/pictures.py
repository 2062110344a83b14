#!/usr/bin/env python3
"""Makes the README's two pictures, docs/images/diff.png and page.png, of the Puma that samples/run.sh ran.

usage: python3 samples/pictures.py JPROF DIRECTORY   DIRECTORY has boot.jprof, warm.jprof and steady.jprof: build/sample
Needs Chromium. Look at the pictures before they are committed.
"""
import html
import os
import subprocess
import sys
import tempfile

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(root, "tests", "browser"))
from chromium import Chromium

TERMINAL = """<!DOCTYPE html><meta charset="utf-8"><style>
body {{ margin: 0; background: #17191d; }}
pre {{ margin: 0; padding: 18px 22px; display: inline-block; color: #e9e6df; font: 15px/1.4 "DejaVu Sans Mono", monospace; }}
</style><pre>{}</pre>"""


def main():
    jprof, directory = os.path.abspath(sys.argv[1]), sys.argv[2]
    images = os.path.join(root, "docs", "images")
    os.makedirs(images, exist_ok=True)
    command = ["jprof", "diff", "boot.jprof", "warm.jprof", "steady.jprof"]
    text = subprocess.run([jprof, *command[1:], "--top=6"], cwd=directory, stdout=subprocess.PIPE, check=True).stdout.decode()
    browser = Chromium()
    with tempfile.TemporaryDirectory(prefix="jprof-pictures-") as made:
        shown = os.path.join(made, "terminal.html")
        with open(shown, "w", encoding="utf-8") as out:
            out.write(TERMINAL.format(html.escape("$ " + " ".join(command) + "\n" + text)))
        browser.open("file://" + shown, 760, 100)
        width, height = browser.run("(r => [Math.ceil(r.width), Math.ceil(r.height)])(document.querySelector('pre').getBoundingClientRect())")
        browser.open("about:blank")
        browser.open("file://" + shown, width, height)
        browser.picture(os.path.join(images, "diff.png"))
        page = os.path.join(made, "page.html")
        subprocess.run([jprof, *command[1:], "--html", "-o", page], cwd=directory, check=True)
        browser.open("file://" + page, 1280, 960)
        browser.run("""new Promise(done => { const look = () => document.documentElement.dataset.ready === 'yes' ?
          setTimeout(done, 500) : setTimeout(look, 50); look(); })""")
        browser.picture(os.path.join(images, "page.png"))
    browser.close()


main()
