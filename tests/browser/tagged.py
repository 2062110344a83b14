"""--tag, --by=tag, --older and --newer with --html, in Chromium: the rows by tag that a page shows are the truth of tests/cli/aged.py,
and those of --json. What a filter of the command drops, the page does not have.
usage: tagged.py JPROF SOURCE_ROOT"""
import collections
import json
import math
import os
import runpy
import tempfile

from checks import check, finish, root, run
from chromium import Chromium, skip

LAST, HOUR = 72, 6  # epochs
TAGS = {0: "(no tag)", 1: "route GET /products/:id", 2: "job PriceSyncJob"}
BYTES = 1000 / (1 - math.exp(-1000 / 131072))  # what a sampled object stands for
UNITS = {"(B)": 1, "(KB)": 1024, "(MB)": 1024**2, "(GB)": 1024**3}
READY = """new Promise(done => { let left = 600; const look = () => document.documentElement?.dataset.ready === 'yes' || !left-- ?
  done(document.documentElement?.dataset.ready) : setTimeout(look, 50); look(); })"""
BY_TAG = """(e => { if (e.value !== 'tag') { e.value = 'tag'; e.dispatchEvent(new Event('change')); } })(document.getElementById('by'))"""
ROWS = "[...document.querySelectorAll('#rows tr')].map(tr => [tr.querySelector('button').textContent, tr.cells[0].textContent])"


def shown(browser, *options):
    """The rows by tag of a page, in its unit; and how many bytes that is."""
    run("--html", "-o", "page.html", *options, "late.heap")
    browser.open("about:blank")
    browser.open("file://" + os.path.abspath("page.html"))
    check(browser.run(READY) == "yes", f"{options}: the page is not ready")
    browser.run(BY_TAG)
    unit = UNITS[browser.run("document.getElementById('unit').textContent")]
    os.remove("page.html")
    return {name: float(value.replace(",", "")) for name, value in browser.run(ROWS)}, unit


def truth(live, wants):
    out = collections.Counter()
    for (_, tag, epoch), n in live.items():
        if wants(tag, LAST - epoch):  # how many epochs ended since
            out[TAGS[tag]] += n * BYTES
    return out


def near(row, value, unit):
    return row is not None and abs(row * unit - value) <= 0.051 * unit


def judge(browser, live):
    for options, wants in (
            ([], lambda tag, age: True),
            (["--by=tag"], lambda tag, age: True),
            (["--tag=GET"], lambda tag, age: tag == 1),
            (["--tag=^$"], lambda tag, age: tag == 0),
            (["--older=1h"], lambda tag, age: age >= HOUR),
            (["--newer=2h", "--by=tag"], lambda tag, age: age < 2 * HOUR),
            (["--older=1h", "--newer=3h"], lambda tag, age: HOUR <= age < 3 * HOUR),
            (["--older=1h", "--tag=Price"], lambda tag, age: tag == 2 and age >= HOUR)):
        rows, unit = shown(browser, *options)
        wanted = truth(live, wants)
        report = json.loads(run("--by=tag", "--json", *options, "late.heap"))
        said = {row["name"]: row["flat"] for row in report["rows"]}
        check(rows.keys() == wanted.keys() == said.keys(), f"{options}: {rows.keys()}, {said.keys()}, not {wanted.keys()}")
        for name, value in wanted.items():
            check(near(rows.get(name), value, unit), f"{options}: {name} is {rows.get(name)} in the page, not {value / unit}")
            check(abs(said.get(name, 0) - value) < 2, f"{options}: {name} is {said.get(name)} in --json, not {value}")


def main():
    if not os.path.exists(os.path.join(root, "tests", "cli", "aged.py")):
        skip("no tests of the program here")
    browser = Chromium()
    try:
        with tempfile.TemporaryDirectory() as directory:
            os.chdir(directory)
            judge(browser, runpy.run_path(os.path.join(root, "tests", "cli", "aged.py"))["samples"](LAST, 0))
            os.chdir("/")
        check(not browser.complaints(), f"the page complains: {browser.complaints()[:3]}")
    finally:
        browser.close()


main()
finish()
