"""The functions of the page's script by themselves (script.js), in node where it is, else in Chromium.
usage: script.py SOURCE_ROOT"""
import os
import re
import shutil
import subprocess
import sys

from chromium import Chromium

root = sys.argv[1]
here = os.path.dirname(os.path.abspath(__file__))


def text(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


names = re.findall(r"'(\w+\.js)'", text(root, "libjprof", "meson.build"))
if "page.js" not in names or set(names) != {name for name in os.listdir(os.path.join(root, "html")) if name.endswith(".js")}:
    sys.exit(f"libjprof/meson.build and html/ do not have the same scripts: {names}")
# page.js begins at once, on a page; it has no functions for others.
scripts = "".join(text(root, "html", name) for name in names if name != "page.js") + text(here, "script.js")
node = shutil.which("node")
if node:
    done = subprocess.run([node, "-e", "console.log(eval(require('fs').readFileSync(0, 'utf8')))"], input=scripts, text=True,
                          stdout=subprocess.PIPE, check=True)
    said = done.stdout
else:
    browser = Chromium()
    said = browser.run(scripts)
    browser.close()
print(said)
sys.exit("FAIL" in said or not re.search(r"^[1-9]\d* checks", said, re.M))
