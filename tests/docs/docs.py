#!/usr/bin/env python3
"""README.md, docs/, --help and the tables of options say the same, and the commands of both work that need
no live process. Links lead somewhere, what
sources name in docs/ is there, what the program prints names no file of the sources, and the guide is no longer than it may be.

usage: python3 docs.py JPROF SOURCE_ROOT"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

jprof, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
failures = []

# Options of other programs that the documents name in spans of code without their program.
FOREIGN = {
    "disable-cxx", "enable-prof",  # jemalloc's configure
    "dwarf-5",  # dwz
    "separate-recs",  # callgrind
    "export-dynamic", "export-dynamic-symbol",  # the linker
    "yjit",  # ruby
    "lgs", "runs",  # scripts of tests/live
    "x",  # any option
}
# What a command of the README and the guide may begin with to be run, and what of it starts a server, needs a live process,
# a file of another kind or another program, or opens a window.
RUN, SKIP = ("jprof", "jeprof"), re.compile(r"^jprof (run|snap|doctor|watch|serve|keepers|names|diff --objects)\b|^jprof explain (core|--)|^jprof core|--web\b|--open\b|"
                                            r"flamegraph|\.ndjson|\.jnames|pb\.gz|--gc\b|<")
# Answers about the dump that is at hand here, and about this build: the command itself was understood.
ANSWERS = re.compile(r"no function with memory has such a name|no allocations are recorded|was built without|"
                     r"the dump does not say when its samples|no stack of the dump has a tag|is the same snapshot as")
# Files that commands of the README name, by what their names begin with; others are the later dump.
EARLY = re.compile(r"boot|early|evening|before|first|old|base|cext\.0|\b0\b")


def fail(text):
    failures.append(text)


def said(*arguments):
    done = subprocess.run([jprof, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        fail(f"jprof {' '.join(arguments)}: exit status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def rows_of_tables():
    """Each row of the program's tables of options and of the tables of reports, which are options too: name, whether
    it is refused, whether it has a help."""
    rows = []
    for path in (f"{root}/libjprof/render/render.c", f"{root}/dot/pictures.c", f"{root}/jeprof-c/report/allformats.c"):
        reports = re.findall(r'\.name = "([a-z-]+)",\s*\.help = "', open(path).read())
        if not reports:
            fail(f"{path}: no table of reports: this test cannot read it")
        rows += [(name, False, True) for name in reports]
    for path in glob.glob(f"{root}/jeprof-c/**/*.[ch]", recursive=True):
        text = open(path).read()
        for row in re.finditer(r'\{ "([a-z][a-z_0-9-]*)", (OPT_\w+),(.*?)\}[,;\s]', text, re.S):
            rows.append((row.group(1), row.group(2) == "OPT_REFUSED", not row.group(3).strip().endswith("NULL")))
        rows += [(name, True, False) for name in re.findall(r'REFUSED_ROW\("([^"]+)"', text)]
    return rows


def commands_of(text):
    """What a shell would be given in blocks of code, fenced or indented: lines without their prompt."""
    fenced = False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            yield re.sub(r"^\$ ", "", line.strip())


def options_of(text):
    """Options that are jprof's: on lines of code that call it, in spans of code that call nothing, and in prose."""
    code = "\n".join(line for line in commands_of(text) if re.match(r"(sudo |[A-Z_]+=\S+ )*(\S*/)?(jprof|jeprof)\b", line))
    code = re.sub(r"(jprof run\b.*?) --(\s.*)", r"\1", code)  # then comes another program's
    code = re.sub(r"\|.*", "", code)
    prose = re.sub(r"^```.*?^```|^    .*?$", "", text, flags=re.S | re.M)
    prose = re.sub(r"`([^`]*)`", lambda m: m.group(1) if re.match(r"-|j(e)?prof\b", m.group(1)) else "", prose)
    prose = re.sub(r"\(https?://[^)]*\)|https?://\S+", "", prose)
    return set(re.findall(r"(?<![\w-])--([a-z][a-z_0-9-]*)(?![\w*-]|[A-Z])", code + "\n" + prose))


def check_words():
    helps = {"": said("--help")}
    for command in sorted(set(re.findall(r"jprof ([a-z]+)\b", helps[""]))):
        helps[command] = said(command, "--help")
    shown = set(re.findall(r"^  --([a-z][a-z_0-9-]*)", "\n".join(helps.values()), re.M))
    rows = rows_of_tables()
    if len(rows) < 50:
        fail(f"{len(rows)} rows in the tables of options: this test cannot read them")
    known = {name for name, _, _ in rows} | {"help", "version"}
    helped = {name for name, refused, has_help in rows if has_help and not refused}
    for name in sorted(helped - shown):
        fail(f"--{name}: in the table of options with a help, and in no --help")
    for name in sorted(shown - known):
        fail(f"--{name}: in --help, and in no table of options")

    documents = {path: open(path).read() for path in [f"{root}/README.md", *sorted(glob.glob(f"{root}/docs/**/*.md", recursive=True))]}
    named = set()
    for path, text in [*documents.items(), *((f"jprof {c} --help", text) for c, text in helps.items())]:
        if path in documents:
            named |= set(re.findall(r"--([a-z][a-z_0-9-]*)", text))
        for name in sorted(options_of(text) - known - FOREIGN):
            fail(f"{os.path.relpath(path, root) if path in documents else path}: --{name} is no option of jprof")
    for name in sorted(helped - named - {"help"}):
        fail(f"--{name}: is in --help, and neither in README.md nor in docs")
    return len(known), len(documents)


def prepare(command, dump):
    """The files that a command reads and that are not there yet."""
    for name in re.findall(r"(?<![\w/.-])[\w.-]+\.(?:heap|jprof)\b", re.sub(r"(-o|--output=?) ?\S+", "", command)):
        if os.path.exists(name):
            continue
        source = dump[0 if EARLY.search(name) else 1]
        if name.endswith(".heap"):
            shutil.copy(source, name)
        else:
            subprocess.run([jprof, "bundle", "-o", name, f"--sysroot={root}/samples/cases/sysroot", source], check=True,
                           stderr=subprocess.DEVNULL)


def check_page(page, environment, dump):
    """Runs the commands of a page that read what is at hand: how many."""
    text, where, ran = open(page).read(), os.path.relpath(page, root), 0
    for line in [*commands_of(text), *re.findall(r"`(jprof [^`\n]*\.(?:heap|jprof)\b[^`\n]*)`", text)]:
        command = re.sub(r"\s+#.*| {2,}\(.*", "", line)
        if command.split(" ")[0] not in RUN or command in RUN or SKIP.search(command) or re.search(r"\b[A-Z]{2,}\b|\[|\.\.\.", command):
            continue
        prepare(command, dump)
        done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        ran += 1
        if ANSWERS.search(done.stderr):
            continue
        if done.returncode not in ((0, 1, 3) if command.startswith("jprof check") and not done.stderr else (0,)):
            fail(f"{where}: `{command}` ended with {done.returncode}: {done.stderr.strip()}")
        elif not done.stdout and not re.search(r"-o |--output|>| -i\b|--interactive|\| jq", command):
            fail(f"{where}: `{command}` prints nothing")
    return ran


def check_commands():
    dump = [f"{root}/samples/cases/ruby31/cext.{i}.heap" for i in (0, 1)]
    ran = 0
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        os.mkdir("bin")
        os.mkdir("own")
        for name in RUN:
            os.symlink(jprof, f"own/{name}")
            # What reads a dump reads the files of samples/cases, not this machine's.
            with open(f"bin/{name}", "w") as script:
                script.write(f"""#!/bin/sh
case "$*" in *.heap* | *.jprof*) set -- "$@" '--sysroot={root}/samples/cases/sysroot' ;; esac
exec '{scratch}/own/{name}' "$@"
""")
            os.chmod(f"bin/{name}", 0o755)
        environment = dict(os.environ, PATH=f"{scratch}/bin:{os.environ['PATH']}")
        for page in [f"{root}/README.md", *sorted(glob.glob(f"{root}/docs/*.md"))]:
            ran += check_page(page, environment, dump)
        os.chdir("/")
    if ran < 30:
        fail("README.md and the guide have few commands that can be run: this test sees nothing")
    return ran


# ---- links, files, sizes ----

MOST_WORDS = {"README.md": 800, "docs/*.md": 15000}


def anchors(path):
    """The headings of a document, as links name them."""
    return {re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-") for text in re.findall(r"^#+ (.*)", open(path).read(), re.M)}


def check_links(documents):
    links = 0
    for path in documents:
        text = re.sub(r"^```.*?^```", "", open(path).read(), flags=re.S | re.M)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            file, _, anchor = target.partition("#")
            whole = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            if re.match(r"https?:", target):
                continue
            links += 1
            if not os.path.exists(whole):
                fail(f"{os.path.relpath(path, root)}: {target} is not there")
            elif anchor and whole.endswith(".md") and anchor not in anchors(whole):
                fail(f"{os.path.relpath(path, root)}: {target}: no such heading")
    return links


def check_sources():
    """Comments name documents that are there, and strings, which people see without the sources, none."""
    for folder in ("agent", "bench", "dot", "html", "jeprof-c", "libjprof", "manual", "ruby", "tests"):
        for path in glob.glob(f"{root}/{folder}/**/*", recursive=True):
            if not os.path.isfile(path) or not re.search(r"\.(c|h|js|py|rb|sh|in|build|txt)$", path):
                continue
            text = open(path, errors="replace").read()
            for name in set(re.findall(r"\bdocs/[\w./-]+\.(?:md|json)\b", text)) if "golden" not in path else ():
                if not os.path.exists(f"{root}/{name}"):
                    fail(f"{os.path.relpath(path, root)}: {name} is not there")
            if folder not in ("tests", "bench", "manual") and path.endswith((".c", ".h", ".js")):
                for line in re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S).split("\n"):
                    if re.search(r"[\"'][^\"']*\bdocs/", line):
                        fail(f"{os.path.relpath(path, root)}: what is printed names a file of the sources: {line.strip()}")


def check_site():
    """The page of both books has what its links name, and loads nothing."""
    page = subprocess.run([sys.executable, "-B", f"{root}/docs/site.py"], capture_output=True, text=True, check=True).stdout
    have = set(re.findall(r' id="([^"]+)"', page))
    for target in sorted(set(re.findall(r'<a href="#([^"]+)"', page)) - have):
        fail(f"docs/site.py: a link to #{target}, which is not in the page")
    for target in re.findall(r'<[^<>]* src="((?!data:)[^"]*)"|<link [^<>]*>|@import', page):
        fail(f"docs/site.py: the page loads {target[:80]}")
    if len(have) < 100:
        fail(f"docs/site.py: {len(have)} headings: this test sees nothing")


def check_sizes():
    for pattern, most in MOST_WORDS.items():
        words = sum(len(open(path).read().split()) for path in glob.glob(f"{root}/{pattern}"))
        if not 100 < words <= most:
            fail(f"{pattern}: {words} words, more than {most}")


books = [f"{root}/README.md", f"{root}/HACKING.md", f"{root}/SECURITY.md", f"{root}/samples/README.md", f"{root}/bench/README.md",
         *glob.glob(f"{root}/docs/**/*.md", recursive=True)]
links = check_links(books)
if links < 100:
    fail(f"{links} links: this test sees nothing")
check_sources()
check_sizes()
check_site()
options, documents = check_words()
ran = check_commands()
print("\n".join(failures))
print(f"{links} links, {options} options, {documents} documents, {ran} commands of README.md and the guide; {len(failures)} disagree")
sys.exit(bool(failures))
