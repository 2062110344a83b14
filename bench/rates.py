#!/usr/bin/env python3
"""What a sampling rate costs a Ruby that answers requests, and how far a number is off: the table in docs/internals/measurements.md.

usage: rates.py JPROF [ROUNDS [LG...]]

Each round starts a Puma of one thread once without profiling (the same jemalloc, prof:false) and once for each rate, under
`jprof run`, in random order, and asks it for the same pages of JSON and HTML. Of each one line keeps 10 MB in strings of 3000 bytes.
CPU, user and system, and resident memory are the server's. Printed are medians over the rounds, of the ratio to the same
round's run without profiling, and between the lowest and the highest. Packages: puma, ruby-nokogiri, libjemalloc2.
"""
import glob
import http.client
import os
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

APP = """
require "fiddle"
require "json"
require "nokogiri"
KEPT = []
PAGE = "<html><body>" + (1..200).map { |i| "<p class='n#{i}'>line #{i}</p>" }.join + "</body></html>"
MALLCTL = Fiddle::Function.new(Fiddle::Handle::DEFAULT["mallctl"], [Fiddle::TYPE_VOIDP] * 4 + [Fiddle::TYPE_SIZE_T], Fiddle::TYPE_INT)

def allocated
  value = [0].pack("Q")
  MALLCTL.call("thread.allocated", value, [8].pack("Q"), nil, 0)
  value.unpack1("Q")
end

def keep(count)
  count.times { KEPT << ("x" * 3000) } # the line
end

run lambda { |env|
  count = env["QUERY_STRING"].to_i
  body = case env["PATH_INFO"]
         when "/json" then JSON.generate(Array.new(count) { |i| { "id" => i, "name" => "row #{i}", "text" => "text of row #{i} " * 4 } })
         when "/html" then Nokogiri::HTML(PAGE).css("p").first(count).map(&:text).join
         when "/keep" then keep(count).to_s
         when "/allocated" then allocated.to_s
         else "up"
         end
  [200, { "content-type" => "text/plain", "content-length" => body.bytesize.to_s }, [body]]
}
"""
LINE = 1 + [i for i, text in enumerate(APP[1:].split("\n")) if "# the line" in text][0]
KEPT_COUNT, KEPT_CLASS = 3256, 3072  # 10 MB in jemalloc's size class
REQUESTS = 250
OFF = 0


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    def __init__(self, jprof, jemalloc, work, lg):
        port = free_port()
        env = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "MALLOC_CONF", "JPROF_AGENT")}
        argv = ["puma", "--quiet", "-t", "1:1", "-b", f"tcp://127.0.0.1:{port}", "config.ru"]
        if lg == OFF:
            env.update(LD_PRELOAD=jemalloc, MALLOC_CONF="prof:false")
        else:
            argv = [jprof, "run", f"--sample={lg}", f"--dir={work}", f"--jemalloc={jemalloc}", "--require", "--", *argv]
        self.process = subprocess.Popen(argv, cwd=work, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            try:
                self.connection = http.client.HTTPConnection("127.0.0.1", port)
                self.ask("/")
                return
            except OSError:
                if self.process.poll() is not None:
                    sys.exit(f"{argv}: ended")
                time.sleep(0.1)
        sys.exit(f"{argv}: nobody answers")

    def ask(self, path):
        self.connection.request("GET", path)
        return self.connection.getresponse().read()

    def cpu(self):
        fields = open(f"/proc/{self.process.pid}/stat").read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self):
        return int(re.search(r"VmRSS:\s*(\d+)", open(f"/proc/{self.process.pid}/status").read()).group(1)) * 1024

    def stop(self):
        self.process.terminate()
        self.process.wait()


def work_of(server):
    for i in range(REQUESTS):
        server.ask("/json?2000")
        server.ask("/html?200")


def flat_of(jprof, work, server):
    """What jprof says of the line that keeps memory: bytes and their standard error."""
    snapshot = os.path.join(work, "keep.jprof")
    subprocess.run([jprof, "snap", "--gc", str(server.process.pid), "-o", snapshot], check=True, stderr=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL)
    report = subprocess.run([jprof, "--show_bytes", "--errors", snapshot], check=True, capture_output=True, text=True).stdout
    os.unlink(snapshot)
    row = re.search(rf"^\s*(\d+).*config\.ru:{LINE}\b.*flat \+-(\d+)", report, re.M)
    return (int(row.group(1)), int(row.group(2))) if row else (0, 0)


def measure(jprof, jemalloc, work, lg):
    server = Server(jprof, jemalloc, work, lg)
    try:
        work_of(server)  # warm
        began, allocated = server.cpu(), int(server.ask("/allocated"))
        work_of(server)
        cpu, allocated = server.cpu() - began, int(server.ask("/allocated")) - allocated
        server.ask(f"/keep?{KEPT_COUNT}")
        resident = server.resident()
        flat, error = flat_of(jprof, work, server) if lg != OFF else (0, 0)
    finally:
        server.stop()
    return {"cpu": cpu, "allocated": allocated, "resident": resident, "flat": flat, "error": error}


def spread(values, form):
    return f"{form(statistics.median(values))} ({form(min(values))} to {form(max(values))})"


def main():
    jprof = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    rates = [int(word) for word in sys.argv[3:]] or [12, 14, 15, 16, 17, 18, 19, 20, 22]
    jemalloc = glob.glob("/usr/lib/*/libjemalloc.so.2")[0]
    random.seed(1)
    got = {lg: [] for lg in [OFF, *rates]}
    with tempfile.TemporaryDirectory() as work:
        with open(f"{work}/config.ru", "w") as f:
            f.write(APP[1:])
        for _ in range(rounds):
            for lg in random.sample(list(got), len(got)):
                got[lg].append(measure(jprof, jemalloc, work, lg))
    off, truth = got[OFF], KEPT_COUNT * KEPT_CLASS
    print(f"{rounds} rounds; without profiling {spread([r['cpu'] for r in off], '{:.2f}'.format)} s of CPU, "
          f"{statistics.median(r['allocated'] / r['cpu'] for r in off) / 1e6:.0f} MB allocated in a second of it, "
          f"{spread([r['resident'] / 1e6 for r in off], '{:.0f}'.format)} MB resident; load {os.getloadavg()[0]:.1f}")
    print("| lg_prof_sample | CPU | MB more resident | 10 MB of a line: off by | standard error of it |\n| --- | --- | --- | --- | --- |")
    for lg in rates:
        cpu = [100 * (on["cpu"] / without["cpu"] - 1) for on, without in zip(got[lg], off)]
        more = [(on["resident"] - without["resident"]) / 1e6 for on, without in zip(got[lg], off)]
        print(f"| {lg} | {spread(cpu, '{:+.1f}'.format)} % | {spread(more, '{:.1f}'.format)} | "
              f"{spread([100 * abs(on['flat'] - truth) / truth for on in got[lg]], '{:.1f}'.format)} % | "
              f"{statistics.median(100 * on['error'] / truth for on in got[lg]):.1f} % |")


main()
