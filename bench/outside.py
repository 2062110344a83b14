#!/usr/bin/env python3
"""What jprof reads from outside of processes, beside what their jemalloc counts: the table of docs/internals/outside.md.

usage: outside.py JPROF [NAME=ROOT...]   (ROOT is a Debian of its own, made by debootstrap; / is this one; needs root, cc)

Each program runs under jemalloc with a library that counts by size class when it is asked (mallctl), without allocating. Of an idle one
it is asked right before jprof looks, of a busy one before and after each of 20 looks: the mean of the differences with its standard
error, and by how much the counts of mallctl themselves vary. What nothing points to are false finds: no program here loses any.
Seconds and bytes are those of `jprof explain` and of its children, reading of files in /proc included. A program that a root lacks has no row.
"""
import glob
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

TELL = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { small = 36, large = 196 };
#ifdef LINKED
int mallctl(const char *, void *, size_t *, void *, size_t);
#else
static int (*mallctl)(const char *, void *, size_t *, void *, size_t);
#endif
static char path[256], ask[272], text[1 << 14];

static uint64_t count(const char *format, unsigned i)
{
	char name[64];
	uint64_t value = 0;
	size_t size = sizeof value;
	snprintf(name, sizeof name, format, i);
	mallctl(name, &value, &size, NULL, 0);
	return value;
}

static void *answer(void *unused)
{
	for (;;) {
		usleep(20000);
		if (access(ask, F_OK))
			continue;
		uint64_t epoch = 1;
		int len = 0, fd;
		mallctl("epoch", NULL, NULL, &epoch, sizeof epoch);
		for (unsigned i = 0; i < small; i++)
			len += sprintf(text + len, "%llu\n", (unsigned long long)count("stats.arenas.4096.bins.%u.curregs", i));
		for (unsigned i = 0; i < large; i++)
			len += sprintf(text + len, "%llu\n", (unsigned long long)count("stats.arenas.4096.lextents.%u.curlextents", i));
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		if (write(fd, text, len) != len)
			_exit(2);
		close(fd);
		unlink(ask);
	}
	return unused;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_t thread;
	const char *where = getenv("TELL");
#ifndef LINKED
	mallctl = (int (*)(const char *, void *, size_t *, void *, size_t))dlsym(RTLD_DEFAULT, "mallctl");
	if (!mallctl)
		return;
#endif
	snprintf(path, sizeof path, "%s.%d", where ? where : "/tmp/tell", (int)getpid());
	snprintf(ask, sizeof ask, "%s.ask", path);
	pthread_create(&thread, NULL, answer, NULL);
}
"""
STATIC = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *kept[100000];
int main(void)
{
	for (int i = 0; i < 100000; i++) {
		kept[i] = memset(malloc(i % 2000 + 1), 1, i % 2000 + 1);
		if (i % 4 == 3) {
			free(kept[i - 2]);
			kept[i - 2] = NULL;
		}
	}
	puts("ready");
	fflush(stdout);
	pause();
}
"""
RUBY = """class Entry; def initialize(i) = (@name = "entry number #{i} " * 8; @all = Array.new(20, i)); end
KEPT = Array.new(100_000) { |i| Entry.new(i) }
GC.start
GC.disable
puts "ready"; $stdout.flush
sleep"""
BUSY = """require "json"
KEPT = Array.new(60_000) { |i| "kept #{i} " * 20 }
4.times { Thread.new { loop { JSON.parse(JSON.generate((1..200).to_h { |i| ["key #{i}", "value " * 20] })) } } }
sleep 2
puts "ready"; $stdout.flush
sleep"""
PYTHON = """import time
kept = [{"name": "entry number %d" % i * 4, "all": list(range(i % 50))} for i in range(60000)]
print("ready", flush=True)
time.sleep(1000)"""
NODE = """global.kept = []; for (let i = 0; i < 20000; i++) kept.push(Buffer.alloc(1000 + i % 9000), { name: "entry " + i });
setTimeout(() => console.log("ready"), 1000); setInterval(() => {}, 1 << 30)"""
RACK = """require "json"
KEPT = Array.new(60_000) { |i| "kept #{i} " * 20 }
run lambda { |env|
  text = JSON.generate((1..200).to_h { |i| ["key #{i}", "value " * 20] })
  [200, { "content-type" => "text/plain" }, [JSON.parse(text).size.to_s]]
}
"""
PUMA = ["-q", "-t", "4:4", "-b", "unix:///tmp/puma.sock", "/tmp/config.ru"]
NGINX = """daemon off; master_process off; pid /tmp/nginx.pid; error_log /dev/null;
events { worker_connections 512; }
http { access_log off; server { listen unix:/tmp/nginx.sock; location / { return 200 "hello"; } } }
"""


def fill_redis(path):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        for first in range(0, 200000, 1000):
            s.sendall(b"".join(b"*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n" % (len(k), k, len(v), v) for k, v in
                               ((b"key:%d" % i, b"v" * (20 + i % 500)) for i in range(first, first + 1000))))
            left = 5 * 1000
            while left:
                left -= len(s.recv(left))


def ask_nginx(path):
    for _ in range(300):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
            s.sendall(b"GET / HTTP/1.0\r\n\r\n")
            while s.recv(4096):
                pass


def load_puma(path):
    """Four clients, until it ends: processes, for what this one does must not slow them."""
    for _ in range(4):
        if os.fork():
            continue
        try:
            while True:
                ask_nginx(path)
        except OSError:
            os._exit(0)


# Name, file of the program, its arguments, its socket with what is done there, busy.
PROGRAMS = (
    ("Ruby", "/usr/bin/ruby", ["--disable-gems", "-e", RUBY], None, None, False),
    ("Ruby, 4 threads of JSON", "/usr/bin/ruby", ["-e", BUSY], None, None, True),
    ("Ruby 3.4", "/usr/bin/ruby3.4", ["--disable-gems", "-e", RUBY], None, None, False),
    ("Ruby 3.4, 4 threads of JSON", "/usr/bin/ruby3.4", ["-e", BUSY], None, None, True),
    ("Rack under Puma", "/usr/bin/puma", PUMA, "/tmp/puma.sock", ask_nginx, False),
    ("Rack under Puma, 4 clients", "/usr/bin/puma", PUMA, "/tmp/puma.sock", load_puma, True),
    ("redis", "/usr/bin/redis-server", ["--port", "0", "--unixsocket", "/tmp/redis.sock", "--save", "", "--hz", "1",
                                        "--activerehashing", "no"], "/tmp/redis.sock", fill_redis, False),
    ("nginx", "/usr/sbin/nginx", ["-c", "/tmp/nginx.conf"], "/tmp/nginx.sock", ask_nginx, False),
    ("python3", "/usr/bin/python3", ["-c", PYTHON], None, None, False),
    ("node", "/usr/bin/node", ["-e", NODE], None, None, False),
    ("static jemalloc, stripped", "/tmp/static-jemalloc", [], None, None, False),
)


def size_of_class(i):
    if i < 5:
        return 16 * i or 8
    group, step = divmod(i - 1, 4)
    return (64 << group - 1) + (step + 1) * (16 << group - 1)


def wait_for(what):
    for _ in range(6000):
        if what():
            return
        time.sleep(0.01)
    raise TimeoutError


class Program:
    def __init__(self, root, program, arguments, socket_path, fill):
        self.root = root.rstrip("/")
        library = glob.glob(f"{self.root}/usr/lib/*/libjemalloc.so.2")[0][len(self.root):]
        static = program.startswith("/tmp/")
        preload = "/tmp/tell.so" if not static else ""
        command = ["env", f"LD_PRELOAD={preload}:{library}" if preload else "X=", "TELL=/tmp/tell", "PYTHONMALLOC=malloc", "PWD=/",
                   program, *arguments]
        if self.root:
            command = ["chroot", self.root, *command]
        if socket_path and os.path.exists(self.root + socket_path):
            os.unlink(self.root + socket_path)
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        self.pid = self.process.pid
        if socket_path:
            wait_for(lambda: os.path.exists(self.root + socket_path))
            time.sleep(0.5)
            fill(self.root + socket_path)
        else:
            assert self.process.stdout.readline() == b"ready\n", program
        time.sleep(1)

    def counts(self):
        path = f"{self.root}/tmp/tell.{self.pid}"
        open(path + ".ask", "w").close()
        wait_for(lambda: not os.path.exists(path + ".ask"))
        return [int(line) for line in open(path)]

    def end(self):
        self.process.kill()
        self.process.wait()


def run(jprof, arguments):
    """Its output, seconds, and bytes that it and its children read."""
    script = 'begin=$(sed -n "s/rchar: //p" /proc/$$/io); "$@" >out 2>/dev/null; sed -n "s/rchar: //p" /proc/$$/io; echo $begin'
    began = time.monotonic()
    said = subprocess.run(["bash", "-c", script, "bash", jprof, *arguments], capture_output=True, text=True, check=True).stdout.split()
    return open("out").read(), time.monotonic() - began, int(said[0]) - int(said[1])


def found_counts(jprof, pid):
    for name in glob.glob("one.jprof"):
        os.unlink(name)
    subprocess.run([jprof, "snap", str(pid), "-o", "one.jprof"], capture_output=True, check=True)
    heap = json.loads(subprocess.run(["tar", "xOf", "one.jprof", f"{pid}/heap.json"], capture_output=True, check=True).stdout)
    merged = heap["jemalloc"]["stats.arenas"]["merged"]
    return [b["curregs"] for b in merged["bins"]] + [e["curlextents"] for e in merged["lextents"]], heap


def total(counts):
    return sum(n * size_of_class(i) for i, n in enumerate(counts))


def compare_often(jprof, p, times=20):
    told, off = [], []
    for _ in range(times):
        before, found, after = total(p.counts()), total(found_counts(jprof, p.pid)[0]), total(p.counts())
        told += [before, after]
        off.append(found - (before + after) / 2)
    mean = statistics.mean(told) / 100
    return (f"{statistics.mean(off) / mean:+.2f} % +- {statistics.stdev(off) / mean / times ** 0.5:.2f}; "
            f"mallctl's vary by {statistics.pstdev(told) / mean:.1f} %")


def measure(jprof, root, name, program, arguments, socket_path, fill, busy):
    p = Program(root, program, arguments, socket_path, fill)
    try:
        for _ in range(10):  # what is called idle may have timers: it stood still where it counts the same before and after
            told = p.counts()
            found, heap = found_counts(jprof, p.pid)
            after = p.counts()
            if busy or told == after:
                break
        away = busy and compare_often(jprof, p)
        differ = sum(a != b for a, b in zip(told, found))
        _, seconds, read = run(jprof, ["explain", "--json", str(p.pid)])
        lost, lost_seconds, _ = run(jprof, ["explain", "--unreachable", "--json", str(p.pid)])
        lost = [r for r in json.loads(lost)["rows"] if r["part"] == "unreachable"]
    finally:
        p.end()
    away = away or f"{differ} of {len(told)}"
    false = f"{lost[0]['objects'] or 0:.0f}, {lost[0]['bytes'] / 1024:.1f} KB" if lost else "not known"
    return (name, heap["jemalloc"]["version"], f"{total(found) / 1e6:.1f}", away, false, f"{seconds:.2f}", f"{read / 1e6:.1f}",
            f"{lost_seconds:.1f}")


def prepare(root):
    root = root.rstrip("/")
    for path, text, options in (("tell.so", TELL, ["-shared", "-fPIC", "-ldl"]), ("static-jemalloc", TELL + STATIC, ["-DLINKED", "-s"])):
        with open("made.c", "w") as file:
            file.write(text)
        library = ["-l:libjemalloc.a", "-lm", "-ldl"] if "-s" in options else []
        subprocess.run(["cc", "-O1", "-w", "-o", f"{root}/tmp/{path}", "made.c", *options, "-lpthread", *library], check=True)
    for path, text in (("nginx.conf", NGINX), ("config.ru", RACK)):
        with open(f"{root}/tmp/{path}", "w") as file:
            file.write(text)


def main():
    jprof = os.path.abspath(sys.argv[1])
    roots = [word.split("=", 1) for word in sys.argv[2:]] or [["this one", "/"]]
    print("| system | program | jemalloc | live MB | classes that differ from mallctl's; busy: bytes beside mallctl's, in the mean | no pointer found | explain, s | read, MB |"
          " with --unreachable, s |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for system, root in roots:
            prepare(root)
            for name, program, *rest in PROGRAMS:
                if os.path.exists(root.rstrip("/") + program):
                    print("|", " | ".join((system, *measure(jprof, root, name, program, *rest))), "|", flush=True)


main()
