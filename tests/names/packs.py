"""Names from packs: the right one or none. A small library is built with symbols, and again as others do: for a security
update, with other flags, by another compiler, stripped. What a pack of the first names in the others is held against readelf's
symbols of a twin that kept them. So is what the packs of the project name in libraries of this machine: against the names that
these export, which matching does not see; a pack whose package has another version now is listed as outgrown, with by how much.

usage: packs.py PACK_NAMES JPROF SOURCE_ROOT WORK_DIRECTORY [machine | LIBRARY...]
machine: the packs of the project on the libraries of this machine, and nothing else.
By hand, libraries that have their symbols, other builds of what the project has packs of: stripped, they are held against these
alone, and all functions that get a name are judged, not only those that are exported."""
import collections
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys

pack_names, jprof, root, work = sys.argv[1:5]
failures = []


def check(good, text):
    if not good:
        failures.append(text)
        print('FAIL:', text)


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, errors='replace', **more)


# ---- the library -----------------------------------------------------------------------------------------------

def source(update, order=range(240)):
    """About 450 functions: many that are alike but for a callee, a string or nothing, some with cold parts. An update
    changes a few, adds some and removes one; "added": it only adds. In another order neighbours are swapped, as another compiler does."""
    draw = random.Random(7)
    out = ['#include <stdio.h>', '#include <stdlib.h>', '#include <string.h>',
           'volatile long sink; static long table[64]; __attribute__((noinline)) static void grow(long n) { table[n & 63] += n; }']
    out += [f'static long work_{i}(long n, const char *s);' for i in range(240)]
    out += ['#ifndef FACTOR', '#define FACTOR 70000', '#endif',
            '__attribute__((noinline)) static long factor(long n) { sink = n; return n * FACTOR + 3; }',
            'long api_factor(long n) { return factor(n) + 1; }']
    for i in order:
        kind, k = draw.randrange(6), draw.randrange(3, 60)
        if update is True and i % 60 == 17:
            k += 1000
        if update and i == 100:
            out.append('__attribute__((noinline)) static long added(long n) { for (long k = 0; k < n; k++) sink += k * 7 ^ n; return n; }'
                       ' long api_added(long n) { return added(n) + 1; }')
        if update is True and i == 201:
            continue
        head = f'__attribute__((noinline)) static long work_{i}(long n, const char *s)'
        body = {
            0: f'{{ long sum = n; for (long k = 0; k < n; k++) sum = sum * {k} + (s[k & 3] ^ k); sink = sum; return sum; }}',
            1: f'{{ grow(n + 1); return strlen(s) + n; }}' if i % 5 == 1 else f'{{ grow(n * {k}); return strlen(s) * n + {k + i}; }}',
            2: f'{{ printf("%s {i % 40}\\n", s); return n * {k} + {i % 50}; }}',
            3: f'{{ if (__builtin_expect(!s, 0)) {{ fprintf(stderr, "none {i}\\n"); abort(); }} table[{k}] += *s; return table[n & 63]; }}',
            4: f'{{ return work_{max(i - 1, 0)}(n + 1, s) + 1; }}' if i and not (update is True and i == 202) else '{ return n; }',
            5: f'{{ char *copy = malloc(n + {k}); if (!copy) return -1; memcpy(copy, s, n); sink = copy[n / 2]; free(copy); return sink + {k}; }}',
        }[kind]
        out.append(f'{head} {body}')
        out.append(f'long api_{i}(long n, const char *s) {{ long r = work_{i}(n, s); return work_{i}(r, s + 1) + r * {k} - (n ^ {draw.randrange(400)}); }}')
    return '\n'.join(out) + '\n'


def build(name, compiler, flags, update=False, order=range(240), soname='libpacked.so.1'):
    """Paths of the library with its symbols and without."""
    path = os.path.join(work, name)
    with open(path + '.c', 'w') as f:
        f.write(source(update, order))
    made = run(*compiler.split(), *flags, '-w', '-g', '-fPIC', '-shared', *(['-Wl,-soname,' + soname] if soname else []), '-o', path + '.so',
               path + '.c')
    if made.returncode:
        print(made.stderr[:2000])
        return None
    subprocess.check_call([compiler[:-3] + 'strip' if compiler.endswith('-gcc') else 'strip', '-o', path + '-stripped.so',
                           path + '.so'])
    return path + '.so', path + '-stripped.so'


def symbols(path, dynamic=False):
    """Names of functions by address, from readelf."""
    names = collections.defaultdict(set)
    for line in run('readelf', '--dyn-syms' if dynamic else '-s', '-W', path).stdout.splitlines():
        m = re.match(r'\s*\d+: ([0-9a-f]+)\s+(\d+|0x[0-9a-f]+) (?:FUNC|IFUNC)\s+\S+\s+\S+\s+(\d+) (\S+)', line)
        if m and int(m[2], 0):
            names[int(m[1], 16)].add(m[4].split('@')[0])
    return names


def matched(pack, path, *flags):
    out = run(pack_names, *flags, pack, path)
    lines = out.stdout.splitlines()
    check(not out.returncode and lines, f'{pack} and {path}: {out.stderr.strip()}')
    if not lines:
        return [0] * 6, False, {}
    *numbers, fits = lines[0].split()
    names = dict((int(a, 16), n) for a, _, n in (line.partition(' ') for line in lines[1:]))
    return [int(n) for n in numbers], fits == 'fits', names


def in_order(text, pack, path, least):
    """What the program does where a library has the functions of the pack in its order: names of functions one by one are those
    that matching all of them finds, and so large a share of them; None: it has another order; 'any': it may have."""
    *lines, last = run(pack_names, '-o', pack, path).stdout.splitlines() or ['']
    names = dict((int(a, 16), n) for a, _, n in (line.partition(' ') for line in lines))
    exported = symbols(path, True)
    local = {a: n for a, n in matched(pack, path, '-x')[2].items() if a not in exported}
    wrong = [(hex(a), n, local.get(a)) for a, n in names.items() if n != local.get(a)]
    check(not wrong, f'{text}: one by one functions have other names: {wrong[:5]}')
    check(least == 'any' or last == ('differs' if least is None else 'order'), f'{text}: "{last}", expected is {least}')
    check(least in ('any', None) or len(names) >= least * len(local), f'{text}: {len(names)} names one by one, {len(local)} of all')


def judge(text, pack, path, truth, least, *flags):
    """No wrong name, and at least that share of the functions with a name."""
    numbers, fits, names = matched(pack, path, *flags)
    wrong = [(hex(a), n, sorted(truth[a])) for a, n in names.items() if n and a in truth and n not in truth[a]]
    right = sum(1 for a, n in names.items() if a in truth and n in truth[a])
    print(f'{text}: {numbers[2]} of {numbers[0]} alike, {len(names)} named; {right} of {len(truth)} right, {len(wrong)} wrong')
    check(not wrong, f'{text}: wrong names: {wrong[:5]}')
    check(right >= least * len(truth), f'{text}: only {right} of {len(truth)} are named')
    return fits, names


def own_library():
    first = build('first', 'cc', ['-O2'])
    pack = os.path.join(work, 'first.jnames')
    learnt = run(jprof, 'names', 'learn', '-o', pack, '--version=1', first[0])
    check(not learnt.returncode and not learnt.stderr, 'learn: ' + learnt.stderr)
    truth = symbols(first[0])
    judge('itself', pack, first[1], truth, 0.9)
    update = build('update', 'cc', ['-O2'], update=True)
    fits, _ = judge('an update', pack, update[1], symbols(update[0]), 0.5)
    check(fits, 'the pack does not fit an update')
    swapped = [i + 1 if i % 12 == 4 else i - 1 if i % 12 == 5 else i for i in range(240)]
    order = build('order', 'cc', ['-O2'], order=swapped)
    # Of functions whose contents are equal only exported ones tell that; so it is with the program.
    judge('neighbours swapped', pack, order[1], symbols(order[0]), 0, '-x')
    moved = build('moved', 'cc', ['-O2', '-Wl,--section-start=.text=0x40000', '-Wl,-z,noseparate-code'])
    judge('linked elsewhere', pack, moved[1], symbols(moved[0]), 0.9)
    added = build('added', 'cc', ['-O2'], update='added')
    judge('a function more', pack, added[1], symbols(added[0]), 0.9)
    changed = build('changed', 'cc', ['-O2', '-DFACTOR=80000'])
    judge('a constant changed', pack, changed[1], symbols(changed[0]), 0.9)
    for name, made, least in (('itself', first, 1), ('linked elsewhere', moved, 1), ('a constant changed', changed, 0.9),
                              ('a function more', added, 0.4), ('an update', update, None), ('neighbours swapped', order, None)):
        in_order(name, pack, made[1], least)
    others = [('O1', 'cc', ['-O1']), ('interposition', 'cc', ['-O2', '-fno-semantic-interposition']), ('unsorted', 'cc', ['-O2', '-fno-toplevel-reorder'])]
    if shutil.which('clang'):
        others.append(('clang', 'clang', ['-O2']))
    for name, compiler, flags in others:
        made = build(name, compiler, flags)
        if made:
            judge('by ' + ' '.join([compiler, *flags]), pack, made[1], symbols(made[0]), 0)
    return first, pack


def other_machine():
    """The same for AArch64, where there is a compiler for it."""
    compiler = 'aarch64-linux-gnu-gcc'
    if not shutil.which(compiler):
        return
    first = build('arm', compiler, ['-O2'])
    pack = os.path.join(work, 'arm.jnames')
    learnt = run(jprof, 'names', 'learn', '-o', pack, first[0])
    check(not learnt.returncode, 'learn of AArch64: ' + learnt.stderr)
    judge('AArch64', pack, first[1], symbols(first[0]), 0.9)
    update = build('arm-update', compiler, ['-O2'], update=True)
    judge('AArch64, an update', pack, update[1], symbols(update[0]), 0.5)
    moved = build('arm-moved', compiler, ['-O2', '-Wl,--section-start=.text=0x40128'])
    judge('AArch64, linked elsewhere', pack, moved[1], symbols(moved[0]), 0.9)


# ---- the program -----------------------------------------------------------------------------------------------

def dump_of(library, addresses, inode=None):
    """A dump of a process that has the library's code mapped, with a stack at each of these addresses."""
    segments = [line.split() for line in run('readelf', '-lW', library).stdout.splitlines() if re.match(r'\s+LOAD', line)]
    code = next(s for s in segments if 'E' in ''.join(s[6:-1]))
    offset, vaddr, size = (int(code[i], 16) for i in (1, 2, 4))
    begin = vaddr & ~4095
    length = (vaddr + size - begin + 4095) & ~4095
    base = 0x7f0000000000
    st = os.stat(library)
    text = f'heap_v2/4096\n  t*: {len(addresses)}: {4096 * len(addresses)} [0: 0]\n'
    for a in addresses:
        text += f'@ {base + a:#x}\n  t*: 1: 4096 [0: 0]\n'
    text += (f'\nMAPPED_LIBRARIES:\n{base + begin:x}-{base + begin + length:x} r-xp {offset & ~4095:08x} '
             f'{os.major(st.st_dev):02x}:{os.minor(st.st_dev):02x} {inode or st.st_ino} {os.path.realpath(library)}\n')
    path = os.path.join(work, 'packs.heap')
    with open(path, 'w') as f:
        f.write(text)
    return path


def reports(first, pack):
    stripped = first[1]
    local = {a: n for a, n in symbols(first[0]).items() if a not in symbols(stripped, True)}
    dump = dump_of(stripped, sorted(local))
    env = dict(os.environ, XDG_DATA_HOME=os.path.join(work, 'data'), HOME=work)

    def names_in(*options, dump=dump):
        rows = run(jprof, '--text', '--fold=none', *options, dump, env=env)
        return rows, [line.split()[-1] for line in rows.stdout.splitlines()[1:]]

    plain, nameless = names_in()
    check(all('!0x' in n for n in nameless), 'without a pack there are names: ' + plain.stdout[:300])
    known = set().union(*local.values())
    rows, found = names_in('--names=' + pack)
    good = [n for n in found if n in known]
    check(len(good) >= 0.8 * len(found), f'{len(good)} of {len(found)} rows have names; {rows.stderr}')
    check(all(n in known or '!0x' in n for n in found), 'a name that is none of the library')
    check(names_in('--names=' + pack, '--no-packs')[1] == nameless, '--no-packs has names')
    os.makedirs(os.path.join(work, 'data/jprof/names'))
    shutil.copy(pack, os.path.join(work, 'data/jprof/names/a.jnames'))
    check(names_in()[1] == found, 'a pack in $XDG_DATA_HOME is not used')
    check(names_in('--no-packs')[1] == nameless, '--no-packs has names of $XDG_DATA_HOME')
    info = json.loads(run(jprof, 'info', '--json', dump, env=env).stdout)
    coverage = next(f for f in info['coverage'] if 'stripped' in f['path'])
    check(coverage['addresses']['pack'] == len(good) and not coverage['addresses']['dynsym'],
          f'info counts {coverage["addresses"]}, not {len(good)} by packs')
    rows = json.loads(run(jprof, '--json', '--fold=none', dump, env=env).stdout)
    sources = collections.Counter(row['source'] for table in rows.get('threads', [rows]) for row in table.get('rows', []))
    check(set(sources) <= {'pack', 'fde'}, f'rows are of {sources}')
    bundle = os.path.join(work, 'packs.jprof')
    run(jprof, 'bundle', '-o', bundle, dump, env=env)
    bare = dict(env, XDG_DATA_HOME=os.path.join(work, 'nothing'))
    there = run(jprof, '--text', '--fold=none', bundle, env=bare)
    check([line.split()[-1] for line in there.stdout.splitlines()[1:]] == found, 'the bundle lost names: ' + there.stderr)
    info = json.loads(run(jprof, 'info', '--json', bundle, env=bare).stdout)
    check(next(f for f in info['coverage'] if 'stripped' in f['path'])['addresses']['pack'] == len(good),
          'the bundle does not count what is of packs')
    changed_in_order(pack, os.path.join(work, 'changed'), names_in)
    bundled_before(stripped, pack, dump_of(stripped, sorted(local), inode=1), found)
    with_symbols = run(jprof, '--text', '--fold=none', '--names=' + pack, dump_of(first[0], sorted(local)), env=bare)
    check('!0x' not in with_symbols.stdout, 'a file with symbols is not named by them')
    other = build('other', 'cc', ['-O0'])
    refused = run(jprof, 'info', '--all', '--names=' + pack, dump_of(other[1], sorted(symbols(other[0]))[:40]), env=bare)
    check('is of another build' in refused.stdout, 'info does not say that the pack does not fit: ' + refused.stdout[-600:])


def changed_in_order(pack, changed, names_in):
    """A library in the pack's order of which one function differs: this one has no name, and the others have those that
    matching all of them finds."""
    exported, found = symbols(changed + '-stripped.so', True), matched(pack, changed + '-stripped.so', '-x')[2]
    truth = symbols(changed + '.so')
    names = {n for a, n in found.items() if n and a not in exported}
    different = [a for a, n in truth.items() if 'factor' in n]
    check(len(different) == 1 and different[0] not in found, 'the function that changed has a name')
    _, rows = names_in('--names=' + pack, dump=dump_of(changed + '-stripped.so', sorted(a for a in truth if a not in exported)))
    named = {n for n in rows if '!0x' not in n}
    check(len(named) > 150 and named == names, f'a library that differs in one function: {names ^ named}')


def without_soname():
    """An extension says nowhere what it is loaded as: its pack is that of files of its name, or of the name that it is given."""
    made = build('plugin', 'cc', ['-O2'], soname=None)
    known = set().union(*symbols(made[0]).values())
    addresses = sorted(a for a in symbols(made[0]) if a not in symbols(made[0], True))
    folder = os.path.join(work, 'elsewhere')
    os.makedirs(folder)
    named, given = os.path.join(folder, 'plugin.jnames'), os.path.join(folder, 'given.jnames')
    for pack, options in ((named, []), (given, ['--soname=other.so'])):
        learnt = run(jprof, 'names', 'learn', '-o', pack, *options, made[0])
        check(not learnt.returncode, 'learn of a file without a soname: ' + learnt.stderr)
    for pack, name, expected in ((named, 'plugin.so', True), (named, 'other.so', False), (given, 'other.so', True)):
        path = os.path.join(folder, name)
        shutil.copy(made[1], path)
        out = run(jprof, '--text', '--fold=none', '--names=' + pack, dump_of(path, addresses))
        rows = [line.split()[-1] for line in out.stdout.splitlines()[1:]]
        share = sum(1 for n in rows if n in known) / max(len(rows), 1)
        check(share >= 0.8 if expected else not share, f'{os.path.basename(pack)} names {share:.0%} of the rows of {name}')


def bundled_before(stripped, pack, dump, expected):
    """A bundle that was made without the pack, of a dump that does not prove which file ran: the very file that it was made with
    gives it the pack's names, and another one none."""
    library, bundle = os.path.join(work, 'before.so'), os.path.join(work, 'before.jprof')
    with open(dump) as f:
        text = f.read().replace(os.path.realpath(stripped), os.path.realpath(library))
    with open(dump, 'w') as f:
        f.write(text)
    shutil.copy(stripped, library)
    bare = dict(os.environ, XDG_DATA_HOME=os.path.join(work, 'nothing'), HOME=work)

    def rows(*options):
        out = run(jprof, '--text', '--fold=none', *options, bundle, env=bare)
        return [line.split()[-1] for line in out.stdout.splitlines()[1:]]

    run(jprof, 'bundle', '-o', bundle, dump, env=bare)
    coverage = json.loads(run(jprof, 'info', '--json', bundle, env=bare).stdout)['coverage'][0]
    check(coverage['proof'] == 'unverified', f'the bundle has the proof {coverage["proof"]}')
    plain = rows()
    check(all('!0x' in n for n in plain), f'the bundle has names of its own: {plain[:3]}')
    check(sorted(n for n in rows('--names=' + pack) if '!0x' not in n) == sorted(n for n in expected if '!0x' not in n),
          'a bundle that was made before the pack has other names than its dump')
    coverage = json.loads(run(jprof, 'info', '--json', '--names=' + pack, bundle, env=bare).stdout)['coverage'][0]
    check(coverage['proof'] == 'unverified', f'the pack proves that the file ran: {coverage["proof"]}')
    shutil.copy(os.path.join(work, 'moved-stripped.so'), library)
    check(rows('--names=' + pack) == plain, 'another build at its path gives the bundle names')


# ---- packs that are none ---------------------------------------------------------------------------------------

def uleb(n):
    return bytes([n & 127 | 128]) + uleb(n >> 7) if n > 127 else bytes([n])


def sealed(whole, body):
    """A pack with the label of another one and a checksum that is right: FNV-1a of 64 bits."""
    end = 20
    for _ in range(4):
        end = whole.index(b'\0', end) + 1
    h = 0xcbf29ce484222325
    for b in whole[16:end] + body:
        h = (h ^ b) * 0x100000001b3 % 2 ** 64
    return whole[:8] + h.to_bytes(8, 'little') + whole[16:end] + body


def functions(count, callees, names):
    """The columns of some functions; all are 32 bytes long and alike."""
    return uleb(count) + uleb(32) * count + b'\1\2\3\4\5' * count + b'\0\0\0' * count + callees + names


def hostile(first, pack):
    whole = open(pack, 'rb').read()
    cyclic = functions(2, b'\2\3\1' + b'\2\2\1', b'f\0g\0')  # each calls the other one and itself
    dump = dump_of(first[1], sorted(symbols(first[0]))[:3])
    path = os.path.join(work, 'hostile.jnames')
    draw = random.Random(3)
    trials = [b'', whole[:7], whole[:100], whole[:-9], b'\x7fELF' + whole, whole[:16] + b'\xb7\0\0\0' + whole[20:]]
    for _ in range(6):
        at = draw.randrange(len(whole))
        trials.append(whole[:at] + bytes([whole[at] ^ 1 << draw.randrange(8)]) + whole[at + 1:])
    trials += [sealed(whole, body) for body in (
        b'', uleb(1 << 60), b'\xff' * 12, uleb(1 << 32) + b'\0' * 40, functions(2, uleb(1 << 40) + b'\0', b'f\0g\0'),
        functions(2, b'\1' + uleb(9) + b'\0', b'f\0g\0'), functions(2, b'\0\0', b'f\0g'), cyclic + b'x',
        uleb(1) + uleb(1 << 33) + cyclic)]
    with open(path, 'wb') as f:
        f.write(sealed(whole, cyclic))
    out = run(jprof, '--text', '--names=' + path, dump)
    check(not out.returncode and not re.search(r' [fg]$', out.stdout, re.M), f'functions that call each other: {out.stderr[:300]}')
    for data in trials:
        with open(path, 'wb') as f:
            f.write(data)
        out = run(jprof, '--text', '--names=' + path, dump)
        lines = out.stderr.splitlines()
        check(out.returncode == 1 and len(lines) == 1 and path in lines[0] and not out.stdout,
              f'a damaged pack: {out.returncode} {out.stderr[:300]}')
    os.makedirs(os.path.join(work, 'bad/jprof/names'))
    shutil.copy(path, os.path.join(work, 'bad/jprof/names/damaged.jnames'))
    with open(os.path.join(work, 'bad/jprof/names/empty.jnames'), 'w'):
        pass
    out = run(jprof, '--text', dump, env=dict(os.environ, XDG_DATA_HOME=os.path.join(work, 'bad')))
    check(not out.returncode and 'empty.jnames is no pack of names' in out.stderr, f'beside a file that is no pack: {out.stderr}')


def learning(first):
    again = os.path.join(work, 'again.jnames')
    for name, want in (('first.so', None), ('first-stripped.so', 'has no .symtab')):
        out = run(jprof, 'names', 'learn', '-o', again, '--version=1', os.path.join(work, name))
        check(bool(out.returncode) == bool(want) and (not want or want in out.stderr), f'learn {name}: {out.stderr}')
        check(os.path.exists(again) == (not want), f'learn {name}: a file too many, or none')
        if not want:
            check(open(again, 'rb').read() == open(os.path.join(work, 'first.jnames'), 'rb').read(), 'learning twice differs')
            os.unlink(again)
    debug = os.path.join(work, 'first.debug')
    subprocess.check_call(['objcopy', '--only-keep-debug', first[0], debug])
    run(jprof, 'names', 'learn', '-o', again, '--version=1', first[1], debug)
    check(os.path.exists(again) and open(again, 'rb').read() == open(os.path.join(work, 'first.jnames'), 'rb').read(),
          'a debug file teaches other names')


# ---- the project's own packs -----------------------------------------------------------------------------------

def release():
    """"Debian 12", as packs have it."""
    found = dict(line.rstrip().split('=', 1) for line in open('/etc/os-release') if '=' in line)
    return f"{found.get('ID', '').strip(chr(34)).capitalize()} {found.get('VERSION_ID', '').strip(chr(34))}"


def machine_of(path):
    """ELF's e_machine, as packs have it."""
    with open(path, 'rb') as f:
        return f.read(20)[18:20] + b'\0\0'


def fit(first):
    check(matched(first, os.path.join(work, 'first-stripped.so'), '-x')[1], 'a pack does not fit its own library')
    check(not matched(first, os.path.join(work, 'O1-stripped.so'), '-x')[1], 'a pack fits another build')
    for pack in glob.glob(os.path.join(root, 'packaging/names/*.jnames')):
        check(os.path.getsize(pack) < 200000, f'{pack} is large')


def shipped():
    """Of libraries that this machine has: the names that they export, which are withheld from matching, are the judge."""
    judged = 0
    for pack in sorted(glob.glob(os.path.join(root, 'packaging/names/*.jnames'))):
        head = open(pack, 'rb').read(2000)
        pack_machine, head = head[16:20], head[20:].split(b'\0')
        soname, version, package, distribution = (t.decode() for t in head[:4])
        for path in glob.glob('/usr/lib/*/' + soname) + glob.glob('/usr/lib/*/ruby/**/' + soname, recursive=True):
            if machine_of(path) != pack_machine:
                continue
            installed = run('dpkg-query', '-W', '-f', '${Version} ${source:Package}', *owner(path)).stdout
            truth = symbols(path, True)
            judge(os.path.basename(pack), pack, path, truth, 0)
            numbers, fits, names = matched(pack, path, '-x')
            # Functions that are all alike may have another order: then matching finds hardly a name, either.
            same = numbers[0] == numbers[1] == numbers[2] and len(names) > 0.9 * numbers[0]
            in_order(os.path.basename(pack), pack, path, None if not fits or numbers[0] < 64 else 1 if same else 'any')
            judged += 1
            # What a distribution brings is no fault of the pack: the nightly lists it.
            if distribution == release() and installed.endswith(' ' + package) and installed.split(' ')[0] != version and numbers[2] < numbers[0]:
                print(f'outgrown: {soname} is of {package} {installed.split(" ")[0]}, its pack of {version}: {numbers[2]} of {numbers[0]} '
                      f'functions are alike ({100 * numbers[2] / numbers[0]:.1f} %){"" if fits else ", so it names nothing"}')
            check(numbers[5] == 0, f'{pack}: {numbers[5]} exported functions have another name')
            if installed.split(' ')[0] == version and soname.startswith('libruby'):
                recorded(pack, os.path.basename(os.path.realpath(path)))
                if '3.1' in soname:
                    plumbing(pack)
    print(judged, 'libraries of this machine judged')


def withheld(path):
    """The project's packs of that soname, on a library whose symbols only the judge sees."""
    found = re.search(r'soname: \[(.*?)\]', run('readelf', '-dW', path).stdout)
    soname = found[1] if found else os.path.basename(path)
    stripped, truth, exported = os.path.join(work, 'withheld.so'), symbols(path), symbols(path, True)
    arm = 'AArch64' in run('readelf', '-hW', path).stdout
    subprocess.check_call([shutil.which('llvm-strip') or 'llvm-strip-14' if arm else 'strip', '-o', stripped, path])
    for pack in sorted(glob.glob(os.path.join(root, 'packaging/names/*.jnames'))):
        if open(pack, 'rb').read(2000)[20:].split(b'\0')[0].decode() == soname:
            _, names = judge(f'{os.path.basename(pack)} on {path}', pack, stripped, truth, 0)
            print(sum(1 for a, n in names.items() if n and a not in exported), 'of those with a name are not exported')


def named_weight(dump, is_wanted, *options):
    """Bytes that pass through functions of these files, with a name (True) and without."""
    weight = collections.Counter()
    for row in json.loads(run(jprof, '--json', '--fold=none', *options, dump).stdout)['rows']:
        if is_wanted(row['object'] or ''):
            weight[row['source'] not in ('fde', 'none')] += row['cum']
    return weight


def is_gem(path):
    """An extension of Ruby that registers its methods, and whose file is here."""
    return os.path.exists(path) and re.fullmatch('(stringio|zlib|date_core|fiddle|nokogiri|oj|msgpack).so', os.path.basename(path))


def recorded(pack, library):
    """The project's dumps and bundles of processes that had this very library: 99 % of its weight, which is the bytes that pass
    through a function, has a name; and 60 % of that of gems without any pack."""
    judged, gems = 0, collections.Counter()
    for dump in sorted(glob.glob(os.path.join(root, 'samples/cases/*/*.heap')) + glob.glob(os.path.join(root, 'samples/cases/*/*.jprof'))):
        weight = named_weight(dump, lambda path: os.path.basename(path) == library, '--names=' + pack)
        if not weight:
            continue
        judged += 1
        gems.update(named_weight(dump, is_gem, '--no-packs'))
        check(weight[True] >= 0.99 * weight.total(), f'{dump}: {weight[True]:.0f} of {weight.total():.0f} bytes of {library} are named')
    print(f'{judged} recorded processes judged; without a pack {gems[True]:.0f} of {gems.total():.0f} bytes of gems are named')
    check(judged, f'no dump has {library}')
    check(gems[True] >= 0.6 * gems.total(), 'too little of the gems is named without a pack')


def plumbing(pack):
    """Of a stripped Ruby only its exported functions are known as plumbing without a pack; with it --fold=vm takes the others,
    too, and not a byte."""
    dump = os.path.join(root, 'samples/cases/ruby31/cext.1.heap')
    shown = {fold: run(jprof, '--show_bytes', '--cum', '--fold=' + fold, '--names=' + pack, dump).stdout.splitlines()
             for fold in ('std', 'vm')}
    names = {fold: {line.split()[-1] for line in lines} for fold, lines in shown.items()}
    inner = {'vm_exec_core', 'vm_sendish', 'vm_call_cfunc_with_frame'}
    check(inner <= names['std'], f'no plumbing in {sorted(names["std"])}')
    check(not inner & names['vm'], f'--fold=vm leaves {inner & names["vm"]}')
    check(shown['std'][0] == shown['vm'][0] and shown['vm'][0].startswith('Total: '), f'totals: {shown["std"][0]}, {shown["vm"][0]}')


def owner(path):
    found = run('dpkg', '-S', os.path.realpath(path)).stdout or run('dpkg', '-S', path).stdout
    return [found.rsplit(': ', 1)[0].split(',')[0]] if ': ' in found else ['none']


os.makedirs(work, exist_ok=True)
if sys.argv[5:] == ['machine']:
    shipped()
else:
    for path in sys.argv[5:]:
        withheld(path)
if sys.argv[5:]:
    sys.exit(1 if failures else 0)
if not shutil.which('cc') or not shutil.which('readelf'):
    print('needs cc and readelf')
    sys.exit(77)
shutil.rmtree(work)
os.makedirs(work)
first, pack = own_library()
other_machine()
reports(first, pack)
without_soname()
learning(first)
hostile(first, pack)
fit(pack)
sys.exit(1 if failures else 0)
