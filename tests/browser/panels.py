"""What stands beside the graph of a page of --html, and what there is to choose from: callers and callees, source, sizes, memory
over time, snapshots, processes, ages, tags; what a page holds; --open; paper.
usage: panels.py JPROF SOURCE_ROOT [DIRECTORY_FOR_PICTURES]"""
import base64
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import zlib
from collections import defaultdict

import page
from checks import check, finish, jprof, root, run
from chromium import Chromium
from page import ROWS, UNITS, choose, judge, load, make, number, report, same_rows, type_into, unit, wait

pictures = page.pictures
PRESS = "[...document.querySelectorAll({})].find(b => b.textContent === {})?.click()"


def near(text, value, size):
    return abs(number(text) * size - value) <= 0.051 * size + 2 + 1e-6 * abs(value) if size > 1 else abs(number(text) - value) <= 1.01


def tab(browser, name):
    browser.run(PRESS.format("'#tabs button'", json.dumps(name)))


def cells(browser, selector):
    return browser.run("[...document.querySelectorAll(" + json.dumps(selector) + ")].map(tr => [...tr.cells].map(td => td.textContent))")


def chosen(browser, name):
    if browser.run("document.querySelector('#rows tr.chosen button')?.textContent") != name:
        browser.run("[...document.querySelectorAll('#rows button')].find(b => b.textContent === " + json.dumps(name) + ").click()")


# ---- callers and callees, beside --peek; paths, beside --collapsed ----


def peeked(by, dump):
    """Of each row its callers and callees, what passes through them, and the row itself: flat and cum."""
    rows, above, name, below = {}, {}, None, {}
    for line in run("--peek=.", "--show_bytes", "--by=" + by, *dump).decode().splitlines()[4:]:
        if line.startswith("---"):
            if name:
                rows[name] = above, below, *own
            above, name, below = {}, None, {}
            continue
        numbers, text = line.split("|", 1)
        if text.startswith("   "):
            (below if name else above)[text.strip()] = float(numbers.split()[0])
        else:
            name, own = text.strip(), (float(numbers.split()[0]), float(numbers.split()[3]))
    return rows


def paths_of(dump):
    """What each path of functions holds, the outermost first and without what repeats at once."""
    paths = defaultdict(float)
    for line in run("--collapsed", *dump).decode().splitlines():
        names, value = line.rsplit(" ", 1)
        rows = []
        for name in names.split(";"):
            if not rows or rows[-1] != name:
                rows.append(name)
        paths["\n".join(rows)] += float(value)
    return paths


def calls(browser, url, by, dump):
    rows, all_paths = peeked(by, dump), paths_of(dump)
    load(browser, url + "#tab=calls&by=" + by)
    busy = sorted(rows, key=lambda name: (-min(len(rows[name][0]), 3) - min(len(rows[name][1]), 3), -rows[name][3], name))[:6]
    check(any(rows[name][0] and rows[name][1] for name in busy), f"no row by {by} has callers and callees")
    for name in busy:
        chosen(browser, name)
        size = unit(browser)
        for place, (what, wanted) in enumerate((("callers", rows[name][0]), ("callees", rows[name][1]))):
            shown = cells(browser, f".sides > :nth-child({place + 1}) tbody tr")
            wanted = {other: value for other, value in wanted.items() if other != name}
            check(len(shown) >= min(len(wanted), 15), f"{what} of {name} by {by}: {len(shown)}, not {len(wanted)}")
            for text, other in shown:
                if other in wanted or float(text.split()[0].replace(",", "")) * size > 0.02 * rows[name][3]:
                    check(other in wanted and near(text.split()[0], wanted[other], size), f"{what} of {name} by {by}: {other} has {text}, not {wanted.get(other)}")
        said = browser.run("document.querySelectorAll('#calls-panel p')[1].textContent")
        found = re.match(r"([\d,.]+) \w+ with calls, ([\d,.]+) itself", said)
        check(found and near(found[1], rows[name][3], size) and near(found[2], rows[name][2], size), f"{name} by {by}: {said}, not {rows[name][2:]}")
        if by != "function":
            continue
        texts = browser.run("[...document.querySelectorAll('#calls-panel pre')].map(pre => pre.textContent)")
        paths = {path: value for path, value in all_paths.items() if name in path.split("\n")}
        check(len(texts) == min(len(paths), 8), f"{len(texts)} paths of {name}, not {len(paths)}")
        for text, value in zip(texts, sorted(paths.values(), reverse=True)):
            amount, *names = text.split("\n")
            path = "\n".join(one[2:] for one in names)
            check(path in paths and near(amount.split()[0], value, size) and near(amount.split()[0], paths[path], size),
                  f"a path of {name} has {amount}, not {value}: {path[:200]}")
    inner = browser.run("document.querySelector('.sides tbody button')?.textContent")
    browser.run("document.querySelector('.sides tbody button')?.click()")
    check(inner == browser.run("document.querySelector('#calls-panel .name').textContent"), "a caller does not lead to its own callers")
    check("tab=calls" in browser.run("location.hash"), "the address has no tab")
    address, text = browser.run("location.hash"), browser.run("document.getElementById('calls-panel').textContent")
    load(browser, url + address)
    check(browser.run("document.getElementById('calls-panel').textContent") == text, "the address does not bring callers back")


# ---- sizes, beside --sizes ----


def sizes(browser, url, dump):
    load(browser, url + "#tab=sizes")
    wanted = {}
    for line in run("--sizes", "--fold=none", "--show_bytes", *dump).decode().splitlines():
        found = re.match(r"\s*(-?\d+)\s+\S+%\s+(-?\d+)\s+(no one size|[\d.]+ [KMG]?B)", line)
        if found:
            wanted[found[3]] = float(found[1]), float(found[2])
    shown = {row[0]: row for row in cells(browser, "#sizes-panel tbody tr")}
    check(set(shown) == set(wanted) and len(wanted) > 2, f"sizes are {sorted(shown)}, not {sorted(wanted)}")
    size = UNITS[cells(browser, "#sizes-panel thead tr")[0][1]]
    for key in set(shown) & set(wanted):
        check(near(shown[key][1], wanted[key][0], size), f"size {key}: {shown[key][1]}, not {wanted[key][0] / size}")
        check(abs(number(shown[key][2]) - wanted[key][1]) <= 1, f"size {key}: {shown[key][2]} objects, not {wanted[key][1]}")


# ---- series ----


def spans(browser, url, dumps, options):
    """Any two snapshots of a series: the growth is that of --base."""
    last = len(dumps) - 1
    for first, second in (0, 1), (1, 2), (0, 2):
        load(browser, url)
        by = browser.run("document.getElementById('by').value")
        choose(browser, "from", str(first))
        choose(browser, "to", str(second))
        check(browser.run("[from.value, to.value].join()") == f"{first},{second}", "the choice does not stay")
        wanted = report("--base=" + dumps[first], "--by=" + {"library": "lib"}.get(by, by), *options, dumps[second])
        same_rows(browser, f"from {first} to {second}", wanted)
        shown, size = {row["name"]: row["cells"] for row in browser.run(ROWS)}, unit(browser)
        for row in wanted["rows"]:
            ends = row["flat_range"]
            if row["name"] in shown and ends["low"] is not None and ends["samples"] >= 50:
                half = (ends["high"] - ends["low"]) / 2
                check(abs(number(shown[row["name"]][1]) * size - half) <= 0.1 * half + 0.051 * size,
                      f"from {first} to {second}: {row['name']} is off by {shown[row['name']][1]}, not {half / size}")
        check(("from=" in browser.run("location.hash") or "to=" in browser.run("location.hash")) == ((first, second) != (0, last)),
              "the address does not have the snapshots: " + browser.run("location.hash"))
        if (first, second) != (0, last):
            address, rows = browser.run("location.hash"), browser.run(ROWS)
            load(browser, url + address)
            check(browser.run(ROWS) == rows, "the address does not bring the snapshots back")
    load(browser, url)
    choose(browser, "from", "2")
    check(int(browser.run("from.value")) < int(browser.run("to.value")), "a snapshot is compared with one before it")


def over_time(browser, url, dumps, options):
    """Numbers of all memory are those of diff --json; rows those of each snapshot alone."""
    wanted = json.loads(run("diff", "--json", *options, *dumps))
    load(browser, url + "#tab=time")
    heads = cells(browser, "#time-panel thead tr")
    tables = [UNITS[re.search(r"\((\w+)\)$", head[0])[1]] for head in heads]
    memory = {row[0]: row[1:] for row in cells(browser, "#time-panel > div:nth-of-type(1) tbody tr")}
    for what, values in ("all memory (RSS)", wanted["memory"]), ("live malloc memory", wanted["malloc"]["values"]):
        if any(value is not None for value in values):
            check(what in memory and all(near(text, value, tables[0]) for text, value in zip(memory[what], values) if value is not None),
                  f"{what}: {memory.get(what)}, not {values}")
    check(len(memory) == sum(row["part"] != "live" for row in wanted["rows"]) + 1 + any(v is not None for v in wanted["memory"]),
          f"parts of memory: {sorted(memory)}")
    live, compared = {row["name"]: row["values"] for row in wanted["rows"] if row["part"] == "live"}, 0
    for row in cells(browser, "#time-panel > div:nth-of-type(2) tbody tr"):
        if row[0] in live:
            check(all(near(text, value, tables[1]) for text, value in zip(row[1:], live[row[0]])), f"{row} is not {live[row[0]]}")
            compared += 1
    check(compared, "no row over time was compared")
    shapes = browser.run("[...document.querySelectorAll('#time-panel polyline, #time-panel polygon')].map(p => [p.tagName, p.getAttribute('points').split(' ').length])")
    parts = len(memory) - ("all memory (RSS)" in memory)
    check(shapes == [["polygon", 2 * len(dumps)]] * parts + [["polyline", len(dumps)]] * (len(memory) - parts), f"of {sorted(memory)} the picture has {shapes}")


def processes(browser, directory, dump_a, dump_b):
    """One member of a bundle, beside --member."""
    bundle = os.path.join(directory, "two.jprof")
    run("bundle", "-o", bundle, dump_a, dump_b)
    url = make(directory, "two", bundle)
    load(browser, url)
    offered = browser.run("[...document.getElementById('process').options].map(o => o.value)")
    check(len(offered) == 3, f"of two processes {offered} are offered")
    both = browser.run(ROWS)
    for key in offered[1:]:
        choose(browser, "process", key)
        wanted = report("--member=" + key[1:], "--by=" + browser.run("document.getElementById('by').value"), bundle)
        same_rows(browser, "process " + key, wanted)
        check("process=" in browser.run("location.hash"), "the address does not have the process")
    choose(browser, "process", "")
    check(browser.run(ROWS) == both, "all processes are not what they were")


def processes_of_two(browser, directory, before, after):
    """The same of a difference: the process's own, and names of files that would be markup."""
    bundles = [os.path.join(directory, name + "<img src=x onerror=alert(1)>.jprof") for name in ("first", "last")]
    for bundle, dumps in zip(bundles, (before, after)):
        run("bundle", "-o", bundle, *dumps)
    url = make(directory, "grown-two", "diff", *bundles)
    load(browser, url)
    for key in browser.run("[...document.getElementById('process').options].map(o => o.value)")[1:]:
        choose(browser, "process", key)
        wanted = report("--base=" + bundles[0], "--member=" + key[1:], "--by=" + browser.run("document.getElementById('by').value"), bundles[1])
        grown = sum(abs(row["flat"]) for row in wanted["rows"])
        if grown > 1000:
            same_rows(browser, f"process {key} of a difference", wanted)
        else:
            shown = [row for row in browser.run(ROWS) if number(row["cells"][0])]
            check(not shown, f"process {key} did not change, but the page has {shown}")
    tab(browser, "Over time")
    check("<img" in browser.run("document.getElementById('time-panel').textContent"), "a snapshot is not called by its name")
    check(not browser.run("document.querySelectorAll('img').length"), "a name became markup")


# ---- ages and tags ----


def ages(browser, url, dump):
    rows = report("--ages", "--by=site", dump)["rows"]
    row = next(r for r in rows if "price_list.rb" in r["name"])
    load(browser, url)
    chosen(browser, row["name"])
    said = browser.run("document.getElementById('box').textContent")
    size = unit(browser)
    for word, key in ("last hour|later", "last_hour"), ("older", "older"), ("startup", "startup"):
        found = re.search(f"(?:{word})" + r" ([\d.,]+) [KMG]?B", said)
        value = row["ages"][key] if "ages" in row else row[key]
        check(near(found[1], value, size) if found else value < 1, f"age {word}: {said!r}, not {value}")
    check("age: " in said, f"no age in {said!r}")


def tags(browser, url, dump):
    load(browser, url)
    check("tag" in browser.run("[...document.getElementById('by').options].map(o => o.value)"), "no rows by tag are offered")
    choose(browser, "by", "tag")
    wanted = report("--by=tag", dump)
    same_rows(browser, "--by=tag", wanted)
    check({row["name"] for row in browser.run(ROWS)} == {row["name"] for row in wanted["rows"]}, "the tags are others")
    chosen(browser, "route GET /products/:id")
    tab(browser, "Callers and callees")
    texts = browser.run("[...document.querySelectorAll('#calls-panel pre')].map(pre => pre.textContent)")
    check(texts and all("price_list.rb:42" in text for text in texts), f"paths of a tag: {texts}")


# ---- source, and what a page holds ----


def data_of(path):
    with open(path, encoding="utf-8") as file:
        return zlib.decompress(base64.b64decode(re.search(r'id="data">([^<]*)<', file.read())[1])).split(b"\0")[0].decode()


def source(browser, directory, dump):
    app = os.path.join(directory, "sources")
    os.makedirs(os.path.join(app, "app/services"))
    text = [f"  line = {i} # the text of {i}" for i in range(1, 61)]
    text[40] = "</script><script>document.title='bad'</script> \u202e & \"'"
    with open(os.path.join(app, "app/services/price_list.rb"), "w", encoding="utf-8") as file:
        file.write("\n".join(text) + "\n")
    held = {}
    for name, options in ("with", ["--source-path=" + app]), ("without", ["--source-path=" + app, "--no-source"]), ("nowhere", []):
        path = os.path.join(directory, "source-" + name + ".html")
        held[name] = subprocess.run([jprof, "--html", "-o", path, *options, dump], stderr=subprocess.PIPE, check=True).stderr.decode()
    check("11 lines of source from 1 file (--no-source leaves them out)" in held["with"], f"the command says {held['with']!r}")
    for name in "without", "nowhere":
        check("no lines of source" in held[name], f"the command says {held[name]!r}")
        check("the text of" not in data_of(os.path.join(directory, f"source-{name}.html")), f"{name}: the page has source")
    check(all("the tags route GET /products/:id, job PriceSyncJob" in one for one in held.values()), f"tags are not said: {held['with']!r}")
    load(browser, "file://" + os.path.join(directory, "source-with.html") + "#tab=source")
    shown = cells(browser, "#source-panel .excerpt tbody tr")
    check([row[2] for row in shown] == [str(i) for i in range(37, 48)], f"the lines are {[row[2] for row in shown]}")
    check(all(row[3] == text[int(row[2]) - 1].replace("\u202e", "\\xe2\\x80\\xae") for row in shown), f"the source is {shown}")
    flat = next(row["flat"] for row in report("--by=site", dump)["rows"] if "price_list.rb" in row["name"])
    check([near(row[0], flat, unit(browser)) for row in shown if row[0]] == [True], f"line 42 has {shown[5]}, not {flat}")
    check(browser.run("document.title") != "bad" and browser.run("document.querySelectorAll('script').length") == 2, "source became a script")
    said = browser.run("document.getElementById('holds').textContent")
    check("price_list.rb" in said and "route GET /products/:id" in said, f"the page does not say what it holds: {said!r}")
    load(browser, "file://" + os.path.join(directory, "source-without.html") + "#tab=source")
    check("has no source" in browser.run("document.getElementById('source-panel').textContent"), "a page without source does not say so")


# ---- --open ----


def opened(directory, dump):
    """xdg-open gets one word: the path of a page in a directory of one's own, or the file that -o made."""
    there = os.path.join(directory, "opened")
    os.makedirs(os.path.join(there, "bin"))
    os.mkdir(os.path.join(there, "tmp"))
    tool = os.path.join(there, "bin", "xdg-open")
    with open(tool, "w", encoding="ascii") as file:
        file.write('#!/bin/sh\nprintf "%s\\n" "$@" >>"$OPENED"\nexit "${OPEN_STATUS:-0}"\n')
    os.chmod(tool, 0o755)
    log = os.path.join(there, "log")
    env = {**os.environ, "PATH": os.path.join(there, "bin") + ":" + os.environ["PATH"], "TMPDIR": os.path.join(there, "tmp"), "OPENED": log}

    def go(*arguments, **more):
        if os.path.exists(log):
            os.remove(log)
        done = subprocess.run([jprof, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**env, **more})
        words = open(log, encoding="utf-8").read().splitlines() if os.path.exists(log) else []
        return done, words

    done, words = go("--html", "--open", dump)
    check(done.returncode == 0 and not done.stdout and len(words) == 1, f"--open gives {words}, {done.stderr}")
    path = words[0]
    check(path.startswith(os.path.realpath(env["TMPDIR"]) + "/jprof-") and path.endswith("/heap.html"), f"--open shows {path}")
    check(stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700, "others may enter the directory of the page")
    check(re.search('"jprof_page": *3', data_of(path)), "--open shows no page")
    check(path.encode() in done.stderr, f"--open does not say where: {done.stderr}")
    given = os.path.join(there, "-page.html")
    done, words = go("--html", "--open", "-o", given, dump)
    check(words == [os.path.realpath(given)] and os.path.exists(given), f"--open -o shows {words}")
    done, words = go("--html", "--open", "-o", given, dump, OPEN_STATUS="3")
    check(done.returncode == 1 and b"open it in a browser yourself" in done.stderr, f"without a browser: {done.stderr}")
    done, words = go("--open", dump)
    check(not words and done.returncode == 1, f"--open without --html: {words}, {done.stderr}")


# ---- paper ----


def paper(browser, url, name):
    """What is printed has the answer, the rows and the picture, and nothing to click."""
    load(browser, url)
    printed = os.path.join(pictures or tempfile.gettempdir(), name + ".pdf")
    data = browser.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"]
    with open(printed, "wb") as file:
        file.write(base64.b64decode(data))
    if shutil.which("pdftotext"):
        text = subprocess.run(["pdftotext", "-layout", printed, "-"], stdout=subprocess.PIPE, check=True).stdout.decode()
        answer = browser.run("document.querySelector('#answer p').textContent").split()[:6]
        check(" ".join(answer) in " ".join(text.split()), f"{name}: paper does not have the answer")
        check("Reset" not in text and "Show it" not in text and "Zoom out" not in text, f"{name}: paper has controls")
        first = browser.run("document.querySelector('#rows button').textContent")
        check(first.split()[0][:20] in text, f"{name}: paper does not have the rows")
    check(1 <= data.count("") and len(data) > 10000, f"{name}: paper is empty")
    if not pictures:
        os.remove(printed)


# ---- looks ----


def look_at_panels(browser, url, name):
    for panel in "calls", "source", "sizes", "time":
        for scheme in ("light", "dark") if pictures else ("light",):
            browser.scheme(scheme)
            for width, height in (1280, 1300), (390, 2600):
                load(browser, url + "#tab=" + panel, width, height)
                if browser.run(f"document.querySelector('[data-tab={panel}]').hidden"):
                    continue
                wide = browser.run("document.documentElement.scrollWidth")
                check(wide <= width, f"{name}, {panel} at {width} px is {wide} px wide")
                if pictures:
                    browser.picture(os.path.join(pictures, f"{name}-{panel}-{width}-{scheme}.png"))
        judge(browser, url + "#tab=" + panel, f"{name} {panel}")
    browser.scheme("light")


def main():
    browser = Chromium()
    with tempfile.TemporaryDirectory(prefix="jprof-panels-") as directory:
        subprocess.run([sys.executable, os.path.join(root, "tests", "cli", "aged.py")], cwd=directory, check=True)
        aged = [os.path.join(directory, name + ".heap") for name in ("early", "middle", "late")]
        ruby = os.path.join(page.tables, "ruby31.1.heap")
        native = ["--sysroot=" + os.path.join(page.heaps, "sysroot"), os.path.join(page.heaps, "jemalloc-5.3.0.heap")]
        plain, lines, late = make(directory, "native", *native), make(directory, "ruby", ruby), make(directory, "late", aged[2])
        for by in "function", "line":
            calls(browser, plain, by, native)
        for by in "site", "function":
            calls(browser, lines, by, [ruby])
        sizes(browser, plain, native)
        sizes(browser, lines, [ruby])
        series = make(directory, "series", "diff", *aged)
        spans(browser, series, aged, [])
        over_time(browser, series, aged, [])
        processes(browser, directory, ruby, native[1])
        processes_of_two(browser, directory, [ruby.replace("31.1", "31.0"), native[1]], [ruby, native[1]])
        ages(browser, late, aged[2])
        tags(browser, late, aged[2])
        source(browser, directory, aged[2])
        opened(directory, ruby)
        paper(browser, series, "series")
        look_at_panels(browser, series, "series")
        if os.path.isdir(os.path.join(page.cases, "puma")):
            options = ["--sysroot=" + os.path.join(page.cases, "sysroot")]
            snapshots = [os.path.join(page.cases, "puma", f"w0.{i}.jprof") for i in (1, 2, 3)]
            puma = make(directory, "puma", "diff", *options, *snapshots)
            spans(browser, puma, snapshots, options)
            over_time(browser, puma, snapshots, options)
            paper(browser, puma, "puma")
            look_at_panels(browser, puma, "puma")
        outside = [u for u in browser.requests() if not u.startswith("file://" + directory) and u != "about:blank"]
        check(not outside, f"other files were asked for: {outside}")
        check(not browser.complaints(), f"the console says: {browser.complaints()}")
    browser.close()
    finish()


if __name__ == "__main__":
    main()
