"""The stacks of joined.rb, as jprof --traces has them: the native part, innermost first, then the Ruby stack with the lines
that the program itself wrote down.
usage: joined.py JPROF DUMP LINES NATIVE, how many frames a native part has at most"""
import re
import subprocess
import sys

jprof, dump, lines_file, native_most = sys.argv[1:]
native_most = int(native_most)
lines = {where: [int(n) for n in rest] for where, *rest in (line.split() for line in open(lines_file))}
failures = []


def stacks():
    out = subprocess.run([jprof, "--traces", "--show_bytes", dump], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         check=True).stdout.decode()
    for block in re.split(r"^-+\+-+\n", out, flags=re.M)[1:]:
        rows = block.splitlines()
        if rows:
            yield int(rows[0].split()[0]), [row[18:] for row in rows]


def is_ruby(name):
    """Lines of Ruby, and methods in C: "Integer#times", "Fiddle.malloc"."""
    return re.search(r"\.rb(:\d+)? |^[A-Z]\w*(::\w+)*[#.]\w+[?!=]?$|^<internal:", name)


def has_line(name):
    """Not a function of C, which may go by what Ruby calls it."""
    return re.search(r"\.rb(:\d+)? |^<internal:", name)


# 300 blocks of 2000 bytes, all kept; of 300 samples 190 are expected, so that 30 % are more than six standard errors.
def check(where, wanted, native, *ruby, least=0.7 * 600000, most=0):
    """Of the stacks that pass the line `wanted` innermost of the program's own: the functions of the native part, and the
    program's own lines, in order."""
    seen = 0
    for value, names in found:
        own = [int(n) for n in re.findall(r"^joined\.rb:(\d+) ", "\n".join(names), re.M)]
        if own[:1] != [wanted] or not native(names):
            continue
        seen += value
        first = next(i for i, name in enumerate(names) if has_line(name))
        outside = [name for name in names[first:] if not is_ruby(name)]
        if outside:
            failures.append(f"{where}: native frames in or outside of the Ruby stack: {outside}")
        if own[:len(ruby)] != list(ruby):
            failures.append(f"{where}: lines {own}, not {ruby}")
        interpreter = [n for n in names[:first] if re.match("rb_vm_exec|vm_exec|vm_call_|vm_sendish", n)]
        if interpreter:
            failures.append(f"{where}: the native part goes on into the interpreter: {interpreter}")
    print(f"{where}: {seen} bytes")
    if not least <= seen <= 1.3 * 600000 + most:
        failures.append(f"{where}: {seen} bytes")


def depth(function, frames):
    return lambda names: names[:frames] == [function] * frames and names[frames] != function


found = list(stacks())
line = lines["native1"][0]
check("a call of C", line, depth("deep_alloc", 1), line)
if native_most > 60:
    check("C 60 frames deep", line, depth("deep_alloc", 60), line)
# More than are kept, of which some are the allocator's own, and not shown: the Ruby stack stands there all the same.
kept = range(61 if native_most > 60 else native_most - 8, native_most)
check(f"C more than {native_most} frames deep", line, lambda names: any(depth("deep_alloc", n)(names) for n in kept), line,
      most=0 if native_most > 60 else 600000)
check("Ruby, called from C 60 frames deep", lines["closure"][0], lambda names: "Fiddle.malloc" in names, *lines["closure"])
if "sax" in lines:
    check("Ruby, called from libxml2", lines["sax"][0], lambda names: "Fiddle.malloc" in names, *lines["sax"])
    check("libxml2", lines["tree"][0], lambda names: any("xml" in n and not is_ruby(n) for n in names), lines["tree"][0],
          most=1e7)
print("\n".join(failures) or "all stacks are joined right")
sys.exit(bool(failures))
