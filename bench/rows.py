"""The table of run.sh: its inputs, its rows, and the measuring in turns."""
import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent

options = argparse.ArgumentParser(prog="run.sh")
options.add_argument("jprof", type=pathlib.Path)
options.add_argument("dir", type=pathlib.Path)
options.add_argument("-n", type=int, default=5, metavar="RUNS")
options.add_argument("--mb", type=int, default=200)
options.add_argument("--fleet", type=int, default=200)
options.add_argument("--units", type=int, default=24)
options.add_argument("words", nargs="*")
given = options.parse_intermixed_args()
jprof, place = str(given.jprof.resolve()), given.dir.resolve()
left_out = []

# ---- inputs ---------------------------------------------------------------------------------------------------------


def make(name, command):
    """The file `name`, which the command writes to its standard output."""
    path = place / name
    if not path.exists():
        with open(place / "part", "wb") as out:
            subprocess.run([sys.executable, *map(str, command)], stdout=out, check=True)
        os.rename(place / "part", path)
    return str(path)


def shape(depth, addresses, mb, *more):
    return make("shape-%s-%s-%s%s" % (depth, addresses, mb, "-".join(("",) + more)),
                [HERE / "shape.py", depth, addresses, mb, *more])


def program():
    folder = place / ("cpp-%d" % given.units)
    if not (folder / "program").exists():
        subprocess.run([sys.executable, HERE / "cppsource.py", folder, str(given.units), "36"], check=True)
        subprocess.run(["make", "-s", "-C", folder, "program"], check=True)
    return str(folder / "program")


def fleet():
    folder = place / "fleet"
    last = folder / ("%d.heap" % (given.fleet - 1))
    if not last.exists():
        subprocess.run([sys.executable, HERE / "fleet.py", folder, str(given.fleet)], check=True)
    return [str(folder / ("%d.heap" % i)) for i in range(given.fleet)]


def ruby(lg):
    path = place / ("ruby-%d" % lg) / "ruby.heap"
    if not path.exists():
        done = subprocess.run(["sh", HERE / "make-dump.sh", path.parent], env={**os.environ, "LG": str(lg)},
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            left_out.append("Ruby: " + done.stderr.strip())
            return None
    return str(path)


def as_gperftools(path):
    """Go's pprof refuses heap_v2: the same as text of gperftools."""
    copy = pathlib.Path(path + ".gperf")
    if not copy.exists():
        with open(path) as dump, open(copy, "w") as out:
            stack = "heapprofile"
            for line in dump:
                if line.startswith("@"):
                    stack = line[1:].strip()
                elif re.match(r" +t\*:", line):
                    title = "heap profile: " if stack == "heapprofile" else ""
                    out.write("%s%s @ %s\n" % (title, line.strip()[3:].strip(), stack))
                elif line.startswith("MAPPED"):
                    out.write("\n" + line + dump.read())
                    break
    return str(copy)


def offsets(path, binary):
    """Addresses in the file, for llvm-symbolizer, of a dump of addresses.py."""
    copy = pathlib.Path(path + ".offsets")
    if not copy.exists():
        found = re.findall(r" 0x([0-9a-f]+)", pathlib.Path(path).read_text())
        copy.write_text("".join('"%s" 0x%x\n' % (binary, int(a, 16) - 0x555555554000 - 1) for a in found))
    return str(copy)


# ---- measuring ------------------------------------------------------------------------------------------------------


class Run:
    """A command; `cache`: where names are kept, none is usual."""

    def __init__(self, *command, cache="", stdin=None):
        self.command, self.stdin = [str(word) for word in command], stdin
        self.environment = {**os.environ, "JPROF_CACHE": cache, "DEBUGINFOD_URLS": ""}

    def once(self):
        """CPU seconds and peak MB of the largest process."""
        with open(self.stdin or os.devnull) as source, open(os.devnull, "w") as sink:
            child = subprocess.Popen(self.command, stdin=source, stdout=sink, stderr=sink, env=self.environment)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            sys.exit("run: exit status %d of %s" % (child.returncode, " ".join(self.command)[:200]))
        return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def spread(values, form="%.3f"):
    return "%s (%s to %s)" % tuple(form % f(values) for f in (statistics.median, min, max))


def row(name, ours, against, other, goal):
    if given.words and not any(word in name for word in given.words):
        return
    if other is None or (not os.path.isabs(other.command[0]) and not shutil.which(other.command[0])):
        left_out.append("%s: no %s here" % (name, against))
        return
    ours.once(), other.once()
    pairs = [(ours.once(), other.once()) for _ in range(given.n)]
    print("| %s | %s | %.0f MB | %s %s | %s | %s |" % (
        name, spread([a[0] for a, _ in pairs]), max(a[1] for a, _ in pairs), against,
        spread([b[0] for _, b in pairs]), spread([a[0] / b[0] for a, b in pairs], "%.3g"), goal), flush=True)


def report(*arguments, **more):
    return Run(jprof, *arguments, **more)


# ---- rows -----------------------------------------------------------------------------------------------------------


def rows_of_ruby():
    interpreter = shutil.which("ruby")
    for lg, first, second in ((19, "1/50", "1/70"), (12, "1/100", "1/150"), (10, "1/120", "1/150")):
        dump = ruby(lg) if interpreter else None
        if not dump:
            continue
        name = "Ruby, %.1f MB" % (os.path.getsize(dump) / 1e6)
        perl = Run("jeprof", "--text", interpreter, dump)
        with tempfile.TemporaryDirectory() as cache:
            row(name + ", first run", report("--text", dump), "jeprof", perl, first)
            row(name + ", second run", report("--text", dump, cache=cache), "jeprof", perl, second)
            if lg == 10:
                for output in ("raw", "collapsed", "csv", "json", "flame", "html", "dot", "tree", "callgrind",
                               "speedscope", "dhat", "proto", "traces"):
                    row("Ruby, --" + output, report("--" + output, "-o", place / "report", dump, cache=cache), "--text",
                        report("--text", dump, cache=cache), "1.3")


def rows_of_names():
    binary = program()
    dump = make("addresses-%d" % given.units, [HERE / "addresses.py", binary, 40302])
    name = "C++, %.0f MB of ELF, 40,302 addresses" % (os.path.getsize(binary) / 1e6)
    llvm = Run("llvm-symbolizer", "--inlines", stdin=offsets(dump, binary))
    row(name, report("--text", dump), "llvm-symbolizer", llvm, "0.5")
    with tempfile.TemporaryDirectory() as cache:
        row(name + ", second run", report("--text", dump, cache=cache), "first run", report("--text", dump), "1/20")


def rows_of_bytes():
    dump = shape(55, 60000, given.mb)
    lines, name = Run("wc", "-l", dump), "%d MB, " % given.mb
    row(name + "info", report("info", dump), "wc -l", lines, "6")
    row(name + "--text --fold=none", report("--text", "--fold=none", dump), "wc -l", lines, "15, 0.5 of it + 30 MB")
    row(name + "--libs", report("--libs", dump), "--text", report("--text", dump), "1.2")
    if shutil.which("go") and given.mb <= 200:
        pprof = Run("go", "tool", "pprof", "-top", "-symbolize=none", as_gperftools(dump))
        row(name + "info beside pprof", report("info", dump), "pprof", pprof, "1/50")
    row("64 threads, %d MB, --thread=*" % (given.mb / 10), report("--thread=*", shape(55, 20000, given.mb / 10, "threads")),
        "--text", report("--text", shape(55, 20000, given.mb / 10, "threads")), "")
    row("1000 frames, %d MB" % (given.mb / 10), report("--text", shape(1000, 20000, given.mb / 10)), "wc -l",
        Run("wc", "-l", shape(1000, 20000, given.mb / 10)), "")


def rows_of_fleets():
    dumps = fleet()
    row("%d processes of different layouts" % len(dumps), report("--text", *dumps), "a tenth of them",
        report("--text", *dumps[:len(dumps) // 10]), "10; 1000 in 5 s")


def rows_of_pictures():
    plain = ROOT / "samples/cases/ruby31/cext.1.heap"
    sysroot = "--sysroot=%s" % (ROOT / "samples/cases/sysroot")
    dense = shape(25, 80, 0.5, "outside")
    row("--svg, dense", report("--svg", "-o", place / "report", dense), "--svg of Ruby",
        report("--svg", sysroot, "-o", place / "report", plain), "3")


place.mkdir(parents=True, exist_ok=True)
print("| work | jprof, CPU seconds | peak | against | ratio | goal |\n| --- | --- | --- | --- | --- | --- |")
for rows in (rows_of_ruby, rows_of_names, rows_of_bytes, rows_of_fleets, rows_of_pictures):
    rows()
for line in left_out:
    print("left out: " + line)
