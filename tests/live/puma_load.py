#!/usr/bin/env python3
"""A Puma cluster under load while it is restarted and snapped: nobody may notice.

usage: puma_load.py JPROF AGENT JEMALLOC [--snaps=N] [--rate=R] [--seconds=S] [--phased] [--without] [--no-restarts]
                    [--preload=both|jemalloc|none] [--grace=S] [--patience=S] [--unmended]

Starts Puma (two workers, preload_app unless --phased) with jemalloc and the agent, sends R requests a second over
loopback, each on a connection of its own, restarts it in a loop (hot, by USR2; phased, by USR1), and takes N
snaps meanwhile, for S seconds at least (none with --without). Every request must be answered with 200 and the right
body, the master must keep its pid, every restart must come to its end. A snap may say of the master or of a worker
that it went, but only of one that did, and during a restart. Each bundle must be whole, and nothing else be left, but
for whole dumps of workers that went before they could tell. No restart may take longer than the grace, after which
Puma kills a worker; --unmended leaves a fault in Puma up to 6.6 as it is, by which workers may hang in IO#close,
with nothing preloaded, and only counts those. Prints one line of figures. Exit status 1 with a line for each thing
that went wrong, and where the processes were then.
"""
import argparse
import asyncio
import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SETTLE = 20  # seconds in which a new process must have its agent
TICKS = os.sysconf("SC_CLK_TCK")
CONFIG = """
require 'json'
workers 2
threads 1, 4
bind 'tcp://127.0.0.1:%(port)d'
%(preload)s
worker_timeout 60
worker_shutdown_timeout %(grace)d
%(mend)s
LEAK = []
app do |env|
  n = env['QUERY_STRING'].to_i
  LEAK << ('x' * 600) if n %% 10 == 0
  LEAK.shift if LEAK.size > 20000
  body = JSON.generate('n' => n, 'text' => (1..40).map { |i| { 'i' => i, 's' => 'y' * i } })
  [200, { 'content-type' => 'application/json', 'content-length' => body.bytesize.to_s }, [body]]
end
"""


# github.com/puma/puma/issues/3677: the worker's IO#close may wait for ever for a signal handler's IO#<<. Only
# write_nonblock is not known to Ruby 3.3 as something to be waited for.
MEND = """
require 'puma/server'
Puma::Server.prepend(Module.new do
  private def notify_safely(message)
    @notify.write_nonblock(message)
  rescue IOError, SystemCallError, NoMethodError
    nil
  end
end)
"""


class Load:
    """R requests a second, each answered or complained about."""

    def __init__(self, port, rate):
        self.port, self.rate = port, rate
        self.latencies, self.faults = [], []
        self.again = 0
        self.stopping = False

    async def ask(self, n):
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(b"GET /?%d HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % n)
            reply = await reader.read(-1)
            writer.close()
            return reply
        except ConnectionResetError:
            return b""

    async def one(self, n):
        """As a proxy does it, again where the connection was closed without a byte: Puma does that when it restarts,
        the more the less CPU there is, with nothing preloaded."""
        began = time.monotonic()
        try:
            reply = await self.ask(n)
            for _ in range(3):
                if not reply:
                    self.again += 1
                    reply = await self.ask(n)
        except OSError as e:
            self.faults.append(f"request {n}: {e}")
            return
        if not reply.startswith(b"HTTP/1.1 200") or b'{"n":%d,' % n not in reply or not reply.endswith(b"}]}"):
            self.faults.append(f"request {n}: {reply[:60]!r}")
        self.latencies.append(time.monotonic() - began)

    async def run(self):
        tasks, n, began = set(), 0, time.monotonic()
        while not self.stopping:
            n += 1
            task = asyncio.create_task(asyncio.wait_for(self.one(n), 60))
            task.add_done_callback(lambda t, n=n: self.done(t, n, tasks))
            tasks.add(task)
            await asyncio.sleep(max(0, began + n / self.rate - time.monotonic()))
        await asyncio.gather(*list(tasks), return_exceptions=True)

    def done(self, task, n, tasks):
        tasks.discard(task)
        if task.exception():
            self.faults.append(f"request {n}: {task.exception()!r}")

    def quantile(self, share):
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000 if ordered else float("nan")


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            return [int(word) for word in f.read().split()]
    except OSError:
        return []


def answers(port):
    async def ask():
        load = Load(port, 1)
        await load.one(1)
        return not load.faults
    return asyncio.run(ask())


async def wait_until(test, seconds, what, faults):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if test():
            return True
        await asyncio.sleep(0.05)
    faults.append(f"timed out: {what}")
    return False


def booted(text, hot):
    """Has all that was to come after a signal come? The master has its traps before it has workers."""
    return (not hot or "Restarting..." in text) and all(re.search(rf"- Worker {i} \(PID: \d+\) booted", text)
                                                        for i in (0, 1))


async def restarts(args, master, log, faults, counts):
    """One restart after the other, each only once the last is over."""
    hot = not args.phased
    while not counts["over"]:
        before, old = len(log_text(log)), set(children(master.pid))
        began = time.monotonic()
        counts["windows"].append([began, float("inf")])
        os.kill(master.pid, signal.SIGUSR2 if hot else signal.SIGUSR1)
        over = lambda: (booted(log_text(log)[before:], hot) and len(children(master.pid)) == 2
                        and not old & set(children(master.pid)))
        if not await wait_until(over, args.patience, f"restart {counts['restarts']}", faults):
            counts["where"] = where_are(master.pid)
            return
        counts["windows"][-1][1] = time.monotonic() + SETTLE
        counts["restarts"] += 1
        counts["stalled"] += time.monotonic() - began > args.grace
        await asyncio.sleep(0.5)


def where_are(master):
    """What each thread of the cluster is in; by gdb where that is there."""
    lines = []
    for pid in [master] + children(master):
        for task in sorted(glob.glob(f"/proc/{pid}/task/*")):
            try:
                words = [open(f"{task}/{name}").read().strip() for name in ("comm", "wchan", "syscall")]
                lines.append(f"{pid} {os.path.basename(task)} {' '.join(words)}")
            except OSError as e:
                lines.append(f"{task}: {e}")
        if shutil.which("gdb"):
            shown = subprocess.run(["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt 30"],
                                   stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
            lines += [line for line in shown.stdout.splitlines() if line.startswith(("#", "Thread"))]
    return "\n".join(lines)


def log_text(log):
    with open(log) as f:
        return f.read()


def age(pid):
    """Seconds since a process began; None where there is none."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / TICKS


def is_excused(line, master, began, windows):
    """May snap refuse this process? It is the master, is going or gone, or is new, and a restart goes on."""
    named = re.match(r"jprof: process (\d+): ", line)
    if not any(start < time.monotonic() and end > began for start, end in windows):
        return False
    if not named:
        return line.startswith("jprof: ")
    pid = int(named.group(1))
    return pid == master.pid or pid not in children(master.pid) or age(pid) is None or age(pid) < SETTLE


async def snap(args, master, where, label):
    """Its exit status and what it had to complain of: the line with the next command is none."""
    process = await asyncio.create_subprocess_exec(
        args.jprof, "snap", f"--puma={master.pid}", f"--label={label}", "-o", where,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = (await process.communicate())[1].decode(errors="replace").splitlines()
    return process.returncode, [line for line in said if not re.search(r"\bnext: jprof ", line)]


async def snaps(args, master, where, faults, counts):
    i, end = 0, time.monotonic() + args.seconds
    while (i < args.snaps or time.monotonic() < end) and master.poll() is None and "where" not in counts:
        began = time.monotonic()
        status, said = await snap(args, master, where, f"s{i}")
        counts["whole"] += status == 0
        counts["refused"] += status == 1
        if status not in (0, 1) or (status == 1 and not said):
            faults.append(f"snap {i}: status {status}: {said[:3]}")
        for line in said:
            counts["said"].add(re.sub(r"\d+", "N", line)[:150])
            if not is_excused(line, master, began, counts["windows"]):
                faults.append(f"snap {i}: {line[:300]}")
        i += 1


async def last_snap(args, master, where, faults, counts):
    """Once nothing is restarted any more all is well again."""
    said, end = [], time.monotonic() + SETTLE
    while time.monotonic() < end and master.poll() is None:
        status, said = await snap(args, master, where, "last")
        if status == 0 and not said:
            counts["whole"] += 1
            return
    faults.append(f"after the restarts: {said[:3]}")


async def session(args, master, log, where, load, faults, counts):
    running = asyncio.create_task(load.run())
    restarting = None
    if not args.no_restarts:
        restarting = asyncio.create_task(restarts(args, master, log, faults, counts))
    if args.without:
        await asyncio.sleep(args.seconds)
    else:
        await snaps(args, master, where, faults, counts)
    counts["over"] = True
    if restarting:
        await restarting
    if not args.without:
        await last_snap(args, master, where, faults, counts)
    load.stopping = True
    await running


def environment(args, tmp):
    env = dict(os.environ, RACK_ENV="production", LC_ALL="C")
    if args.preload != "none":
        env["LD_PRELOAD"] = args.jemalloc if args.preload == "jemalloc" else args.agent + ":" + args.jemalloc
        env["MALLOC_CONF"] = f"prof:true,prof_active:true,lg_prof_sample:17,prof_prefix:{tmp}/dumps/app"
    return env


def start(args, tmp, port):
    config = os.path.join(tmp, "puma.rb")
    with open(config, "w") as f:
        f.write(CONFIG % {"port": port, "preload": "" if args.phased else "preload_app!", "grace": args.grace,
                          "mend": "" if args.unmended else MEND})
    os.mkdir(os.path.join(tmp, "dumps"))
    log = os.path.join(tmp, "log")
    with open(log, "w") as out:
        return subprocess.Popen(["puma", "-C", config], stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                                env=environment(args, tmp)), log


def check_bundles(args, where, counts, faults):
    bundles = glob.glob(os.path.join(where, "*.jprof"))
    others = [name for name in os.listdir(where) if not name.endswith(".jprof")]
    if len(bundles) < counts["whole"]:
        faults.append(f"{counts['whole']} snaps said that all went well, {len(bundles)} bundles are there")
    if others:
        faults.append(f"left beside the bundles: {others[:3]}")
    for bundle in bundles:
        shown = subprocess.run([args.jprof, "info", bundle], capture_output=True, text=True)
        if shown.returncode != 0:
            faults.append(f"{bundle}: {shown.stderr[-1500:]}")


def is_whole(path):
    with open(path) as f:
        return "MAPPED_LIBRARIES" in f.read() and os.path.exists(path + ".json")


def check_leftovers(args, tmp, counts, faults):
    """The next agent takes away what the killed left; then there may be whole dumps alone, of those that went."""
    dumps = os.path.join(tmp, "dumps")
    if args.preload == "both":
        subprocess.run(["ruby", "-e", "sleep 1"], env=environment(args, tmp), check=True)
    left = os.listdir(dumps)
    heaps = [name for name in left if name.endswith(".heap")]
    others = [name for name in left if not name.endswith((".heap", ".heap.json"))]
    if others or len(heaps) > 3 * counts["refused"] or not all(is_whole(os.path.join(dumps, name)) for name in heaps):
        faults.append(f"left of {counts['refused']} refused: {sorted(left)[:9]}")


def parse():
    parser = argparse.ArgumentParser()
    for word in ("jprof", "agent", "jemalloc"):
        parser.add_argument(word)
    parser.add_argument("--snaps", type=int, default=10)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--grace", type=int, default=20)
    parser.add_argument("--patience", type=float, default=90)
    parser.add_argument("--without", action="store_true")
    parser.add_argument("--unmended", action="store_true")
    parser.add_argument("--phased", action="store_true")
    parser.add_argument("--no-restarts", action="store_true")
    parser.add_argument("--preload", choices=["both", "jemalloc", "none"], default="both")
    return parser.parse_args()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def end(master, faults):
    workers = children(master.pid)
    master.terminate()
    try:
        master.wait(60)
    except subprocess.TimeoutExpired:
        faults.append("the master did not end when told to")
        for pid in workers + [master.pid]:
            os.kill(pid, signal.SIGKILL)


def is_up(master, port):
    return len(children(master.pid)) == 2 and answers(port)


def run(args, tmp, faults):
    where = os.path.join(tmp, "bundles")
    os.mkdir(where)
    port = free_port()
    counts = {"whole": 0, "refused": 0, "restarts": 0, "stalled": 0, "over": False, "said": set(), "windows": []}
    master, log = start(args, tmp, port)
    load = Load(port, args.rate)
    try:
        until = time.monotonic() + 60
        while not is_up(master, port) and time.monotonic() < until:
            time.sleep(0.2)
        asyncio.run(session(args, master, log, where, load, faults, counts))
        if counts["stalled"] and not args.unmended:
            faults.append(f"{counts['stalled']} restarts stalled")
        if master.poll() is not None:
            faults.append(f"the master ended: {master.returncode}")
    finally:
        end(master, faults)
    check_bundles(args, where, counts, faults)
    check_leftovers(args, tmp, counts, faults)
    faults += load.faults
    if load.again > max(10, len(load.latencies) // 50):
        faults.append(f"{load.again} requests were closed without a byte")
    print(f"{len(load.latencies)} requests, {load.again} asked again, p50 {load.quantile(0.5):.1f} ms, "
          f"p99 {load.quantile(0.99):.1f} ms, max {load.quantile(1):.1f} ms, {counts['restarts']} restarts, "
          f"{counts['stalled']} of them stalled, {counts['whole']} snaps, "
          f"{counts['refused']} refused")
    for line in sorted(counts["said"]):
        print("    said:", line)
    if faults:
        print(log_text(log)[-3000:], counts.get("where", ""), sep="\n")


def main():
    args = parse()
    for program in ("puma", "ruby"):
        if not shutil.which(program):
            print(f"no {program} here")
            return 77
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that nothing is left
    tmp, faults = tempfile.mkdtemp(), []
    try:
        run(args, tmp, faults)
    finally:
        shutil.rmtree(tmp, ignore_errors=True)
    for fault in faults[:20]:
        print("FAIL:", fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
