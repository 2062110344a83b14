#!/usr/bin/env python3
"""What meson's logs say of the tests of a build, and what becomes of a test that failed.

usage: results.py failed LOG|RESULTS...
           names of the tests that failed, one a line; nothing and status 1 if they are more than 8
       results.py judge FIRST AGAIN >RESULTS
           RESULTS has one line of JSON a test. FIRST is the log of all tests, AGAIN that of those that failed, twice more.
       results.py drift RESULTS BASE >RESULTS
           BASE is the log of a build of an earlier commit, in which the failed tests ran once.
       results.py times LOG...
           LOGs are of the same tests, once each: lists those that did not pass each time, `NAME: k of n`; the last line counts
       results.py count RESULTS... [-- STEP...]
           STEP failed and is no test;
           lists all but what passed; the last line counts; status 1 if a test failed or none ran"""
import json
import os
import re
import sys

# What the result of a test of each class may depend on, besides the code.
CLASSES = {
    'gate': 'nothing else',
    'live': "load, and this machine's processes and packages",
    'chance': 'chance: it draws samples',
    'drift': "this machine's packages",
    'browser': 'the browser',
    'slow': 'nothing else; it takes long',
}
FAILED = ('FAIL', 'ERROR', 'TIMEOUT', 'INTERRUPT', 'failed')  # the last one in RESULTS
MOST = 8  # failures that are tried again: more are no chance


def log(path):
    try:
        with open(path) as f:
            return [json.loads(line) for line in f]
    except FileNotFoundError:
        return []


def parted(test):
    """Its suites, and its own name. Meson 1.12 writes `cli+live - jprof:explain_live`, Debian 12's `jprof:cli+live / explain_live`."""
    suites, _, name = re.sub(' - jprof:', ' / ', test['name']).rpartition(' / ')
    return suites.split(':')[-1].split('+'), name


def name(test):
    return test.get('test') or parted(test)[1]


def suites(test):
    return parted(test)[0]


def class_of(test):
    return suites(test)[-1]


def first_line(test):
    """The first line of its output that tells of a fault, else the first line. Names of temporary files and process ids are left
    out, so that two runs of one fault have the same line."""
    lines = [line.strip() for text in (test.get('stdout'), test.get('stderr')) for line in (text or '').splitlines() if line.strip()]
    said = next((line for line in lines if re.search(r'FAIL|ERROR|Error|error:', line)), lines[0] if lines else 'no reason given')
    return re.sub(r'/tmp/[\w.-]+|==\d+==', '...', ' '.join(said.split()))


def system():
    """Like "Debian 12"."""
    try:
        with open('/etc/os-release') as f:
            said = dict(line.rstrip().replace('"', '').split('=', 1) for line in f if '=' in line)
    except FileNotFoundError:
        said = {}
    return f"{said.get('ID', 'an unknown system').capitalize()} {said.get('VERSION_ID', '')}".rstrip()


def judge(first, again):
    """A failure that passed both times alone is unsteady. With CI=true only what tests/may-skip names may skip."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'may-skip')) as f:
        may_skip = {line.strip() for line in f if line[0] != '#'}
    passed, here = {}, system()
    for test in log(again):
        passed.setdefault(test['name'], []).append(test['result'] == 'OK')
    for test in log(first):
        result = {'OK': 'passed', 'EXPECTEDFAIL': 'passed', 'SKIP': 'skipped'}.get(test['result'], 'failed')
        line = first_line(test) if result != 'passed' else ''
        if result == 'failed' and passed.get(test['name'], []) == [True, True]:
            result = 'unsteady'
        if result == 'skipped' and os.environ.get('CI') == 'true' and name(test) not in may_skip:
            result, line = 'failed', 'must not skip in CI, unless tests/may-skip names it: ' + line
        yield {'test': name(test), 'suite': suites(test)[0], 'class': class_of(test), 'system': here, 'result': result,
               'seconds': round(test.get('duration', 0), 1), 'line': line}


def drift(results, base):
    """A failure is drift if the base has the test and fails with the same line: then the change is not the reason."""
    before = {(suites(test)[0], name(test)): test for test in log(base)}
    for test in log(results):
        known = before.get((test['suite'], test['test']))
        if test['result'] == 'failed' and known and known['result'] in FAILED and first_line(known) == test['line']:
            test['result'] = 'drift'
        yield test


def count(paths, steps):
    for step in steps:
        print('failed: step:', step)
    tests = [test for path in paths for test in log(path)]
    for result, text in (('skipped', ''), ('drift', 'fails on the base with the same line: '), ('unsteady', 'failed once, passed twice alone: '),
                         ('failed', '')):
        for test in tests:
            if test['result'] == result:
                depends = '' if test['class'] in ('gate', 'slow') else f" (depends on {CLASSES.get(test['class'], 'what it says')})"
                print(f"{result}: {test['test']}, {test['system']}: {text}{test['line']}{depends}")
    passed, failed, skipped = (len(steps) * ('failed' in results) + sum(test['result'] in results for test in tests)
                               for results in (('passed', 'unsteady'), ('failed',), ('skipped', 'drift')))
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    return 1 if failed or not passed else 0


def times(paths):
    runs = {}
    for path in paths:
        for test in log(path):
            runs.setdefault(name(test), []).append(test)
    skipped = {test for test, of in runs.items() if all(run['result'] == 'SKIP' for run in of)}
    good = {test: sum(run['result'] in ('OK', 'EXPECTEDFAIL') for run in of) for test, of in runs.items() if test not in skipped}
    for test in sorted(good):
        if good[test] < len(runs[test]):
            bad = next(run for run in runs[test] if run['result'] not in ('OK', 'EXPECTEDFAIL'))
            print(f'{test}: {good[test]} of {len(runs[test])}: {first_line(bad)}')
    each = sum(good[test] == len(runs[test]) for test in good)
    print(f"{each} of {len(good)} tests passed {len(paths)} of {len(paths)} times, {len(skipped)} skipped")
    return 0 if each == len(good) and good else 1


def main(what, *paths):
    if what == 'failed':
        failed = {name(test) for path in paths for test in log(path) if test['result'] in FAILED}
        if len(failed) > MOST:
            return 1
        print('\n'.join(sorted(failed)), end='\n' if failed else '')
    elif what == 'times':
        return times(paths)
    elif what == 'count':
        end = paths.index('--') if '--' in paths else len(paths)
        return count(paths[:end], paths[end + 1:])
    else:
        for test in {'judge': judge, 'drift': drift}[what](*paths):
            print(json.dumps(test))
    return 0


sys.stdout.reconfigure(errors='replace')  # what tests said may be any bytes
sys.exit(main(*sys.argv[1:]))
