"""The page of --html in Chromium: its numbers are those of --json in each view, everything works by keyboard, nothing is
loaded, and no name becomes script or markup.
usage: page.py JPROF SOURCE_ROOT [DIRECTORY_FOR_PICTURES]

The axe-core that sh tests/fetch-npm.sh brought judges each page, too."""
import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import tempfile

from checks import check, finish, jprof, root, run
from chromium import Chromium, skip

pictures = sys.argv[3] if len(sys.argv) > 3 else None
axe = os.path.join(os.environ.get("JPROF_DOWNLOADS") or os.path.expanduser("~/.cache/jprof"), "axe-core", "axe.min.js")
cases = os.path.join(root, "samples", "cases")
tables = os.path.join(root, "samples", "tables")
heaps = os.path.join(root, "samples", "heaps")
if not os.path.isdir(tables):
    skip("no samples here")
UNITS = {"B": 1, "KB": 1024, "MB": 1024**2, "GB": 1024**3, "objects": 1}
ROWS = """[...document.querySelectorAll('#rows tr')].map(tr => ({ name: tr.querySelector('button').textContent,
  cells: [...tr.cells].map(td => td.textContent) }))"""
SET = "((id, value, kind) => { const e = document.getElementById(id); e.value = value; e.dispatchEvent(new Event(kind)); })"


def report(*arguments):
    return json.loads(run("--json", *arguments))


def make(directory, name, *arguments):
    path = os.path.join(directory, name + ".html")
    run(*arguments, "--html", "-o", path)
    return "file://" + path


def load(browser, url, width=1280, height=1000):
    browser.open("about:blank")
    browser.open(url, width, height)
    wait(browser, "document.documentElement?.dataset.ready === 'yes'")


def wait(browser, condition):
    good = browser.run(f"""new Promise(done => {{ let left = 600; const look = () => ({condition}) || !left-- ?
      done({condition}) : setTimeout(look, 50); look(); }})""")
    check(good, f"it does not happen: {condition}")


def choose(browser, key, value):
    browser.run(f"{SET}({json.dumps(key)}, {json.dumps(value)}, 'change')")


def type_into(browser, key, text):
    browser.run(f"{SET}({json.dumps(key)}, {json.dumps(text)}, 'input')")
    browser.run("new Promise(done => setTimeout(done, 300))")


def number(text):
    return float(text.replace(",", "").replace("+", ""))


def unit(browser):
    return UNITS[browser.run("document.getElementById('unit').textContent").strip("()")]


def same_rows(browser, what, wanted, cum=True):
    """The largest rows, by flat; where the report has no interval there is nothing to compare."""
    shown, size, checked = {row["name"]: row["cells"] for row in browser.run(ROWS)}, unit(browser), 0
    near = lambda text, value: abs(number(text) * size - value) <= 0.051 * size + 1e-6 * abs(value) + 2 if size > 1 \
        else abs(number(text) - value) <= 1.01 + 1e-4 * abs(value)
    for row in sorted(wanted["rows"], key=lambda row: -abs(row["flat"]))[:40]:
        if abs(row["flat"]) < max(size * 0.1, 1):
            continue
        cells = shown.get(row["name"])
        check(cells, f"{what}: no row {row['name']}")
        if not cells:
            continue
        check(near(cells[0], row["flat"]), f"{what}: {row['name']} has {cells[0]}, not {row['flat'] / size}")
        if cum and not wanted.get("base"):
            check(near(cells[4], row["cum"]), f"{what}: {row['name']} has with calls {cells[4]}, not {row['cum'] / size}")
        checked += 1
    check(checked, f"{what}: no row was compared")


def same_errors(browser, what, wanted):
    shown, size, checked = {row["name"]: row["cells"] for row in browser.run(ROWS)}, unit(browser), 0
    for row in wanted["rows"][:40]:
        ends = row["flat_range"]
        if row["name"] in shown and ends["low"] is not None and row["flat"]:
            half = (ends["high"] - ends["low"]) / 2
            check(abs(number(shown[row["name"]][1]) * size - half) <= 0.051 * size + 2,
                  f"{what}: {row['name']} is off by {shown[row['name']][1]}, not {half / size}")
            checked += 1
    check(checked, f"{what}: no interval was compared")


def views(browser, url, dump):
    """Each choice beside what the program says of it."""
    load(browser, url)
    plain = report(*dump)
    same_rows(browser, "the report", plain)
    same_errors(browser, "the report", plain)
    for fold, word in enumerate(("none", "alloc", "std", "vm")):
        choose(browser, "fold", str(fold))
        same_rows(browser, "--fold=" + word, report("--by=site", "--fold=" + word, *dump))
    choose(browser, "fold", "2")
    choose(browser, "counter", "inuse_objects")
    same_rows(browser, "--inuse_objects", report("--inuse_objects", *dump))
    choose(browser, "counter", "inuse_space")
    for by in browser.run("[...document.getElementById('by').options].map(o => o.value)"):
        choose(browser, "by", by)
        same_rows(browser, "--by=" + by, report("--by=" + {"library": "lib"}.get(by, by), *dump))
    browser.run("document.getElementById('reset').click()")
    if browser.run("!document.getElementById('ruby-choice').hidden"):
        for ruby, word in enumerate(("merged", "only", "off")):
            choose(browser, "ruby", str(ruby))
            same_rows(browser, "--ruby=" + word, report("--by=site", "--ruby=" + word, *dump))
        browser.run("document.getElementById('reset').click()")


def parts_of_ruby(browser, directory, dump):
    """Whatever part of Ruby the page was asked for, it has each; filtered by --focus it has that part alone."""
    words = "merged", "only", "off"
    wanted = [report("--by=site", "--ruby=" + word, dump) for word in words]
    for number, asked in list(enumerate(words))[1:]:
        load(browser, make(directory, "ruby-" + asked, "--ruby=" + asked, dump))
        check(browser.run("document.getElementById('ruby').value") == str(number), f"--ruby={asked} is not what the page shows first")
        for ruby, word in enumerate(words):
            choose(browser, "ruby", str(ruby))
            choose(browser, "by", "site")
            same_rows(browser, f"--ruby={word} in a page of --ruby={asked}", wanted[ruby])
    for asked in words[1:]:
        pattern = "--focus=[Ff]iddle|no Ruby"
        load(browser, make(directory, "part-" + asked, "--ruby=" + asked, pattern, dump) + "#ruby=0")
        choose(browser, "by", "site")
        same_rows(browser, f"--ruby={asked} {pattern}", report("--by=site", "--ruby=" + asked, pattern, dump))
        check(browser.run("document.getElementById('ruby-choice').hidden"), f"--ruby={asked} {pattern} offers other parts")


def filters(browser, url, dump, pattern):
    focused, ignored = report("--focus=" + pattern, *dump), report("--ignore=" + pattern, *dump)
    total = sum(row["flat"] for row in focused["rows"])
    type_into(browser, "search", pattern)
    found = browser.run("document.getElementById('found').textContent")
    amount, name = re.match(r"([\d.,]+) (\w+)", found).groups()
    check(abs(number(amount) * UNITS[name] - total) <= 0.051 * UNITS[name] + 60, f"the search finds {found}, not {total}")
    type_into(browser, "search", "")
    type_into(browser, "focus", pattern)
    same_rows(browser, "--focus", focused)
    check("are shown" in browser.run("document.getElementById('kept').textContent"), "a filter is not said")
    address = browser.run("location.hash")
    check("focus=" in address, f"the address does not have the filter: {address}")
    rows = browser.run(ROWS)
    load(browser, url + address)
    check(browser.run(ROWS) == rows, "the address does not bring the filter back")
    type_into(browser, "focus", "")
    type_into(browser, "ignore", pattern)
    same_rows(browser, "--ignore", ignored)
    type_into(browser, "ignore", "(")
    type_into(browser, "ignore", "")


BUTTON = "[...document.querySelectorAll('#box button')].find(b => b.textContent === {})?.click()"


def kept_sum(browser):
    """How much the filters leave, in bytes, and the unit in which the page says it."""
    said = browser.run("document.getElementById('kept').textContent")
    found = re.match(r"([\d.,]+) of [\d.,]+ (\w+) are shown", said)
    check(found, f"it is not said what is left, but {said!r}")
    return (number(found[1]) * UNITS[found[2]], UNITS[found[2]]) if found else (0, 1)


def buttons(browser, url, dump, by):
    """The buttons below a box keep, and drop, the stacks that have its row: one that holds a part of all."""
    rows = report("--by=" + by, *dump)["rows"]
    whole = sum(row["flat"] for row in rows)
    row = max((r for r in rows if 0.02 * whole < r["cum"] < 0.9 * whole), key=lambda r: r["cum"])
    pattern = "^" + re.sub(r"([\\^$.*+?()\[\]{}|])", r"\\\1", row["name"]) + "$"
    for button, option, left in ("Only this", "--focus=", row["cum"]), ("Without this", "--ignore=", whole - row["cum"]):
        load(browser, url)
        choose(browser, "by", by)
        browser.run("[...document.querySelectorAll('#rows button')].find(b => b.textContent === " + json.dumps(row["name"]) + ").click()")
        check(browser.run("document.querySelector('#box .name').textContent") == row["name"], f"{row['name']} has no box")
        browser.run(BUTTON.format(json.dumps(button)))
        found, size = kept_sum(browser)
        check(abs(found - left) <= 0.051 * size + 60, f"{button} of {row['name']} by {by} leaves {found}, not {left}")
        if by == "function":
            same_rows(browser, f"{button} of {row['name']}", report("--by=function", option + pattern, *dump))


def zoom_in_address(browser, url):
    """An address says a zoom as long as the page shows it."""
    zoomed = "!document.getElementById('zoom-out').disabled"
    changes = {"Only this": BUTTON.format("'Only this'"), "Without this": BUTTON.format("'Without this'"),
               "a hidden owner": "document.querySelector('#legend input').click()",
               "a filter": SET + "('ignore', 'no such name', 'input'); new Promise(done => setTimeout(done, 300))",
               "a counter": SET + "('counter', 'inuse_objects', 'change')"}
    for what, change in changes.items():
        load(browser, url + "#zoom=0")
        check(browser.run(zoomed) and browser.run("location.hash") == "#zoom=0", f"an address does not zoom before {what}")
        browser.run(change)
        check(not browser.run(zoomed) and "zoom" not in browser.run("location.hash"), f"{what} leaves {browser.run('location.hash')}")


BOXES = """[...document.getElementById('canvas').flame.boxes()].map(b => ({ level: b.level, name: b.name, change: b.change, width: b.width }))"""


def widths(browser, url, what):
    """In a difference a box is as wide as what changed in it: of boxes without boxes below, the change itself; Total is wider."""
    load(browser, url)
    press_switch = "document.querySelector('[data-width=\"{}\"]').click()"
    boxes = browser.run(BOXES)
    check(len(boxes) > 3 and all(box["width"] + 1 >= abs(box["change"]) for box in boxes), f"{what}: a box is narrower than its change")
    deepest = max(box["level"] for box in boxes)
    check(all(abs(box["width"] - abs(box["change"])) <= 1 for box in boxes if box["level"] == deepest), f"{what}: the innermost boxes are no change")
    browser.run(press_switch.format("total"))
    total = browser.run(BOXES)
    check(total[0]["width"] > boxes[0]["width"] and "width=total" in browser.run("location.hash"), f"{what}: Total does not widen the boxes")


def inverted(browser, url, what):
    """Leaf first, the first level has the rows of the table: what each holds itself."""
    load(browser, url)
    browser.run("document.querySelector('[data-inverted=\"1\"]').click()")
    size, rows = unit(browser), {row["name"]: number(row["cells"][0]) for row in browser.run(ROWS)}
    level = {box["name"]: box["change"] for box in browser.run(BOXES) if box["level"] == 1}
    check(len(level) > 1, f"{what}: inverted there is no first level")
    for name, value in level.items():
        check(abs(rows.get(name, 0) * size - value) <= 0.051 * size + 2, f"{what}: {name} has {value}, in the table {rows.get(name)}")


def back(browser, url):
    """Back undoes a zoom, and only that."""
    load(browser, url + "#up=1")
    browser.run("document.getElementById('canvas').focus()")
    for key, code in ("Home", 36), ("ArrowUp", 38), ("Enter", 13):
        press(browser, key, code)
    check("zoom=0" in browser.run("location.hash"), "Enter does not zoom")
    browser.run("history.back(); new Promise(done => setTimeout(done, 300))")
    check(browser.run("location.hash") == "#up=1" and browser.run("document.getElementById('zoom-out').disabled"), "Back does not undo a zoom")


def upper_and_lower(browser, url, dump, pattern):
    """A filter does not find a name in the wrong case, as --focus and --ignore do not; the search does."""
    load(browser, url)
    everything = report(*dump)
    type_into(browser, "ignore", pattern.swapcase())
    same_rows(browser, "--ignore in the wrong case", everything)
    check(not browser.run("document.getElementById('kept').textContent"), "--ignore in the wrong case drops something")
    type_into(browser, "ignore", "")
    type_into(browser, "focus", pattern.swapcase())
    check(not browser.run(ROWS), "--focus in the wrong case finds something")
    type_into(browser, "focus", "")
    type_into(browser, "search", pattern)
    found = browser.run("document.getElementById('found').textContent")
    type_into(browser, "search", pattern.swapcase())
    check(browser.run("document.getElementById('found').textContent") == found and number(found.split()[0]), "the search heeds case")


def press(browser, key, code):
    for kind in "keyDown", "keyUp":
        browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)
    browser.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def by_keyboard(browser):
    browser.run("document.getElementById('reset').click()")
    browser.run("document.getElementById('canvas').focus()")
    said = "document.querySelector('#box .name').textContent"
    press(browser, "Home", 36)
    check(browser.run(said) == "all", f"Home does not go to the root: {browser.run(said)}")
    press(browser, "ArrowDown", 40)
    first = browser.run(said)
    check(first != "all", "an arrow does not go to a callee")
    press(browser, "ArrowRight", 39)
    check(browser.run(said) != first, "an arrow does not go to the next callee")
    press(browser, "ArrowLeft", 37)
    press(browser, "Enter", 13)
    check("zoom=0" in browser.run("location.hash") and not browser.run("document.getElementById('zoom-out').disabled"),
          "Enter does not zoom: " + browser.run("location.hash"))
    press(browser, "Escape", 27)
    check("zoom" not in browser.run("location.hash"), "Escape does not zoom out")
    reached = browser.run("""(() => { const wants = [...document.querySelectorAll('button, input, select, summary, canvas, a')];
      return wants.filter(e => e.tabIndex < 0).length; })()""")
    check(reached == 0, f"{reached} controls are out of reach")
    unnamed = browser.run("""[...document.querySelectorAll('button, input, select, canvas')].filter(e =>
      !(e.textContent.trim() || e.getAttribute('aria-label') || (e.labels && e.labels.length))).map(e => e.id)""")
    check(not unnamed, f"controls without a name: {unnamed}")


def by_mouse(browser):
    box = browser.run("(r => [r.left, r.top, r.width])(document.getElementById('canvas').getBoundingClientRect())")
    browser.mouse("mouseMoved", box[0] + 30, box[1] + 30)
    browser.run("new Promise(done => setTimeout(done, 100))")
    tip = browser.run("document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent")
    check(re.search(r"[\d.]+ .*[KM]?B.*%.*sample", tip), f"the tip does not say what a box is: {tip!r}")
    browser.click(box[0] + 30, box[1] + 30)
    check("zoom=0" in browser.run("location.hash"), "a click does not zoom")
    browser.run("document.getElementById('zoom-out').click()")
    name = browser.run("document.querySelector('#rows tr:not(.chosen) button').textContent")
    browser.run("document.getElementById('reset').click()")
    browser.run("document.querySelector('#rows tr:not(.chosen) button').click()")
    check(name in browser.run("document.querySelector('#box .name').textContent"), "a row does not select its box")
    heads = browser.run("[...document.querySelectorAll('#heads th')].map(th => th.textContent)")
    browser.run("[...document.querySelectorAll('#heads button')].find(b => b.textContent === 'allocated at').click()")
    names = [row["name"] for row in browser.run(ROWS)]
    check(names == sorted(names), f"rows are not sorted by name ({heads})")
    browser.run("document.getElementById('reset').click()")


def difference(browser, url, snapshots):
    """The verdicts, growths and the answer are those of `jprof diff --json`."""
    load(browser, url)
    wanted = json.loads(run("diff", "--json", *snapshots))
    answer = browser.run("document.getElementById('answer').textContent")
    check(wanted["answer"] in answer, f"the answer is {answer!r}, not {wanted['answer']!r}")
    rows, size = {row["name"]: row for row in browser.run(ROWS)}, unit(browser)
    live = [row for row in wanted["rows"] if row["part"] == "live"]
    for row in live[:30]:
        if abs(row["growth"]) < size * 0.1:
            continue
        shown = rows.get(row["name"])
        check(shown, f"no row {row['name']}")
        if shown:
            check(abs(number(shown["cells"][0]) * size - row["growth"]) <= 0.051 * size + 60,
                  f"{row['name']} grew by {shown['cells'][0]}, not {row['growth']}")
            check(abs(number(shown["cells"][1]) * size - (row["high"] - row["low"]) / 2) <= 0.051 * size + 2,
                  f"{row['name']} is off by {shown['cells'][1]}, not {row['low']} to {row['high']}")
    chosen = browser.run("document.querySelector('#rows tr.chosen button')?.textContent")
    first = browser.run("document.querySelector('.suspect .name').textContent")
    check(chosen == first, f"the suspect {first} is not selected when the page opens, but {chosen}")
    browser.run("document.querySelector('.suspect .show').click()")
    check(first == browser.run("document.querySelector('#box .name').textContent"), "the button does not show the suspect")
    browser.run("document.getElementById('reset').click()")
    chips = browser.run("[...document.querySelectorAll('#chips button')].map(b => b.textContent)")
    check(0 < len(chips) <= len({row["verdict"] for row in live}), f"chips: {chips}")
    for place, chip in enumerate(chips):
        browser.run(f"document.querySelectorAll('#chips button')[{place}].click()")
        count = len(browser.run(ROWS))
        check(count == int(chip.split()[-1]), f"the chip {chip!r} shows {count} rows")
        browser.run("document.getElementById('reset').click()")
    browser.run("document.querySelector('#chips button').click()")
    verdict = wanted["rows"] and browser.run("document.querySelector('#chips [aria-pressed=true]').textContent")
    key = re.sub(r"^\W+ | \d+$", "", verdict).replace(" ", "_")
    left = {row["name"] for row in browser.run(ROWS)}
    grown = {row["name"] for row in live if row["verdict"] == key and abs(row["growth"]) > size * 0.1}
    others = {row["name"] for row in live if row["verdict"] != key and abs(row["values"][-1]) > size}
    check(grown <= left and not any(float(r["cells"][0].replace(",", "")) for r in browser.run(ROWS) if r["name"] in others),
          f"a chip leaves {left}, not {grown}")
    browser.run("document.getElementById('reset').click()")


def doubled(directory, dump):
    """A dump in which each stack holds twice as much."""
    path = os.path.join(directory, "doubled.heap")
    twice = lambda found: "  t*: {}: {} [".format(*(2 * int(n) for n in found.groups()))
    with open(dump, encoding="latin-1", newline="") as source, open(path, "w", encoding="latin-1", newline="") as out:
        out.write(re.sub(r"^  t\*: (\d+): (\d+) \[", twice, source.read(), flags=re.M))
    return path


def rows_asked(browser, directory, by, snapshots):
    """A page of --by=WORD has those rows first: suspects, verdicts and chips are of them."""
    what = f"diff {by}"
    load(browser, make(directory, "asked", "diff", by, *snapshots))
    live = [row for row in json.loads(run("diff", by, "--json", *snapshots))["rows"] if row["part"] == "live"]
    rows, size, compared = {row["name"]: row["cells"] for row in browser.run(ROWS)}, unit(browser), 0
    for row in live:
        if abs(row["growth"]) < size * 0.1:
            continue
        cells = rows.get(row["name"])
        check(cells, f"{what}: no row {row['name']}")
        if cells:
            check(abs(number(cells[0]) * size - row["growth"]) <= 0.051 * size + 60, f"{what}: {row['name']} grew by {cells[0]}")
            check(row["verdict"].replace("_", " ") in cells[2], f"{what}: {cells[2]} is {row['verdict']}")
            compared += 1
    check(compared, f"{what}: no row was compared")
    suspects = browser.run("[...document.querySelectorAll('.suspect')].filter(s => s.querySelector('.show')).map(s => s.querySelector('.name').textContent)")
    check(all(name in rows for name in suspects), f"{what}: {suspects} are not all rows")
    if suspects:
        browser.run("document.querySelector('.suspect .show').click()")
        chosen = browser.run("document.querySelector('#rows tr.chosen button')?.textContent")
        check(chosen == suspects[0], f"{what}: {chosen} is shown, not {suspects[0]}")
    everything = sum(row["growth"] for row in live)
    for place in range(browser.run("document.querySelectorAll('#chips button').length")):
        browser.run("document.getElementById('reset').click()")
        browser.run(f"document.querySelectorAll('#chips button')[{place}].click()")
        key = re.sub(r"^\W+ | \d+$", "", browser.run("document.querySelector('#chips [aria-pressed=true]').textContent")).replace(" ", "_")
        wanted = sum(row["growth"] for row in live if row["verdict"] == key)
        said = re.match(r"(-?[\d.,]+) of", browser.run("document.getElementById('kept').textContent"))
        left = number(said[1]) * size if said else everything
        check(abs(left - wanted) <= 0.051 * size + 1000, f"{what}: the chip {key} leaves {left}, not {wanted}")
        untouched = {row["name"] for row in live if row["verdict"] == key and abs(row["growth"]) > size * 0.1}
        check(untouched <= {row["name"] for row in browser.run(ROWS)}, f"{what}: the chip {key} drops its own rows")
    browser.run("document.getElementById('reset').click()")
    choose(browser, "by", browser.run("[...document.getElementById('by').options].map(o => o.value).find(v => v !== document.getElementById('by').value)"))
    check(not browser.run("document.querySelector('#rows .sign')"), f"{what}: rows of another kind have verdicts")


def report_rows(browser, directory, by, dump):
    load(browser, make(directory, "by", by, *dump))
    same_rows(browser, "a page of " + by, report(by, *dump))
    same_errors(browser, "a page of " + by, report(by, *dump))


def refused(rows, *arguments):
    """On a terminal the page is refused before anything is read; what it has no rows for, too."""
    ours, theirs = pty.openpty()
    done = subprocess.run([jprof, *arguments, "/nowhere/first.heap", "/nowhere/last.heap"], stdout=theirs, stderr=subprocess.PIPE, timeout=60)
    check(done.returncode == 1 and b"give -o FILE.html, or --open" in done.stderr, f"{arguments} on a terminal: {done.stderr}")
    os.close(theirs)
    os.close(ours)
    for by in rows:
        done = subprocess.run([jprof, *arguments, "--by=" + by, "/nowhere/first.heap", "/nowhere/last.heap"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60)
        check(done.returncode == 1 and not done.stdout and b"a page has no" in done.stderr, f"{arguments} --by={by}: {done.stderr}")


def samples_of_counters(browser, url, dump):
    """Samples are said of the counters that they are samples of: those in use, or those allocated."""
    load(browser, url)
    counters = browser.run("[...document.getElementById('counter').options].map(o => o.value)")
    check(len(counters) == 4, f"a dump that accumulates offers {counters}")
    for counter in counters:
        choose(browser, "counter", counter)
        wanted = report("--" + counter, *dump)
        box, own = browser.run("document.getElementById('box').textContent"), counter.startswith("inuse")
        said = re.search(r"([\d,]+) samples?\b", box)
        check(number(said[1]) == wanted["total_range"]["samples"] if own and said else not own and not said, f"{counter}: the box says {box!r}")
        few = {row["name"] for row in browser.run(ROWS) if "few samples" in row["cells"][3]}
        right = {row["name"] for row in wanted["rows"] if own and 0 < row["flat_range"]["samples"] < 10}
        check(few == right and (few or not own), f"{counter}: {few} have few samples, not {right}")


def one_amount(browser, directory):
    """The card has the amount and the share of the sentence, also where the unit of the whole is too large for them."""
    path = os.path.join(directory, "even.raw")
    with open(path, "w", encoding="utf-8") as file:
        file.write("--- symbol\nbinary=/opt/app\n" + "".join(f"{4096 * i:#x} f{i}\n" for i in range(1, 301)) + "---\n--- heap\nheap_v2/1\n"
                   "  t*: 300: 18874368000 [0: 0]\n" + "".join(f"@ {4096 * i:#x}\n  t*: 1: 62914560 [0: 0]\n" for i in range(1, 301)))
    load(browser, make(directory, "even", path))
    card = browser.run("document.querySelector('.suspect .amount').textContent")
    said = browser.run("document.getElementById('answer').textContent")
    check(card == "60.0 MB, under 1 %" and "60.0 MB (under 1 %)" in said, f"the card has {card!r}, the sentence is {said!r}")


def all_rows(browser, directory, command, dumps):
    """--top cuts no page: rows and verdicts are those without it."""
    shown = []
    for name, top in ("whole", []), ("top", ["--top=1"]):
        load(browser, make(directory, name, *command, *top, *dumps))
        shown.append(browser.run(ROWS) + browser.run("[...document.querySelectorAll('#chips button')].map(b => b.textContent)"))
    check(shown[0] == shown[1] and len(shown[0]) > 3, f"{command} --top=1 changes the page")


def no_room(directory, dump):
    """--open without room for the page leaves nothing behind, and says what to give."""
    there = os.path.join(directory, "no-room")
    os.mkdir(there)

    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    done = subprocess.run([jprof, "--html", "--open", dump], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                          env={**os.environ, "TMPDIR": there, "PATH": "/nowhere"}, restore_signals=False, preexec_fn=small_files)
    check(done.returncode == 1 and re.search(rb"heap\.html: cannot be written: File too large; give -o FILE$", done.stderr.strip()),
          f"without room --open says {done.stderr}")
    check(not os.listdir(there), f"without room --open leaves {os.listdir(there)}")


def one_counter(browser, url):
    """What was subtracted is known of the counter of the report: a difference offers no other, by its address neither."""
    load(browser, url)
    rows, box = browser.run(ROWS), browser.run("document.getElementById('box').textContent")
    offered = browser.run("[...document.getElementById('counter').options].map(o => o.value)")
    check(offered == ["inuse_space"], f"a difference offers {offered}")
    load(browser, url + "#counter=inuse_objects")
    check(browser.run(ROWS) == rows, "an address brings another counter to a difference")
    check(browser.run("document.getElementById('box').textContent") == box, "an address makes what was there before 0")


def foreign_addresses(browser, url):
    """What an address asks for that the page does not have is as if it were not there."""
    load(browser, url + "#up=1")
    rows = browser.run(ROWS)
    for state in ("fold=9", "fold=none", "ruby=7", "sort=bogus", "sort=growth", "sort=constructor", "order=up", "by=bogus", "counter=bogus",
                  "zoom=9.x.7", "constructor=1", "counter="):
        if state in ("fold=9", "sort=bogus"):
            load(browser, url + "#" + state)
            check(browser.run(ROWS) == rows, f"#{state} changes the rows, or the page is not shown")
        browser.run("location.hash = 'up=1'; new Promise(done => setTimeout(done, 100))")
        browser.run(f"location.hash = {json.dumps(state)}; new Promise(done => setTimeout(done, 100))")
        check(browser.run(ROWS) == rows, f"#{state} changes the rows of a page that is shown")


def judge(browser, url, what):
    if not os.path.isfile(axe):
        return
    load(browser, url)
    with open(axe, encoding="utf-8") as source:
        browser.run(source.read() + "; 0")
    found = browser.run("axe.run().then(r => r.violations.filter(v => /serious|critical/.test(v.impact)).map(v => v.id + ': ' + v.nodes[0].html))")
    check(not found, f"{what}: axe says {found}")


def looks(browser, url, name):
    load(browser, url)
    paper = {}
    for scheme in "light", "dark":
        browser.scheme(scheme)
        for width, height in (1280, 1100), (390, 2400):
            load(browser, url, width, height)
            wide = browser.run("document.documentElement.scrollWidth")
            check(wide <= width, f"{name} at {width} px is {wide} px wide")
            if pictures:
                browser.run("new Promise(done => setTimeout(done, 300))")
                browser.picture(os.path.join(pictures, f"{name}-{width}-{scheme}.png"))
            order = browser.run("['answer', 'memory', 'table-part', 'graph-part', 'sure'].map(id => "
                                "document.getElementById(id)).filter(e => !e.hidden).map(e => e.getBoundingClientRect().top)")
            check(width > 390 or order == sorted(order), f"{name}: the parts are out of order at 390 px: {order}")
        judge(browser, url, f"{name} {scheme}")
        paper[scheme] = browser.run("getComputedStyle(document.body).backgroundColor")
    check(paper["light"] != paper["dark"], "both schemes look alike")
    browser.scheme("light")


NASTY = r"""--- symbol
binary=/opt/app
0x1000 </text></script><script>document.title="bad"</script>
0x2000 <img src=x onerror="document.title='bad'">
0x3000 "onload="document.title='bad'
0x4000 a{}b<style>*{display:none}</style>
0x5000 malloc
0x6000 {}
---
--- heap
heap_v2/1
  t*: 3: 4000 [0: 0]
@ 0x5000 0x4001 0x2001 0x1001 0x3001 0x6001
  t*: 2: 3000 [0: 0]
@ 0x5000 0x1001 0x2001 0x3001 0x4001
  t*: 1: 1000 [0: 0]
"""


def hostile(browser, directory):
    raw = os.path.join(directory, "nasty<img src=x>.raw")
    with open(raw, "wb") as out:
        out.write(NASTY.replace("{}", "\u202e\u2028\ufffe", 1).replace("{}", "x" * 10000).encode() .replace(b"a\xe2", b"a\xff\xe2"))
    url = make(directory, "nasty", "--full-names", raw).replace(" ", "%20")
    load(browser, url)
    check("bad" != browser.run("document.title"), "a name was run")
    check(browser.run("document.querySelectorAll('script').length") == 2, "a name became a script")
    check(browser.run("document.querySelectorAll('img, a:not(.skip), body style, iframe, object').length") == 0, "a name became markup")
    names = " ".join(row["name"] for row in browser.run(ROWS))
    check(re.search("[\\\\]xe2[\\\\]x80[\\\\]xae", browser.run("document.getElementById('answer').textContent")), "the answer is not of that name")
    check("<style>" in names and "onload=" in names and "x" * 9999 in names, "a name is not shown as it is")
    check(not re.search("[\u202e\u2028\ufffe]", browser.run("document.body.innerText")), "a character that steers text is shown")
    wide = browser.run("document.documentElement.scrollWidth")
    check(wide <= 1280, f"a long name makes the page {wide} px wide")
    tried = browser.run("""new Promise(done => { addEventListener('securitypolicyviolation', e => done(e.violatedDirective));
      document.body.append(Object.assign(document.createElement('img'), { src: 'https://example.invalid/x.png' }));
      setTimeout(() => done('nothing'), 2000); })""")
    check(tried == "img-src", f"the policy lets a picture in: {tried}")
    browser.events = [e for e in browser.events if e["method"] not in ("Log.entryAdded", "Network.requestWillBeSent")]


def main():
    browser = Chromium()
    with tempfile.TemporaryDirectory(prefix="jprof-page-") as directory:
        lines = [os.path.join(tables, f"ruby31.{i}.heap") for i in (0, 1)]
        native = ["--sysroot=" + os.path.join(heaps, "sysroot"), os.path.join(heaps, "jemalloc-5.3.0.heap")]
        ruby, plain = make(directory, "ruby", lines[1]), make(directory, "native", *native)
        views(browser, ruby, [lines[1]])
        filters(browser, ruby, [lines[1]], "Leak#keep")
        by_keyboard(browser)
        by_mouse(browser)
        zoom_in_address(browser, ruby)
        back(browser, ruby)
        inverted(browser, ruby, "ruby")
        inverted(browser, plain, "native")
        foreign_addresses(browser, ruby)
        upper_and_lower(browser, ruby, [lines[1]], "Leak#keep")
        for by in "site", "function":
            buttons(browser, ruby, [lines[1]], by)
        for by in "function", "line":
            buttons(browser, plain, native, by)
        views(browser, plain, native)
        samples_of_counters(browser, plain, native)
        load(browser, plain)
        place = browser.run("document.querySelector('.suspect .place')?.textContent")
        check(place and place.strip() == "jprof-samples/threads.c:43", f"the card of the largest function has the place {place!r}")
        check(not browser.run("document.querySelector('.suspect summary') !== null"), "a card that has no more to say has an arrow to open it")
        one_amount(browser, directory)
        parts_of_ruby(browser, directory, lines[1])
        grown = make(directory, "grown", "diff", *lines)
        difference(browser, grown, lines)
        one_counter(browser, grown)
        widths(browser, grown, "grown")
        inverted(browser, grown, "grown")
        for by in "--by=function", "--by=lib", "--lines":
            rows_asked(browser, directory, by, lines)
            rows_asked(browser, directory, by, [*native, doubled(directory, native[-1])])
            report_rows(browser, directory, by, [lines[1]])
        all_rows(browser, directory, [], [lines[1]])
        all_rows(browser, directory, ["diff"], lines)
        no_room(directory, lines[1])
        refused(["file", "address", "kind", "group"], "--html")
        refused(["file", "address", "kind", "group"], "explain", "--html")
        refused(["file", "group", "stack", "size"], "diff", "--html")
        looks(browser, ruby, "ruby")
        looks(browser, grown, "grown")
        if os.path.isdir(os.path.join(cases, "puma")):
            snapshots = ["--sysroot=" + os.path.join(cases, "sysroot")] + [os.path.join(cases, "puma", f"w0.{i}.jprof") for i in (1, 2, 3)]
            puma = make(directory, "puma", "diff", *snapshots)
            difference(browser, puma, snapshots)
            looks(browser, puma, "puma")
            explained = make(directory, "explained", "explain", snapshots[0], *snapshots[2:])
            load(browser, explained)
            said = browser.run("document.querySelector('#memory summary').textContent")
            total = json.loads(run("explain", "--json", *snapshots[2:]))["total"]
            amount, name = re.search(r"([\d.]+) (\w+)", said).groups()
            check(abs(float(amount) * UNITS[name] - total) <= 0.051 * UNITS[name], f"all memory is {said}, not {total}")
            bar = browser.run("[...document.querySelectorAll('.memory-bar > div')].map(d => [d.getBoundingClientRect().width, Number(d.style.flexGrow)])")
            per = [w / b for w, b in bar if w > 20]
            check(len(per) > 2 and max(per) / min(per) < 1.1, f"the bar is not to scale: {bar}")
        hostile(browser, directory)
        outside = [u for u in browser.requests() if not u.startswith("file://" + directory) and u != "about:blank"]
        check(not outside, f"other files were asked for: {outside}")
        check(not browser.complaints(), f"the console says: {browser.complaints()}")
    browser.close()
    finish()


if __name__ == "__main__":
    main()
