#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { said_max = 65536 };

static long long now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* In the child. */
static void become(char *const *argv, char *const *env, int stream, int out)
{
	const struct rlimit none = { 0, 0 };
	int null = open("/dev/null", O_RDWR);
	setrlimit(RLIMIT_CORE, &none);
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 3 - stream) < 0 || dup2(out, stream) < 0 || chdir("/"))
		_exit(127);
	execve(argv[0], argv, env);
	_exit(127);
}

/* Reads until the end or `deadline`; what is too much is read and dropped. False: time is up. */
static bool listen_to(int fd, char *said, long long deadline)
{
	size_t len = 0;
	char chunk[4096];
	for (;;) {
		long long left = deadline - now_ms();
		struct pollfd p = { .fd = fd, .events = POLLIN };
		if (left <= 0 || (poll(&p, 1, (int)left) == 0))
			return false;
		ssize_t n = read(fd, chunk, sizeof chunk);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return true;
		for (ssize_t i = 0; i < n && len < said_max; i++)
			if (chunk[i])
				said[len++] = chunk[i];
	}
}

static void reap(pid_t pid, bool ended, int *status)
{
	if (!ended)
		kill(pid, SIGKILL);
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
	if (!ended)
		*status = -1;
}

bool child_run(char *const *argv, char *const *env, int stream, int seconds, char **said, int *status)
{
	int ends[2];
	char *text = calloc(1, said_max + 1);
	if (!text || pipe2(ends, O_CLOEXEC)) {
		free(text);
		return false;
	}
	pid_t pid = fork();
	if (!pid)
		become(argv, env, stream, ends[1]);
	int error = errno;
	close(ends[1]);
	if (pid > 0)
		reap(pid, listen_to(ends[0], text, now_ms() + seconds * 1000LL), status);
	close(ends[0]);
	errno = error;
	if (pid < 0) {
		free(text);
		return false;
	}
	*said = text;
	return true;
}
