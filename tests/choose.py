#!/usr/bin/env python3
"""Names of tests of the gate, one a line; in the folder of the checkout.

usage: choose.py BUILDDIR SUITE...     of these suites
       choose.py BUILDDIR changed      of the suites that cover the files that differ from the commit in .ci/base
       choose.py BUILDDIR --class CLASS...   not of the gate: of these classes"""
import json
import subprocess
import sys

# The suites that cover a file, by the longest beginning of its path; all suites cover what begins with none of these.
COVERED = {
    'libjprof/': 'unit names formats fuzz debuginfo ruby doors views statistics pprof costs cli',
    'libjprof/statistics/': 'unit statistics cli',
    'libjprof/machine/': 'unit names fuzz',
    'libjprof/answers/': 'unit cli',
    'libjprof/bundle/': 'unit formats fuzz cli',
    'libjprof/collect/': 'unit live cli',
    'libjprof/view/': 'unit doors views formats pprof statistics cli',
    'libjprof/render/': 'unit doors views formats pprof cli',
    'agent/': 'unit live cli',
    'ruby/': 'ruby',
    'dot/': 'unit cli views',
    'jeprof-c/': 'unit cli doors views ruby',
    'html/': 'unit doors',
    'packaging/names/': 'names',
    'packaging/': '', 'debian/': '', 'docs/': '', 'manual/': '', 'bench/': '', '.ci/': '', 'README.md': '', 'HACKING.md': '',
    'NEWS.md': '', 'SECURITY.md': '',
    'samples/': 'unit formats doors views ruby names statistics pprof cli',
    'tests/subjects/': 'names', 'tests/golden/': 'doors', 'tests/plain/': 'cli', 'tests/docs/': '', 'tests/manual/': '',
    'tests/musl/': '', 'tests/browser/': '',
}


def suites_of(path, rooms):
    if path.endswith('meson.build'):
        return rooms
    room = path.split('/')[1] if path.startswith('tests/') and path.count('/') > 1 else None
    if room in rooms:
        return {room}
    beginning = max((begin for begin in COVERED if path.startswith(begin)), key=len, default=None)
    return rooms if beginning is None else set(COVERED[beginning].split())


def lines(*command):
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"tests/choose.py: `{' '.join(command)}` failed: {run.stderr.strip()}")
    return run.stdout.split('\n')[:-1]


def changed(rooms):
    with open('.ci/base') as f:
        base = f.read().strip()
    paths = lines('git', 'diff', '--name-only', base) + lines('git', 'ls-files', '--others', '--exclude-standard')
    return set().union(*(suites_of(path, rooms) for path in paths), {'rules'} if paths else set())


tests = json.loads('\n'.join(lines('meson', 'introspect', '--tests', sys.argv[1])))
suites = {test['name']: {suite.rpartition(':')[2] for suite in test['suite']} for test in tests}
if sys.argv[2] == '--class':
    print('\n'.join(sorted(test['name'] for test in tests if test['suite'][-1].rpartition(':')[2] in sys.argv[3:])))
    sys.exit()
wanted = set(sys.argv[2:])
if wanted == {'changed'}:
    wanted = changed(set().union(*suites.values()))
print('\n'.join(sorted(name for name, of in suites.items() if 'gate' in of and of & (wanted - {'gate'}))))
