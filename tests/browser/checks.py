"""What the tests in a browser share: the program and the checkout, which are the first two arguments, and what failed."""
import os
import subprocess
import sys

jprof, root = map(os.path.abspath, sys.argv[1:3])
failures = 0


def check(good, text):
    global failures
    if not good:
        failures += 1
        print("FAIL:", text)


def run(*arguments):
    done = subprocess.run([jprof, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    if done.returncode:
        sys.exit(f"jprof {arguments} failed: " + done.stderr.decode(errors="replace")[:2000])
    return done.stdout


def finish():
    print("failed:", failures)
    sys.exit(failures > 0)
