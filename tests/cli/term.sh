#!/bin/sh
# TERM ends whatever the program does, within moments and with nothing left: while it waits for an agent or for a server
# of debug information, while it reads names, while it writes, and while it tries a library. Without an end each of these
# takes days here; the waits below are long only because a machine may be slow. What leaves a file is tried once more
# where no file system has files without a name (src/no_tmpfile.c).
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
unset JPROF_JEMALLOC JPROF_AGENT JPROF_AGENT_LIB MALLOC_CONF LD_PRELOAD
need_fakes

no_names=
build no_tmpfile no_tmpfile.c
if ./no_tmpfile true; then
    no_names="$tmp/no_tmpfile"
else
    echo "no seccomp filters here: a file system without O_TMPFILE is not tried"
fi
under= # what runs jprof, or nothing

gone() {
    ! alive "$1"
}

# begin ARGUMENTS...: jprof in the background; sets $busy.
begin() {
    what="$under jprof $*"
    $under "$jprof" "$@" >out 2>err &
    busy=$!
    started="$started $busy"
}

# ended [SIGNAL]: by TERM, or that signal; sets $status.
ended() {
    kill -"${1:-TERM}" "$busy"
    if ! until_true 6 gone "$busy"; then
        fail "goes on after ${1:-TERM}"
        kill -KILL "$busy"
    fi
    wait "$busy"
    status=$?
    check "a sanitizer found something" no_finding
    nothing_like . 'jprof-part|\.jprof$|^x\.txt$'
}

# ---- an agent that does not answer
for under in '' $no_names; do
    fake silent
    begin snap "$pid" -o x.jprof --timeout=86400
    until_true 60 test -e asked
    ended
    exits 1
    says 'jprof: interrupted: no bundle was written'
    lives "$pid"
    stop "$pid"
    fake silent
    begin snap "$pid" -o x.jprof --timeout=86400
    until_true 60 test -e asked
    ended KILL
    exits 137
    stop "$pid"
done
under=
fake silent-report
begin doctor "$pid"
until_true 60 test -e asked
ended
exits 143
stop "$pid"

# make_heap FLAG: waits.heap, a dump of the program waits that is compiled so.
make_heap() {
    build waits waits.c "$1"
    readelf -lhW waits | awk -v path="$tmp/waits" '
        /Entry point/ { entry = $NF }
        / LOAD .* R E / { printf "%s %s %s %s %s\n", entry, $2, $3, $6, path }' >load
    "$python3" -c '
entry, offset, vaddr, size, path = open("load").read().split()
base, vaddr = 0x555555554000, int(vaddr, 16)
end = (vaddr + int(size, 16) + 4095) & ~4095
print("heap_v2/524288\n  t*: 1: 4096 [0: 0]\n@ 0x%x\n  t*: 1: 4096 [0: 0]\n\nMAPPED_LIBRARIES:\n%x-%x r-xp %08x 08:01 1 %s" %
      (base + int(entry, 16) + 8, base + vaddr, base + end, int(offset, 16), path))' >waits.heap
}

# ---- a server of debug information that does not answer
run "$jprof" --debuginfod "$good"
if ! grep -q 'built without libdebuginfod' err out; then
    cat >server.py <<'END'
import socket
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(8)
with open("port.part", "w") as f:
    f.write(str(server.getsockname()[1]))
import os
os.rename("port.part", "port")
held = []
while True:
    held.append(server.accept()[0])
    open("asked", "w").close()
END
    "$python3" server.py &
    started="$started $!"
    until_true 60 test -s port
    DEBUGINFOD_URLS=http://127.0.0.1:$(cat port)/ DEBUGINFOD_TIMEOUT=86400 DEBUGINFOD_CACHE_PATH=$tmp/cache
    export DEBUGINFOD_URLS DEBUGINFOD_TIMEOUT DEBUGINFOD_CACHE_PATH
    make_heap -s
    for under in '' $no_names; do
        for way in '--text' '--text -o x.txt' 'bundle -o x.jprof'; do
            for end in 'TERM 143' 'KILL 137'; do
                rm -f asked
                # shellcheck disable=SC2086
                begin $way --debuginfod waits.heap
                until_true 60 test -e asked
                ended "${end% *}"
                exits "${end#* }"
            done
        done
    done
    under=
    good=$tmp/waits.heap
    rm -f asked
    fake fds
    begin snap "$pid" -o x.jprof --debuginfod
    until_true 60 test -e asked
    ended
    exits 1
    says 'jprof: interrupted: no bundle was written'
    stop "$pid"
    # The agent made files for it, which go.
    rm -f asked
    fake honest
    begin snap "$pid" -o x.jprof --debuginfod
    until_true 60 test -e asked
    ended
    exits 1
    no_dumps d
    stop "$pid"
fi

# ---- names from debug information that take for ever
# They are read in a child that opens nothing: what it maps before says that it is there.
cat >spins.c <<'END'
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static char *mark;

__attribute__((constructor)) static void map_mark(void)
{
	int fd = open(MARK, O_RDWR | O_CREAT, 0600);
	if (fd >= 0 && !ftruncate(fd, 1))
		mark = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
}

void *elf_begin(void)
{
	*mark = 'x';
	for (volatile int on = 1; on;)
		;
	return NULL;
}
END
spins() {
    grep -qs x mark
}
none_spins() {
    ! grep -qs " $tmp/mark\$" /proc/[0-9]*/maps
}
${CC:-gcc} -shared -fPIC -DMARK="\"$tmp/mark\"" -o spins.so spins.c || skip "no compiler here"
make_heap -g
under="env LD_PRELOAD=$tmp/spins.so ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0:detect_leaks=0"
for way in '--text' '--text -o x.txt' 'bundle -o x.jprof'; do
    rm -f mark
    # shellcheck disable=SC2086
    begin $way waits.heap
    until_true 60 spins
    ended
    exits 143
    check "the child that finds names goes on" until_true 6 none_spins
done
good=$tmp/waits.heap
rm -f mark
fake fds
begin snap "$pid" -o x.jprof
until_true 60 spins
ended
exits 1
says 'jprof: interrupted: no bundle was written'
check "the child that finds names goes on" until_true 6 none_spins
stop "$pid"
under=

# ---- nobody reads what it writes
good=$tmp/good.heap
mkfifo pipe
begin --text -o pipe "$good"
until_true 60 grep -q . "/proc/$busy/wchan"
sleep 0.2
ended
exits 143

# ---- a bundle's file that has a name, while it is written
cat >stuck.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
/* What writes into such a file says so, and waits for the signal, as it may for a slow disk. */
ssize_t write(int fd, const void *data, size_t len)
{
	ssize_t (*real_write)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
	char link[64], path[512] = "";
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof path - 1) < 0 || !strstr(path, ".jprof-part"))
		return real_write(fd, data, len);
	FILE *f = fopen(MARK ".part", "w");
	fputs(path, f);
	fclose(f);
	rename(MARK ".part", MARK);
	sigset_t waiting;
	while (!sigpending(&waiting) && !sigismember(&waiting, SIGTERM))
		usleep(10000);
	return real_write(fd, data, len);
}
END
${CC:-gcc} -shared -fPIC -DMARK="\"$tmp/mark\"" -o stuck.so stuck.c -ldl || skip "no compiler here"
if [ -n "$no_names" ]; then
    under="$no_names env LD_PRELOAD=$tmp/stuck.so ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0:detect_leaks=0"
    rm -f mark
    begin bundle -o x.jprof "$good"
    until_true 60 test -e mark || fail "no named part was written"
    check "$(cat mark)" test -e "$(cat mark)"
    ended
    exits 143
    # A part that a killed one leaves goes with the next one.
    rm -f mark
    begin bundle -o x.jprof "$good"
    until_true 60 test -e mark
    kill -KILL "$busy"
    wait "$busy" 2>/dev/null
    check "the killed one's part: $(cat mark)" test -e "$(cat mark)"
    under=
    run "$no_names" "$jprof" bundle -o x.jprof "$good"
    check "the next one removes $(cat mark)" test ! -e "$(cat mark)"
    check "and writes its own" test -s x.jprof
    rm -f x.jprof
fi
under=

# ---- a library whose code does not return
printf '#include <stdio.h>\n#include <unistd.h>\n__attribute__((constructor)) static void hang(void) {\n
FILE *f = fopen(MARK ".part", "w"); fprintf(f, "%%d", getpid()); fclose(f); rename(MARK ".part", MARK); for (;;) pause(); }\n' >hang.c
${CC:-gcc} -shared -fPIC -DMARK="\"$tmp/mark\"" -o libjemalloc.so.2 hang.c || skip "no compiler here"
build waits waits.c
for way in 'doctor --' 'run --dir=. --no-agent --'; do
    rm -f mark
    # shellcheck disable=SC2086
    begin $way env LD_PRELOAD="$tmp/libjemalloc.so.2" ./waits
    until_true 60 test -s mark || fail "nothing was tried"
    tried=$(cat mark)
    ended
    exits 143
    until_true 6 gone "$tried" || fail "what was tried is still there"
    kill -KILL "$tried" 2>/dev/null
done
finish
