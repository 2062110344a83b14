"""The SVG of a call graph in Chromium: nothing overlaps, zoom, pan, tooltips, dark and light, no other file.
usage: svg.py JPROF SOURCE_ROOT [DIRECTORY_FOR_PICTURES]"""
import os
import re
import subprocess
import sys
import tempfile

from checks import check, finish, jprof, root
from chromium import Chromium, skip

pictures = sys.argv[3] if len(sys.argv) > 3 else None
cases = os.path.join(root, "samples", "cases")
if not os.path.isdir(cases):
    skip("no samples here")


def draw(path, *arguments):
    done = subprocess.run([jprof, "--svg", "-o", path, *arguments], stderr=subprocess.PIPE, timeout=120)
    if b"built without libgvc" in done.stderr:
        skip("jprof was built without libgvc")
    if done.returncode:
        sys.exit("jprof failed: " + done.stderr.decode(errors="replace")[:2000])
    return "file://" + path


# What is seen of all nodes: boxes and texts in the window's pixels, and colours as they are painted.
LOOK = """(() => {
  const rect = e => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
  return [...document.querySelectorAll('.node')].map(node => ({
    title: node.querySelector('title').textContent,
    box: rect(node.querySelector('polygon, path')),
    fill: getComputedStyle(node.querySelector('polygon, path')).fill,
    texts: [...node.querySelectorAll('text')].map(t =>
      ({ text: t.textContent, box: rect(t), fill: getComputedStyle(t).fill, size: +t.getAttribute('font-size') }))
  }));
})()"""
# Frames around nodes, in the same form.
PAGE = "getComputedStyle(document.documentElement).backgroundColor"
FRAMES = """[...document.querySelectorAll('.cluster')].map(frame => ({
  fill: getComputedStyle(frame.querySelector('polygon, path')).fill,
  texts: [...frame.querySelectorAll('text')].map(t =>
    ({ text: t.textContent, fill: getComputedStyle(t).fill, size: +t.getAttribute('font-size') }))
}))"""
VIEW = "(v => [v.x, v.y, v.width, v.height])(document.documentElement.viewBox.baseVal)"


def luminance(colour):
    parts = [float(c) / 255 for c in colour[4:-1].split(",")]
    parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one, other):
    a, b = sorted((luminance(one), luminance(other)))
    return (b + 0.05) / (a + 0.05)


def check_layout(nodes, what):
    for node in nodes:
        left, top, right, bottom = node["box"]
        slack = 0.02 * (right - left) + 1
        for text in node["texts"]:
            check(text["box"][0] >= left - slack and text["box"][2] <= right + slack,
                  f"{what}: text is wider than its box: {text['text']}")
            check(text["box"][1] >= top - slack and text["box"][3] <= bottom + slack,
                  f"{what}: text is higher than its box: {text['text']}")
    for i, a in enumerate(nodes):
        for b in nodes[i + 1:]:
            apart = (a["box"][2] <= b["box"][0] or b["box"][2] <= a["box"][0] or
                     a["box"][3] <= b["box"][1] or b["box"][3] <= a["box"][1])
            check(apart, f"{what}: boxes overlap: {a['title']!r} {b['title']!r}")


def check_colours(nodes, what):
    for node in nodes:
        for text in node["texts"]:
            ratio = contrast(node["fill"], text["fill"])
            check(ratio >= (4.5 if text["size"] < 18 else 3),
                  f"{what}: contrast {ratio:.1f} of {text['fill']} on {node['fill']}: {text['text']}")


def look(browser, url, name):
    browser.open(url)
    for scheme in "light", "dark":
        browser.scheme(scheme)
        nodes = browser.run(LOOK)
        check(len(nodes) > 3, f"{name}: {len(nodes)} nodes")
        check_layout(nodes, name)
        check_colours(nodes, f"{name}, {scheme}")
        frames = [dict(f, fill=browser.run(PAGE)) if f["fill"] == "none" else f for f in browser.run(FRAMES)]
        check_colours(frames, f"frames of {name}, {scheme}")
        check(all((luminance(f["fill"]) > 0.5) == (scheme == "light") for f in frames), f"{name}, {scheme}: {frames}")
        page = browser.run(PAGE)
        check((luminance(page) > 0.5) == (scheme == "light"), f"{name}, {scheme}: the page is {page}")
        if pictures:
            browser.picture(os.path.join(pictures, f"{name}-{scheme}.png"))
    browser.scheme("light")
    return nodes


def largest(nodes):
    return max(nodes, key=lambda n: (n["box"][2] - n["box"][0]) * (n["box"][3] - n["box"][1]))


def middle(box):
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def near(a, b, slack=1):
    return all(abs(x - y) <= slack for x, y in zip(a, b))


def use(browser, url):
    """Zoom, pan, tooltip and selecting text, by mouse and keys."""
    browser.open(url)
    before = browser.run(VIEW)
    big = largest(browser.run(LOOK))
    check(big["title"].startswith("row_new\n"), "the biggest is not what holds most: " + big["title"])
    x, y = middle(big["box"])
    title = browser.run(f"document.elementFromPoint({x}, {y}).closest('.node').querySelector('title').textContent")
    for part in "row_new", "leaky.c:", "leaky.so", "itself: ", " MB (", "±", "95 % between":
        check(part in title, f"the tooltip lacks {part}: {title}")

    browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-400)
    zoomed = browser.run(VIEW)
    check(zoomed[2] < before[2] * 0.7, f"the wheel does not zoom: {before} {zoomed}")
    check(near(middle(largest(browser.run(LOOK))["box"]), (x, y), 3), "the point under the mouse moves when zooming")
    browser.key("0")
    check(near(browser.run(VIEW), before), "0 does not show all")
    browser.key("+")
    check(browser.run(VIEW)[2] < before[2], "+ does not zoom")
    browser.key("-")
    check(near(browser.run(VIEW), before, 2), "- is not the opposite of +")
    browser.key("ArrowRight")
    check(browser.run(VIEW)[0] > before[0], "the arrow does not move")
    browser.key("0")

    browser.drag(1190, 890, 1090, 840)
    moved = browser.run(VIEW)
    check(moved[0] > before[0] and moved[1] > before[1] and near(moved[2:], before[2:]), f"a drag does not pan: {moved}")
    x, y = middle(largest(browser.run(LOOK))["box"])
    browser.click(1190, 890, 2)
    check(near(browser.run(VIEW), before), "a double click does not show all")

    # Without a mouse over it: a click or a tap, and the Tab key.
    told = "(e => e ? e.textContent : '')(document.querySelector('.chosen pre'))"
    box = largest(browser.run(LOOK))["box"]
    check(browser.run(told) == "", "something is told before it is asked for")
    browser.click(box[0] + 4, box[1] + 4, 1)
    check(browser.run(told) == title, f"a click does not tell what was clicked: {browser.run(told)}")
    corner = browser.run("(r => [r.left, r.top, r.right, r.bottom])(document.querySelector('.chosen pre').getBoundingClientRect())")
    check(0 <= corner[0] < corner[2] <= 1200 and corner[1] < corner[3] <= 900, f"it is told outside the window: {corner}")
    if pictures:
        browser.picture(os.path.join(pictures, "chosen.png"))
    browser.key("Escape")
    check(browser.run(told) == "", "Escape does not end it")
    browser.key("Tab")
    first = browser.run(told)
    browser.key("Tab")
    check(first and browser.run(told) not in ("", first), f"Tab does not go from node to node: {first}")
    browser.key("Escape")
    check(near(browser.run(VIEW), before), "choosing moves the picture")

    text = [t for t in largest(browser.run(LOOK))["texts"] if "row_new" in t["text"]][0]["box"]
    browser.drag(text[0] + 2, middle(text)[1], text[2] - 2, middle(text)[1])
    check("ow_ne" in browser.run("getSelection().toString()"), "text cannot be selected")
    check(near(browser.run(VIEW), before), "selecting text pans")


# The titles' first lines of the nodes that have a class, in order.
NAMED = """(c => [...document.querySelectorAll('.node.' + c)].map(
  n => n.querySelector('title').textContent.split('\\n')[0]).sort().join(' '))"""
# Ends when what the mouse began has been drawn, with its transitions, however slow the machine is.
SETTLED = """new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() =>
  Promise.allSettled(document.getAnimations().map(a => a.finished)).then(() => done(0)))))"""
FAINT = "[...document.querySelectorAll('.node')].filter(n => getComputedStyle(n).opacity !== '1').length"


def known_callers(arguments, name):
    """Of a function's drawn callers and callees, by what --dot says."""
    dot = subprocess.run([jprof, "--dot", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    names = {n: t.split("\\n")[0] for n, t in re.findall(r'^\t+(N\d+)\t\[.*?tooltip="(.*?)"', dot, re.M | re.S)}
    arrows = re.findall(r"^\t+(N\d+) -> (N\d+)\t", dot, re.M)
    me = [n for n, t in names.items() if t == name]
    return (" ".join(sorted({names[a] for a, b in arrows if [b] == me and a != b})),
            " ".join(sorted({names[b] for a, b in arrows if [a] == me and a != b})))


def point_and_search(browser, url, arguments):
    """Callers and callees of what the mouse points at, and the search box."""
    browser.open(url)
    callers, callees = known_callers(arguments, "rb_ensure")
    check(callers and callees, f"rb_ensure has no callers or no callees: {callers!r} {callees!r}")
    box = [n for n in browser.run(LOOK) if n["title"].startswith("rb_ensure\n")][0]["box"]
    check(browser.run(FAINT) == 0, "something is faint before anything is pointed at")
    browser.mouse("mouseMoved", box[0] + 3, box[1] + 3)
    browser.run(SETTLED)
    check(browser.run(NAMED + "('caller')") == callers, f"callers: {browser.run(NAMED + '(`caller`)')}, not {callers}")
    check(browser.run(NAMED + "('callee')") == callees, f"callees: {browser.run(NAMED + '(`callee`)')}, not {callees}")
    marked = len(set(callers.split() + callees.split() + ["rb_ensure"]))
    check(browser.run(FAINT) == browser.run("document.querySelectorAll('.node').length") - marked, "the others are not faint")
    for scheme in "light", "dark":
        browser.scheme(scheme)
        check(browser.run("(e => getComputedStyle(e('caller')).stroke !== getComputedStyle(e('callee')).stroke)"
                          "(c => document.querySelector('.node.' + c + ' > polygon, .node.' + c + ' > path'))"),
              f"{scheme}: callers look like callees")
    browser.scheme("light")
    browser.mouse("mouseMoved", 3, 890)
    browser.run(SETTLED)
    check(browser.run(FAINT) == 0 and browser.run(NAMED + "('caller')") == "", "it stays when the mouse goes away")

    before = browser.run(VIEW)
    where = browser.run("(r => [r.left, r.top, r.right, r.bottom])(document.querySelector('.search input').getBoundingClientRect())")
    check(0 < where[0] < where[2] <= 1200 and 0 <= where[1] < where[3] < 60, f"the search box is not in the corner: {where}")
    browser.key("/")
    for letter in "ROW_N0":
        browser.key(letter)
    said = "document.querySelector('.search span').textContent"
    check(browser.run(said) == "0 boxes", f"what is not there: {browser.run(said)}")
    browser.run("(i => { i.value = ''; i.dispatchEvent(new Event('input')); })(document.querySelector('.search input'))")
    for letter in "ROW_N":
        browser.key(letter)
    check(near(browser.run(VIEW), before), "letters in the search box move the picture")
    check(browser.run(NAMED + "('match')") == "row_new", "a name is not found: " + browser.run(NAMED + "('match')"))
    check(browser.run(said) == "1 box", browser.run(said))
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", text="\r", windowsVirtualKeyCode=13)
    at = middle(browser.run(LOOK + ".find(n => n.title.startsWith('row_new'))")["box"])
    check(near(at, (600, 450), 3), f"Enter does not bring it to the middle: {at}")
    browser.mouse("mouseWheel", 600, 450, deltaX=0, deltaY=-400)
    stays = browser.run("(r => [r.left, r.top, r.right, r.bottom])(document.querySelector('.search input').getBoundingClientRect())")
    check(near(stays, where, 2), f"the search box moves with the picture: {where} {stays}")
    browser.key("Escape")
    browser.mouse("mouseMoved", 3, 890)
    browser.run(SETTLED)
    check(browser.run(NAMED + "('match')") == "" and browser.run(FAINT) == 0, "Escape does not end the search")


def as_image(browser, directory, url):
    page = os.path.join(directory, "page.html")
    with open(page, "w") as out:
        out.write(f'<!DOCTYPE html><title>page</title><img src="{url}">')
    browser.open("file://" + page)
    size = browser.run("(i => [i.naturalWidth, i.naturalHeight])(document.querySelector('img'))")
    check(size[0] > 100 and size[1] > 100, f"as an image it has no size: {size}")
    check("page.html" in browser.run("location.href"), "the page went elsewhere")


NASTY = r"""--- symbol
binary=/opt/app
0x1000 </text><script>document.title="bad"</script>
0x2000 <a xlink:href="javascript:document.title='bad'">x</a>
0x3000 "onload="document.title='bad'
0x4000 ]]><script>document.title='bad'</script>
---
--- heap
heap_v2/1
  t*: 4: 4000 [0: 0]
@ 0x1000 0x2001 0x3001 0x4001
  t*: 1: 1000 [0: 0]
@ 0x2000 0x3001 0x4001
  t*: 1: 1000 [0: 0]
"""


def main():
    browser = Chromium()
    with tempfile.TemporaryDirectory(prefix="jprof-svg-") as directory:
        sysroot = "--sysroot=" + os.path.join(cases, "sysroot")
        ruby = os.path.join(cases, "ruby31", "cext.1.heap")
        path = lambda name: os.path.join(directory, name + ".svg")
        plain = draw(path("ruby"), "--errors", sysroot, ruby)
        grown = draw(path("diff"), "--base=" + os.path.join(cases, "puma", "w0.1.heap"), sysroot,
                     os.path.join(cases, "puma", "w0.3.heap"))
        framed = draw(path("cluster"), "--cluster", sysroot, ruby)
        with open(os.path.join(directory, "nasty.raw"), "w") as out:
            out.write(NASTY)
        lines = draw(path("lines"), os.path.join(root, "samples", "tables", "ruby31.1.heap"))
        nasty = draw(path("nasty"), "--full-names", os.path.join(directory, "nasty.raw"))
        for name, url in ("ruby", plain), ("diff", grown), ("cluster", framed), ("lines", lines):
            look(browser, url, name)
        use(browser, plain)
        point_and_search(browser, plain, ["--errors", sysroot, ruby])
        browser.open(nasty)
        check(browser.run("document.querySelector('title').textContent").startswith("nasty.raw: "), "a name was run")
        check(browser.run("document.querySelectorAll('script').length") == 1, "a name became a script")
        check(not browser.run("document.querySelector('a')"), "a name became a link")
        as_image(browser, directory, plain)
        outside = [u for u in browser.requests() if not u.startswith("file://" + directory) and u != "about:blank"]
        check(not outside, f"other files were asked for: {outside}")
        check(not browser.complaints(), f"the console says: {browser.complaints()}")
    browser.close()
    finish()


main()
