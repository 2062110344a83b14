#!/usr/bin/env python3
"""Memory that is short for commands about live processes, as short_memory.py has it for files: one allocation of snap,
watch, serve or explain fails, another one in each run. A command ends by no signal; it answers as with all memory, or says
why not; where it fails it leaves no file. The process that it asks lives on, and so does serve after a request that failed.
Of a command's allocations a few are tried, spread over all of them; with JPROF_SWEEP=N so many.
usage: short_memory_live.py JPROF FAILNTH.so AGENT.so [COMMAND...]"""
import glob
import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from short_memory import REASONS

jprof, failnth, agent = (os.path.abspath(path) for path in sys.argv[1:4])
runs = int(os.environ.get("JPROF_SWEEP") or 4)
APP = """
class Order; def initialize = @lines = Array.new(50) { |i| "line #{i} of an order, and what else it says" }; end
$orders = Array.new(2000) { Order.new }
$bodies = Array.new(2000) { "x" * 3000 }
GC.start
File.write("ready", "")
sleep
"""
# {} stands for the process: with the agent, or as nobody prepared it.
WITH_AGENT = {
    "snap": ["snap", "{}", "-o", "out.jprof"],
    "snap-gc": ["snap", "--gc", "--symbols=later", "{}", "-o", "out.jprof"],
    "watch": ["watch", "--every=1s", "--count=2", "{}"],
    "serve": ["serve", "--pid={}", "--listen=unix:socket"],
    "explain": ["explain", "{}"],
}
UNPREPARED = {
    "outside": ["explain", "{}"],
    "unreachable": ["explain", "--unreachable", "{}"],
    "outside-snap": ["snap", "--referrers", "--unreachable", "{}", "-o", "out.jprof"],
}


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=120)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(120)
        self.sock.connect(self.path)


def skip(why):
    print(why)
    sys.exit(77)


def start(there, preload, conf):
    """A Ruby at rest that holds some objects and 6 MB of malloc's memory."""
    with open(f"{there}/app.rb", "w", encoding="ascii") as file:
        file.write(APP)
    env = dict(os.environ, LD_PRELOAD=preload, MALLOC_CONF=conf)
    process = subprocess.Popen(["ruby", "app.rb"], cwd=there, env=env, stdin=subprocess.DEVNULL)
    for _ in range(2400):
        if os.path.exists(f"{there}/ready"):
            return process
        if process.poll() is not None:
            break
        time.sleep(0.05)
    sys.exit("the Ruby did not start")


def ask(there):
    """What serve answers: None where the connection was ended, which is no answer; else the status and the length."""
    link = Unix(f"{there}/socket")
    try:
        link.request("GET", "/debug/pprof/heap")
        reply = link.getresponse()
        return reply.status, len(reply.read())
    except (OSError, http.client.HTTPException):
        return None
    finally:
        link.close()


def run_serve(words, there, env):
    """The request that may fail, and one more: serve must answer that, if it began to serve."""
    process = subprocess.Popen([jprof, *words], cwd=there, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said = process.stdout.readline()
    answers = [ask(there), ask(there)] if said else []
    if said:
        process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=120)
    status = 0 if process.returncode in (0, -signal.SIGTERM) else process.returncode
    return status, str([answer and answer[0] for answer in answers]), (said + out + err).decode(errors="replace")


def rows_of(path):
    """What a bundle is worth: its functions of 100 KB and more, by name, and what is said of it."""
    got = subprocess.run([jprof, "--text", path], env=dict(os.environ, JPROF_CACHE=""), capture_output=True, timeout=120, check=False)
    rows = [line.split()[-1] for line in got.stdout.decode(errors="replace").splitlines() if re.match(r" +0?[1-9][0-9.]* ", line)]
    return f"status {got.returncode}: {sorted(rows)}", got.stderr.decode(errors="replace")


def steady(name, text):
    """What each run says, with no figures: of watch its heads, for what grew is another thing each time. Rows of less than
    0.2 MB, and what is not explained, come and go; the process grows older."""
    lines = {re.sub(r"[-+±]?[0-9][0-9.:,]*", "N", re.sub("up (for )?[^:;,]*", "up", line)).strip() for line in text.splitlines()
             if not re.match(r" +-?0[.][01] ", line) and "not explained" not in line}
    return {line for line in lines if name != "watch" or line.startswith("process ")}


def run(name, words, pid, nth):
    """The exit status, what was printed or is in the bundle, what was said of it, files left, allocations asked for."""
    there, count = tempfile.mkdtemp(), tempfile.mktemp(prefix="jprof-count-")
    env = dict(os.environ, LD_PRELOAD=failnth, FAIL_NTH=str(nth), FAIL_COUNT=count, JPROF_CACHE="", TMPDIR=there, HOME=there,
               LC_ALL="C.UTF-8")
    words = [word.replace("{}", str(pid)) for word in words]
    try:
        if name == "serve":
            status, out, err = run_serve(words, there, env)
        else:
            got = subprocess.run([jprof, *words], cwd=there, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
                                 check=False)
            status, out, err = got.returncode, got.stdout.decode(errors="replace"), got.stderr.decode(errors="replace")
        left = sorted(os.listdir(there))
        if "out.jprof" in left:
            out, notes = rows_of(f"{there}/out.jprof")
            err += notes
        asked = 0
        if os.path.exists(count):
            with open(count, encoding="ascii") as file:
                asked = int(file.read())
            os.unlink(count)
    finally:
        shutil.rmtree(there)
    return status, out, err, left, asked


def what_is_wrong(name, now, whole, before):
    """`whole` and `before` had all memory; what both say has to be said."""
    status, out, err, left, _ = now
    why = any(reason in line for line in (err + out).splitlines() if line not in (whole[2] + whole[1]).splitlines()
              for reason in REASONS)
    if status < 0:
        return f"signal {-status}"
    if status not in (0, 1, 2):
        return f"status {status}"
    if status != whole[0] and left:
        return f"status {status}, and files are left: {left}"
    if status == whole[0] and left != whole[3]:
        return f"status {status}, and these files are there: {left}"
    lost = (steady(name, whole[1]) & steady(name, before[1])) - steady(name, out)
    if (status != whole[0] or lost) and not why:
        return f"status {status} without a reason; not said: {sorted(lost)[:3]}"
    return None


def judge(name, words, pid, counts):
    before, whole = run(name, words, pid, 0), run(name, words, pid, 0)
    if whole[0] != 0 or not whole[4]:
        sys.exit(f"{name}: status {whole[0]}, {whole[4]} allocations with all memory: {whole[2]}")
    asked = whole[4]
    for nth in sorted({1 + i * asked // runs for i in range(runs)} | {asked - 1, asked}):
        now = run(name, words, pid, nth)
        wrong = what_is_wrong(name, now, whole, before)
        if name == "serve" and "None" in now[1].split(",")[-1]:
            wrong = "no answer to the request after the one that failed"
        counts["runs"] += 1
        if wrong:
            counts["wrong"] += 1
            print(f"WRONG {name}, allocation {nth} of {asked}: {wrong}: {now[2].strip()[-200:]}", flush=True)


def main():
    counts = {"runs": 0, "wrong": 0}
    jemalloc = next(iter(glob.glob("/usr/lib/*/libjemalloc.so.2")), None)
    if not jemalloc or not shutil.which("ruby"):
        skip("no ruby, or no libjemalloc.so.2 here (Debian: ruby, libjemalloc2)")
    for commands, preload, conf in ((WITH_AGENT, f"{jemalloc}:{agent}", "prof:true,lg_prof_sample:14,prof_prefix:{}/dump"),
                                    (UNPREPARED, jemalloc, "narenas:2")):
        asked_for = [name for name in sys.argv[4:] or commands if name in commands]
        if not asked_for:
            continue
        there = tempfile.mkdtemp()
        process = start(there, preload, conf.replace("{}", there))
        try:
            for name in asked_for:
                judge(name, commands[name], process.pid, counts)
            if process.poll() is not None:
                print(f"WRONG: the process ended with {process.returncode}")
                counts["wrong"] += 1
            if dumps := [name for name in os.listdir(there) if name not in ("app.rb", "ready")]:
                print(f"WRONG: left beside the process: {dumps}")
                counts["wrong"] += 1
        finally:
            process.kill()
            process.wait()
            shutil.rmtree(there)
    print(", ".join(f"{key}: {n}" for key, n in counts.items()))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
