"""--interactive on a terminal: editing, history, completion, ^C and ^D. usage: terminal.py JPROF PROGRAM DUMP BIG"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

jprof, program, dump, big = sys.argv[1:5]
PATIENCE = 60
checks = 0


class Session:
    def __init__(self, *arguments):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            os.environ["LC_ALL"] = "C"
            os.execv(jprof, [jprof, "-i", "--fold=none", *arguments])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        self.seen = ""

    def read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.seen += data.decode("utf-8", "replace")
        return bool(data)

    def text(self):
        """What a reader sees, nearly: without control sequences."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|[\r\x07]", "", self.seen)

    def wait(self, pattern, what):
        global checks
        checks += 1
        end = time.monotonic() + PATIENCE
        while not re.search(pattern, self.text(), re.S):
            if time.monotonic() > end or not self.read(end - time.monotonic()):
                sys.exit(f"FAIL: {what}: no {pattern!r} in {self.text()[-1500:]!r}")
        return re.search(pattern, self.text(), re.S)

    def forget(self):
        self.seen = ""

    def type(self, keys):
        """Once the line editor has the terminal: that comes a little after the prompt."""
        end = time.monotonic() + PATIENCE
        while termios.tcgetattr(self.fd)[3] & termios.ICANON and time.monotonic() < end:
            self.read(0.01)
        os.write(self.fd, keys.encode())

    def run(self, keys, pattern, what):
        """Types a line and waits for what it prints and the next prompt."""
        self.forget()
        self.type(keys)
        found = self.wait(pattern + r".*\(jprof\) $", what)
        self.forget()
        return found

    def end(self, what):
        global checks
        checks += 1
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.read(0.2)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                if status:
                    sys.exit(f"FAIL: {what}: status {status}: {self.text()[-800:]!r}")
                os.close(self.fd)
                return
        os.kill(self.pid, signal.SIGKILL)
        sys.exit(f"FAIL: {what}: it does not end: {self.text()[-800:]!r}")


s = Session(program, dump)
s.wait(r"Welcome to jprof!.*\(jprof\) $", "start")
s.run("top1\n", r"p_by_memalign.* Total\n", "a command")

# Completion: a command, a name, an option; several that are possible are shown.
s.run("pee\tp_by_cal\t\n", r"peek p_by_calloc .*100\.0% \|   p_work.*\| p_by_calloc", "completion of a command and of a name")
s.run("top1 --line\t\n", r"--lines .*parity\.c:\d+", "completion of an option")
s.forget()
s.type("list p_by_\t\t")
s.wait(r"p_by_calloc\s.*p_by_memalign\s.*p_by_realloc\s", "what is possible is shown")
s.run("me\t\n", r"ROUTINE =+ p_by_memalign", "completion goes on after that")
s.forget()
s.type("tr\t")
s.wait(r"\ntraces\s+tree\s.*\(jprof\) tr$", "several commands are shown")
s.run("aces > traces.txt\n", r"aces > traces\.txt\n", "a file")
if not open("traces.txt").read().startswith("Total: "):
    sys.exit("FAIL: traces.txt has no report")

# History: up twice, and an edit in the middle.
s.run("top2\n", r"Total", "top2")
s.run("top3\n", r"Total", "top3")
found = s.run("\x1b[A\x1b[A\n", r"flat%[^\n]*\n(.*) Total\n", "up, up")
rows = [line for line in found[1].splitlines() if "%" in line and " more " not in line]
if len(rows) != 2:
    sys.exit(f"FAIL: history gave {len(rows)} rows, not 2: {found[1]!r}")
s.run("\x1b[A\x1b[D\x1b[D\x1b[C\x7fp1\x0b\n", r"(Total|Unknown)", "editing")

# What is for a program needs a file.
for word in ("svg", "dot", "callgrind", "json"):
    s.run(f"{word}\n", f"jprof: {word} is for another program: give a file, {word} FILE\n", f"{word} on a terminal")
s.run("callgrind graph.cg\n", r"callgrind graph\.cg\n", "a report with a file")
if not open("graph.cg").read().startswith("# callgrind format"):
    sys.exit("FAIL: graph.cg has no report")

# ^C: at the prompt the line goes; the session stays.
s.forget()
s.type("peek rubbish\x03")
s.wait(r"\^C.*\(jprof\) $", "^C at the prompt")
s.run("top1\n", r"p_by_memalign.* Total\n", "after ^C")
if "rubbish" in s.text():
    sys.exit("FAIL: the line is still there")

# ^D ends it.
s.type("\x04")
s.end("^D")

# ^C while a long report is written: it stops, the session goes on.
s = Session(big)
s.wait(r"\(jprof\) $", "start of the big one")
s.forget()
s.type("traces\n")
s.wait(r"\+----", "the report has begun")
# Nothing is read now, so the writer waits.
os.kill(s.pid, signal.SIGINT)
s.wait(r"stopped.*\(jprof\) $", "^C in a report")
whole = len(s.seen)
s.run("top1\n", r" Total\n", "after that")
s.type("quit\n")
s.end("quit")
print(f"{checks} checks, stopped after {whole} bytes")
