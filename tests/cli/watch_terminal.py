"""jprof watch on pseudo terminals: what it shows, that it fits, how it ends, and that the terminal is as it was.
usage: watch_terminal.py JPROF PID LINE   the process PID grows at LINE of grow.rb"""
import fcntl
import os
import pty
import re
import resource
import select
import signal
import struct
import subprocess
import sys
import termios
import time

jprof, pid, line = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
checks = failures = 0
FRAME, BACK = b"\x1b[H\x1b[2J", b"\x1b[?7h\x1b[?25h"


def check(good, what, shown=b""):
    global checks, failures
    checks += 1
    if not good:
        failures += 1
        print(f"FAIL: {what}\n    " + repr(shown[-1500:]))


class Terminal:
    """jprof watch in the foreground of a terminal of its own."""

    def __init__(self, lines, columns, *arguments):
        self.child, self.master = pty.fork()
        if not self.child:
            os.environ.update(TERM="vt100", LC_ALL="C")
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)  # whoever runs the test in the background may ignore them
            time.sleep(0.2)  # until the size is set
            os.execv(jprof, [jprof, "watch", *arguments])
        self.text = b""
        self.resize(lines, columns)
        self.before = termios.tcgetattr(self.master)

    def resize(self, lines, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read_until(self, what, frames=0):
        """Until there are so many frames, and the last, whole or not, is like that; 100 s at most."""
        end = time.monotonic() + 100
        while time.monotonic() < end and not (self.text.count(FRAME) >= frames and re.search(what, self.frame(), re.S)):
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    piece = os.read(self.master, 65536)
                except OSError:
                    return False
                if not piece:
                    return False
                self.text += piece
        return self.text.count(FRAME) >= frames and bool(re.search(what, self.frame(), re.S))

    def frame(self):
        return self.text.rpartition(FRAME)[2]

    def ends(self, how, *wanted):
        """It ends with status 0, or one of those (-N: by the signal N), and the terminal is as before."""
        self.read_until(rb"\x1b\[\?25h.*never")
        status = os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])
        check(status in (wanted or (0,)), f"{how}: status {status}", self.text)
        check(BACK in self.text, f"{how}: the cursor is not shown again", self.text)
        check(termios.tcgetattr(self.master) == self.before, f"{how}: the terminal is not as it was")
        os.close(self.master)


def lines_of(frame):
    return re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", frame).replace(b"\r", b"").split(b"\n")


GREW = rf"grow\.rb:{line}.*all of malloc".encode()
wide = Terminal(24, 80, "--every=0.5s", "--gc", "--color=always", pid)
check(wide.read_until(GREW + rb".*not in the profile[^\n]*\n"), "80x24: no growth", wide.text)
shown = lines_of(wide.frame())
check(len(shown) <= 24, f"80x24: {len(shown)} lines", wide.frame())
check(re.match(rf"process {pid}, every 0\.5 seconds: \d+ snapshots since \d\d:\d\d:\d\d; q quits$".encode(), shown[0]),
      "80x24: the first line", shown[0])
check(any(re.match(rb"1  (GROWING|LEAK SUSPECT|MAYBE GARBAGE)", text) for text in shown[:7]), "80x24: no suspect", wide.frame())
check(b"symbols" not in wide.text and b": dump " not in wide.text, "progress of snap in the picture", wide.text)
check(b"Next:" not in wide.frame(), "files are named that there are not", wide.frame())
check(termios.tcgetattr(wide.master)[3] & (termios.ECHO | termios.ICANON) == 0, "keys are shown")
wide.resize(12, 40)
check(wide.read_until(rb"q quits", wide.text.count(FRAME) + 3), "12x40: nothing is shown", wide.text)
small = wide.text.split(FRAME)[-2]
check(len(lines_of(small)) <= 13 and lines_of(small)[0].startswith(b"process"), "12x40: too many lines", small)
os.write(wide.master, b"xq")
wide.ends("q")

for how, end in (("^C", lambda t: os.write(t.master, b"\x03")), ("TERM", lambda t: os.kill(t.child, signal.SIGTERM)),
                 ("^D", lambda t: os.write(t.master, b"\x04"))):
    terminal = Terminal(24, 80, "--every=1m", pid)
    check(terminal.read_until(rb"after the second snapshot"), f"{how}: no first snapshot", terminal.text)
    terminal.resize(30, 100)
    check(terminal.read_until(rb"after the second", 2), f"{how}: not shown again in a new size", terminal.text)
    end(terminal)
    terminal.ends(how)

core = Terminal(24, 80, "--every=1m", pid)
check(core.read_until(rb"after the second snapshot"), "^\\: no first snapshot", core.text)
os.write(core.master, b"\x1cq")
core.ends("^\\, then q")
core = Terminal(24, 80, "--every=1m", pid)
check(core.read_until(rb"after the second snapshot"), "QUIT: no first snapshot", core.text)
os.kill(core.child, signal.SIGQUIT)
core.ends("QUIT", -signal.SIGQUIT)

# Two in a row while the process does not answer; where the machine is slow the first one ends it, or they are one.
for key, number in ((b"\x03", signal.SIGINT), (None, signal.SIGTERM), (None, signal.SIGHUP)):
    os.kill(int(pid), signal.SIGSTOP)
    waiting = Terminal(24, 80, "--every=1m", pid)
    check(waiting.read_until(rb"\x1b\[\?25l"), f"two of {number.name}: it does not begin", waiting.text)
    time.sleep(0.2)
    for _ in range(2):
        if key:
            os.write(waiting.master, key)
        else:
            os.kill(waiting.child, number)
        time.sleep(0.05)
    waiting.ends(f"two of {number.name}", -number, 1)
    os.kill(int(pid), signal.SIGCONT)

short = Terminal(24, 80, "--every=0.3s", "--max-memory=4M", pid)
check(short.read_until(rb"needs more memory.*as --max-memory\s+says"), "it takes no more than 4 MB", short.text)
short.ends("--max-memory", 1)

last = Terminal(24, 80, "--every=0.3s", pid)
check(last.read_until(rb"after the second snapshot"), "no first snapshot", last.text)
os.kill(int(pid), signal.SIGKILL)
check(last.read_until(rf"jprof: process {pid} has\s+ended,\s+after\s+\d+\s+snapshots?".encode()), "it does not say that the process has ended",
      last.text)
last.ends("the end of the process")
gone = subprocess.run([jprof, "watch", pid], capture_output=True, stdin=subprocess.DEVNULL)
check(gone.returncode == 1 and b"there is no such process" in gone.stderr, "a process that is not there", gone.stderr)
print(f"{checks} checks, {failures} failures")
sys.exit(failures > 0)
