#include "run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/shortage.h"

enum { said_max = 65536, look_ms = 5 };

/* Its end to write to is none of the three that the child gets anew, also where one of those is closed here. */
static int open_pipe(int *ends)
{
	if (pipe2(ends, O_CLOEXEC))
		return -1;
	int out = fcntl(ends[1], F_DUPFD_CLOEXEC, 3), error = errno;
	close(ends[1]);
	ends[1] = out;
	if (out < 0)
		close(ends[0]);
	errno = error;
	return out < 0 ? -1 : 0;
}

/* No signal is blocked or ignored, whatever our parent has left to us. */
static void reset_signals(void)
{
	sigset_t none;
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* What the child does until it is the program; an error number. It ends with its parent, however that ends. */
static int become(char *const *argv, char *const *env, int stream, int out, pid_t parent)
{
	const struct rlimit none = { 0 };
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		return ECHILD;
	int null = open("/dev/null", O_RDWR); /* may be one of the three */
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 3 - stream) < 0 || dup2(out, stream) < 0 || chdir("/"))
		return errno;
	if (null > 2)
		close(null);
	setrlimit(RLIMIT_CORE, &none);
	reset_signals();
	execve(argv[0], argv, env);
	return errno;
}

/* 0, or an error number. The child tells of an error through a pipe that a good start closes. */
static int spawn(pid_t *pid, char *const *argv, char *const *env, int stream, int out)
{
	int told[2], error = 0;
	pid_t parent = getpid();
	if (open_pipe(told))
		return errno;
	fflush(NULL);
	*pid = fork();
	if (!*pid) {
		error = become(argv, env, stream, out, parent);
		if (write(told[1], &error, sizeof error) < 0)
			_exit(2);
		_exit(1);
	}
	if (*pid < 0)
		error = errno;
	close(told[1]);
	if (!error && read(told[0], &error, sizeof error) == sizeof error)
		waitpid(*pid, NULL, 0);
	close(told[0]);
	return error;
}

/* Reads until the end or `deadline`; what is too much is read and dropped. */
static void listen_to(int fd, char *said, int64_t deadline)
{
	size_t len = 0;
	char chunk[4096];
	for (int64_t left; (left = deadline - jp_clock_ms()) > 0;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		ssize_t n = read(fd, chunk, sizeof chunk);
		if (n == 0 || (n < 0 && errno != EINTR))
			return;
		for (ssize_t i = 0; i < n && len < said_max; i++)
			if (chunk[i])
				said[len++] = chunk[i];
	}
}

/* Its stream may be closed long before its end. */
static int reap(pid_t pid, int64_t deadline)
{
	int status;
	pid_t ended;
	while ((ended = waitpid(pid, &status, WNOHANG)) == 0 && jp_clock_ms() < deadline)
		poll(NULL, 0, look_ms);
	if (ended == pid)
		return status;
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return -1;
}

bool child_run(char *const *argv, char *const *env, int stream, int seconds, char **said, int *status)
{
	int ends[2];
	pid_t pid = -1;
	char *text = shortage_note(calloc(1, said_max + 1));
	struct sigaction plain = { .sa_handler = SIG_DFL }, was;
	if (!text || open_pipe(ends)) {
		free(text);
		return false;
	}
	sigaction(SIGCHLD, &plain, &was); /* where it is ignored nobody learns how a child ended */
	int error = spawn(&pid, argv, env, stream, ends[1]);
	close(ends[1]);
	if (!error) {
		int64_t deadline = jp_clock_ms() + seconds * 1000LL;
		listen_to(ends[0], text, deadline);
		*status = reap(pid, deadline);
		*said = text;
	}
	sigaction(SIGCHLD, &was, NULL);
	close(ends[0]);
	if (error)
		free(text);
	errno = error;
	return !error;
}
