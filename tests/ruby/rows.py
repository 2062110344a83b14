#!/usr/bin/env python3
"""Rows and owners of a dump that is written here, with its table: gems, Ruby's library, C methods, markers. What should
come out was worked out by hand. Values are exact: the rate is 1.

usage: python3 rows.py JPROF SOURCE_ROOT"""
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

jprof = os.path.abspath(sys.argv[1])
failures = []
START, EPOCHS = 0x7F0000000000, 0x40400
MAPS = """MAPPED_LIBRARIES:
00400000-00500000 r-xp 00000000 08:01 7 /usr/bin/ruby3.1
10000000-10100000 r-xp 00000000 08:01 8 /usr/lib/libruby-3.1.so.3.1
20000000-20100000 r-xp 00000000 08:01 9 /b/extensions/x86_64-linux/3.1.0/nokogiri-1.16.2/nokogiri/nokogiri.so
08000000-08100000 r-xp 00000000 08:01 11 /usr/lib/libjemalloc.so.2
30000000-30100000 r-xp 00000000 08:01 10 /usr/lib/libxml2.so.2.9.14
7f0000000000-7f0000480800 ---s 00000000 00:01 2050 /memfd:jprof-ids:1 (deleted)
"""
# name: (caller, path, line, class, separator, method)
FRAMES = {
    "main": (None, "/srv/shop/config.ru", 3, None, "-", "<main>"),
    "show": ("main", "/srv/shop/app/shop.rb", 18, "Shop", "#", "show"),
    "list": ("main", "/srv/shop/app/shop.rb", 29, "Shop", "#", "list"),
    "i18n_show": ("show", "/b/gems/i18n-1.14.1/lib/i18n.rb", 71, "I18n", ".", "load"),
    "i18n_list": ("list", "/b/gems/i18n-1.14.1/lib/i18n.rb", 71, "I18n", ".", "load"),
    "set": ("show", "/usr/lib/ruby/3.1.0/set.rb", 9, "Set", "#", "add"),
    "plus": ("set", None, 0, "String", "#", "+"),
    "i18n_plus": ("i18n_list", None, 0, "String", "#", "+"),
    "noko": ("list", "/b/gems/nokogiri-1.16.2/lib/nokogiri.rb", 5, "Nokogiri", ".", "parse"),
    "ext": ("list", "/b/extensions/x86_64-linux/3.1.0/bcrypt-3.1.18/bcrypt_ext.so", 0, None, "-",
            "/b/extensions/x86_64-linux/3.1.0/bcrypt-3.1.18/bcrypt_ext.so"),  # while it is loaded
    # Code is loaded for the line that asks for it: what stands in for require only passes on.
    "group": ("main", "/srv/shop/config/application.rb", 15, None, "-", "<main>"),
    "all": ("group", "/b/gems/rails-6.1.7/lib/rails/all.rb", 14, None, "-", "<top (required)>"),
    "zeitwerk": ("all", "/b/gems/zeitwerk-2.6.1/lib/zeitwerk/kernel.rb", 35, "Object", "#", "require"),
    "depend": ("zeitwerk", "/b/gems/activesupport-6.1.7/lib/active_support/dependencies.rb", 299,
               "ActiveSupport::Dependencies::Loadable", "#", "load_dependency"),
    "loaded": ("depend", "/b/gems/activesupport-6.1.7/lib/active_support/dependencies.rb", 332,
               "ActiveSupport::Dependencies::Loadable", "#", "require"),
    "iseq": ("loaded", "/b/gems/bootsnap-1.18.3/lib/bootsnap/compile_cache/iseq.rb", 50, "Bootsnap::CompileCache::ISeq", ".", "fetch"),
    "alone": (None, "/b/gems/zeitwerk-2.6.1/lib/zeitwerk/kernel.rb", 35, "Object", "#", "require"),
    "set_alone": ("alone", "/usr/lib/ruby/3.1.0/set.rb", 9, "Set", "#", "add"),
    "boot": (None, "<internal:gem_prelude>", 2, None, "-", "<internal:gem_prelude>"),
}
MALLOC, LIBRUBY, NOKO, XML = 0x8001000, 0x10001001, 0x20001001, 0x30001001
STACKS = [
    (["plus"], [LIBRUBY], 1000),              # app/shop.rb:18: Set and String are Ruby's own
    (["i18n_show"], [LIBRUBY], 300),
    (["i18n_plus"], [LIBRUBY], 700),          # i18n, most from :29
    (["noko"], [XML, NOKO], 5000),            # libxml2 via nokogiri
    (["show"], [NOKO], 60),               # an extension called straight from the application
    (["iseq"], [LIBRUBY], 500),
    (["zeitwerk"], [LIBRUBY], 90),
    (["set_alone"], [LIBRUBY], 17),           # nobody asked for it
    (["ext"], [LIBRUBY], 5),
    (["boot"], [LIBRUBY], 7),
    (["gc"], [LIBRUBY], 11),
    ([], [LIBRUBY], 13),
]


def fnv(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return h


def write(folder, stacks=STACKS, directory=None):
    ids, texts, lines = {name: i + 1 for i, name in enumerate([*FRAMES, "gc"])}, {}, []

    def text(s):
        return texts.setdefault(s, len(texts) + 1) if s else 0

    body = [f"n {ids[n]} {ids[up] if up else 0} {text(path)} {line} {text(owner)} {sep} {text(method)}"
            for n, (up, path, line, owner, sep, method) in FRAMES.items()] + [f"m {ids['gc']} 0 after-gc 0"]
    for names, native, size in stacks:
        added = [START + 2 * ids[n] + 1 for n in names] + [START + 2 * (EPOCHS + 1) + 1]
        lines.append("@ " + " ".join(hex(a) for a in [MALLOC, *native] + added) + f"\n  t*: 1: {size} [0: 0]\n")
    dump = ("heap_v2/1\n  t*: 1: 1 [0: 0]\n" + "".join(lines) + "\n" + MAPS).encode()
    table = [f"jprof-table 1", "process 1 2 -", f"dump {len(dump)} {fnv(dump):x}", f"ids {START:x} 0 40000 40400 240400",
             *([f"directory {directory}"] if directory else []), "ruby 3.1.2 on", "interpreter 1 2 libruby.so", "time 1.000", "bounds 1 2", "e 1 1.000 -",
             *(f"s {i} {s}" for s, i in texts.items()), *body, f"end {len(body)}"]
    open(f"{folder}/a.heap", "wb").write(dump)
    open(f"{folder}/a.heap.ruby", "w").write("\n".join(table) + "\n")


def run(*arguments, ok=0):
    done = subprocess.run([jprof, *arguments], capture_output=True, stdin=subprocess.DEVNULL, text=True)
    if done.returncode != ok:
        failures.append(f"{arguments}: status {done.returncode}: {done.stderr}")
    return done.stdout


def same(what, is_, should):
    if is_ != should:
        failures.append(f"{what}: {is_}\n  should be {should}")


def text_rows(*arguments):
    """(flat, name) of the rows that have any."""
    found = re.findall(r"^ *(-?\d+) +\S+ +\S+ +-?\d+ +\S+ (.*)$", run("--show_bytes", *arguments), re.M)
    return [(int(flat), name) for flat, name in found if int(flat)]


def fields(rows, *keys):
    return {row["name"]: tuple(row.get(key) for key in keys) for row in rows if row["flat"]}


# A stripped Ruby 3.1: rb_vm_exec alone has a name; what it calls lies below it. far is no part of the interpreter.
INTERPRETER = """
#define FRAME(name) __attribute__((noinline, used, section(".text." #name)))
int other(int n);
FRAME(far) static int far(int n) { return other(n) + 1; }
FRAME(pad) static int pad(int n) { __asm__ volatile(".skip 80000"); return n; }
FRAME(cfunc) static int vm_call_cfunc_with_frame(int n) { return far(n) + 2; }
FRAME(core) static int vm_exec_core(int n) { return vm_call_cfunc_with_frame(n) + 3; }
FRAME(exec) int rb_vm_exec(int n) { return vm_exec_core(n) + pad(n); }
"""


def write_unlearned(folder, strip):
    """A dump whose table does not tell where the interpreter begins, with a libruby below `folder`/names."""
    lib = f"{folder}/names/usr/lib/libruby-3.1.so.3.1"
    os.makedirs(os.path.dirname(lib), exist_ok=True)
    open("vm.c", "w").write(INTERPRETER)
    subprocess.run(["cc", "-O0", "-fno-toplevel-reorder", "-fPIC", "-shared", "-o", lib, "vm.c"], check=True)
    # Where each function's call returns to.
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", lib], capture_output=True, text=True).stdout
    called = dict(re.findall(r"^[0-9a-f]+ <(\w+)>:\n(?:.+\n)*?.*\t(?:call|bl)\b.*\n +([0-9a-f]+):", code, re.M))
    if strip:
        subprocess.run(["strip", lib], check=True)
    maps = ""
    for part in subprocess.run(["readelf", "-lW", lib], capture_output=True, text=True).stdout.splitlines():
        if part.split()[:1] == ["LOAD"]:
            offset, address, size = (int(part.split()[i], 16) for i in (1, 2, 5))
            first, end = 0x10000000 + (address & ~4095), 0x10000000 + (address + size + 4095 & ~4095)
            maps += (f"{first:x}-{end:x} r{'w' if 'RW' in part else '-'}{'x' if 'R E' in part else '-'}p "
                     f"{offset & ~4095:08x} 08:01 8 /usr/lib/libruby-3.1.so.3.1\n")
    at = {name: 0x10000000 + int(called[name], 16) for name in ("far", "vm_call_cfunc_with_frame", "vm_exec_core", "rb_vm_exec")}
    native = [*at.values(), NOKO]
    global MAPS
    before, MAPS = MAPS, re.sub("10000000.*\n", maps, MAPS)
    write(folder, [(["show"], native, 1000)])
    MAPS = before
    table = open(f"{folder}/a.heap.ruby").read()
    open(f"{folder}/a.heap.ruby", "w").write("".join(line + "\n" for line in table.splitlines() if not line.startswith("interpreter")))
    return native


def by_names():
    home = os.getcwd()
    os.mkdir("unlearned")
    os.chdir("unlearned")
    os.mkdir("unlearned")
    outside = ["app/shop.rb:18 Shop#show", "config.ru:3 <main>"]
    for strip in (False, True):
        write_unlearned(".", strip)
        done = subprocess.run([jprof, "--traces", "--trim-path=/srv/shop", "--sysroot=names", "a.heap"], capture_output=True, text=True)
        stack = [line[18:] for line in done.stdout.splitlines()[2:-1]]
        same(f"names of the interpreter, stripped: {strip}", (len(stack), stack[1:]), (3, outside))
        same(f"that it was not learned: {done.stderr}", "did not learn where the interpreter's frames begin" in done.stderr, True)
        off = run("--traces", "--ruby=off", "--sysroot=names", "a.heap")
        same("--ruby=off", len(off.splitlines()), 3 + 5)
    # Without any name both stand one below the other.
    done = run("--traces", "--trim-path=/srv/shop", "--sysroot=unlearned", "a.heap")
    stack = [line[18:] for line in done.splitlines()[2:-1]]
    same("no names", (len(stack), stack[5:]), (7, outside))
    os.chdir(home)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.mkdir("none")
    os.makedirs("src/app")
    open("src/app/shop.rb", "w").write("".join(f"line {i}\n" for i in range(1, 40)))
    write(folder)
    anywhere = "--sysroot=none"
    native = "libruby-3.1+0x1000"
    rows = [(5000, "nokogiri 1.16.2 lib/nokogiri.rb:5 Nokogiri.parse (from app/shop.rb:29, 100 %)"),
            (1060, "app/shop.rb:18 Shop#show"),
            (1000, "i18n 1.14.1 lib/i18n.rb:71 I18n.load (from app/shop.rb:29, 70 %)"),
            (590, "rails 6.1.7 lib/rails/all.rb:14 <top (required)> (from config/application.rb:15, 100 %)"),
            (17, "zeitwerk 2.6.1 lib/zeitwerk/kernel.rb:35 Object#require"),
            (13, native), (11, "after a GC: creator not known"),
            (7, "<internal:gem_prelude>:2 <internal:gem_prelude>"),
            (5, "bcrypt 3.1.18 bcrypt_ext.so (from app/shop.rb:29, 100 %)")]
    same("default", text_rows(anywhere, "--trim-path=/srv/shop", "a.heap"), rows)
    same("no trim", [n for _, n in text_rows(anywhere, "a.heap")][1], "/srv/shop/app/shop.rb:18 Shop#show")
    write(folder, directory="/srv/shop")
    same("from the directory of the process", text_rows(anywhere, "a.heap"), rows)
    for words, name, whole in (("--lines", "Shop#show app/shop.rb:18", "Shop#show /srv/shop/app/shop.rb:18"),
                               ("--files", "app/shop.rb", "/srv/shop/app/shop.rb")):
        names = [n for _, n in text_rows(anywhere, "--ruby=only", words, "a.heap")]
        same(f"{words}: from the directory", (name in names, any(n.endswith("/b/gems/i18n-1.14.1/lib/i18n.rb:71") or
             n == "/b/gems/i18n-1.14.1/lib/i18n.rb" for n in names)), (True, True))
        same(f"{words}: whole paths", whole in [n for _, n in text_rows(anywhere, "--ruby=only", words, "--trim-path=", "a.heap")], True)
    same("whole paths", text_rows(anywhere, "--trim-path=", "a.heap")[1][1], "/srv/shop/app/shop.rb:18 Shop#show")
    write(folder, directory="/srv/sho")
    same("a directory beside it", text_rows(anywhere, "a.heap")[1][1], "/srv/shop/app/shop.rb:18 Shop#show")
    write(folder)
    same("functions", text_rows(anywhere, "--functions", "a.heap"), text_rows(anywhere, "--ruby=off", "a.heap"))
    same("--fold=none", text_rows(anywhere, "--fold=none", "a.heap"), text_rows(anywhere, "--functions", "--fold=none", "a.heap"))
    same("only", [r for r in text_rows(anywhere, "--ruby=only", "--functions", "a.heap")],
         [(5000, "Nokogiri.parse"), (1700, "String#+"), (500, "Bootsnap::CompileCache::ISeq.fetch"), (300, "I18n.load"),
          (90, "Object#require"), (60, "Shop#show"), (17, "Set#add"), (13, "(no Ruby stack)"), (11, "after a GC: creator not known"), (7, "<internal:gem_prelude>"),
          (5, FRAMES["ext"][5])])
    same("libs", text_rows(anywhere, "--libs", "a.heap"),
         [(5000, "libxml2 via nokogiri 1.16.2"), (1000, "application"), (1000, "i18n 1.14.1"), (590, "rails 6.1.7"), (60, "nokogiri 1.16.2"),
          (31, "libruby-3.1"), (17, "zeitwerk 2.6.1"), (5, "bcrypt 3.1.18")])
    same("libs only", text_rows(anywhere, "--libs", "--ruby=only", "a.heap"),
         [(5000, "nokogiri 1.16.2"), (1060, "application"), (1000, "i18n 1.14.1"), (590, "rails 6.1.7"), (31, "Ruby"), (17, "zeitwerk 2.6.1"), (5, "bcrypt 3.1.18")])
    document = json.loads(run("--json", anywhere, "--trim-path=/srv/shop", "a.heap"))
    same("json", fields(document["rows"], "origin", "library", "from", "from_percent", "source", "line"), {
        "nokogiri 1.16.2 lib/nokogiri.rb:5 Nokogiri.parse": ("gem", "nokogiri 1.16.2", "app/shop.rb:29", 100, "ruby", 5),
        "app/shop.rb:18 Shop#show": ("application", "application", None, None, "ruby", 18),
        "i18n 1.14.1 lib/i18n.rb:71 I18n.load": ("gem", "i18n 1.14.1", "app/shop.rb:29", 70, "ruby", 71),
        rows[3][1].split(" (from")[0]: ("gem", "rails 6.1.7", "config/application.rb:15", 100, "ruby", 14),
        rows[4][1]: ("gem", "zeitwerk 2.6.1", None, None, "ruby", 35),
        native: (None, None, None, None, "none", 0),
        "after a GC: creator not known": ("vm", "Ruby", None, None, "ruby", 0),
        "<internal:gem_prelude>:2 <internal:gem_prelude>": ("vm", "Ruby", None, None, "ruby", 2),
        "bcrypt 3.1.18 bcrypt_ext.so": ("gem", "bcrypt 3.1.18", "app/shop.rb:29", 100, "ruby", 0)})
    same("granularity", document["view"]["granularity"], "site")
    inner = run("--collapsed", "--ruby=off", "--focus=libxml2", anywhere, "a.heap").split()[0]
    same("collapsed", f"<main>;Shop#list;Nokogiri.parse;{inner} 5000" in run("--collapsed", anywhere, "a.heap").splitlines(), True)
    same("focus", text_rows(anywhere, "--focus=shop.rb:29", "--trim-path=/srv/shop", "a.heap"),
         [(5000, rows[0][1]), (700, "i18n 1.14.1 lib/i18n.rb:71 I18n.load (from app/shop.rb:29, 100 %)"), rows[-1]])
    same("tree", [re.sub(r" +", " ", line).strip() for line in run("--tree", "--sites", "--show_bytes", anywhere, "--trim-path=/srv/shop", "a.heap").splitlines() if "i18n" in line][:1] != [], True)
    listing = run("--list=Shop#show", "--source-path=src", "--trim-path=/srv/shop", "--show_bytes", anywhere, "a.heap")
    same("list", re.findall(r"^ *1060 +1360 +18: line 18$", listing, re.M) != [], True)
    same("list, without a directory for it", "line 18" in run("--list=Shop#show", anywhere, "a.heap"), False)
    dot = run("--dot", "--nodefraction=0", "--functions", anywhere, "a.heap")
    same("classes in a picture", [c for c in ("application", "gem", "stdlib", "vm") if f' own {c}"' not in dot], [])
    same("the key of a picture", re.sub("<[^<>]*>", "", next((s for s in dot.splitlines() if "Ruby: " in s), "")).split("Ruby: ")[-1].split("frame:")[0].rstrip(">,"),
         "the application, gems, Ruby's library, Ruby itself")
    same("owners in a picture", [o for o in ("i18n 1.14.1", "nokogiri 1.16.2", "application") if o not in dot], [])
    trimmed = ("--trim-path=/srv/shop", "--show_bytes", anywhere, "a.heap")
    # Each line of the text is a box with the same flat value; frames have the sums of theirs.
    sites = run("--dot", "--nodefraction=0", *trimmed)
    boxes = {html.unescape(name.replace("<br/>", "")): int(flat) for name, flat in
             re.findall(r"label=<<font[^>]*><b>(.*?)</b></font><br/>(?:<font.*?</font><br/>)?(\d+) B", sites)}
    same("boxes of lines", {n: flat for n, flat in boxes.items() if flat}, {n.split(" (from ")[0]: flat for flat, n in rows})
    sums = {}
    for row in document["rows"]:
        owner = row.get("library") or "libruby-3.1"
        sums[owner] = sums.get(owner, 0) + int(row["flat"])
    same("frames", {n: int(v) for n, v in re.findall(r'label="([^"<]*): (\d+) B \(', run("--dot", "--cluster", "--nodefraction=0", *trimmed))}, {n: v for n, v in sums.items() if int(v)})
    # By line the names say whose it is; by function what allocated nothing has no frame.
    same("no frames", ["cluster" in picture for picture in (sites, run("--dot", "--functions", "--nocluster", anywhere, "a.heap"))], [False, False])
    same("frames of functions", sorted(re.findall(r'label="([^"<]*): [1-9]', dot)), ["libruby-3.1", "libxml2", "nokogiri 1.16.2"])
    same("frames of nothing", re.findall(r'label="([^"<]*): 0 B', dot), [])
    peek = run("--peek=Shop#show", *trimmed)
    same("peek", re.findall(r"^ *1060 .*\| (app/shop.rb:18 Shop#show)$", peek, re.M), ["app/shop.rb:18 Shop#show"])
    same("peek, what it calls", re.findall(r"^ *1000 .*\|   (.*Set#add)$", peek, re.M), ["/usr/lib/ruby/3.1.0/set.rb:9 Set#add"])
    traces = [[line[18:] for line in block.splitlines()] for block in re.split(r"^-+\+-+\n", run("--traces", *trimmed), flags=re.M)]
    same("traces", [t for t in traces if "String#+" in t and "app/shop.rb:18 Shop#show" in t],
         [[native, "String#+", "/usr/lib/ruby/3.1.0/set.rb:9 Set#add", "app/shop.rb:18 Shop#show", "config.ru:3 <main>"]])
    tree = run("--tree", "--nodefraction=0", *trimmed)
    same("tree", re.findall(r"^ *1060 .* (app/shop.rb:18 Shop#show)$", tree, re.M), ["app/shop.rb:18 Shop#show"])
    for view in ("--text", "--tree", "--traces", "--peek=.", "--collapsed"):
        for rows_of in ("--lines", "--files"):
            same(f"{view} {rows_of} trimmed", "/srv/shop" in run(view, rows_of, *trimmed), False)
        off = run(view, "--ruby=off", *trimmed)
        same(f"{view} --ruby=off", [n for n in ("Shop", "shop.rb", "String#+", "i18n") if n in off], [])
        only = run(view, "--ruby=only", *trimmed)
        same(f"{view} --ruby=only", [n for n in ("libruby", "libxml2", "nokogiri.so") if n in only], [])
    # Middleware calls middleware, each with a higher cum than the line that allocates.
    few = dict(FRAMES)
    FRAMES.update({f"m{i}": (f"m{i - 1}" if i else "main", f"/b/gems/rack-2.2.4/lib/rack/m{i}.rb", 3, "Rack", "#", f"call{i}")
                   for i in range(120)})
    FRAMES.update({"leak": ("m119", "/srv/shop/app/leak.rb", 6, "Leak", "#", "load"), "other": ("m60", "/b/gems/i18n-1.14.1/lib/i18n.rb", 9, "I18n", ".", "t")})
    write(folder, [(["leak"], [LIBRUBY], 600), (["other"], [LIBRUBY], 400)])
    dot = run("--dot", anywhere, "a.heap")
    same("what allocates is drawn", [place for place in ("leak.rb:6", "i18n.rb:9") if place not in dot], [])
    FRAMES.clear()
    FRAMES.update(few)
    write(folder)
    raw = run("--raw", anywhere, "a.heap")
    same("raw has numbers", re.findall(r"0x7f0000", raw), [])
    same("raw", [line for line in raw.splitlines() if line.startswith("@")][3], "@ 0x30001000 0x20001001")
    run("bundle", "-o", "a.jprof", anywhere, "a.heap")
    os.makedirs("elsewhere")
    os.rename("a.jprof", "elsewhere/a.jprof")
    same("bundle", text_rows(anywhere, "--trim-path=/srv/shop", "elsewhere/a.jprof"), rows)
    for option in ("--functions", "--libs", "--lines", "--ruby=off", "--traces", "--dhat"):
        same(f"bundle {option}", run(option, anywhere, "elsewhere/a.jprof").replace("elsewhere/a.jprof", "a.heap"), run(option, anywhere, "a.heap"))
    same("nothing changed", text_rows(anywhere, "--base=a.heap", "elsewhere/a.jprof"), [])
    with open("script", "w") as script:
        script.write("top\nruby only\ntop --libs\nsites\ntree\noptions\n")
    done = subprocess.run([jprof, "-i", anywhere, "--show_bytes", "a.heap"], stdin=open("script"), capture_output=True, text=True)
    same("session", ["i18n 1.14.1 lib/i18n.rb:71" in done.stdout, "ruby        only" in done.stderr, "rows        sites" in done.stderr], [True] * 3)
    if shutil.which("cc") and shutil.which("objdump"):
        by_names()
    else:
        print("no cc or no objdump here: names of the interpreter were not looked at")
    def next_step(gc):
        write(folder, [(["show"], [LIBRUBY], 1000), (["gc"], [LIBRUBY], gc)])
        done = subprocess.run([jprof, anywhere, "a.heap"], capture_output=True, text=True)
        return "creator not known: Ruby to 3.2" in done.stderr
    same("next step for what has no creator, where it matters", [next_step(15), next_step(30)], [False, True])
    write(folder)
    os.remove("a.heap.ruby")
    same("without a table", text_rows(anywhere, "a.heap"), text_rows(anywhere, "--functions", "a.heap"))
    done = subprocess.run([jprof, anywhere, "a.heap"], capture_output=True, text=True)
    same("notes", [line for line in done.stderr.splitlines() if "Ruby" in line],
         ["jprof: a.heap: the Ruby stacks of 11 stacks are left out: they need the table that was written beside this dump, "
          "with .ruby at the end of its name"])
if failures:
    print("\n".join(failures))
    sys.exit(1)
print("rows, owners, formats, bundle and session are right")
