"""What jprof says on a terminal while it works for more than a second; elsewhere nothing; that it ends at once.
usage: progress.py JPROF HEAPS"""
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile

jprof, heaps = map(os.path.abspath, sys.argv[1:3])
dump = open(os.path.join(heaps, "hand-4.heap"), "rb").read()
END = b"<the end>"
PATIENCE = 120  # seconds, on whatever machine
failures = []


def check(good, text):
    if not good:
        failures.append(text)


# A shell that starts the program in the background of its terminal, and goes on.
SHELL = """import os, subprocess, sys
terminal = os.open(sys.argv[1], os.O_RDWR)
assert os.tcgetpgrp(terminal) == os.getpgrp()
sys.exit(subprocess.run(sys.argv[2:], stderr=terminal, preexec_fn=os.setpgrp).returncode)"""


class Slow:
    """jprof with a dump that is written when the test says so, and what its standard error got."""

    def __init__(self, *arguments, term="xterm", terminal=True, background=False):
        os.path.exists("slow.heap") or os.mkfifo("slow.heap")
        self.reader, self.writer = pty.openpty() if terminal else os.pipe()
        env = {**os.environ, "TERM": term, "LC_ALL": "C"}
        shell = [sys.executable, "-c", SHELL, os.ttyname(self.writer)] if background else []
        self.child = subprocess.Popen([*shell, jprof, *arguments, "slow.heap"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=self.writer, env=env, start_new_session=background)
        self.feed = open("slow.heap", "wb", buffering=0)  # when the program has opened it, too
        self.feed.write(dump[:100])
        self.seen = b""

    def wait_for(self, text, times=1):
        while self.seen.count(text) < times:
            if not select.select([self.reader], [], [], PATIENCE)[0]:
                self.child.kill()
                sys.exit(f"FAIL: no {text} but {self.seen}")
            self.seen += os.read(self.reader, 4096)

    def go_on(self):
        self.feed.write(dump[100:])
        self.feed.close()

    def end(self):
        """Exit status, report, and all that was written to standard error: the test holds its end open until then."""
        report = self.child.stdout.read()
        status = self.child.wait()
        os.write(self.writer, END)
        self.wait_for(END)
        self.feed.close()
        os.close(self.reader)
        os.close(self.writer)
        return status, report, self.seen[:-len(END)]


def quick_report():
    with open("quick.heap", "wb") as out:
        out.write(dump)
    return subprocess.run([jprof, "--text", "quick.heap"], stdin=subprocess.DEVNULL, capture_output=True, check=True)


def shows_and_takes_away(expected):
    slow = Slow("--text")
    slow.wait_for(b"reading slow.heap", 2)
    slow.go_on()
    status, report, said = slow.end()
    check(status == 0 and report == expected.stdout, f"another report: {status}, {report}")
    seconds = [int(n) for n in re.findall(rb"\r\x1b\[Kjprof: reading slow.heap, (\d+) s", said)]
    check(said.startswith(b"\r\x1b[Kjprof: reading") and seconds[0] >= 1 and seconds[1] > seconds[0], f"progress: {said}")
    left = said[said.rindex(b"\r\x1b[K") + len(b"\r\x1b[K"):].replace(b"\r\n", b"\n")
    check(left == expected.stderr.replace(b"quick", b"slow"), f"left on the terminal: {left}")


def silent(what, expected, **how):
    slow = Slow("--text", **how)
    try:
        slow.child.wait(2.5)
    except subprocess.TimeoutExpired:
        pass
    slow.go_on()
    status, report, said = slow.end()
    check(status == 0 and report == expected.stdout, f"{what}: another report: {status}, {report}")
    check(b"reading" not in said and b"\x1b" not in said, f"{what}: {said}")


def ends_at_once():
    before = sorted(os.listdir("."))
    slow = Slow("--text", "-o", "report")
    slow.wait_for(b"reading slow.heap")
    slow.child.send_signal(signal.SIGINT)
    status, report, _ = slow.end()
    check(status == -signal.SIGINT, f"^C: status {status}")
    check(sorted(os.listdir(".")) == before, f"^C left {sorted(os.listdir('.'))}, before {before}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    expected = quick_report()
    shows_and_takes_away(expected)
    silent("a pipe", expected, terminal=False)
    silent("a dumb terminal", expected, term="dumb")
    silent("in the background", expected, background=True)
    ends_at_once()
print("\n".join(failures) or "all is well")
sys.exit(bool(failures))
