/* A hostile process that is now its user's program, with an agent, and now a setuid program, as sudo is while it asks
 * for a password: by exec, over and over, under one pid. Its child has the agent's socket and answers: a dump is
 * DIRECTORY/app.PID.0.j0.heap.
 *
 * usage: passes DIRECTORY PLAIN SETUID, the program itself twice, the second one setuid root */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { pause_us = 300, page = 4096 };

static char socket_path[108];

static unsigned long long own_start(void)
{
	char text[4096];
	unsigned long long start = 0;
	FILE *file = fopen("/proc/self/stat", "r");
	size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
	text[n] = '\0';
	char *at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (at)
		start = strtoull(at, NULL, 10);
	if (file)
		fclose(file);
	return start;
}

static void answer_all(int listener, const char *dir, int pid, unsigned long long start)
{
	char line[4096], reply[8192];
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		for (ssize_t n; fd >= 0 && (n = read(fd, line, sizeof line)) > 0;) {
			if (!strncmp(line, "report", 6))
				snprintf(
				    reply, sizeof reply,
				    "{\"ok\":true,\"protocol\":1,\"pid\":%d,\"start_ticks\":%llu,\"prof_active\":true,"
				    "\"prefix\":\"%s/app\"}\n",
				    pid, start, dir);
			else
				snprintf(
				    reply, sizeof reply,
				    "{\"ok\":true,\"dump\":\"%s/app.%d.0.j0.heap\",\"sidecar\":\"%s/app.%d.0.j0.heap.json\","
				    "\"gc\":\"not asked\"}\n",
				    dir, pid, dir, pid);
			if (write(fd, reply, strlen(reply)) < 0)
				break;
		}
		close(fd);
	}
}

static void listen_and_fork(const char *dir)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), pid = getpid();
	memcpy(address.sun_path, socket_path, sizeof address.sun_path);
	if (fd < 0 || bind(fd, (void *)&address, sizeof address) || chmod(socket_path, 0666) || listen(fd, 16))
		_exit(1);
	unsigned long long start = own_start();
	if (!fork())
		answer_all(fd, dir, pid, start);
	char ready[4200];
	snprintf(ready, sizeof ready, "%s/ready", dir);
	FILE *file = fopen(ready, "w");
	fprintf(file, "%d %llu\n", pid, start);
	fclose(file);
	setenv("PASSES", "1", 1);
}

static void announce(void)
{
	char name[200];
	snprintf(name, sizeof name, "jprof-agent:1:0:%s", socket_path);
	int fd = (int)syscall(SYS_memfd_create, name, 0);
	if (fd < 0 || ftruncate(fd, page) || mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		_exit(1);
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 1;
	if (!geteuid()) {
		uid_t user = getuid();
		if (setresuid(0, 0, 0))
			return 1;
		usleep(pause_us);
		if (setresuid(user, user, user))
			return 1;
		execv(argv[2], argv);
		return 1;
	}
	snprintf(socket_path, sizeof socket_path, "%s/s", argv[1]);
	if (!getenv("PASSES"))
		listen_and_fork(argv[1]);
	announce();
	usleep(pause_us);
	execv(argv[3], argv);
	return 1;
}
