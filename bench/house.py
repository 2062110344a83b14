#!/usr/bin/env python3
"""How much of the house has to be in the head: a table of counts on the sources, and on one plain run.

usage: python3 bench/house.py [--build BUILD] [DUMP and options]

The way of a number: what a stack holds is read (jp_parse_record), becomes a sample (add_records), is resolved for a view
(resolve_sample) and stands in a row (put_text_row). The hops are those of the shortest way on the graph of calls that
were made, from the function of jprof.h that the program calls to each of the four.

BUILD is made where it is not there: everything without optimization, each function reporting its calls
(-finstrument-functions), which is read through a preloaded library. DUMP: samples/heaps/jemalloc-5.3.0.heap
with the files of its system."""
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ["libjprof", "jeprof-c", "dot", "agent"]

# Each step: the door in jprof.h, and the function that is reached.
WAY = [("jprof_profile_open", "jp_parse_record"), ("jprof_profile_open", "add_records"),
       ("jprof_view_new", "resolve_sample"), ("jprof_render", "put_text_row")]

TRACE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum { most = 1 << 16 };
static void *seen[most], *deepest[4096];
static __thread void *stack[4096]; /* the program has a second thread, which watches its memory */
static __thread int depth;
static struct { void *from, *to; } calls[most]; /* a hash table */
static int seen_count, deepest_count;
static void __attribute__((no_instrument_function)) note_call(void *from, void *to)
{
	unsigned long key = (unsigned long)from * 31 + (unsigned long)to;
	unsigned i = (key ^ key >> 16) % most;
	for (; calls[i].to; i = (i + 1) % most)
		if (calls[i].from == from && calls[i].to == to)
			return;
	calls[i].from = from;
	calls[i].to = to;
}
__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *f, void *site)
{
	(void)site;
	note_call(depth ? stack[depth - 1] : NULL, f);
	stack[depth++] = f;
	if (depth > deepest_count)
		for (deepest_count = 0; deepest_count < depth; deepest_count++)
			deepest[deepest_count] = stack[deepest_count];
	for (int i = 0; i < seen_count; i++)
		if (seen[i] == f)
			return;
	seen[seen_count++] = f;
}
__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *f, void *site)
{
	(void)f, (void)site, depth--;
}
static void put(FILE *out, char what, void *f)
{
	Dl_info info;
	if (dladdr(f, &info))
		fprintf(out, "%c %s %lx\n", what, info.dli_fname, (unsigned long)((char *)f - (char *)info.dli_fbase));
}
__attribute__((destructor)) static void finish(void)
{
	FILE *out = fopen(getenv("HOUSE_TRACE"), "w");
	for (int i = 0; i < seen_count; i++)
		put(out, 's', seen[i]);
	for (int i = 0; i < deepest_count; i++)
		put(out, 'd', deepest[i]);
	for (int i = 0; i < most; i++)
		if (calls[i].from) {
			put(out, 'f', calls[i].from);
			put(out, 't', calls[i].to);
		}
	fclose(out);
}
"""

Function = collections.namedtuple("Function", "name file lines static body")


def text_of(path):
    with open(os.path.join(ROOT, path), errors="replace") as file:
        return file.read()


def sources(*folders, ends="ch"):
    found = []
    for folder in folders:
        for end in ends:
            found += glob.glob(f"{ROOT}/{folder}/**/*.{end}", recursive=True)
    return sorted(os.path.relpath(path, ROOT) for path in found)


def without_words(text):
    """Comments and strings are no calls."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', lambda m: "\n" * m.group().count("\n"), text, flags=re.S)


def functions_of(path):
    """Definitions begin in the first column and bodies with a line that is { alone: clang-format sees to it."""
    head, found, lines = [], [], without_words(text_of(path)).split("\n")
    i = 0
    while i < len(lines):
        line = lines[i]
        if line == "{" and "(" in " ".join(head):
            signature = re.sub(r"__attribute__\(\(.*?\)\)\s*", "", " ".join(head))
            end = lines.index("}", i)
            name = re.match(r".*?([A-Za-z_]\w*)\s*\(", signature).group(1)
            found.append(Function(name, path, end - i - 1, signature.startswith("static"), "\n".join(lines[i:end])))
            i, head = end, []
        elif not line.strip() or line.startswith(("#", "}")) or line.rstrip().endswith(";"):
            head = []
        else:
            head.append(line)
        i += 1
    return found


def callers(functions):
    """For each static function at how many places of its file it is called, or handed over: put into a table, or given
    to another function; and those that are handed over."""
    count, handed = {}, set()
    for path in {f.file for f in functions}:
        own = [f for f in functions if f.file == path]
        words = {f.name: collections.Counter(re.findall(r"[A-Za-z_]\w*", f.body)) for f in own}
        outside = without_words(text_of(path))
        for f in own:
            outside = outside.replace(f.body, "")
        for f in own:
            if not f.static:
                continue
            users = sum(words[g.name][f.name] for g in own if g.name != f.name)
            uncalled = r"(?<![\w.>])%s\b(?!\s*\()" % re.escape(f.name)
            mentions = re.findall(uncalled, outside)
            count[f.file, f.name] = users + len(mentions)
            if mentions or any(re.search(uncalled, g.body) for g in own):
                handed.add((f.file, f.name))
    return count, handed


def touching(word, own):
    """Files of the code, and of tests and docs, that name a format, but for its own."""
    code = [p for p in sources(*FOLDERS) if re.search(word, text_of(p), re.I) and not re.search(own, p)]
    code += [p for p in ("libjprof/meson.build", "jeprof-c/meson.build") if re.search(word, text_of(p), re.I)]
    rest = subprocess.run(["git", "-c", "safe.directory=*", "grep", "-lIi", word, "--", "tests", "docs", "README.md",
                           "HACKING.md"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    own_tests = re.compile(r"golden|corpus|fuzz_%s|test_%s" % (word, word))
    return f"{len(code)} + {len([p for p in rest if not own_tests.search(p)])}"


def run_plain(build, dump):
    if not os.path.exists(f"{build}/build.ninja"):
        env = dict(os.environ, CFLAGS="-finstrument-functions")
        subprocess.run(["meson", "setup", "-Doptimization=0", "-Ddebug=true", build, ROOT], check=True, env=env,
                       stdout=subprocess.DEVNULL)
    subprocess.run(["meson", "compile", "-j2", "-C", build, "jprof:executable"], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as tmp:
        with open(f"{tmp}/trace.c", "w") as file:
            file.write(TRACE)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", f"{tmp}/trace.so", f"{tmp}/trace.c"], check=True)
        env = dict(os.environ, LD_PRELOAD=f"{tmp}/trace.so", HOUSE_TRACE=f"{tmp}/trace")
        subprocess.run([f"{build}/jeprof-c/jprof", *dump], check=True, env=env, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        seen, deepest, by_object = [], [], collections.defaultdict(list)
        with open(f"{tmp}/trace") as file:
            places = [line.split() for line in file]
    for _, path, offset in places:
        by_object[path].append(offset)
    name = {}
    for path, offsets in by_object.items():
        said = subprocess.run(["addr2line", "-f", "-e", path, *offsets], capture_output=True, text=True).stdout.split("\n")
        for i, offset in enumerate(offsets):
            where = os.path.realpath(os.path.join(build, said[2 * i + 1].split(":")[0]))
            name[path, offset] = (said[2 * i], os.path.relpath(where, ROOT))
    calls = collections.defaultdict(set)
    for what, path, offset in places:
        function = name[path, offset]
        if what == "f":
            caller = function
        elif what == "t":
            calls[caller].add(function)
        else:
            (seen if what == "s" else deepest).append(function)
    return set(seen), deepest, calls


def way_of_a_number(calls, steps):
    """The functions on it, and the hops."""
    hops, passed = 0, []
    for door, last in steps:
        ways = [[f] for f in calls if f[0] == door]
        known = set()
        while ways and ways[0][-1][0] != last:
            way = ways.pop(0)
            if way[-1] not in known:
                known.add(way[-1])
                ways += [way + [f] for f in sorted(calls[way[-1]])]
        if not ways:
            sys.exit(f"no call of {door} comes to {last}")
        hops += len(ways[0]) - 1
        passed.append(ways[0])
    return hops, passed


def main():
    arguments = sys.argv[1:]
    build = f"{ROOT}/build-house"
    if arguments[:1] == ["--build"]:
        build = os.path.abspath(arguments[1])
        arguments = arguments[2:]
    dump = arguments or [f"--sysroot={ROOT}/samples/heaps/sysroot", f"{ROOT}/samples/heaps/jemalloc-5.3.0.heap"]

    functions = [f for path in sources(*FOLDERS, ends="c") for f in functions_of(path)]
    lengths = sorted(f.lines for f in functions)
    count, handed = callers(functions)
    once = {f for f, n in count.items() if n == 1}
    library = sources("libjprof", ends="c")
    # Of a profile, not of the code that views share (struct jp_code).
    arrays = re.compile(r"\b(profile|p|to|from|base|other)->(samples|locations|functions|frames|objects|mappings)\b|"
                        r"jp_(sample|location|object)_count\(|jp_stack_get\(")
    behind = [p for p in library if p.split("/")[1] not in ("base", "input", "model") and p.count("/") == 2]
    loops = sum(len(re.findall(r"for \([^;]*; [^;]*jp_sample_count\(", text_of(p))) for p in library)
    seen, deepest, calls = run_plain(build, dump)
    hops, way = way_of_a_number(calls, WAY)
    rows = [
        ("functions", len(functions)),
        ("lines of a function: median, longest", f"{lengths[len(lengths) // 2]}, {lengths[-1]}"),
        ("functions over 60 lines", sum(n > 60 for n in lengths)),
        ("static functions", len(count)),
        ("of them called at one place", f"{100 * len(once - handed) / len(count):.0f} %"),
        ("of them handed over at one place", f"{100 * len(once & handed) / len(count):.0f} %"),
        ("one plain run: functions", len(seen)),
        ("one plain run: files", len({file for _, file in seen})),
        ("one plain run: hops from main to the deepest function", len(deepest) - 1),
        ("one plain run: of them above libjprof/base", sum("libjprof/base/" not in file for _, file in deepest) - 1),
        ("the way of a number from bytes to row: hops", hops),
        ("the way of a number from bytes to row: files", len({file for part in way for _, file in part})),
        ("files behind the model that read the profile's arrays",
         f"{sum(bool(arrays.search(text_of(p))) for p in behind)} of {len(behind)}"),
        ("loops over all samples", loops),
        ("files to touch for a new format (dhat): code + tests and docs", touching("dhat", r"/dhat\.[ch]$")),
        ("files to touch for a new input (gperf): code + tests and docs", touching("gperf", r"/gperf\.[ch]$")),
    ]
    for folder in sorted({os.path.dirname(p) for p in sources(*FOLDERS)}):
        for end in "ch":
            files = [p for p in sources(folder, ends=end) if os.path.dirname(p) == folder]
            if files:
                rows.append((f"lines of {folder}/*.{end}", sum(text_of(p).count("\n") for p in files)))
    total = sum(text_of(p).count("\n") for p in sources(*FOLDERS))
    rows.append(("lines in all", total))
    print("| what | count |\n| --- | --- |")
    for what, figure in rows:
        print(f"| {what} | {figure} |")
    for part in way:
        print("\nThe way of a number: " + " > ".join(name for name, _ in part))
    print("\nThe deepest: " + " > ".join(name for name, _ in deepest))


main()
