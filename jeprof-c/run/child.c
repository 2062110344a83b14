#include "run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { said_max = 65536, look_ms = 5 };

static long long child_clock_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* 0, or an error number. */
static int set_streams(posix_spawn_file_actions_t *actions, int stream, int out)
{
	int error = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDWR, 0);
	if (!error)
		error = posix_spawn_file_actions_adddup2(actions, 0, 3 - stream);
	if (!error)
		error = posix_spawn_file_actions_adddup2(actions, out, stream);
	return error ? error : posix_spawn_file_actions_addchdir_np(actions, "/");
}

/* No signal is blocked or ignored, whatever our parent has left to us. */
static int set_signals(posix_spawnattr_t *attributes)
{
	sigset_t none, all;
	sigemptyset(&none);
	sigfillset(&all);
	int error = posix_spawnattr_setsigmask(attributes, &none);
	if (!error)
		error = posix_spawnattr_setsigdefault(attributes, &all);
	return error ? error : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

/* Limits are inherited: ours is lowered for that moment. */
static int spawn_without_core(pid_t *pid, char *const *argv, char *const *env,
                              const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes)
{
	struct rlimit was, none;
	bool limited = !getrlimit(RLIMIT_CORE, &was);
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = was.rlim_max };
	limited = limited && !setrlimit(RLIMIT_CORE, &none);
	int error = posix_spawn(pid, argv[0], actions, attributes, argv, env);
	if (limited)
		setrlimit(RLIMIT_CORE, &was);
	return error;
}

static int spawn(pid_t *pid, char *const *argv, char *const *env, int stream, int out)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int error = posix_spawn_file_actions_init(&actions);
	if (error)
		return error;
	error = posix_spawnattr_init(&attributes);
	if (!error) {
		error = set_streams(&actions, stream, out);
		if (!error)
			error = set_signals(&attributes);
		if (!error)
			error = spawn_without_core(pid, argv, env, &actions, &attributes);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* Reads until the end or `deadline`; what is too much is read and dropped. */
static void listen_to(int fd, char *said, long long deadline)
{
	size_t len = 0;
	char chunk[4096];
	for (long long left; (left = deadline - child_clock_ms()) > 0;) {
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
static int reap(pid_t pid, long long deadline)
{
	int status;
	pid_t ended;
	while ((ended = waitpid(pid, &status, WNOHANG)) == 0 && child_clock_ms() < deadline)
		poll(NULL, 0, look_ms);
	if (ended == pid)
		return status;
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return -1;
}

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

bool child_run(char *const *argv, char *const *env, int stream, int seconds, char **said, int *status)
{
	int ends[2];
	pid_t pid;
	char *text = calloc(1, said_max + 1);
	struct sigaction plain = { .sa_handler = SIG_DFL }, was;
	if (!text || open_pipe(ends)) {
		free(text);
		return false;
	}
	sigaction(SIGCHLD, &plain, &was); /* where it is ignored nobody learns how a child ended */
	int error = spawn(&pid, argv, env, stream, ends[1]);
	close(ends[1]);
	if (!error) {
		long long deadline = child_clock_ms() + seconds * 1000LL;
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
