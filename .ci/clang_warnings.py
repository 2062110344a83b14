"""What clang has against the sources of a build: those of compile_commands.json, with their definitions, folders and warnings.

usage: clang_warnings.py BUILDDIR"""
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

TAKEN = ('-D', '-U', '-I', '-W', '-std', '-isystem')


def compilations():
    """Options by file and definitions, so that a file that is compiled once more with the same definitions is read once."""
    found = {}
    with open('compile_commands.json') as f:
        for entry in json.load(f):
            options = [word for word in shlex.split(entry['command']) if word.startswith(TAKEN)]
            if entry['file'].endswith('.c'):
                found.setdefault((entry['file'], *(word for word in options if word.startswith('-D'))), options)
    return found


def findings(compilation):
    (path, *_), options = compilation
    command = ['clang', '-fsyntax-only', '-Werror', '-Wno-unknown-warning-option', *options, path]
    run = subprocess.run(command, capture_output=True, text=True)
    return run.stderr or ('' if run.returncode == 0 else f'{path}: status {run.returncode}')


os.chdir(sys.argv[1])
compiled = compilations()
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    said = [text for text in pool.map(findings, compiled.items()) if text]
print('\\n'.join([*said, f'{len(compiled)} compilations, {len(said)} with findings']))
sys.exit(1 if said or not compiled else 0)
