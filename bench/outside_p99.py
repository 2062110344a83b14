#!/usr/bin/env python3
"""Whether reading a Puma from outside delays its requests: p99 with `jprof explain PID` and without, in pairs.

usage: outside_p99.py JPROF JEMALLOC [PAIRS [SECONDS [ARGUMENT...]]]   (needs puma; ARGUMENT: also given to explain)

As root the Puma and its clients get a higher priority (nice -15), for other load on the machine is not what is measured.
One Puma of 5 threads under jemalloc serves a Rack app that keeps 100 MB of Strings and makes some 300 objects a request, to 4
clients that ask 100 times a second together, at fixed times: who waits is late for the next, and that counts. A pair is two
windows of SECONDS in random order, with an explain, a second, and so on in one of them. Printed are the p99 of both, the median of the ratios
and its 95 % interval (bootstrap).
"""
import http.client
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

APP = """require "json"
KEPT = Array.new(500_000) { |i| "kept string number #{i} " * 6 }
run lambda { |env|
  text = JSON.generate((1..60).to_h { |i| ["key #{i}", "value " * 20] })
  [200, { "content-type" => "text/plain" }, [JSON.parse(text).size.to_s]]
}
"""
RATE, CLIENTS = 100, 4


def ask(port, until, first, times):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    step = CLIENTS / RATE
    due = time.monotonic() + first * step / CLIENTS
    while due < until:
        time.sleep(max(0, due - time.monotonic()))
        connection.request("GET", "/")
        connection.getresponse().read()
        times.append(time.monotonic() - due)
        due += step


def window(port, seconds, command):
    """p99 of the requests in it, in seconds."""
    reader = subprocess.Popen(["sh", "-c", 'renice -n 0 -p $$ >/dev/null; while :; do "$@" >/dev/null 2>&1; sleep 1; done', "sh", *command]) if command else None
    until, times = time.monotonic() + seconds, []
    clients = [threading.Thread(target=ask, args=(port, until, i, times)) for i in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    if reader:
        reader.kill()
        reader.wait()
    return sorted(times)[int(len(times) * 0.99)]


def interval(ratios, draws=4000):
    medians = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(draws))
    return medians[int(0.025 * draws)], medians[int(0.975 * draws)]


def start(jemalloc, directory):
    with open(os.path.join(directory, "config.ru"), "w", encoding="utf-8") as file:
        file.write(APP)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    puma = subprocess.Popen(["puma", "-t", "5:5", "-b", f"tcp://127.0.0.1:{port}"], cwd=directory, stdout=subprocess.DEVNULL,
                            env=dict(os.environ, LD_PRELOAD=jemalloc))
    for _ in range(300):
        with socket.socket() as s:
            if not s.connect_ex(("127.0.0.1", port)):
                return puma, port
        time.sleep(0.1)
    sys.exit("puma did not start")


def main():
    usual = os.nice(0)
    if not os.geteuid():
        os.nice(-15 - usual)
    jprof, jemalloc = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    pairs, seconds = (int(sys.argv[i]) if len(sys.argv) > i else usual for i, usual in ((3, 20), (4, 6)))
    with tempfile.TemporaryDirectory() as directory:
        puma, port = start(jemalloc, directory)
        command = [jprof, "explain", *sys.argv[5:], str(puma.pid)]
        alone, read = [], []
        try:
            window(port, seconds, command)
            for _ in range(pairs):
                for arm in random.sample((0, 1), 2):
                    (alone, read)[arm].append(window(port, seconds, command if arm else None))
        finally:
            puma.kill()
            puma.wait()
    ratios = [b / a for a, b in zip(alone, read)]
    low, high = interval(ratios)
    print(f"p99 {statistics.median(alone) * 1000:.1f} ms alone, {statistics.median(read) * 1000:.1f} ms while it is read, "
          f"x {statistics.median(ratios):.3f} [{low:.3f}, {high:.3f}], {pairs} pairs")


main()
